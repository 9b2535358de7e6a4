//! Sentences of a passage that may be quoted by themselves, whatever they are quoted for.

use std::ops::Range;

use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::sentences::sentences;
use scholar_core::{CharSpan, Citation, Passage, Quote};

use super::candidate::{Candidate, candidates};
use super::config::EvidenceConfig;
use super::filter::{Reject, is_anaphoric, reject};
use super::question::Reading;
use super::study::located;
use super::terms::Abbreviations;

/// A sentence with its exact place, and what a classifier may see around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotable {
    /// As it is shown: without the source's own citation markers, single-spaced.
    pub text: String,
    /// Characters of the passage's text.
    pub span: CharSpan,
    /// Exactly these characters.
    pub exact: String,
    /// How much it says whatever of, in `[0, 1]`.
    pub informative: f32,
    /// Its source cites others for it.
    pub cites: bool,
    /// It says what its paper sets out to do (`we investigate whether …`) and no more.
    pub announces: bool,
    /// The sentence before it in its passage, single-spaced.
    pub before: Option<String>,
    /// The one after it.
    pub after: Option<String>,
    /// Heading of its section, or the label in front of it in a structured abstract.
    pub section: String,
    /// Its number among the sentences of the passage, from 0.
    pub nth: usize,
    /// Number of sentences of the passage, at least 1.
    pub of: usize,
}

impl Quotable {
    /// The sentence as a quotation of `passage`, which it was found in.
    pub fn quote(&self, passage: &Passage, reference: Citation) -> Quote {
        located(passage, self.span, self.exact.clone(), reference)
    }
}

/// The sentences of `passage` that can be read without the ones around them, in reading order.
///
/// `opens` says that its text does not begin inside a sentence. A digest leaves out what announces; a report of what a study did does not.
pub fn quotable(passage: &Passage, opens: bool) -> Vec<Quotable> {
    let rules = EvidenceConfig::digest().sentences;
    let reading = Reading::of("", &Abbreviations::default());
    let found = candidates(passage, 0, opens, &rules, &reading);
    let of = sentences(&passage.text).len().max(1);
    let mut all: Vec<Quotable> = found.into_iter().map(|one| of_candidate(one, of)).collect();
    if passage.kind.is_prose() {
        all.extend(announcements(passage, opens, &all));
    }
    all.sort_by_key(|one| one.span.start);
    all
}

fn of_candidate(candidate: Candidate, of: usize) -> Quotable {
    let Candidate { passage: _, span, quote, text, stems: _, informative, cites, context } =
        candidate;
    Quotable {
        text,
        span,
        exact: quote,
        informative,
        cites,
        announces: false,
        before: context.before,
        after: context.after,
        section: context.section,
        nth: context.nth,
        of,
    }
}

fn announcements(passage: &Passage, opens: bool, known: &[Quotable]) -> Vec<Quotable> {
    let rules = EvidenceConfig::digest().sentences;
    let reading = Reading::of("", &Abbreviations::default());
    let text = passage.text.as_str();
    let ranges = sentences(text);
    let shown = |range: &Range<usize>| single_spaced(&strip_foreign_markers(&text[range.clone()]));
    let mut found = Vec::new();
    for (nth, range) in ranges.iter().enumerate().skip(usize::from(!opens)) {
        let sentence = &text[range.clone()];
        let span = CharSpan::of_bytes(text, range.start, range.end);
        let is_known =
            known.iter().any(|one| one.span.start < span.end && span.start < one.span.end);
        if is_known
            || reject(sentence, &rules, &reading) != Some(Reject::Announcement)
            || is_anaphoric(sentence)
        {
            continue;
        }
        found.push(Quotable {
            text: shown(range),
            span,
            exact: sentence.to_owned(),
            informative: 0.0,
            cites: false,
            announces: true,
            before: nth.checked_sub(1).and_then(|at| ranges.get(at)).map(shown),
            after: ranges.get(nth + 1).map(shown),
            section: passage.section.clone(),
            nth,
            of: ranges.len(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, PassageId, PassageKind};

    use super::*;

    fn passage(kind: PassageKind, text: &str) -> Passage {
        Passage {
            id: PassageId { paper: PaperId::Pmid(1), ordinal: 0 },
            title: "T".to_owned(),
            section: String::new(),
            kind,
            span: CharSpan::new(0, text.chars().count()),
            text: text.to_owned(),
            places: Vec::new(),
        }
    }

    #[test]
    fn what_a_study_set_out_to_do_may_be_quoted_and_stays_in_its_place() {
        let text = "In this paper we investigate whether dropout helps small naïve language models. \
                    This is hard. \
                    Dropout improved the accuracy of small language models by three points [4].";
        let abstracts = passage(PassageKind::Abstract, text);
        let found = quotable(&abstracts, true);
        let announces: Vec<bool> = found.iter().map(|one| one.announces).collect();
        assert_eq!(announces, [true, false], "{found:?}");
        for one in &found {
            assert_eq!(one.span.slice(text), Some(one.exact.as_str()));
            let quote = one.quote(&abstracts, Citation(2));
            assert_eq!((quote.reference, quote.text), (Citation(2), one.exact.clone()));
        }
        assert!(found[1].cites && !found[1].text.contains("[4]"));
        assert!(quotable(&passage(PassageKind::Table, text), true).is_empty());
    }
}
