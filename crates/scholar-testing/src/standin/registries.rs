//! Crossref, Unpaywall, and the resolver of DOIs.

use serde_json::{Value, json};

use super::exchange::{Reply, Request};
use super::world::{World, WorldPaper};

fn by_doi<'a>(world: &'a World, doi: &str) -> Option<&'a WorldPaper> {
    world
        .papers
        .iter()
        .find(|work| work.doi.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(doi)))
}

fn date(day: &str) -> Value {
    let parts: Vec<u32> = day.split('-').filter_map(|part| part.parse().ok()).collect();
    json!({ "date-parts": [parts] })
}

pub(super) fn crossref(world: &World, request: &Request<'_>) -> Reply {
    let path = request.path.trim_end_matches('/');
    if path == "/works" {
        let query = request.param("query.bibliographic").or_else(|| request.param("query.title"));
        let found = world.search(query.or_else(|| request.param("query")).unwrap_or_default());
        let found: Vec<_> = found.into_iter().filter(|(work, _)| work.doi.is_some()).collect();
        let (rows, offset) = (request.number("rows", 20), request.number("offset", 0));
        let page = found.iter().skip(offset).take(rows).map(|(work, score)| {
            let mut message = message(world, work);
            message["score"] = json!(score);
            message
        });
        return Reply::json(&json!({
            "status": "ok", "message-type": "work-list", "message-version": "1.0.0",
            "message": {"facets": {}, "total-results": found.len(), "items": page.collect::<Vec<_>>(), "items-per-page": rows, "query": {"start-index": offset, "search-terms": query}},
        }));
    }
    match path.strip_prefix("/works/").and_then(|doi| by_doi(world, doi)) {
        Some(work) => Reply::json(&json!({
            "status": "ok", "message-type": "work", "message-version": "1.0.0",
            "message": message(world, work),
        })),
        None => Reply::new(404, "text/plain", "Resource not found."),
    }
}

fn message(world: &World, work: &WorldPaper) -> Value {
    let author = |(at, name): (usize, &String)| {
        let (given, family) = WorldPaper::split_name(name);
        json!({"given": given, "family": family, "sequence": if at == 0 { "first" } else { "additional" }, "affiliation": []})
    };
    let cited = work.references.iter().filter_map(|key| world.get(key)).enumerate();
    let reference = |(at, cited): (usize, &WorldPaper)| json!({"key": format!("ref{}", at + 1), "DOI": cited.doi, "article-title": cited.title, "doi-asserted-by": "publisher"});
    let mut message = json!({
        "DOI": work.doi,
        "URL": work.doi.as_ref().map(|doi| format!("https://doi.org/{doi}")),
        "type": "journal-article",
        "title": [work.title],
        "container-title": if work.venue.is_empty() { json!([]) } else { json!([work.venue]) },
        "author": work.authors.iter().enumerate().map(author).collect::<Vec<_>>(),
        "is-referenced-by-count": work.citations,
        "references-count": work.references.len(),
        "reference": cited.map(reference).collect::<Vec<_>>(),
        "publisher": "Invented Press",
        "source": "Crossref",
    });
    if let Some(text) = &work.summary {
        message["abstract"] =
            json!(format!("<jats:title>Abstract</jats:title><jats:p>{text}</jats:p>"));
    }
    let issued = work.date.clone().or_else(|| work.year.map(|year| year.to_string()));
    // Crossref writes one list with one null where it knows no date.
    message["issued"] = issued.as_deref().map_or_else(|| json!({"date-parts": [[null]]}), date);
    if let Some(open) = &work.open_access {
        let name = open.licence.to_lowercase().replace("cc ", "").replace("cc0", "zero");
        message["license"] = json!([{"URL": format!("https://creativecommons.org/licenses/{name}/4.0/"), "content-version": "vor", "delay-in-days": 0}]);
    }
    if let Some(status) = &work.status {
        let mut updated = date(&status.date);
        updated["date-time"] = json!(format!("{}T00:00:00Z", status.date));
        message["updated-by"] = json!([{
            "DOI": format!("10.5555/notice.{}", work.key),
            "type": status.kind,
            "label": status.kind.replace('_', " "),
            "source": "retraction-watch",
            "updated": updated,
        }]);
    }
    message
}

pub(super) fn unpaywall(world: &World, request: &Request<'_>) -> Reply {
    if !request.param("email").is_some_and(|email| email.contains('@')) {
        let body = json!({"HTTP_status_code": 422, "error": true, "message": "Please use your own email address in API calls."});
        return Reply::new(422, "application/json", body.to_string());
    }
    let doi = request.path.strip_prefix("/v2/").unwrap_or_default();
    let Some(work) = by_doi(world, doi) else {
        let message = format!("'{doi}' isn't in Unpaywall. See https://support.unpaywall.org");
        let body = json!({"HTTP_status_code": 404, "error": true, "message": message});
        return Reply::new(404, "application/json", body.to_string());
    };
    let location = work.open_access.as_ref().map(|open| {
        json!({
            "endpoint_id": null, "evidence": "oa repository", "host_type": "repository", "is_best": true,
            "license": open.licence.to_lowercase().replace(' ', "-"), "pmh_id": null, "updated": "2024-01-01T00:00:00",
            "url": work.pdf(request.base), "url_for_landing_page": work.doi.as_ref().map(|doi| format!("{}/doi/{doi}", request.base)),
            "url_for_pdf": work.pdf(request.base), "version": "acceptedVersion",
        })
    });
    Reply::json(&json!({
        "doi": work.doi, "doi_url": work.doi.as_ref().map(|doi| format!("https://doi.org/{doi}")), "title": work.title, "genre": "journal-article",
        "is_paratext": false, "published_date": work.date, "year": work.year, "journal_name": work.venue,
        "is_oa": location.is_some(), "oa_status": if location.is_some() { "green" } else { "closed" },
        "best_oa_location": location, "oa_locations": location.iter().collect::<Vec<_>>(), "data_standard": 2,
    }))
}

pub(super) fn resolver(world: &World, request: &Request<'_>) -> Reply {
    match by_doi(world, request.path.trim_start_matches('/')) {
        Some(_) => Reply::new(302, "text/html", "")
            .with_header("location", format!("{}/link/200", request.base)),
        None => Reply::new(404, "text/html", "<html><title>DOI Not Found</title></html>"),
    }
}
