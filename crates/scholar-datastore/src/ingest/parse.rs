//! One row of any known format as a paper.

use scholar_core::Paper;
use serde_json::Value;

use super::{Format, openalex, rows, semantic};

/// One row as a paper.
pub(super) fn paper(format: Format, row: &[u8]) -> Result<Paper, String> {
    let value = || -> Result<Value, String> {
        serde_json::from_slice(row).map_err(|error| error.to_string())
    };
    match format {
        Format::Papers => rows::own(row),
        Format::Pes2o => rows::pes2o(row),
        Format::OpenAlex => openalex::work(row),
        Format::S2Papers => semantic::paper_row(row),
        Format::S2Abstracts => semantic::abstract_alone(row),
        Format::S2Citations => Err("a citation alone is not a paper".to_owned()),
        Format::S2Orc => semantic::full_text(row),
        Format::Beir => rows::beir(&value()?),
        Format::Acl => rows::acl(&value()?),
        Format::Arxiv => rows::arxiv(&value()?),
        Format::Pmc => rows::pmc(&value()?),
    }
}
