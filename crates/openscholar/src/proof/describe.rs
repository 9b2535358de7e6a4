//! Problems of a proof as clauses for people.

use scholar_core::Quote;
use scholar_core::text::untrusted;
use scholar_pipeline::proof::{Difference, DifferenceKind, ProofProblem, ProofRemark};

use super::check::{FileProblem, FileRemark};

/// Most characters of a text that is shown.
const SHOWN_CHARS: usize = 240;

/// Row and column are counted from 0.
fn unfounded_cell(row: usize, column: usize, text: &str) -> String {
    let (row, column, text) = (row + 1, column + 1, shown(text));
    format!("table, row {row}, column {column}: {text} is not what its passage says there")
}

/// A problem of the proof.
pub(crate) fn problem(problem: &ProofProblem) -> String {
    match problem {
        ProofProblem::PassageMissing { passage_id } => {
            format!("the datastore has no passage {passage_id}")
        }
        ProofProblem::PassageNotEmbedded { passage_id } => {
            format!("passage {passage_id} is quoted and not in the proof")
        }
        ProofProblem::PassageChanged { passage_id } => {
            format!("the text of passage {passage_id} is not that of its digest: it has changed")
        }
        ProofProblem::PassageContradicted { passage_id, embedded, stored } => format!(
            "passage {passage_id} is {} in the proof and {} in the datastore at the same commit",
            beside(embedded, stored),
            beside(stored, embedded)
        ),
        ProofProblem::QuoteDiffers { sentence, quote, found } => format!(
            "sentence {}: characters {}–{} of {} are {}, not {}",
            sentence + 1,
            quote.start,
            quote.end,
            quote.passage_id,
            found.as_deref().map_or_else(|| "past the end".to_owned(), shown),
            shown(&quote.text)
        ),
        ProofProblem::QuoteNotInSource { sentence, quote, embedded, stored } => {
            gone(*sentence, quote, embedded, stored)
        }
        ProofProblem::QuoteOfOtherPaper { sentence, quote } => format!(
            "sentence {}: the quotation of {} is not from reference [{}]",
            sentence + 1,
            quote.passage_id,
            quote.reference.0
        ),
        ProofProblem::CitationUnknown { sentence, citation } => {
            format!("sentence {}: there is no reference [{}]", sentence + 1, citation.0)
        }
        ProofProblem::CitationUnquoted { sentence, citation } => {
            format!("sentence {}: no quotation is from reference [{}]", sentence + 1, citation.0)
        }
        ProofProblem::NotVerbatim { sentence, text, quote } => format!(
            "sentence {}: {} is said to be its source's own words, which are {}",
            sentence + 1,
            beside(text, quote),
            beside(quote, text)
        ),
        ProofProblem::QuotedWordsMissing { sentence, words } => {
            format!("sentence {}: no quoted passage says {}", sentence + 1, shown(words))
        }
        ProofProblem::CellUnfounded { row, column, text } => unfounded_cell(*row, *column, text),
        ProofProblem::FollowsFromNothing { sentence } => {
            format!("sentence {} follows from a sentence that cites nothing", sentence + 1)
        }
        ProofProblem::ReferenceMisnumbered { expected, printed } => {
            format!("reference [{}] is in the place of [{expected}]", printed.number.0)
        }
        ProofProblem::ReferenceDiffers { printed, stored } => {
            let line = crate::output::markdown::describe;
            format!(
                "reference [{}] is printed as {} and stored as {}",
                printed.number.0,
                beside(&line(printed), &line(stored)),
                beside(&line(stored), &line(printed))
            )
        }
        ProofProblem::GateUnfounded { sentence, gate } => {
            format!("sentence {}: gate {gate:?} was passed without what it requires", sentence + 1)
        }
        ProofProblem::SentenceMisplaced { position, index } => {
            format!(
                "sentence {} says that it is sentence {}",
                position + 1,
                index.saturating_add(1)
            )
        }
        ProofProblem::DigestDiffers { of } => format!("the digest of {of} is another"),
    }
}

/// Words that their source has no longer, with both texts.
fn gone(sentence: usize, quote: &Quote, embedded: &str, stored: &str) -> String {
    format!(
        "sentence {}: the source has changed since: {} is quoted from {}, which has it no longer: it was {} and is {}",
        sentence + 1,
        shown(&quote.text),
        quote.passage_id,
        beside(embedded, stored),
        beside(stored, embedded)
    )
}

/// A remark on the proof.
pub(crate) fn remark(remark: &ProofRemark) -> String {
    match remark {
        ProofRemark::WithoutProof { sentence } => {
            format!("sentence {} has no proof: it cites nothing", sentence + 1)
        }
        ProofRemark::SourceChanged { passage_id, embedded, stored: Some(stored) } => format!(
            "the source has changed since: passage {passage_id} was {} and is {}; the quoted words are in it",
            beside(embedded, stored),
            beside(stored, embedded)
        ),
        ProofRemark::SourceChanged { passage_id, embedded, stored: None } => format!(
            "the source has changed since: passage {passage_id} was {}; the quoted words are in another passage of the paper",
            shown(embedded)
        ),
        ProofRemark::MetadataCompleted { printed, stored } => {
            let line = crate::output::markdown::describe;
            format!(
                "more is known of reference [{}] since: it was {} and is {}",
                printed.number.0,
                beside(&line(printed), &line(stored)),
                beside(&line(stored), &line(printed))
            )
        }
        ProofRemark::ReferenceUnchecked { printed } => format!(
            "reference [{}] could not be compared: no stored passage of it is quoted",
            printed.number.0
        ),
    }
}

