//! The plan itself: strengths and weaknesses, each with the words of the plan that it is about.

use scholar_core::text::normalise::capitalised;
use scholar_formats::export::{ReportLine, ReportPart};

use super::{failure, headed, lines};
use crate::report::{Appraisal, Module, PlanPoint, PointWeight, Review, Statement};

const HEADING: &str = "The plan itself";

pub(super) fn parts(review: &Review) -> Vec<ReportPart> {
    let Some(module) = &review.appraisal else { return Vec::new() };
    let Some(appraisal) = module.done() else {
        return failure(module, HEADING).into_iter().collect();
    };
    let mut parts = vec![headed(HEADING)];
    parts.extend(PointWeight::ALL.into_iter().filter_map(|weight| part(appraisal, weight)));
    if parts.len() == 1 {
        parts[0].lines.push(ReportLine::said("No point about the plan itself could be kept."));
    }
    parts
}

/// How many points there are of each weight.
pub(super) fn counts(review: &Review) -> Option<ReportLine> {
    let appraisal = review.appraisal.as_ref().and_then(Module::done)?;
    let of = |weight| appraisal.of_weight(weight).count();
    let [strengths, major, minor] = PointWeight::ALL.map(of);
    let text = format!(
        "{strengths} {}, {major} major and {minor} minor weaknesses.",
        if strengths == 1 { "strength" } else { "strengths" }
    );
    (!appraisal.points.is_empty()).then(|| ReportLine::said(text).labelled(HEADING))
}

fn part(appraisal: &Appraisal, weight: PointWeight) -> Option<ReportPart> {
    let lines: Vec<ReportLine> = appraisal.of_weight(weight).flat_map(told).collect();
    let heading = match weight {
        PointWeight::Strength => "Strengths",
        PointWeight::Major => "Major weaknesses",
        PointWeight::Minor => "Minor weaknesses",
    };
    (!lines.is_empty()).then(|| ReportPart { below: true, lines, ..headed(heading) })
}

/// A point: what is the matter, the words that it is about, what to do.
fn told(point: &PlanPoint) -> Vec<ReportLine> {
    let mut all = Vec::new();
    all.extend(joined(&capitalised(point.kind.name()), &point.matter));
    all.push(if point.not_stated {
        ReportLine::said("says nothing of it.").labelled("The plan")
    } else {
        let quotes = point.quotes.iter().map(|quote| format!("“{}”", single(&quote.text)));
        ReportLine::said(quotes.collect::<Vec<_>>().join(" … ")).labelled("The plan")
    });
    all.extend(joined("Suggested action", &point.action));
    all
}

/// Sentences as one paragraph.
fn joined(label: &str, statements: &[Statement]) -> Option<ReportLine> {
    let mut line = lines(label, statements.first()).pop()?;
    let texts: Vec<&str> = statements.iter().map(|one| one.sentence.text.as_str()).collect();
    line.sentence.text = texts.join(" ");
    Some(line)
}

fn single(text: &str) -> String {
    scholar_core::text::normalise::single_spaced(text)
}
