//! Options of `bench scholarideas`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _, ValueParser};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use scholar_bench::scholarideas::{Axis, Discipline, Filter, IdeaId, RubricType, Severity};

use super::PaperModelArgs;

/// Measure reviews of research ideas on `ScholarIdeas`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ScholarIdeasArgs {
    #[command(subcommand)]
    pub(crate) command: ScholarIdeasCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum ScholarIdeasCommand {
    /// List ideas with cut-off date, words and rubrics.
    List(IdeasArgs),
    /// Count ideas, rubrics and words, beside the published release.
    Verify {
        /// Folder in the published layout, or a file of JSON lines.
        #[arg(value_name = "DATA")]
        data: PathBuf,
        /// Fail unless it is the whole release.
        #[arg(long)]
        release: bool,
    },
    /// Grade how far reports make the reviewers' points, 1 to 5.
    Coverage(Box<CoverageArgs>),
    /// Fit the trained measure of coverage to a judge's grades.
    Calibrate(CalibrateArgs),
    /// Measure how the trained measure agrees with a judge on other ideas.
    Agree(AgreeArgs),
    /// Count the links of reports that lead nowhere.
    Invalidity(InvalidityArgs),
    /// Compare two systems' reports by a judge, in both orders.
    Pairwise(Box<PairwiseArgs>),
    /// Compare coverages of systems with each other and with the paper's.
    Compare(CompareArgs),
    /// Write reports by one prompt a module without literature, to compare with.
    Baseline(Box<BaselineArgs>),
    /// Turn runs of `review` into reports that judges read.
    Reports(ReportsArgs),
    /// Make ideas with rubrics of papers and their reviews.
    Curate(Box<CurateArgs>),
    /// Estimate calls, tokens and dollars of a judge without asking one.
    Dry(DryArgs),
}

/// The dataset, or a part of it.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct IdeasArgs {
    /// Folder in the published layout (`ai_1/ai_1.txt`, `ai_1/ai_1.jsonl`, `ai_1/cutoff.txt`), or a file of JSON lines.
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Only these ideas, separated by commas.
    #[arg(long, alias = "idea", value_delimiter = ',', value_name = "IDS")]
    pub(crate) ideas: Vec<IdeaId>,
    /// Only ideas of these fields.
    #[arg(long, value_delimiter = ',', value_name = "FIELDS", value_parser = disciplines())]
    pub(crate) disciplines: Vec<Discipline>,
    /// Only rubrics of this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = types())]
    pub(crate) types: Vec<RubricType>,
    /// Only rubrics of this axis.
    #[arg(long = "axis", value_name = "AXIS", value_parser = axes())]
    pub(crate) axes: Vec<Axis>,
    /// Only rubrics of this severity.
    #[arg(long = "severity", value_name = "SEVERITY", value_parser = severities())]
    pub(crate) severities: Vec<Severity>,
}

impl IdeasArgs {
    /// The part that is meant.
    pub(crate) fn filter(&self) -> Filter {
        let Self { data: _, ideas, disciplines, types, axes, severities } = self.clone();
        Filter { ideas, disciplines, types, axes, severities }
    }
}

/// A parser of the names of `all`.
fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> ValueParser {
    let names = PossibleValuesParser::new(all.iter().map(|one| name(*one)));
    ValueParser::new(names.try_map(move |text: String| {
        let found = all.iter().copied().find(|one| name(*one) == text);
        found.ok_or_else(|| format!("{text:?} is none of them"))
    }))
}

fn disciplines() -> ValueParser {
    named(&Discipline::ALL, Discipline::name)
}

fn types() -> ValueParser {
    named(&RubricType::ALL, RubricType::name)
}

fn axes() -> ValueParser {
    named(&Axis::ALL, Axis::name)
}

fn severities() -> ValueParser {
    named(&Severity::ALL, Severity::name)
}

/// Who says how far a point is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureArg {
    /// A language model that grades each rubric.
    Judge,
    /// The small trained models; no language model. Needs --calibration.
    Trained,
}

/// Reports, and who grades them.
#[derive(Debug, ClapArgs)]
pub(crate) struct CoverageArgs {
    #[command(flatten)]
    pub(crate) ideas: IdeasArgs,
    /// Folder of reports: `ai_1/report.md`, `ai_1/combined.txt`, `ai_1/soundness.md` with `contribution.md`, or `ai_1.md`.
    #[arg(value_name = "REPORTS")]
    pub(crate) reports: PathBuf,
    /// Who grades.
    #[arg(long, value_enum, default_value_t = MeasureArg::Judge)]
    pub(crate) measure: MeasureArg,
    /// Calibration of the trained measure, as `calibrate` writes it.
    #[arg(long, value_name = "FILE", required_if_eq("measure", "trained"))]
    pub(crate) calibration: Option<PathBuf>,
    /// Name of the system in the report; the judge does not see it [default: the folder's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Rubrics judged at once.
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub(crate) parallel: usize,
    /// Folder for the grades (coverage-NAME.csv), the report and the judge's replies [default: REPORTS].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The judging model.
    #[command(flatten)]
    pub(crate) model: PaperModelArgs,
}

/// Grades of a judge with the reports they are of.
#[derive(Debug, Clone)]
pub(crate) struct GradedReports {
    /// Folder of reports.
    pub(crate) reports: PathBuf,
    /// File of grades.
    pub(crate) grades: PathBuf,
}

fn graded(text: &str) -> Result<GradedReports, String> {
    let (reports, grades) = text.split_once('=').ok_or("must be REPORTS=GRADES.csv")?;
    Ok(GradedReports { reports: reports.into(), grades: grades.into() })
}

