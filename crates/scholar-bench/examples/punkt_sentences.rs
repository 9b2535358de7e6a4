//! Prints the sentences of each text: JSON strings in, lists of sentences out, line by line.
//!
//! `tests/golden/punkt_sentences.py compare` holds them against NLTK's.

use std::io::{BufRead as _, Write as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let sentences = scholar_bench::metrics::punkt::sentences(&text);
        writeln!(out, "{}", serde_json::to_string(&sentences)?)?;
    }
    Ok(())
}
