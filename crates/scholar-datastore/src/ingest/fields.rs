//! Rows of any shape: which field is where, as JSON pointers.

use std::fmt;
use std::str::FromStr;

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{Paper, PaperId, PaperMeta, Section};
use serde_json::Value;

use super::rows::{day, push_section, year};

/// Fields a map may name.
const FIELDS: [&str; 17] = [
    "id",
    "title",
    "text",
    "abstract",
    "authors",
    "year",
    "date",
    "venue",
    "url",
    "licence",
    "citations",
    "references",
    "doi",
    "arxiv",
    "pmid",
    "corpusid",
    "openalex",
];
/// Those that identify a paper, the first that a row has becomes its identifier when `id` is not mapped.
const IDENTIFIERS: [&str; 5] = ["doi", "corpusid", "pmid", "arxiv", "openalex"];

/// Where the fields of a row are: `title=/paper/name,text=/body,id=/doi`. A field can be named twice: the first place
/// that a row has counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldMap {
    places: Vec<(&'static str, String)>,
}

/// A field map that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldMapError {
    /// A part without `=`, as written.
    #[error("{0:?} is not FIELD=POINTER, for example title=/paper/name")]
    Shape(String),
    /// Not one of ours.
    #[error("{0:?} is not a field ({fields})", fields = FIELDS.join(", "))]
    Field(String),
    /// Not a JSON pointer.
    #[error(
        "{pointer:?} for {field} is not a JSON pointer: it starts with /, for example /paper/name"
    )]
    Pointer {
        /// Field of a paper for which the pointer was given.
        field: String,
        /// What was given instead of one.
        pointer: String,
    },
    /// Rows could not be named.
    #[error("no field identifies a paper: map id, doi, corpusid, pmid, arxiv or openalex")]
    NoIdentifier,
    /// Rows would be empty.
    #[error("no field contains text: map title, abstract or text")]
    NoText,
}

impl FromStr for FieldMap {
    type Err = FieldMapError;

    fn from_str(text: &str) -> Result<Self, FieldMapError> {
        let mut places = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (field, pointer) =
                part.split_once('=').ok_or_else(|| FieldMapError::Shape(part.to_owned()))?;
            let known = FIELDS
                .iter()
                .find(|known| **known == field.trim())
                .ok_or_else(|| FieldMapError::Field(field.trim().to_owned()))?;
            let pointer = pointer.trim();
            if !pointer.starts_with('/') {
                let (field, pointer) = ((*known).to_owned(), pointer.to_owned());
                return Err(FieldMapError::Pointer { field, pointer });
            }
            places.push((*known, pointer.to_owned()));
        }
        let has = |field: &str| places.iter().any(|(known, _)| *known == field);
        if !has("id") && !IDENTIFIERS.into_iter().any(has) {
            return Err(FieldMapError::NoIdentifier);
        }
        if !["title", "abstract", "text"].into_iter().any(has) {
            return Err(FieldMapError::NoText);
        }
        Ok(Self { places })
    }
}

impl fmt::Display for FieldMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.places.iter().map(|(field, pointer)| format!("{field}={pointer}")).collect();
        f.write_str(&parts.join(","))
    }
}

