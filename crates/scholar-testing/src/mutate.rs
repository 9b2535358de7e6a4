//! Broken inputs made from good ones, the same for the same seed.

use scholar_core::SplitMix64;

/// Longest input that is made.
const LONGEST: usize = 400_000;

/// `SplitMix64`, so that a failure can be repeated from its number alone.
pub struct Random(SplitMix64);

impl Random {
    /// Mutations drawn from `seed`: the same seed gives the same ones.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// A number below `end`, 0 for 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.0.next_u64() % end).unwrap_or(0)
    }
}

/// What parsers trip over: open structures, huge numbers, wrong encodings, odd references.
const PIECES: [&[u8]; 22] = [
    b"<",
    b">",
    b"</",
    b"&",
    b"&#x110000;",
    b"&#0;",
    b"<![CDATA[",
    b"<!--",
    b"]]>",
    b"\0",
    b"\xff\xfe",
    b"\xf0\x9f",
    b"99999999999999999999",
    b"-1",
    b"1e309",
    b"{",
    b"}",
    b"\"",
    b"@article{",
    b"stream\n",
    b"endobj",
    b"<<",
];

/// One to four mutations of `samples[n]`: flipped bits, cut ends, spliced parts, repeated parts, inserted pieces, deep
/// nesting, long numbers.
///
/// Nothing comes of no samples.
pub fn mutate(samples: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let Some(sample) = samples.get(random.below(samples.len())) else { return Vec::new() };
    let mut bytes = sample.clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => flip(&mut bytes, random),
            1 => bytes.truncate(at),
            2 => {
                let other = &samples[random.below(samples.len())];
                let from = random.below(other.len());
                let to = (from + random.below(2000)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            3 => {
                let to = (at + random.below(400)).min(bytes.len());
                let part = bytes[at..to].to_vec();
                for _ in 0..random.below(50) {
                    bytes.splice(at..at, part.iter().copied());
                }
            }
            4 => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            5 => nest(&mut bytes, at, random),
            6 => digits(&mut bytes, random),
            _ => {
                let to = (at + random.below(300)).min(bytes.len());
                bytes.drain(at..to);
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

/// Some bytes of `sample` overwritten, and its end cut off now and then: for files that are made of pages, in which what
/// is put in shifts everything.
pub fn overwrite(sample: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte = u8::try_from(random.below(256)).unwrap_or(0);
        }
    }
    if random.below(8) == 0 {
        bytes.truncate(random.below(sample.len()));
    }
    bytes
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(20) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
}

/// Repeats what stands between two angle brackets, or an opening bracket, thousands of times.
fn nest(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let tag = bytes[at..].iter().position(|byte| *byte == b'<').map(|open| at + open);
    let end = tag.and_then(|open| {
        bytes[open..].iter().position(|byte| *byte == b'>').map(|close| open + close + 1)
    });
    let part = match (tag, end) {
        (Some(open), Some(close)) if close - open < 60 => bytes[open..close].to_vec(),
        _ => vec![[b'[', b'(', b'{', b'<', b'>', b'*', b'-', b'$'][random.below(8)]],
    };
    let times = 1 + random.below(5000);
    bytes.splice(at..at, part.repeat(times));
}

/// Makes a number in the input huge.
fn digits(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = random.below(bytes.len());
    let Some(at) = bytes[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else {
        return;
    };
    let long = vec![b'9'; 1 + random.below(30)];
    bytes.splice(at..at, long);
}
