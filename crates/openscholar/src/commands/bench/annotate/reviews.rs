//! Reports on research plans in a study: how they come in, and how what was said of them goes out.

use std::path::{Path, PathBuf};

use scholar_bench::experts::reviews::{REVIEW_SCHEMA, ReviewRecord, ReviewValue};
use scholar_bench::scholarideas::load;
use scholar_bench::scholarideas::reports::{Report, read_reports};
use scholar_core::text::markers::strip_citations;
use scholar_server::annotate::material::Paired;
use scholar_server::annotate::{Answer, Evaluation, Guess, Instance, Kind, ReviewScore};

use crate::error::{CommandError, Context as _};

/// Pairs the reports of two systems on the ideas of `data`: an instance for each idea that both have one of.
pub(super) fn pair(
    data: &Path,
    paths: [&PathBuf; 2],
    names: &[String; 2],
) -> Result<Paired, CommandError> {
    let dataset = load(data).user(|| format!("{} is not ScholarIdeas", data.display()))?;
    let read =
        |path: &PathBuf| read_reports(path).user(|| format!("{} has no reports", path.display()));
    let (first, second) = (read(paths[0])?, read(paths[1])?);
    let mut paired = Paired::default();
    let mut named = Vec::new();
    for idea in &dataset.ideas {
        let (Some(a), Some(b)) = (first.get(&idea.id), second.get(&idea.id)) else { continue };
        let answer = |report: &Report, name: &String| Answer {
            system: name.clone(),
            text: report.text.clone(),
            references: Vec::new(),
        };
        let tells = |report: &Report| {
            names.iter().any(|name| report.text.to_lowercase().contains(&name.to_lowercase()))
        };
        if tells(a) || tells(b) {
            named.push(idea.id.to_string());
        }
        let title = idea.text.lines().map(str::trim).find(|line| !line.is_empty());
        let title = title.unwrap_or_default().trim_start_matches(['#', ' ']);
        let answers = [answer(a, &names[0]), answer(b, &names[1])];
        let id = idea.id.to_string();
        paired.instances.push(Instance {
            kind: Kind::Review,
            plan: idea.text.clone(),
            ..Instance::comparison(id, title.to_owned(), Vec::new(), answers)
        });
    }
    let left = first.len().max(second.len()) - paired.instances.len();
    if left > 0 {
        paired
            .notices
            .push(format!("{left} reports have no report of the other system, or no idea"));
    }
    if !named.is_empty() {
        paired.notices.push(format!(
            "reports that name one of the systems, and so may tell which is which: {}",
            named.join(", ")
        ));
    }
    Ok(paired)
}

/// A submission on a report, as it is exported.
pub(super) fn record(evaluation: &Evaluation, instance: &Instance) -> ReviewRecord {
    let report = &instance.answers[usize::from(evaluation.flipped)];
    let words = |text: &str| strip_citations(text).split_whitespace().count();
    let value = |score: &ReviewScore| ReviewValue {
        item: score.item.clone(),
        dimension: score.dimension.clone(),
        part: score.part.clone(),
        value: score.value,
    };
    let review = evaluation.review.as_ref();
    ReviewRecord {
        schema: REVIEW_SCHEMA.to_owned(),
        instance: instance.id.clone(),
        plan_words: words(&instance.plan),
        annotator: evaluation.annotator.clone(),
        version: evaluation.version,
        latest: evaluation.latest,
        started: evaluation.started.clone(),
        submitted: evaluation.submitted.clone(),
        system: report.system.clone(),
        words: words(&report.text),
        scores: review.map(|review| review.scores.iter().map(value).collect()).unwrap_or_default(),
        guessed_specialised: review.and_then(|review| match review.guess {
            Guess::Specialised => Some(true),
            Guess::General => Some(false),
            Guess::Unsure => None,
        }),
        explanation: evaluation.explanation.clone(),
        comment: evaluation.comment.clone(),
    }
}
