//! Options that say where papers are looked for.

use clap::{Args as ClapArgs, ValueEnum};

/// Where papers are looked for.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct LookArgs {
    /// Sources to search, separated by commas. If omitted, those of the config file, else the datastore alone.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) sources: Vec<SourceArg>,
    /// Send no requests: use only datastores and replies cached by earlier runs, however old.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Papers of each search whose full text is fetched; 0 for abstracts only.
    #[arg(long, value_name = "N")]
    pub(crate) full_texts: Option<usize>,
}

/// Who is asked about a paper beyond the datastore.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct BeyondArgs {
    /// Sources to ask instead of the datastore, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) sources: Vec<GraphSourceArg>,
    /// Send no requests: use only replies cached by earlier runs, however old.
    #[arg(long, requires = "sources")]
    pub(crate) offline: bool,
    /// Only papers published strictly before this day (YYYY-MM-DD).
    #[arg(long, value_name = "DAY", requires = "sources")]
    pub(crate) before: Option<jiff::civil::Date>,
    /// Add the papers to this datastore; without a name, to the current one.
    #[arg(long, value_name = "NAME", num_args = 0..=1, requires = "sources")]
    pub(crate) save: Option<Option<String>>,
}

/// Who knows what papers cite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum GraphSourceArg {
    /// Semantic Scholar.
    S2,
    /// OpenAlex.
    Openalex,
}

impl GraphSourceArg {
    /// Its name on the command line and in what is printed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::S2 => "s2",
            Self::Openalex => "openalex",
        }
    }
}

/// A place to look for papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum SourceArg {
    /// The datastore on this machine.
    Datastore,
    /// Semantic Scholar.
    S2,
    /// Full-text snippets at Semantic Scholar.
    Snippets,
    /// Web search restricted to academic sites; needs a You.com or Brave key.
    Web,
    /// OpenAlex.
    Openalex,
    /// arXiv.
    Arxiv,
    /// PubMed and PubMed Central.
    Pubmed,
}

impl SourceArg {
    /// Its name on the command line, in the config file and in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Datastore => "datastore",
            Self::S2 => "s2",
            Self::Snippets => "snippets",
            Self::Web => "web",
            Self::Openalex => "openalex",
            Self::Arxiv => "arxiv",
            Self::Pubmed => "pubmed",
        }
    }
}
