//! `bench metadata`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Measure what is read of PDFs' metadata.
#[derive(Debug, ClapArgs)]
pub(crate) struct BenchMetadataArgs {
    /// Folder of PDFs, named after the identifiers of the ACL Anthology (`P03-1039.pdf`, `anything__P03-1039.pdf`).
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The Anthology's catalogue as JSON lines, plain or gzip.
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: PathBuf,
    /// Folder with pairs of a PDF and GROBID's TEI of it (`x.pdf`, `x.tei.xml`), to compare with.
    #[arg(long, value_name = "DIR")]
    pub(crate) grobid: Option<PathBuf>,
    /// Folder for the report.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
