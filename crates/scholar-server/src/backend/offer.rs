//! What can be asked, of what and how.

use serde::Serialize;
use utoipa::ToSchema;

/// What a form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Offer {
    /// Datastores that can be asked, the usual one first.
    pub datastores: Vec<DatastoreOffer>,
    /// Ways to answer.
    pub modes: Vec<ModeOffer>,
    /// Where papers can be looked for beside a datastore.
    pub sources: Vec<SourceOffer>,
    /// Model that writes, if one is configured.
    pub generator: Option<String>,
    /// Whether nobody outside this machine is asked.
    pub offline: bool,
}

/// A datastore that can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DatastoreOffer {
    /// Its name.
    pub name: String,
    /// Papers it holds.
    pub papers: u64,
    /// Passages it holds.
    pub passages: u64,
    /// Questions that its papers ask or answer, for people who do not know what to ask.
    pub examples: Vec<String>,
}

/// A way to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ModeOffer {
    /// Its name in requests.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it does, in one line.
    pub summary: String,
    /// Whether it works here; a mode that needs a model does not without one.
    pub is_available: bool,
}

/// A source of papers other than a datastore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SourceOffer {
    /// Its name in requests.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Whether it is asked where a request names none.
    pub is_usual: bool,
}
