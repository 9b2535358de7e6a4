//! Systems under test: one of the pipeline's modes, over stored or given passages, perhaps with a part taken out.

use std::fmt;

use scholar_core::PaperId;
use scholar_core::text::normalise::{lower_first, title_key};
use scholar_core::{AnswerMode, SearchFilter, SearchMode};
use scholar_pipeline::config::scirag::{CandidateRanking, Expansion, SciragConfig, TreeShape};
use scholar_pipeline::config::{AskConfig, PosthocMode};
use scholar_pipeline::modes::evidence::EvidenceIs;
use scholar_pipeline::modes::{self, MODES, Mode};
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
    /// The passages that come with the item.
    Given,
    /// Nowhere: the model answers without passages.
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

/// Names of systems that are no mode with `+gold` or nothing behind it.
const OWN_NAMES: [(&str, System, &str); 2] = [
    (
        "model-alone",
        System { mode: AnswerMode::NoRetrieval, contexts: ContextSource::None, server_only: true },
        "the model of a server alone",
    ),
    (
        "gold-context",
        System { mode: AnswerMode::SinglePass, contexts: ContextSource::Given, server_only: false },
        "one draft over the item's own passages",
    ),
];

impl System {
    /// Every system with its name and what it is, in the order of help texts: each mode of the pipeline, over the item's own
    /// passages too where the mode reads any, and [`OWN_NAMES`].
    pub fn all() -> Vec<(String, Self, String)> {
        let system = |mode: &Mode, contexts| Self { mode: mode.id, contexts, server_only: false };
        let mut all = Vec::new();
        for mode in MODES {
            let contexts =
                if mode.retrieves { ContextSource::Retrieved } else { ContextSource::None };
            all.push((mode.name.to_owned(), system(mode, contexts), lower_first(mode.summary)));
        }
        let own =
            OWN_NAMES.map(|(name, system, summary)| (name.to_owned(), system, summary.to_owned()));
        all.extend(own);
        for mode in MODES.iter().filter(|mode| mode.retrieves) {
            let system = system(mode, ContextSource::Given);
            if !all.iter().any(|(_, known, _)| *known == system) {
                let summary = format!("{} mode over the item's own passages", mode.name);
                all.push((format!("{}+gold", mode.name), system, summary));
            }
        }
        all
    }

    /// The system called `name`, which may be an alias of its mode.
    pub fn named(name: &str) -> Option<Self> {
        let known = Self::all().into_iter().find(|(known, ..)| known == name);
        known.map(|(_, system, _)| system).or_else(|| {
            let (mode, gold) = match name.strip_suffix("+gold") {
                Some(mode) => (modes::named(mode).filter(|mode| mode.retrieves)?, true),
                None => (modes::named(name)?, false),
            };
            let contexts = match (gold, mode.retrieves) {
                (true, _) => ContextSource::Given,
                (false, true) => ContextSource::Retrieved,
                (false, false) => ContextSource::None,
            };
            Some(Self { mode: mode.id, contexts, server_only: false })
        })
    }

    /// All names, for messages.
    pub fn names() -> String {
        let names: Vec<String> = Self::all().into_iter().map(|(name, ..)| name).collect();
        names.join(", ")
    }

