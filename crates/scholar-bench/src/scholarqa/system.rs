//! Systems under test: one of the pipeline's modes, over stored or given passages, perhaps with a part taken out.

use std::fmt;

use scholar_core::PaperId;
use scholar_core::text::normalise::title_key;
use scholar_core::{AnswerMode, SearchFilter, SearchMode};
use scholar_pipeline::ModeChoice;
use scholar_pipeline::config::{AskConfig, PosthocMode};
use scholar_pipeline::modes::evidence::EvidenceIs;
use scholar_pipeline::proof::ProofConfig;
use serde::{Deserialize, Serialize};

use super::item::Item;
use super::task::BenchTask;

/// Where a system's passages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextSource {
    /// A datastore, or a frozen set of what one returned.
    Retrieved,
    /// The item's own.
    Given,
    /// There are none.
    None,
}

/// A system of this program. Predictions of another system come as a file instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// How the answer is written.
    pub mode: AnswerMode,
    /// Where passages come from.
    pub contexts: ContextSource,
    /// The model must be one behind a server.
    pub server_only: bool,
}

impl System {
    /// Names with what they are, in the order of help texts.
    pub const NAMES: [(&'static str, &'static str); 8] = [
        ("evidence", "verbatim sentences selected in code"),
        ("generative", "draft, feedback, revision, verification"),
        ("single-pass", "one draft over retrieved passages (RAG)"),
        ("no-retrieval", "the model alone"),
        ("model-alone", "the model of a server alone"),
        ("gold-context", "one draft over the item's own passages"),
        ("evidence+gold", "evidence mode over the item's own passages"),
        ("generative+gold", "the whole loop over the item's own passages"),
    ];

    /// The system called `name`.
    pub fn named(name: &str) -> Option<Self> {
        use ContextSource::{Given, Retrieved};
        let system = |mode, contexts| Some(Self { mode, contexts, server_only: false });
        match name {
            "evidence" => system(AnswerMode::Evidence, Retrieved),
            "generative" => system(AnswerMode::Generative, Retrieved),
            "single-pass" => system(AnswerMode::SinglePass, Retrieved),
            "no-retrieval" => system(AnswerMode::NoRetrieval, ContextSource::None),
            "model-alone" => Some(Self {
                mode: AnswerMode::NoRetrieval,
                contexts: ContextSource::None,
                server_only: true,
            }),
            "gold-context" => system(AnswerMode::SinglePass, Given),
            "evidence+gold" => system(AnswerMode::Evidence, Given),
            "generative+gold" => system(AnswerMode::Generative, Given),
            _ => None,
        }
    }

