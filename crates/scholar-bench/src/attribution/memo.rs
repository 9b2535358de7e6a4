//! An encoder that remembers: the sentences of one paper are candidates for every sentence that cites it.

use std::collections::HashMap;

use parking_lot::Mutex;
use scholar_core::{Embeddings, Encoder, EncoderInfo, PortError, Side};

/// Encodes each text once.
pub(super) struct Memo<'a> {
    encoder: &'a dyn Encoder,
    /// By text, and whether it was encoded as a query.
    known: Mutex<HashMap<(bool, String), Vec<f32>>>,
}

impl<'a> Memo<'a> {
    pub(super) fn new(encoder: &'a dyn Encoder) -> Self {
        Self { encoder, known: Mutex::default() }
    }
}

impl Encoder for Memo<'_> {
    fn info(&self) -> &EncoderInfo {
        self.encoder.info()
    }

    /// Texts that were cut before are not counted as cut again.
    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        let mut known = self.known.lock();
        let key = |text: &str| (side == Side::Query, text.to_owned());
        let mut new: Vec<&str> =
            texts.iter().copied().filter(|text| !known.contains_key(&key(text))).collect();
        new.sort_unstable();
        new.dedup();
        let (mut dim, mut truncated) = (self.info().dim, 0);
        if !new.is_empty() {
            let encoded = self.encoder.encode(side, &new)?;
            (dim, truncated) = (encoded.dim, encoded.truncated);
            for (text, row) in new.into_iter().zip(encoded.values.chunks_exact(dim.max(1))) {
                known.insert(key(text), row.to_vec());
            }
        }
        let rows = texts.iter().filter_map(|text| known.get(&key(text)));
        Ok(Embeddings { values: rows.flatten().copied().collect(), dim, truncated })
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::{Similarity, TextPreparation};

    use super::*;

    /// Says of each text how many were encoded together with it.
    struct Counting(EncoderInfo);

    impl Encoder for Counting {
        fn info(&self) -> &EncoderInfo {
            &self.0
        }

        fn encode(&self, _: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
            let together = f32::from(u8::try_from(texts.len()).expect("few"));
            Ok(Embeddings { values: vec![together; texts.len()], dim: 1, truncated: 0 })
        }
    }

    #[test]
    fn a_text_is_encoded_once() {
        let counting = Counting(EncoderInfo {
            name: "counting".to_owned(),
            fingerprint: String::new(),
            dim: 1,
            max_tokens: 8,
            similarity: Similarity::Cosine,
            preparation: TextPreparation::NONE,
        });
        let memo = Memo::new(&counting);
        let first = memo.encode(Side::Query, &["ab", "c", "ab"]).expect("encoded");
        assert_eq!(first.values, [2.0, 2.0, 2.0]);
        let second = memo.encode(Side::Query, &["c", "def"]).expect("encoded");
        assert_eq!(second.values, [2.0, 1.0], "only the new one is encoded");
        let other = memo.encode(Side::Passage, &["c"]).expect("encoded");
        assert_eq!(other.values, [1.0], "the other side is another vector");
    }
}
