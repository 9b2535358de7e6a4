//! Semantic Scholar: graph, recommendations, snippets.

use serde_json::{Map, Value, json};

use super::exchange::{Reply, Request};
use super::search::rank;
use super::world::{World, WorldPaper, WorldSection};

/// Small, so that a handful of papers takes more than one page.
const BULK_PAGE: usize = 5;

const MAX_BATCH: usize = 500;

pub(super) fn answer(world: &World, request: &Request<'_>) -> Reply {
    if let Err(unknown) = check_fields(request) {
        return Reply::error(400, &format!("Unrecognized or unsupported fields: [{unknown}]"));
    }
    let path = request.path.trim_end_matches('/');
    match (request.method, path) {
        ("GET", "/graph/v1/paper/search") => search(world, request),
        ("GET", "/graph/v1/paper/search/bulk") => bulk(world, request),
        ("GET", "/graph/v1/paper/search/match") => title_match(world, request),
        ("GET", "/graph/v1/snippet/search") => snippets(world, request),
        ("POST", "/graph/v1/paper/batch") => batch(world, request),
        ("POST", "/recommendations/v1/papers") => recommend(world, request),
        ("GET", path) => {
            if let Some(id) = path.strip_prefix("/recommendations/v1/papers/forpaper/") {
                return match find(world, id) {
                    Some(work) => recommended(world, &[work], request),
                    None => Reply::error(404, &format!("Paper with id {id} not found")),
                };
            }
            match path.strip_prefix("/graph/v1/paper/") {
                Some(rest) => paper(world, rest, request),
                None => Reply::error(404, "Not Found"),
            }
        }
        _ => Reply::error(404, "Not Found"),
    }
}

fn paper_id(work: &WorldPaper) -> String {
    format!("{:040x}", work.corpus)
}

/// The paper that an identifier of any registry names.
fn find<'a>(world: &'a World, id: &str) -> Option<&'a WorldPaper> {
    let (prefix, value) = id.split_once(':').unwrap_or(("", id));
    let number = value.parse::<u64>().ok();
    world.papers.iter().find(|work| match prefix.to_ascii_lowercase().as_str() {
        "" => paper_id(work) == value || work.doi.as_deref() == Some(value),
        "corpusid" => number == Some(work.corpus),
        "doi" => work.doi.as_ref().is_some_and(|doi| doi.eq_ignore_ascii_case(value)),
        "arxiv" => work.arxiv.as_deref() == Some(value),
        "pmid" => number.is_some() && work.pmid == number,
        "pmcid" => number.is_some() && work.pmcid == number,
        _ => false,
    })
}

/// Everything that is known about a paper.
fn whole(work: &WorldPaper, base: &str) -> Value {
    let mut ids = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        ids.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("CorpusId", Some(json!(work.corpus)));
    add("DOI", work.doi.as_ref().map(|doi| json!(doi)));
    add("ArXiv", work.arxiv.as_ref().map(|id| json!(id)));
    add("PubMed", work.pmid.map(|id| json!(id.to_string())));
    add("PubMedCentral", work.pmcid.map(|id| json!(id.to_string())));
    let open = work.open_access.as_ref().map(|open| {
        json!({
            "url": work.pdf(base),
            "status": "GREEN",
            "license": open.licence.replace([' ', '-'], ""),
            "disclaimer": format!("Notice: Paper or abstract available at {base}/unpaywall/v2/{}, which is subject to the license by the author.", work.doi.as_deref().unwrap_or("none")),
        })
    });
    let author = |(at, name): (usize, &String)| json!({"authorId": format!("{}{at}", work.corpus), "name": name});
    json!({
        "paperId": paper_id(work),
        "corpusId": work.corpus,
        "externalIds": ids,
        "url": format!("https://www.semanticscholar.org/paper/{}", paper_id(work)),
        "title": work.title,
        "abstract": work.summary,
        "venue": work.venue,
        "publicationVenue": null,
        "year": work.year,
        "referenceCount": work.references.len(),
        "citationCount": work.citations,
        "influentialCitationCount": 0,
        "isOpenAccess": open.is_some(),
        "openAccessPdf": open,
        "publicationTypes": ["JournalArticle"],
        "publicationDate": work.date,
        "journal": {"name": work.venue},
        "authors": work.authors.iter().enumerate().map(author).collect::<Vec<_>>(),
    })
}

