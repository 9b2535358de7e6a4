//! Papers on their way in: cut, digested, collected into batches for the encoder.

use scholar_core::{CharSpan, text::passages::cut};
use scholar_core::{Encoder, Paper, Passage, PassageId, PassageKind, PortError, Side};
use sha2::{Digest as _, Sha256};

use crate::descriptor::BuildRules;

/// A paper ready to be encoded.
pub(crate) struct Prepared {
    pub(crate) paper: Paper,
    /// Identifier and digest of everything that would be stored.
    pub(crate) content: String,
    pub(crate) passages: Vec<Passage>,
}

impl Prepared {
    pub(crate) fn new(paper: Paper, rules: BuildRules) -> Result<Self, serde_json::Error> {
        let content = content_key(&paper, rules)?;
        let mut passages = cut(&paper, rules.passages());
        if passages.is_empty() && rules.title_only && !paper.meta.title.is_empty() {
            passages.push(Passage {
                id: PassageId { paper: paper.meta.id.clone(), ordinal: 0 },
                title: paper.meta.title.clone(),
                section: String::new(),
                kind: PassageKind::Abstract,
                text: String::new(),
                span: CharSpan::new(0, 0),
            });
        }
        Ok(Self { paper, content, passages })
    }

    pub(crate) fn words(&self) -> usize {
        self.passages.iter().map(passage_words).sum()
    }
}

/// Same key, same stored content: identifier, 16 bytes of SHA-256 over paper and rules.
pub(crate) fn content_key(paper: &Paper, rules: BuildRules) -> Result<String, serde_json::Error> {
    let digest = Sha256::digest(serde_json::to_vec(&(paper, rules))?);
    let hex: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}@{hex}", paper.meta.id))
}

fn passage_words(passage: &Passage) -> usize {
    // The white space inside is single, so counting it counts words.
    let blanks = |text: &str| text.bytes().filter(u8::is_ascii_whitespace).count();
    2 + blanks(&passage.title) + blanks(&passage.text)
}

/// Encodes `texts` longest first in calls of at most `batch_words` words: neighbours of equal length waste no padding.
/// Returns rows in input order and how many texts the encoder cut short.
pub(crate) fn encode_in_batches(
    encoder: &dyn Encoder,
    passages: &[&Passage],
    batch_words: usize,
) -> Result<(Vec<Vec<f32>>, usize), PortError> {
    let texts: Vec<String> = passages.iter().map(|passage| passage.encoded_text()).collect();
    let sizes: Vec<usize> = passages.iter().map(|passage| passage_words(passage)).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|a, b| sizes[*b].cmp(&sizes[*a]));
    let mut rows: Vec<Vec<f32>> = vec![Vec::new(); texts.len()];
    let mut truncated = 0;
    let mut rest = order.as_slice();
    while let Some(longest) = rest.first() {
        let fit = (batch_words / sizes[*longest].max(1)).clamp(1, rest.len());
        let (batch, later) = rest.split_at(fit);
        let batch_texts: Vec<&str> = batch.iter().map(|place| texts[*place].as_str()).collect();
        let embeddings = encoder.encode(Side::Passage, &batch_texts)?;
        truncated += embeddings.truncated;
        for (place, row) in batch.iter().zip(embeddings.rows()) {
            rows[*place] = row.to_vec();
        }
        rest = later;
    }
    Ok((rows, truncated))
}
