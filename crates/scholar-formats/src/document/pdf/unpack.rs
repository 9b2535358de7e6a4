//! Unpacks streams strictly and within a bound.
//!
//! The interpreter unpacks as much as it can, tells nobody what was broken and stops at no size. Here the same bytes are
//! unpacked once before it sees them, only to know both.

use flate2::{Decompress, FlushDecompress, Status};

/// How a stream is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// All of it can be had.
    Whole,
    /// It breaks off or is not what it says.
    Damaged,
    /// It is larger than any page or font.
    TooLarge,
}

/// Ways of packing that are not of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Hex,
    Ascii85,
    Lzw,
    Flate,
    RunLength,
}

/// What unpacking `data` by `ways`, one after another, brings: at most `most` bytes.
pub(super) fn packing(data: &[u8], ways: &[Way], most: usize) -> Packing {
    let mut current: Option<Vec<u8>> = None;
    let mut verdict = Packing::Whole;
    for way in ways {
        let mut out = Sink { bytes: Vec::new(), most };
        let packed = current.as_deref().unwrap_or(data);
        let whole = match way {
            Way::Hex => hex(packed, &mut out),
            Way::Ascii85 => ascii85(packed, &mut out),
            Way::Lzw => lzw(packed, &mut out),
            Way::Flate => flate(packed, &mut out),
            Way::RunLength => run_length(packed, &mut out),
        };
        if out.is_full() {
            return Packing::TooLarge;
        }
        if !whole {
            verdict = Packing::Damaged;
        }
        current = Some(out.bytes);
    }
    verdict
}

/// Bytes up to a number.
struct Sink {
    bytes: Vec<u8>,
    most: usize,
}

impl Sink {
    fn is_full(&self) -> bool {
        self.bytes.len() > self.most
    }

    fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }
}

/// Piece by piece into a buffer of this size.
const PIECE: usize = 1 << 16;

/// With the head of zlib or without. Whole is what comes to its end, and fits its checksum if it has one.
fn flate(data: &[u8], out: &mut Sink) -> bool {
    let head = data.get(..2).filter(|head| {
        head[0] & 0x0f == 8 && (u16::from(head[0]) << 8 | u16::from(head[1])).is_multiple_of(31)
    });
    let body = &data[head.map_or(0, <[u8]>::len)..];
    let mut decoder = Decompress::new(false);
    let mut buffer = vec![0; PIECE];
    loop {
        let (read, written) = (decoder.total_in(), decoder.total_out());
        let rest = usize::try_from(read).ok().and_then(|at| body.get(at..)).unwrap_or_default();
        let status = decoder.decompress(rest, &mut buffer, FlushDecompress::None);
        let piece = usize::try_from(decoder.total_out() - written).unwrap_or(0);
        out.push(buffer.get(..piece).unwrap_or_default());
        if out.is_full() {
            return false;
        }
        match status {
            Ok(Status::StreamEnd) => break,
            Ok(_) if decoder.total_in() > read || piece > 0 => {}
            _ => return false,
        }
    }
    let end = usize::try_from(decoder.total_in()).ok().and_then(|at| body.get(at..at + 4));
    let sum = end.and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    head.is_none() || sum.is_none_or(|sum| sum == adler32(&out.bytes))
}

/// The checksum at the end of a zlib stream. Source: RFC 1950, section 8.2.
fn adler32(bytes: &[u8]) -> u32 {
    const BASE: u32 = 65_521;
    /// As many as cannot overflow.
    const RUN: usize = 5552;
    let (mut a, mut b) = (1_u32, 0_u32);
    for run in bytes.chunks(RUN) {
        for byte in run {
            a += u32::from(*byte);
            b += a;
        }
        a %= BASE;
        b %= BASE;
    }
    b << 16 | a
}

/// Codes of 9 to 12 bits. Source: ISO 32000-1, 7.4.4. Only the length of what a code stands for is bounded here, and its
/// bytes are kept because another way may follow.
fn lzw(data: &[u8], out: &mut Sink) -> bool {
    const CLEAR: usize = 256;
    const END: usize = 257;
    const FULL: usize = 4096;
    // Where in `out` the string of a code above `END` stands, and how long it is.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let mut before: Option<(usize, usize)> = None;
    let (mut bits, mut held, mut at) = (0_u32, 0_u32, 0_usize);
    loop {
        let known = table.len() + 258;
        // One early, as nearly all writers have it.
        let width = match known + 1 {
            2048.. => 12,
            1024.. => 11,
            512.. => 10,
            _ => 9,
        };
        while held < width {
            let Some(byte) = data.get(at) else { return before.is_none() && at > 0 };
            bits = bits << 8 | u32::from(*byte);
            held += 8;
            at += 1;
        }
        held -= width;
        let code = usize::try_from(bits >> held & ((1 << width) - 1)).unwrap_or(END);
        bits &= (1 << held) - 1;
        if code == CLEAR {
            table.clear();
            before = None;
            continue;
        }
        if code == END {
            return true;
        }
        let start = out.bytes.len();
        match (u8::try_from(code), before) {
            (Ok(byte), _) => out.push(&[byte]),
            (Err(_), before) => {
                // The code that is only now defined: the string before and its own first byte.
                let own = before.filter(|_| code == known).map(|(from, length)| (from, length + 1));
                let Some((from, length)) = table.get(code - 258).copied().or(own) else {
                    return false;
                };
                for offset in 0..length {
                    let byte = out.bytes[from + offset];
                    out.bytes.push(byte);
                }
            }
        }
        if let Some((from, length)) = before.filter(|_| known < FULL) {
            // The string before and the byte after it, which is the first of this one.
            table.push((from, length + 1));
        }
        before = Some((start, out.bytes.len() - start));
        if out.is_full() {
            return false;
        }
    }
}

