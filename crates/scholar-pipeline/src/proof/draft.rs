//! What is to be proven: sentences with the evidence they claim.

use scholar_core::text::markers::{citation_groups, strip_citations};
use scholar_core::text::normalise::{capitalised, single_spaced};
use scholar_core::text::words::content_stems;

use crate::evidence::EvidenceNumber;

/// A sentence before the gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftSentence {
    /// The sentence without citation markers.
    pub text: String,
    /// Heading of the part it stands under.
    pub heading: Option<String>,
    /// Starts a new paragraph or list item.
    pub paragraph_start: bool,
    /// Claimed evidence in order of appearance, each number once. Not yet checked to exist.
    pub evidence: Vec<EvidenceNumber>,
    /// Its clauses, where it cites different passages for different ones: `X grew [1], and Y fell [2]`. Else empty.
    pub clauses: Vec<Clause>,
    /// The words are those of the first evidence; a sentence that is not found there is dropped.
    pub verbatim: bool,
}

/// A part of a sentence with citations of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// Its words, without markers.
    pub text: String,
    /// What it cites.
    pub evidence: Vec<EvidenceNumber>,
}

impl DraftSentence {
    /// A sentence taken from a shown passage.
    pub fn verbatim(number: EvidenceNumber, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            heading: None,
            paragraph_start: false,
            evidence: vec![number],
            clauses: Vec::new(),
            verbatim: true,
        }
    }

    /// A written sentence; its markers become evidence numbers.
    pub fn written(text: &str) -> Self {
        let mut evidence: Vec<EvidenceNumber> = Vec::new();
        for number in citation_groups(text).into_iter().flat_map(|group| group.numbers) {
            let number = EvidenceNumber(number);
            if !evidence.contains(&number) {
                evidence.push(number);
            }
        }
        Self {
            text: single_spaced(&without_markers(text)),
            heading: None,
            paragraph_start: false,
            evidence,
            clauses: clauses(text),
            verbatim: false,
        }
    }

    /// Puts it under a heading.
    #[must_use]
    pub fn under(mut self, heading: impl Into<String>) -> Self {
        self.heading = Some(heading.into());
        self
    }
}

/// Words before a marker that stands for a paper by name.
const PREPOSITIONS: [&str; 9] = ["in", "by", "from", "of", "with", "to", "on", "than", "via"];
/// What a paper does, before such a word at the end of a clause; elsewhere `trained on [1]` lacks nothing.
const REPORTED: [&str; 14] = [
    "shown",
    "proposed",
    "introduced",
    "described",
    "reported",
    "presented",
    "demonstrated",
    "seen",
    "discussed",
    "found",
    "noted",
    "observed",
    "suggested",
    "according",
];

/// The sentence without its markers. One that stands for a paper by name (`the method in [1] lowers`, `as shown in [1] and [2]`)
/// takes with it what leads to it.
fn without_markers(text: &str) -> String {
    let last_word = |text: &str| {
        let text = text.trim_end();
        let word = text.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        (text.len() - word.len(), word.to_lowercase())
    };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut was_name = false;
    for group in citation_groups(text) {
        let between = &text[from..group.range.start];
        let joins = was_name && matches!(between.trim(), "and" | "or" | "," | ", and");
        let goes_on = text[group.range.end..].trim_start().starts_with(char::is_alphanumeric);
        let (start, word) = last_word(between);
        let (verb_start, verb) = last_word(&between[..start]);
        let is_reported = REPORTED.contains(&verb.as_str());
        was_name = joins
            || (PREPOSITIONS.contains(&word.as_str())
                && between.ends_with(' ')
                && (goes_on || is_reported));
        let kept = match (joins, was_name) {
            (true, _) => "",
            (false, true) if verb == "according" => &between[..verb_start],
            (false, true) => &between[..start],
            (false, false) => between,
        };
        out.push_str(kept);
        out.push_str(&text[group.range.clone()]);
        from = group.range.end;
    }
    out.push_str(&text[from..]);
    let out = strip_citations(&out);
    let Some(rest) = out.strip_prefix(',') else { return out };
    capitalised(rest.trim_start())
}

/// Fewest content stems of a sentence that claims something. Ours.
const SHORTEST_CLAIM: usize = 4;

