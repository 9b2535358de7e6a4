//! The sentences of a written text, with the evidence they claim.

use scholar_core::text::markers::{citation_groups, strip_citations};
use scholar_core::text::sentences::sentence_texts;

use crate::evidence::EvidenceNumber;
use crate::proof::DraftSentence;

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

/// Adds what a sentence does not cite yet.
pub(super) fn cite(sentence: &mut DraftSentence, numbers: &[EvidenceNumber]) {
    for number in numbers {
        if !sentence.evidence.contains(number) {
            sentence.evidence.push(*number);
        }
    }
}

pub(super) fn heading_of(line: &str) -> Option<String> {
    let title = if let Some(title) = line.strip_prefix('#') {
        title.trim_start_matches('#')
    } else {
        let inner = line.strip_prefix("**")?.trim_end_matches(':').strip_suffix("**")?;
        let is_sentence =
            inner.contains("**") || inner.ends_with('.') || !citation_groups(inner).is_empty();
        (!is_sentence).then_some(inner)?
    };
    let title = title.trim().trim_matches('*').trim_end_matches(':').trim();
    let title = without_number(title);
    (!title.is_empty()).then(|| strip_citations(title))
}

/// `Heading 3: Gains` without what only says that it is a heading.
fn without_number(title: &str) -> &str {
    let named = title.strip_prefix("Heading ").and_then(|rest| rest.split_once(": "));
    match named {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest.trim(),
        _ => title,
    }
}

pub(super) fn without_list_mark(line: &str) -> &str {
    for mark in ["- ", "* ", "• ", "+ "] {
        if let Some(item) = line.strip_prefix(mark) {
            return item.trim_start();
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let item = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "));
    item.filter(|_| (1..=2).contains(&digits)).map_or(line, str::trim_start)
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
}
