//! Options of `papers`, `datastore`, `models` and `runs`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use scholar_core::{Limit, PaperId, UnknownLimit};
use scholar_datastore::BuildRules;
use scholar_datastore::export::ExportPart;
use scholar_datastore::ingest::{FieldMap, Format, Shard};

use super::{BeyondArgs, OutputFormat, ServeArgs};

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
    /// List the papers of the datastore.
    List {
        /// Return at most this many.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
    },
    /// Show one paper with its passages.
    Show {
        /// Its identifier, for example doi:10.1000/x.
        id: PaperId,
    },
    /// Add papers: documents (PDF, JATS, TEI, LaTeXML HTML, Markdown, text), folders of them, libraries (BibTeX, RIS,
    /// CSL-JSON, Zotero), identifiers (doi:…, arxiv:…, pmid:…), whole titles (title:…), what a search at Semantic Scholar
    /// lists (bulk:…), and files of JSON lines as `datastore build` reads them.
    ///
    /// A folder with zotero.sqlite is that library; `zotero:` or `zotero:COLLECTION` asks the Zotero that runs here.
    #[command(arg_required_else_help = true)]
    Add {
        /// What is read.
        #[command(flatten)]
        sources: SourceArgs,
        /// How documents and libraries are read.
        #[command(flatten)]
        intake: IntakeArgs,
    },
    /// Write papers as a list for reference managers.
    Export {
        /// Identifiers of the papers; if omitted, all of the datastore.
        #[arg(value_name = "ID")]
        ids: Vec<PaperId>,
        /// Export the references of this run's answer instead.
        #[arg(long, value_name = "RUN", conflicts_with = "ids")]
        run: Option<String>,
        /// Format of the list.
        #[arg(long, value_enum, default_value_t = ListFormatArg::Bibtex)]
        format: ListFormatArg,
        /// Write to this file instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List what a paper cites, and which of it is in the datastore.
    References {
        /// Its identifier.
        id: PaperId,
        /// Return at most this many.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
        /// Other sources to ask.
        #[command(flatten)]
        beyond: BeyondArgs,
    },
    /// List the papers in the datastore that cite a paper, which itself need not be there.
    #[command(alias = "citers")]
    CitedBy {
        /// Its identifier.
        id: PaperId,
        /// Return at most this many.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
        /// Other sources to ask.
        #[command(flatten)]
        beyond: BeyondArgs,
    },
    /// List related papers: those that share references (bibliographic coupling) or are cited together (co-citation).
    Related {
        /// Identifier of the paper.
        id: PaperId,
        /// Return at most this many.
        #[arg(long, default_value_t = 10, value_name = "N")]
        limit: usize,
        /// Other sources to ask.
        #[command(flatten)]
        beyond: BeyondArgs,
    },
    /// Show the citation neighbourhood of a paper: papers within a few references, and the references between them.
    Neighbours {
        /// Identifier of the central paper.
        id: PaperId,
        /// Maximum distance in references.
        #[arg(long, default_value_t = 1, value_name = "N")]
        hops: u32,
        /// Direction in which references are followed.
        #[arg(long, value_enum, default_value_t = DirectionArg::Both)]
        direction: DirectionArg,
        /// Follow at most this many links of each paper, per direction.
        #[arg(long, default_value_t = 100, value_name = "N")]
        links: usize,
        /// Return at most this many papers.
        #[arg(long, default_value_t = 200, value_name = "N")]
        limit: usize,
    },
    /// Remove papers.
    Remove {
        /// Their identifiers.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<PaperId>,
    },
}

/// Formats of lists of papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormatArg {
    /// BibTeX.
    Bibtex,
    /// RIS.
    Ris,
    /// CSL-JSON.
    Csl,
}

/// How documents and libraries are read.
#[expect(clippy::struct_excessive_bools, reason = "four switches that do not depend on each other")]
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct IntakeArgs {
    /// Only this collection of a library, with its subcollections; a nested one as outer/inner.
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// Do not look up documents' metadata by their identifiers at Crossref, OpenAlex and other registries.
    #[arg(long)]
    pub(crate) no_lookup: bool,
    /// Send no requests: use only replies cached by earlier runs.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Take at most this many papers from each `bulk:` search, most cited first.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) bulk_limit: usize,
    /// Also read files of a library that lie in this folder, and look there for those that it names without one. Otherwise
    /// only files beside a list, in Zotero's storage beside its database, or in ~/Zotero/storage of the Zotero that runs
    /// here are read. Repeat for several.
    #[arg(long, value_name = "DIR")]
    pub(crate) attachments: Vec<PathBuf>,
    /// In folders, also follow symbolic links that lead out of them.
    #[arg(long)]
    pub(crate) follow_links: bool,
    /// Keep running and add what appears or changes in the named folders, until Ctrl-C.
    #[arg(long)]
    pub(crate) watch: bool,
}

