//! Zotero's fields → a record.

use std::collections::BTreeMap;

use scholar_core::PaperId;

use crate::library::record::Record;
use crate::library::{csl, ids};
use crate::names::Name;

/// One creator as Zotero stores it.
pub(super) struct Creator {
    /// `author`, `editor`, …
    pub(super) role: String,
    pub(super) given: String,
    pub(super) family: String,
    /// One field: an institution, or a name without parts.
    pub(super) whole: bool,
}

/// Kinds of items that are no papers themselves.
pub(super) fn is_part(kind: &str) -> bool {
    matches!(kind, "attachment" | "note" | "annotation")
}

/// Roles that stand where other works have authors.
const AUTHORS: [&str; 8] = [
    "author",
    "presenter",
    "inventor",
    "programmer",
    "artist",
    "director",
    "podcaster",
    "cartographer",
];

/// A record of an item's `fields` by Zotero's names; `date` may begin with Zotero's `2020-05-03`.
pub(super) fn record(key: &str, fields: &BTreeMap<String, String>, creators: &[Creator]) -> Record {
    let field = |names: &[&str]| {
        names
            .iter()
            .filter_map(|name| fields.get(*name))
            .find(|value| !value.trim().is_empty())
            .cloned()
    };
    let mut record = Record { key: Some(key.to_owned()), key_is_global: true, ..Record::default() };
    let title = field(&["title", "caseName", "nameOfAct", "subject"]);
    record.title = csl::without_tags(&title.unwrap_or_default());
    record.venue = field(&[
        "publicationTitle",
        "proceedingsTitle",
        "bookTitle",
        "conferenceName",
        "repository",
        "university",
        "institution",
        "websiteTitle",
        "blogTitle",
        "publisher",
    ]);
    record.abstract_text = field(&["abstractNote"]);
    record.licence = field(&["rights"]).filter(|rights| is_licence(rights));
    record.authors = creators
        .iter()
        .filter(|creator| AUTHORS.contains(&creator.role.as_str()))
        .filter_map(|creator| match creator.whole {
            true => Name::whole(&creator.family),
            false => Name::new(&creator.given, &creator.family, ""),
        })
        .collect();
    if let Some(date) = field(&["date", "dateEnacted", "dateDecided", "issueDate"]) {
        record.set_date("date", &date);
    }
    if let Some(doi) = field(&["DOI"]) {
        record.add_doi("DOI", &doi);
    }
    if let Some(url) = field(&["url"]) {
        record.add_url(&url);
    }
    for name in ["archiveID", "number", "reportNumber", "publicationTitle"] {
        let found = fields.get(name).and_then(|text| ids::arxiv_in(text));
        if let Some(id) = found {
            record.add_id(id);
        }
    }
    if let Some(number) = field(&["PMID"]) {
        record.add_parsed(ids::pmid(&number), "PMID", &number);
    }
    if let Some(number) = field(&["PMCID"]) {
        record.add_parsed(ids::pmcid(&number), "PMCID", &number);
    }
    extra(fields.get("extra").map_or("", String::as_str), &mut record);
    record
}

/// Lines `Key: value` of the field Extra.
fn extra(text: &str, record: &mut Record) {
    for line in text.lines() {
        let id: Option<PaperId> = ids::of_line(line);
        if let Some(id) = id {
            record.add_id(id);
        }
    }
}

/// Zotero's field Rights holds licences and copyright notices; only the former are kept.
fn is_licence(rights: &str) -> bool {
    let lower = rights.to_lowercase();
    ["creative commons", "creativecommons", "licen", "public domain"]
        .iter()
        .any(|words| lower.contains(words))
        || rights.starts_with("CC")
}