    /// All names, for messages.
    pub fn names() -> String {
        let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// Whether a model must write.
    pub fn needs_generator(self) -> bool {
        self.mode != AnswerMode::Evidence
    }

    /// Why `task` cannot be asked of this system; `None` when it can.
    pub fn refuses(self, task: BenchTask, items: &[Item]) -> Option<String> {
        if self.mode == AnswerMode::Evidence && task.labels().is_some() {
            return Some(format!(
                "evidence mode gives sentences, no label, and {} asks for one",
                task.title()
            ));
        }
        let bare = items.iter().find(|item| item.contexts.is_empty());
        match (self.contexts, bare) {
            (ContextSource::Given, Some(item)) => {
                Some(format!("{} has no passages of its own (item {})", task.title(), item.id))
            }
            _ => None,
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::NAMES.iter().find(|(name, _)| Self::named(name) == Some(*self));
        f.write_str(found.map_or("custom", |(name, _)| name))
    }
}

/// Parts taken out of our pipeline, and settings that are swept. Source: arXiv 2411.14199, figure of ablations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ablation {
    /// Passages stay in retrieval order.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_rerank: bool,
    /// Nothing is revised.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_feedback: bool,
    /// No citation is added, exchanged or taken away after the text is written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_verification: bool,
    /// One index alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchMode>,
    /// Passages shown; in evidence mode, passages that sentences are selected from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_n: Option<usize>,
    /// Candidates kept of each search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<usize>,
}

impl fmt::Display for Ablation {
    /// What differs from the whole system, or `whole`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { no_rerank, no_feedback, no_verification, search, top_n, top_k } = self;
        let mut parts: Vec<String> = Vec::new();
        let flags = [
            (no_rerank, "no rerank"),
            (no_feedback, "no feedback"),
            (no_verification, "no verification"),
        ];
        parts.extend(flags.iter().filter(|(on, _)| **on).map(|(_, name)| (*name).to_owned()));
        match search {
            Some(SearchMode::Lexical) => parts.push("lexical only".to_owned()),
            Some(SearchMode::Dense) => parts.push("dense only".to_owned()),
            Some(SearchMode::Hybrid) | None => {}
        }
        parts.extend(top_n.map(|n| format!("top {n}")));
        parts.extend(top_k.map(|k| format!("{k} candidates")));
        f.write_str(if parts.is_empty() { "whole" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

/// The settings that `item` is asked with. Temperature is 0, so that a run can be repeated.
///
/// Single-paper tasks follow the paper's choices for them; the others its loop. A frozen set is searched once, with the
/// question alone.
pub fn config_of(
    task: BenchTask,
    system: System,
    ablation: &Ablation,
    frozen: bool,
    seed: u64,
) -> AskConfig {
    let given = system.contexts == ContextSource::Given;
    let variant = task.variant(given && system.mode == AnswerMode::SinglePass);
    let mut config = if task.is_single_paper() || given {
        AskConfig::single_paper_task(variant)
    } else {
        AskConfig::paper()
    };
    config.task = variant;
    config.mode = match system.mode {
        AnswerMode::Evidence => ModeChoice::Evidence,
        AnswerMode::Generative => ModeChoice::Generative,
        AnswerMode::SinglePass => ModeChoice::SinglePass,
        AnswerMode::NoRetrieval => ModeChoice::NoRetrieval,
    };
    if given && !task.is_single_paper() {
        config.ranking.top_n = scholar_pipeline::config::TOP_N;
    }
    if frozen || given {
        config.retrieval.keywords = 0;
    }
    if given {
        config.evidence.evidence_is = EvidenceIs::Given;
    }
    config.sampling.seed = Some(seed);
    for call in [
        &mut config.sampling.answer,
        &mut config.sampling.feedback,
        &mut config.sampling.edit,
        &mut config.sampling.posthoc,
        &mut config.sampling.keywords,
    ] {
        call.temperature = 0.0;
    }
    ablate(&mut config, ablation);
    config
}

fn ablate(config: &mut AskConfig, ablation: &Ablation) {
    // Who reranks is a matter of the ports.
    let Ablation { no_rerank: _, no_feedback, no_verification, search, top_n, top_k } = ablation;
    if *no_feedback {
        config.feedback.items = 0;
        config.evidence.checks.rounds = 0;
    }
    if *no_verification {
        config.proof = ProofConfig::report_only();
        config.posthoc = PosthocMode::None;
    }
    if let Some(mode) = search {
        config.retrieval.search_mode = *mode;
    }
    if let Some(top_k) = top_k {
        config.retrieval.top_k = *top_k;
    }
    if let Some(top_n) = top_n {
        config.ranking.top_n = *top_n;
        config.evidence_pool = *top_n;
        config.retrieval.top_k = config.retrieval.top_k.max(*top_n);
    }
}

/// What evidence for `item` may be: published before its day, and not the paper that it was made from.
pub fn filter_of(item: &Item, before: Option<jiff::civil::Date>) -> SearchFilter {
    let mut filter = SearchFilter::none();
    filter.published_before = item.before.or(before);
    filter.exclude_titles = item.own_title.iter().map(|title| title_key(title)).collect();
    filter.exclude = item.own_arxiv.iter().filter_map(|id| PaperId::arxiv(id).ok()).collect();
    filter
}

#[cfg(test)]
mod tests {
    use super::*;
    use scholar_pipeline::Task;

    fn config(task: BenchTask, name: &str, ablation: &Ablation) -> AskConfig {
        config_of(task, System::named(name).expect(name), ablation, false, 1)
    }

    #[test]
    fn names_read_back() {
        for (name, _) in System::NAMES {
            assert_eq!(System::named(name).expect(name).to_string(), name);
        }
        assert_eq!(System::named("gpt"), None);
        assert_eq!(Ablation::default().to_string(), "whole");
        let both = Ablation { no_rerank: true, top_n: Some(5), ..Ablation::default() };
        assert_eq!(both.to_string(), "no rerank, top 5");
    }

    #[test]
    fn a_task_is_asked_as_published() {
        let whole = Ablation::default();
        let scifact = config(BenchTask::SciFact, "single-pass", &whole);
        assert_eq!((scifact.task, scifact.ranking.top_n), (Task::ClaimFull, 5));
        assert_eq!(config(BenchTask::SciFact, "gold-context", &whole).task, Task::ClaimGold);
        let multi = config(BenchTask::Multi, "generative", &whole);
        assert_eq!((multi.task, multi.ranking.top_n, multi.feedback.items), (Task::Default, 10, 3));
        assert!(multi.sampling.answer.temperature.abs() < 1e-9);
        let gold = config(BenchTask::Multi, "gold-context", &whole);
        assert_eq!((gold.ranking.top_n, gold.ranking.max_per_paper), (10, None));
        assert_eq!(config(BenchTask::Multi, "no-retrieval", &whole).mode, ModeChoice::NoRetrieval);
    }

    #[test]
    fn every_switch_changes_what_it_names() {
        let whole = config(BenchTask::Multi, "generative", &Ablation::default());
        let with = |ablation: Ablation| config(BenchTask::Multi, "generative", &ablation);
        let default = Ablation::default;
        let feedback = with(Ablation { no_feedback: true, ..default() });
        assert_eq!(feedback.feedback.items, 0);
        let verification = with(Ablation { no_verification: true, ..default() });
        assert_eq!(verification.proof, ProofConfig::report_only());
        assert_ne!(verification.proof, whole.proof);
        let lexical = with(Ablation { search: Some(SearchMode::Lexical), ..default() });
        assert_eq!(lexical.retrieval.search_mode, SearchMode::Lexical);
        let wide = with(Ablation { top_n: Some(200), ..default() });
        assert_eq!((wide.ranking.top_n, wide.retrieval.top_k, wide.evidence_pool), (200, 200, 200));
    }

    #[test]
    fn labels_and_missing_passages_are_refused() {
        let evidence = System::named("evidence").expect("a system");
        assert!(evidence.refuses(BenchTask::SciFact, &[]).expect("refused").contains("no label"));
        assert_eq!(evidence.refuses(BenchTask::Bio, &[]), None);
        let gold = System::named("gold-context").expect("a system");
        let items = [Item::new(BenchTask::Bio, "bio_0", "Why?")];
        assert!(gold.refuses(BenchTask::Bio, &items).expect("refused").contains("bio_0"));
    }

    #[test]
    fn an_item_excludes_its_own_paper_and_the_future() {
        let mut item = Item::new(BenchTask::RelatedWork, "2504.18383v1", "abstract");
        item.before = Some(jiff::civil::date(2025, 4, 25));
        item.own_title = Some("Bridge the Domains".to_owned());
        item.own_arxiv = Some("2504.18383v1".to_owned());
        let filter = filter_of(&item, BenchTask::RelatedWork.cutoff());
        assert_eq!(filter.published_before, item.before);
        assert!(filter.exclude_titles.contains(&title_key("BRIDGE the domains.")));
        assert!(filter.exclude.contains(&PaperId::Arxiv("2504.18383".to_owned())));
        let other = filter_of(&Item::new(BenchTask::Bio, "a", "b"), BenchTask::Bio.cutoff());
        assert_eq!(other.published_before, Some(super::super::task::DATASTORE_CUTOFF));
    }
}
