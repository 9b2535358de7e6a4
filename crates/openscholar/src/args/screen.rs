//! Options of `papers screen` and `bench screening`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use scholar_pipeline::screen::Decision;

use super::{FilterArgs, PaperModelArgs};

/// Screen papers for a systematic review.
#[derive(Debug, ClapArgs)]
pub(crate) struct ScreenArgs {
    /// Criteria of the review (TOML): a title, and `criterion` tables with id, text and kind (include or exclude).
    #[arg(value_name = "CRITERIA.toml")]
    pub(crate) criteria: PathBuf,
    /// The papers: identifiers, citation keys, paths, or words of titles [default: all in the datastore].
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Folder of the decisions [default: CRITERIA.screening beside the criteria].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Record your own decision on a paper, which no later run changes: ID=include, ID=exclude, ID=unclear; repeatable. Nothing
    /// is screened.
    #[arg(long = "set", value_name = "ID=DECISION", value_parser = set)]
    pub(crate) set: Vec<(String, Decision)>,
    /// Reason of the decisions of --set; the id of a criterion counts as excluded by it.
    #[arg(long, value_name = "TEXT", requires = "set")]
    pub(crate) reason: Option<String>,
    /// Read your own decisions from the columns `your_decision` and `your_reason` of a CSV file, as --format csv writes it. Nothing is
    /// screened.
    #[arg(long, value_name = "FILE.csv", conflicts_with = "set")]
    pub(crate) decisions: Option<PathBuf>,
    /// Screen at most N papers that are not screened yet, the likeliest first.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// How criteria are decided.
    #[arg(long, value_enum, default_value_t = ScreenModeArg::Auto)]
    pub(crate) mode: ScreenModeArg,
    /// The models that decide.
    #[command(flatten)]
    pub(crate) model: ScreenModelArgs,
    /// Output format [default: a table].
    #[arg(long, value_enum)]
    pub(crate) format: Option<ScreenFormatArg>,
    /// Only papers with this decision; repeatable.
    #[arg(long, value_enum, value_name = "DECISION")]
    pub(crate) only: Vec<DecisionArg>,
    /// Rows of the table.
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub(crate) rows: usize,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", requires = "format")]
    pub(crate) output: Option<PathBuf>,
    /// Write the PRISMA 2020 flow diagram to this file.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) prisma: Option<PathBuf>,
    /// Which papers are screened.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// The models of a screening.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct ScreenModelArgs {
    /// The language model, if one decides.
    #[command(flatten)]
    pub(crate) reader: PaperModelArgs,
    /// Judge of support in evidence mode: lexical, a judge from the catalog, or a judge's folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
}

/// How criteria are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScreenModeArg {
    /// Generative with a strong model, evidence otherwise.
    Auto,
    /// One call of a language model per paper, whose quotations are located.
    Generative,
    /// Encoder, judge and words; no language model.
    Evidence,
}

/// Formats of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScreenFormatArg {
    /// CSV with columns for your own decisions.
    Csv,
    /// Markdown with quotations.
    Markdown,
    /// RIS, with the decision as a note.
    Ris,
}

/// Decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecisionArg {
    /// Included.
    Include,
    /// Excluded.
    Exclude,
    /// To be read by a person.
    Unclear,
}

impl From<DecisionArg> for Decision {
    fn from(decision: DecisionArg) -> Self {
        match decision {
            DecisionArg::Include => Self::Include,
            DecisionArg::Exclude => Self::Exclude,
            DecisionArg::Unclear => Self::Unclear,
        }
    }
}

/// `doi:10.1000/x=include`; a DOI may hold equals signs itself.
fn set(text: &str) -> Result<(String, Decision), String> {
    let (id, decision) =
        text.rsplit_once('=').ok_or("write ID=DECISION, for example pmid:123=include")?;
    let decision = Decision::named(decision)
        .ok_or_else(|| format!("{decision:?} is not include, exclude or unclear"))?;
    Ok((id.trim().to_owned(), decision))
}

/// What screening is measured on.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchScreeningArgs {
    /// Folder in BEIR layout whose queries are reviews.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Folder with criteria-TOPIC.toml for each review, screening-pairs.jsonl and, optionally, screening-pairs-second.jsonl.
    #[arg(long, value_name = "DIR")]
    pub(crate) labels: PathBuf,
    /// Measure the decisions on labelled pairs only, not the work that orders save.
    #[arg(long)]
    pub(crate) pairs_only: bool,
    /// Papers decided on before the rest is ranked again, where active learning is simulated; at least 1.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) batch: usize,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_set_by_identifier() {
        let (id, decision) = set("doi:10.1000/a=b=Exclude").expect("a decision");
        assert_eq!((id.as_str(), decision), ("doi:10.1000/a=b", Decision::Exclude));
        assert!(set("doi:10.1000/x").is_err());
        assert!(set("pmid:1=maybe").is_err_and(|error| error.contains("maybe")));
    }
}