    /// Why `task` cannot be asked of this system; `None` when it can.
    pub fn refuses(self, task: BenchTask, items: &[Item]) -> Option<String> {
        let mode = modes::of(self.mode);
        if !mode.labels && task.labels().is_some() {
            return Some(format!(
                "{} mode gives sentences, no label, and {} asks for one",
                mode.name,
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

    /// Why `ablation` would take nothing out of this system; `None` when it would.
    pub fn lacks(self, ablation: &Ablation) -> Option<&'static str> {
        let Ablation { no_rerank, no_feedback, no_verification, search, top_n, top_k, exploration } =
            ablation;
        let retrieval = *no_rerank || search.is_some() || top_n.is_some() || top_k.is_some();
        if let Some(why) = self.lacks_exploration(exploration) {
            return Some(why);
        }
        match self.mode {
            AnswerMode::Scirag if *no_feedback && SciragConfig::default().refine_rounds == 0 => {
                Some("its preset has no rounds of feedback")
            }
            AnswerMode::Evidence if *no_verification => Some(
                "it shows sentences of its sources word for word: there is no citation to verify",
            ),
            AnswerMode::SinglePass if *no_feedback => Some("one draft has no feedback"),
            AnswerMode::NoRetrieval if *no_feedback || *no_verification || retrieval => {
                Some("the model alone retrieves, revises and verifies nothing")
            }
            _ if self.contexts == ContextSource::Given && (search.is_some() || top_k.is_some()) => {
                Some("the passages are given, not searched for")
            }
            _ => None,
        }
    }

    fn lacks_exploration(self, exploration: &Exploration) -> Option<&'static str> {
        if exploration.is_whole() {
            return None;
        }
        if self.mode != AnswerMode::Scirag {
            return Some("only scirag plans, grows a tree and asks the citation graph");
        }
        let asks_graph =
            exploration.expansion.is_some_and(|expansion| expansion != Expansion::Never);
        (self.contexts == ContextSource::Given && asks_graph)
            .then_some("the passages are given: there is no citation graph to ask")
    }
}

/// Parts of `SciRAG` that are taken out or exchanged. Source: arXiv 2511.14362, tables 4 and 7; specification A10.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exploration {
    /// No outline is planned.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_planner: bool,
    /// How the tree may grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeShape>,
    /// Levels of sub-questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<usize>,
    /// When the citation graph is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansion: Option<Expansion>,
    /// What chooses among candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<CandidateRanking>,
}

impl Exploration {
    /// Whether nothing is changed.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    fn apply(&self, config: &mut SciragConfig) {
        let Self { no_planner, tree, max_depth, expansion, rerank } = self;
        config.planner &= !no_planner;
        config.tree = tree.unwrap_or(config.tree);
        config.max_depth = max_depth.unwrap_or(config.max_depth);
        config.expansion = expansion.unwrap_or(config.expansion);
        config.rerank = rerank.unwrap_or(config.rerank);
    }

    /// What differs, in words.
    fn parts(&self) -> Vec<String> {
        let Self { no_planner, tree, max_depth, expansion, rerank } = self;
        let mut parts: Vec<String> = Vec::new();
        if *no_planner {
            parts.push("no planner".to_owned());
        }
        parts.extend(tree.map(|tree| match tree {
            TreeShape::Adaptive => "adaptive tree".to_owned(),
            TreeShape::Sequential => "sequential tree".to_owned(),
            TreeShape::Parallel => "parallel tree".to_owned(),
        }));
        parts.extend(max_depth.map(|depth| format!("depth {depth}")));
        parts.extend(expansion.map(|expansion| match expansion {
            Expansion::Adaptive => "expansion where it is needed".to_owned(),
            Expansion::Always => "expansion always".to_owned(),
            Expansion::Never => "no expansion".to_owned(),
        }));
        parts.extend(rerank.map(|rerank| match rerank {
            CandidateRanking::Symbolic => "symbolic rerank".to_owned(),
            CandidateRanking::Dense => "dense rerank".to_owned(),
        }));
        parts
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::all().into_iter().find(|(_, system, _)| system == self);
        f.write_str(&found.map_or_else(|| "custom".to_owned(), |(name, ..)| name))
    }
}

/// Parts taken out of our pipeline, and settings that are swept. Source: arXiv 2411.14199, figure of ablations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ablation {
    /// Passages stay in retrieval order.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_rerank: bool,
    /// The draft is not revised: no feedback items, in evidence mode no rounds of checks.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_feedback: bool,
    /// No citation is added, exchanged or taken away after the text is written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_verification: bool,
    /// Which indexes are searched, in place of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchMode>,
    /// Passages shown; in evidence mode, passages that sentences are selected from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_n: Option<usize>,
    /// Candidates kept of each search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<usize>,
    /// Parts of `SciRAG`.
    #[serde(skip_serializing_if = "Exploration::is_whole")]
    pub exploration: Exploration,
}

