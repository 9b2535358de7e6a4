//! JSON out of a model's reply: found, then checked against the schema. A reply is never repaired by guessing.

use scholar_core::{FinishReason, PortError, PortErrorKind};
use serde_json::Value;

/// How many beginnings of a value are tried in prose: enough for a preamble with brackets, bounded for hostile text.
const MAX_BEGINNINGS: usize = 64;

/// Why a reply holds no usable JSON.
#[derive(Debug, thiserror::Error)]
pub enum JsonReplyError {
    /// No object or array in the reply.
    #[error("the reply contains no JSON value: `{start}`")]
    Missing {
        /// How the reply begins.
        start: String,
    },
    /// A value that breaks the schema.
    #[error("the JSON breaks the schema at `{path}`: {reason}")]
    Invalid {
        /// JSON pointer into the value.
        path: String,
        /// What the validator found wrong there.
        reason: String,
    },
    /// The schema itself is wrong: a bug of the caller.
    #[error("the schema is not a JSON Schema: {reason}")]
    Schema {
        /// What the validator found wrong with the schema.
        reason: String,
    },
}

/// The first JSON object or array of `text` with its source: bare, in a code fence, or inside prose.
///
/// What a model thought aloud (up to `</think>`) is skipped. A bare number, string or literal counts only as the whole reply.
pub fn extract_json(text: &str) -> Option<(Value, &str)> {
    let text = text.rsplit_once("</think>").map_or(text, |(_, answer)| answer).trim();
    let fenced = || {
        let (_, after) = text.split_once("```")?;
        let (inside, _) = after.split_once("```")?;
        let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim();
        parse_whole(inside)
    };
    parse_whole(text).or_else(fenced).or_else(|| {
        let beginnings = text.char_indices().filter(|(_, c)| matches!(c, '{' | '['));
        beginnings.take(MAX_BEGINNINGS).find_map(|(at, _)| parse_prefix(&text[at..]))
    })
}

fn parse_whole(text: &str) -> Option<(Value, &str)> {
    serde_json::from_str(text).ok().map(|value| (value, text))
}

fn parse_prefix(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    // `[1]` in prose is a citation far more often than an array.
    let citation = matches!(&value, Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_number));
    (!citation).then(|| (value, &text[..values.byte_offset()]))
}

/// The source of the JSON value in `text`, valid under `schema`.
pub(super) fn validated(text: &str, schema: &Value) -> Result<String, JsonReplyError> {
    let validator = jsonschema::validator_for(schema)
        .map_err(|error| JsonReplyError::Schema { reason: error.to_string() })?;
    let Some((value, source)) = extract_json(text) else {
        return Err(JsonReplyError::Missing { start: text.trim().chars().take(80).collect() });
    };
    match validator.iter_errors(&value).next() {
        None => Ok(source.to_owned()),
        Some(error) => Err(JsonReplyError::Invalid {
            path: error.instance_path().to_string(),
            reason: error.to_string().chars().take(200).collect(),
        }),
    }
}

/// `error` as it crosses the port.
pub(super) fn failure(
    error: JsonReplyError,
    name: &str,
    model: &str,
    finish: FinishReason,
) -> PortError {
    let kind = match error {
        JsonReplyError::Schema { .. } => PortErrorKind::Rejected,
        JsonReplyError::Missing { .. } | JsonReplyError::Invalid { .. } => PortErrorKind::Corrupt,
    };
    let failed = PortError::new(kind, format!("the reply of `{model}` is not a valid `{name}`"));
    let failed = failed.with_source(error);
    if finish == FinishReason::Length {
        failed.with_hint("raise the token limit: the reply was cut before its end")
    } else {
        failed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn one_value_is_found_wherever_it_stands() {
        let check = |text: &str, expect: Option<Value>| {
            assert_eq!(extract_json(text).map(|(value, _)| value), expect, "{text}");
        };
        let object = json!({"a": [1, "}"]});
        check(r#"{"a": [1, "}"]}"#, Some(object.clone()));
        check("```json\n{\"a\": [1, \"}\"]}\n```", Some(object.clone()));
        check("Sure! Here it is:\n```\n{\"a\": [1, \"}\"]}\n```\nBye.", Some(object.clone()));
        check("As [1] says {x}: {\"a\": [1, \"}\"]} and {\"b\": 2}", Some(object.clone()));
        check("<think>{\"no\": 1}</think>{\"a\": [1, \"}\"]}", Some(object));
        check("true", Some(json!(true)));
        check("I think it is true [3].", None);
        check("{\"a\": ", None);
        check("", None);
        check(&"[{".repeat(100_000), None);
    }

    #[test]
    fn a_wrong_value_is_named() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        assert_eq!(validated("x {\"n\": 3} y", &schema).expect("valid"), "{\"n\": 3}");
        let error = |text: &str| validated(text, &schema).expect_err("invalid").to_string();
        assert!(error("{\"n\": \"3\"}").contains("`/n`"));
        assert!(error("{}").contains("\"n\""));
        assert!(error("no").contains("no JSON"));
        let broken = validated("{}", &json!({"type": 7})).expect_err("not a schema");
        assert!(matches!(broken, JsonReplyError::Schema { .. }));
    }

    proptest! {
        #[test]
        fn never_panics_and_its_source_parses(text in "\\PC{0,60}") {
            if let Some((value, source)) = extract_json(&text) {
                prop_assert_eq!(serde_json::from_str::<Value>(source).expect("a value"), value);
            }
        }
    }
}