/// A problem of the run's files.
pub(crate) fn file_problem(problem: &FileProblem) -> String {
    match problem {
        FileProblem::Differs { file, difference } => {
            format!("{file}, {}", self::difference(difference))
        }
        FileProblem::Missing { file } => format!("{file} is missing"),
        FileProblem::MoreDifferences { file, count } => {
            format!("{file}: {count} more differences")
        }
        FileProblem::Rewritten { file } => format!(
            "{file} says the same in another notation (repeated or reordered keys, other escapes)"
        ),
        FileProblem::DigestDiffers { of } => format!("the digest of {of} is another"),
        FileProblem::NotReplayed { why } => {
            format!("the answer cannot be derived from the journal again: {why}")
        }
        FileProblem::RecordDamaged { why } => {
            format!("proof.json, recorded: cannot be read: {why}")
        }
    }
}

/// A remark on the run's files.
pub(crate) fn file_remark(remark: &FileRemark) -> String {
    match remark {
        FileRemark::WhiteSpace { file } => {
            format!("{file} has other white space between its values; its content is the same")
        }
        FileRemark::SetOtherwise { file } => {
            format!("{file} has the same words, set as another version of the program does")
        }
        FileRemark::NotReplayed { why } => {
            format!("the answer could not be derived from the journal again: {why}")
        }
    }
}

fn difference(difference: &Difference) -> String {
    let Difference { kind, place, expected, found } = difference;
    let text = |text: &Option<String>| text.as_deref().map(shown).unwrap_or_default();
    let (old, new) = (text(expected), text(found));
    match kind {
        DifferenceKind::SentenceAdded => format!("{place}: added, nothing proves it: {new}"),
        DifferenceKind::SentenceDeleted => format!("{place}: deleted: {old}"),
        DifferenceKind::CitationAdded => format!("{place}: citation {new} added"),
        DifferenceKind::CitationRemoved => format!("{place}: citation {old} removed"),
        DifferenceKind::ReferenceAdded => format!("{place}: added: {new}"),
        DifferenceKind::ReferenceRemoved => format!("{place}: removed: {old}"),
        DifferenceKind::LineAdded => format!("{place}: line added: {new}"),
        DifferenceKind::LineRemoved => format!("{place}: line removed: {old}"),
        DifferenceKind::WordsChanged | DifferenceKind::LineChanged => {
            let before = expected.as_deref().unwrap_or_default();
            let after = found.as_deref().unwrap_or_default();
            match (before.is_empty(), after.is_empty()) {
                (true, _) => format!("{place}: words added: {}", shown(after)),
                (_, true) => format!("{place}: words removed: {}", shown(before)),
                _ => format!("{place}: {} → {}", beside(before, after), beside(after, before)),
            }
        }
        DifferenceKind::CitationsReordered
        | DifferenceKind::QuotationsDiffer
        | DifferenceKind::VerdictDiffers
        | DifferenceKind::GatesDiffer
        | DifferenceKind::LayoutDiffers
        | DifferenceKind::RoleDiffers
        | DifferenceKind::ReferenceDiffers
        | DifferenceKind::FieldDiffers => {
            let what = match kind {
                DifferenceKind::CitationsReordered => ": order of citations",
                DifferenceKind::QuotationsDiffer => ": quotations",
                DifferenceKind::VerdictDiffers => ": verdict",
                DifferenceKind::GatesDiffer => ": gates",
                DifferenceKind::LayoutDiffers => ": heading or layout",
                DifferenceKind::RoleDiffers => ": role",
                _ => "",
            };
            match (expected, found) {
                (Some(old), Some(new)) => {
                    format!("{place}{what}: {} → {}", beside(old, new), beside(new, old))
                }
                (Some(_), None) => format!("{place}{what}: removed: {old}"),
                _ => format!("{place}{what}: added: {new}"),
            }
        }
    }
}

/// A text between quotation marks, cut to a length that a person reads.
fn shown(text: &str) -> String {
    beside(text, "")
}

/// `text` from shortly before the first character in which it differs from `other`.
fn beside(text: &str, other: &str) -> String {
    if text.chars().count() <= SHOWN_CHARS {
        return format!("“{}”", untrusted(text).line());
    }
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = if other.is_empty() { 0 } else { same.saturating_sub(SHOWN_CHARS / 4) };
    let cut: String = text.chars().skip(from).take(SHOWN_CHARS).collect();
    format!("“{}{}…”", if from > 0 { "…" } else { "" }, untrusted(&cut).line())
}
