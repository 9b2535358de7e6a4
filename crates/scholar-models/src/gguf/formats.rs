//! The block formats of weights, and how one block becomes small integers with scales.
//!
//! Every format is read as the same thing, a [`Unit`]: unsigned codes, an integer scale and an integer minimum for each 16
//! of them, and two floats, so that one set of kernels multiplies all of them:
//!
//! `weight[i] = d * scale[i / 16] * code[i] - dmin * min[i / 16]`
//!
//! Source: the structures of ggml's `ggml-common.h`, as the GGUF files carry them.

/// Numbers that share one scale and one minimum in a [`Unit`].
pub(super) const GROUP: usize = 16;
/// The largest unit.
pub(super) const MAX_UNIT: usize = 256;
/// Groups of the largest unit.
pub(super) const MAX_GROUPS: usize = MAX_UNIT / GROUP;

/// How the numbers of a tensor are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Format {
    F32 = 0,
    F16,
    Bf16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2K,
    Q3K,
    Q4K,
    Q5K,
    Q6K,
}

impl Format {
    /// All of them, for messages.
    pub(super) const NAMES: &str =
        "F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K and Q6_K";

    /// By ggml's number.
    pub(super) fn of(kind: u32) -> Option<Self> {
        Some(match kind {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            6 => Self::Q5_0,
            7 => Self::Q5_1,
            8 => Self::Q8_0,
            10 => Self::Q2K,
            11 => Self::Q3K,
            12 => Self::Q4K,
            13 => Self::Q5K,
            14 => Self::Q6K,
            30 => Self::Bf16,
            _ => return None,
        })
    }

    /// Numbers and bytes of a block.
    pub(super) fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q2K => (256, 84),
            Self::Q3K => (256, 110),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
        }
    }

    /// Whether its numbers are floats of their own.
    pub(super) fn is_dense(self) -> bool {
        self.block().0 == 1
    }

    /// Numbers of a [`Unit`]; 0 for dense formats.
    pub(super) fn unit(self) -> usize {
        if self.is_dense() { 0 } else { self.block().0 }
    }

    /// The largest code; codes of `Q8_0` are signed bytes.
    pub(super) fn max_code(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 0,
            Self::Q2K => 3,
            Self::Q3K => 7,
            Self::Q4_0 | Self::Q4_1 | Self::Q4K => 15,
            Self::Q5_0 | Self::Q5_1 | Self::Q5K => 31,
            Self::Q6K => 63,
            Self::Q8_0 => 128,
        }
    }

    /// Whether two neighbouring groups always have the same scale and minimum.
    pub(super) fn pairs_groups(self) -> bool {
        !matches!(self, Self::Q2K | Self::Q3K | Self::Q6K)
    }
}

/// One block as integers.
#[repr(C, align(32))]
pub(super) struct Unit {
    /// In the order of the inputs; for [`Format::Q8_0`] these are the bits of signed numbers.
    pub(super) codes: [u8; MAX_UNIT],
    pub(super) scales: [i16; MAX_GROUPS],
    pub(super) mins: [i16; MAX_GROUPS],
    pub(super) d: f32,
    pub(super) dmin: f32,
}

impl Unit {
    pub(super) const ZERO: Self = Self {
        codes: [0; MAX_UNIT],
        scales: [0; MAX_GROUPS],
        mins: [0; MAX_GROUPS],
        d: 0.0,
        dmin: 0.0,
    };

    /// Reads a block of a quantised format.
    ///
    /// # Panics
    /// When `block` is shorter than a block of `format`, or the format is dense.
    #[inline(always)]
    pub(super) fn read(&mut self, format: Format, block: &[u8]) {
        match format {
            Format::Q4_0 => self.read_q4_0(head(block)),
            Format::Q4_1 => self.read_q4_1(head(block)),
            Format::Q5_0 => self.read_q5_0(head(block)),
            Format::Q5_1 => self.read_q5_1(head(block)),
            Format::Q8_0 => self.read_q8_0(head(block)),
            Format::Q2K => self.read_q2k(head(block)),
            Format::Q3K => self.read_q3k(head(block)),
            Format::Q4K => self.read_q4k(head(block)),
            Format::Q5K => self.read_q5k(head(block)),
            Format::Q6K => self.read_q6k(head(block)),
            Format::F32 | Format::F16 | Format::Bf16 => {
                unreachable!("dense formats have no blocks")
            }
        }
    }

