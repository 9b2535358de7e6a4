//! CSL-JSON: what citation processors and reference managers exchange.

use std::fmt;

use scholar_core::PaperId;
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde_json::Value;

use super::record::{Record, shortened};
use super::{Collector, Library, dates, ids};
use crate::error::{FormatError, FormatErrorKind};
use crate::names::Name;

/// Reads an array of items, an object with `items`, or one item.
///
/// # Errors
/// When it is no JSON, or none that holds items; items before the place where a file is cut off are kept.
pub(super) fn read(text: &str) -> Result<Library, FormatError> {
    let (items, cut) = items(text, "CSL-JSON", "items")?;
    let mut collector = Collector::default();
    for (number, item) in items.iter().enumerate() {
        let at = format!("item {}", number + 1);
        match item {
            Value::Object(_) => collector.take(record(item), &at),
            _ => collector.skip(&at, "it is not an object"),
        }
    }
    if let Some(cut) = cut {
        collector.skip("the rest of the file", &cut);
    }
    Ok(collector.finish())
}

/// The items of an array, of the array `field` of an object, or the object itself; and why the rest is missing.
pub(super) fn items(
    text: &str,
    format: &'static str,
    field: &str,
) -> Result<(Vec<Value>, Option<String>), FormatError> {
    let text = text.trim();
    if text.starts_with('[') {
        let mut items = Vec::new();
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = Collect(&mut items).deserialize(&mut reader).and_then(|()| reader.end());
        return match read {
            Ok(()) => Ok((items, None)),
            Err(why) if !items.is_empty() => Ok((items, Some(why.to_string()))),
            Err(why) => Err(broken(format, &why)),
        };
    }
    match serde_json::from_str::<Value>(text).map_err(|why| broken(format, &why))? {
        Value::Object(mut object) => match object.remove(field) {
            Some(Value::Array(items)) => Ok((items, None)),
            _ => Ok((vec![Value::Object(object)], None)),
        },
        other => {
            let message =
                format!("a list of items was expected, not {}", shortened(&other.to_string()));
            Err(FormatError::new(FormatErrorKind::Malformed, format, message))
        }
    }
}

fn broken(format: &'static str, why: &serde_json::Error) -> FormatError {
    let place = format!("line {}, column {}", why.line(), why.column());
    let text = why.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    FormatError::new(FormatErrorKind::Malformed, format, message).at(place)
}

/// Keeps what was read before an error.
struct Collect<'a>(&'a mut Vec<Value>);

impl<'de> DeserializeSeed<'de> for Collect<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(item) = seq.next_element()? {
            self.0.push(item);
        }
        Ok(())
    }
}

/// A string, or a number as one.
fn text(item: &Value, field: &str) -> Option<String> {
    let value = match item.get(field)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(value).filter(|value| !value.trim().is_empty())
}

fn record(item: &Value) -> Record {
    let mut record = Record { key: text(item, "id"), ..Record::default() };
    record.title = text(item, "title").map(|title| without_tags(&title)).unwrap_or_default();
    record.venue = ["container-title", "event-title", "event"]
        .iter()
        .find_map(|field| text(item, field))
        .map(|venue| without_tags(&venue));
    record.abstract_text = text(item, "abstract").map(|text| without_tags(&text));
    record.licence = text(item, "license");
    match item.get("author") {
        Some(Value::Array(names)) => {
            for name in names {
                match author(name) {
                    Some(name) => record.authors.push(name),
                    None => {
                        record.odd(format!("author {} has no name", shortened(&name.to_string())));
                    }
                }
            }
        }
        Some(other) => record.odd(format!("author {} is no list", shortened(&other.to_string()))),
        None => {}
    }
    if let Some(issued) = item.get("issued") {
        date(issued, &mut record);
    }
    if let Some(keywords) = text(item, "keyword") {
        record.tags = keywords.split([',', ';']).map(|word| word.trim().to_owned()).collect();
        record.tags.retain(|word| !word.is_empty());
    }
    ids_of(item, &mut record);
    record
}

fn author(name: &Value) -> Option<Name> {
    let part = |field: &str| text(name, field).unwrap_or_default();
    if let Some(whole) = text(name, "literal") {
        return Name::whole(&whole);
    }
    let family = [part("non-dropping-particle"), part("family")].join(" ");
    let given = [part("given"), part("dropping-particle")].join(" ");
    Name::new(&given, &family, &part("suffix"))
}

fn date(issued: &Value, record: &mut Record) {
    let first = issued.get("date-parts").and_then(|parts| parts.get(0)).and_then(Value::as_array);
    let Some(parts) = first else {
        let stated = ["raw", "literal"].iter().find_map(|field| text(issued, field));
        if let Some(stated) = stated.or_else(|| issued.as_str().map(str::to_owned)) {
            record.set_date("issued", &stated);
        }
        return;
    };
    let number = |index: usize| match parts.get(index)? {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_i64(),
    };
    let when = number(0).map(|year| dates::of_parts(year, number(1), number(2)));
    match when {
        Some(dates::When { year: Some(year), day }) => {
            record.year = Some(year);
            record.published = day;
        }
        _ => record.odd(format!("issued {} has no year", shortened(&issued.to_string()))),
    }
}

