//! The command line. The doc comments are the help texts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory as _, Parser, Subcommand, ValueEnum};

mod annotate;
mod answer;
mod ask;
mod former;
mod look;
mod scholarqa;
mod serve;
mod store;
mod train;
mod train_data;

pub(crate) use annotate::{
    AnnotateArgs, AnnotateCommand, AnnotateFormat, AnnotateImportArgs, AnnotateServeArgs,
};
pub(crate) use answer::{AnswerArgs, GeneratorChoice};
pub(crate) use ask::{AskArgs, FilterArgs, OutputFormat, TaskArg};
pub(crate) use former::notices as former_names;
pub(crate) use look::{BeyondArgs, GraphSourceArg, LookArgs, SourceArg};
pub(crate) use scholarqa::{
    BenchConvertArgs, BenchReportArgs, BenchRunArgs, BenchScoreArgs, CitationsArg, LessArgs,
    ShapeArg,
};
pub(crate) use serve::{ReachArgs, ServeArgs};
pub(crate) use store::{
    BuildArgs, CompactArgs, DatastoreArgs, DatastoreCommand, EncodingArgs, GivenArgs, IntakeArgs,
    ListFormatArg, ModelsArgs, ModelsCommand, PapersArgs, PapersCommand, PassagesArg, PlanArgs,
    RunsArgs, RunsCommand, SourceArgs,
};
pub(crate) use train::{TrainArgs, TrainCommand, TrainModelArgs};
pub(crate) use train_data::{
    DataPresetArg, GradeArg, QuestionsArg, TrainDataArgs, TrainDecontaminateArgs, TrainExportArgs,
    TrainFitWeightsArgs, TrainScoreTeacherArgs, TrainsArg,
};

/// Ask the scientific literature and get answers in which every sentence is proven.
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
const GLOBAL: &str = "Options of every command";

/// Options every command takes.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct GlobalArgs {
    /// Keep models, datastores, runs, cache and config under this folder instead of the XDG places.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Read this config file instead of the one in the config folder.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON with a schema version instead of text.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// No progress and no notices on stderr.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// More log lines on stderr (-v, -vv, -vvv).
    #[arg(long, short, global = true, help_heading = GLOBAL, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer a question from the datastore, with a located quotation for every sentence.
    Ask(Box<AskArgs>),
    /// Find passages and see why each one ranks where it does.
    Search(Box<SearchArgs>),
    /// List, show, add and remove papers.
    Papers(PapersArgs),
    /// Build, inspect and check datastores.
    Datastore(DatastoreArgs),
    /// List, fetch and check models.
    Models(ModelsArgs),
    /// List, show, explain, replay, verify and compare past answers.
    Runs(RunsArgs),
    /// Measure quality and speed.
    Bench(BenchArgs),
    /// Train encoders, rerankers and judges of support.
    Train(TrainArgs),
    /// Check this installation: what works, what is missing, and how to fix it.
    Doctor(DoctorArgs),
    /// Print shell completions.
    Completions(CompletionsArgs),
    /// Print docs/cli.md.
    #[command(hide = true)]
    CliDocs,
}

impl Command {
    /// Whether it was told to ask nobody.
    pub(crate) fn is_offline(&self) -> bool {
        match self {
            Self::Ask(args) => args.answer.look.offline,
            Self::Search(args) => args.look.offline,
            Self::Papers(args) => match &args.command {
                PapersCommand::Add { intake, .. } => intake.offline,
                _ => false,
            },
            Self::Doctor(args) => args.offline,
            _ => false,
        }
    }
}

/// Which indexes a search asks.
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

