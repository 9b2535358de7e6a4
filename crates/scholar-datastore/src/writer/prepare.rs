//! Papers on their way in: cut, digested, collected into batches for the encoder.

use scholar_core::text::hex;
use scholar_core::text::passages::cut;
use scholar_core::{
    CharSpan, Encoder, Paper, PaperId, PaperMeta, Passage, PassageId, PassageKind, PortError,
    Section, Side,
};
use sha2::{Digest as _, Sha256};

use crate::descriptor::BuildRules;
use crate::schema::{DIGEST_BYTES, Merged, PaperBodyRef};

/// Most bytes that a word of running text has on average, markup of JSON and references included.
const WORD_BYTES: usize = 16;

/// A paper ready to be encoded.
pub(crate) struct Prepared {
    pub(crate) paper: Paper,
    /// JSON of its metadata.
    pub(crate) head: String,
    /// JSON of its sections and references.
    pub(crate) body: String,
    /// Identifier and digest of everything that would be stored.
    pub(crate) content: String,
    /// Digest of its normalised title and text; of a paper without text nothing.
    pub(crate) digest: Option<String>,
    /// Letters and digits of its text.
    pub(crate) letters: usize,
    /// What it has from other records of the same work.
    pub(crate) merged: Merged,
    pub(crate) passages: Vec<Passage>,
    /// Whether a paper of this identifier is stored and has to go.
    pub(crate) replaces: bool,
    /// Line and byte of its record in the file it came from.
    pub(crate) place: (u64, u64),
}

impl Prepared {
    /// Cuts and digests `paper`.
    pub(crate) fn new(paper: Paper, rules: BuildRules) -> Result<Self, serde_json::Error> {
        let mut passages = cut(&paper, rules.passages());
        if passages.is_empty() && rules.title_only && !paper.meta.title.is_empty() {
            passages.push(Passage {
                id: PassageId { paper: paper.meta.id.clone(), ordinal: 0 },
                title: paper.meta.title.clone(),
                section: String::new(),
                kind: PassageKind::Abstract,
                text: String::new(),
                span: CharSpan::new(0, 0),
                places: Vec::new(),
            });
        }
        Ok(Self { passages, ..Self::uncut(paper, rules)? })
    }

    /// Digests `paper`; its passages come later, as they were cut before.
    pub(crate) fn uncut(paper: Paper, rules: BuildRules) -> Result<Self, serde_json::Error> {
        let head = serde_json::to_string(&paper.meta)?;
        let body = body_of(&paper, None)?;
        let content = content_key(&paper.meta.id, &head, &body, rules)?;
        let (digest, letters) = text_digest(&paper);
        Ok(Self {
            paper,
            head,
            body,
            content,
            digest: (letters > 0).then_some(digest),
            letters,
            merged: Merged::default(),
            passages: Vec::new(),
            replaces: false,
            place: (0, 0),
        })
    }

    /// Takes in what other records of the same work brought.
    pub(crate) fn join(&mut self, merged: Merged) -> Result<(), serde_json::Error> {
        if merged.is_empty() {
            return Ok(());
        }
        self.merged.extend(merged);
        let contents = vec![self.content.clone()];
        self.merged.extend(Merged { contents, ..Merged::default() });
        let PaperMeta { id, external_ids, .. } = &mut self.paper.meta;
        for other in &self.merged.ids {
            if other != id && !external_ids.contains(other) {
                external_ids.push(other.clone());
            }
        }
        self.head = serde_json::to_string(&self.paper.meta)?;
        self.body = body_of(&self.paper, Some(&self.merged))?;
        Ok(())
    }

    /// Files it under the identifier that the same work has in the store.
    pub(crate) fn refile(
        &mut self,
        first: PaperId,
        mut merged: Merged,
    ) -> Result<(), serde_json::Error> {
        let own = std::mem::replace(&mut self.paper.meta.id, first);
        let passages = std::mem::take(&mut self.passages);
        self.put_passages(passages);
        if !matches!(own, PaperId::Local(_)) {
            merged.ids.push(own);
        }
        self.join(merged)
    }

