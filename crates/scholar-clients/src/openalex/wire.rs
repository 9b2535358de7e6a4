//! Pages of OpenAlex's JSON; the works on them are read by [`scholar_formats::openalex`].

use serde::Deserialize;
use serde_json::Value;

/// The fields asked for: nine tenths of a work are of no use here.
pub(super) const FIELDS: &str = "id,doi,title,display_name,publication_year,publication_date,ids,primary_location,\
best_oa_location,locations,authorships,cited_by_count,is_retracted,referenced_works,abstract_inverted_index";

/// A page of works.
#[derive(Deserialize)]
pub(super) struct Page {
    pub(super) meta: PageMeta,
    pub(super) results: Vec<Value>,
}

#[derive(Deserialize)]
pub(super) struct PageMeta {
    pub(super) count: u64,
    #[serde(default)]
    pub(super) next_cursor: Option<String>,
}