/// Find passages and see why each one ranks where it does.
#[derive(Debug, ClapArgs)]
pub(crate) struct SearchArgs {
    /// The query.
    pub(crate) query: String,
    /// Passages to show.
    #[arg(long, short = 'k', default_value_t = 10, value_name = "N")]
    pub(crate) top_k: usize,
    /// Which indexes are searched.
    #[arg(long, value_enum, default_value_t = SearchModeArg::Hybrid)]
    pub(crate) mode: SearchModeArg,
    /// Rerank the passages with the default or the named reranker.
    #[arg(long)]
    pub(crate) rerank: bool,
    /// Rerank with this: a reranker or encoder from the catalog, the folder of a reranker, own, auto.
    #[arg(long, value_name = "NAME")]
    pub(crate) reranker: Option<String>,
    /// Print the arithmetic behind every score.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Compare every passage's vector, even where an inverted index would do.
    #[arg(long)]
    pub(crate) exact: bool,
    /// Datastore to search.
    #[arg(long, value_name = "NAME")]
    pub(crate) datastore: Option<String>,
    /// Where papers are looked for.
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// Which papers may come back.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// Measure quality and speed.
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
    /// Use at most this many queries, the first ones.
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(crate) limit: usize,
    /// Results per query.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top_k: usize,
    /// Search a synthetic datastore of this many passages, made from this one: its words, metadata and vectors keep their distribution.
    #[arg(long, alias = "made", value_name = "N")]
    pub(crate) synthetic: Option<usize>,
    /// Write the report here.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// What the dense index is measured on, and beside whom.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchIndexArgs {
    /// Datastores whose vectors are used; they share one encoder.
    #[arg(required = true, value_name = "NAME")]
    pub(crate) stores: Vec<String>,
    /// Also measure this many synthetic vectors, made from the real ones, of the real dimension or twice that: 2000000x768.
    #[arg(long, alias = "made", value_delimiter = ',', value_name = "ROWSxDIM")]
    pub(crate) synthetic: Vec<String>,
    /// Do not measure the real vectors.
    #[arg(long, alias = "only-made")]
    pub(crate) only_synthetic: bool,
    /// Queries, held out from the real vectors or synthetic.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(crate) queries: usize,
    /// Results per query.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) top_k: usize,
    /// Bits of the codes, 1 or 4.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) bits: u32,
    /// Python with numpy, faiss-cpu, hnswlib and usearch installed; if omitted, only this program is measured.
    #[arg(long, value_name = "PYTHON")]
    pub(crate) peer_python: Option<PathBuf>,
    /// Libraries to compare with, separated by commas.
    #[arg(long, default_value = "faiss,faiss-flat,hnswlib,usearch", value_name = "NAMES")]
    pub(crate) peers: String,
    /// Compare with other libraries on sets of at most this many rows.
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    pub(crate) peer_rows: usize,
    /// Folder for temporary files; needs twice the dimension in bytes for each row.
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// Name of the report.
    #[arg(long, default_value = "index", value_name = "NAME")]
    pub(crate) report: String,
    /// Write the report and its plots here.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Run a system on a task of `ScholarQABench`; the run can be interrupted and continued.
    Run(Box<BenchRunArgs>),
    /// Score the answers of a run or of another system; every number with n, interval and judge.
    Score(Box<BenchScoreArgs>),
    /// Compare runs with each other and with the paper's published numbers, with a page for each item.
    Report(BenchReportArgs),
    /// Convert predictions to another format.
    Convert(BenchConvertArgs),
    /// nDCG@10, Recall@100 and MRR@10 on folders in BEIR layout (corpus.jsonl, queries.jsonl, qrels.tsv).
    Retrieval {
        /// Folders to measure.
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
        /// Systems, separated by commas: bm25, dense and hybrid; each also with +queries (halves of the query are searched too)
        /// or +raw-queries (the same, pooled by unstandardised scores), and with +rerank.
        #[arg(long, value_delimiter = ',', default_value = "bm25,dense,hybrid,hybrid+rerank")]
        systems: Vec<String>,
        /// Encoder to measure with.
        #[arg(long, value_name = "NAME")]
        encoder: Option<String>,
        /// Reranker to measure with: a reranker or encoder from the catalog, the folder of a reranker, own, auto.
        #[arg(long, value_name = "NAME")]
        reranker: Option<String>,
        /// Use at most this many queries of each folder.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Write the report and one file of per-query numbers for each folder here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Encoder throughput and query latency, beside sentence-transformers in the same run.
    Encoder {
        /// Encoder to measure.
        #[arg(long, default_value = "all-MiniLM-L6-v2", value_name = "NAME")]
        model: String,
        /// Python with sentence-transformers and torch installed; if omitted, only this program is measured.
        #[arg(long, value_name = "PYTHON")]
        peer_python: Option<PathBuf>,
        /// Number of passages, from the starter papers.
        #[arg(long, default_value_t = 64, value_name = "N")]
        passages: usize,
        /// Write the report here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Throughput of a reranker or judge, and a cross-encoder's agreement with torch in the same run.
    Reranker {
        /// Reranker or judge to measure: a catalog name or a folder.
        #[arg(long, value_name = "NAME")]
        model: String,
        /// Python with torch and transformers installed; if omitted, only this program is measured.
        #[arg(long, value_name = "PYTHON")]
        peer_python: Option<PathBuf>,
        /// Number of pairs, of one question and passages from the starter papers.
        #[arg(long, default_value_t = 64, value_name = "N")]
        pairs: usize,
        /// Write the report here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Recall, latency, size and build time of the dense index, beside FAISS, hnswlib and usearch in the same run.
    Index(BenchIndexArgs),
    /// Latency of lexical, dense and hybrid search in a datastore, with and without filters, and the recall of the index.
    Search(BenchSearchArgs),
    /// What is extracted from documents and libraries, and how fast.
    Formats {
        /// Documents, libraries and folders of them.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Match their references to the papers of this datastore.
        #[arg(long = "match", value_name = "NAME")]
        known: Option<String>,
        /// Write the report here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Fuzz every reader of files and replies: none may panic, hang or leak. In builds with --features self-test only.
    Fuzz(BenchFuzzArgs),
    /// Ingestion throughput and memory without the encoder: reading, cutting, tokenising, indexing.
    Ingest {
        /// Files of papers, as for `datastore build`.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Dimension of a vector.
        #[arg(long, default_value_t = 384, value_name = "D")]
        dim: usize,
        /// How papers are cut into passages.
        #[arg(long, value_enum, default_value_t = PassagesArg::Sections, value_name = "RULE")]
        passages: PassagesArg,
        /// Write the report here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Size and latency of a datastore's citation graph, extrapolated to 45 million papers.
    Graph {
        /// Datastore to measure.
        name: Option<String>,
        /// Papers to sample, spread evenly over the datastore.
        #[arg(long, default_value_t = 2_000, value_name = "N")]
        papers: usize,
        /// Write the report here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Throughput of the search service under many concurrent clients, batched and one query at a time; then its memory
    /// under clients that do not read their replies and requests of the largest size allowed.
    Serve {
        /// Datastore to serve.
        name: Option<String>,
        /// Concurrent clients.
        #[arg(long, default_value_t = 200, value_name = "N")]
        clients: usize,
        /// Requests in total.
        #[arg(long, default_value_t = 4_000, value_name = "N")]
        requests: usize,
        /// Write the report here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Blind pairwise comparison of two systems' answers by experts, on web pages.
    Annotate(AnnotateArgs),
    /// Abstention: whether questions get an answer from relevant passages and none from irrelevant ones.
    Abstention(BenchAbstentionArgs),
    /// Agreement of a citation judge with human labels of support.
    Attribution {
        /// Folder that holds `claims/`, `attribution/` and `retrieval/scifact_test300/`.
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Judge: lexical, embedded, a judge from the catalog, or the folder of one.
        #[arg(long, default_value = crate::config::DEFAULT_JUDGE)]
        judge: String,
        /// Use at most this many pairs of each set.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Write the report here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Measure when answers are held back.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchAbstentionArgs {
    /// Tasks that come with passages (multi, pubmedqa, scifact), and folders in BEIR layout.
    #[arg(required = true, value_name = "SET")]
    pub(crate) sets: Vec<PathBuf>,
    /// Folder that holds `ScholarQABench`'s files, for tasks.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Use at most this many passages for each question.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) passages: usize,
    /// Use at most this many questions from each set, the first ones.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Seed for drawing the irrelevant questions.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub(crate) seed: u64,
    /// Write the report here.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Broken inputs and what they are made from.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchFuzzArgs {
    /// Well-formed documents, libraries and rows of papers to mutate, or folders of them; some are built in.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Mutated inputs for each reader.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) inputs: u64,
    /// Number of the first input.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the report here.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Check this installation: what works, what is missing, and how to fix it.
#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Send no requests: skip the checks of sources.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Test every source client against a mock server on this machine, faults included. No network. In builds with --features self-test only.
    #[arg(long)]
    pub(crate) self_test: bool,
}

/// Print shell completions.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
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
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
