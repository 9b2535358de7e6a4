//! Zotero's local interface: the papers as items in two collections, one within the other, each with a file.

use serde_json::{Value, json};

use super::exchange::{Reply, Request};
use super::world::{World, WorldPaper};

/// The collection of everything on sleep, and the one within it.
const OUTER: &str = "COLLOUTR";
const INNER: &str = "COLLINNR";

pub(super) fn answer(world: &World, request: &Request<'_>, storage: Option<&str>) -> Reply {
    let Some(rest) = request.path.strip_prefix("/api/users/0/") else { return missing() };
    let all = || world.papers.iter().zip(1_u32..);
    let rows: Vec<Value> = match rest {
        "collections" => vec![
            json!({"key": OUTER, "data": {"key": OUTER, "name": "Sleep", "parentCollection": false}}),
            json!({"key": INNER, "data": {"key": INNER, "name": "Retracted", "parentCollection": OUTER}}),
        ],
        "items" => all().flat_map(|(work, number)| rows(work, number, storage)).collect(),
        "items/top" => all().map(|(work, number)| item(work, number)).collect(),
        _ => {
            let within = rest.strip_prefix("collections/");
            let Some(key) = within.and_then(|rest| rest.strip_suffix("/items")) else {
                return missing();
            };
            let inside = all().filter(|(work, _)| collections(work).contains(&key));
            inside.flat_map(|(work, number)| rows(work, number, storage)).collect()
        }
    };
    let (start, limit) = (request.number("start", 0), request.number("limit", 25));
    let page: Vec<Value> = rows.into_iter().skip(start).take(limit).collect();
    Reply::json(&Value::from(page))
}

fn missing() -> Reply {
    Reply::new(404, "text/plain", "Not found")
}

fn key(letter: char, number: u32) -> String {
    format!("{letter}{number:07}")
}

fn collections(work: &WorldPaper) -> Vec<&'static str> {
    if work.status.is_some() {
        vec![INNER]
    } else if work.about().to_lowercase().contains("sleep") {
        vec![OUTER]
    } else {
        Vec::new()
    }
}

/// The item and its file.
fn rows(work: &WorldPaper, number: u32, storage: Option<&str>) -> Vec<Value> {
    let mut rows = vec![item(work, number)];
    if let (Some(folder), Some(_)) = (storage, &work.open_access) {
        let (parent, own) = (key('W', number), key('F', number));
        let name = format!("{}.pdf", work.key);
        rows.push(json!({
            "key": own, "version": 1,
            "links": {"enclosure": {"type": "application/pdf", "href": format!("file://{folder}/{name}"), "title": name}},
            "data": {"key": own, "version": 1, "parentItem": parent, "itemType": "attachment", "linkMode": "imported_file",
                     "title": "Full text", "contentType": "application/pdf", "filename": name, "tags": []},
        }));
    }
    rows
}

fn item(work: &WorldPaper, number: u32) -> Value {
    let own = key('W', number);
    let creators: Vec<Value> = work
        .authors
        .iter()
        .map(|name| {
            let (given, family) = WorldPaper::split_name(name);
            json!({"creatorType": "author", "firstName": given, "lastName": family})
        })
        .collect();
    let extra = work.pmid.map(|pmid| format!("PMID: {pmid}"));
    json!({
        "key": own, "version": 1, "library": {"type": "user", "id": 0, "name": "My Library"},
        "meta": {"parsedDate": work.date, "numChildren": 1},
        "data": {"key": own, "version": 1, "itemType": "journalArticle", "title": work.title, "creators": creators,
                 "abstractNote": work.summary, "publicationTitle": work.venue, "date": work.day(), "DOI": work.doi,
                 "extra": extra, "tags": [{"tag": "stand-in"}], "collections": collections(work), "relations": {}},
    })
}
