//! OpenAlex: works by identifier, search and filter.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::exchange::{Reply, Request};
use super::world::{World, WorldPaper};

pub(super) fn answer(world: &World, request: &Request<'_>) -> Reply {
    let path = request.path.trim_end_matches('/');
    if path == "/works" {
        return list(world, request);
    }
    let found = path.strip_prefix("/works/").and_then(|id| world.papers.iter().find(|w| is(w, id)));
    match found {
        Some(work) => Reply::json(&selected(whole(world, work, request.base), request)),
        None => Reply::new(
            404,
            "text/html; charset=utf-8",
            "<!doctype html><title>404 Not Found</title>",
        ),
    }
}

fn address(work: &WorldPaper) -> String {
    format!("https://openalex.org/W{}", work.openalex)
}

/// Whether `id` in any of its spellings names `work`.
fn is(work: &WorldPaper, id: &str) -> bool {
    let lower = id.to_lowercase();
    let bare = lower.strip_prefix("https://openalex.org/").unwrap_or(&lower);
    let doi = work.doi.as_deref().unwrap_or("-");
    let bare_doi = lower.strip_prefix("https://doi.org/").or_else(|| lower.strip_prefix("doi:"));
    bare == format!("w{}", work.openalex)
        || bare_doi.unwrap_or(&lower) == doi
        || work.pmid.is_some_and(|id| lower == format!("pmid:{id}"))
        || work
            .pmcid
            .is_some_and(|id| lower == format!("pmcid:{id}") || lower == format!("pmcid:pmc{id}"))
}

fn whole(world: &World, work: &WorldPaper, base: &str) -> Value {
    let mut index: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, word) in work.summary.iter().flat_map(|text| text.split(' ')).enumerate() {
        index.entry(word).or_default().push(at);
    }
    let mut ids = Map::new();
    ids.insert("openalex".to_owned(), json!(address(work)));
    ids.extend(
        work.doi.as_ref().map(|doi| ("doi".to_owned(), json!(format!("https://doi.org/{doi}")))),
    );
    ids.extend(
        work.pmid
            .map(|id| ("pmid".to_owned(), json!(format!("https://pubmed.ncbi.nlm.nih.gov/{id}")))),
    );
    ids.extend(work.pmcid.map(|id| {
        ("pmcid".to_owned(), json!(format!("https://www.ncbi.nlm.nih.gov/pmc/articles/{id}")))
    }));
    let licence =
        work.open_access.as_ref().map(|open| open.licence.to_lowercase().replace(' ', "-"));
    let landing = match &work.arxiv {
        Some(id) => format!("https://arxiv.org/abs/{id}"),
        None => work.doi.as_ref().map(|doi| format!("https://doi.org/{doi}")).unwrap_or_default(),
    };
    let location = json!({
        "is_oa": work.open_access.is_some(),
        "landing_page_url": landing,
        "pdf_url": work.pdf(base),
        "source": (!work.venue.is_empty()).then(|| json!({"id": "https://openalex.org/S1", "display_name": work.venue, "type": "journal"})),
        "license": licence,
        "version": "publishedVersion",
        "is_accepted": true,
        "is_published": true,
    });
    let authors = work.authors.iter().enumerate().map(|(at, name)| {
        let position = if at == 0 { "first" } else { "middle" };
        json!({"author_position": position, "author": {"id": format!("https://openalex.org/A{at}"), "display_name": name, "orcid": null}, "raw_author_name": name})
    });
    json!({
        "id": address(work),
        "doi": work.doi.as_ref().map(|doi| format!("https://doi.org/{doi}")),
        "title": work.title,
        "display_name": work.title,
        "publication_year": work.year,
        "publication_date": work.day(),
        "ids": ids,
        "language": "en",
        "primary_location": location,
        "locations": [location],
        "best_oa_location": work.open_access.as_ref().map(|_| location.clone()),
        "type": "article",
        "open_access": {"is_oa": work.open_access.is_some(), "oa_status": if work.open_access.is_some() { "green" } else { "closed" }, "oa_url": work.pdf(base), "any_repository_has_fulltext": false},
        "authorships": authors.collect::<Vec<_>>(),
        "cited_by_count": work.citations,
        "is_retracted": work.status.as_ref().is_some_and(|status| status.kind == "retraction"),
        "is_paratext": false,
        "referenced_works": work.references.iter().filter_map(|key| world.get(key)).map(address).collect::<Vec<_>>(),
        "related_works": [],
        "abstract_inverted_index": work.summary.as_ref().map(|_| json!(index)),
    })
}

