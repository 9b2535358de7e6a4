//! JSON in replies of models: in a fence, behind an announcement, with numbers as strings.

use serde_json::Value;

/// The first object of `text` that can be read.
///
/// # Errors
/// What is wrong, in words that a model can be told.
pub fn object(text: &str) -> Result<Value, String> {
    first_of(text, ['{', '}'])
}

/// The first list of `text` that can be read.
///
/// # Errors
/// What is wrong, in words that a model can be told.
pub fn array(text: &str) -> Result<Value, String> {
    first_of(text, ['[', ']'])
}

fn first_of(text: &str, brackets: [char; 2]) -> Result<Value, String> {
    let kind = if brackets[0] == '{' { "object" } else { "list" };
    let mut problem = format!("there is no JSON {kind} in it");
    let mut from = 0;
    while let Some(open) = text[from..].find(brackets[0]) {
        let start = from + open;
        match balanced(&text[start..], brackets) {
            None => {
                return Err(
                    "its JSON is not closed: a brace or a quotation mark is missing".to_owned()
                );
            }
            Some(length) => match serde_json::from_str(&text[start..start + length]) {
                Ok(value) => return Ok(value),
                Err(error) => problem = format!("its JSON cannot be read: {error}"),
            },
        }
        from = start + 1;
    }
    Err(problem)
}

/// Bytes from the bracket that `text` begins with to the one that closes it.
fn balanced(text: &str, [open, close]: [char; 2]) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            _ if c == open => depth += 1,
            _ if c == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The list under the first of `names` that there is.
///
/// # Errors
/// When there is none.
pub fn list<'a>(value: &'a Value, names: &[&str]) -> Result<&'a Vec<Value>, String> {
    names
        .iter()
        .find_map(|name| value.get(name)?.as_array())
        .ok_or_else(|| format!("it has no list \"{}\"", names[0]))
}

/// A whole number, also where it is written as text or in brackets.
pub fn whole(value: Option<&Value>) -> Option<usize> {
    match value? {
        Value::Number(number) => usize::try_from(number.as_u64()?).ok(),
        Value::String(text) => text.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok(),
        _ => None,
    }
}

/// A text, single-spaced; empty where there is none.
pub fn text(value: Option<&Value>) -> String {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    scholar_core::text::normalise::single_spaced(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_wherever_they_stand() {
        let check = |reply: &str| object(reply).map(|value| value["a"].clone());
        assert_eq!(check("```json\n{\"a\": 1}\n```"), Ok(Value::from(1)));
        assert_eq!(check("Here {it} is: {\"a\": \"}\\\"{\"} done"), Ok(Value::from("}\"{")));
        assert_eq!(check("{\"b\": {\"a\": 1}}"), Ok(Value::Null));
        assert!(check("{\"a\": 1").is_err_and(|problem| problem.contains("not closed")));
        assert!(check("{\"a\": }").is_err_and(|problem| problem.contains("cannot be read")));
        assert!(check("none").is_err() && check("").is_err());
        assert_eq!(array("see [x]: [\"a]\", [1]]"), Ok(serde_json::json!(["a]", [1]])));
    }

    #[test]
    fn numbers_come_in_many_coats() {
        for value in [Value::from(3), Value::from("3"), Value::from("[3]")] {
            assert_eq!(whole(Some(&value)), Some(3));
        }
        for value in [Value::from(-3), Value::from("three"), Value::from(1.5), Value::Null] {
            assert_eq!(whole(Some(&value)), None);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_reply_breaks_it(reply in "[{}\"\\\\a:1, \\[\\]]{0,40}") {
            if let Ok(value) = object(&reply) {
                proptest::prop_assert!(value.is_object());
            }
        }
    }
}
