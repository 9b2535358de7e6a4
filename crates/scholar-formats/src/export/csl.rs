//! CSL-JSON: for citation processors.

use scholar_core::PaperId;
use serde_json::{Map, Value, json};

use super::item::{Item, Kind};
use crate::names::Name;

/// An array of items.
pub(crate) fn write(items: &[Item]) -> Value {
    items.iter().map(item).collect()
}

/// The CSL type of a work.
pub(crate) fn kind(item: &Item) -> &'static str {
    match item.kind() {
        Kind::Conference => "paper-conference",
        Kind::Article => "article-journal",
        Kind::Preprint => "article",
    }
}

fn item(item: &Item) -> Value {
    let mut object = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    };
    set("id", Some(json!(item.id.to_string())));
    set("type", Some(json!(kind(item))));
    set("title", Some(json!(item.title)));
    set("author", Some(item.authors.iter().map(author).collect()));
    set("issued", issued(item).map(|parts| json!({"date-parts": [parts]})));
    set("container-title", item.venue.as_ref().map(|venue| json!(venue)));
    set("DOI", item.doi().map(|doi| json!(doi)));
    set("URL", item.link().map(|url| json!(url)));
    if item.kind() == Kind::Preprint {
        set("number", item.arxiv().map(|number| json!(format!("arXiv:{number}"))));
    }
    set("abstract", item.abstract_text.as_ref().map(|text| json!(text)));
    let mut notes = Vec::new();
    for id in &item.ids {
        match id {
            PaperId::Pmid(number) => set("PMID", Some(json!(number.to_string()))),
            PaperId::Pmcid(number) => set("PMCID", Some(json!(format!("PMC{number}")))),
            PaperId::Doi(_) | PaperId::Local(_) => {}
            _ => notes.push(super::note_line(id)),
        }
    }
    if item.retracted {
        notes.push("Retracted".to_owned());
    }
    set("note", (!notes.is_empty()).then(|| json!(notes.join("\n"))));
    Value::Object(object)
}

/// Year, or year, month and day.
pub(crate) fn issued(item: &Item) -> Option<Vec<i16>> {
    match item.published {
        Some(day) => Some(vec![day.year(), day.month().into(), day.day().into()]),
        None => item.year.map(|year| vec![year]),
    }
}

fn author(name: &Name) -> Value {
    match (&name.given, &name.suffix) {
        (None, _) => json!({"literal": name.family}),
        (Some(given), None) => json!({"family": name.family, "given": given}),
        (Some(given), Some(suffix)) => {
            json!({"family": name.family, "given": given, "suffix": suffix})
        }
    }
}
