//! What is to be proven: sentences with the evidence they claim.

use scholar_core::text::markers::{citation_groups, strip_citations};
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::content_stems;

use crate::evidence::EvidenceNumber;

/// A sentence before the gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftSentence {
    /// Without citation markers.
    pub text: String,
    /// Heading of the part it stands under.
    pub heading: Option<String>,
    /// Starts a new paragraph or list item.
    pub paragraph_start: bool,
    /// Claimed evidence in order of appearance, each number once. Not yet checked to exist.
    pub evidence: Vec<EvidenceNumber>,
    /// The words are those of the first evidence; a sentence that is not found there is dropped.
    pub verbatim: bool,
}

impl DraftSentence {
    /// A sentence taken from a shown passage.
    pub fn verbatim(number: EvidenceNumber, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            heading: None,
            paragraph_start: false,
            evidence: vec![number],
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
            text: single_spaced(&strip_citations(text)),
            heading: None,
            paragraph_start: false,
            evidence,
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

/// The sentences of a draft with `[0]` markers. Markdown headings become headings, list marks and emphasis of whole
/// lines go, a line of markers alone cites for the sentence before it.
pub fn draft_sentences(draft: &str) -> Vec<DraftSentence> {
    let mut sentences: Vec<DraftSentence> = Vec::new();
    let mut heading: Option<String> = None;
    let mut paragraph_start = true;
    for line in joined_lines(draft) {
        if line.is_empty() {
            paragraph_start = true;
            continue;
        }
        if let Some(title) = heading_of(&line) {
            heading = Some(title);
            paragraph_start = true;
            continue;
        }
        let item = without_list_mark(&line);
        paragraph_start |= item.len() < line.len();
        for text in sentence_texts(item) {
            let mut sentence = DraftSentence::written(text);
            if !sentence.text.contains(char::is_alphanumeric) {
                if let Some(previous) = sentences.last_mut() {
                    cite(previous, &sentence.evidence);
                }
                continue;
            }
            sentence.heading.clone_from(&heading);
            sentence.paragraph_start = std::mem::take(&mut paragraph_start);
            sentences.push(sentence);
        }
    }
    sentences
}

/// Headings, list items and whole paragraphs: a line that wraps is joined to the one before it. Blank lines and rules
/// are empty.
fn joined_lines(draft: &str) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut open = false;
    for line in draft.lines().map(str::trim) {
        let rule = line.chars().all(|c| "-*_=".contains(c));
        let heading = heading_of(line).is_some();
        let item = without_list_mark(line).len() < line.len();
        match joined.last_mut() {
            Some(paragraph) if open && !rule && !heading && !item => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            _ => joined.push(if rule { String::new() } else { line.to_owned() }),
        }
        open = !rule && !heading;
    }
    joined
}

fn cite(sentence: &mut DraftSentence, numbers: &[EvidenceNumber]) {
    for number in numbers {
        if !sentence.evidence.contains(number) {
            sentence.evidence.push(*number);
        }
    }
}

fn heading_of(line: &str) -> Option<String> {
    let title = if let Some(title) = line.strip_prefix('#') {
        title.trim_start_matches('#')
    } else {
        let inner = line.strip_prefix("**")?.trim_end_matches(':').strip_suffix("**")?;
        let is_sentence =
            inner.contains("**") || inner.ends_with('.') || !citation_groups(inner).is_empty();
        (!is_sentence).then_some(inner)?
    };
    let title = title.trim().trim_matches('*').trim_end_matches(':').trim();
    (!title.is_empty()).then(|| strip_citations(title))
}

fn without_list_mark(line: &str) -> &str {
    for mark in ["- ", "* ", "• ", "+ "] {
        if let Some(item) = line.strip_prefix(mark) {
            return item.trim_start();
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let item = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "));
    item.filter(|_| (1..=2).contains(&digits)).map_or(line, str::trim_start)
}

/// Fewest content stems of a sentence that claims something. Ours.
const SHORTEST_CLAIM: usize = 4;

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
    fn a_draft_becomes_sentences_with_evidence() {
        let draft = "## Gains: [1]\nRetrieval\nhelps [0][2]. It is \"a very large gain\" (see Fig. 2).\n[3]\n\n\
                     - Costs rise [1, 0].\n**Limits**\nNo one knows.";
        let seen: Vec<(String, Option<String>, bool, Vec<usize>)> = draft_sentences(draft)
            .into_iter()
            .map(|s| {
                (s.text, s.heading, s.paragraph_start, s.evidence.iter().map(|n| n.0).collect())
            })
            .collect();
        let gains = Some("Gains:".to_owned());
        let limits = Some("Limits".to_owned());
        assert_eq!(
            seen,
            [
                ("Retrieval helps.".to_owned(), gains.clone(), true, vec![0, 2]),
                (
                    "It is \"a very large gain\" (see Fig. 2).".to_owned(),
                    gains.clone(),
                    false,
                    vec![3]
                ),
                ("Costs rise.".to_owned(), gains, true, vec![1, 0]),
                ("No one knows.".to_owned(), limits, true, vec![]),
            ]
        );
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
