//! Server-sent events out of bytes that arrive in any pieces.
//!
//! Source: WHATWG HTML, section 9.2.6 (interpreting an event stream); only the `data` field matters here.

/// A line that is not UTF-8.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event stream is not UTF-8")]
pub(super) struct NotUtf8;

/// Collects bytes until an event is complete. Characters may be split between pieces: only whole lines are decoded.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<String>,
    after_return: bool,
}

impl Events {
    /// Adds bytes and returns the data of every event they complete, in order.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, NotUtf8> {
        let mut complete = Vec::new();
        for byte in bytes {
            // A line ends with \n, \r or \r\n.
            let second_half = *byte == b'\n' && self.after_return;
            self.after_return = *byte == b'\r';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => complete.extend(self.end_line()?),
                _ => self.line.push(*byte),
            }
        }
        Ok(complete)
    }

    /// The data of an event whose closing blank line never came. Half a line is worth nothing.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.data.take()
    }

    /// Bytes held back.
    pub(super) fn pending(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn end_line(&mut self) -> Result<Option<String>, NotUtf8> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Ok(self.data.take());
        }
        let line = String::from_utf8(line).map_err(|_| NotUtf8)?;
        if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_comments_and_line_ends() {
        let check = |bytes: &[u8], expect: &[&str]| {
            assert_eq!(Events::default().push(bytes).expect("UTF-8"), expect);
        };
        check(b"data: a\n\ndata:b\r\n\r\ndata: c\r\r", &["a", "b", "c"]);
        check(b": comment\n\nevent: x\nid: 3\ndata: one\ndata: two\n\n", &["one\ntwo"]);
        check(b"data: open", &[]);
        assert_eq!(Events::default().push(b"data: \xff\n\n"), Err(NotUtf8));
        let mut cut = Events::default();
        assert!(cut.push(b"data: end\n").expect("UTF-8").is_empty());
        assert_eq!(cut.finish(), Some("end".to_owned()));
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(texts in prop::collection::vec("[^\r\n]{1,12}", 1..5), size in 1usize..9) {
            let stream: String = texts.iter().map(|text| format!("data: {text}\n\n")).collect();
            let mut events = Events::default();
            let mut got = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                got.extend(events.push(piece).expect("UTF-8"));
            }
            prop_assert_eq!(got, texts);
        }
    }
}