    /// The weights themselves, `[unit]`.
    pub(super) fn weights(&self, format: Format, out: &mut [f32]) {
        for (group, out) in out.chunks_exact_mut(GROUP).enumerate() {
            let scale = self.d * f32::from(self.scales[group]);
            let min = self.dmin * f32::from(self.mins[group]);
            for (code, out) in self.codes[group * GROUP..].iter().zip(out) {
                let code = match format {
                    Format::Q8_0 => f32::from(code.cast_signed()),
                    _ => f32::from(*code),
                };
                *out = scale * code - min;
            }
        }
    }

    /// One scale for all 32 numbers; the minimum is `min * dmin`.
    #[inline(always)]
    fn plain(&mut self, d: f32, dmin: f32, min: i16) {
        self.scales[..2].fill(1);
        self.mins[..2].fill(min);
        (self.d, self.dmin) = (d, dmin);
    }

    #[inline(always)]
    fn nibbles(&mut self, packed: &[u8; 16]) {
        for (j, byte) in packed.iter().enumerate() {
            self.codes[j] = byte & 15;
            self.codes[j + 16] = byte >> 4;
        }
    }

    /// Adds the fifth bits.
    #[inline(always)]
    fn fifths(&mut self, bits: u32) {
        for (j, code) in self.codes[..32].iter_mut().enumerate() {
            *code |= ((bits >> j) as u8 & 1) << 4;
        }
    }

    #[inline(always)]
    fn read_q4_0(&mut self, block: &[u8; 18]) {
        let d = half_at(block, 0);
        self.nibbles(part(block, 2));
        self.plain(d, d, 8);
    }

    #[inline(always)]
    fn read_q4_1(&mut self, block: &[u8; 20]) {
        self.nibbles(part(block, 4));
        self.plain(half_at(block, 0), -half_at(block, 2), 1);
    }

    #[inline(always)]
    fn read_q5_0(&mut self, block: &[u8; 22]) {
        let d = half_at(block, 0);
        self.nibbles(part(block, 6));
        self.fifths(u32::from_le_bytes(*part(block, 2)));
        self.plain(d, d, 16);
    }

    #[inline(always)]
    fn read_q5_1(&mut self, block: &[u8; 24]) {
        self.nibbles(part(block, 8));
        self.fifths(u32::from_le_bytes(*part(block, 4)));
        self.plain(half_at(block, 0), -half_at(block, 2), 1);
    }

    #[inline(always)]
    fn read_q8_0(&mut self, block: &[u8; 34]) {
        self.codes[..32].copy_from_slice(&block[2..]);
        self.plain(half_at(block, 0), 0.0, 0);
    }

    #[inline(always)]
    fn read_q2k(&mut self, block: &[u8; 84]) {
        for (group, byte) in block[..16].iter().enumerate() {
            self.scales[group] = i16::from(byte & 15);
            self.mins[group] = i16::from(byte >> 4);
        }
        self.two_bits(part(block, 16));
        (self.d, self.dmin) = (half_at(block, 80), half_at(block, 82));
    }

    /// Codes of two bits in 64 bytes.
    #[inline(always)]
    fn two_bits(&mut self, packed: &[u8; 64]) {
        for n in 0..2 {
            for j in 0..4 {
                for l in 0..32 {
                    self.codes[128 * n + 32 * j + l] = packed[32 * n + l] >> (2 * j) & 3;
                }
            }
        }
    }

    #[inline(always)]
    fn read_q3k(&mut self, block: &[u8; 110]) {
        let high: &[u8; 32] = part(block, 0);
        self.two_bits(part(block, 32));
        for n in 0..8 {
            for (code, high) in self.codes[32 * n..].iter_mut().zip(high) {
                *code |= (high >> n & 1) << 2;
            }
        }
        let scales: &[u8; 12] = part(block, 96);
        for group in 0..MAX_GROUPS {
            let low = if group < 8 { scales[group] & 15 } else { scales[group - 8] >> 4 };
            let high = scales[8 + group % 4] >> (2 * (group / 4)) & 3;
            let scale = i16::from(low | high << 4) - 32;
            self.scales[group] = scale;
            self.mins[group] = 4 * scale;
        }
        self.d = half_at(block, 108);
        self.dmin = self.d;
    }

    /// Scales and minima of six bits each, of eight groups of 32.
    #[inline(always)]
    fn six_bits(&mut self, packed: &[u8; 12]) {
        let (scales, mins) = six_bits(packed);
        for j in 0..8 {
            let (scale, min) = (i16::from(scales[j]), i16::from(mins[j]));
            self.scales[2 * j] = scale;
            self.scales[2 * j + 1] = scale;
            self.mins[2 * j] = min;
            self.mins[2 * j + 1] = min;
        }
    }

