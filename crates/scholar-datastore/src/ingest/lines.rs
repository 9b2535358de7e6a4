//! Lines as bytes, with a limit on their length. Blank lines are skipped but counted.

use std::io::{self, BufRead};
use std::ops::Range;

use scholar_core::Limit;

use super::decode::{Beyond, Content};

/// Bytes kept of a line that is too long, to recognise it by.
const HEAD_BYTES: usize = 800;

/// How many times longer than the limit a line may be and still be passed over: what goes on beyond that has no lines.
const PASSED_OVER: usize = 16;

/// Before the first line of files that Windows wrote.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line without its end.
pub(crate) enum Line {
    /// Within the limit.
    Text(Vec<u8>),
    /// Longer: how it begins; the rest was skipped.
    TooLong(Vec<u8>),
}

/// Where a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its number, from 1, counted from where reading began.
    pub(crate) line: u64,
    /// Offset of its first byte in the uncompressed file.
    pub(crate) byte: u64,
}

/// The lines of a stream.
pub(crate) struct Lines {
    source: Box<dyn BufRead + Send>,
    limit: usize,
    number: u64,
    /// Offset of the next unread byte.
    at: u64,
    /// Lines that begin here or later are not read.
    end: u64,
    encoding: Option<&'static str>,
}

impl Lines {
    pub(crate) fn new(content: Content, limit: usize) -> Self {
        let Content { source, encoding } = content;
        Self { source, limit, number: 0, at: 0, end: u64::MAX, encoding }
    }

    /// What the file is written in, where that is not plain UTF-8; known once the first line is read.
    pub(crate) fn encoding(&self) -> Option<&'static str> {
        self.encoding
    }

    /// The lines that begin in the bytes `begins` of a stream that has been moved to the byte before, or to 0: that byte
    /// says whether a line begins there.
    pub(crate) fn part(
        source: Box<dyn BufRead + Send>,
        limit: usize,
        begins: Range<u64>,
    ) -> io::Result<Self> {
        let at = begins.start.saturating_sub(1);
        let mut lines = Self { source, limit, number: 0, at, end: begins.end, encoding: None };
        if begins.start > 0 {
            lines.read_line(&mut Vec::new(), 0)?;
        }
        Ok(lines)
    }

    /// The next line that is not blank, with its place. An error carries the place of the line it is in.
    pub(crate) fn next_line(&mut self) -> Result<Option<(Place, Line)>, (Place, io::Error)> {
        loop {
            self.number += 1;
            let place = Place { line: self.number, byte: self.at };
            if self.at >= self.end {
                return Ok(None);
            }
            let mut text = Vec::new();
            let limit = self.limit;
            let complete = self.read_line(&mut text, limit).map_err(|error| (place, error))?;
            if self.at == place.byte {
                return Ok(None);
            }
            if place.byte == 0 && text.starts_with(BYTE_ORDER_MARK) {
                text.drain(..BYTE_ORDER_MARK.len());
                self.encoding = Some("UTF-8 with a byte order mark");
            }
            if !complete {
                text.truncate(HEAD_BYTES);
                text.shrink_to_fit();
                return Ok(Some((place, Line::TooLong(text))));
            }
            if !text.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some((place, Line::Text(text))));
            }
        }
    }

    /// Reads up to and over the next line end; of a line longer than `limit` only that much is kept, and the result is
    /// false.
    fn read_line(&mut self, text: &mut Vec<u8>, limit: usize) -> io::Result<bool> {
        let mut complete = true;
        let began = self.at;
        loop {
            let available = self.source.fill_buf()?;
            if available.is_empty() {
                return Ok(complete);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let line = &available[..end.unwrap_or(available.len())];
            let room = limit.saturating_sub(text.len());
            complete &= line.len() <= room;
            text.extend_from_slice(&line[..line.len().min(room)]);
            let taken = line.len() + usize::from(end.is_some());
            self.source.consume(taken);
            self.at += taken as u64;
            if end.is_some() {
                return Ok(complete);
            }
            let most = self.limit.saturating_mul(PASSED_OVER);
            if self.at - began > most as u64 {
                let what = format!("a line is longer than {most} bytes");
                return Err(io::Error::other(Beyond { what, limit: Limit::LineBytes }));
            }
        }
    }
}