impl FieldMap {
    /// The value of `field` in `row`; null counts as absent.
    fn find<'a>(&self, row: &'a Value, field: &str) -> Option<&'a Value> {
        self.places
            .iter()
            .filter(|(known, _)| *known == field)
            .filter_map(|(_, pointer)| row.pointer(pointer))
            .find(|value| !value.is_null())
    }

    /// A text or number as text; absent is `None`, another kind of value is an error that names the field.
    fn text(&self, row: &Value, field: &str) -> Result<Option<String>, String> {
        match self.find(row, field) {
            None => Ok(None),
            Some(Value::String(text)) => {
                Ok(Some(text.clone()).filter(|text| !text.trim().is_empty()))
            }
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(format!("{field} is {} where text is needed", kind(other))),
        }
    }

    /// Texts: of a list, or one.
    fn texts(&self, row: &Value, field: &str) -> Result<Vec<String>, String> {
        match self.find(row, field) {
            Some(Value::Array(values)) => values
                .iter()
                .map(|value| match value {
                    Value::String(text) => Ok(nfc_single_spaced(text)),
                    Value::Number(number) => Ok(number.to_string()),
                    other => Err(format!("{field} is {} instead of text", kind(other))),
                })
                .collect(),
            _ => Ok(self
                .text(row, field)?
                .map(|text| nfc_single_spaced(&text))
                .into_iter()
                .collect()),
        }
    }

    fn identifiers(&self, row: &Value) -> Result<Vec<PaperId>, String> {
        let mut ids = Vec::new();
        if let Some(id) = self.text(row, "id")? {
            ids.push(any_identifier(id.trim()));
        }
        for registry in IDENTIFIERS {
            let Some(text) = self.text(row, registry)? else { continue };
            let id = match text.trim().parse() {
                Ok(id) => id,
                Err(_) => format!("{registry}:{}", text.trim())
                    .parse::<PaperId>()
                    .map_err(|_| format!("{text:?} is not a {registry} identifier"))?,
            };
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// The row as a paper.
    pub(crate) fn paper(&self, row: &Value) -> Result<Paper, String> {
        let mut ids = self.identifiers(row)?.into_iter();
        let id = ids.next().ok_or("none of the fields that identify a paper is present")?;
        let title = self.text(row, "title")?.unwrap_or_default();
        let mut meta = PaperMeta::new(id, nfc_single_spaced(&title));
        meta.external_ids = ids.collect();
        meta.authors = self.texts(row, "authors")?;
        meta.published = self.text(row, "date")?.and_then(|date| day(date.get(..10)?));
        meta.year =
            year(self.find(row, "year")).or_else(|| meta.published.map(jiff::civil::Date::year));
        meta.venue = self.text(row, "venue")?.map(|venue| nfc_single_spaced(&venue));
        meta.url = self.text(row, "url")?;
        meta.licence = self.text(row, "licence")?;
        meta.citation_count =
            self.find(row, "citations").and_then(Value::as_u64).and_then(|n| n.try_into().ok());
        let mut paper = Paper {
            meta,
            sections: Vec::<Section>::new(),
            references: Vec::new(),
            records: Vec::new(),
        };
        if let Some(text) = self.text(row, "abstract")? {
            push_section(&mut paper, ABSTRACT_HEADING, &text);
        }
        if let Some(text) = self.text(row, "text")? {
            push_section(&mut paper, "", &text);
        }
        paper.references =
            self.texts(row, "references")?.iter().map(|id| any_identifier(id)).collect();
        Ok(paper)
    }
}

/// An identifier with its prefix, a DOI, or a name that only this datastore knows.
fn any_identifier(text: &str) -> PaperId {
    text.parse().or_else(|_| PaperId::doi(text)).unwrap_or_else(|_| PaperId::Local(text.to_owned()))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_where_the_map_points() {
        let map: FieldMap =
            "title=/paper/name, text=/body,id=/doi,year=/y,authors=/who,references=/cites,pmid=/p"
                .parse()
                .expect("a map");
        assert_eq!(map.to_string().parse::<FieldMap>(), Ok(map.clone()));
        let row = serde_json::json!({
            "paper": {"name": "A  title"}, "body": "Some text.", "doi": "10.1/X", "y": "2020",
            "who": ["A", "B"], "cites": ["doi:10.1/y", "w7"], "p": 12,
        });
        let paper = map.paper(&row).expect("a paper");
        assert_eq!(paper.meta.id.to_string(), "doi:10.1/x");
        assert_eq!(paper.meta.external_ids, [PaperId::Pmid(12)]);
        assert_eq!((paper.meta.title.as_str(), paper.meta.year), ("A title", Some(2020)));
        assert_eq!(paper.sections[0].text, "Some text.");
        assert_eq!(paper.references[1], PaperId::Local("w7".to_owned()));
        let check = |row: Value, expect: &str| {
            let error = map.paper(&row).expect_err("refused");
            assert!(error.contains(expect), "{error}");
        };
        check(serde_json::json!({"body": "x"}), "identify");
        check(serde_json::json!({"doi": "10.1/x", "body": ["x"]}), "text is a list");
        check(serde_json::json!({"doi": "10.1/x", "p": "seven"}), "pmid");
    }

    #[test]
    fn maps_that_cannot_work_are_refused() {
        let check = |text: &str, expect: &str| {
            let error = text.parse::<FieldMap>().expect_err("refused").to_string();
            assert!(error.contains(expect), "{text}: {error}");
        };
        check("title", "FIELD=POINTER");
        check("name=/x", "is not a field");
        check("title=name", "JSON pointer");
        check("title=/x", "identifies");
        check("id=/x", "contains text");
    }
}