/// The clauses of a sentence with citations in several places; empty where one of them claims nothing by itself, as in
/// `Adapters [1] and prompts [2] save memory`.
fn clauses(text: &str) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    let mut from = 0;
    for group in citation_groups(text) {
        let evidence = group.numbers.into_iter().map(EvidenceNumber);
        let words = single_spaced(text[from..group.range.start].trim_matches([' ', ',', ';']));
        from = group.range.end;
        match clauses.last_mut() {
            // `[1][2]`: one place.
            Some(last) if !words.contains(char::is_alphanumeric) => last.evidence.extend(evidence),
            _ => clauses.push(Clause { text: words, evidence: evidence.collect() }),
        }
    }
    let rest = single_spaced(text[from..].trim_end_matches(['.', '!', '?']));
    if let Some(last) = clauses.last_mut()
        && rest.contains(char::is_alphanumeric)
    {
        last.text = format!("{} {rest}", last.text);
    }
    let stands_alone = |clause: &Clause| content_stems(&clause.text).len() >= SHORTEST_CLAIM;
    if clauses.len() < 2 || !clauses.iter().all(stands_alone) {
        clauses.clear();
    }
    clauses
}

/// Whether a sentence claims something that a source could support: not a question, a transition, or words about the
/// answer itself. Where in doubt it does.
pub fn makes_claim(text: &str) -> bool {
    const ABOUT_ITSELF: &[&str] = &[
        "in summary",
        "in conclusion",
        "to summarise",
        "to summarize",
        "below",
        "the following",
        "this answer",
        "this section",
        "this review",
        "here are",
        "we now",
        "next",
    ];
    let lower = text.trim_start().to_lowercase();
    let stems = content_stems(text).len();
    let about_itself = ABOUT_ITSELF.iter().any(|start| lower.starts_with(start));
    let announces = lower.ends_with(':') && stems < 2 * SHORTEST_CLAIM;
    let transition = about_itself && stems < 2 * SHORTEST_CLAIM;
    stems >= SHORTEST_CLAIM && !lower.ends_with('?') && !transition && !announces
}

/// Stretches in double quotation marks of at least four words: what a sentence says a source says.
pub fn quotations(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    for (at, c) in text.char_indices() {
        match (c, open) {
            ('“', _) => open = Some(at + c.len_utf8()),
            ('"', None) => open = Some(at + 1),
            ('"' | '”', Some(start)) => {
                found.push(&text[start..at]);
                open = None;
            }
            _ => {}
        }
    }
    found.retain(|quote| quote.split_whitespace().count() >= 4);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_with_citations_of_their_own_are_told_apart() {
        let of = |text: &str| -> Vec<(String, Vec<usize>)> {
            let clauses = DraftSentence::written(text).clauses.into_iter();
            clauses.map(|one| (one.text, one.evidence.iter().map(|n| n.0).collect())).collect()
        };
        assert_eq!(
            of(
                "Model probabilities matched BLEU when scaled up [0], and uncertainty of the system correlated with human judgments [3][5] on news."
            ),
            [
                ("Model probabilities matched BLEU when scaled up".to_owned(), vec![0]),
                (
                    "and uncertainty of the system correlated with human judgments on news"
                        .to_owned(),
                    vec![3, 5]
                ),
            ]
        );
        assert!(of("Adapters [1] and prompts [2] save memory of large models.").is_empty());
        assert!(of("Adapters save memory of large language models [1][2].").is_empty());
    }

    #[test]
    fn markers_that_stand_for_papers_leave_whole_sentences() {
        for (written, expected) in [
            (
                "The setting in [1] allows an empty alignment [1].",
                "The setting allows an empty alignment.",
            ),
            ("Beams help, as shown in [1] and [2].", "Beams help, as shown."),
            ("According to [3], beams help.", "Beams help."),
            ("Probes proposed by [1, 2] find errors [4].", "Probes proposed find errors."),
            (
                "This is the text that it was trained on [1].",
                "This is the text that it was trained on.",
            ),
            (
                "Errors fell from 12 to 3 in news [0], and in talks [1].",
                "Errors fell from 12 to 3 in news, and in talks.",
            ),
            ("Adapters [1] and prompts [2] save memory.", "Adapters and prompts save memory."),
        ] {
            assert_eq!(DraftSentence::written(written).text, expected, "{written}");
        }
    }

    #[test]
    fn transitions_and_questions_claim_nothing() {
        for text in [
            "In summary, evidence grows.",
            "Why does retrieval help large language models?",
            "However, this is open.",
            "The following methods matter for retrieval:",
        ] {
            assert!(!makes_claim(text), "{text}");
        }
        assert!(makes_claim(
            "Retrieval augmentation improves factual accuracy of language models."
        ));
        assert_eq!(
            quotations("It is “one two three four” and \"short one\"."),
            ["one two three four"]
        );
    }
}
