//! A model as judge of coverage.

use futures::StreamExt as _;
use scholar_core::{OutputShape, PortError};
use scholar_pipeline::prompts::Prompt;

use super::{Grade, GradeOutcome};
use crate::judge::model::{Ask, ModelJudge};
use crate::judge::{JudgePin, Judged};
use crate::metrics::grading::{MARKER, grade};
use crate::scholarideas::model::{Dataset, IdeaId, Rubric};
use crate::scholarideas::reports::Reports;

/// Does the review make the point?
pub const COVERAGE: Prompt = Prompt::new(
    "scholarideas/coverage",
    include_str!("../../../prompts/scholarideas/coverage.txt"),
);
/// Longest feedback with grade, in tokens. Ours: three sentences, and room for a model that thinks aloud.
pub(in crate::scholarideas) const COVERAGE_TOKENS: usize = 512;

/// What was asked of the judge, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judging {
    /// One per rubric that was judged, in the order of the dataset.
    pub grades: Vec<Grade>,
    /// Why not every rubric was judged.
    pub incomplete: Option<String>,
}

impl ModelJudge {
    /// The pin of this judge of coverage.
    pub fn coverage_pin(&self) -> JudgePin {
        self.pin("coverage 1-5", &[COVERAGE])
    }

    /// Grades how far `report` on `idea` makes the point of `statement`.
    ///
    /// # Errors
    /// When the model cannot be asked. A reply that cannot be read is [`Judged::Unreadable`].
    pub async fn covers(
        &self,
        idea: &str,
        report: &str,
        statement: &str,
    ) -> Result<Judged<(u8, String)>, PortError> {
        let ask = Ask {
            purpose: "coverage",
            prompt: COVERAGE,
            values: &[("idea", idea), ("report", report), ("statement", statement)],
            shape: OutputShape::Text,
            max_tokens: COVERAGE_TOKENS,
        };
        self.ask(ask, parse).await
    }
}

/// The grade and what was said before it.
fn parse(reply: &str) -> Option<(u8, String)> {
    let score = grade(reply)?;
    let (feedback, _) = reply.rsplit_once(MARKER)?;
    Some((score, feedback.trim().to_owned()))
}

/// Judges every rubric of every idea that has a report, `parallel` at a time; the order of the result is that of the dataset.
///
/// A judge that cannot be reached any more leaves what was judged before. `progress` hears of every rubric: how many of how many.
pub async fn judge_all(
    judge: &ModelJudge,
    dataset: &Dataset,
    reports: &Reports,
    parallel: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Judging {
    let tasks: Vec<(IdeaId, &str, &str, &Rubric)> = tasks(dataset, reports).collect();
    let total = tasks.len();
    let mut replies = futures::stream::iter(tasks)
        .map(|(id, idea, report, rubric)| async move {
            (id, rubric, judge.covers(idea, report, &rubric.statement).await)
        })
        .buffered(parallel.max(1));
    let mut grades = Vec::with_capacity(total);
    let mut incomplete = None;
    while let Some((idea, rubric, reply)) = replies.next().await {
        let outcome = match reply {
            Ok(Judged::Read((score, feedback))) => {
                GradeOutcome::Graded { score: f64::from(score), feedback }
            }
            Ok(Judged::Unreadable(why)) => GradeOutcome::Missing(why),
            Err(error) => {
                let left = total - grades.len();
                incomplete = Some(format!("{left} rubrics were not judged: {error}"));
                break;
            }
        };
        grades.push(Grade { idea, rubric: rubric.clone(), outcome });
        progress(grades.len(), total);
    }
    Judging { grades, incomplete }
}

/// Idea, its text, the report, and the rubric: all that is judged.
pub(in crate::scholarideas) fn tasks<'a>(
    dataset: &'a Dataset,
    reports: &'a Reports,
) -> impl Iterator<Item = (IdeaId, &'a str, &'a str, &'a Rubric)> {
    dataset.ideas.iter().flat_map(|idea| {
        let report = reports.get(&idea.id);
        report.into_iter().flat_map(|report| {
            let of = |rubric| (idea.id, idea.text.as_str(), report.text.as_str(), rubric);
            idea.rubrics.iter().map(of)
        })
    })
}
