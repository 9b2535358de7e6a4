//! The state of a digest: the evidence that is there, what it is worth, what is chosen.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{PaperId, PassageId, PortError, Ranked, Similarity};

use super::abstain::{Diagnosis, diagnose};
use super::candidate::{Candidate, candidates, has_capitals};
use super::config::{DigestShape, EvidenceConfig};
use super::facet::{Groups, groups};
use super::filter::{begins_sentence, ends_sentence};
use super::question::Reading;
use super::score::{Encodings, Scored, score};
use super::select::{eligible, select};
use super::terms::Abbreviations;
use crate::frame::Frame;

/// Most passages of one paper, those found later included.
const PASSAGES_PER_PAPER: usize = 3;
/// Rank given to a passage found later when nobody ranked it.
pub(crate) const LATER_RANK: usize = 15;

/// A passage that a check found.
pub(crate) struct Newcomer {
    pub(crate) ranked: Ranked,
    /// How many of the passages that were there before rank above it.
    pub(crate) rank: usize,
}

/// Everything a run works with.
pub(crate) struct DigestState<'a> {
    pub(crate) frame: &'a Frame<'a>,
    /// Passages in order of arrival: the given ones best first, then those found by checks.
    pub(crate) evidence: Vec<Ranked>,
    /// The question, read with what the evidence abbreviates.
    pub(crate) reading: Reading,
    /// Sentences, best first.
    pub(crate) scored: Vec<Scored>,
    /// Those worth showing: indices into `scored`, in order.
    pub(crate) eligible: Vec<usize>,
    /// Chosen ones: indices into `scored`.
    pub(crate) chosen: Vec<usize>,
    /// What the sentences are about.
    pub(crate) groups: Groups,
    /// How they are chosen; checks may tighten it.
    pub(crate) shape: DigestShape,
    /// Passages that deserve a second look.
    pub(crate) nudged: BTreeSet<usize>,
    ranks: Vec<usize>,
    /// Candidates of each passage: they depend on the question's words, not on what else is there.
    read: Vec<Vec<Candidate>>,
    opens: BTreeMap<PassageId, bool>,
    encodings: Encodings<'a>,
}

impl<'a> DigestState<'a> {
    /// Lays out `evidence`, best first, and chooses.
    pub(crate) async fn new(
        frame: &'a Frame<'a>,
        evidence: Vec<Ranked>,
    ) -> Result<Self, PortError> {
        let encoder = frame.ports.encoder.as_deref();
        let encodings = Encodings::new(encoder, frame.question.as_str())?;
        let mut state = Self {
            frame,
            ranks: (0..evidence.len()).collect(),
            evidence,
            reading: Reading::of(frame.question.as_str(), &Abbreviations::default()),
            scored: Vec::new(),
            eligible: Vec::new(),
            chosen: Vec::new(),
            groups: Groups::default(),
            shape: frame.config.evidence.shape.clone(),
            nudged: BTreeSet::new(),
            read: Vec::new(),
            opens: BTreeMap::new(),
            encodings,
        };
        state.choose().await?;
        Ok(state)
    }

    /// Reads, weighs and chooses anew from all evidence.
    pub(crate) async fn choose(&mut self) -> Result<(), PortError> {
        let texts = self.evidence.iter().map(|ranked| ranked.retrieved.passage.text.as_str());
        let abbreviations = Abbreviations::of_texts(texts.chain([self.frame.question.as_str()]));
        self.reading = Reading::of(self.frame.question.as_str(), &abbreviations);
        for at in self.read.len()..self.evidence.len() {
            let opens = self.opens(at).await;
            let passage = &self.evidence[at].retrieved.passage;
            let rules = &self.config().sentences;
            let new = candidates(passage, at, opens, rules, &self.reading);
            self.read.push(new);
        }
        let found = self.read.concat();
        let config = self.config();
        let Self { evidence, ranks, reading, encodings, shape, nudged, .. } = self;
        self.scored = score(found, evidence, ranks, reading, encodings, config)?;
        self.eligible = eligible(&self.scored, shape, reading);
        self.groups = groups(&self.scored, &self.eligible, evidence, reading, shape);
        self.chosen = select(&self.scored, &self.eligible, evidence, &self.groups, nudged, shape);
        Ok(())
    }

    /// Whether the passage's text begins with a sentence of its own: at a section's start, or behind a passage that ends one.
    async fn opens(&mut self, at: usize) -> bool {
        let passage = &self.evidence[at].retrieved.passage;
        if let Some(known) = self.opens.get(&passage.id) {
            return *known;
        }
        let opens = match passage.id.ordinal.checked_sub(1) {
            None => true,
            Some(_) if has_capitals(&passage.text) && !begins_sentence(&passage.text) => false,
            // An excerpt that is all there is of its text.
            Some(_) if passage.span.start == 0 => true,
            Some(ordinal) => {
                let before = PassageId { paper: passage.id.paper.clone(), ordinal };
                // A store that cannot say what stands before costs one sentence, not the answer.
                match self.frame.ports.retriever.passage(&before).await {
                    Ok(Some((before, _))) => {
                        before.section != passage.section || ends_sentence(&before.text)
                    }
                    // Nothing stands before it: an excerpt, which begins as a sentence does.
                    Ok(None) => true,
                    Err(_) => false,
                }
            }
        };
        self.opens.insert(passage.id.clone(), opens);
        opens
    }

    /// Adds passages not yet there, at most three of a paper.
    pub(crate) fn add(&mut self, newcomers: Vec<Newcomer>) {
        for Newcomer { ranked: new, rank } in newcomers {
            let id = &new.retrieved.passage.id;
            let of_paper = self
                .evidence
                .iter()
                .filter(|old| old.retrieved.passage.id.paper == id.paper)
                .count();
            let known = self.evidence.iter().any(|old| old.retrieved.passage.id == *id);
            if known || of_paper >= PASSAGES_PER_PAPER {
                continue;
            }
            self.ranks.push(rank);
            self.evidence.push(new);
        }
    }

    /// What speaks for and against answering.
    pub(crate) fn diagnosis(&self) -> Diagnosis {
        let encoder = self.frame.ports.encoder.as_ref();
        let similar = encoder.is_some_and(|e| e.info().similarity == Similarity::Cosine);
        diagnose(&self.scored, &self.evidence, self.config().evidence_is, &self.reading, similar)
    }

    /// The paper of a sentence.
    pub(crate) fn paper(&self, at: usize) -> &PaperId {
        &self.evidence[self.scored[at].candidate.passage].retrieved.passage.id.paper
    }

    /// How the digest is made.
    pub(crate) fn config(&self) -> &'a EvidenceConfig {
        &self.frame.config.evidence
    }
}
