//! Where a paper can be read without paying.

use scholar_core::{PortError, PortErrorKind};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::fetch::{Accept, CachePolicy, FetchRequest, Fetcher, Provider};
use crate::http::{is_local, redacted};

/// Who keeps a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenHost {
    /// A repository: the copy can usually be fetched by a program.
    Repository,
    /// The publisher's own site.
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

/// PDFs do not change.
const KEPT: CachePolicy = CachePolicy::days("open-access-v1", 365);

/// Larger files are books and scans.
const LARGEST_PDF: usize = 100 << 20;

/// The PDF of an open copy; `Ok(None)` if the location names none or it is gone.
///
/// Addresses come from providers, so those of this machine and of local networks are refused: a record must not make
/// this program ask somebody's router.
///
/// # Errors
/// As [`Fetcher::fetch`]; `Rejected` for local addresses, `Corrupt` for what is not a PDF.
pub async fn pdf(fetcher: &Fetcher, location: &OpenLocation) -> Result<Option<Vec<u8>>, PortError> {
    let Some(address) = &location.pdf else { return Ok(None) };
    if is_local(address) {
        let message =
            format!("open access: {} is an address of a local network", redacted(address));
        return Err(PortError::new(PortErrorKind::Rejected, message));
    }
    let request = FetchRequest::get_url(Provider::OpenAccess, address.clone())
        .accept(Accept::Pdf)
        .max_bytes(LARGEST_PDF)
        .not_found_answers()
        .cache(KEPT);
    let fetched = fetcher.fetch(&request).await?;
    Ok((!fetched.is_not_found()).then_some(fetched.body))
}
