//! Options of `runs explain`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// What is explained, and how.
#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// Run id, a unique prefix of it, or `last`.
    pub(crate) run: String,
    /// Number of the reference [default: all].
    pub(crate) reference: Option<usize>,
    /// Only the outline and the tree of retrievals, without the references.
    #[arg(long, conflicts_with = "reference")]
    pub(crate) tree: bool,
    /// Only this node of the tree, with all its texts.
    #[arg(long, value_name = "NODE", conflicts_with_all = ["reference", "tree"])]
    pub(crate) node: Option<String>,
    /// Draw outline, tree and contributions as SVG, instead of printing.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write a web page with the drawing and all texts of the tree, instead of printing.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}
