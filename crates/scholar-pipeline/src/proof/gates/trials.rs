//! Passages tried as evidence for a sentence, and what becomes of the sentence by them.

use scholar_core::{CharSpan, Gate, Judgement, Support, Verdict};

use super::super::draft::DraftSentence;
use super::super::sentence::{Fate, LocatedQuote, ProvenSentence};
use crate::evidence::EvidenceNumber;

/// One passage tried as evidence for one sentence.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// What it is to support: the sentence, or the clause that cites it.
    pub(super) claim: String,
    pub(super) number: EvidenceNumber,
    pub(super) quotes: Vec<LocatedQuote>,
    pub(super) evidence: String,
    pub(super) judgement: Option<Judgement>,
}

pub(super) fn score(trial: &Trial) -> f32 {
    trial.judgement.map_or(0.0, |judgement| judgement.score)
}

/// The highest score; an opposing verdict only where nothing else was said.
pub(super) fn best_judgement<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Option<Judgement> {
    let rank = |judgement: &Judgement| match judgement.verdict {
        Verdict::Supported => 3,
        Verdict::Partial => 2,
        Verdict::Contradicted => 1,
        Verdict::Unsupported => 0,
    };
    trials
        .into_iter()
        .filter_map(|trial| trial.judgement)
        .max_by(|a, b| rank(a).cmp(&rank(b)).then(a.score.total_cmp(&b.score)))
}

pub(super) fn quote_at(
    number: EvidenceNumber,
    passage: &str,
    span: CharSpan,
) -> Option<LocatedQuote> {
    let text = span.slice(passage)?.to_owned();
    Some(LocatedQuote { evidence: number, span, text })
}

/// Quotations of the trials, best judged first, each place once.
pub(super) fn quotes_of(trials: &[Trial]) -> Vec<LocatedQuote> {
    let mut order: Vec<&Trial> = trials.iter().collect();
    order.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let mut quotes: Vec<LocatedQuote> = Vec::new();
    for quote in order.into_iter().flat_map(|trial| &trial.quotes) {
        if !quotes.contains(quote) {
            quotes.push(quote.clone());
        }
    }
    quotes
}

pub(super) fn shell(sentence: &DraftSentence, fate: Fate) -> ProvenSentence {
    let DraftSentence { text, heading, paragraph_start, evidence: _, clauses: _, verbatim } =
        sentence;
    ProvenSentence {
        text: text.clone(),
        heading: heading.clone(),
        paragraph_start: *paragraph_start,
        verbatim: *verbatim,
        citations: Vec::new(),
        quotes: Vec::new(),
        support: None,
        gates: Vec::new(),
        missing: Vec::new(),
        fate,
    }
}

/// The sentence with all its existing citations and whatever was located, but not judged to be supported.
pub(super) fn unproven(
    sentence: &DraftSentence,
    cited: Vec<EvidenceNumber>,
    trials: &[Trial],
    support: Option<Support>,
) -> ProvenSentence {
    let mut proven = shell(sentence, Fate::Unproven);
    if !cited.is_empty() {
        proven.gates.push(Gate::L0);
    }
    proven.citations = cited;
    proven.quotes = quotes_of(trials);
    if !proven.quotes.is_empty() {
        proven.gates.push(Gate::L1);
    }
    proven.support = support;
    proven
}
