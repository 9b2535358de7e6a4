//! Papers found outside of the datastore.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::PortError;
use crate::filter::SearchFilter;
use crate::notice::Notice;
use crate::paper::{Paper, PaperMeta};
use crate::question::Query;

/// What a text sent to a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindBy {
    /// A person's question as it was asked: for engines that understand sentences.
    Question,
    /// A few words: for engines that match words.
    Keywords,
}

/// One search for papers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindRequest {
    /// What to look for.
    pub text: Query,
    /// What the text is.
    pub by: FindBy,
    /// Which papers may come back. A source sends the server what it understands of this and checks the whole.
    pub filter: SearchFilter,
    /// At most this many papers come back.
    pub limit: usize,
}

/// What a source found, and what a person should know about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Papers, the most relevant first as the source ranks them. Their sections hold the abstract where it is known.
    pub papers: Vec<Paper>,
    /// What was skipped, limited or left out on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// A place beyond the datastore where papers can be looked for.
#[async_trait]
pub trait PaperSource: Send + Sync {
    /// Short name as it stands in settings, provenance and notices: `s2`, `openalex`, `arxiv`, `pubmed`, `web`.
    fn name(&self) -> &str;

    /// Whether it takes texts of this kind. The others are never sent to it.
    fn takes(&self, by: FindBy) -> bool;

    /// Papers for `request`, which the filter accepts.
    ///
    /// # Errors
    /// When the source cannot be asked or its reply cannot be read. No paper is `Ok`.
    async fn find(&self, request: &FindRequest) -> Result<Found, PortError>;

    /// The same paper with its whole text where this source has it open; `Ok(None)` where it has not.
    ///
    /// # Errors
    /// As [`PaperSource::find`].
    async fn full_text(&self, paper: &PaperMeta) -> Result<Option<Paper>, PortError>;
}
