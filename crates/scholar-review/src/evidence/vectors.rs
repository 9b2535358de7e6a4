//! What encoder and sentence classifier say of sentences, in a fixed order: the texts of a review are encoded together, whatever
//! search ended first.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{
    EmbeddedText, Encoder, PassageKind, PortError, PortErrorKind, RoleProbabilities,
    SentenceClassifier, SentenceInContext, Side,
};
use scholar_pipeline::Ports;

/// Texts encoded in one call.
const BATCH: usize = 64;

/// Embeddings by text, all of length 1, and the classifier that reads them.
pub(super) struct Vectors<'a> {
    encoder: Option<&'a dyn Encoder>,
    classifier: Option<&'a dyn SentenceClassifier>,
    known: BTreeMap<String, Vec<f32>>,
}

/// A sentence and its neighbourhood.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoken<'a> {
    pub(super) text: &'a str,
    pub(super) before: Option<&'a str>,
    pub(super) after: Option<&'a str>,
    pub(super) title: &'a str,
    pub(super) section: &'a str,
    pub(super) kind: PassageKind,
    pub(super) nth: usize,
    pub(super) of: usize,
}

impl<'a> Vectors<'a> {
    /// Of the ports' encoder, and their classifier if it reads its vectors.
    pub(super) fn new(ports: &'a Ports) -> Self {
        let encoder = ports.encoder.as_deref();
        let classifier = ports.sentence_classifier.as_deref();
        let classifier = classifier.filter(|classifier| {
            encoder.is_some_and(|encoder| classifier.info().fits(encoder.info()))
        });
        Self { encoder, classifier, known: BTreeMap::new() }
    }

    pub(super) fn has_encoder(&self) -> bool {
        self.encoder.is_some()
    }

    pub(super) fn has_classifier(&self) -> bool {
        self.classifier.is_some()
    }

    /// Encodes what is not known yet.
    pub(super) fn add<'t>(
        &mut self,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), PortError> {
        let Some(encoder) = self.encoder else { return Ok(()) };
        let new: BTreeSet<&str> = texts
            .into_iter()
            .filter(|text| !text.is_empty() && !self.known.contains_key(*text))
            .collect();
        let new: Vec<&str> = new.into_iter().collect();
        for batch in new.chunks(BATCH) {
            let rows = encoder.encode(Side::Passage, batch)?.unit_rows();
            self.known.extend(batch.iter().map(|text| (*text).to_owned()).zip(rows));
        }
        Ok(())
    }

    /// Cosine, on the common scale, of two texts that were added; `None` without an encoder.
    pub(super) fn cosine(&self, a: &str, b: &str) -> Option<f32> {
        let (a, b) = (self.known.get(a)?, self.known.get(b)?);
        let scale = self.encoder?.info().cosine_scale();
        Some(scale.rescaled(a.iter().zip(b).map(|(a, b)| a * b).sum()))
    }

    /// Roles of `sentences`, in order; `None` without a classifier.
    ///
    /// # Errors
    /// When a model fails.
    pub(super) fn roles(
        &mut self,
        sentences: &[Spoken<'_>],
    ) -> Result<Option<Vec<RoleProbabilities>>, PortError> {
        let Some(classifier) = self.classifier else { return Ok(None) };
        if sentences.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let around = sentences
            .iter()
            .flat_map(|one| [Some(one.text), one.before, one.after, Some(one.title)]);
        self.add(around.flatten())?;
        let vector = |text: &str| self.known.get(text).map(Vec::as_slice);
        let embedded = |text| EmbeddedText { text, vector: vector(text).unwrap_or_default() };
        let in_context: Vec<SentenceInContext<'_>> = sentences
            .iter()
            .map(|one| SentenceInContext {
                sentence: embedded(one.text),
                before: one.before.and_then(vector),
                after: one.after.and_then(vector),
                title: (!one.title.is_empty()).then(|| embedded(one.title)),
                kind: one.kind,
                section: one.section,
                nth: one.nth,
                of: one.of,
            })
            .collect();
        // Roles do not depend on the question; the first sentence stands in for it.
        let asked = in_context[0].sentence;
        let scores = classifier.classify(asked, &in_context)?;
        if scores.len() != sentences.len() {
            let message = format!("{} scores for {} sentences", scores.len(), sentences.len());
            return Err(PortError::new(PortErrorKind::Corrupt, message));
        }
        Ok(Some(scores.into_iter().map(|one| one.role).collect()))
    }
}