/// What the trained measure is fitted to.
#[derive(Debug, ClapArgs)]
pub(crate) struct CalibrateArgs {
    /// Reports with the grades a judge gave them; repeatable.
    #[arg(long, required = true, value_name = "REPORTS=GRADES.csv", value_parser = graded)]
    pub(crate) graded: Vec<GradedReports>,
    /// Ideas to calibrate on, separated by commas [default: every other one, in order; the rest is left for `agree`].
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    pub(crate) ideas: Vec<IdeaId>,
    /// Who judged, for the report.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: String,
    /// File of the calibration.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// What the trained measure is compared with.
#[derive(Debug, ClapArgs)]
pub(crate) struct AgreeArgs {
    /// Reports with the grades a judge gave them; repeatable. Ideas of the calibration are left out.
    #[arg(long, required = true, value_name = "REPORTS=GRADES.csv", value_parser = graded)]
    pub(crate) graded: Vec<GradedReports>,
    /// Calibration, as `calibrate` writes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: PathBuf,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// What makes a link invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyArg {
    /// Only the statuses 404, 410 and 500 or more: a lower bound.
    Paper,
    /// Everything that a reader could not open.
    Strict,
    /// That it is not in the report's evidence; nobody is asked.
    Offline,
}

/// Whose links are looked at, and how.
#[derive(Debug, ClapArgs)]
pub(crate) struct InvalidityArgs {
    /// Folder of reports, as for `coverage`; for offline with `evidence.txt` or `report.json` beside each report.
    #[arg(value_name = "REPORTS")]
    pub(crate) reports: PathBuf,
    /// What makes a link invalid.
    #[arg(long, value_enum, default_value_t = PolicyArg::Offline)]
    pub(crate) policy: PolicyArg,
    /// Log of the links; those in it are not asked again [default: `links-POLICY.log` in REPORTS].
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Links asked at once; a host is never asked faster than its pace.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub(crate) parallel: usize,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Two systems and the judge between them.
#[derive(Debug, ClapArgs)]
pub(crate) struct PairwiseArgs {
    #[command(flatten)]
    pub(crate) ideas: IdeasArgs,
    /// Reports of the first system; a win is its.
    #[arg(value_name = "REPORTS_A")]
    pub(crate) a: PathBuf,
    /// Reports of the second system.
    #[arg(value_name = "REPORTS_B")]
    pub(crate) b: PathBuf,
    /// Names of the systems, separated by a comma; the judge does not see them [default: the folders' names].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) names: Vec<String>,
    /// Random seed of the order that counts as the paper's.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// People's labels (CSV with idea, criterion, label), to compare the judge with.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) labels: Option<PathBuf>,
    /// Pairs judged at once.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub(crate) parallel: usize,
    /// Folder for the report and the judge's replies.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The judging model.
    #[command(flatten)]
    pub(crate) model: PaperModelArgs,
}

/// Systems to compare.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompareArgs {
    /// Grades of each system, as `coverage` writes them; the first is compared with each other one.
    #[arg(required = true, value_name = "GRADES.csv")]
    pub(crate) grades: Vec<PathBuf>,
    /// Names of the systems, separated by commas [default: the files' names].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) names: Vec<String>,
    /// Folder for scholarideas.md and scholarideas.json.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// What the baseline writes about, and where its reports go.
#[derive(Debug, ClapArgs)]
pub(crate) struct BaselineArgs {
    #[command(flatten)]
    pub(crate) ideas: IdeasArgs,
    /// Folder for the reports (`ai_1/report.md`) and the model's replies. A report that is there is not written again.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Ideas worked on at once.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub(crate) parallel: usize,
    /// The model that writes.
    #[command(flatten)]
    pub(crate) model: PaperModelArgs,
}

/// Runs of `review`, and where their reports go.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReportsArgs {
    #[command(flatten)]
    pub(crate) ideas: IdeasArgs,
    /// Runs of reviews; the text of the idea says which one it is.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Folder for the reports (`ai_1/report.md`, `ai_1/evidence.txt`) and for `runs.md`, a table of the runs: items, dates, links,
    /// failures, seconds.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// Papers and where their ideas go.
#[derive(Debug, ClapArgs)]
pub(crate) struct CurateArgs {
    /// Folder with, for each idea, `ai_1/paper.pdf` (or .xml, .md, .txt), `ai_1/reviews.txt` and `ai_1/cutoff.txt`.
    #[arg(value_name = "SOURCES")]
    pub(crate) sources: PathBuf,
    /// Folder for the ideas, in the published layout. What is there is not made again.
    #[arg(value_name = "OUT")]
    pub(crate) out: PathBuf,
    /// Papers worked on at once.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) parallel: usize,
    /// Seconds before each call of the model.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) pause: u64,
    /// The model that writes.
    #[command(flatten)]
    pub(crate) model: PaperModelArgs,
}

/// What would be asked.
#[derive(Debug, ClapArgs)]
pub(crate) struct DryArgs {
    #[command(flatten)]
    pub(crate) ideas: IdeasArgs,
    /// Folder of reports, as for `coverage`.
    #[arg(value_name = "REPORTS")]
    pub(crate) reports: PathBuf,
    /// Also a pairwise comparison with these reports.
    #[arg(long, value_name = "REPORTS")]
    pub(crate) against: Option<PathBuf>,
    /// US dollars for a million tokens of prompts and of replies, separated by a comma.
    #[arg(long, value_delimiter = ',', num_args = 1..=2, value_name = "USD,USD")]
    pub(crate) price: Vec<f64>,
}
