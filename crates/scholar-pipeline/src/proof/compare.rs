//! What differs between two answers or two texts, in words that lead a person to the place.

use scholar_core::paper::display_title;
use scholar_core::{Answer, AnswerSentence, Citation};
use serde::Serialize;
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Most words or lines that are aligned with each other beyond those that begin and end both texts alike: aligning takes
/// time with the square of what differs.
const MOST_ALIGNED: usize = 2000;

/// How far from its place a changed sentence or line is looked for.
const NEAR: usize = 20;

/// Least share of words that a sentence has in common with the one it is taken for.
const SAME_SENTENCE: f32 = 0.4;

/// A difference between what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Kind of the difference, for programs.
    pub kind: DifferenceKind,
    /// Where, for people: `sentence 3`, `reference 2, title`, `line 7`. Counted from 1 in what was found; what is missing
    /// there, in what was expected.
    pub place: String,
    /// What should stand there; `None` where nothing should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What stands there; `None` where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// The kinds of differences between two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// A sentence that nothing proves.
    SentenceAdded,
    /// A sentence is missing.
    SentenceDeleted,
    /// Words of a sentence.
    WordsChanged,
    /// A citation that the sentence does not have.
    CitationAdded,
    /// A citation is missing.
    CitationRemoved,
    /// The citations stand in another order.
    CitationsReordered,
    /// Quotations of a sentence.
    QuotationsDiffer,
    /// The verdict on a sentence.
    VerdictDiffers,
    /// The gates that a sentence passed.
    GatesDiffer,
    /// Heading, paragraph or wording mark of a sentence.
    LayoutDiffers,
    /// The role of a sentence, or what it follows from.
    RoleDiffers,
    /// A reference that the list does not have.
    ReferenceAdded,
    /// A reference is missing.
    ReferenceRemoved,
    /// A field of a reference.
    ReferenceDiffers,
    /// A line that is not there.
    LineAdded,
    /// A line is missing.
    LineRemoved,
    /// Words of a line.
    LineChanged,
    /// A field for which there is no other kind.
    FieldDiffers,
}

impl Difference {
    fn new(
        kind: DifferenceKind,
        place: impl Into<String>,
        expected: Option<String>,
        found: Option<String>,
    ) -> Self {
        Self { kind, place: place.into(), expected, found }
    }
}

/// Everything in which `found` is not `expected`, in order.
pub fn compare_answers(expected: &Answer, found: &Answer) -> Vec<Difference> {
    let mut all = Vec::new();
    for (name, expected, found) in [
        ("question", text_of(&expected.question), text_of(&found.question)),
        ("mode", text_of(&expected.mode), text_of(&found.mode)),
        ("abstained", text_of(&expected.abstained), text_of(&found.abstained)),
    ] {
        if expected != found {
            let kind = DifferenceKind::FieldDiffers;
            all.push(Difference::new(kind, name, Some(expected), Some(found)));
        }
    }
    compare_sentences(&expected.sentences, &found.sentences, &mut all);
    compare_references(expected, found, &mut all);
    for (name, expected, found) in [
        ("sections", value_of(&expected.sections), value_of(&found.sections)),
        ("table", value_of(&expected.table), value_of(&found.table)),
    ] {
        compare_values(name, &expected, &found, &mut all);
    }
    all
}

fn compare_sentences(
    expected: &[AnswerSentence],
    found: &[AnswerSentence],
    all: &mut Vec<Difference>,
) {
    let text = |one: &AnswerSentence| one.text.clone();
    let (left, right): (Vec<_>, Vec<_>) =
        (expected.iter().map(text).collect(), found.iter().map(text).collect());
    for (old, new) in pairs(&left, &right) {
        match (old, new) {
            (Some(old), Some(new)) => {
                compare_sentence(new + 1, &expected[old], &found[new], all);
            }
            (Some(old), None) => all.push(Difference::new(
                DifferenceKind::SentenceDeleted,
                format!("sentence {}", old + 1),
                Some(left[old].clone()),
                None,
            )),
            (None, Some(new)) => all.push(Difference::new(
                DifferenceKind::SentenceAdded,
                format!("sentence {}", new + 1),
                None,
                Some(right[new].clone()),
            )),
            (None, None) => {}
        }
    }
}

