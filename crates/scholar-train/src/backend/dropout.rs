//! Dropout whose masks are functions of a key and a place, so that they need not be kept for the backward pass.

use scholar_core::SplitMix64;

/// Dropout of one forward and backward pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dropout {
    key: u64,
    probability: f32,
}

impl Dropout {
    /// Masks of step and part `stream` of a training with `seed`; `None` where nothing is dropped.
    pub(crate) fn new(seed: u64, stream: u64, probability: f32) -> Option<Self> {
        let key = SplitMix64::stream(seed, stream).next_u64();
        (probability > 0.0).then_some(Self { key, probability })
    }

    /// The mask of one place in the network, by number.
    pub(crate) fn site(self, site: usize) -> Mask {
        let mut random = SplitMix64::stream(self.key, site as u64);
        let threshold = f64::from(self.probability) * 4_294_967_296.0;
        Mask {
            key: (random.next_u64() >> 32) as u32,
            threshold: threshold as u32,
            scale: 1.0 / (1.0 - self.probability),
        }
    }
}

/// What an element's index is multiplied with before it is mixed with the key.
pub(crate) const SPREAD: u32 = 0x9e37_79b9;

/// Which elements of one tensor are dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mask {
    /// Mixed into the index.
    pub(crate) key: u32,
    /// An element is kept when its 32 random bits are at least this.
    pub(crate) threshold: u32,
    /// What kept elements are multiplied with, so that the expectation stays.
    pub(crate) scale: f32,
}