fn ids_of(item: &Value, record: &mut Record) {
    if let Some(doi) = text(item, "DOI") {
        record.add_doi("DOI", &doi);
    }
    if let Some(number) = text(item, "PMID") {
        record.add_parsed(ids::pmid(&number), "PMID", &number);
    }
    if let Some(number) = text(item, "PMCID") {
        record.add_parsed(ids::pmcid(&number), "PMCID", &number);
    }
    if let Some(url) = text(item, "URL") {
        record.add_url(&url);
    }
    for field in ["number", "archive_location", "archive-location", "container-title"] {
        let found = text(item, field).and_then(|text| ids::arxiv_in(&text));
        record.add_ids(found);
    }
    let archive = text(item, "archive").or_else(|| text(item, "publisher"));
    if archive.is_some_and(|archive| archive.eq_ignore_ascii_case("arxiv"))
        && let Some(id) = text(item, "archive_location").and_then(|id| PaperId::arxiv(&id).ok())
    {
        record.add_id(id);
    }
    for line in text(item, "note").unwrap_or_default().lines() {
        if let Some(id) = ids::of_line(line) {
            record.add_id(id);
        }
        record.retracted |= line.to_lowercase().starts_with("retracted");
    }
}

/// The few tags that CSL-JSON allows in titles: pairs of them go, other signs stay as they are.
pub(super) fn without_tags(text: &str) -> String {
    let mut out = text.to_owned();
    for (open, close) in [
        ("<i>", "</i>"),
        ("<b>", "</b>"),
        ("<sup>", "</sup>"),
        ("<sub>", "</sub>"),
        ("<sc>", "</sc>"),
        ("<p>", "</p>"),
        ("<jats:p>", "</jats:p>"),
        ("<jats:title>", "</jats:title>"),
        ("<span class=\"nocase\">", "</span>"),
        ("<span style=\"font-variant:small-caps;\">", "</span>"),
    ] {
        if out.contains(open) && out.contains(close) {
            let blank = if open.ends_with("p>") && !open.contains("sup") { " " } else { "" };
            out = out.replace(open, blank).replace(close, blank);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"{"id": "k", "type": "article-journal", "title": "On <i>E. coli</i> when x < 3",
        "author": [{"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"},
                   {"literal": "Google Brain"}, {"family": "King", "given": "M.", "suffix": "Jr."}, {}],
        "issued": {"date-parts": [["2020", 5, 3]]}, "container-title": "Nature", "DOI": "10.1/X",
        "PMID": 12, "PMCID": "PMC34", "URL": "https://example.org/a", "abstract": "One.",
        "note": "arXiv: 1706.03762 [cs]\nfree", "keyword": "a, b"}"#;

    #[test]
    fn an_item_with_everything() {
        let found = read(&format!("[{ITEM}]")).expect("a list");
        let entry = &found.entries[0];
        let meta = &entry.paper.meta;
        assert_eq!(meta.title, "On E. coli when x < 3");
        assert_eq!(meta.authors, ["Ludwig van Beethoven", "Google\u{a0}Brain", "M. King Jr."]);
        assert_eq!(meta.published.map(|day| day.to_string()).as_deref(), Some("2020-05-03"));
        let ids: Vec<String> = meta.ids().map(ToString::to_string).collect();
        assert_eq!(ids, ["doi:10.1/x", "arxiv:1706.03762", "pmid:12", "pmcid:PMC34"]);
        assert_eq!(entry.odd, ["author {} has no name"]);
        assert_eq!(entry.tags, ["a", "b"]);
        assert_eq!(read(ITEM).expect("one item").entries, found.entries);
        assert_eq!(
            read(&format!(r#"{{"items": [{ITEM}]}}"#)).expect("items").entries,
            found.entries
        );
    }

    #[test]
    fn a_file_that_is_cut_off_keeps_its_beginning() {
        let whole = format!("[{ITEM},{{\"id\": 2, \"title\": \"Two\"}}, 3, {{\"ti");
        let found = read(&whole).expect("a list");
        assert_eq!((found.entries.len(), found.skipped), (2, 2));
        assert!(found.notices[1].message.contains("line"), "{:?}", found.notices);
        let broken = read("[{\"a\": tru").expect_err("nothing to keep");
        assert_eq!(broken.kind, FormatErrorKind::Malformed);
        assert!(broken.at.is_some(), "{broken}");
        assert!(read("3").is_err());
        assert!(read(&"[".repeat(100_000)).is_err(), "depth is bounded");
    }
}
