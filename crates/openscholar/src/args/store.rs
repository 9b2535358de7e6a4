//! Options of `papers`, `datastore`, `models` and `runs`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use scholar_core::{Limit, UnknownLimit};
use scholar_datastore::BuildRules;
use scholar_datastore::export::ExportPart;
use scholar_datastore::ingest::{FieldMap, Format, Shard};

use super::{
    ExplainArgs, FilterArgs, GraphArgs, GraphSourceArgs, OutputFormat, PageArgs, ScreenArgs,
    ServeArgs, TableArgs,
};

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
    List(Box<ListArgs>),
    /// Show one paper with where each field comes from, and its passages; or a page of its PDF, with words marked.
    Show {
        /// The paper: an identifier such as doi:10.1000/x, a citation key, the path of its file, or words of its title.
        id: String,
        /// A page of its PDF.
        #[command(flatten)]
        page: PageArgs,
    },
    /// Add papers: documents (PDF, JATS, TEI, LaTeXML HTML, Markdown, text), folders of them, libraries (BibTeX, RIS,
    /// CSL-JSON, Zotero), identifiers (doi:…, arxiv:…, pmid:…), exact titles (title:…), results of Semantic Scholar's bulk
    /// search (bulk:…), and files of JSON lines as for `datastore build`.
    ///
    /// A folder with zotero.sqlite is read as that library; `zotero:` or `zotero:COLLECTION` reads from a running Zotero.
    #[command(arg_required_else_help = true)]
    Add {
        /// Files to read.
        #[command(flatten)]
        sources: SourceArgs,
        /// How documents and libraries are read.
        #[command(flatten)]
        intake: IntakeArgs,
    },
    /// Check the files that papers were read from: changed, missing. Exits with 4 if there are any.
    Check {
        /// Give up missing files: papers lose their text, and those that came from nothing else are removed.
        #[arg(long)]
        forget: bool,
    },
    /// List pairs of papers that may be one work and were not joined, with what speaks against it.
    Duplicates {
        /// Maximum number of results.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
    },
    /// Make one paper of several, with all their identifiers, files and metadata.
    Merge {
        /// The papers: identifiers, citation keys, paths, or words of titles.
        #[arg(required = true, num_args = 2.., value_name = "ID")]
        ids: Vec<String>,
    },
    /// Take records out of a paper that was joined wrongly, or say that papers are different works. Without more than the paper,
    /// list its records.
    Split {
        /// The paper.
        id: String,
        /// Numbers of the records that become a paper of their own, or other papers that are different works.
        #[arg(value_name = "NUMBER|ID")]
        others: Vec<String>,
    },
    /// List the works that papers of the datastore cite most and that are not in it.
    Wanted {
        /// Maximum number of results.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
        /// Print as this format instead of a table.
        #[arg(long, value_enum)]
        format: Option<PapersFormatArg>,
    },
    /// Export papers for reference managers.
    Export {
        /// The papers [default: all in the datastore].
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        /// Export the references of this run's answer instead.
        #[arg(long, value_name = "RUN", conflicts_with = "ids")]
        run: Option<String>,
        /// Output format [default: bibtex, with --json csl].
        #[arg(long, value_enum)]
        format: Option<ListFormatArg>,
        /// Write to this file instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List the papers that a paper cites, and which of them are in the datastore.
    References {
        /// The paper: an identifier, a citation key, the path of its file, or words of its title.
        id: String,
        /// Maximum number of results.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
        /// Other sources to query.
        #[command(flatten)]
        graph_sources: GraphSourceArgs,
    },
    /// List the papers in the datastore that cite a paper, which itself need not be there.
    #[command(alias = "citers")]
    CitedBy {
        /// The paper: an identifier, a citation key, the path of its file, or words of its title.
        id: String,
        /// Maximum number of results.
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
        /// Other sources to query.
        #[command(flatten)]
        graph_sources: GraphSourceArgs,
    },
    /// List related papers: those that share references (bibliographic coupling) or are cited together (co-citation).
    Related {
        /// The paper: an identifier, a citation key, the path of its file, or words of its title.
        id: String,
        /// Maximum number of results.
        #[arg(long, default_value_t = 10, value_name = "N")]
        limit: usize,
        /// Other sources to query.
        #[command(flatten)]
        graph_sources: GraphSourceArgs,
    },
    /// Show the citation graph around a paper: papers within a few references, and the references between them.
    #[command(alias = "neighbours")]
    Graph(Box<GraphArgs>),
    /// Screen papers for a systematic review: each against each criterion, with a located quotation; an interrupted screening
    /// resumes.
    Screen(Box<ScreenArgs>),
    /// Make a table of papers: one row a paper, one column a property or question, every cell the paper's own words with their
    /// place, or absent.
    Table(Box<TableArgs>),
    /// Remove papers.
    Remove {
        /// The papers: identifiers, citation keys, paths of their files, or words of their titles.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

/// Which papers are listed, and how.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct ListArgs {
    /// Words of title, authors or venue; all must be there.
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Maximum number of results.
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) limit: usize,
    /// Only papers by this author; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Vec<String>,
    /// Only papers of which no year is known.
    #[arg(long)]
    pub(crate) unknown_year: bool,
    /// Order of the list.
    #[arg(long, value_enum, default_value_t = ListSortArg::Stored)]
    pub(crate) sort: ListSortArg,
    /// Print as this format instead of a table.
    #[arg(long, value_enum)]
    pub(crate) format: Option<PapersFormatArg>,
    /// Which papers are listed.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// Orders of a list of papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListSortArg {
    /// As they were stored.
    Stored,
    /// Newest first, unknown years last.
    Year,
    /// By title.
    Title,
    /// By the first author's name.
    Author,
    /// Most cited first.
    Citations,
}

