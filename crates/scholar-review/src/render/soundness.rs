//! What studies say of methods and suppositions.

use scholar_core::SentenceRole;
use scholar_formats::export::{ReportLine, ReportPart};

use super::{failed, failure, glance, headed, lines};
use crate::report::{MethodReview, Module, Review, ReviewMode, Statement};

const HEADING: &str = "What studies say of the methods";

pub(super) fn parts(review: &Review) -> Vec<ReportPart> {
    let Some(module) = &review.soundness else { return Vec::new() };
    let Some(soundness) = module.done() else {
        return failure(module, HEADING).into_iter().collect();
    };
    let mut parts = vec![headed(HEADING)];
    let by_code = review.mode == ReviewMode::Evidence;
    let contribution = review.contribution.as_ref().and_then(Module::done);
    parts.extend(soundness.reviews.iter().map(|one| {
        let mut part = part(one, by_code);
        let claimed =
            contribution.and_then(|all| super::contribution::claimed(all, &one.method.text));
        if let Some(claim) = claimed {
            let said = format!("The same sentence is claimed as new, see {claim}.");
            part.lines.insert(0, ReportLine::said(said));
        }
        part
    }));
    if parts.len() == 1 {
        parts[0].lines.push(ReportLine::said("No method was recognised."));
    }
    parts
}

fn part(review: &MethodReview, by_code: bool) -> ReportPart {
    let mut all: Vec<ReportLine> = failed(&review.state).into_iter().collect();
    if by_code {
        let judged = review.support.iter().chain(&review.contradictions);
        all.extend(judged.chain(&review.related).map(measured));
    } else {
        all.extend(lines("Support", &review.support));
        all.extend(lines("Contradiction", &review.contradictions));
        all.extend(lines("Suggested action", &review.suggested_action));
    }
    if all.is_empty() {
        let text = match review.irrelevant {
            0 => "No related work was found.".to_owned(),
            read => format!("No related work was found among {read} papers read."),
        };
        all.push(ReportLine::said(text));
    }
    ReportPart {
        below: true,
        about: Some(review.method.text.clone()),
        lines: all,
        ..headed(&review.method.heading())
    }
}

/// A quotation with what it is: agreement or conflict where a judge said so, else what was done or found.
fn measured(statement: &Statement) -> ReportLine {
    let measured = statement.measured.as_ref();
    let bearing = measured.and_then(|one| one.bearing.as_ref());
    let label = match (bearing, measured.map(|one| one.role)) {
        (Some(bearing), _) => glance::verdict(bearing),
        (None, Some(SentenceRole::Result | SentenceRole::Conclusion)) => "Found",
        (None, Some(SentenceRole::Method | SentenceRole::Purpose)) => "Did",
        (None, Some(SentenceRole::Background) | None) => "Says",
    };
    ReportLine { label: Some(label.to_owned()), sentence: statement.sentence.clone() }
}
