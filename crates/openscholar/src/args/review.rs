//! Options of `review`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use jiff::civil::Date;
use scholar_review::{ModeWanted, ModulesWanted};

use super::{AnswerArgs, OutputFormat};

/// Review a research idea against the literature, claim by claim.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReviewArgs {
    /// File with the idea: Markdown, text, PDF or DOCX; `-` reads text from standard input.
    #[arg(required_unless_present_any = ["resume", "dry_run"])]
    pub(crate) idea: Option<String>,
    /// Resume an interrupted or failed review from its journal, with its settings, models and server. A budget, server or
    /// output given here overrides the run's.
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = [
            "idea", "preset", "module", "mode", "points", "cutoff", "include_unknown", "datastore", "search", "seed",
            "sources", "full_texts", "settings",
        ]
    )]
    pub(crate) resume: Option<String>,
    /// Take replies from the journal of this earlier review where the same is asked of the same models: another setting then costs
    /// only what it changes.
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    pub(crate) reuse: Option<String>,
    /// Ask no model: count calls and tokens of the preset, all prompts rendered over the evidence of this review, whose texts
    /// stand in for replies.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["idea", "resume", "module", "mode", "cutoff", "include_unknown"])]
    pub(crate) dry_run: Option<String>,
    /// What to review.
    #[arg(long, value_enum, default_value_t = ModuleArg::Both)]
    pub(crate) module: ModuleArg,
    /// Read only papers from before this date (YYYY-MM-DD), undated ones left out.
    #[arg(long, value_name = "DATE")]
    pub(crate) cutoff: Option<Date>,
    /// Read papers without a date, too.
    #[arg(long, requires = "cutoff")]
    pub(crate) include_unknown: bool,
    /// How the review is written.
    #[arg(long, value_enum, default_value_t = ReviewModeArg::Auto)]
    pub(crate) mode: ReviewModeArg,
    /// Most points about the plan itself, each with the words of the idea that it is about; 0 asks for none. It takes a
    /// language model. Preset lean: 24, paper and upstream: 0.
    #[arg(long, value_name = "N")]
    pub(crate) points: Option<u8>,
    /// Preset of settings: lean (at most 60 model calls), paper, upstream (as released; the day of the cut-off is read too).
    #[arg(long, default_value = "lean", value_name = "NAME")]
    pub(crate) preset: String,
    /// Models, retrieval settings and budget.
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Random seed of all sampling.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Output format, of the review or only its references.
    #[arg(long, value_enum)]
    pub(crate) format: Option<OutputFormat>,
    /// Citation style: apa, ieee, vancouver, nature, chicago, acm, any name of the CSL repository, or a .csl file.
    #[arg(long, value_name = "NAME", requires = "format")]
    pub(crate) style: Option<String>,
    /// Also write the review to this file.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The halves of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModuleArg {
    /// Soundness and contribution.
    Both,
    /// Whether the literature supports the methods.
    Soundness,
    /// What is new beside the nearest work.
    Contribution,
}

impl From<ModuleArg> for ModulesWanted {
    fn from(module: ModuleArg) -> Self {
        match module {
            ModuleArg::Both => Self::Both,
            ModuleArg::Soundness => Self::Soundness,
            ModuleArg::Contribution => Self::Contribution,
        }
    }
}

/// How a review is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewModeArg {
    /// Generative with a strong model, evidence otherwise.
    Auto,
    /// By a model, every sentence about a paper checked.
    Generative,
    /// By code: verbatim evidence, nothing scored.
    Evidence,
}

impl From<ReviewModeArg> for ModeWanted {
    fn from(mode: ReviewModeArg) -> Self {
        match mode {
            ReviewModeArg::Auto => Self::Auto,
            ReviewModeArg::Generative => Self::Generative,
            ReviewModeArg::Evidence => Self::Evidence,
        }
    }
}
