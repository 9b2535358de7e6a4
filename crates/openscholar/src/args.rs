//! The command line. The doc comments are the help texts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory as _, Parser, Subcommand, ValueEnum};
use scholar_models::catalog::DEFAULT_ENCODER;

mod annotate;
mod answer;
mod ask;
mod expansion;
mod explain;
mod exploration;
mod former;
mod gates;
mod generator;
mod graph;
mod metadata;
mod page;
mod paper_model;
mod review;
mod scholarideas;
mod scholarqa;
mod scirag_depth;
mod screen;
mod serve;
mod sources;
mod store;
mod table;
mod train;
mod train_data;

pub(crate) use annotate::{
    AnnotateArgs, AnnotateCommand, AnnotateFormat, AnnotateImportArgs, AnnotateServeArgs, StudyArgs,
};
pub(crate) use answer::{AnswerArgs, GeneratorChoice};
pub(crate) use ask::{AskArgs, FilterArgs, LengthArg, OutputFormat, PlanArg, TaskArg};
pub(crate) use expansion::BenchExpansionArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use exploration::ExplorationArgs;
pub(crate) use former::notices as former_names;
pub(crate) use gates::BenchGatesArgs;
pub(crate) use generator::BenchGeneratorArgs;
pub(crate) use graph::{BenchGraphArgs, GraphArgs};
pub(crate) use metadata::BenchMetadataArgs;
pub(crate) use page::PageArgs;
pub(crate) use paper_model::PaperModelArgs;
pub(crate) use review::ReviewArgs;
pub(crate) use scholarideas::{
    AgreeArgs, BaselineArgs, CalibrateArgs, CompareArgs, CoverageArgs, CurateArgs, DryArgs,
    GradedReports, IdeasArgs, InvalidityArgs, MeasureArg, PairwiseArgs, PolicyArg, ReportsArgs,
    ScholarIdeasArgs, ScholarIdeasCommand,
};
pub(crate) use scholarqa::{
    BenchConvertArgs, BenchReportArgs, BenchRunArgs, BenchScoreArgs, CitationsArg, LessArgs,
    ShapeArg,
};
pub(crate) use scirag_depth::BenchSciragDepthArgs;
pub(crate) use screen::{
    BenchScreeningArgs, ScreenArgs, ScreenFormatArg, ScreenModeArg, ScreenModelArgs,
};
pub(crate) use serve::{BenchServeArgs, ReachArgs, ServeArgs, SiteArgs};
pub(crate) use sources::{GraphSourceArg, GraphSourceArgs, SearchSourceArgs, SourceArg};
pub(crate) use store::{
    BuildArgs, CompactArgs, DatastoreArgs, DatastoreCommand, EncodingArgs, GivenArgs, IntakeArgs,
    ListArgs, ListFormatArg, ListSortArg, ModelsArgs, ModelsCommand, PapersArgs, PapersCommand,
    PapersFormatArg, PassagesArg, PlanArgs, RunsArgs, RunsCommand, SourceArgs,
};
pub(crate) use table::{BenchTablesArgs, TableArgs, TableFormatArg, TableMode};
pub(crate) use train::{TrainArgs, TrainCommand, TrainModelArgs};
pub(crate) use train_data::{
    DataPresetArg, GradeArg, QuestionsArg, TrainDataArgs, TrainDecontaminateArgs, TrainExportArgs,
    TrainFitWeightsArgs, TrainScoreTeacherArgs, TrainSentencesArgs, TrainsArg,
};

/// Answer questions from scientific papers, with citations that are checked.
///
/// `openscholar "question"` is short for `openscholar ask "question"`.
#[derive(Debug, Parser)]
#[command(
    name = "openscholar",
    bin_name = "openscholar",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Heading of the options that every command takes.
const GLOBAL: &str = "Global options";