/// Files of papers, and how they are read.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct SourceArgs {
    /// What to read. Files of JSON lines may be plain, .gz or .zst; files of a Semantic Scholar dump (papers, abstracts,
    /// citations, s2orc) are joined by corpus id.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the files; if omitted, detected from each file's first line: papers, pes2o, beir, openalex, s2-papers,
    /// s2-abstracts, s2-citations, s2orc, acl, arxiv, pmc.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Field mapping for rows of any other schema, as JSON pointers: title=/paper/name,text=/body,id=/doi,year=/y. Also
    /// abstract, authors, date, venue, url, licence, citations, references, doi, arxiv, pmid, corpusid, openalex.
    #[arg(long, value_name = "MAP", conflicts_with = "format")]
    pub(crate) fields: Option<FieldMap>,
    /// Read only part I of N of the files, counted from 0: 0/16. A line belongs to the part that has its first byte; a
    /// compressed file belongs to one part whole. Join the parts with `datastore merge`.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Write every rejected record, with its line and the reason, to this file; if omitted, to
    /// NAME.rejects.jsonl beside the datastore.
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Do not compare every file that is there with its checksum first, which takes as long as reading the whole datastore
    /// from its disk. Files are then checked when they are merged, or when papers in them are replaced or removed; what
    /// is only looked up is not, and `datastore verify` does it later.
    #[arg(long)]
    pub(crate) skip_check: bool,
    /// Override a read limit: file-bytes, line-bytes, unpack-ratio, stream-bytes, pages, drawings, sections,
    /// references, text-bytes, seconds. Repeat for several; docs/data-formats.md says what each bounds.
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    pub(crate) limits: Vec<(Limit, u64)>,
}

/// `sections=20000`.
fn limit(text: &str) -> Result<(Limit, u64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=N, for example sections=20000")?;
    let limit: Limit = name.parse().map_err(|error: UnknownLimit| error.to_string())?;
    let value =
        value.trim().replace('_', "").parse().map_err(|_| format!("{value:?} is no number"))?;
    Ok((limit, value))
}

/// What a datastore is built from, and how.
#[derive(Debug, ClapArgs)]
pub(crate) struct BuildArgs {
    /// Its name.
    pub(crate) name: String,
    /// Files to read; without any, `starter` is built from the papers shipped with the program.
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// How passages are encoded.
    #[command(flatten)]
    pub(crate) encoding: EncodingArgs,
    /// Passages that come with vectors.
    #[command(flatten)]
    pub(crate) given: GivenArgs,
    /// How a new datastore cuts papers into passages of 256 words; sections if left out.
    #[arg(long, value_enum, value_name = "RULE")]
    pub(crate) passages: Option<PassagesArg>,
    /// Re-encode even where precomputed vectors are shipped.
    #[arg(long)]
    pub(crate) encode: bool,
}

/// How passages are encoded.
#[derive(Debug, ClapArgs)]
pub(crate) struct EncodingArgs {
    /// Encoder for the passages.
    #[arg(long, value_name = "NAME")]
    pub(crate) encoder: Option<String>,
    /// Truncate passages to this many tokens when encoding (upstream truncates to 256).
    #[arg(long, value_name = "N")]
    pub(crate) encoder_tokens: Option<usize>,
    /// Lower-case texts before encoding, for encoders that distinguish case.
    #[arg(long)]
    pub(crate) lowercase: bool,
    /// Normalise dashes, quotation marks, slashes and ellipses to one character each before encoding.
    #[arg(long)]
    pub(crate) normalize_text: bool,
}

