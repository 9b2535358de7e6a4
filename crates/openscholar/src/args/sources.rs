//! Options that say where papers are looked for.

use clap::{Args as ClapArgs, ValueEnum};

/// Sources of papers.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct SearchSourceArgs {
    /// Comma-separated sources to search [default: those of the config file, else the datastore alone].
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) sources: Vec<SourceArg>,
    /// Send no requests; use only datastores and cached replies of any age.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Number of full texts fetched per search; 0 for abstracts only [default: the preset's or config file's].
    #[arg(long, value_name = "N")]
    pub(crate) full_texts: Option<usize>,
}

impl SearchSourceArgs {
    /// Whether the command line names sources other than the datastore.
    pub(crate) fn asks_others(&self) -> bool {
        self.sources.iter().any(|source| *source != SourceArg::Datastore)
    }
}

/// Sources of citation data other than the datastore.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct GraphSourceArgs {
    /// Comma-separated sources to query instead of the datastore.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) sources: Vec<GraphSourceArg>,
    /// Send no requests; use only cached replies of any age.
    #[arg(long, requires = "sources")]
    pub(crate) offline: bool,
    /// Only papers published strictly before this date (YYYY-MM-DD).
    #[arg(long, value_name = "DATE", requires = "sources")]
    pub(crate) before: Option<jiff::civil::Date>,
    /// Add the papers to datastore NAME [default: the current one].
    #[arg(long, value_name = "NAME", num_args = 0..=1, requires = "sources")]
    pub(crate) save: Option<Option<String>>,
}

/// Sources of citation data.
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

/// Sources of papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum SourceArg {
    /// The local datastore.
    Datastore,
    /// Semantic Scholar.
    S2,
    /// Semantic Scholar's full-text snippets.
    Snippets,
    /// Web search restricted to academic sites; requires a You.com or Brave key.
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
