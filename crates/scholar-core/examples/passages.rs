//! Cuts papers into passages: JSON lines of papers on standard input, JSON lines of passages on standard output.
//!
//! `cargo run -p scholar-core --example passages < papers.jsonl`; with `--blocks` the blocks of each section are printed
//! instead (`paper`, `section`, `kind`, `text`), for counting what is told apart rightly.

use std::error::Error;
use std::io::{BufRead as _, Write as _};

use scholar_core::Paper;
use scholar_core::text::PassageRules;
use scholar_core::text::blocks::blocks;
use scholar_core::text::passages::cut;

fn main() -> Result<(), Box<dyn Error>> {
    let with_blocks = std::env::args().any(|argument| argument == "--blocks");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let paper: Paper = serde_json::from_str(&line?)?;
        if !with_blocks {
            for passage in cut(&paper, PassageRules::sections()) {
                writeln!(out, "{}", serde_json::to_string(&passage)?)?;
            }
            continue;
        }
        for section in &paper.sections {
            for block in blocks(&section.heading, &section.text) {
                let record = serde_json::json!({
                    "paper": paper.meta.id, "section": section.heading, "kind": block.kind,
                    "text": section.text[block.range].trim(),
                });
                writeln!(out, "{record}")?;
            }
        }
    }
    Ok(())
}