/// Formats of lists of papers, beside tables and JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PapersFormatArg {
    /// Comma-separated values.
    Csv,
    /// BibTeX.
    Bibtex,
}

/// Bibliography formats.
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
    /// Only this collection of a library, with its subcollections; nested ones as outer/inner.
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<String>,
    /// Do not look up metadata of documents at Crossref, OpenAlex and other registries.
    #[arg(long)]
    pub(crate) no_lookup: bool,
    /// Send no requests; use only cached replies.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Maximum number of papers per `bulk:` search, most cited first; at least 1.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) bulk_limit: usize,
    /// Also read attachments of a library from this folder, and resolve relative names against it; repeatable. By default,
    /// attachments are read only from beside the library, from Zotero's storage beside its database, or from ~/Zotero/storage
    /// for a running Zotero.
    #[arg(long, value_name = "DIR")]
    pub(crate) attachments: Vec<PathBuf>,
    /// In folders, also follow symbolic links that lead out of them.
    #[arg(long)]
    pub(crate) follow_links: bool,
    /// Read files again that are stored as they are, for example with a newer version of the program.
    #[arg(long)]
    pub(crate) reread: bool,
    /// Keep running, and add files that appear or change in the folders, until Ctrl-C.
    #[arg(long)]
    pub(crate) watch: bool,
}

