//! The form of JSON over which digests and signatures are taken: RFC 8785.

use scholar_core::text::hex;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// `value` as it stands in a file: numbers are the shortest decimals that are written there.
///
/// A score of 32 bits is written `0.9`, and who reads the file has the 64 bits of `0.9`. Digests are over these, so that
/// any implementation of RFC 8785 finds them again from the file alone.
///
/// # Errors
/// When `value` has no JSON form: keys that are no text.
pub fn as_written(value: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::from_str(&serde_json::to_string(value)?)
}

/// The canonical bytes of `value`: UTF-8, keys sorted, no white space, numbers as ECMAScript writes them.
///
/// # Errors
/// As [`as_written`].
pub fn canonical(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json_canonicalizer::to_vec(&as_written(value)?)
}

/// SHA-256 of [`canonical`], 64 hexadecimal digits.
///
/// # Errors
/// As [`as_written`].
pub fn digest(value: &impl Serialize) -> serde_json::Result<String> {
    canonical(value).map(|bytes| sha256(&bytes))
}

/// SHA-256, 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The example of RFC 8785, section 3.2.2, and the digits of a score of 32 bits.
    #[test]
    fn keys_are_sorted_and_numbers_are_those_of_the_file() {
        let value: Value = serde_json::from_str(
            r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#,
        )
        .expect("JSON");
        assert_eq!(
            String::from_utf8(canonical(&value).expect("canonical")).expect("UTF-8"),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
        assert_eq!(
            canonical(&json!({"b": 0.9, "a": 1})).expect("canonical"),
            br#"{"a":1,"b":0.9}"#
        );
        assert_eq!(canonical(&0.9_f32).expect("canonical"), b"0.9");
    }
}
