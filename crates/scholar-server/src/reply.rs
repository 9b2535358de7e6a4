//! Replies, written while they are read.
//!
//! A reply is made in pieces, each when the client has taken those before it, so that no reply stands in memory as a
//! whole. One that fits into a single chunk is sent with its length, as clients of old expect it.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, future, stream};
use scholar_core::text::untrusted;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

/// Bytes after which what is there is sent.
const CHUNK: usize = 64 << 10;

/// A reply in parts.
pub(crate) trait Pieces: Send + 'static {
    /// Appends the next part; `false`, and nothing appended, when there is none.
    fn append(&mut self, out: &mut Vec<u8>) -> bool;

    /// Waits for more parts after the last one; `false` when there will be none.
    fn more(&mut self) -> impl Future<Output = bool> + Send {
        future::ready(false)
    }
}

/// A reply of JSON that is broken off at `deadline`.
pub(crate) async fn json(mut pieces: impl Pieces, deadline: Instant) -> Response {
    let (first, more) = chunk(&mut pieces).await;
    let body = if more {
        let rest = stream::unfold(Some(pieces), move |pieces| async move {
            let mut pieces = pieces?;
            // Where the client takes nothing nobody asks for the next chunk; then the connection's own limit ends it.
            let next = async {
                if Instant::now() > deadline { None } else { Some(chunk(&mut pieces).await) }
            };
            match timeout_at(deadline, next).await.ok().flatten() {
                Some((bytes, more)) => Some((Ok(bytes), more.then_some(pieces))),
                None => Some((Err(io::Error::from(io::ErrorKind::TimedOut)), None)),
            }
        });
        Body::from_stream(stream::iter([Ok(first)]).chain(rest))
    } else {
        Body::from(first)
    };
    let mut response = Response::new(body);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// The next parts, and whether there may be more.
async fn chunk(pieces: &mut impl Pieces) -> (Bytes, bool) {
    let mut out = Vec::new();
    while out.len() < CHUNK {
        if !pieces.append(&mut out) && !pieces.more().await {
            return (out.into(), false);
        }
    }
    (out.into(), true)
}

/// Appends `value` as JSON in which what a terminal would obey is escaped: replies are looked at with `curl`, too.
pub(crate) fn write_json(value: &impl Serialize, out: &mut Vec<u8>) {
    match serde_json::to_string(value) {
        Ok(text) => out.extend_from_slice(untrusted::json(&text).as_bytes()),
        Err(error) => {
            // Only a map with keys that are no texts could do this, and no reply has one.
            tracing::error!(%error, "a part of a reply is no JSON");
            out.extend_from_slice(b"null");
        }
    }
}

/// A short reply of JSON, as [`write_json`] writes it.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut body = Vec::new();
        write_json(&self.0, &mut body);
        let json = HeaderValue::from_static("application/json");
        ([(header::CONTENT_TYPE, json)], body).into_response()
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use scholar_testing::hostile;

    use super::*;

    /// `left` parts of `size` bytes.
    struct Parts {
        left: usize,
        size: usize,
    }

    impl Pieces for Parts {
        fn append(&mut self, out: &mut Vec<u8>) -> bool {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            out.extend(iter::repeat_n(b'x', self.size));
            true
        }
    }

    async fn sizes(left: usize, size: usize, deadline: Instant) -> Vec<Result<usize, String>> {
        let body = json(Parts { left, size }, deadline).await.into_body();
        let sizes = body.into_data_stream().map(|part| match part {
            Ok(bytes) => Ok(bytes.len()),
            Err(error) => Err(error.to_string()),
        });
        sizes.collect().await
    }

    #[test]
    fn json_says_the_same_and_holds_nothing_that_is_obeyed() {
        let value: Vec<String> = hostile::STRINGS.iter().map(hostile::Hostile::text).collect();
        let mut out = Vec::new();
        write_json(&value, &mut out);
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(hostile::obeyed(&text).is_empty(), "{text:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).expect("JSON"), value);
    }

    #[tokio::test]
    async fn replies_come_in_chunks_and_short_ones_whole() {
        use axum::body::HttpBody as _;
        let later = Instant::now() + std::time::Duration::from_secs(3_600);
        let short = json(Parts { left: 3, size: 10 }, later).await.into_body();
        assert_eq!(short.size_hint().exact(), Some(30));
        let kilobytes = 30 << 10;
        let got = sizes(7, kilobytes, later).await;
        assert_eq!(got, [Ok(3 * kilobytes), Ok(3 * kilobytes), Ok(kilobytes)]);
        let got = sizes(2, CHUNK, later).await;
        assert_eq!(got.into_iter().sum::<Result<usize, _>>(), Ok(2 * CHUNK));
    }

    /// One part, and then none for ever.
    struct Endless(bool);

    impl Pieces for Endless {
        fn append(&mut self, out: &mut Vec<u8>) -> bool {
            out.extend(iter::repeat_n(b'x', if self.0 { CHUNK } else { 0 }));
            std::mem::take(&mut self.0)
        }

        fn more(&mut self) -> impl Future<Output = bool> + Send {
            future::pending()
        }
    }

    #[tokio::test]
    async fn a_reply_is_broken_off_when_its_time_is_over() {
        let parts = [json(Parts { left: 9, size: CHUNK }, Instant::now()).await];
        let endless = json(Endless(true), Instant::now()).await;
        for reply in parts.into_iter().chain([endless]) {
            let mut parts = reply.into_body().into_data_stream();
            assert_eq!(parts.next().await.and_then(Result::ok).map(|part| part.len()), Some(CHUNK));
            assert!(parts.next().await.is_some_and(|part| part.is_err()));
            assert!(parts.next().await.is_none());
        }
    }
}
