//! Options that say where papers are looked for.

use clap::{Args as ClapArgs, ValueEnum};

/// Where papers are looked for.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(crate) struct LookArgs {
    /// Where to look, separated by commas. Left out: as the config file says, else the datastore alone.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) sources: Vec<SourceArg>,
    /// Ask nobody: replies stored by earlier runs, of any age, and datastores only.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Papers of each search whose whole text is asked for; 0 reads abstracts only.
    #[arg(long, value_name = "N")]
    pub(crate) full_texts: Option<usize>,
}

/// A place to look for papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum SourceArg {
    /// The datastore on this machine.
    Datastore,
    /// Semantic Scholar.
    S2,
    /// The web, academic sites only; needs a key of You.com or Brave.
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
            Self::Web => "web",
            Self::Openalex => "openalex",
            Self::Arxiv => "arxiv",
            Self::Pubmed => "pubmed",
        }
    }
}
