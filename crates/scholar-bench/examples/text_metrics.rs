//! Prints what the text metrics make of each text: JSON strings in, objects out, line by line.
//!
//! `tests/golden/compare_texts.py` holds them against the Python packages and the reference scorers' rules.

use std::io::{BufRead as _, Write as _};

use scholar_bench::metrics::punkt;
use scholar_bench::metrics::text::{citations, lengths, overlap, rouge};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let object = json!({
            "sentences": punkt::sentences(&text),
            "removed": citations::remove(&text),
            "numbers": citations::numbers(&text),
            "first": citations::first_numbers(&text),
            "words": lengths(&text).words,
            "normal": overlap::normalise(&text),
            "tokens": rouge::tokens(&text),
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}
