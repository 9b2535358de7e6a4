//! The heads of requests, as they come over a connection.
//!
//! A request with both `Content-Length` and `Transfer-Encoding` is how one request is smuggled within another past a
//! proxy that counts differently. hyper follows the transfer coding and drops the length before a handler could see it, so
//! the bytes themselves are looked at. This is no parser of HTTP: it finds the ends of heads as hyper does, and knows two
//! fields; what is malformed is refused by hyper.

use std::mem;

/// A head longer than this is refused by hyper long before; no more of a line is kept.
const LONGEST_LINE: usize = 64 << 10;

/// Where in the stream of requests a connection is.
#[derive(Debug)]
pub(super) struct HeadScanner {
    state: State,
}

#[derive(Debug)]
enum State {
    Head(Head),
    /// So many bytes of a body are still to come.
    Body(u64),
    /// A body whose end only its own coding tells. The connection ends after it (see `serve`), so nothing that follows
    /// is a head.
    Coded,
}

#[derive(Debug, Default)]
struct Head {
    line: Vec<u8>,
    lines: usize,
    length: Option<u64>,
    has_length: bool,
    has_coding: bool,
}

impl Default for HeadScanner {
    fn default() -> Self {
        Self { state: State::Head(Head::default()) }
    }
}

impl HeadScanner {
    /// Takes what was read; whether a head came to its end that has both a length and a transfer coding.
    pub(super) fn see(&mut self, mut bytes: &[u8]) -> bool {
        let mut conflicting = false;
        while !bytes.is_empty() {
            match &mut self.state {
                State::Coded => break,
                State::Body(left) => {
                    let here = usize::try_from(*left).map_or(bytes.len(), |n| n.min(bytes.len()));
                    *left -= here as u64;
                    bytes = &bytes[here..];
                    if *left == 0 {
                        self.state = State::Head(Head::default());
                    }
                }
                State::Head(head) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let here = &bytes[..end.unwrap_or(bytes.len())];
                    let room = LONGEST_LINE.saturating_sub(head.line.len());
                    head.line.extend_from_slice(&here[..here.len().min(room)]);
                    let Some(end) = end else { break };
                    bytes = &bytes[end + 1..];
                    if head.end_line() {
                        conflicting |= head.has_length && head.has_coding;
                        self.state = head.body();
                    }
                }
            }
        }
        conflicting
    }

    /// Whether the client has announced a body that has not come to its end.
    pub(super) fn expects_body(&self) -> bool {
        !matches!(self.state, State::Head(_))
    }
}

impl Head {
    /// Takes the line; whether it was the empty one after the fields.
    fn end_line(&mut self) -> bool {
        let line = mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if line.is_empty() {
            // Empty lines before a request line mean nothing.
            return self.lines > 0;
        }
        self.lines += 1;
        if let Some(colon) = line.iter().position(|byte| *byte == b':').filter(|_| self.lines > 1) {
            let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"content-length") {
                self.has_length = true;
                let value = str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                self.length = self.length.or(value);
            }
            self.has_coding |= name.eq_ignore_ascii_case(b"transfer-encoding");
        }
        false
    }

    /// What follows.
    fn body(&self) -> State {
        match self.length {
            _ if self.has_coding => State::Coded,
            Some(length) if length > 0 => State::Body(length),
            _ => State::Head(Self::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n";

    /// What is known at the end of a text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Seen {
        conflicting: bool,
        expects_body: bool,
    }

    /// A head with nothing wrong, and nothing after it.
    const DONE: Seen = Seen { conflicting: false, expects_body: false };
    /// The same with a body that is still to come.
    const BODY: Seen = Seen { conflicting: false, expects_body: true };
    /// A head with both.
    const BOTH: Seen = Seen { conflicting: true, expects_body: true };

    /// What one scanner says of `text` however it is cut.
    fn check(text: &str, expect: Seen) {
        for size in 1..=text.len() {
            let mut scanner = HeadScanner::default();
            let mut conflicting = false;
            for part in text.as_bytes().chunks(size) {
                conflicting |= scanner.see(part);
            }
            let got = Seen { conflicting, expects_body: scanner.expects_body() };
            assert_eq!(got, expect, "{text:?} by {size}");
        }
    }

    #[test]
    fn heads_are_found_behind_bodies_of_any_content() {
        check(PLAIN, BODY);
        check(&format!("{PLAIN}abc"), DONE);
        check(&format!("{PLAIN}\r\n\r{PLAIN}a\n\n"), DONE);
        check("GET / HTTP/1.1\r\nHost: x\r\n\r\n", DONE);
        check("\r\n\nGET / HTTP/1.1\nHost: x\n\n", DONE);
        // A body that looks like a head is none.
        let within = "Transfer-Encoding: chunked\r\n\r\n";
        let length = within.len();
        check(&format!("POST / HTTP/1.1\r\ncontent-length:{length}\r\n\r\n{within}"), DONE);
    }

    #[test]
    fn length_and_coding_in_one_head_conflict_in_any_order_and_case() {
        let coding = "POST / HTTP/1.1\r\ntransfer-ENCODING: chunked\r\n";
        check(&format!("{coding}\r\n0\r\n\r\n"), BODY);
        check(&format!("{coding}Content-Length : 3\r\n\r\n"), BOTH);
        check("POST / HTTP/1.1\nCONTENT-LENGTH: 3\nTransfer-Encoding:x\n\n", BOTH);
        check("POST / HTTP/1.1\nCONTENT-LENGTH: many\nTransfer-Encoding:x\n\n", BOTH);
        check(&format!("{PLAIN}abc{coding}Content-Length: 3\r\n\r\n"), BOTH);
        // Before its head is complete a request is nobody's.
        check(&format!("{coding}Content-Length: 3\r\n"), DONE);
    }
}
