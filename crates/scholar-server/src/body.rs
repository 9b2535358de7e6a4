//! Bodies of requests, bounded one by one and all together.

use std::sync::Arc;

use axum::body::Body;
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, ErrorCode};

/// Room for the bodies of all requests that are being read or answered.
#[derive(Debug)]
pub(crate) struct Bodies {
    free: Arc<Semaphore>,
    size: usize,
    longest: usize,
}

/// A body, and its room for as long as what was read from it may be held.
pub(crate) struct Read<T> {
    pub(crate) value: T,
    pub(crate) held: Option<OwnedSemaphorePermit>,
}

impl Bodies {
    /// Room for `size` bytes, of which one body may have `longest`.
    pub(crate) fn new(size: usize, longest: usize) -> Self {
        let size = size.max(longest).min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(size)), size, longest }
    }

    /// Bytes held.
    pub(crate) fn held(&self) -> usize {
        self.size.saturating_sub(self.free.available_permits())
    }

    /// The body as a `T`. The content type does not matter: upstream's clients send several.
    pub(crate) async fn read<T: DeserializeOwned>(&self, body: Body) -> Result<Read<T>, ApiError> {
        let mut bytes = Vec::new();
        let mut held: Option<OwnedSemaphorePermit> = None;
        let mut parts = body.into_data_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(|_| ApiError::bad_request("the body could not be read"))?;
            if bytes.len() + part.len() > self.longest {
                let most = self.longest;
                let why = format!("the body is longer than the {most} bytes this server reads");
                return Err(
                    ApiError::new(ErrorCode::TooLarge, why).with_hint("send fewer queries at once")
                );
            }
            // Room is taken for what has come, not for what was announced: announcing costs a client nothing.
            let n = u32::try_from(part.len()).unwrap_or(u32::MAX);
            let room = Arc::clone(&self.free).try_acquire_many_owned(n);
            let room = room.map_err(|_| ApiError::busy("too many bodies are being read", 1))?;
            match &mut held {
                Some(held) => held.merge(room),
                None => held = Some(room),
            }
            bytes.extend_from_slice(&part);
        }
        let value = serde_json::from_slice(&bytes).map_err(|error| {
            ApiError::bad_request(format!("the body is not a request: {error}"))
        })?;
        Ok(Read { value, held })
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn read(bodies: &Bodies, body: Body) -> Result<Read<String>, ApiError> {
        bodies.read(body).now_or_never().expect("it is all there")
    }

    #[test]
    fn all_bodies_together_have_room_and_give_it_back() {
        let bodies = Bodies::new(12, 8);
        let first = read(&bodies, Body::from("\"12345\"")).expect("room");
        assert_eq!((first.value.as_str(), bodies.held()), ("12345", 7));
        let error = read(&bodies, Body::from("\"1234\"")).err().expect("no room");
        assert_eq!(error.code, ErrorCode::Busy);
        let error = read(&bodies, Body::from("\"1234567\"")).err().expect("too long");
        assert_eq!(error.code, ErrorCode::TooLarge);
        assert_eq!(bodies.held(), 7, "what was refused holds nothing");
        drop(first);
        assert_eq!(bodies.held(), 0);
        assert!(read(&bodies, Body::from("\"1234\"")).is_ok());
    }
}