fn compare_sentence(
    number: usize,
    expected: &AnswerSentence,
    found: &AnswerSentence,
    all: &mut Vec<Difference>,
) {
    let place = format!("sentence {number}");
    for (old, new) in word_changes(&expected.text, &found.text) {
        all.push(Difference::new(DifferenceKind::WordsChanged, &place, Some(old), Some(new)));
    }
    compare_citations(&place, &expected.citations, &found.citations, all);
    let layout =
        |one: &AnswerSentence| text_of(&(one.heading.as_ref(), one.paragraph_start, one.verbatim));
    let role = |one: &AnswerSentence| text_of(&(one.role, &one.follows));
    for (kind, old, new) in [
        (DifferenceKind::QuotationsDiffer, text_of(&expected.quotes), text_of(&found.quotes)),
        (DifferenceKind::QuotationsDiffer, text_of(&expected.study), text_of(&found.study)),
        (DifferenceKind::VerdictDiffers, text_of(&expected.support), text_of(&found.support)),
        (DifferenceKind::GatesDiffer, text_of(&expected.gates), text_of(&found.gates)),
        (DifferenceKind::LayoutDiffers, layout(expected), layout(found)),
        (DifferenceKind::RoleDiffers, role(expected), role(found)),
    ] {
        if old != new {
            all.push(Difference::new(kind, &place, Some(old), Some(new)));
        }
    }
}

fn compare_citations(
    place: &str,
    expected: &[Citation],
    found: &[Citation],
    all: &mut Vec<Difference>,
) {
    if expected == found {
        return;
    }
    let before = all.len();
    let marker = |citation: &Citation| Some(format!("[{}]", citation.0));
    for (at, citation) in found.iter().enumerate() {
        if !expected.contains(citation) || found[..at].contains(citation) {
            let kind = DifferenceKind::CitationAdded;
            all.push(Difference::new(kind, place, None, marker(citation)));
        }
    }
    for citation in expected.iter().filter(|citation| !found.contains(citation)) {
        let kind = DifferenceKind::CitationRemoved;
        all.push(Difference::new(kind, place, marker(citation), None));
    }
    if all.len() == before {
        let kind = DifferenceKind::CitationsReordered;
        all.push(Difference::new(kind, place, Some(text_of(&expected)), Some(text_of(&found))));
    }
}

/// A reference as people know it, with its identifier.
fn named(reference: &scholar_core::Reference) -> String {
    let title = display_title(&reference.title, &reference.paper_id);
    format!("{title} ({})", reference.paper_id)
}

fn compare_references(expected: &Answer, found: &Answer, all: &mut Vec<Difference>) {
    let id = |one: &scholar_core::Reference| one.paper_id.to_string();
    let left: Vec<String> = expected.references.iter().map(id).collect();
    let right: Vec<String> = found.references.iter().map(id).collect();
    for (old, new) in pairs(&left, &right) {
        match (old, new) {
            (Some(old), Some(new)) => {
                let place = format!("reference {}", new + 1);
                let (old, new) = (&expected.references[old], &found.references[new]);
                let mut fields = Vec::new();
                compare_values(&place, &value_of(old), &value_of(new), &mut fields);
                all.extend(
                    fields.into_iter().map(|field| Difference {
                        kind: DifferenceKind::ReferenceDiffers,
                        ..field
                    }),
                );
            }
            (Some(old), None) => all.push(Difference::new(
                DifferenceKind::ReferenceRemoved,
                format!("reference {}", old + 1),
                Some(named(&expected.references[old])),
                None,
            )),
            (None, Some(new)) => all.push(Difference::new(
                DifferenceKind::ReferenceAdded,
                format!("reference {}", new + 1),
                None,
                Some(named(&found.references[new])),
            )),
            (None, None) => {}
        }
    }
}

/// The leaves in which two JSON values differ; `place` is the name of both.
pub fn compare_values(place: &str, expected: &Value, found: &Value, all: &mut Vec<Difference>) {
    let below =
        |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match (expected, found) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, old) in old {
                match new.get(key) {
                    Some(new) => compare_values(&below(key), old, new, all),
                    None => all.push(Difference::new(
                        DifferenceKind::FieldDiffers,
                        below(key),
                        Some(old.to_string()),
                        None,
                    )),
                }
            }
            for (key, new) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                let kind = DifferenceKind::FieldDiffers;
                all.push(Difference::new(kind, below(key), None, Some(new.to_string())));
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                compare_values(&format!("{place}[{at}]"), old, new, all);
            }
        }
        _ if expected == found => {}
        _ => all.push(Difference::new(
            DifferenceKind::FieldDiffers,
            place,
            Some(expected.to_string()),
            Some(found.to_string()),
        )),
    }
}

