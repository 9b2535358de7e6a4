//! How such a dataset is made: a paper is turned back into the plan before it, and what its reviewers said of the plan into rubrics.
//!
//! Steps, each with a file that is used again when the work goes on: [`plan_source`] takes out of the paper what was known before its
//! results; a model writes the plan (`<id>.txt`), then copies sentences of the reviews that are about it (`<id>_intermediate.txt`), then
//! makes statements with labels of these (`<id>.jsonl`). A sentence that does not stand in the reviews word for word is dropped and
//! counted. People check plans and rubrics before they are used; the paper's changed four of five rubrics.
//!
//! Source: arXiv 2510.16234, section 3 and appendix.

mod parse;
#[cfg(test)]
mod tests;

use futures::future::BoxFuture;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{GenerationRequest, Generator, OutputShape, Paper, PortError, Sampling};
use scholar_pipeline::prompts::Prompt;
use serde::{Deserialize, Serialize};

use super::model::{IdeaId, Rubric};

/// The plan before a paper.
pub const CURATE_IDEA: Prompt = Prompt::new(
    "scholarideas/curate_idea",
    include_str!("../../prompts/scholarideas/curate_idea.txt"),
);
/// Sentences of reviews about the plan.
pub const CURATE_QUOTES: Prompt = Prompt::new(
    "scholarideas/curate_quotes",
    include_str!("../../prompts/scholarideas/curate_quotes.txt"),
);
/// Statements with labels.
pub const CURATE_RUBRICS: Prompt = Prompt::new(
    "scholarideas/curate_rubrics",
    include_str!("../../prompts/scholarideas/curate_rubrics.txt"),
);

/// Parts of headings whose sections tell what came out. Source: the reference script.
const OUTCOMES: [&str; 4] = ["result", "conclusion", "discussion", "finding"];
/// Sections that are no text of the paper's own. Ours.
const BESIDE: [&str; 4] = ["references", "bibliography", "acknowledg", "supplementary"];
/// Longest plan, in tokens: twice the longest of the release.
const IDEA_TOKENS: usize = 3_000;
/// Longest list of sentences or statements, in tokens.
const LIST_TOKENS: usize = 6_000;

/// What is made into an idea with rubrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Name that the idea gets.
    pub id: IdeaId,
    /// The paper's title.
    pub title: String,
    /// What of it was known before its results; see [`plan_source`].
    pub text: String,
    /// The reviews of the first round.
    pub reviews: String,
}

/// What earlier work left, each the text of its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// `<id>.txt`.
    pub idea: Option<String>,
    /// `<id>_intermediate.txt`.
    pub quotes: Option<String>,
}

/// A step, as its file is written when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage<'a> {
    /// The plan.
    Idea(&'a str),
    /// Sentences of the reviews, one a line.
    Quotes(&'a str),
    /// Rubrics, one JSON object a line.
    Rubrics(&'a str),
}

/// What a paper and its reviews gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curated {
    /// The idea.
    pub id: IdeaId,
    /// Words of the plan.
    pub words: usize,
    /// Sentences that stand in the reviews.
    pub quotes: usize,
    /// Sentences that the model made up or changed; dropped.
    pub not_verbatim: usize,
    /// Rubrics.
    pub rubrics: usize,
    /// Lines that are no rubric; dropped.
    pub unreadable: usize,
    /// Statements that came twice; dropped.
    pub repeated: usize,
}

/// Why a paper gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum CurateError {
    /// The model cannot be asked.
    #[error("{stage} of {id}")]
    Asked {
        /// The idea.
        id: IdeaId,
        /// Name of the step.
        stage: &'static str,
        /// What the model said.
        source: PortError,
    },
    /// The model's reply cannot be used.
    #[error("{stage} of {id}: {why}")]
    Reply {
        /// The idea.
        id: IdeaId,
        /// Name of the step.
        stage: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// The model and the pause before each of its calls.
pub struct Curator<'a> {
    /// Writes plans, sentences and statements.
    pub generator: &'a dyn Generator,
    /// Waited for before each call: the paper's pipeline leaves a second between two.
    pub pause: &'a (dyn Fn() -> BoxFuture<'static, ()> + Sync),
}