fn selected(work: Value, request: &Request<'_>) -> Value {
    let Some(fields) = request.param("select") else { return work };
    match work {
        Value::Object(all) => {
            let wanted = |name: &str| fields.split(',').any(|field| field.trim() == name);
            Value::Object(all.into_iter().filter(|(name, _)| wanted(name)).collect())
        }
        other => other,
    }
}

/// Whether one `name:value` of the filter holds; unknown names are errors, as in the service.
fn holds(world: &World, work: &WorldPaper, name: &str, value: &str) -> Result<bool, String> {
    let day = work.day();
    Ok(match name {
        "cites" => {
            work.references.iter().filter_map(|key| world.get(key)).any(|cited| is(cited, value))
        }
        "cited_by" => world
            .papers
            .iter()
            .any(|citing| is(citing, value) && citing.references.contains(&work.key)),
        "to_publication_date" => day.is_some_and(|day| day.as_str() <= value),
        "from_publication_date" => day.is_some_and(|day| day.as_str() >= value),
        "publication_year" => work.within(&value.replace('-', ":")),
        "cited_by_count" => match value.strip_prefix('>') {
            Some(least) => work.citations > least.parse().unwrap_or(0),
            None => value.parse() == Ok(work.citations),
        },
        "has_abstract" => work.summary.is_some() == (value == "true"),
        "is_oa" | "open_access.is_oa" => work.open_access.is_some() == (value == "true"),
        "is_retracted" => {
            work.status.as_ref().is_some_and(|s| s.kind == "retraction") == (value == "true")
        }
        "doi" => value.split('|').any(|id| is(work, id)),
        "pmid" => value.split('|').any(|id| is(work, &format!("pmid:{id}"))),
        "openalex" | "openalex_id" | "ids.openalex" => value.split('|').any(|id| is(work, id)),
        "is_paratext" => value == "false",
        "type" | "language" => true,
        other => return Err(format!("{other} is not a valid field.")),
    })
}

fn list(world: &World, request: &Request<'_>) -> Reply {
    let mut found: Vec<(&WorldPaper, Option<f64>)> = match request.param("search") {
        Some(query) => {
            world.search(query).into_iter().map(|(work, score)| (work, Some(score))).collect()
        }
        None => world.papers.iter().map(|work| (work, None)).collect(),
    };
    for part in
        request.param("filter").unwrap_or_default().split(',').filter(|part| !part.is_empty())
    {
        let (name, value) = part.split_once(':').unwrap_or((part, ""));
        let searched =
            matches!(name, "default.search" | "title_and_abstract.search" | "title.search");
        if searched {
            let ranked = world.search(value);
            let score = |work: &WorldPaper| {
                ranked.iter().find(|(w, _)| w.key == work.key).map(|(_, score)| *score)
            };
            found = found
                .into_iter()
                .filter_map(|(work, _)| Some((work, Some(score(work)?))))
                .collect();
            found.sort_by(|a, b| b.1.unwrap_or(0.0).total_cmp(&a.1.unwrap_or(0.0)));
            continue;
        }
        let mut kept = Vec::new();
        for entry in found {
            match holds(world, entry.0, name, value) {
                Ok(true) => kept.push(entry),
                Ok(false) => {}
                Err(message) => {
                    let body =
                        json!({"error": "Invalid query parameters error.", "message": message});
                    return Reply::new(403, "application/json", body.to_string());
                }
            }
        }
        found = kept;
    }
    if request.param("sort") == Some("cited_by_count:desc") {
        found.sort_by_key(|(work, _)| std::cmp::Reverse(work.citations));
    }
    let per_page = request.number("per-page", request.number("per_page", 25)).min(200);
    let cursor = request.param("cursor");
    let start = match cursor {
        Some("*") => 0,
        Some(cursor) => cursor.strip_prefix('C').and_then(|n| n.parse().ok()).unwrap_or(0),
        None => request.number("page", 1).saturating_sub(1) * per_page,
    };
    let page: Vec<Value> = found
        .iter()
        .skip(start)
        .take(per_page)
        .map(|(work, score)| {
            let mut value = whole(world, work, request.base);
            if let Some(score) = score {
                value["relevance_score"] = json!(score);
            }
            selected(value, request)
        })
        .collect();
    let mut meta = json!({"count": found.len(), "db_response_time_ms": 1, "page": start / per_page.max(1) + 1, "per_page": per_page});
    if cursor.is_some() {
        let end = start + page.len();
        meta["page"] = Value::Null;
        meta["next_cursor"] = if page.is_empty() { Value::Null } else { json!(format!("C{end}")) };
    }
    Reply::json(&json!({"meta": meta, "results": page, "group_by": []}))
}