/// The lines in which two texts differ.
pub fn compare_lines(expected: &str, found: &str) -> Vec<Difference> {
    let lines = |text: &str| -> Vec<String> { text.split('\n').map(str::to_owned).collect() };
    let (left, right) = (lines(expected), lines(found));
    let mut all = Vec::new();
    for (old, new) in pairs(&left, &right) {
        match (old, new) {
            (Some(old), Some(new)) => {
                for (from, to) in word_changes(&left[old], &right[new]) {
                    let place = format!("line {}", new + 1);
                    let kind = DifferenceKind::LineChanged;
                    all.push(Difference::new(kind, place, Some(from), Some(to)));
                }
            }
            (Some(old), None) => all.push(Difference::new(
                DifferenceKind::LineRemoved,
                format!("line {}", old + 1),
                Some(left[old].clone()),
                None,
            )),
            (None, Some(new)) => all.push(Difference::new(
                DifferenceKind::LineAdded,
                format!("line {}", new + 1),
                None,
                Some(right[new].clone()),
            )),
            (None, None) => {}
        }
    }
    all
}

/// Texts of both sides that belong together; texts without a counterpart stand alone.
fn pairs(expected: &[String], found: &[String]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut pairs = Vec::new();
    for op in aligned(expected, found) {
        let (old, new) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            pairs.extend(old.zip(new).map(|(old, new)| (Some(old), Some(new))));
            continue;
        }
        // What was exchanged in place is one change, not a deletion beside an addition.
        let mut rest = new.clone();
        for old in old {
            let like = rest.clone().take(NEAR).find(|new| is_like(&expected[old], &found[*new]));
            match like {
                Some(like) => {
                    pairs.extend((rest.start..like).map(|new| (None, Some(new))));
                    pairs.push((Some(old), Some(like)));
                    rest.start = like + 1;
                }
                None => pairs.push((Some(old), None)),
            }
        }
        pairs.extend(rest.map(|new| (None, Some(new))));
    }
    pairs
}

/// How `expected` becomes `found`; too much to align is one exchange.
fn aligned(expected: &[String], found: &[String]) -> Vec<DiffOp> {
    let head = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&expected[head..], &found[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (old_rest.len() - tail, new_rest.len() - tail);
    if old_len + new_len <= MOST_ALIGNED {
        return capture_diff_slices(Algorithm::Myers, expected, found);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    vec![
        equal(0, 0, head),
        DiffOp::Replace { old_index: head, old_len, new_index: head, new_len },
        equal(head + old_len, head + new_len, tail),
    ]
}

fn is_like(one: &str, other: &str) -> bool {
    if one.len() + other.len() > 20 * MOST_ALIGNED {
        return false;
    }
    let words = |text: &str| -> std::collections::BTreeSet<String> {
        text.split_whitespace().map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one), words(other));
    let common = one.intersection(&other).count();
    #[expect(clippy::cast_precision_loss, reason = "a sentence has far fewer than 2^24 words")]
    let share = common as f32 / one.len().max(other.len()).max(1) as f32;
    share >= SAME_SENTENCE
}

/// Stretches of words in which two texts differ; white space alone is shown as it is.
fn word_changes(expected: &str, found: &str) -> Vec<(String, String)> {
    if expected == found {
        return Vec::new();
    }
    let words = |text: &str| -> Vec<String> {
        text.split_inclusive(char::is_whitespace).map(str::to_owned).collect()
    };
    let (left, right) = (words(expected), words(found));
    let mut changes = Vec::new();
    for op in aligned(&left, &right) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (left[op.old_range()].concat(), right[op.new_range()].concat());
        let same_words = old.trim() == new.trim();
        let shown = |text: String| if same_words { text } else { text.trim().to_owned() };
        changes.push((shown(old), shown(new)));
    }
    changes
}

fn value_of(value: &impl Serialize) -> Value {
    super::canonical::as_written(value).unwrap_or_default()
}

fn text_of(value: &impl Serialize) -> String {
    match value_of(value) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
