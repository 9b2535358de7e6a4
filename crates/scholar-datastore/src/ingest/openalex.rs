//! OpenAlex's works, one in each line.

use scholar_core::Paper;
use scholar_formats::openalex::OpenAlexRecord;

/// One work.
pub(crate) fn work(row: &[u8]) -> Result<Paper, String> {
    let work: OpenAlexRecord<'_> =
        serde_json::from_slice(row).map_err(|error| error.to_string())?;
    work.paper()
}