/// Options every command takes.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct GlobalArgs {
    /// Store models, datastores, runs, cache and config in this folder instead of the XDG directories.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Config file to use instead of the default one.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON with a schema version instead of text.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// Suppress progress and notices on stderr.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// Log more on stderr; repeat for more detail (-v, -vv, -vvv).
    #[arg(long, short, global = true, help_heading = GLOBAL, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer a question, with a located quotation for every citation.
    Ask(Box<AskArgs>),
    /// Review a research idea against the literature, claim by claim.
    Review(Box<ReviewArgs>),
    /// Search for passages, with an explanation of their ranks.
    Search(Box<SearchArgs>),
    /// List, show, add and remove papers.
    Papers(PapersArgs),
    /// Build, inspect and check datastores.
    Datastore(DatastoreArgs),
    /// List, download and verify models.
    Models(ModelsArgs),
    /// List, show, explain, replay, verify and compare past answers.
    Runs(RunsArgs),
    /// Ask, read and check answers in the browser, and over HTTP.
    Serve(Box<SiteArgs>),
    /// Benchmark quality and speed.
    Bench(BenchArgs),
    /// Train encoders, rerankers, attributors (judges of support) and sentence classifiers.
    Train(TrainArgs),
    /// Check this installation and suggest fixes.
    Doctor(DoctorArgs),
    /// Print a shell completion script.
    Completions(CompletionsArgs),
    /// Print docs/cli.md.
    #[command(hide = true)]
    CliDocs,
}

impl Command {
    /// Whether it was told to ask nobody.
    pub(crate) fn is_offline(&self) -> bool {
        match self {
            Self::Ask(args) => args.answer.search_sources.offline,
            Self::Review(args) => args.answer.search_sources.offline,
            Self::Search(args) => args.search_sources.offline,
            Self::Papers(args) => match &args.command {
                PapersCommand::Add { intake, .. } => intake.offline,
                _ => false,
            },
            Self::Serve(args) => args.offline,
            Self::Doctor(args) => args.offline,
            _ => false,
        }
    }
}

/// Indexes to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchModeArg {
    /// BM25 and embeddings, fused.
    Hybrid,
    /// Embeddings only.
    Dense,
    /// BM25 only.
    Lexical,
}

impl From<SearchModeArg> for scholar_core::SearchMode {
    fn from(mode: SearchModeArg) -> Self {
        match mode {
            SearchModeArg::Hybrid => Self::Hybrid,
            SearchModeArg::Dense => Self::Dense,
            SearchModeArg::Lexical => Self::Lexical,
        }
    }
}

/// Rows of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchByArg {
    /// Passages.
    Passage,
    /// Papers, each with its best passage.
    Paper,
}

