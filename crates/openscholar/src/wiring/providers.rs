//! One source of papers for each name people know it by.

use std::sync::Arc;

use scholar_clients::fetch::Fetcher;
use scholar_core::{Notice, PaperSource};

use super::outside::left_out;
use crate::args::SourceArg;

/// A source, or why there is none.
pub(crate) struct Opened {
    pub(crate) source: Option<Arc<dyn PaperSource>>,
    pub(crate) notice: Option<Notice>,
}

/// The source of that name.
pub(crate) fn source(named: SourceArg, fetcher: &Fetcher) -> Opened {
    let _ = fetcher;
    Opened { source: None, notice: Some(left_out(format!("{} is not wired", named.name()), "")) }
}
