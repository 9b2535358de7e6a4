//! Options of `papers`, `datastore`, `models` and `runs`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use scholar_core::PaperId;

use super::ServeArgs;

/// List, show, add and remove papers.
#[derive(Debug, ClapArgs)]
pub(crate) struct PapersArgs {
    /// Datastore to work on.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) datastore: Option<String>,
    #[command(subcommand)]
    pub(crate) command: PapersCommand,
}

/// What can be done with papers.
#[derive(Debug, Subcommand)]
pub(crate) enum PapersCommand {
    /// Papers in the datastore.
    List {
        /// At most this many.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
    },
    /// One paper with its passages.
    Show {
        /// Its identifier, for example doi:10.1000/x.
        id: PaperId,
    },
    /// Add papers from files of JSON lines (this project's format, peS2o, BEIR), plain, .gz or .zst.
    Add {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Remove papers.
    Remove {
        /// Their identifiers.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<PaperId>,
    },
}

/// Build, inspect and check datastores.
#[derive(Debug, ClapArgs)]
pub(crate) struct DatastoreArgs {
    #[command(subcommand)]
    pub(crate) command: DatastoreCommand,
}

/// What can be done with datastores.
#[derive(Debug, Subcommand)]
pub(crate) enum DatastoreCommand {
    /// Build a datastore from files; an interrupted build continues.
    Build {
        /// Its name.
        name: String,
        /// Files of JSON lines, plain, .gz or .zst. Left out for `starter`: the papers shipped with the program.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Encoder for the passages.
        #[arg(long, value_name = "NAME")]
        encoder: Option<String>,
        /// Cut passages at this many tokens when encoding (upstream cuts at 256).
        #[arg(long, value_name = "N")]
        encoder_tokens: Option<usize>,
        /// Lower-case texts before encoding, for encoders that distinguish case.
        #[arg(long)]
        lowercase: bool,
        /// Use one character for each kind of dash, quotation mark, slash and dots before encoding.
        #[arg(long)]
        normalize_text: bool,
        /// Encode anew even where precomputed vectors are shipped.
        #[arg(long)]
        encode: bool,
    },
    /// Copy datastores of one encoder into one: parts built on several machines, or a datastore of an older format.
    /// Nothing is encoded anew, and an interrupted merge continues.
    Merge {
        /// Name of the datastore to copy into; it is created if it is absent.
        #[arg(value_name = "NEW")]
        name: String,
        /// Datastores to copy from: names, or folders anywhere.
        #[arg(required = true, value_name = "OLD")]
        from: Vec<String>,
    },
    /// All datastores.
    List,
    /// Counts, sizes and the encoder of a datastore.
    Info {
        /// Its name.
        name: Option<String>,
    },
    /// Check every checksum; with --deep also encode a sample of passages again.
    Verify {
        /// Its name.
        name: Option<String>,
        /// Encode a sample of passages again and compare.
        #[arg(long)]
        deep: bool,
    },
    /// Answer searches over HTTP: the original's POST /search and a typed POST /v1/search.
    Serve(Box<ServeArgs>),
    /// Merge segments, drop what removed papers left, and make the inverted index of a large datastore.
    Compact {
        /// Its name.
        name: Option<String>,
        /// Lists of each inverted index; left out: four for the square root of its rows.
        #[arg(long, value_name = "N")]
        lists: Option<usize>,
        /// Rows from which a segment gets an inverted index; left out: 32768.
        #[arg(long, value_name = "N")]
        indexed_from: Option<u64>,
        /// Bits of its codes, 1 or 4; left out: what it has, 1 at first. Four take five times the space and save reads
        /// where vectors lie on a slow disk.
        #[arg(long, value_name = "N")]
        bits: Option<u32>,
    },
    /// Encode the starter papers and write the vectors that are shipped beside them.
    #[command(hide = true)]
    StarterVectors {
        /// Folder for vectors.f16 and vectors.json.
        #[arg(value_name = "DIR")]
        out: PathBuf,
    },
}

/// List, fetch and check models.
#[derive(Debug, ClapArgs)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) command: ModelsCommand,
}

/// What can be done with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Every model of the catalog, and whether it is here.
    List,
    /// Fetch models; an interrupted download continues.
    Pull {
        /// Names from the catalog; left out: the defaults.
        names: Vec<String>,
        /// Take the files from this folder or file instead of the network.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Hash the files of models again.
    Verify {
        /// Names; left out: every model that is here.
        names: Vec<String>,
    },
}

/// List, show, explain, replay, verify and compare past answers.
#[derive(Debug, ClapArgs)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

/// What can be done with runs. A run is named by its id, a unique beginning of it, or `last`.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Past runs, newest first.
    List {
        /// At most this many.
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// The answer of a run.
    Show {
        /// The run.
        run: String,
    },
    /// Why a reference is cited: its passages, scores, quotations and verdicts.
    Explain {
        /// The run.
        run: String,
        /// Number of the reference; left out: all.
        reference: Option<usize>,
    },
    /// Run the algorithm again on the recorded replies, without network or models, and compare byte for byte.
    Replay {
        /// The run.
        run: String,
    },
    /// Check every quotation of a run against the datastore.
    Verify {
        /// The run.
        run: String,
        /// Datastore to check against; left out: the one the run used.
        #[arg(long, value_name = "NAME")]
        datastore: Option<String>,
    },
    /// What differs between two runs.
    Diff {
        /// The one.
        left: String,
        /// The other.
        right: String,
    },
}
