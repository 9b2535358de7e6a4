//! Options of `ask`, and the filters it shares with `search`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, ValueEnum};
use jiff::civil::Date;
use scholar_core::PaperId;
use scholar_core::licence::licence_key;
use scholar_core::text::normalise::title_key;
use scholar_pipeline::ModeChoice;
use scholar_pipeline::modes::{self, MODES};

use super::{AnswerArgs, ExplorationArgs};

/// Answer a question, with a located quotation for every citation.
#[derive(Debug, ClapArgs)]
pub(crate) struct AskArgs {
    /// The question; `-` reads it from standard input.
    #[arg(required_unless_present = "resume")]
    pub(crate) question: Option<String>,
    /// Resume an interrupted or failed run from its journal, with the run's settings, models and server. A budget, server or
    /// output given here overrides the run's.
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = [
            "question", "preset", "length", "plan", "mode", "task", "datastore", "top_k", "top_n", "search", "norm_cite", "feedback",
            "seed", "before", "year_from", "year_to", "venue", "min_citations", "licence",
            "without_retracted", "paper", "exclude", "exclude_title", "sources", "full_texts", "settings",
            "planner", "tree", "max_depth", "expansion", "rerank",
        ]
    )]
    pub(crate) resume: Option<String>,
    /// Follow up on an earlier question, of this run [default: the last]: the question is made whole from the thread, passages
    /// that earlier answers quote are candidates, and references keep their numbers. Searches the datastore of that run
    /// unless --datastore names another.
    #[arg(
        long,
        value_name = "RUN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "last",
        conflicts_with = "resume"
    )]
    pub(crate) follow_up: Option<String>,
    /// Answer mode.
    #[arg(long, value_parser = mode_parser(), default_value = AUTO)]
    pub(crate) mode: ModeChoice,
    /// Kind of answer.
    #[arg(long, value_enum, default_value_t = TaskArg::Default)]
    pub(crate) task: TaskArg,
    /// Preset of settings: report, paper, nature, single-paper, upstream. All but report write long answers in the
    /// published form. With --mode scirag: report, paper, upstream, lean, all of which write reports.
    #[arg(long, default_value = "report", value_name = "NAME")]
    pub(crate) preset: String,
    /// Length of a generative answer [default: medium].
    #[arg(long, value_enum, value_name = "LENGTH")]
    pub(crate) length: Option<LengthArg>,
    /// What a generative answer is written from [default: draft].
    #[arg(long, value_enum, value_name = "PLAN")]
    pub(crate) plan: Option<PlanArg>,
    /// How SciRAG explores.
    #[command(flatten)]
    pub(crate) exploration: ExplorationArgs,
    /// Models, retrieval settings and budget.
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Add normalised citation counts (count / maximum) to a cross-encoder's scores; `--norm-cite=false` does not.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) norm_cite: Option<bool>,
    /// Maximum number of feedback items.
    #[arg(long, value_name = "N")]
    pub(crate) feedback: Option<usize>,
    /// Random seed of all sampling.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Output format, of the answer or only its references.
    #[arg(long, value_enum)]
    pub(crate) format: Option<OutputFormat>,
    /// Citation style: apa, ieee, vancouver, nature, chicago, acm, any name of the CSL repository, or a .csl
    /// file.
    #[arg(long, value_name = "NAME", requires = "format")]
    pub(crate) style: Option<String>,
    /// Print all events as JSON lines on standard output, the answer last.
    #[arg(long)]
    pub(crate) stream: bool,
    /// Also write the answer to this file.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Sign the proof with this private Ed25519 key in OpenSSH's format, without a passphrase.
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
    /// Add papers found in other sources to datastore NAME [default: the one searched].
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) save: Option<Option<String>>,
    /// Which papers may be used.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// Name of the choice of a mode by the generator's strength.
const AUTO: &str = "auto";