const KNOWN_FIELDS: [&str; 20] = [
    "paperId",
    "corpusId",
    "externalIds",
    "url",
    "title",
    "abstract",
    "venue",
    "publicationVenue",
    "year",
    "referenceCount",
    "citationCount",
    "influentialCitationCount",
    "isOpenAccess",
    "openAccessPdf",
    "publicationTypes",
    "publicationDate",
    "journal",
    "authors",
    "isInfluential",
    "contexts",
];

fn check_fields<'a>(request: &'a Request<'_>) -> Result<(), &'a str> {
    let fields = request.param("fields").unwrap_or_default().split(',').map(str::trim);
    for field in fields.filter(|field| !field.is_empty()) {
        let top = field.split('.').next().unwrap_or(field);
        if !KNOWN_FIELDS.contains(&top) && !matches!(top, "intents" | "snippet" | "paper") {
            return Err(field);
        }
    }
    Ok(())
}

/// The fields that were asked for; without a list, identifier and title.
fn projected(work: &WorldPaper, request: &Request<'_>) -> Value {
    let fields = request.param("fields").unwrap_or("title");
    let Value::Object(all) = whole(work, request.base) else { return Value::Null };
    let wanted = |name: &str| {
        name == "paperId"
            || fields.split(',').any(|field| field.trim().split('.').next() == Some(name))
    };
    let mut kept: Map<String, Value> = all.into_iter().filter(|(name, _)| wanted(name)).collect();
    if fields.split(',').any(|field| field.trim() == "authors.name")
        && let Some(Value::Array(authors)) = kept.get_mut("authors")
    {
        for author in authors {
            if let Value::Object(author) = author {
                author.retain(|name, _| name == "name" || name == "authorId");
            }
        }
    }
    Value::Object(kept)
}

/// Whether the request's filters let a paper through.
fn passes(work: &WorldPaper, request: &Request<'_>) -> bool {
    let dated = request.param("publicationDateOrYear").is_none_or(|range| work.within(range));
    let year = request.param("year").is_none_or(|range| work.within(&range.replace('-', ":")));
    let least = u32::try_from(request.number("minCitationCount", 0)).unwrap_or(u32::MAX);
    dated && year && work.citations >= least
}

fn matching<'a>(world: &'a World, request: &Request<'_>) -> Vec<(&'a WorldPaper, f64)> {
    let found = world.search(request.param("query").unwrap_or_default()).into_iter();
    found.filter(|(work, _)| passes(work, request)).collect()
}

fn search(world: &World, request: &Request<'_>) -> Reply {
    let (limit, offset) = (request.number("limit", 100), request.number("offset", 0));
    if limit > 100 {
        return Reply::error(400, "Unacceptable query params: [limit]");
    }
    // As the documentation says: hyphenated words match nothing.
    if request.param("query").is_some_and(|query| query.contains('-')) {
        return Reply::json(&json!({"total": 0, "offset": offset}));
    }
    let found = matching(world, request);
    if found.is_empty() {
        return Reply::json(&json!({"total": 0, "offset": offset}));
    }
    let page: Vec<Value> =
        found.iter().skip(offset).take(limit).map(|(work, _)| projected(work, request)).collect();
    let mut reply = json!({"total": found.len(), "offset": offset});
    if offset + page.len() < found.len() {
        reply["next"] = json!(offset + page.len());
    }
    reply["data"] = Value::Array(page);
    Reply::json(&reply)
}