/// Passages that were cut and encoded elsewhere.
#[derive(Debug, ClapArgs)]
pub(crate) struct GivenArgs {
    /// Precomputed passages, one JSON line each: `text`, and `paper` or `origin_id`, `id`, `title`,
    /// `section`.
    #[arg(long, value_name = "FILE", requires = "vectors", conflicts_with = "files")]
    pub(crate) passages_file: Option<PathBuf>,
    /// Their vectors, made by --encoder: a numpy file of float16 or float32, one row for each passage.
    #[arg(long, value_name = "NPY", requires = "passages_file")]
    pub(crate) vectors: Option<PathBuf>,
    /// The `id` of each row of the vectors, when they are not in the order of the passages: a numpy file of integers.
    #[arg(long, value_name = "NPY", requires = "vectors")]
    pub(crate) vector_ids: Option<PathBuf>,
}

/// How large a datastore will be.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanArgs {
    /// Papers.
    #[arg(long, value_name = "N")]
    pub(crate) papers: f64,
    /// Dimension of a vector.
    #[arg(long, value_name = "D", default_value_t = 768.0)]
    pub(crate) dim: f64,
    /// Passages in a paper. 236 million of 45 million papers in the Nature article; abstracts alone have one.
    #[arg(long, value_name = "X", default_value_t = 5.24)]
    pub(crate) passages_per_paper: f64,
    /// Bytes of texts and lexical index for each passage. Source: docs/results/ingest.md, full texts.
    #[arg(long, value_name = "BYTES", default_value_t = 2_200.0)]
    pub(crate) bytes_per_passage: f64,
    /// Ingestion rate in passages/s on two cores: reading, cutting, indexing. Source: docs/results/ingest.md.
    #[arg(long, value_name = "RATE", default_value_t = 5_000.0)]
    pub(crate) ingest_rate: f64,
    /// Encoding rate of one machine in passages/s; `openscholar bench encoder` measures yours. Source:
    /// docs/results/encoder-all-MiniLM-L6-v2.md for two cores; a GPU does thousands.
    #[arg(long, value_name = "RATE", default_value_t = 40.0)]
    pub(crate) encode_rate: f64,
    /// Indexing rate of two cores in 768-dimensional vectors/s. Source: docs/results/index-growth.md, two
    /// million of them.
    #[arg(long, value_name = "RATE", default_value_t = 40_000.0)]
    pub(crate) index_rate: f64,
    /// Machines that share reading and encoding by --shard.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub(crate) machines: f64,
}

/// How papers are cut into passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PassagesArg {
    /// Blocks of 256 words over the whole text, as the paper cuts them.
    Paper,
    /// Blocks of 256 words inside each section, so that a passage says where it comes from.
    Sections,
}

impl PassagesArg {
    /// The cutting rules that this stands for.
    pub(crate) fn rules(self) -> BuildRules {
        match self {
            Self::Paper => BuildRules::paper(),
            Self::Sections => BuildRules::sections(),
        }
    }
}

/// Direction in which references are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionArg {
    /// To the papers it cites.
    References,
    /// To the papers that cite it.
    #[value(alias = "citers")]
    CitedBy,
    /// Both ways.
    Both,
}

impl From<DirectionArg> for scholar_datastore::graph::Direction {
    fn from(direction: DirectionArg) -> Self {
        match direction {
            DirectionArg::References => Self::References,
            DirectionArg::CitedBy => Self::CitedBy,
            DirectionArg::Both => Self::Both,
        }
    }
}