/// Reads the modes that the pipeline registers, and [`AUTO`].
fn mode_parser() -> impl TypedValueParser<Value = ModeChoice> {
    let auto = PossibleValue::new(AUTO).help(
        "Generative with a strong model, evidence-first otherwise; the answer says which and why",
    );
    let modes = MODES.iter().map(|mode| {
        PossibleValue::new(mode.name).aliases(mode.aliases.iter().copied()).help(mode.summary)
    });
    PossibleValuesParser::new(std::iter::once(auto).chain(modes)).map(|name: String| {
        modes::named(&name).map_or(ModeChoice::Auto, |mode| ModeChoice::Named(mode.id))
    })
}

/// Kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskArg {
    /// A cited answer from many papers.
    Default,
    /// Whether a claim is true or false.
    Claim,
    /// Yes or no to a question.
    Boolean,
    /// An answer from one paper.
    SinglePaper,
    /// A related-work section for an abstract.
    RelatedWork,
}

/// Lengths of generative answers, in words of their sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LengthArg {
    /// 350 to 550 words.
    Short,
    /// 900 to 1,300 words.
    Medium,
    /// 1,600 to 2,200 words.
    Long,
}

/// What a generative answer is written from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanArg {
    /// The passages: a draft, feedback, one revision.
    Draft,
    /// Verbatim quotations of the passages, ordered into an outline.
    Quotes,
}

/// Formats of answers, and of their references for reference managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Markdown.
    Markdown,
    /// BibTeX.
    Bibtex,
    /// RIS.
    Ris,
    /// CSL-JSON.
    Csl,
    /// HTML, a single file.
    Html,
    /// LaTeX, a single file.
    Latex,
    /// Word document; requires --output.
    Docx,
}

/// Conditions on papers; all must hold.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct FilterArgs {
    /// Only papers published strictly before this date (YYYY-MM-DD).
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<Date>,
    /// Only papers from this year or later.
    #[arg(long, value_name = "YEAR")]
    pub(crate) year_from: Option<i16>,
    /// Only papers from this year or earlier.
    #[arg(long, value_name = "YEAR")]
    pub(crate) year_to: Option<i16>,
    /// Only papers whose venue contains this text, ignoring case; repeatable.
    #[arg(long, value_name = "TEXT")]
    pub(crate) venue: Vec<String>,
    /// Only papers with at least N citations.
    #[arg(long, value_name = "N")]
    pub(crate) min_citations: Option<u32>,
    /// Only papers under this licence, for example cc-by, in any version unless one is named; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) licence: Vec<String>,
    /// Keep papers of which date, venue, citations or licence are not known, where a condition asks for them.
    #[arg(long)]
    pub(crate) include_unknown: bool,
    /// Exclude papers known to be retracted.
    #[arg(long)]
    pub(crate) without_retracted: bool,
    /// Only this paper, for example doi:10.1000/x; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) paper: Vec<PaperId>,
    /// Exclude this paper; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) exclude: Vec<PaperId>,
    /// Exclude papers with this title, ignoring case and punctuation; repeatable.
    #[arg(long, value_name = "TITLE")]
    pub(crate) exclude_title: Vec<String>,
}

impl From<FilterArgs> for scholar_core::SearchFilter {
    fn from(args: FilterArgs) -> Self {
        let FilterArgs {
            before,
            year_from,
            year_to,
            venue,
            min_citations,
            licence,
            include_unknown,
            without_retracted,
            paper,
            exclude,
            exclude_title,
        } = args;
        Self {
            published_before: before,
            year_from,
            year_to,
            venues: venue,
            min_citations,
            licences: licence.iter().map(|licence| licence_key(licence)).collect(),
            include_unknown,
            without_retracted,
            papers: (!paper.is_empty()).then(|| paper.into_iter().collect()),
            exclude: exclude.into_iter().collect(),
            exclude_titles: exclude_title.iter().map(|title| title_key(title)).collect(),
        }
    }
}
