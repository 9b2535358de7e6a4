//! Puts lost spaces back into papers: JSON lines of papers on standard input, the same repaired on standard output, one
//! JSON line for each divided word on standard error (`paper`, `before`, `after`, each with 40 characters around).
//!
//! `cargo run -p scholar-core --example lost_spaces < papers.jsonl > repaired.jsonl 2> repairs.jsonl`; `starter/make.py`
//! calls it.

use std::error::Error;
use std::io::{BufRead as _, Write as _};

use scholar_core::Paper;
use scholar_core::text::lost_spaces::{lost_spaces_of, repair_paper};

/// Characters shown on each side of a word.
const AROUND: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut log = std::io::BufWriter::new(std::io::stderr().lock());
    for line in std::io::stdin().lock().lines() {
        let mut paper: Paper = serde_json::from_str(&line?)?;
        for (section, found) in paper.sections.iter().zip(lost_spaces_of(&paper)) {
            for one in found {
                let (head, tail) = section.text.split_at(one.start);
                let tail = &tail[one.word.len()..];
                let from = head.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
                let to = tail.char_indices().nth(AROUND).map_or(tail.len(), |(at, _)| at);
                let (head, tail) = (&head[from..], &tail[..to]);
                let record = serde_json::json!({
                    "paper": paper.meta.id,
                    "before": format!("{head}{}{tail}", one.word),
                    "after": format!("{head}{}{tail}", one.repaired()),
                });
                writeln!(log, "{record}")?;
            }
        }
        repair_paper(&mut paper);
        writeln!(out, "{}", serde_json::to_string(&paper)?)?;
    }
    Ok(())
}