/// Files of papers, and how they are read.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct SourceArgs {
    /// Files to read. JSON lines may be plain, .gz or .zst; files of a Semantic Scholar dump (papers, abstracts,
    /// citations, s2orc) are joined by corpus id.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the files [default: detected from each file's first lines]: papers, pes2o, beir, openalex, s2-papers,
    /// s2-abstracts, s2-citations, s2orc, acl, arxiv, pmc.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Field mapping for other JSON schemas, as JSON pointers: title=/paper/name,text=/body,id=/doi,year=/y. Also
    /// abstract, authors, date, venue, url, licence, citations, references, doi, arxiv, pmid, corpusid, openalex.
    #[arg(long, value_name = "MAP", conflicts_with = "format")]
    pub(crate) fields: Option<FieldMap>,
    /// Read only shard I of N, counted from 0, for example 0/16. A line belongs to the shard that contains its first byte; a
    /// compressed file belongs to one shard as a whole. Join the shards with `datastore merge`.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// File for rejected records, with line and reason [default: NAME.rejects.jsonl beside the datastore].
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Keep words that have lost the space between them (`wecan`, `ofthe`) as they are. By default, those in PDFs and JSON
    /// lines are divided before they are stored, and counted.
    #[arg(long)]
    pub(crate) keep_lost_spaces: bool,
    /// Skip the initial verification of all checksums, which reads the whole datastore from disk. Files are then checked only
    /// when they are merged, or when papers in them are replaced or removed; `datastore verify` checks the rest later.
    #[arg(long)]
    pub(crate) skip_check: bool,
    /// Override an input limit: file-bytes, line-bytes, unpack-ratio, stream-bytes, pages, drawings, sections, references,
    /// text-bytes, seconds; repeatable. docs/data-formats.md explains each.
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    pub(crate) limits: Vec<(Limit, u64)>,
}

/// `sections=20000`.
fn limit(text: &str) -> Result<(Limit, u64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=N, for example sections=20000")?;
    let limit: Limit = name.parse().map_err(|error: UnknownLimit| error.to_string())?;
    let value =
        value.trim().replace('_', "").parse().map_err(|_| format!("{value:?} is not a number"))?;
    Ok((limit, value))
}

/// Sources and settings of a datastore.
#[derive(Debug, ClapArgs)]
pub(crate) struct BuildArgs {
    /// Name of the datastore.
    pub(crate) name: String,
    /// Files to read [default for `starter`: the papers shipped with the program].
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// How passages are encoded.
    #[command(flatten)]
    pub(crate) encoding: EncodingArgs,
    /// Precomputed passages and vectors.
    #[command(flatten)]
    pub(crate) given: GivenArgs,
    /// How a new datastore splits papers into passages of 256 words [default: sections].
    #[arg(long, value_enum, value_name = "RULE")]
    pub(crate) passages: Option<PassagesArg>,
    /// Encode the passages even if precomputed vectors are shipped.
    #[arg(long)]
    pub(crate) encode: bool,
}

/// How passages are encoded.
#[derive(Debug, ClapArgs)]
pub(crate) struct EncodingArgs {
    /// Encoder: a name from the catalog or a folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) encoder: Option<String>,
    /// Truncate passages to N tokens for encoding (the reference code: 256).
    #[arg(long, value_name = "N")]
    pub(crate) encoder_tokens: Option<usize>,
    /// Lower-case texts before encoding.
    #[arg(long)]
    pub(crate) lowercase: bool,
    /// Normalise variants of dashes, quotation marks, slashes and ellipses before encoding.
    #[arg(long)]
    pub(crate) normalize_text: bool,
}

/// Passages that were split and encoded elsewhere.
#[derive(Debug, ClapArgs)]
pub(crate) struct GivenArgs {
    /// Precomputed passages (JSON lines): `text`, `paper` or `origin_id`, and optionally `id`, `title`, `section`.
    #[arg(long, value_name = "FILE", requires = "vectors", conflicts_with = "files")]
    pub(crate) passages_file: Option<PathBuf>,
    /// Their vectors, computed by --encoder: a numpy file of float16 or float32, one row per passage.
    #[arg(long, value_name = "NPY", requires = "passages_file")]
    pub(crate) vectors: Option<PathBuf>,
    /// The `id` of each row of --vectors: a numpy file of integers [default: the order of the passages].
    #[arg(long, value_name = "NPY", requires = "vectors")]
    pub(crate) vector_ids: Option<PathBuf>,
}