/// Search for passages, with an explanation of their ranks.
#[derive(Debug, ClapArgs)]
pub(crate) struct SearchArgs {
    /// The query.
    pub(crate) query: String,
    /// Number of passages or papers to return.
    #[arg(long, short = 'k', default_value_t = 10, value_name = "N")]
    pub(crate) top_k: usize,
    /// Indexes to search.
    #[arg(long, value_enum, default_value_t = SearchModeArg::Hybrid)]
    pub(crate) mode: SearchModeArg,
    /// Rerank the passages, with the default reranker unless --reranker names another.
    #[arg(long)]
    pub(crate) rerank: bool,
    /// Reranker: a reranker or encoder from the catalog, a reranker's folder, datastore-encoder, or auto.
    #[arg(long, value_name = "NAME")]
    pub(crate) reranker: Option<String>,
    /// What a row of the results is.
    #[arg(long, value_enum, default_value_t = SearchByArg::Passage)]
    pub(crate) by: SearchByArg,
    /// Print as this format; with --by paper.
    #[arg(long, value_enum)]
    pub(crate) format: Option<PapersFormatArg>,
    /// Print how each score was computed.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Scan all vectors instead of using the inverted index.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Datastore to search.
    #[arg(long, value_name = "NAME")]
    pub(crate) datastore: Option<String>,
    /// Where papers are looked for.
    #[command(flatten)]
    pub(crate) search_sources: SearchSourceArgs,
    /// Which papers may be returned.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// Benchmark quality and speed.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

/// Which datastore is searched with which queries.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchSearchArgs {
    /// Datastore to search.
    pub(crate) name: String,
    /// Folder in BEIR layout whose queries are used.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Use only the first N queries.
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(crate) limit: usize,
    /// Results per query.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top_k: usize,
    /// Search a synthetic datastore of N passages, with words, metadata and vectors distributed as in this one.
    #[arg(long, alias = "made", value_name = "N")]
    pub(crate) synthetic: Option<usize>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// What the dense index is measured on, and beside whom.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchIndexArgs {
    /// Datastores whose vectors are used; they must have the same encoder.
    #[arg(required = true, value_name = "NAME")]
    pub(crate) stores: Vec<String>,
    /// Also measure synthetic vectors derived from the real ones, with their dimension or twice that, for example 2000000x768.
    #[arg(long, alias = "made", value_delimiter = ',', value_name = "ROWSxDIM")]
    pub(crate) synthetic: Vec<String>,
    /// Skip the real vectors.
    #[arg(long, alias = "only-made")]
    pub(crate) only_synthetic: bool,
    /// Number of queries, held out from the real vectors or synthetic.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(crate) queries: usize,
    /// Results per query.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) top_k: usize,
    /// Bits per dimension of the codes, 1 or 4.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) bits: u32,
    /// Python with numpy, faiss-cpu, hnswlib and usearch installed; if omitted, only this program is measured.
    #[arg(long, value_name = "PYTHON")]
    pub(crate) peer_python: Option<PathBuf>,
    /// Libraries to compare with, separated by commas.
    #[arg(
        long,
        default_value = "faiss,faiss-flat,hnswlib,usearch",
        value_name = "NAMES",
        requires = "peer_python"
    )]
    pub(crate) peers: String,
    /// Compare with other libraries on sets of at most this many rows.
    #[arg(long, default_value_t = 2_000_000, value_name = "N", requires = "peer_python")]
    pub(crate) peer_rows: usize,
    /// Folder for temporary files; needs 2 × dimension bytes per row.
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Base name of the report's files.
    #[arg(long, default_value = "index", value_name = "NAME")]
    pub(crate) report: String,
    /// Folder for the report and its plots.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// The benchmarks.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Run a system on a task of `ScholarQABench`; an interrupted run can be resumed.
    Run(Box<BenchRunArgs>),
    /// Score the answers of a run or of another system, with n, interval and judge of each number.
    Score(Box<BenchScoreArgs>),
    /// Compare runs with each other and with published numbers, with a page per item.
    Report(BenchReportArgs),
    /// Convert predictions to another format.
    Convert(BenchConvertArgs),
    /// Measure nDCG@10, Recall@100 and MRR@10 on collections in BEIR layout (corpus.jsonl, queries.jsonl, qrels.tsv).
    Retrieval {
        /// Folders of the collections.
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
        /// Comma-separated systems: bm25, dense, hybrid; each optionally with +queries (also search each half of the query) or
        /// +raw-queries (the same, pooled by raw scores), and with +rerank.
        #[arg(long, value_delimiter = ',', default_value = "bm25,dense,hybrid,hybrid+rerank")]
        systems: Vec<String>,
        /// Encoder: a name from the catalog or a folder.
        #[arg(long, value_name = "NAME")]
        encoder: Option<String>,
        /// Reranker: a reranker or encoder from the catalog, a reranker's folder, datastore-encoder, or auto.
        #[arg(long, value_name = "NAME")]
        reranker: Option<String>,
        /// Use only the first N queries of each collection.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Folder for the report and the per-query results of each collection.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Measure encoder throughput and query latency, optionally against sentence-transformers.
    Encoder {
        /// Encoder to measure.
        #[arg(long, default_value = DEFAULT_ENCODER, value_name = "NAME")]
        model: String,
        /// Python with sentence-transformers and torch installed; if omitted, only this program is measured.
        #[arg(long, value_name = "PYTHON")]
        peer_python: Option<PathBuf>,
        /// Number of passages, taken from the starter papers.
        #[arg(long, default_value_t = 64, value_name = "N")]
        passages: usize,
        /// Folder for the report.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    Generator(BenchGeneratorArgs),
    /// Measure a sentence classifier: ranking and calibration of sentences that answer, and roles, on labelled rows.
    Sentences {
        /// Files of rows as `train data sentences` writes them (JSON lines), such as test.jsonl.
        #[arg(required = true, value_name = "FILE")]
        rows: Vec<PathBuf>,
        /// Classifier: a name from the catalog or a folder.
        #[arg(long, default_value = "scholar-sentences-granite", value_name = "NAME")]
        model: String,
        /// Show the classifier headings and labels of structured abstracts, which give most roles away.
        #[arg(long)]
        headings: bool,
        /// Folder for the report.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Measure the throughput of a reranker or judge, and a cross-encoder's agreement with PyTorch.
    Reranker {
        /// Reranker or judge: a name from the catalog or a folder.
        #[arg(long, value_name = "NAME")]
        model: String,
        /// Python with torch and transformers installed; if omitted, only this program is measured.
        #[arg(long, value_name = "PYTHON")]
        peer_python: Option<PathBuf>,
        /// Number of pairs, of one question with passages of the starter papers.
        #[arg(long, default_value_t = 64, value_name = "N")]
        pairs: usize,
        /// Folder for the report.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Measure recall, latency, size and build time of the dense index, optionally against FAISS, hnswlib and usearch.
    Index(BenchIndexArgs),
    /// Measure search latency in a datastore (lexical, dense, hybrid; with and without filters) and the recall of its index.
    Search(BenchSearchArgs),
    /// Measure what is extracted from documents and libraries, and how fast.
    Formats {
        /// Documents, libraries, or folders of them.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Datastore to match their references against.
        #[arg(long = "match", value_name = "NAME")]
        known: Option<String>,
        /// Folder for the report.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Measure whether title, authors, year, venue and identifiers of PDFs are read as they are printed.
    Metadata(BenchMetadataArgs),
    /// Fuzz all parsers of files and replies for panics, hangs and leaks. Requires a build with --features self-test.
    Fuzz(BenchFuzzArgs),
    /// Measure rate and memory of adding thousands of PDFs, printed from the starter papers, and a long list to a library.
    /// Requires a build with --features self-test.
    Library {
        /// Number of PDFs.
        #[arg(long, default_value_t = 10_000, value_name = "N")]
        pdfs: usize,
        /// Number of entries of a BibTeX list.
        #[arg(long, default_value_t = 50_000, value_name = "N")]
        entries: usize,
        /// Folder for the report.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Measure throughput and memory of ingestion without the encoder: reading, splitting, tokenising, indexing.
    Ingest {
        /// Files of papers, as for `datastore build`.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Vector dimension.
        #[arg(long, default_value_t = 384, value_name = "D")]
        dim: usize,
        /// How to split papers into passages.
        #[arg(long, value_enum, default_value_t = PassagesArg::Sections, value_name = "RULE")]
        passages: PassagesArg,
        /// Folder for the report.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Measure size and latency of a datastore's citation graph, and extrapolate to 45 million papers.
    Graph(BenchGraphArgs),
    /// Measure whether citation links of the best hits find papers that search misses.
    Expansion(BenchExpansionArgs),
    /// Measure both servers under load: throughput and memory of the search service; latencies, memory and bounds of the pages.
    Serve(BenchServeArgs),
    /// Run a blind pairwise comparison of two systems' answers by experts, on web pages.
    Annotate(AnnotateArgs),
    /// Measure reviews of research ideas on `ScholarIdeas`.
    #[command(name = "scholarideas")]
    ScholarIdeas(Box<ScholarIdeasArgs>),
    /// Measure abstention: answers from relevant passages, none from irrelevant ones.
    Abstention(BenchAbstentionArgs),
    /// Measure whether a datastore's questions are answered by the right papers, and other questions are not.
    Answerable(BenchAnswerableArgs),
    /// Count calls, tokens and dollars of SciRAG by depth of its tree, with a script in the place of the model.
    SciragDepth(BenchSciragDepthArgs),
    /// Measure screening for systematic reviews: the reading that an order of papers saves, and decisions on labelled criteria.
    Screening(BenchScreeningArgs),
    /// Measure the cells of `papers table` against prompts of Evidence Inference and labelled cells.
    Tables(BenchTablesArgs),
    /// Measure the content gates: false alarms on supported sentences, and what they catch.
    Gates(BenchGatesArgs),
    /// Measure a citation judge's agreement with human labels of support.
    Attribution {
        /// Folder with `claims/`, `attribution/` and `retrieval/scifact_test300/`.
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Judge: lexical, embedded, a judge from the catalog, or a judge's folder.
        #[arg(long, default_value = crate::config::DEFAULT_JUDGE)]
        judge: String,
        /// Encoder that helps to select evidence sentences: a name from the catalog or a folder.
        #[arg(long, value_name = "NAME")]
        encoder: Option<String>,
        /// Use only the first N pairs of each set.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Folder for the report.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Measure when answers are held back.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchAbstentionArgs {
    /// Tasks with passages (multi, pubmedqa, scifact), or folders in BEIR layout.
    #[arg(required = true, value_name = "SET")]
    pub(crate) sets: Vec<PathBuf>,
    /// Folder of `ScholarQABench`'s files, for tasks.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Maximum number of passages per question, at least 1.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) passages: usize,
    /// Use only the first N questions of each set.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Random seed for the irrelevant questions.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Measure which questions are answered.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchAnswerableArgs {
    /// Table of questions, separated by tabs: id, split, set (answerable or off), field, kind, question, papers that answer it.
    #[arg(value_name = "FILE")]
    pub(crate) questions: PathBuf,
    /// Use only the questions of this split.
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Datastore to ask.
    #[arg(long, value_name = "NAME")]
    pub(crate) datastore: Option<String>,
    /// Change one setting of the answers by its name in the config file.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Also write the sentences that were scored for the answerable questions, and what speaks for each, as JSON lines.
    #[arg(long, value_name = "FILE")]
    pub(crate) sentences: Option<PathBuf>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Broken inputs and what they are made from.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchFuzzArgs {
    /// Well-formed documents, libraries and rows to mutate, or folders of them, besides the built-in ones.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Number of mutated inputs per parser.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) inputs: u64,
    /// Number of the first input, which seeds its mutation.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Check this installation and suggest fixes.
#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Send no requests; skips the checks of sources and the search for model servers.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Test all source clients against a local mock server, including faults, without a network. Requires a build with --features self-test.
    #[arg(long)]
    pub(crate) self_test: bool,
}

/// Print a shell completion script.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate completions for.
    pub(crate) shell: clap_complete::Shell,
}

/// A word that stands where a command is expected, and is none: a single word is no question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownCommand {
    /// The word.
    pub(crate) word: String,
    /// Commands that may be meant, as they are typed.
    pub(crate) near: Vec<String>,
}

/// Names at least this similar (Jaro-Winkler) may be meant.
const NEAR_NAME: f64 = 0.85;
/// Most names that are suggested.
const MOST_SUGGESTED: usize = 3;

/// The first word of `arguments` where it looks like a command that there is not. What has spaces or a question mark is a
/// question.
pub(crate) fn unknown_command(arguments: &[OsString]) -> Option<UnknownCommand> {
    let with_verb = with_default_verb(arguments.to_vec());
    if with_verb.len() == arguments.len() {
        return None;
    }
    let at = with_verb.iter().zip(arguments).position(|(one, other)| one != other)?;
    let word = arguments.get(at)?.to_str()?;
    let is_word = word.len() > 1
        && word.chars().all(|c| c.is_alphanumeric() || "-_".contains(c))
        && !word.starts_with('-');
    if !is_word {
        return None;
    }
    let command = Args::command();
    let mut near: Vec<(f64, String)> = Vec::new();
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        near.push((similarity(word, verb.get_name()), verb.get_name().to_owned()));
        for inner in verb.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let full = format!("{} {}", verb.get_name(), inner.get_name());
            near.push((similarity(word, inner.get_name()), full));
        }
    }
    near.retain(|(similarity, _)| *similarity >= NEAR_NAME);
    // Of equals the shorter is meant: `search` before `bench search`; benchmarks are meant least.
    let rank = |name: &str| (name.starts_with("bench"), name.split(' ').count());
    near.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then_with(|| (rank(&a.1), &a.1).cmp(&(rank(&b.1), &b.1)))
    });
    near.truncate(MOST_SUGGESTED);
    Some(UnknownCommand {
        word: word.to_owned(),
        near: near.into_iter().map(|(_, name)| name).collect(),
    })
}

fn similarity(word: &str, name: &str) -> f64 {
    strsim::jaro_winkler(&word.to_lowercase(), name)
}

/// The arguments with `ask` put in front of a bare question.
///
/// A first word that is neither an option nor a verb makes the whole line a question.
pub(crate) fn with_default_verb(arguments: Vec<OsString>) -> Vec<OsString> {
    let command = Args::command();
    let takes_value = |word: &str| matches!(word, "--home" | "--config");
    let mut at = 1;
    while let Some(word) = arguments.get(at).and_then(|word| word.to_str()) {
        if takes_value(word) {
            at += 2;
        } else if word.starts_with('-') && word.len() > 1 {
            if matches!(word, "-h" | "--help" | "-V" | "--version") {
                return arguments;
            }
            if !["--json", "-q", "--quiet", "-v", "-vv", "-vvv", "--verbose"].contains(&word)
                && !word.starts_with("--home=")
                && !word.starts_with("--config=")
            {
                break;
            }
            at += 1;
        } else {
            break;
        }
    }
    let Some(word) = arguments.get(at) else { return arguments };
    let is_verb = word.to_str().is_some_and(|word| {
        word == "help"
            || command.get_subcommands().any(|verb| {
                verb.get_name() == word || verb.get_all_aliases().any(|alias| alias == word)
            })
    });
    if is_verb {
        return arguments;
    }
    let mut with_verb = arguments;
    with_verb.insert(at, OsString::from("ask"));
    with_verb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_question_is_asked() {
        let check = |line: &[&str], expect: &[&str]| {
            let words = |line: &[&str]| line.iter().map(OsString::from).collect::<Vec<_>>();
            assert_eq!(with_default_verb(words(line)), words(expect));
        };
        check(&["openscholar", "What is RAG?"], &["openscholar", "ask", "What is RAG?"]);
        check(&["openscholar", "--json", "What?"], &["openscholar", "--json", "ask", "What?"]);
        check(
            &["openscholar", "--home", "/x", "What?"],
            &["openscholar", "--home", "/x", "ask", "What?"],
        );
        check(
            &["openscholar", "--mode", "evidence", "What?"],
            &["openscholar", "ask", "--mode", "evidence", "What?"],
        );
        check(&["openscholar", "search", "x"], &["openscholar", "search", "x"]);
        check(&["openscholar", "--help"], &["openscholar", "--help"]);
        check(&["openscholar"], &["openscholar"]);
    }

    #[test]
    fn a_single_word_is_a_mistyped_command_and_no_question() {
        let of = |line: &[&str]| {
            let words: Vec<OsString> = line.iter().map(OsString::from).collect();
            unknown_command(&words)
        };
        let cited = of(&["openscholar", "cited"]).expect("no command");
        assert_eq!((cited.word.as_str(), cited.near[0].as_str()), ("cited", "papers cited-by"));
        assert_eq!(of(&["openscholar", "serach", "x"]).expect("no command").near[0], "search");
        assert!(of(&["openscholar", "mcp"]).expect("no command").near.is_empty());
        for question in ["What is RAG?", "RAG?", "metformin and cancer"] {
            assert_eq!(of(&["openscholar", question]), None, "{question}");
        }
        assert_eq!(of(&["openscholar", "ask", "metformin"]), None);
        assert_eq!(of(&["openscholar", "--json", "papers", "list"]), None);
        assert_eq!(of(&["openscholar"]), None);
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