/// Source: ISO 32000-1, 7.4.5.
fn run_length(data: &[u8], out: &mut Sink) -> bool {
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        let count = usize::from(length);
        rest = match length {
            128 => return true,
            0..128 => {
                let Some((piece, after)) = after.split_at_checked(count + 1) else { return false };
                out.push(piece);
                after
            }
            129.. => {
                let Some((byte, after)) = after.split_first() else { return false };
                out.push(&vec![*byte; 257 - count]);
                after
            }
        };
        if out.is_full() {
            return false;
        }
    }
    false
}

/// Source: ISO 32000-1, 7.4.2.
fn hex(data: &[u8], out: &mut Sink) -> bool {
    let mut high = None;
    for byte in data {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'>' => {
                out.push(&high.map_or(Vec::new(), |high| vec![high << 4]));
                return true;
            }
            _ if byte.is_ascii_whitespace() || *byte == 0 => continue,
            _ => return false,
        };
        match high.take() {
            Some(high) => out.push(&[high << 4 | digit]),
            None => high = Some(digit),
        }
    }
    // The mark of the end is often left out.
    true
}

/// Source: ISO 32000-1, 7.4.3.
fn ascii85(data: &[u8], out: &mut Sink) -> bool {
    let mut group: Vec<u8> = Vec::with_capacity(5);
    let mut flush = |group: &mut Vec<u8>| {
        let given = group.len();
        if given == 0 {
            return true;
        }
        let digits = group.iter().copied().chain(std::iter::repeat(84)).take(5);
        let value = digits.fold(0_u64, |value, digit| value * 85 + u64::from(digit));
        let bytes = u32::try_from(value).map(u32::to_be_bytes);
        group.clear();
        match bytes {
            Ok(bytes) if given > 1 => out.push(&bytes[..given - 1]),
            _ => return false,
        }
        true
    };
    for byte in data {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => {
                group.extend([0; 5]);
                flush(&mut group);
            }
            b'!'..=b'u' => {
                group.push(byte - b'!');
                if group.len() == 5 && !flush(&mut group) {
                    return false;
                }
            }
            _ if byte.is_ascii_whitespace() || *byte == 0 => {}
            _ => return false,
        }
    }
    flush(&mut group)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, ZlibEncoder};

    use super::*;

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }

    #[test]
    fn what_is_whole_is_told_from_what_is_damaged_or_endless() {
        let text = "BT (words) Tj ET\n".repeat(200);
        let packed = zlib(text.as_bytes());
        let check = |data: &[u8]| packing(data, &[Way::Flate], 1 << 16);
        assert_eq!(check(&packed), Packing::Whole);
        assert_eq!(check(&packed[..packed.len() - 4]), Packing::Whole, "without its checksum");
        assert_eq!(
            check(&[&packed[..], b"\r\n"].concat()),
            Packing::Whole,
            "a line break after it"
        );
        assert_eq!(check(&packed[..packed.len() - 12]), Packing::Damaged);
        assert_eq!(check(b"\x78\x9c this is no compressed stream"), Packing::Damaged);
        assert_eq!(check(b""), Packing::Damaged);
        let mut wrong_sum = packed.clone();
        *wrong_sum.last_mut().expect("not empty") ^= 1;
        assert_eq!(check(&wrong_sum), Packing::Damaged);
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(text.as_bytes()).expect("a vector takes all");
        assert_eq!(check(&bare.finish().expect("a vector takes all")), Packing::Whole);
        let bomb = zlib(&zlib(&vec![b' '; 1 << 20]));
        assert_eq!(packing(&bomb, &[Way::Flate], 1 << 16), Packing::Whole);
        assert_eq!(packing(&bomb, &[Way::Flate, Way::Flate], 1 << 16), Packing::TooLarge);
    }

    #[test]
    fn every_way_unpacks_as_the_standard_says() {
        let unpacked = |read: fn(&[u8], &mut Sink) -> bool, data: &[u8]| {
            let mut out = Sink { bytes: Vec::new(), most: 1 << 16 };
            read(data, &mut out).then_some(out.bytes)
        };
        assert_eq!(unpacked(hex, b"48 65\n6C6c6F7>").as_deref(), Some(&b"Hellop"[..]));
        assert_eq!(unpacked(hex, b"4x"), None);
        assert_eq!(unpacked(ascii85, b"87cUR\nD]~>").as_deref(), Some(&b"Hello"[..]));
        assert_eq!(unpacked(ascii85, b"z~>").as_deref(), Some(&[0; 4][..]));
        assert_eq!(unpacked(ascii85, b"uuuuu~>"), None, "more than four bytes hold");
        assert_eq!(
            unpacked(run_length, &[2, b'a', b'b', b'c', 254, b'x', 128]),
            Some(b"abcxxx".into())
        );
        assert_eq!(unpacked(run_length, &[9, b'a']), None);
        // The example of the standard.
        let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        let plain = [45, 45, 45, 45, 45, 65, 45, 45, 45, 66];
        assert_eq!(unpacked(lzw, &packed).as_deref(), Some(&plain[..]));
        assert_eq!(unpacked(lzw, &packed[..6]), None);
        assert_eq!(unpacked(lzw, &[0xff; 9]), None);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }
}
