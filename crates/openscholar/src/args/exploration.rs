//! Switches of SciRAG, of `ask` and as ablations of `bench run`.

use clap::{ArgAction, Args as ClapArgs, ValueEnum};
use scholar_bench::scholarqa::Exploration;
use scholar_pipeline::config::scirag::{
    CandidateRanking, DEEPEST, Expansion, SciragConfig, TreeShape,
};

/// Switches of `--mode scirag`, or `--system scirag`.
#[derive(Debug, Clone, Default, PartialEq, Eq, ClapArgs)]
#[command(next_help_heading = "SciRAG")]
pub(crate) struct ExplorationArgs {
    /// Plan the answer with an outline [default: on].
    #[arg(long, value_name = "on|off", action = ArgAction::Set, value_parser = on_or_off)]
    pub(crate) planner: Option<bool>,
    /// How the tree of sub-questions grows [default: adaptive].
    #[arg(long, value_enum, value_name = "SHAPE")]
    pub(crate) tree: Option<TreeArg>,
    /// Levels of sub-questions below the first answer, 0 to 4 [default: the preset's].
    #[arg(long, value_name = "N", value_parser = depth)]
    pub(crate) max_depth: Option<usize>,
    /// When references and citing papers of what was found are candidates too [default: adaptive].
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) expansion: Option<ExpansionArg>,
    /// What chooses among the candidates of a sub-question [default: symbolic].
    #[arg(long, value_enum, value_name = "BY")]
    pub(crate) rerank: Option<RerankArg>,
}

/// Shapes of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeArg {
    /// As the critic asks: several sub-questions broaden, one deepens.
    Adaptive,
    /// One sub-question at a time, each below the last.
    Sequential,
    /// One level, of any breadth.
    Parallel,
}

/// When the citation graph is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExpansionArg {
    /// When what was found is not enough.
    Adaptive,
    /// For every sub-question.
    Always,
    /// For none.
    Never,
}

/// What chooses among candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RerankArg {
    /// The model: roles, relations and reasons.
    Symbolic,
    /// The reranker's scores.
    Dense,
}

impl ExplorationArgs {
    /// Whether no switch is given.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is taken out of a benchmark's system, or exchanged in it.
    pub(crate) fn ablation(&self) -> Exploration {
        let Self { planner, tree, max_depth, expansion, rerank } = self;
        Exploration {
            no_planner: *planner == Some(false),
            tree: tree.map(Into::into),
            max_depth: *max_depth,
            expansion: expansion.map(Into::into),
            rerank: rerank.map(Into::into),
        }
    }

    /// Puts the switches that are given into `config`.
    pub(crate) fn apply(&self, config: &mut SciragConfig) {
        let Self { planner, tree, max_depth, expansion, rerank } = self;
        config.planner = planner.unwrap_or(config.planner);
        config.max_depth = max_depth.unwrap_or(config.max_depth);
        config.tree = tree.map_or(config.tree, Into::into);
        config.expansion = expansion.map_or(config.expansion, Into::into);
        config.rerank = rerank.map_or(config.rerank, Into::into);
    }
}

impl From<TreeArg> for TreeShape {
    fn from(tree: TreeArg) -> Self {
        match tree {
            TreeArg::Adaptive => Self::Adaptive,
            TreeArg::Sequential => Self::Sequential,
            TreeArg::Parallel => Self::Parallel,
        }
    }
}

impl From<ExpansionArg> for Expansion {
    fn from(expansion: ExpansionArg) -> Self {
        match expansion {
            ExpansionArg::Adaptive => Self::Adaptive,
            ExpansionArg::Always => Self::Always,
            ExpansionArg::Never => Self::Never,
        }
    }
}

impl From<RerankArg> for CandidateRanking {
    fn from(rerank: RerankArg) -> Self {
        match rerank {
            RerankArg::Symbolic => Self::Symbolic,
            RerankArg::Dense => Self::Dense,
        }
    }
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err("write on or off".to_owned()),
    }
}

fn depth(text: &str) -> Result<usize, String> {
    let depth = text.parse().ok().filter(|depth| *depth <= DEEPEST);
    depth.ok_or_else(|| format!("write a whole number from 0 to {DEEPEST}"))
}