    #[inline(always)]
    fn read_q4k(&mut self, block: &[u8; 144]) {
        (self.d, self.dmin) = (half_at(block, 0), half_at(block, 2));
        self.six_bits(part(block, 4));
        let packed: &[u8; 128] = part(block, 16);
        for (packed, codes) in packed.as_chunks().0.iter().zip(self.codes.as_chunks_mut().0) {
            *codes = halves(packed, &[0; 32], 0);
        }
    }

    #[inline(always)]
    fn read_q5k(&mut self, block: &[u8; 176]) {
        (self.d, self.dmin) = (half_at(block, 0), half_at(block, 2));
        self.six_bits(part(block, 4));
        let high: &[u8; 32] = part(block, 16);
        let packed: &[u8; 128] = part(block, 48);
        let parts = packed.as_chunks().0.iter().zip(self.codes.as_chunks_mut().0);
        for (j, (packed, codes)) in parts.enumerate() {
            *codes = halves(packed, high, 2 * j);
        }
    }

    #[inline(always)]
    fn read_q6k(&mut self, block: &[u8; 210]) {
        for n in 0..2 {
            let low: &[u8; 64] = part(block, 64 * n);
            let high: &[u8; 32] = part(block, 128 + 32 * n);
            for l in 0..32 {
                self.codes[128 * n + l] = low[l] & 15 | (high[l] & 3) << 4;
                self.codes[128 * n + 32 + l] = low[l + 32] & 15 | (high[l] >> 2 & 3) << 4;
                self.codes[128 * n + 64 + l] = low[l] >> 4 | (high[l] >> 4 & 3) << 4;
                self.codes[128 * n + 96 + l] = low[l + 32] >> 4 | (high[l] >> 6) << 4;
            }
        }
        for group in 0..MAX_GROUPS {
            let scale = i16::from(block[192 + group].cast_signed());
            self.scales[group] = scale;
            self.mins[group] = 32 * scale;
        }
        self.d = half_at(block, 208);
        self.dmin = self.d;
    }
}

/// The low and then the high halves of 32 bytes, with fifth bits from bit `bit` of `high` on. Through an array of its own: the
/// compiler cannot know that codes and blocks do not overlap, and would take byte by byte.
#[inline(always)]
fn halves(packed: &[u8; 32], high: &[u8; 32], bit: usize) -> [u8; 64] {
    let mut codes = [0; 64];
    for l in 0..32 {
        codes[l] = packed[l] & 15 | (high[l] >> bit & 1) << 4;
        codes[l + 32] = packed[l] >> 4 | (high[l] >> (bit + 1) & 1) << 4;
    }
    codes
}

/// Eight scales and eight minima of six bits.
#[inline(always)]
pub(super) fn six_bits(packed: &[u8; 12]) -> ([u8; 8], [u8; 8]) {
    let word = |i: usize| u32::from_le_bytes(*part(packed, 4 * i));
    let (a, b, c) = (word(0), word(1), word(2));
    let pair = |low: u32, high: u32| {
        let mut out = [0; 8];
        out[..4].copy_from_slice(&low.to_le_bytes());
        out[4..].copy_from_slice(&high.to_le_bytes());
        out
    };
    let scales = pair(a & 0x3f3f_3f3f, c & 0x0f0f_0f0f | (a >> 6 & 0x0303_0303) << 4);
    let mins = pair(b & 0x3f3f_3f3f, c >> 4 & 0x0f0f_0f0f | (b >> 6 & 0x0303_0303) << 4);
    (scales, mins)
}

/// The first `N` bytes.
#[inline(always)]
fn head<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    part(bytes, 0)
}

/// `N` bytes from `start` on.
#[inline(always)]
pub(super) fn part<const N: usize>(bytes: &[u8], start: usize) -> &[u8; N] {
    bytes[start..].first_chunk().expect("a block is as long as its format says")
}

/// The half-precision number at byte `start`.
#[inline(always)]
pub(super) fn half_at(bytes: &[u8], start: usize) -> f32 {
    half_to_f32(u16::from_le_bytes(*part(bytes, start)))
}

/// A finite half-precision number as f32; exact, without the run-time detection that `half` does for each number.
#[inline(always)]
pub(super) fn half_to_f32(bits: u16) -> f32 {
    const TWO_TO_112: f32 = f32::from_bits((112 + 127) << 23);
    let magnitude = f32::from_bits(u32::from(bits & 0x7fff) << 13) * TWO_TO_112;
    f32::from_bits(magnitude.to_bits() | u32::from(bits & 0x8000) << 16)
}
