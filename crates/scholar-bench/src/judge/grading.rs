//! The judge of grades from 1 to 5.

use scholar_core::{OutputShape, PortError};
use scholar_pipeline::prompts::Prompt;

use super::model::{Ask, ModelJudge};
use super::{JudgePin, Judged};
use crate::metrics::grading::{GradingRubric, grade};

/// With a reference answer that earns 5.
pub const GRADE: Prompt = Prompt::new("judge/grade", include_str!("../../prompts/judge/grade.txt"));
/// Prompt that grades from 1 to 5 without a reference answer.
pub const GRADE_ALONE: Prompt =
    Prompt::new("judge/grade_alone", include_str!("../../prompts/judge/grade_alone.txt"));

/// Longest feedback with grade, in tokens. Source: ScholarQABench.
const GRADE_TOKENS: usize = 512;

impl ModelJudge {
    /// The pin of this judge of grades.
    pub fn grading_pin(&self, with_reference: bool) -> JudgePin {
        let prompt = if with_reference { GRADE } else { GRADE_ALONE };
        self.pin("grade 1-5", &[prompt])
    }

    /// Grades `answer` to `question` by one rubric; `reference` is an answer that earns 5.
    ///
    /// # Errors
    /// When the model cannot be asked.
    pub async fn grade(
        &self,
        rubric: &GradingRubric,
        question: &str,
        answer: &str,
        reference: Option<&str>,
    ) -> Result<Judged<u8>, PortError> {
        let [one, two, three, four, five] = rubric.levels();
        let values = [
            ("question", question),
            ("response", answer),
            ("reference", reference.unwrap_or("")),
            ("criterion", rubric.criteria_description.as_str()),
            ("level1", one),
            ("level2", two),
            ("level3", three),
            ("level4", four),
            ("level5", five),
        ];
        let ask = Ask {
            purpose: "grade",
            prompt: if reference.is_some() { GRADE } else { GRADE_ALONE },
            values: &values,
            shape: OutputShape::Text,
            max_tokens: GRADE_TOKENS,
        };
        self.ask(ask, grade).await
    }
}

#[cfg(test)]
mod tests;
