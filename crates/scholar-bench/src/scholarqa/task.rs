//! The tasks: what is asked, where the files are, and what is measured.

use jiff::civil::Date;
use scholar_pipeline::Task;
use serde::{Deserialize, Serialize};

/// The day after the published datastore ends. Source: peS2o v2, which the papers evaluate with.
pub const DATASTORE_CUTOFF: Date = Date::constant(2023, 1, 4);

/// A task of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchTask {
    /// Claims, `true` or `false`.
    #[serde(rename = "scifact")]
    SciFact,
    /// Questions, `yes` or `no`.
    #[serde(rename = "pubmedqa")]
    PubMedQa,
    /// Questions about one paper with sentence-level answers.
    Qasa,
    /// Computer science questions with rubrics.
    Cs,
    /// Questions of four fields with answers by experts.
    Multi,
    /// Biomedical questions without reference answers.
    Bio,
    /// Neuroscience questions without reference answers.
    Neuro,
    /// Related-work sections (`DeepScholar`); not among the paper's tables.
    RelatedWork,
}

/// What an answer's content is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correctness {
    /// Nothing: there are questions alone.
    None,
    /// A label: `yes` or `no`, `true` or `false`.
    Label,
    /// The words of a reference answer (ROUGE, token F1).
    Overlap,
    /// A rubric of ingredients.
    Rubric,
}

/// What a task's predictions are measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measures {
    /// What the content is compared with.
    pub correctness: Correctness,
    /// Citations of every sentence; without it the whole answer is one unit.
    pub long_citations: bool,
    /// Organisation, coverage and relevance from 1 to 5.
    pub aspects: bool,
}

impl BenchTask {
    /// All, in the order of the paper's tables.
    pub const ALL: [Self; 8] = [
        Self::PubMedQa,
        Self::SciFact,
        Self::Qasa,
        Self::Cs,
        Self::Multi,
        Self::Bio,
        Self::Neuro,
        Self::RelatedWork,
    ];

    /// Name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::SciFact => "scifact",
            Self::PubMedQa => "pubmedqa",
            Self::Qasa => "qasa",
            Self::Cs => "cs",
            Self::Multi => "multi",
            Self::Bio => "bio",
            Self::Neuro => "neuro",
            Self::RelatedWork => "related-work",
        }
    }

    /// Name in reports, such as `Scholar-CS`.
    pub fn title(self) -> &'static str {
        match self {
            Self::SciFact => "SciFact",
            Self::PubMedQa => "PubMedQA",
            Self::Qasa => "QASA",
            Self::Cs => "Scholar-CS",
            Self::Multi => "Scholar-Multi",
            Self::Bio => "Scholar-Bio",
            Self::Neuro => "Scholar-Neuro",
            Self::RelatedWork => "Related work",
        }
    }

    /// The task called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.name() == name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Where its file is, below the benchmark's folder: this project's collection first, then upstream's repository.
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Self::SciFact => &[
                "single_paper_tasks/scifact_test.jsonl",
                "data/single_paper_tasks/scifact_test.jsonl",
            ],
            Self::PubMedQa => &[
                "single_paper_tasks/pubmed_test.jsonl",
                "data/single_paper_tasks/pubmed_test.jsonl",
            ],
            Self::Qasa => {
                &["single_paper_tasks/qasa_test.jsonl", "data/single_paper_tasks/qasa_test.jsonl"]
            }
            Self::Cs => &[
                "scholarqa_cs_rubrics_public.jsonl",
                "scholarqa_cs/test_configs_snippets.json",
                "data/scholarqa_cs/test_configs_snippets.json",
            ],
            Self::Multi => &[
                "scholarqa_multi_public.jsonl",
                "scholarqa_multi/human_answers.json",
                "data/scholarqa_multi/human_answers.json",
            ],
            Self::Bio => &[
                "scholarqabench_bio.jsonl",
                "scholarqa_bio/scholarqabench_bio.jsonl",
                "data/scholarqa_bio/scholarqabench_bio.jsonl",
            ],
            Self::Neuro => &[
                "scholarqabench_neuro.jsonl",
                "scholarqa_neuro/scholarqabench_neuro.jsonl",
                "data/scholarqa_neuro/scholarqabench_neuro.jsonl",
            ],
            Self::RelatedWork => &["relatedwork_deepscholar_public.jsonl", "deepscholar.jsonl"],
        }
    }

    /// How to get a file that the public collection lacks.
    pub fn how_to_get(self) -> &'static str {
        match self {
            Self::Qasa => {
                "QASA is not among the public files: make qasa_test.jsonl from the QASA release, one object a line with \
                 input, answer, ctxs (the paper's paragraphs) and gold_ctxs, and put it in single_paper_tasks"
            }
            _ => "pass --data with the folder of ScholarQABench's files, or with the file itself",
        }
    }

    /// Whether the passages of one paper suffice: five are shown, and there is no loop.
    pub fn is_single_paper(self) -> bool {
        matches!(self, Self::SciFact | Self::PubMedQa | Self::Qasa)
    }

    /// The two answers of a classification task.
    pub fn labels(self) -> Option<[&'static str; 2]> {
        self.variant(false).labels()
    }

    /// What the pipeline is asked for; `gold` when the deciding paragraphs are given.
    pub fn variant(self, gold: bool) -> Task {
        match (self, gold) {
            (Self::SciFact, false) => Task::ClaimFull,
            (Self::SciFact, true) => Task::ClaimGold,
            (Self::PubMedQa, false) => Task::BooleanQuestionFull,
            (Self::PubMedQa, true) => Task::BooleanQuestionGold,
            (Self::Qasa, _) => Task::SinglePaperQa,
            (Self::RelatedWork, _) => Task::Summarization,
            (Self::Cs | Self::Multi | Self::Bio | Self::Neuro, _) => Task::Default,
        }
    }

    /// Strictly before which day evidence must have been published, where an item does not say.
    ///
    /// Ours: the papers evaluate on a datastore that ends there, and a later paper could be the question's own source.
    pub fn cutoff(self) -> Option<Date> {
        match self {
            Self::RelatedWork => None,
            _ => Some(DATASTORE_CUTOFF),
        }
    }

    /// What is measured. Source: arXiv 2411.14199, table 1 and §4.2.
    pub fn measures(self) -> Measures {
        let measures = |correctness| Measures {
            correctness,
            long_citations: !self.is_single_paper() || self == Self::Qasa,
            aspects: self == Self::Multi,
        };
        match self {
            Self::SciFact | Self::PubMedQa => measures(Correctness::Label),
            Self::Qasa | Self::Multi | Self::RelatedWork => measures(Correctness::Overlap),
            Self::Cs => measures(Correctness::Rubric),
            Self::Bio | Self::Neuro => measures(Correctness::None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_are_what_files_say() {
        for task in BenchTask::ALL {
            assert_eq!(BenchTask::named(task.name()), Some(task));
            let json = serde_json::to_string(&task).expect("serialises");
            assert_eq!(json, format!("{:?}", task.name()));
        }
        assert_eq!(BenchTask::named("SciFact"), None);
        assert_eq!(BenchTask::SciFact.labels(), Some(["true", "false"]));
        assert_eq!(BenchTask::Multi.labels(), None);
    }
}