/// What of a paper was known before its results, and the headings of what was left out.
///
/// All sections in order but those whose heading names an outcome, and those that are no text of its own. The paper's scripts use the
/// whole text where a paper has no sections; so does this.
pub fn plan_source(paper: &Paper) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut left_out = Vec::new();
    for section in &paper.sections {
        let heading = section.heading.to_lowercase();
        if OUTCOMES.iter().chain(&BESIDE).any(|part| heading.contains(part)) {
            left_out.push(section.heading.clone());
            continue;
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if !section.heading.is_empty() {
            text.push_str(section.heading.trim());
            text.push('\n');
        }
        text.push_str(section.text.trim());
    }
    (text, left_out)
}

/// Whether a paper has more than an abstract, so that [`plan_source`] could choose.
pub fn has_sections(paper: &Paper) -> bool {
    paper
        .sections
        .iter()
        .any(|section| !section.heading.is_empty() && section.heading != ABSTRACT_HEADING)
}

impl Curator<'_> {
    /// Makes an idea with rubrics of `source`; `kept` is not asked for again, and each new file is handed to `write`.
    ///
    /// # Errors
    /// [`CurateError`] names the step; what was written before it is kept.
    pub async fn curate(
        &self,
        source: &Source,
        kept: Kept,
        write: &mut (dyn FnMut(Stage<'_>) + Send),
    ) -> Result<Curated, CurateError> {
        let id = source.id;
        let idea = match kept.idea {
            Some(idea) => idea,
            None => {
                let values = [("title", source.title.as_str()), ("paper", &source.text)];
                let reply = self.ask(id, "the plan", (CURATE_IDEA, &values), IDEA_TOKENS).await?;
                let idea = parse::idea(&reply).map_err(|why| CurateError::Reply {
                    id,
                    stage: "the plan",
                    why,
                })?;
                write(Stage::Idea(&idea));
                idea
            }
        };
        let (quotes, not_verbatim) = match kept.quotes {
            Some(text) => (text.lines().map(str::to_owned).collect(), 0),
            None => {
                let values = [("idea", idea.as_str()), ("reviews", &source.reviews)];
                let reply =
                    self.ask(id, "the sentences", (CURATE_QUOTES, &values), LIST_TOKENS).await?;
                let (quotes, lost) = parse::quotes(&reply, &source.reviews);
                write(Stage::Quotes(&quotes.join("\n")));
                (quotes, lost)
            }
        };
        if quotes.is_empty() {
            let why = "no sentence of the reviews is about the plan".to_owned();
            return Err(CurateError::Reply { id, stage: "the sentences", why });
        }
        let list = quotes.join("\n");
        let values = [("idea", idea.as_str()), ("quotes", &list)];
        let reply = self.ask(id, "the rubrics", (CURATE_RUBRICS, &values), LIST_TOKENS).await?;
        let parse::Rubrics { rubrics, unreadable, repeated } = parse::rubrics(&reply);
        if rubrics.is_empty() {
            let why = "no line of the reply is a rubric".to_owned();
            return Err(CurateError::Reply { id, stage: "the rubrics", why });
        }
        write(Stage::Rubrics(&json_lines(&rubrics)));
        Ok(Curated {
            id,
            words: idea.split_whitespace().count(),
            quotes: quotes.len(),
            not_verbatim,
            rubrics: rubrics.len(),
            unreadable,
            repeated,
        })
    }

    async fn ask(
        &self,
        id: IdeaId,
        stage: &'static str,
        (prompt, values): (Prompt, &[(&str, &str)]),
        most: usize,
    ) -> Result<String, CurateError> {
        (self.pause)().await;
        let request = GenerationRequest {
            purpose: prompt.name.rsplit('/').next().unwrap_or(prompt.name).to_owned(),
            messages: prompt.render(false, values),
            sampling: Sampling::greedy(most),
            shape: OutputShape::Text,
        };
        let reply = self.generator.generate(&request, &|_: &str| {}).await;
        reply.map(|reply| reply.text).map_err(|source| CurateError::Asked { id, stage, source })
    }
}

/// One object a line, a line break after each.
fn json_lines(rubrics: &[Rubric]) -> String {
    let line = |rubric: &Rubric| serde_json::to_string(rubric).map(|line| line + "\n");
    // Plain strings and names cannot fail.
    rubrics.iter().filter_map(|rubric| line(rubric).ok()).collect()
}
