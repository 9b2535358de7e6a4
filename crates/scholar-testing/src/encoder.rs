//! An encoder without a model.

use scholar_core::{Embeddings, Encoder, EncoderInfo, PortError, Side, Similarity};

use crate::words::stems;

/// Hashed bag of stems: texts that share words have a high cosine, the same text has the same vector everywhere.
pub struct FakeEncoder {
    info: EncoderInfo,
}

impl FakeEncoder {
    /// Vectors of `dim` numbers, at most 512 stems of a text read.
    ///
    /// # Panics
    /// When `dim` is 0.
    pub fn new(dim: usize) -> Self {
        assert!(dim > 0, "a vector has at least one number");
        let info = EncoderInfo {
            name: format!("fake-encoder-{dim}"),
            fingerprint: format!("fake-{dim}-v1"),
            dim,
            max_tokens: 512,
            similarity: Similarity::Cosine,
            preparation: scholar_core::TextPreparation::NONE,
        };
        Self { info }
    }

    /// The same encoder under another name and fingerprint, to test that a datastore refuses it.
    #[must_use]
    pub fn renamed(mut self, name: &str) -> Self {
        name.clone_into(&mut self.info.name);
        self.info.fingerprint = format!("{name}-{}", self.info.dim);
        self
    }

    fn add(&self, row: &mut [f32], stem: &str) {
        let hash = fnv1a(stem.as_bytes());
        let dim = u64::try_from(self.info.dim).expect("a dimension fits in 64 bits");
        // Two signed positions a word: few collisions stay undetected even in a small space.
        for part in [hash, hash.rotate_left(31).wrapping_mul(0x9E37_79B9_7F4A_7C15)] {
            let at = usize::try_from(part % dim).expect("smaller than the dimension");
            row[at] += if part >> 63 == 0 { 1.0 } else { -1.0 };
        }
    }
}

impl Encoder for FakeEncoder {
    fn info(&self) -> &EncoderInfo {
        &self.info
    }

    fn encode(&self, _side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        let dim = self.info.dim;
        let mut values = vec![0.0; texts.len() * dim];
        let mut truncated = 0;
        for (text, row) in texts.iter().zip(values.chunks_exact_mut(dim)) {
            let stems = stems(text);
            truncated += usize::from(stems.len() > self.info.max_tokens);
            stems.iter().take(self.info.max_tokens).for_each(|stem| self.add(row, stem));
            normalise(row);
        }
        Ok(Embeddings { values, dim, truncated })
    }

    fn token_states(
        &self,
        _side: Side,
        texts: &[&str],
    ) -> Result<Option<Vec<Embeddings>>, PortError> {
        let dim = self.info.dim;
        let states = texts.iter().map(|text| {
            let stems = stems(text);
            let kept = stems.len().min(self.info.max_tokens);
            let mut values = vec![0.0; kept * dim];
            for (stem, row) in stems.iter().zip(values.chunks_exact_mut(dim)) {
                self.add(row, stem);
                normalise(row);
            }
            Embeddings { values, dim, truncated: usize::from(kept < stems.len()) }
        });
        Ok(Some(states.collect()))
    }
}

/// Length 1; a vector of zeros becomes the first unit vector, so that an empty text has a direction too.
fn normalise(row: &mut [f32]) {
    let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt();
    if norm > 0.0 {
        row.iter_mut().for_each(|v| *v /= norm);
    } else {
        row[0] = 1.0;
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::cosine;

    #[test]
    fn shared_words_mean_near_vectors() {
        let encoder = FakeEncoder::new(128);
        let rows = encoder
            .encode(
                Side::Passage,
                &["dense retrieval of passages", "retrieving dense passages", "gender bias", ""],
            )
            .expect("never fails");
        let row = |n: usize| rows.rows().nth(n).expect("row");
        assert!(cosine(row(0), row(1)) > 0.99);
        assert!(cosine(row(0), row(2)).abs() < 0.5);
        assert!((cosine(row(3), row(3)) - 1.0).abs() < 1e-6, "an empty text has length 1");
        let long = "word ".repeat(600);
        assert_eq!(encoder.encode(Side::Query, &[&long]).expect("cut").truncated, 1);
        let states =
            encoder.token_states(Side::Query, &["dense retrieval"]).expect("ok").expect("some");
        assert_eq!(states[0].len(), 2);
    }
}
