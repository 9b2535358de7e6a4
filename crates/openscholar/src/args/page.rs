//! `papers show --page`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Which page of a paper's PDF is drawn, and where to.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct PageArgs {
    /// Draw this page of the paper's PDF as SVG [default with --mark: the first page that has the words].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: Option<u32>,
    /// Mark these words on the page, for example a quotation of an answer.
    #[arg(long, value_name = "WORDS")]
    pub(crate) mark: Option<String>,
    /// Write the page to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl PageArgs {
    /// Whether a page is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.page.is_some() || self.mark.is_some() || self.output.is_some()
    }
}
