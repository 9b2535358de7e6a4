//! Lines as bytes, with a limit on their length. Blank lines are skipped but counted.

use std::io::{self, BufRead};

/// One line without its end.
pub(crate) enum Line {
    /// Within the limit.
    Text(Vec<u8>),
    /// Longer; its bytes were skipped.
    TooLong,
}

/// The lines of a stream.
pub(crate) struct Lines {
    source: Box<dyn BufRead + Send>,
    limit: usize,
    number: u64,
}

impl Lines {
    pub(crate) fn new(source: Box<dyn BufRead + Send>, limit: usize) -> Self {
        Self { source, limit, number: 0 }
    }

    /// The next line that is not blank, with its number from 1. An error carries the number of the line it is in.
    pub(crate) fn next_line(&mut self) -> Result<Option<(u64, Line)>, (u64, io::Error)> {
        loop {
            self.number += 1;
            let at = |error| (self.number, error);
            let mut text = Vec::new();
            let mut too_long = false;
            loop {
                let available = self.source.fill_buf().map_err(at)?;
                if available.is_empty() {
                    if text.is_empty() && !too_long {
                        return Ok(None);
                    }
                    break;
                }
                let end = available.iter().position(|byte| *byte == b'\n');
                let take = end.unwrap_or(available.len());
                if !too_long {
                    text.extend_from_slice(&available[..take]);
                    too_long = text.len() > self.limit;
                }
                if too_long {
                    text = Vec::new();
                }
                self.source.consume(take + usize::from(end.is_some()));
                if end.is_some() {
                    break;
                }
            }
            if too_long {
                return Ok(Some((self.number, Line::TooLong)));
            }
            if !text.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some((self.number, Line::Text(text))));
            }
        }
    }
}
