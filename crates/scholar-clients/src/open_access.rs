//! Where a paper can be read without paying.

use serde::{Deserialize, Serialize};
use url::Url;

/// Who keeps a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenHost {
    /// A repository: the copy can usually be fetched by a program.
    Repository,
    /// The publisher.
    Publisher,
}

/// One open copy of a paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLocation {
    /// Address of the PDF where the provider names one.
    pub pdf: Option<Url>,
    /// Address of the page that leads to the text.
    pub page: Option<Url>,
    /// Licence as the provider names it.
    pub licence: Option<String>,
    /// `publishedVersion`, `acceptedVersion` or `submittedVersion`.
    pub version: Option<String>,
    /// Who keeps it, where the provider says so.
    pub host: Option<OpenHost>,
}

/// The web address that `text` is, if it is one.
pub(crate) fn web_address(text: &str) -> Option<Url> {
    Url::parse(text.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
