//! Configs as YAML in block style.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A config; `comment` lines come first.
pub(super) struct Config {
    pub comment: &'static str,
    pub values: Map<String, Value>,
}

/// The config's text.
pub(super) fn text(config: &Config) -> String {
    let mut text: String = config.comment.lines().map(|line| format!("# {line}\n")).collect();
    block(&mut text, &config.values, 0);
    text
}

fn block(text: &mut String, values: &Map<String, Value>, depth: usize) {
    for (name, value) in values {
        let indent = "  ".repeat(depth);
        // Writing to a String cannot fail.
        let _ = match value {
            Value::Object(inner) => {
                let written = writeln!(text, "{indent}{name}:");
                block(text, inner, depth + 1);
                written
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(scalar).collect();
                writeln!(text, "{indent}{name}: [{}]", items.join(", "))
            }
            other => writeln!(text, "{indent}{name}: {}", scalar(other)),
        };
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        // JSON's quoted strings are YAML's.
        Value::String(_) => value.to_string(),
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

/// With a point and a signed exponent: YAML 1.1 readers take `5e-6` for a text.
fn float(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-3 {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        return format!("{digits}{point}e{exponent}");
    }
    format!("{number:?}")
}

/// Whether a text needs no quotes: a path, a name, an interpolation.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || "./$".contains(c));
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    first
        && !words.contains(&text.to_ascii_lowercase().as_str())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/${}".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_mean_the_same_to_old_and_new_readers() {
        assert_eq!(float(5e-6), "5.0e-6");
        assert_eq!(float(1.5e-5), "1.5e-5");
        assert_eq!(float(0.01), "0.01");
        assert_eq!(scalar(&Value::from("${output_dir}/logs")), "${output_dir}/logs");
        assert_eq!(scalar(&Value::from("no")), "\"no\"");
        assert_eq!(scalar(&Value::from("a: b")), "\"a: b\"");
        assert_eq!(scalar(&Value::Null), "null");
    }
}
