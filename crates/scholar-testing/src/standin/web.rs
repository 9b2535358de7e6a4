//! You.com in its old and its new shape, and Brave.

use serde_json::{Value, json};

use super::exchange::{Reply, Request};
use super::world::{World, WorldPaper};

/// Address, title, text and day of what a search engine finds: academic pages, and one that is none.
fn hits(
    world: &World,
    request: &Request<'_>,
    name: &str,
) -> Vec<(String, String, String, Option<String>)> {
    let query = request.param(name).unwrap_or_default().replace(['(', ')'], " ");
    let words: Vec<&str> = query
        .split_whitespace()
        .filter(|word| !word.starts_with("site:") && *word != "OR")
        .collect();
    let page = |work: &WorldPaper| {
        let address = match (&work.arxiv, work.pmcid, work.pmid) {
            (Some(id), ..) => format!("https://arxiv.org/abs/{id}v1"),
            (None, Some(id), _) => format!("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC{id}/"),
            (None, None, Some(id)) => format!("https://pubmed.ncbi.nlm.nih.gov/{id}/"),
            (None, None, None) => return None,
        };
        Some((
            address,
            work.title.clone(),
            work.summary.clone().unwrap_or_default(),
            work.date.clone(),
        ))
    };
    let mut found: Vec<_> =
        world.search(&words.join(" ")).into_iter().filter_map(|(work, _)| page(work)).collect();
    if !found.is_empty() {
        let other = ("https://shop.example/papers", "Buy papers", "Paper in all sizes.");
        found.insert(1, (other.0.to_owned(), other.1.to_owned(), other.2.to_owned(), None));
    }
    found
}

pub(super) fn you(world: &World, request: &Request<'_>) -> Reply {
    if request.header("x-api-key").is_none() {
        return Reply::new(401, "application/json", json!({"message": "Unauthorized"}).to_string());
    }
    let old = |(url, title, text, _): (String, String, String, Option<String>)| json!({"url": url, "title": title, "description": text, "snippets": [text]});
    let new = |(url, title, text, day): (String, String, String, Option<String>)| json!({"url": url, "title": title, "description": text, "snippets": [text], "page_age": day.map(|day| format!("{day}T00:00:00")), "authors": []});
    let found = hits(world, request, "query").into_iter();
    match request.path {
        "/search" => {
            let most = request.number("num_web_results", 10);
            let hits: Vec<Value> = found.take(most).map(old).collect();
            Reply::json(&json!({"hits": hits, "latency": 0.5}))
        }
        "/v1/search" => {
            let most = request.number("count", 10);
            let web: Vec<Value> = found.take(most).map(new).collect();
            Reply::json(
                &json!({"results": {"web": web, "news": []}, "metadata": {"search_uuid": "00000000-0000-0000-0000-000000000000", "query": request.param("query"), "latency": 0.5}}),
            )
        }
        _ => Reply::new(404, "application/json", json!({"detail": "Not Found"}).to_string()),
    }
}

pub(super) fn brave(world: &World, request: &Request<'_>) -> Reply {
    if request.header("x-subscription-token").is_none() {
        let body = json!({"type": "ErrorResponse", "error": {"code": "VALIDATION", "detail": "Unable to validate request parameter(s)", "status": 422}});
        return Reply::new(422, "application/json", body.to_string());
    }
    if request.path != "/res/v1/web/search" {
        return Reply::error(404, "Not Found");
    }
    let result = |(url, title, text, day): (String, String, String, Option<String>)| json!({"title": title, "url": url, "is_source_local": false, "is_source_both": false, "description": text, "page_age": day.map(|day| format!("{day}T00:00:00")), "profile": {"name": "Example", "url": url}, "language": "en", "family_friendly": true, "type": "search_result", "subtype": "generic", "extra_snippets": [text]});
    let (most, page) = (request.number("count", 20).min(20), request.number("offset", 0));
    let found = hits(world, request, "q").into_iter().skip(most * page).take(most);
    let results: Vec<Value> = found.map(result).collect();
    Reply::json(&json!({
        "query": {"original": request.param("q"), "more_results_available": false},
        "mixed": {"type": "mixed", "main": [], "top": [], "side": []},
        "type": "search",
        "web": {"type": "search", "results": results, "family_friendly": true},
    }))
}
