//! What a run read and wrote, checked against the idea's cut-off and its own evidence, for the table of `reports`.
//!
//! | checked | how |
//! |---|---|
//! | dates | every paper of the review and of every recorded reply appeared before the cut-off, every recorded search asked for that |
//! | links | every address of the whole document is that of a paper that was read |
//! | items | methods, suppositions, claims or dimensions; those without any work beside them; those that failed |

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use scholar_bench::scholarideas::{Discipline, Idea, IdeaId, links_of};
use scholar_bench::statistics::percentile;
use scholar_core::PaperMeta;
use scholar_review::{ItemState, Module, Review, ReviewMode};
use serde::Serialize;
use serde_json::Value;

use crate::args::OutputFormat;
use crate::error::{CommandError, Context as _};
use crate::output::export;
use crate::output::review::ReviewDocument;
use crate::runs::{JOURNAL_FILE, RunFolder};

/// One run, checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Checked {
    pub(super) mode: ReviewMode,
    pub(super) methods: usize,
    pub(super) suppositions: usize,
    /// Claims in evidence mode, dimensions in a generative review.
    pub(super) claims: usize,
    /// Of all of these, without a sentence about a paper.
    pub(super) abstained: usize,
    pub(super) failed: usize,
    pub(super) cited: usize,
    /// The latest day on which a cited paper can have appeared.
    pub(super) newest: Option<Date>,
    /// Papers of the review and of recorded replies, each once.
    pub(super) met: usize,
    /// Of them, those from the cut-off on or without a date.
    pub(super) late: Vec<String>,
    /// Recorded searches that did not ask for papers from before the cut-off.
    pub(super) unbounded: usize,
    pub(super) links: usize,
    /// Addresses of the document that are of no paper that was read.
    pub(super) stray: Vec<String>,
    pub(super) calls: u64,
    pub(super) seconds: f64,
}

