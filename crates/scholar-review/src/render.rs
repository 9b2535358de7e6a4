//! A review as a document: Markdown, one HTML page, LaTeX, DOCX.
//!
//! What a reader needs first stands first: what was found and what is nearest, in a few lines; then what is said of the plan itself, what
//! exists already beside every claim, the map of it, and what studies say of the methods. Scores and comparisons by a model are not findings and are left out.
//! Pure functions; everything that others wrote is escaped by [`scholar_formats::export`].

mod appraisal;
mod contribution;
mod glance;
mod repeats;
mod soundness;

use scholar_core::text::untrusted::untrusted;
use scholar_core::{AnswerTable, Notice};
use scholar_formats::FormatError;
use scholar_formats::export::{
    CitationStyle, ExportFormat, ReportExport, ReportLine, ReportPart, report,
};

use crate::cutoff::{DateBound, Refusal};
use crate::report::{ItemState, Module, Review, ReviewMode, Statement};

/// A review with what stands beside it in a document.
#[derive(Debug, Clone, Copy)]
pub struct ReviewDocument<'a> {
    /// What is shown.
    pub review: &'a Review,
    /// What a person should know about the run.
    pub notices: &'a [Notice],
    /// What made it, for the last line: program, version, model, run.
    pub generated_by: &'a str,
}

/// A review in parts, as every form of a document has them.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewParts {
    /// In the order in which they are read.
    pub parts: Vec<ReportPart>,
    /// The map of novelty as a table, and the part behind which it stands, which has the drawing.
    pub table: Option<(AnswerTable, usize)>,
}

impl ReviewParts {
    /// Those of `review`.
    pub fn of(review: &Review) -> Self {
        let mut parts = vec![glance::part(review)];
        let map = contribution::map(review);
        parts.extend(appraisal::parts(review));
        parts.extend(contribution::parts(review));
        let table = map.map(|(part, table)| {
            parts.push(part);
            (table, parts.len() - 1)
        });
        parts.extend(soundness::parts(review));
        if review.mode == ReviewMode::Evidence {
            repeats::named_once(&mut parts);
        }
        parts.extend(provenance(review));
        Self { parts, table }
    }
}

/// Writes `document` in `format`, citing by `style`.
///
/// # Errors
/// When the style cannot be applied, or a DOCX cannot be packed.
pub fn render(
    document: &ReviewDocument<'_>,
    format: ExportFormat,
    style: &CitationStyle,
) -> Result<Vec<u8>, FormatError> {
    let ReviewDocument { review, notices, generated_by } = *document;
    let ReviewParts { parts, table } = ReviewParts::of(review);
    let title = format!("Review: {}", review.idea.name());
    let export = ReportExport {
        title: &title,
        parts: &parts,
        table: table.as_ref().map(|(table, behind)| (table, *behind)),
        references: &review.references,
        notices,
        generated_by,
    };
    report(&export, format, style)
}

/// A heading with nothing under it but parts.
fn headed(heading: &str) -> ReportPart {
    ReportPart { heading: heading.to_owned(), ..ReportPart::default() }
}

fn lines<'s>(label: &str, statements: impl IntoIterator<Item = &'s Statement>) -> Vec<ReportLine> {
    let line = |statement: &Statement| ReportLine {
        label: Some(label.to_owned()),
        sentence: statement.sentence.clone(),
    };
    statements.into_iter().map(line).collect()
}

/// That an item failed, and why.
fn failed(state: &ItemState) -> Option<ReportLine> {
    match state {
        ItemState::Failed(reason) => Some(ReportLine::said(reason).labelled("Failed")),
        ItemState::Ok | ItemState::Retried => None,
    }
}

/// A part that says why a module has nothing.
fn failure<T>(module: &Module<T>, heading: &str) -> Option<ReportPart> {
    let line = ReportLine::said(module.failure()?).labelled("Failed");
    Some(ReportPart { lines: vec![line], ..headed(heading) })
}

/// What could be read, what was refused and what failed.
fn provenance(review: &Review) -> Option<ReportPart> {
    let mut lines = Vec::new();
    if let Some(cutoff) = &review.cutoff {
        let which = match cutoff.bound {
            DateBound::Strict => "before",
            DateBound::Inclusive => "up to",
        };
        let text = format!(
            "Only papers that appeared {which} {} were read; of a year alone its last day counts.",
            cutoff.day
        );
        lines.push(ReportLine::said(text));
    }
    for left in &review.left_out {
        let why = match left.why {
            Refusal::TooLate => "too late",
            Refusal::UnknownDate => "without a known date",
            Refusal::SameTitle => "with the idea's own title",
            Refusal::SameText => "with the idea's own text",
        };
        let papers = if left.papers == 1 { "paper" } else { "papers" };
        let route = left.route.replace('_', " ");
        let text = format!("{} {papers} {why} left out of the {route}.", left.papers);
        lines.push(ReportLine::said(text));
    }
    if review.mode == ReviewMode::Generative && review.unproven + review.removed_links > 0 {
        let text = format!(
            "{} sentences that no passage supports and {} citations that lead nowhere were removed.",
            review.unproven, review.removed_links
        );
        lines.push(ReportLine::said(text));
    }
    let dropped = review.appraisal.as_ref().and_then(Module::done).map_or(0, |one| one.dropped);
    if dropped > 0 {
        let points = if dropped == 1 { "point" } else { "points" };
        let text =
            format!("{dropped} {points} about the plan with no ground in its words were removed.");
        lines.push(ReportLine::said(text));
    }
    for one in &review.failures {
        let stage = one.stage.replace('_', " ");
        let text = format!("{stage} of {}: {}", untrusted(&one.item).line(), one.reason);
        lines.push(ReportLine::said(text).labelled("Failed"));
    }
    (!lines.is_empty()).then(|| ReportPart { lines, ..headed("What was read and what was not") })
}
