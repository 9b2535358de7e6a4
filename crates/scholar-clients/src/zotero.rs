//! Zotero's local API: the library of the Zotero that runs on this machine. Nothing is written.
//!
//! Items are handed on as Zotero writes them: `scholar_formats::library` reads them, as it reads Zotero's exports.

use scholar_core::{PortError, PortErrorKind};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::fetch::{Accept, FetchRequest, Fetcher, Provider};
use crate::parse::{ReplyError, json};
use crate::request;

/// Zotero's largest page.
const PAGE: usize = 100;

/// Items taken from one library at most: a person's library is smaller.
const MOST_ITEMS: usize = 200_000;

/// The library of whoever runs Zotero.
const LIBRARY: &str = "/api/users/0";

/// A folder of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoteroCollection {
    /// Zotero's key of it.
    pub key: String,
    /// Name as Zotero shows it.
    pub name: String,
    /// Key of the collection it lies in.
    pub parent: Option<String>,
}

/// Asks the Zotero on this machine. Cheap to clone.
#[derive(Clone)]
pub struct Zotero {
    fetcher: Fetcher,
}

impl Zotero {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// Every collection of the library.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`]; the hint tells how to switch the local API on.
    pub async fn collections(&self) -> Result<Vec<ZoteroCollection>, PortError> {
        let rows = self.all(format!("{LIBRARY}/collections")).await?;
        rows.into_iter()
            .map(collection)
            .collect::<Result<_, _>>()
            .map_err(|what| PortError::new(PortErrorKind::Corrupt, format!("Zotero: {what}")))
    }

    /// The items of the library, or of one collection, with what belongs to them: attached files, notes.
    ///
    /// # Errors
    /// As [`Zotero::collections`].
    pub async fn items(&self, collection: Option<&str>) -> Result<Vec<Value>, PortError> {
        match collection {
            Some(key) => {
                let key = checked(key)?;
                self.all(format!("{LIBRARY}/collections/{key}/items")).await
            }
            None => self.all(format!("{LIBRARY}/items")).await,
        }
    }

    /// What belongs to an item: attached files, notes.
    ///
    /// # Errors
    /// As [`Zotero::collections`].
    pub async fn children(&self, item: &str) -> Result<Vec<Value>, PortError> {
        let key = checked(item)?;
        self.all(format!("{LIBRARY}/items/{key}/children")).await
    }

    /// Where an attached file lies on this machine, as a `file:` address; `Ok(None)` if the attachment has no file.
    ///
    /// # Errors
    /// As [`Zotero::collections`].
    pub async fn file(&self, attachment: &str) -> Result<Option<Url>, PortError> {
        let key = checked(attachment)?;
        let path = format!("{LIBRARY}/items/{key}/file/view/url");
        let request = request(path).accept(Accept::Bytes).max_bytes(65_536).not_found_answers();
        let read = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
            Url::parse(text)
                .ok()
                .filter(|url| url.scheme() == "file")
                .ok_or_else(|| ReplyError::Shape(format!("{text:?} is not the address of a file")))
        };
        request::find(&self.fetcher, &request, read).await.map_err(with_advice)
    }

    /// All rows of a list. A page that is not full is the last.
    async fn all(&self, path: String) -> Result<Vec<Value>, PortError> {
        let mut rows: Vec<Value> = Vec::new();
        while rows.len() < MOST_ITEMS {
            let request = request(path.clone())
                .query("format", "json")
                .query("limit", PAGE.to_string())
                .query("start", rows.len().to_string())
                .query("sort", "dateAdded")
                .query("direction", "asc");
            let page: Vec<Value> = request::ask(&self.fetcher, &request, |bytes| json(bytes))
                .await
                .map_err(with_advice)?;
            // A server that does not know pages sends the first one for ever.
            let again = !rows.is_empty() && page.first() == rows.first();
            let full = page.len() == PAGE;
            if again {
                break;
            }
            rows.extend(page);
            if !full {
                break;
            }
        }
        Ok(rows)
    }
}

fn request(path: String) -> FetchRequest {
    FetchRequest::get(Provider::Zotero, path).header("Zotero-API-Version", "3")
}

#[derive(Deserialize)]
struct CollectionRow {
    key: String,
    data: CollectionData,
}

#[derive(Deserialize)]
struct CollectionData {
    name: String,
    /// A key, or `false` at the top.
    #[serde(default, rename = "parentCollection")]
    parent: Value,
}

fn collection(row: Value) -> Result<ZoteroCollection, String> {
    let row: CollectionRow = crate::parse::value(row)?;
    let parent = row.data.parent.as_str().map(str::to_owned);
    Ok(ZoteroCollection { key: row.key, name: row.data.name, parent })
}

/// A key as Zotero makes them: anything else would be another path.
fn checked(key: &str) -> Result<&str, PortError> {
    if !key.is_empty() && key.len() <= 32 && key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(key);
    }
    Err(PortError::new(PortErrorKind::Rejected, format!("Zotero: {key:?} is not a key")))
}

fn with_advice(error: PortError) -> PortError {
    if matches!(error.kind(), PortErrorKind::Unavailable | PortErrorKind::Rejected) {
        return error.with_hint(
            "start Zotero 7 or newer and allow other applications to communicate with it in Settings > Advanced",
        );
    }
    error
}
