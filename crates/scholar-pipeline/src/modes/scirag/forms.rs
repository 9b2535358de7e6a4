//! The forms of symbolic replies. Source: specification A6.1 to A6.3.

use serde_json::{Value, json};

use super::desk::Form;

const TAGS: &str = r#"{"papers":[{"paper_index":1,"segments":[{"label":"T|E|A|M|other","description":"…","relevance":"High|Medium|Low"}]}]}"#;
const RELATIONS: &str =
    r#"{"relationships":[{"symbol":"[1]E -> [2]T or [1]E -> [Q]","rationale":"…"}]}"#;
const SELECTION: &str = r#"{"final_selection":[{"paper_index":1,"rank":1,"justification":"…"}],"discarded_items":[{"paper_index":2,"reason":"…"}]}"#;
const ALL: &str = r#"{"papers":[{"paper_index":1,"segments":[{"label":"T|E|A|M|other","description":"…","relevance":"High|Medium|Low"}]}],"relationships":[{"symbol":"[1]E -> [2]T or [1]E -> [Q]","rationale":"…"}],"final_selection":[{"paper_index":1,"rank":1,"justification":"…"}],"discarded_items":[{"paper_index":2,"reason":"…"}]}"#;

/// Step 1.
pub(super) fn tags() -> Form {
    Form { schema: object(&[papers()]), example: TAGS }
}

/// Step 2.
pub(super) fn relations() -> Form {
    Form { schema: object(&[relationships()]), example: RELATIONS }
}

/// Step 3.
pub(super) fn selection() -> Form {
    Form { schema: object(&[kept(), discarded()]), example: SELECTION }
}

/// All of them.
pub(super) fn all() -> Form {
    Form { schema: object(&[papers(), relationships(), kept(), discarded()]), example: ALL }
}

type Property = (&'static str, Value);

fn papers() -> Property {
    let segment = object(&[
        ("label", json!({"type": "string", "enum": ["T", "E", "A", "M", "other"]})),
        ("description", string()),
        ("relevance", json!({"type": "string", "enum": ["High", "Medium", "Low"]})),
    ]);
    ("papers", list(object(&[("paper_index", integer()), ("segments", list(segment))])))
}

fn relationships() -> Property {
    ("relationships", list(object(&[("symbol", string()), ("rationale", string())])))
}

fn kept() -> Property {
    let item =
        object(&[("paper_index", integer()), ("rank", integer()), ("justification", string())]);
    ("final_selection", list(item))
}

fn discarded() -> Property {
    ("discarded_items", list(object(&[("paper_index", integer()), ("reason", string())])))
}

fn object(properties: &[Property]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let map: serde_json::Map<String, Value> =
        properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    json!({"type": "object", "properties": map, "required": names, "additionalProperties": false})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn string() -> Value {
    json!({"type": "string"})
}

fn integer() -> Value {
    json!({"type": "integer"})
}