    /// Content keys of the records it was made of.
    pub(crate) fn records(&self) -> Vec<String> {
        match self.merged.contents.is_empty() {
            true => vec![self.content.clone()],
            false => self.merged.contents.clone(),
        }
    }

    /// Gives it passages that were cut before.
    pub(crate) fn put_passages(&mut self, mut passages: Vec<Passage>) {
        for passage in &mut passages {
            passage.id.paper = self.paper.meta.id.clone();
        }
        self.passages = passages;
    }

    /// How much it is, in words of its passages; what has few words for its size counts by its size.
    pub(crate) fn words(&self) -> usize {
        let words: usize = self.passages.iter().map(passage_words).sum();
        words.max((self.head.len() + self.body.len()) / WORD_BYTES)
    }
}

/// Same key, same stored content: identifier, 16 bytes of SHA-256 over paper and rules.
pub(crate) fn content_key(
    id: &PaperId,
    head: &str,
    body: &str,
    rules: BuildRules,
) -> Result<String, serde_json::Error> {
    let mut digest = Sha256::new();
    digest.update(head);
    digest.update(body);
    digest.update(serde_json::to_vec(&rules)?);
    Ok(format!("{id}@{}", hex(&digest.finalize()[..DIGEST_BYTES])))
}

fn body_of(paper: &Paper, merged: Option<&Merged>) -> Result<String, serde_json::Error> {
    let Paper { meta: _, sections, references, records } = paper;
    serde_json::to_string(&PaperBodyRef { sections, references, records, merged })
}

/// Equal for papers with the same letters and digits in title and text, whatever their case, spacing and punctuation; and
/// how many bytes these take in the text. Without text it says nothing: a title alone does not identify a paper
/// (`Editorial`).
fn text_digest(paper: &Paper) -> (String, usize) {
    let mut digest = Sha256::new();
    let mut letters = String::new();
    put_letters(&paper.meta.title, &mut letters);
    digest.update(&letters);
    let mut total = 0;
    for section in &paper.sections {
        letters.clear();
        put_letters(&section.text, &mut letters);
        total += letters.len();
        digest.update(&letters);
    }
    (hex(&digest.finalize()[..DIGEST_BYTES]), total)
}

/// Bytes of the letters and digits of a text.
pub(crate) fn letters_of(sections: &[Section]) -> usize {
    sections.iter().map(|section| normalised(&section.text).len()).sum()
}

/// The letters and digits of a text in lower case.
pub(crate) fn normalised(text: &str) -> String {
    let mut letters = String::new();
    put_letters(text, &mut letters);
    letters
}

fn put_letters(text: &str, letters: &mut String) {
    if text.is_ascii() {
        letters.extend(
            text.bytes()
                .filter(u8::is_ascii_alphanumeric)
                .map(|byte| char::from(byte.to_ascii_lowercase())),
        );
    } else {
        letters.extend(text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase));
    }
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

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, PaperMeta, Section};

    use super::*;

    #[test]
    fn texts_that_differ_in_form_only_have_one_digest() {
        let digest = |title: &str, text: &str| {
            let sections = vec![Section::new("", text)];
            let meta = PaperMeta::new(PaperId::Pmid(1), title);
            let (digest, letters) =
                text_digest(&Paper { meta, sections, references: Vec::new(), records: Vec::new() });
            (letters > 0).then_some(digest)
        };
        assert_eq!(digest("On Cells.", "A cell, divided"), digest("on cells", "a  cell divided"));
        assert_eq!(digest("Über", "α"), digest("ÜBER", "Α"));
        assert_ne!(digest("On Cells", "a cell"), digest("On Cells", "two cells"));
        assert_eq!(digest("Editorial", ""), None);
    }
}
