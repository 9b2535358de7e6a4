//! UTF-16 read as UTF-8.

use std::io::{self, BufRead, Read};

/// UTF-16 behind its byte order mark. What is no character becomes U+FFFD.
pub(crate) struct Utf16<R> {
    source: R,
    is_big_endian: bool,
    /// Bytes that are not a whole character yet: of one half of a unit, or of the first half of a pair.
    rest: Vec<u8>,
    /// Characters that were not handed out yet, and how far they were.
    ready: Vec<u8>,
    at: usize,
}

impl<R: BufRead> Utf16<R> {
    pub(crate) fn new(source: R, is_big_endian: bool) -> Self {
        Self { source, is_big_endian, rest: Vec::new(), ready: Vec::new(), at: 0 }
    }

    /// Reads on; nothing is ready afterwards at the end.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.at = 0;
        while self.ready.is_empty() {
            let available = self.source.fill_buf()?;
            let is_end = available.is_empty();
            if is_end && self.rest.is_empty() {
                return Ok(());
            }
            let taken = available.len();
            self.rest.extend_from_slice(available);
            self.source.consume(taken);
            self.decode(is_end);
        }
        Ok(())
    }

    fn decode(&mut self, is_end: bool) {
        let unit = |pair: &[u8]| match self.is_big_endian {
            true => u16::from_be_bytes([pair[0], pair[1]]),
            false => u16::from_le_bytes([pair[0], pair[1]]),
        };
        let mut whole = self.rest.len() / 2 * 2;
        let splits_pair = self.rest[..whole]
            .rchunks_exact(2)
            .next()
            .is_some_and(|pair| (0xd800..0xdc00).contains(&unit(pair)));
        if splits_pair && !is_end {
            whole -= 2;
        }
        let units = self.rest[..whole].chunks_exact(2).map(unit);
        let mut bytes = [0; 4];
        for c in char::decode_utf16(units) {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.ready.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
        }
        self.rest.drain(..whole);
        if is_end && !self.rest.is_empty() {
            self.rest.clear();
            let lost = char::REPLACEMENT_CHARACTER.encode_utf8(&mut bytes);
            self.ready.extend_from_slice(lost.as_bytes());
        }
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            self.fill()?;
        }
        let rest = &self.ready[self.at..];
        let taken = rest.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&rest[..taken]);
        self.at += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn pairs_are_kept_together_wherever_the_stream_is_cut() {
        let text = "a\u{e9}\u{1f600}\n\u{4e2d}";
        for is_big_endian in [false, true] {
            let bytes: Vec<u8> = text
                .encode_utf16()
                .flat_map(
                    |unit| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() },
                )
                .collect();
            for size in 1..bytes.len() {
                let source = BufReader::with_capacity(size, &bytes[..]);
                let mut read = String::new();
                Utf16::new(source, is_big_endian).read_to_string(&mut read).expect("UTF-8");
                assert_eq!(read, text);
            }
        }
        let mut read = String::new();
        let halves = &b"\x3d\xd8a\0\x3d\xd8\x00"[..];
        Utf16::new(halves, false).read_to_string(&mut read).expect("UTF-8");
        assert_eq!(read, "\u{fffd}a\u{fffd}\u{fffd}");
    }
}