/// Assumptions of a size estimate.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanArgs {
    /// Number of papers.
    #[arg(long, value_name = "N")]
    pub(crate) papers: f64,
    /// Vector dimension.
    #[arg(long, value_name = "D", default_value_t = 768.0)]
    pub(crate) dim: f64,
    /// Passages per paper: 5.24 for the full texts of the Nature article (236 million of 45 million papers), 1 for abstracts.
    #[arg(long, value_name = "X", default_value_t = 5.24)]
    pub(crate) passages_per_paper: f64,
    /// Bytes of text and lexical index per passage. Source: docs/results/ingest.md, full texts.
    #[arg(long, value_name = "BYTES", default_value_t = 2_200.0)]
    pub(crate) bytes_per_passage: f64,
    /// Ingestion rate in passages/s on two cores: reading, splitting, indexing. Source: docs/results/ingest.md.
    #[arg(long, value_name = "RATE", default_value_t = 5_000.0)]
    pub(crate) ingest_rate: f64,
    /// Encoding rate of one machine in passages/s, as measured by `openscholar bench encoder`. Source:
    /// docs/results/encoder-all-MiniLM-L6-v2.md, two cores; a GPU reaches thousands.
    #[arg(long, value_name = "RATE", default_value_t = 40.0)]
    pub(crate) encode_rate: f64,
    /// Indexing rate of two cores in 768-dimensional vectors/s. Source: docs/results/index-growth.md, two
    /// million vectors.
    #[arg(long, value_name = "RATE", default_value_t = 40_000.0)]
    pub(crate) index_rate: f64,
    /// Number of machines that share the build by --shard.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub(crate) machines: f64,
}

/// How papers are split into passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PassagesArg {
    /// Blocks of 256 words over the whole text, as in the paper.
    Paper,
    /// Blocks of 256 words within each section.
    Sections,
}

impl PassagesArg {
    /// The splitting rules of this choice.
    pub(crate) fn rules(self) -> BuildRules {
        match self {
            Self::Paper => BuildRules::paper(),
            Self::Sections => BuildRules::sections(),
        }
    }
}

/// Settings of a compaction.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompactArgs {
    /// Name of the datastore.
    pub(crate) name: Option<String>,
    /// Number of inverted lists (clusters) per index [default: twice the square root of its rows].
    #[arg(long, alias = "lists", value_name = "N")]
    pub(crate) nlist: Option<usize>,
    /// Minimum number of rows for an inverted index [default: 32768].
    #[arg(long, value_name = "N")]
    pub(crate) indexed_from: Option<u64>,
    /// Bits per dimension of its codes, 1 or 4 [default: unchanged, initially 1]. 4 takes five times the space and saves reads
    /// if vectors are on a slow disk.
    #[arg(long, value_name = "N")]
    pub(crate) bits: Option<u32>,
}

/// Build, inspect and check datastores.
#[derive(Debug, ClapArgs)]
pub(crate) struct DatastoreArgs {
    #[command(subcommand)]
    pub(crate) command: DatastoreCommand,
}

