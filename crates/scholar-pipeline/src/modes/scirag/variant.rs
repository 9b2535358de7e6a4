//! What differs between a long answer, a verdict, an answer from one paper and a section of related work.
//!
//! Source: specification A10.

use scholar_core::text::markers::{citation_groups, render_citations};
use scholar_core::text::sentences::sentence_texts;

use crate::config::{AskConfig, Task};

/// Most citations of a verdict that no sentence states with its evidence. Ours.
const CITATIONS_OF_A_VERDICT: usize = 2;

/// The words in which prompts say what is wanted of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variant {
    /// For the outline.
    pub(super) outline: &'static str,
    /// For text in prose: the first answer, the merged one, its revisions.
    pub(super) prose: &'static str,
    /// For the critic.
    pub(super) critic: &'static str,
    /// The long answer in parts of [`crate::write::parts`].
    pub(super) is_report: bool,
    /// Most rounds of feedback.
    pub(super) most_rounds: usize,
}

const REPORT: Variant = Variant {
    outline: "",
    prose: "Keep its form: one sentence a line with its mark (F1 | finding [2], S F1 F3 | conclusion, X | framing, G | gap), the headings, the table lines, \"## Limits\" and \"## Short answer\" last.",
    critic: "",
    is_report: true,
    most_rounds: usize::MAX,
};

const CLAIM: Variant = Variant {
    outline: "The question is a claim to be judged: section 1 (20%) is the verdict, section 2 (50%) the evidence for and against it, section 3 (30%) nuances and the verdict again.",
    prose: "The text below \"Question\" is a claim. The first sentence is exactly \"Judgment: True.\" or \"Judgment: False.\" with the number of the reference that decides it in front of the full stop; then come the evidence, its nuances and the verdict again.",
    critic: "The claim must be decided: a verdict without evidence that settles it is a gap.",
    is_report: false,
    most_rounds: 1,
};

const BOOLEAN: Variant = Variant {
    outline: "The question takes yes or no: section 1 (20%) is the verdict, section 2 (60%) the evidence, section 3 (20%) nuances and the verdict again.",
    prose: "The first sentence is exactly \"Judgment: Yes.\" or \"Judgment: No.\" with the number of the reference that decides it in front of the full stop; then come the evidence, its nuances and the verdict again.",
    critic: "The question must be decided: a verdict without evidence that settles it is a gap.",
    is_report: false,
    most_rounds: 1,
};

const SINGLE_PAPER: Variant = Variant {
    outline: "",
    prose: "The references are paragraphs of one paper, or of papers around it. Answer in one to three paragraphs.",
    critic: "",
    is_report: false,
    most_rounds: usize::MAX,
};

const PROSE: Variant = Variant {
    outline: "",
    prose: "Write several paragraphs without headings.",
    critic: "",
    is_report: false,
    most_rounds: usize::MAX,
};

const RELATED_WORK: Variant = Variant {
    outline: "What is wanted is a section on related work for the abstract below: its parts are lines of work.",
    prose: "Write a section on related work for the abstract below: several paragraphs, each on one line of work, that say how it relates to the abstract.",
    critic: "",
    is_report: false,
    most_rounds: usize::MAX,
};

impl Variant {
    /// Of the task and form that are asked for; `None` of a task that there is nothing to explore for.
    pub(super) fn of(config: &AskConfig) -> Option<Self> {
        match config.task {
            Task::Default if crate::modes::generative::report::is_wanted(config) => Some(REPORT),
            Task::Default => Some(PROSE),
            Task::ClaimFull => Some(CLAIM),
            Task::BooleanQuestionFull => Some(BOOLEAN),
            Task::SinglePaperQa => Some(SINGLE_PAPER),
            Task::Summarization => Some(RELATED_WORK),
            Task::ClaimGold
            | Task::ClaimNoContext
            | Task::BooleanQuestionGold
            | Task::BooleanQuestionNoContext => None,
        }
    }
}

/// A written verdict as a label with citations: that of the first `Judgment: …`, else the whole text for whoever reads
/// labels. Citations are those of its sentence, else the first of the text.
pub(super) fn verdict(text: &str, labels: [&str; 2]) -> String {
    let lower = text.to_lowercase();
    let found = ["judgment:", "judgement:"].into_iter().filter_map(|word| lower.find(word)).min();
    let Some(at) = found else { return text.to_owned() };
    let said = lower[at..].split_once(':').map_or("", |(_, rest)| rest);
    let word = said.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    let positive = ["true", "yes"];
    let negative = ["false", "no"];
    let label = match word {
        Some(word) if positive.contains(&word) => labels[0],
        Some(word) if negative.contains(&word) => labels[1],
        _ => return text.to_owned(),
    };
    let numbers = |text: &str| -> Vec<usize> {
        citation_groups(text).into_iter().flat_map(|group| group.numbers).collect()
    };
    let own = sentence_texts(text)
        .into_iter()
        .find(|sentence| sentence.to_lowercase().contains("judg"))
        .map(numbers)
        .unwrap_or_default();
    let mut cited = if own.is_empty() { numbers(text) } else { own };
    cited.truncate(CITATIONS_OF_A_VERDICT);
    format!("{label} {}", render_citations(&cited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_judgment_decides_and_brings_its_citations() {
        let check = |text: &str, expected: &str| {
            assert_eq!(verdict(text, ["true", "false"]), expected, "{text}");
        };
        check("Judgment: False [3]. Trials found less [1].", "false [3]");
        check("**JUDGMENT: True.** Trials found it [1][2][4].", "true [1][2]");
        check("judgement: no. [2] Later: Judgment: True.", "false [2]");
        check("Judgment: unclear. It is false [1].", "Judgment: unclear. It is false [1].");
        check("It is false [1].", "It is false [1].");
    }
}
