//! Items as Zotero's web and local interfaces answer them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::item::{self, Creator};
use crate::error::FormatError;
use crate::library::{Attachment, Collector, Library, csl};

/// Deepest nesting of collections.
const DEPTH: usize = 64;

/// Reads the items of one or several replies, joined to one array, with the collections' own reply for their names
/// (`[]` if it was not asked for: then collections go by their keys).
///
/// # Errors
/// When either is no JSON array of objects.
pub fn read_json(items: &str, collections: &str) -> Result<Library, FormatError> {
    let (items, cut) = csl::items(items, "Zotero JSON", "items")?;
    let (collections, _) =
        csl::items(collections, "Zotero JSON", "collections").or_else(|error| {
            if collections.trim() == "[]" { Ok((Vec::new(), None)) } else { Err(error) }
        })?;
    let paths = paths(&collections);
    let files = files(&items);
    let mut collector = Collector::default();
    for (number, item) in items.iter().enumerate() {
        let data = item.get("data").unwrap_or(item);
        let key = text(data, "key").or_else(|| text(item, "key")).unwrap_or_default();
        let at = format!("item {} ({key})", number + 1);
        let kind = text(data, "itemType").unwrap_or_default();
        if kind.is_empty() || key.is_empty() {
            collector.skip(&at, "it has no itemType or no key");
            continue;
        }
        if is_set(data, "deleted") {
            continue;
        }
        if item::is_part(&kind) {
            if kind == "attachment" && text(data, "parentItem").is_none() {
                attachment(item).into_iter().for_each(|file| collector.loose(file));
            }
            continue;
        }
        let mut record = record(item, data, &key);
        record.attachments = files.get(key.as_str()).cloned().unwrap_or_default();
        record.collections = list(data, "collections")
            .filter_map(Value::as_str)
            .map(|key| paths.get(key).cloned().unwrap_or_else(|| key.to_owned()))
            .collect();
        collector.take(record, &at);
    }
    if let Some(cut) = cut {
        collector.skip("the rest of the reply", &cut);
    }
    Ok(collector.finish())
}

fn record(item: &Value, data: &Value, key: &str) -> crate::library::Record {
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in data.as_object().into_iter().flatten() {
        if let Value::String(text) = value {
            fields.insert(name.clone(), text.clone());
        }
    }
    // What Zotero understood of the date as it is written.
    if let Some(parsed) = item.get("meta").and_then(|meta| text(meta, "parsedDate")) {
        fields.insert("date".to_owned(), parsed);
    }
    let creators: Vec<Creator> = list(data, "creators")
        .map(|creator| {
            let part = |name| text(creator, name).unwrap_or_default();
            let whole = text(creator, "name");
            Creator {
                role: part("creatorType"),
                given: part("firstName"),
                whole: whole.is_some(),
                family: whole.unwrap_or_else(|| part("lastName")),
            }
        })
        .collect();
    let mut record = item::record(key, &fields, &creators);
    record.tags = list(data, "tags").filter_map(|tag| text(tag, "tag")).collect();
    record
}

/// Files by the key of their item.
fn files(items: &[Value]) -> BTreeMap<String, Vec<Attachment>> {
    let mut files: BTreeMap<String, Vec<Attachment>> = BTreeMap::new();
    for item in items {
        let data = item.get("data").unwrap_or(item);
        if text(data, "itemType").as_deref() == Some("attachment")
            && !is_set(data, "deleted")
            && let (Some(parent), Some(file)) = (text(data, "parentItem"), attachment(item))
        {
            files.entry(parent).or_default().push(file);
        }
    }
    files
}

fn attachment(item: &Value) -> Option<Attachment> {
    let data = item.get("data").unwrap_or(item);
    let link = item.get("links").and_then(|links| links.get("enclosure"));
    let link = link.and_then(|link| text(link, "href")).filter(|href| href.starts_with("file:"));
    let place = link.or_else(|| text(data, "path")).or_else(|| text(data, "url"))?;
    Attachment::at(&place, text(data, "contentType").as_deref())
}

/// Names of collections with those they lie in, by key.
fn paths(collections: &[Value]) -> BTreeMap<String, String> {
    let mut named: BTreeMap<String, (String, Option<String>)> = BTreeMap::new();
    for collection in collections {
        let data = collection.get("data").unwrap_or(collection);
        if let (Some(key), Some(name)) = (text(data, "key"), text(data, "name")) {
            named.insert(key, (name, text(data, "parentCollection")));
        }
    }
    named.keys().map(|key| (key.clone(), path(&named, key))).collect()
}

/// A collection's path; a ring of collections ends at [`DEPTH`].
pub(super) fn path<K: Ord>(named: &BTreeMap<K, (String, Option<K>)>, key: &K) -> String {
    let mut names = Vec::new();
    let mut at = Some(key);
    while let Some((name, parent)) =
        at.and_then(|key| named.get(key)).filter(|_| names.len() < DEPTH)
    {
        names.push(name.as_str());
        at = parent.as_ref();
    }
    names.reverse();
    names.join("/")
}

fn text(value: &Value, field: &str) -> Option<String> {
    let text = value.get(field)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn list<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

/// Whether a flag is set: the interface answers `true` or `1`.
fn is_set(value: &Value, field: &str) -> bool {
    value.get(field).is_some_and(|flag| flag == true || flag == 1)
}
