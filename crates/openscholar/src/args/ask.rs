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

use super::AnswerArgs;

/// Answer a question from the datastore, with a located quotation for every sentence.
#[derive(Debug, ClapArgs)]
pub(crate) struct AskArgs {
    /// The question; `-` reads it from standard input.
    #[arg(required_unless_present = "resume")]
    pub(crate) question: Option<String>,
    /// Continue an interrupted or failed run: what its journal holds is not done again. Settings, models and server
    /// are the run's; a budget, a server or an output given here takes the place of the run's.
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = [
            "question", "preset", "mode", "task", "datastore", "top_k", "top_n", "search", "norm_cite", "feedback",
            "seed", "before", "year_from", "year_to", "venue", "min_citations", "licence",
            "without_retracted", "paper", "exclude", "exclude_title", "sources", "full_texts", "settings",
        ]
    )]
    pub(crate) resume: Option<String>,
    /// How the answer is written.
    #[arg(long, value_parser = mode_parser(), default_value = AUTO)]
    pub(crate) mode: ModeChoice,
    /// What kind of answer is wanted.
    #[arg(long, value_enum, default_value_t = TaskArg::Default)]
    pub(crate) task: TaskArg,
    /// Named settings: paper, nature, single-paper, upstream.
    #[arg(long, default_value = "paper", value_name = "NAME")]
    pub(crate) preset: String,
    /// Which models answer, from what, and what it may cost.
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Whether citations / max citations are added to the scores of a cross-encoder; `--norm-cite=false` leaves them out.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) norm_cite: Option<bool>,
    /// At most this many feedback items are worked on.
    #[arg(long, value_name = "N")]
    pub(crate) feedback: Option<usize>,
    /// Seed of all sampling.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print the answer, or its references alone, in this format.
    #[arg(long, value_enum)]
    pub(crate) format: Option<OutputFormat>,
    /// Citation style of documents: apa, ieee, vancouver, nature, chicago, acm, any name of the CSL repository, or a .csl
    /// file.
    #[arg(long, value_name = "NAME", requires = "format")]
    pub(crate) style: Option<String>,
    /// Print every event as a line of JSON on standard output, the answer last.
    #[arg(long)]
    pub(crate) stream: bool,
    /// Also write the answer to this file.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Sign the proof with this private key of Ed25519, in OpenSSH's format and without a passphrase.
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
    /// Add the papers that sources found to this datastore, or to the one that is asked.
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

/// What kind of answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskArg {
    /// A cited answer from many papers.
    Default,
    /// Is this claim true or false?
    Claim,
    /// Yes or no.
    Boolean,
    /// A question about one paper.
    SinglePaper,
    /// A related-work section for an abstract.
    RelatedWork,
}

/// Formats of answers, and of their references for reference managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Markdown for people.
    Markdown,
    /// BibTeX.
    Bibtex,
    /// RIS.
    Ris,
    /// CSL-JSON.
    Csl,
    /// One HTML file.
    Html,
    /// One LaTeX file.
    Latex,
    /// A word processor's file; needs --output.
    Docx,
}

/// Conditions on papers; all must hold.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct FilterArgs {
    /// Only papers published strictly before this day (YYYY-MM-DD).
    #[arg(long, value_name = "DAY")]
    pub(crate) before: Option<Date>,
    /// Only papers of this year or later.
    #[arg(long, value_name = "YEAR")]
    pub(crate) year_from: Option<i16>,
    /// Only papers of this year or earlier.
    #[arg(long, value_name = "YEAR")]
    pub(crate) year_to: Option<i16>,
    /// Only papers whose venue contains this text; can be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) venue: Vec<String>,
    /// Only papers cited at least this often.
    #[arg(long, value_name = "N")]
    pub(crate) min_citations: Option<u32>,
    /// Only papers under this licence, for example cc-by, in any version unless it names one; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) licence: Vec<String>,
    /// No paper that is known as retracted.
    #[arg(long)]
    pub(crate) without_retracted: bool,
    /// Only this paper, for example doi:10.1000/x; can be given several times.
    #[arg(long, value_name = "ID")]
    pub(crate) paper: Vec<PaperId>,
    /// Never this paper; can be given several times.
    #[arg(long, value_name = "ID")]
    pub(crate) exclude: Vec<PaperId>,
    /// Never a paper with this title, in any case and punctuation; can be given several times.
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
            without_retracted,
            papers: (!paper.is_empty()).then(|| paper.into_iter().collect()),
            exclude: exclude.into_iter().collect(),
            exclude_titles: exclude_title.iter().map(|title| title_key(title)).collect(),
        }
    }
}