fn bulk(world: &World, request: &Request<'_>) -> Reply {
    let mut found: Vec<&WorldPaper> =
        matching(world, request).into_iter().map(|(work, _)| work).collect();
    match request.param("sort") {
        Some("citationCount:desc") => found.sort_by_key(|work| std::cmp::Reverse(work.citations)),
        Some("publicationDate:desc") => {
            found.sort_by_key(|work| std::cmp::Reverse(work.date.clone()));
        }
        _ => found.sort_by_key(|work| work.corpus),
    }
    let start = request
        .param("token")
        .and_then(|token| token.strip_prefix("PAGE"))
        .and_then(|n| n.parse().ok());
    let start: usize = start.unwrap_or(0);
    let page: Vec<Value> =
        found.iter().skip(start).take(BULK_PAGE).map(|work| projected(work, request)).collect();
    let end = start + page.len();
    let token = (end < found.len()).then(|| format!("PAGE{end}"));
    Reply::json(&json!({"total": found.len(), "token": token, "data": page}))
}

fn title_match(world: &World, request: &Request<'_>) -> Reply {
    let query = request.param("query").unwrap_or_default();
    let titles: Vec<String> = world.papers.iter().map(|work| work.title.clone()).collect();
    let wanted = crate::words::stems(query);
    let best = rank(query, &titles).into_iter().next();
    let found = best.and_then(|(at, score)| Some((world.papers.get(at)?, score)));
    // A match has most of the words.
    let close = |work: &WorldPaper| {
        let known = crate::words::stems(&work.title);
        2 * wanted.iter().filter(|word| known.contains(word)).count() > wanted.len()
    };
    match found {
        Some((work, score)) if close(work) => {
            let mut paper = projected(work, request);
            paper["matchScore"] = json!(score);
            Reply::json(&json!({ "data": [paper] }))
        }
        _ => Reply::error(404, "Title match not found"),
    }
}

fn batch(world: &World, request: &Request<'_>) -> Reply {
    let body = request.json();
    let Some(ids) = body.get("ids").and_then(Value::as_array) else {
        return Reply::error(400, "Unrecognized request body");
    };
    if ids.len() > MAX_BATCH {
        return Reply::error(400, "Too many paper ids. The limit is 500");
    }
    let found: Vec<Option<&WorldPaper>> =
        ids.iter().map(|id| id.as_str().and_then(|id| find(world, id))).collect();
    if found.iter().all(Option::is_none) {
        return Reply::error(400, "No valid paper ids given");
    }
    let papers = found.iter().map(|work| work.map(|work| projected(work, request)));
    Reply::json(&papers.collect())
}

fn paper(world: &World, rest: &str, request: &Request<'_>) -> Reply {
    let (id, direction) = match rest.rsplit_once('/') {
        Some((id, direction @ ("references" | "citations"))) => (id, Some(direction)),
        _ => (rest, None),
    };
    let Some(work) = find(world, id) else {
        return Reply::error(404, &format!("Paper with id {id} not found"));
    };
    match direction {
        None => Reply::json(&projected(work, request)),
        Some("references") => {
            let cited = work.references.iter().filter_map(|key| world.get(key));
            edges(
                cited.map(|cited| ("citedPaper", cited, work.influential.contains(&cited.key))),
                request,
            )
        }
        Some(_) => {
            let citing = world.citing(&work.key);
            edges(
                citing
                    .map(|citing| ("citingPaper", citing, citing.influential.contains(&work.key))),
                request,
            )
        }
    }
}

fn edges<'a>(
    papers: impl Iterator<Item = (&'static str, &'a WorldPaper, bool)>,
    request: &Request<'_>,
) -> Reply {
    let all: Vec<Value> = papers
        .map(|(side, work, influential)| {
            json!({"isInfluential": influential, "contexts": [], "intents": ["background"], side: projected(work, request)})
        })
        .collect();
    let (limit, offset) = (request.number("limit", 100), request.number("offset", 0));
    let page: Vec<Value> = all.iter().skip(offset).take(limit).cloned().collect();
    let mut reply = json!({ "offset": offset });
    if offset + page.len() < all.len() {
        reply["next"] = json!(offset + page.len());
    }
    reply["data"] = Value::Array(page);
    Reply::json(&reply)
}