/// Verbs on datastores.
#[derive(Debug, Subcommand)]
pub(crate) enum DatastoreCommand {
    /// Build a datastore from files; an interrupted build resumes.
    Build(Box<BuildArgs>),
    /// Merge datastores with the same encoder: shards built on several machines, or a datastore of an older format. Nothing is
    /// re-encoded, and an interrupted merge resumes.
    Merge {
        /// Datastore to merge into, created if absent.
        #[arg(value_name = "NEW")]
        name: String,
        /// Datastores to merge: names or folders.
        #[arg(required = true, value_name = "OLD")]
        from: Vec<String>,
    },
    /// Export papers, passages, vectors and citation edges as Parquet files.
    Export {
        /// Name of the datastore.
        name: String,
        /// Folder for the files.
        #[arg(value_name = "DIR")]
        out: PathBuf,
        /// Comma-separated parts to export.
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "papers,passages,vectors,edges",
            value_name = "PARTS"
        )]
        what: Vec<ExportPart>,
    },
    /// Estimate size, memory and build time of a datastore.
    Plan(PlanArgs),
    /// Make a datastore the default one, which commands use when none is named.
    Use {
        /// Name of the datastore.
        name: String,
    },
    /// Delete a datastore with all its papers. Runs that used it stay.
    Remove {
        /// Name of the datastore.
        name: String,
        /// Delete it without asking.
        #[arg(long)]
        yes: bool,
    },
    /// List all datastores.
    List,
    /// Show counts, sizes and the encoder of a datastore.
    Info {
        /// Name of the datastore.
        name: Option<String>,
    },
    /// Verify all checksums; with --deep, also re-encode a sample of passages.
    Verify {
        /// Name of the datastore.
        name: Option<String>,
        /// Re-encode a sample of passages and compare.
        #[arg(long)]
        deep: bool,
    },
    /// Copy what can be saved from a damaged datastore into a new one, and list what is lost. The damaged one is only read.
    ///
    /// A paper is saved if its record is in an undamaged file or still matches its digest. Vectors of damaged files are encoded
    /// again. Exits with 4 if a paper is lost. Example: openscholar datastore repair papers --to papers-repaired
    Repair {
        /// Damaged datastore: name or folder.
        name: String,
        /// Name of the new datastore; an interrupted repair resumes.
        #[arg(long, value_name = "NEW")]
        to: String,
    },
    /// Serve searches over HTTP: the reference implementation's POST /search and a typed POST /v1/search.
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

/// List, download and verify models.
#[derive(Debug, ClapArgs)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    pub(crate) command: ModelsCommand,
}

/// What can be done with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models of the catalog and whether they are installed.
    List,
    /// Recommend a language model for this machine, by its free memory and measured speed; nothing is downloaded.
    Recommend,
    /// Download models; an interrupted download resumes.
    Pull {
        /// Names from the catalog [default: the default models].
        names: Vec<String>,
        /// Copy the files from this folder or file instead of downloading them.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Verify the checksums of installed models.
    Verify {
        /// Names of models [default: all installed ones].
        names: Vec<String>,
    },
    /// Quantise a trained model to int8, a quarter of its size.
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

/// Verbs on runs. A run is named by its id, a unique prefix of it, or `last`.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List past runs, newest first.
    List {
        /// Maximum number of results.
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// List threads: questions with their follow-ups, the latest first.
    Threads {
        /// Maximum number of results.
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
    },
    /// Print a thread: all questions and answers up to this run, with one list of references.
    Thread {
        /// Run id, a unique prefix of it, or `last`.
        #[arg(default_value = "last")]
        run: String,
        /// Write to this file instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Print the answer of a run.
    Show {
        /// Run id, a unique prefix of it, or `last`.
        run: String,
        /// Print the proof as canonical JSON (RFC 8785) instead: the signed bytes.
        #[arg(long)]
        proof: bool,
    },
    /// Explain how an answer was found, by outline and tree where it has them, and why a reference is cited: its passages,
    /// scores, quotations and verdicts.
    Explain(ExplainArgs),
    /// Replay a run on the recorded replies, without network or models, and compare byte for byte.
    Replay {
        /// Run id, a unique prefix of it, or `last`.
        run: String,
    },
    /// Derive a run's answer and proof again from its journal, compare all files, and locate all quotations in the datastore,
    /// without network or models.
    Verify {
        /// Run id, a unique prefix of it, or `last`.
        run: String,
        /// Datastore to check against [default: the one the run used].
        #[arg(long, value_name = "NAME")]
        datastore: Option<String>,
        /// Require a signature by this key: a public key (KEY.pub) or a file of allowed signers.
        #[arg(long, value_name = "FILE")]
        signer: Option<PathBuf>,
    },
    /// Verify a run, then sign its proof in OpenSSH's format.
    Sign {
        /// Run id, a unique prefix of it, or `last`.
        run: String,
        /// Private Ed25519 key without a passphrase.
        key: PathBuf,
    },
    /// Export an answer or a review as a document, with citations in any style.
    Export {
        /// Run id, a unique prefix of it, or `last`.
        run: String,
        /// Format of the document or bibliography.
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
