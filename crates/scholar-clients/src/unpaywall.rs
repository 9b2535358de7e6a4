//! Unpaywall: where a DOI can be read without paying. Answers only those who give an e-mail address.

use scholar_core::{PaperId, PortError};
use serde::Deserialize;

use crate::fetch::{CachePolicy, FetchRequest, Fetcher, Provider};
use crate::open_access::{OpenHost, OpenLocation, web_address};
use crate::parse::{ReplyError, json};
use crate::request;

/// New copies appear over months.
const KEPT: CachePolicy = CachePolicy::days("unpaywall-v1", 30);

/// What Unpaywall knows about one DOI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAccess {
    /// The DOI that was asked about.
    pub doi: PaperId,
    /// Whether there is an open copy.
    pub is_open: bool,
    /// `gold`, `hybrid`, `bronze`, `green`, `closed` or `diamond`.
    pub status: Option<String>,
    /// Open copies, Unpaywall's choice first.
    pub locations: Vec<OpenLocation>,
}

#[derive(Deserialize)]
struct Record {
    doi: String,
    is_oa: bool,
    #[serde(default)]
    oa_status: Option<String>,
    #[serde(default)]
    best_oa_location: Option<Location>,
    #[serde(default)]
    oa_locations: Option<Vec<Location>>,
}

#[derive(Deserialize)]
struct Location {
    #[serde(default)]
    host_type: Option<String>,
    #[serde(default)]
    license: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    url_for_landing_page: Option<String>,
    #[serde(default)]
    url_for_pdf: Option<String>,
    #[serde(default)]
    version: Option<String>,
}

/// Asks Unpaywall. Cheap to clone.
#[derive(Clone)]
pub struct Unpaywall {
    fetcher: Fetcher,
}

impl Unpaywall {
    /// A client that asks through `fetcher`.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// Where a DOI can be read; `None` when Unpaywall does not know it.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`]; `Rejected` without an e-mail address.
    pub async fn lookup(&self, doi: &str) -> Result<Option<OpenAccess>, PortError> {
        let request = FetchRequest::get(Provider::Unpaywall, "/v2/")
            .path_value(doi)
            .not_found_answers()
            .cache(KEPT);
        request::find(&self.fetcher, &request, open_access).await
    }
}

/// Reads the answer to a DOI.
///
/// # Errors
/// [`ReplyError::Shape`] when it does not have the promised shape.
pub fn open_access(bytes: &[u8]) -> Result<OpenAccess, ReplyError> {
    let record: Record = json(bytes)?;
    let doi = PaperId::doi(&record.doi)
        .map_err(|error| ReplyError::Shape(format!("the field `doi`: {error}")))?;
    let mut locations: Vec<OpenLocation> = Vec::new();
    let all = record.best_oa_location.into_iter().chain(record.oa_locations.into_iter().flatten());
    for location in all {
        let address = |text: &Option<String>| text.as_deref().and_then(web_address);
        let found = OpenLocation {
            pdf: address(&location.url_for_pdf),
            page: address(&location.url_for_landing_page).or_else(|| address(&location.url)),
            licence: location.license,
            version: location.version,
            host: match location.host_type.as_deref() {
                Some("repository") => Some(OpenHost::Repository),
                Some("publisher") => Some(OpenHost::Publisher),
                _ => None,
            },
        };
        if (found.pdf.is_some() || found.page.is_some()) && !locations.contains(&found) {
            locations.push(found);
        }
    }
    Ok(OpenAccess { doi, is_open: record.is_oa, status: record.oa_status, locations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_location_comes_first_and_once() {
        let best =
            r#"{"host_type":"repository","url_for_pdf":"https://a.example/x.pdf","license":null}"#;
        let other = r#"{"host_type":"publisher","url":"https://b.example/","url_for_pdf":null}"#;
        let odd = r#"{"url":"javascript:alert(1)","url_for_pdf":"/relative.pdf"}"#;
        let body = format!(
            r#"{{"doi":"10.1/A","is_oa":true,"oa_status":"green","best_oa_location":{best},"oa_locations":[{other},{best},{odd}]}}"#
        );
        let open = open_access(body.as_bytes()).expect("readable");
        assert_eq!(open.doi, PaperId::Doi("10.1/a".to_owned()));
        assert_eq!(open.locations.len(), 2, "{:?}", open.locations);
        assert_eq!(open.locations[0].host, Some(OpenHost::Repository));
        assert_eq!(
            open.locations[1].page.as_ref().map(url::Url::as_str),
            Some("https://b.example/")
        );
        let closed = br#"{"doi":"10.1/a","is_oa":false,"best_oa_location":null,"oa_locations":[]}"#;
        assert!(open_access(closed).is_ok_and(|open| !open.is_open && open.locations.is_empty()));
        let error =
            open_access(br#"{"doi":"10.1/a"}"#).expect_err("a field is missing").to_string();
        assert!(error.contains("is_oa"), "{error}");
    }
}
