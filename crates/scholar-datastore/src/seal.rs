//! Checksums inside small JSON documents that have no other: the descriptor, and the payload of a commit.
//!
//! A sealed document is an object whose last field, `check`, is the beginning of the SHA-256 of the document without it,
//! written compactly. It covers values and names of fields alike, whatever program wrote them.

use scholar_core::text::hex;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

const CHECK: &str = "check";
/// Hexadecimal digits kept.
const DIGITS: usize = 16;

fn digest(document: &Map<String, Value>) -> String {
    let text = Value::Object(document.clone()).to_string();
    let mut digits = hex(&Sha256::digest(text.as_bytes()));
    digits.truncate(DIGITS);
    digits
}

/// `document` with its checksum.
pub(crate) fn seal(document: Value) -> Value {
    match document {
        Value::Object(mut fields) => {
            let check = digest(&fields);
            fields.insert(CHECK.to_owned(), Value::String(check));
            Value::Object(fields)
        }
        other => other,
    }
}

/// Whether the checksum is there and fits.
pub(crate) fn is_intact(document: &Value) -> bool {
    let Value::Object(fields) = document else { return false };
    let mut fields = fields.clone();
    let check = fields.shift_remove(CHECK);
    check.is_some_and(|check| check.as_str() == Some(digest(&fields).as_str()))
}

/// Whether there is a checksum.
pub(crate) fn is_sealed(document: &Value) -> bool {
    document.get(CHECK).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_noticed() {
        let sealed = seal(serde_json::json!({"b": 1, "a": {"c": ["x", null]}}));
        assert!(is_intact(&sealed) && is_sealed(&sealed));
        let text = sealed.to_string();
        assert!(is_intact(&serde_json::from_str(&text).expect("JSON")));
        for (from, to) in [("\"b\"", "\"d\""), ("1", "2"), ("\"x\"", "\"y\""), ("null", "true")] {
            let changed = serde_json::from_str(&text.replacen(from, to, 1)).expect("JSON");
            assert!(!is_intact(&changed), "{from} to {to}");
        }
        assert!(!is_intact(&serde_json::json!({"b": 1})));
        assert!(!is_intact(&serde_json::json!([])));
    }
}
