//! Intervention, comparator and outcome of trials against the prompts of Evidence Inference.
//!
//! Source: `DeYoung` et al. 2020 (Evidence Inference 2.0). A prompt is a person's short name of what a passage of the article
//! compares and measures; an article has several. A cell is compared with the prompt of its article that is most like it.

use std::collections::BTreeMap;

use scholar_core::{PaperId, Passage};
use scholar_pipeline::tabulate::{Cell, Property};
use serde::{Deserialize, Serialize};

use super::{Half, contains, token_f1, tokens};

/// The properties that prompts name.
pub const PROPERTIES: [Property; 3] =
    [Property::Intervention, Property::Comparator, Property::Outcome];

/// The prompts of one article by property, in the order of [`PROPERTIES`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prompts([Vec<String>; 3]);

#[derive(Deserialize)]
struct Row {
    pmcid: String,
    intervention: String,
    comparator: String,
    outcome: String,
}

/// A file of prompts that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct PromptsError {
    line: usize,
    problem: String,
}

impl Prompts {
    /// Reads JSON lines with `pmcid`, `intervention`, `comparator` and `outcome`; the prompts of one article together.
    ///
    /// # Errors
    /// When a line has another form.
    pub fn read(text: &str) -> Result<BTreeMap<PaperId, Self>, PromptsError> {
        let mut articles: BTreeMap<PaperId, Self> = BTreeMap::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let error = |problem: String| PromptsError { line: at + 1, problem };
            let row: Row =
                serde_json::from_str(line).map_err(|problem| error(problem.to_string()))?;
            let id = PaperId::pmcid(&row.pmcid).map_err(|problem| error(problem.to_string()))?;
            let Self(lists) = articles.entry(id).or_default();
            for (list, value) in
                lists.iter_mut().zip([row.intervention, row.comparator, row.outcome])
            {
                if !value.trim().is_empty() && !list.contains(&value) {
                    list.push(value);
                }
            }
        }
        Ok(articles)
    }

    /// What prompts call the property at position `at` of [`PROPERTIES`].
    pub fn of(&self, at: usize) -> &[String] {
        self.0.get(at).map_or(&[], Vec::as_slice)
    }
}

/// How like the prompts a text is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Overlap {
    /// Best F1 of shared words over the prompts.
    pub f1: f64,
    /// The same words as a prompt.
    pub exact: bool,
    /// A prompt's words stand together in it, or its words in a prompt.
    pub contained: bool,
}

impl Overlap {
    /// Of an absent cell.
    pub const NONE: Self = Self { f1: 0.0, exact: false, contained: false };

    /// Of `found` with the prompt most like it.
    pub fn of(found: &str, prompts: &[String]) -> Self {
        let own = tokens(found);
        let mut best = Self::NONE;
        for prompt in prompts {
            let gold = tokens(prompt);
            best.f1 = best.f1.max(token_f1(found, prompt));
            best.exact |= !gold.is_empty() && own == gold;
            best.contained |= contains(&own, &gold) || contains(&gold, &own);
        }
        best
    }
}

/// What fills the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// `papers table`.
    Table,
    /// The title in every cell.
    Title,
    /// The first sentence of the abstract in every cell.
    FirstSentence,
    /// The word placebo in every cell whose paper has it.
    Placebo,
}

impl System {
    /// All, in the order of the report.
    pub const ALL: [Self; 4] = [Self::Table, Self::Title, Self::FirstSentence, Self::Placebo];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "papers table",
            Self::Title => "baseline: the title",
            Self::FirstSentence => "baseline: first sentence of the abstract",
            Self::Placebo => "baseline: “placebo” where the paper has the word",
        }
    }
}

/// One cell measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmRow {
    /// The article.
    pub paper: PaperId,
    /// Its half.
    pub half: Half,
    /// Position in [`PROPERTIES`].
    pub property: usize,
    /// What filled the cell.
    pub system: System,
    /// What stands in it; `None` is absent.
    pub text: Option<String>,
    /// How like the prompts it is.
    pub overlap: Overlap,
}

/// The rows of one article: the cells of the table, in the order of [`PROPERTIES`], and the baselines.
pub fn rows(
    paper: &PaperId,
    passages: &[Passage],
    cells: &[Option<Cell>],
    prompts: &Prompts,
) -> Vec<ArmRow> {
    let title = passages.first().map(|passage| passage.title.clone());
    let first = passages.first().and_then(|passage| {
        let sentences = scholar_core::text::sentences::sentence_texts(&passage.text);
        sentences.first().map(|sentence| (*sentence).to_owned())
    });
    let placebo = passages
        .iter()
        .any(|passage| passage.text.to_lowercase().contains("placebo"))
        .then(|| "placebo".to_owned());
    let half = Half::of(paper);
    let mut rows = Vec::new();
    for (at, _) in PROPERTIES.iter().enumerate().filter(|(at, _)| !prompts.of(*at).is_empty()) {
        for system in System::ALL {
            let text = match system {
                System::Table => cells.get(at).and_then(|cell| Some(cell.as_ref()?.text.clone())),
                System::Title => title.clone(),
                System::FirstSentence => first.clone(),
                System::Placebo => placebo.clone(),
            };
            let overlap =
                text.as_deref().map_or(Overlap::NONE, |text| Overlap::of(text, prompts.of(at)));
            rows.push(ArmRow { paper: paper.clone(), half, property: at, system, text, overlap });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_an_article_are_joined_and_the_best_counts() {
        let text = r#"{"pmcid": "PMC1", "intervention": "zinc", "comparator": "placebo", "outcome": "diarrhoea"}
{"pmcid": "PMC1", "intervention": "oral zinc", "comparator": "placebo", "outcome": ""}"#;
        let prompts = Prompts::read(text).expect("well-formed");
        let one = &prompts[&PaperId::Pmcid(1)];
        assert_eq!((one.of(0).len(), one.of(1).len(), one.of(2).len()), (2, 1, 1));
        let overlap = Overlap::of("Oral zinc", one.of(0));
        assert!(overlap.exact && overlap.contained && (overlap.f1 - 1.0).abs() < 1e-9);
        let wide = Overlap::of("a matching placebo", one.of(1));
        assert!(!wide.exact && wide.contained);
        assert_eq!(Overlap::of("sugar", one.of(1)), Overlap::NONE);
        assert!(Prompts::read("{}").expect_err("bad").to_string().starts_with("line 1"));
    }
}