/// What is compacted, and what its indexes are like afterwards.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompactArgs {
    /// Its name.
    pub(crate) name: Option<String>,
    /// Inverted lists (clusters) of each index; left out: twice the square root of its rows.
    #[arg(long, alias = "lists", value_name = "N")]
    pub(crate) nlist: Option<usize>,
    /// Rows from which a segment gets an inverted index; left out: 32768.
    #[arg(long, value_name = "N")]
    pub(crate) indexed_from: Option<u64>,
    /// Bits of its codes, 1 or 4; left out: what it has, 1 at first. Four take five times the space and save reads
    /// where vectors lie on a slow disk.
    #[arg(long, value_name = "N")]
    pub(crate) bits: Option<u32>,
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
    Build(Box<BuildArgs>),
    /// Copy datastores of one encoder into one: parts built on several machines, or a datastore of an older format.
    /// Nothing is re-encoded, and an interrupted merge continues.
    Merge {
        /// Name of the datastore to copy into; it is created if it is absent.
        #[arg(value_name = "NEW")]
        name: String,
        /// Datastores to copy from: names, or folders anywhere.
        #[arg(required = true, value_name = "OLD")]
        from: Vec<String>,
    },
    /// Write papers, passages, vectors and citation edges as Parquet files that other tools read.
    Export {
        /// Its name.
        name: String,
        /// Folder for the files.
        #[arg(value_name = "DIR")]
        out: PathBuf,
        /// What to write.
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "papers,passages,vectors,edges",
            value_name = "PARTS"
        )]
        what: Vec<ExportPart>,
    },
    /// Estimate size, memory and hours of a datastore before it is built.
    Plan(PlanArgs),
    /// List all datastores.
    List,
    /// Show counts, sizes and the encoder of a datastore.
    Info {
        /// Its name.
        name: Option<String>,
    },
    /// Verify every checksum; with --deep also re-encode a sample of passages.
    Verify {
        /// Its name.
        name: Option<String>,
        /// Re-encode a sample of passages and compare.
        #[arg(long)]
        deep: bool,
    },
    /// Copy what can be saved of a damaged datastore into a new one, and list what is lost. The damaged one is only read.
    ///
    /// A paper is saved where its record lies in an undamaged file, or its digest proves that it is what was stored. Vectors
    /// of damaged files are encoded anew. Ends with 4 when a paper is lost. For example: openscholar datastore repair
    /// papers --to papers-repaired
    Repair {
        /// Name of the damaged datastore, or its folder.
        name: String,
        /// Name of the datastore to copy into; it is created, and an interrupted repair continues.
        #[arg(long, value_name = "NEW")]
        to: String,
    },
    /// Answer searches over HTTP: the original's POST /search and a typed POST /v1/search.
    Serve(Box<ServeArgs>),
    /// Merge segments, reclaim the space of removed papers, and build the inverted (IVF) index of a large datastore.
    Compact(CompactArgs),
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
    /// List the models of the catalog, and which are installed.
    List,
    /// Fetch models; an interrupted download continues.
    Pull {
        /// Names from the catalog; if omitted, the defaults.
        names: Vec<String>,
        /// Take the files from this folder or file instead of the network.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Verify the checksums of installed models.
    Verify {
        /// Names; if omitted, every installed model.
        names: Vec<String>,
    },
    /// Quantise a trained model to int8, a quarter of the size, as shipped models are.
    Pack {
        /// Folder of the model.
        #[arg(value_name = "FOLDER")]
        from: PathBuf,
        /// Folder to write.
        #[arg(value_name = "OUT")]
        to: PathBuf,
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
    /// List past runs, newest first.
    List {
        /// Return at most this many.
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// Print the answer of a run.
    Show {
        /// The run.
        run: String,
        /// Print its proof as canonical JSON (RFC 8785) instead: the bytes that are signed.
        #[arg(long)]
        proof: bool,
    },
    /// Explain why a reference is cited: its passages, scores, quotations and verdicts.
    Explain {
        /// The run.
        run: String,
        /// Number of the reference; if omitted, all.
        reference: Option<usize>,
    },
    /// Run the algorithm again on the recorded replies, without network or models, and compare byte for byte.
    Replay {
        /// The run.
        run: String,
    },
    /// Derive a run's answer and proof again from its journal, compare every file, and locate every quotation in the
    /// datastore. No network, no model.
    Verify {
        /// The run.
        run: String,
        /// Datastore to check against; if omitted, the one the run used.
        #[arg(long, value_name = "NAME")]
        datastore: Option<String>,
        /// Accept only a signature by this key: a public key (KEY.pub), or a file of allowed signers.
        #[arg(long, value_name = "FILE")]
        signer: Option<PathBuf>,
    },
    /// Sign the proof of a run in OpenSSH's format, once it is verified.
    Sign {
        /// The run.
        run: String,
        /// Private key of Ed25519 without a passphrase.
        key: PathBuf,
    },
    /// Write a past answer as a document with citations in any style.
    Export {
        /// The run.
        run: String,
        /// Format of the document, or of the list of its references.
        #[arg(long, value_enum, default_value_t = OutputFormat::Html)]
        to: OutputFormat,
        /// Citation style: apa, ieee, vancouver, nature, chicago, acm, any name of the CSL repository, or a .csl file.
        #[arg(long, value_name = "NAME")]
        style: Option<String>,
        /// Write to this file instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Compare two runs.
    Diff {
        /// The first run.
        left: String,
        /// The second run.
        right: String,
    },
}