fn recommend(world: &World, request: &Request<'_>) -> Reply {
    let body = request.json();
    let ids = body.get("positivePaperIds").and_then(Value::as_array).cloned().unwrap_or_default();
    let positive: Vec<&WorldPaper> =
        ids.iter().filter_map(|id| find(world, id.as_str()?)).collect();
    if positive.is_empty() {
        return Reply::error(400, "No positive paper examples given");
    }
    recommended(world, &positive, request)
}

/// Papers with the words of the given ones. Dates play no part, as in the service.
fn recommended(world: &World, seeds: &[&WorldPaper], request: &Request<'_>) -> Reply {
    let words: Vec<String> = seeds.iter().map(|work| work.about()).collect();
    let found = world.search(&words.join(" ")).into_iter();
    let others = found.filter(|(work, _)| seeds.iter().all(|seed| seed.key != work.key));
    let limit = request.number("limit", 100);
    let papers: Vec<Value> = others.take(limit).map(|(work, _)| projected(work, request)).collect();
    Reply::json(&json!({ "recommendedPapers": papers }))
}

fn snippets(world: &World, request: &Request<'_>) -> Reply {
    let query = request.param("query").unwrap_or_default();
    let mut units: Vec<(&WorldPaper, &str, Option<&WorldSection>, &str)> = Vec::new();
    for work in world.papers.iter().filter(|work| passes(work, request)) {
        units.push((work, "title", None, work.title.as_str()));
        units.extend(work.summary.as_deref().map(|text| (work, "abstract", None, text)));
        units.extend(
            work.sections.iter().map(|part| (work, "body", Some(part), part.text.as_str())),
        );
    }
    let texts: Vec<String> = units.iter().map(|(.., text)| (*text).to_owned()).collect();
    let ranked = rank(query, &texts).into_iter().take(request.number("limit", 10));
    let hits = ranked.filter_map(|(at, score)| {
        let (work, kind, part, text) = units.get(at)?;
        let notes = match part {
            Some(WorldSection { mentions: Some(mentions), .. }) => json!({
                "sentences": sentences(text),
                "refMentions": mentions.iter().filter_map(|(marker, cited)| {
                    let start = text.get(..text.find(marker.as_str())?)?.chars().count();
                    let cited = cited.as_ref().and_then(|key| world.get(key)).map(|work| work.corpus.to_string());
                    Some(json!({"start": start, "end": start + marker.chars().count(), "matchedPaperCorpusId": cited}))
                }).collect::<Vec<_>>(),
            }),
            Some(_) => Value::Null,
            None => json!({"sentences": null, "refMentions": null}),
        };
        let length = text.chars().count();
        Some(json!({
            "score": score,
            "paper": {
                "corpusId": work.corpus.to_string(),
                "title": work.title,
                "authors": work.authors,
                "openAccessInfo": {"license": null, "status": null, "disclaimer": "Notice: see the source."},
            },
            "snippet": {
                "text": text,
                "snippetKind": kind,
                "section": part.map(|part| part.heading.as_str()),
                "snippetOffset": {"start": 0, "end": length},
                "annotations": notes,
            },
        }))
    });
    let data: Vec<Value> = hits.collect();
    Reply::json(&json!({"data": data, "retrievalVersion": "stand-in"}))
}

fn sentences(text: &str) -> Vec<Value> {
    let mut out = Vec::new();
    let mut start = 0;
    for piece in text.split_inclusive(". ") {
        let length = piece.trim_end().chars().count();
        out.push(json!({"start": start, "end": start + length}));
        start += piece.chars().count();
    }
    out
}
