//! What web search engines answer, and which papers that names.

use scholar_core::{Notice, NoticeKind, PaperId};
use serde::Deserialize;
use serde_json::Value;

use crate::parse::{ReplyError, json, rows, value};

/// One page that an engine found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WebResult {
    /// Address of the page, as the search engine states it.
    pub url: String,
    /// Title of the page.
    #[serde(default)]
    pub title: Option<String>,
}

#[derive(Deserialize)]
struct YouReply {
    #[serde(default)]
    hits: Option<Vec<Value>>,
    #[serde(default)]
    results: Option<YouResults>,
}

#[derive(Deserialize)]
struct YouResults {
    #[serde(default)]
    web: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct BraveReply {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    web: Option<BraveWeb>,
}

#[derive(Deserialize)]
struct BraveWeb {
    results: Vec<Value>,
}

/// Reads You.com's answer in its old (`hits`) and its new shape (`results.web`).
///
/// # Errors
/// [`ReplyError::Shape`] for anything else.
pub fn you(bytes: &[u8]) -> Result<(Vec<WebResult>, Vec<Notice>), ReplyError> {
    let reply: YouReply = json(bytes)?;
    let list = match (reply.hits, reply.results) {
        (Some(hits), _) => hits,
        // Without any page the list is left out.
        (None, Some(results)) => results.web.unwrap_or_default(),
        (None, None) => {
            return Err(ReplyError::shape("neither the field `hits` nor `results` is there"));
        }
    };
    rows("You.com", list, value)
}

/// Reads Brave's answer.
///
/// # Errors
/// [`ReplyError::Shape`] for anything that is no search's answer.
pub fn brave(bytes: &[u8]) -> Result<(Vec<WebResult>, Vec<Notice>), ReplyError> {
    let reply: BraveReply = json(bytes)?;
    if reply.kind != "search" {
        return Err(ReplyError::Shape(format!(
            "the field `type` is {:?}, not \"search\"",
            reply.kind
        )));
    }
    // Without any page the list is left out.
    rows("Brave Search", reply.web.map(|web| web.results).unwrap_or_default(), value)
}

/// The papers that pages are of, in the engine's order, each once, `limit` at most; a notice tells how many pages are
/// of no paper that can be identified.
pub fn papers(results: &[WebResult], limit: usize) -> (Vec<PaperId>, Vec<Notice>) {
    let mut ids: Vec<PaperId> = Vec::new();
    let mut others = 0;
    for result in results {
        match PaperId::from_url(&result.url) {
            Some(id) => {
                let twin = id.twin();
                let known = ids.iter().any(|known| *known == id || Some(known) == twin.as_ref());
                if !known {
                    ids.push(id);
                }
            }
            None => others += 1,
        }
    }
    ids.truncate(limit);
    let total = results.len();
    let message =
        format!("{others} of {total} pages found on the web are of no identifiable paper");
    let notices =
        if others == 0 { Vec::new() } else { vec![Notice::new(NoticeKind::Skipped, message)] };
    (ids, notices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_of_you_com_are_read_and_others_are_not() {
        let urls = |bytes: &[u8]| {
            let (results, _) = you(bytes).expect("readable");
            results.into_iter().map(|result| result.url).collect::<Vec<_>>()
        };
        let old = br#"{"hits":[{"url":"https://a.example","title":"A","description":"","snippets":["x"]}],"latency":0.1}"#;
        assert_eq!(urls(old), ["https://a.example"]);
        let new = br#"{"results":{"web":[{"url":"https://b.example","title":"B"}],"news":[]},"metadata":{}}"#;
        assert_eq!(urls(new), ["https://b.example"]);
        assert!(urls(br#"{"results":{},"metadata":{}}"#).is_empty());
        assert!(you(br#"{"detail":"x"}"#).is_err());
        let odd = br#"{"hits":[{"title":"no address"},{"url":"https://c.example"}]}"#;
        let (results, notices) = you(odd).expect("one is good");
        assert_eq!((results.len(), notices.len()), (1, 1));
        assert!(notices[0].message.contains("url"), "{}", notices[0].message);
    }

    #[test]
    fn pages_become_papers_in_order_and_once() {
        let page = |url: &str| WebResult { url: url.to_owned(), title: None };
        let pages = [
            page("https://arxiv.org/pdf/2411.14199v2"),
            page("https://en.wikipedia.org/wiki/Retrieval"),
            page("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/"),
            page("https://doi.org/10.48550/arXiv.2411.14199"),
            page("https://arxiv.org/abs/2411.14199"),
            page("https://pubmed.ncbi.nlm.nih.gov/123/"),
        ];
        let (ids, notices) = papers(&pages, 10);
        let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["arxiv:2411.14199", "pmcid:PMC123", "pmid:123"], "PMC ids are no PMIDs");
        assert!(notices[0].message.starts_with("1 of 6"), "{}", notices[0].message);
        assert_eq!(papers(&pages, 1).0.len(), 1);
    }
}