impl Checked {
    /// Checks `document`, the review of `idea` in `folder`.
    pub(super) fn of(
        document: &ReviewDocument,
        idea: &Idea,
        folder: &RunFolder,
    ) -> Result<Self, CommandError> {
        let review = &document.review;
        let mut met: BTreeMap<String, Option<Date>> = BTreeMap::new();
        let (mut unbounded, cutoff) = (0, idea.cutoff.to_string());
        for line in folder.text(JOURNAL_FILE)?.lines().filter(|line| !line.trim().is_empty()) {
            let entry: Value =
                serde_json::from_str(line).user(|| format!("{JOURNAL_FILE} is damaged"))?;
            walk(&entry, &mut |paper| {
                met.insert(paper.id.to_string(), paper.latest_day());
            });
            let filter = entry.pointer("/request/filter");
            let bound = filter.and_then(|one| one.get("published_before")).and_then(Value::as_str);
            unbounded += usize::from(filter.is_some() && bound != Some(cutoff.as_str()));
        }
        met.extend(review.papers().map(|paper| (paper.id.to_string(), paper.latest_day())));
        let is_late = |day: &Option<Date>| day.is_none_or(|day| day >= idea.cutoff);
        let late = met.iter().filter(|(_, day)| is_late(day)).map(|(id, _)| id.clone()).collect();
        let (links, stray) = links(document)?;
        let items = Items::of(review);
        let cited: BTreeSet<_> = review.references.iter().map(|one| &one.paper_id).collect();
        let newest = review
            .papers()
            .filter(|paper| cited.contains(&paper.id))
            .filter_map(PaperMeta::latest_day);
        Ok(Self {
            mode: review.mode,
            methods: items.methods,
            suppositions: items.suppositions,
            claims: items.claims,
            abstained: items.abstained,
            failed: review.failures.len(),
            cited: review.references.len(),
            newest: newest.max(),
            met: met.len(),
            late,
            unbounded,
            links,
            stray,
            calls: document.usage.calls,
            seconds: milliseconds(document.timings_ms.total) / 1_000.0,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a run takes less than 2^53 ms")]
fn milliseconds(n: u64) -> f64 {
    n as f64
}

/// Every paper in `value`, however deep: what has an identifier and a title, and is no passage.
fn walk(value: &Value, found: &mut dyn FnMut(&PaperMeta)) {
    match value {
        Value::Object(map) => {
            let is_paper = map.contains_key("title")
                && map.contains_key("id")
                && !map.contains_key("section")
                && !map.contains_key("text");
            if let Some(paper) =
                is_paper.then(|| serde_json::from_value(value.clone()).ok()).flatten()
            {
                found(&paper);
            }
            map.values().for_each(|one| walk(one, found));
        }
        Value::Array(list) => list.iter().for_each(|one| walk(one, found)),
        _ => {}
    }
}

/// How many addresses the whole document has, and which of them are of no paper that was read.
fn links(document: &ReviewDocument) -> Result<(usize, Vec<String>), CommandError> {
    let bytes = export::review_bytes(document, Some(OutputFormat::Markdown), None)?;
    let written = links_of(&String::from_utf8_lossy(&bytes));
    let of_paper = |paper: &PaperMeta| {
        let dois = paper.ids().filter_map(scholar_core::PaperId::url);
        paper.link().into_iter().chain(dois).collect::<Vec<_>>()
    };
    let read = document.review.papers().flat_map(of_paper);
    let read: BTreeSet<String> = read.flat_map(|link| links_of(&link)).collect();
    // An idea may name addresses itself; its words stand in the document as they are.
    let own: BTreeSet<String> = links_of(&document.review.idea.text).into_iter().collect();
    let stray = written.iter().filter(|link| !read.contains(*link) && !own.contains(*link));
    Ok((written.len(), stray.cloned().collect()))
}

struct Items {
    methods: usize,
    suppositions: usize,
    claims: usize,
    abstained: usize,
}

impl Items {
    fn of(review: &Review) -> Self {
        let soundness = review.soundness.as_ref().and_then(Module::done);
        let reviews = soundness.map_or(&[][..], |one| &one.reviews);
        let suppositions = reviews.iter().filter(|one| one.method.id.starts_with('H')).count();
        let without = reviews.iter().filter(|one| {
            !matches!(one.state, ItemState::Failed(_))
                && one.support.is_empty()
                && one.contradictions.is_empty()
                && one.related.is_empty()
        });
        let mut items = Self {
            methods: reviews.len() - suppositions,
            suppositions,
            claims: 0,
            abstained: without.count(),
        };
        if let Some(contribution) = review.contribution.as_ref().and_then(Module::done) {
            let by_code = review.mode == ReviewMode::Evidence;
            let dimensions = contribution.reviews.iter();
            let bare =
                dimensions.filter(|one| one.strengths.is_empty() && one.weaknesses.is_empty());
            let far = contribution.nearest.iter().filter(|work| work.closest.is_none());
            let (claims, abstained) = match by_code {
                true => (contribution.nearest.len(), far.count()),
                false => (contribution.reviews.len(), bare.count()),
            };
            items.claims = claims;
            items.abstained += abstained;
        }
        items
    }
}

/// All runs as a table, a line for each field below each other first.
pub(super) fn markdown(checked: &[(IdeaId, Checked)]) -> String {
    let mut lines = vec![
        "| field | ideas | methods | suppositions | claims | without any work beside them | failed | papers cited | papers met | of them late or undated | searches without bound | links | links to nothing read | seconds, median | p95 |".to_owned(),
        format!("|{}", "---|".repeat(15)),
    ];
    for field in Discipline::ALL {
        let own: Vec<&Checked> =
            checked.iter().filter(|(id, _)| id.discipline == field).map(|(_, one)| one).collect();
        lines.extend(summary(field.name(), &own));
    }
    let all: Vec<&Checked> = checked.iter().map(|(_, one)| one).collect();
    lines.extend(summary("all", &all));
    lines.push(String::new());
    lines.push("| idea | methods | suppositions | claims | without any work beside them | failed | papers cited | newest | papers met | late or undated | links | to nothing read | calls | seconds |".to_owned());
    lines.push(format!("|{}", "---|".repeat(14)));
    for (id, one) in checked {
        let newest = one.newest.map_or_else(|| "–".to_owned(), |day| day.to_string());
        lines.push(format!(
            "| {id} | {} | {} | {} | {} | {} | {} | {newest} | {} | {} | {} | {} | {} | {:.0} |",
            one.methods,
            one.suppositions,
            one.claims,
            one.abstained,
            one.failed,
            one.cited,
            one.met,
            one.late.len(),
            one.links,
            one.stray.len(),
            one.calls,
            one.seconds
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn summary(name: &str, of: &[&Checked]) -> Option<String> {
    let sum = |value: &dyn Fn(&Checked) -> usize| of.iter().map(|one| value(one)).sum::<usize>();
    let mut seconds: Vec<f64> = of.iter().map(|one| one.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    (!of.is_empty()).then(|| {
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} | {:.0} |",
            of.len(),
            sum(&|one| one.methods),
            sum(&|one| one.suppositions),
            sum(&|one| one.claims),
            sum(&|one| one.abstained),
            sum(&|one| one.failed),
            sum(&|one| one.cited),
            sum(&|one| one.met),
            sum(&|one| one.late.len()),
            sum(&|one| one.unbounded),
            sum(&|one| one.links),
            sum(&|one| one.stray.len()),
            percentile(&seconds, 0.5),
            percentile(&seconds, 0.95)
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn papers_are_found_however_deep_and_passages_are_none() {
        let entry = json!({"result": {"reply": {"hits": [
            {"passage": {"id": "acl:X-1#0", "title": "t", "section": "Abstract", "text": "w"},
             "paper": {"id": "acl:X-1", "title": "One", "authors": [], "year": 2023}},
            {"paper": {"id": "acl:X-2", "title": "Two", "authors": [], "published": "2024-09-24", "year": 2024}},
        ]}}});
        let mut found = Vec::new();
        walk(&entry, &mut |paper| found.push((paper.title.clone(), paper.latest_day())));
        let day = |year, month, day| Some(Date::constant(year, month, day));
        assert_eq!(
            found,
            [("One".to_owned(), day(2023, 12, 31)), ("Two".to_owned(), day(2024, 9, 24))]
        );
    }
}