impl fmt::Display for Ablation {
    /// What differs from the whole system, or `whole`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { no_rerank, no_feedback, no_verification, search, top_n, top_k, exploration } =
            self;
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
        parts.extend(exploration.parts());
        f.write_str(if parts.is_empty() { "whole" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

/// The settings that `item` is asked with. Temperature is 0, so that a run can be repeated.
///
/// Single-paper tasks follow the paper's choices for them; the others its loop. Generative systems run the loop on every
/// task but those that ask for a label. A frozen set is searched once, with the question alone; given passages are all
/// there is, so that feedback revises without searching.
pub fn config_of(
    task: BenchTask,
    system: System,
    ablation: &Ablation,
    frozen: bool,
    seed: u64,
) -> AskConfig {
    let given = system.contexts == ContextSource::Given;
    let variant = task.variant(given && system.mode == AnswerMode::SinglePass);
    let mut config = if system.mode == AnswerMode::Scirag {
        AskConfig::scirag(SciragConfig::default(), variant)
    } else if task.is_single_paper() || given {
        AskConfig::single_paper_task(variant)
    } else {
        AskConfig::paper()
    };
    config.task = variant;
    config.mode = system.mode.into();
    if given && !task.is_single_paper() {
        config.ranking.top_n = scholar_pipeline::config::TOP_N;
    }
    if frozen || given {
        config.retrieval.keywords = 0;
    }
    if given {
        config.evidence.evidence_is = EvidenceIs::Given;
        config.feedback.retrieve = false;
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
    config.scirag.sampling.at_temperature(0.0);
    ablate(&mut config, system.mode, ablation);
    config
}

/// Each switch changes one setting of the mode, but for two: the paper's step "citation verification" inserts citations and
/// checks them, and more passages than are searched for cannot be shown.
fn ablate(config: &mut AskConfig, mode: AnswerMode, ablation: &Ablation) {
    // Who reranks is a matter of the ports.
    let Ablation { no_rerank: _, no_feedback, no_verification, search, top_n, top_k, exploration } =
        ablation;
    let digests = mode == AnswerMode::Evidence;
    if *no_feedback {
        if digests {
            config.evidence.checks.rounds = 0;
        } else if mode == AnswerMode::Scirag {
            config.scirag.refine_rounds = 0;
        } else {
            config.feedback.items = 0;
        }
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
        if digests {
            config.evidence_pool = *top_n;
        } else {
            config.ranking.top_n = *top_n;
        }
        config.retrieval.top_k = config.retrieval.top_k.max(*top_n);
    }
    exploration.apply(&mut config.scirag);
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
    fn names_are_those_of_the_modes_and_read_back() {
        let names = "generative, scirag, evidence, single-pass, no-retrieval, model-alone, gold-context, generative+gold, scirag+gold, evidence+gold";
        assert_eq!(System::names(), names);
        for (name, system, _) in System::all() {
            assert_eq!(System::named(&name).expect("known"), system);
            assert_eq!(system.to_string(), name);
        }
        assert_eq!(System::named("single-pass+gold"), System::named("gold-context"));
        assert_eq!(System::named("closed-book"), System::named("no-retrieval"));
        assert_eq!((System::named("gpt"), System::named("no-retrieval+gold")), (None, None));
        assert_eq!(Ablation::default().to_string(), "whole");
        let both = Ablation { no_rerank: true, top_n: Some(5), ..Ablation::default() };
        assert_eq!(both.to_string(), "no rerank, top 5");
    }

    #[test]
    fn generative_systems_run_the_loop_also_on_given_passages_and_one_paper() {
        let whole = Ablation::default();
        for (task, system, searches) in [
            (BenchTask::Qasa, "generative", true),
            (BenchTask::Qasa, "generative+gold", false),
            (BenchTask::Multi, "generative+gold", false),
        ] {
            let config = config(task, system, &whole);
            assert_eq!(config.mode, AnswerMode::Generative.into(), "{system}");
            assert_eq!(config.feedback.items, scholar_pipeline::config::FEEDBACK_ITEMS, "{system}");
            assert_eq!(config.feedback.retrieve, searches, "{system}");
            assert_ne!(config.posthoc, PosthocMode::None, "{system}");
        }
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
        let alone = config(BenchTask::Multi, "no-retrieval", &whole);
        assert_eq!(alone.mode, AnswerMode::NoRetrieval.into());
    }

    /// The settings in which two configurations differ, as paths.
    fn differences(a: &AskConfig, b: &AskConfig) -> Vec<String> {
        fn walk(path: &str, a: &serde_json::Value, b: &serde_json::Value, found: &mut Vec<String>) {
            match (a, b) {
                (serde_json::Value::Object(a), serde_json::Value::Object(b)) => {
                    for (key, value) in a {
                        walk(&format!("{path}.{key}"), value, &b[key], found);
                    }
                }
                _ if a != b => found.push(path.trim_start_matches('.').to_owned()),
                _ => {}
            }
        }
        let json = |config| serde_json::to_value(config).expect("serialises");
        let mut found = Vec::new();
        walk("", &json(a), &json(b), &mut found);
        found.sort_unstable();
        found
    }

    #[test]
    fn every_switch_changes_what_it_names_and_nothing_else() {
        let check = |system: &str, ablation: Ablation, expected: &[&str]| {
            let whole = config(BenchTask::Multi, system, &Ablation::default());
            let changed = differences(&whole, &config(BenchTask::Multi, system, &ablation));
            assert_eq!(changed, expected, "{system}: {ablation}");
        };
        let default = Ablation::default;
        let feedback = Ablation { no_feedback: true, ..default() };
        check("generative", feedback.clone(), &["feedback.items"]);
        check("generative+gold", feedback.clone(), &["feedback.items"]);
        check("evidence", feedback, &["evidence.checks.rounds"]);
        let verification = Ablation { no_verification: true, ..default() };
        check("generative", verification, &["posthoc", "proof.on_unsupported", "proof.uncited"]);
        let search = Ablation { search: Some(SearchMode::Lexical), ..default() };
        check("generative", search, &["retrieval.search_mode"]);
        check("generative", Ablation { top_k: Some(50), ..default() }, &["retrieval.top_k"]);
        check("generative", Ablation { top_n: Some(20), ..default() }, &["ranking.top_n"]);
        check("evidence", Ablation { top_n: Some(20), ..default() }, &["evidence_pool"]);
        let wide = Ablation { top_n: Some(200), ..default() };
        check("generative", wide, &["ranking.top_n", "retrieval.top_k"]);
        let explored = |exploration| Ablation { exploration, ..default() };
        let planner = Exploration { no_planner: true, ..Exploration::default() };
        check("scirag", explored(planner), &["scirag.planner"]);
        let tree = Exploration { tree: Some(TreeShape::Sequential), ..Exploration::default() };
        check("scirag", explored(tree), &["scirag.tree"]);
        let depth = Exploration { max_depth: Some(3), ..Exploration::default() };
        check("scirag", explored(depth), &["scirag.max_depth"]);
        let expansion = Exploration { expansion: Some(Expansion::Never), ..Exploration::default() };
        check("scirag", explored(expansion), &["scirag.expansion"]);
        let dense = Some(CandidateRanking::Dense);
        let rerank = Exploration { rerank: dense, ..Exploration::default() };
        check("scirag", explored(rerank), &["scirag.rerank"]);
        // Reranking is taken out of the ports.
        check("generative", Ablation { no_rerank: true, ..default() }, &[]);
    }

    #[test]
    fn a_switch_that_would_take_nothing_out_is_refused() {
        let check = |system: &str, ablation: Ablation| {
            System::named(system).expect("a system").lacks(&ablation).is_some()
        };
        let verification = Ablation { no_verification: true, ..Ablation::default() };
        let feedback = Ablation { no_feedback: true, ..Ablation::default() };
        assert!(
            check("evidence", verification.clone()) && check("evidence+gold", verification.clone())
        );
        assert!(!check("generative", verification.clone()) && check("no-retrieval", verification));
        assert!(check("single-pass", feedback.clone()) && !check("evidence", feedback));
        let search = Ablation { search: Some(SearchMode::Dense), ..Ablation::default() };
        assert!(check("gold-context", search.clone()) && !check("single-pass", search));
        assert!(!check("no-retrieval", Ablation::default()));
        let always = Exploration { expansion: Some(Expansion::Always), ..Exploration::default() };
        let flat = Exploration { max_depth: Some(0), ..Exploration::default() };
        let explored = |exploration| Ablation { exploration, ..Ablation::default() };
        assert_eq!(explored(flat.clone()).to_string(), "depth 0");
        assert!(!check("scirag", explored(always.clone())));
        assert!(check("scirag+gold", explored(always.clone())), "no graph of given passages");
        assert!(!check("scirag+gold", explored(flat.clone())));
        assert!(check("generative", explored(always)) && check("evidence", explored(flat)));
    }

    #[test]
    fn scirag_has_its_preset_for_every_task_and_draws_nothing_at_random() {
        for task in BenchTask::ALL {
            let config = config(task, "scirag", &Ablation::default());
            assert_eq!(config.mode, AnswerMode::Scirag.into());
            let variant = task.variant(false);
            let mut preset = AskConfig::scirag(SciragConfig::default(), variant);
            preset.scirag.sampling.at_temperature(0.0);
            assert_eq!((&config.scirag, config.task), (&preset.scirag, variant), "{task:?}");
            assert_eq!(config.ranking, preset.ranking, "{task:?}");
            let value = serde_json::to_value(&config.scirag.sampling).expect("serialises");
            let calls = value.as_object().expect("calls").values();
            assert!(calls.into_iter().all(|call| call["temperature"] == 0.0), "{value}");
        }
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
