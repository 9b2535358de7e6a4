//! Measures how well kinds of text are told apart (`text::blocks` of scholar-core): makes the tables of
//! `docs/results/clean-text.md`.
//!
//! ```text
//! cargo run --release -p scholar-formats --example text_kinds -- jats JATS_DIR [IS CALLED]
//! cargo run --release -p scholar-formats --example text_kinds -- draw PDF_DIR SEED COUNT [LABELS.tsv] > drawn.jsonl
//! cargo run --release -p scholar-formats --example text_kinds -- score PDF_DIR LABELS.tsv
//! ```
//!
//! `jats` compares with what the XML says, after all markup is taken away; with two kinds it also lists what is the one and
//! was called the other. `draw` draws passages of PDFs as the program
//! cuts them, none that `LABELS.tsv` already has; `score` compares the program's kinds with the labels in that file,
//! which readers wrote. Columns of the file: draw, PDF, first and last character of the passage in the paper's text,
//! the first eight digits of its SHA-256, its first words, the kind it had when it was drawn, its weight, its label.

mod jats;
mod matrix;
mod pdf;

use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["jats", folder] => jats::measure(&files(folder, &["xml", "nxml"])?, None, &mut out),
        ["jats", folder, is, called] => {
            let listed = Some((matrix::kind(is)?, matrix::kind(called)?));
            jats::measure(&files(folder, &["xml", "nxml"])?, listed, &mut out)
        }
        ["draw", folder, seed, count] => {
            let drawing = pdf::Drawing { seed: seed.parse()?, count: count.parse()?, labels: None };
            pdf::draw(&files(folder, &["pdf"])?, &drawing, &mut out)
        }
        ["draw", folder, seed, count, labels] => {
            let labels = Some(Path::new(labels));
            let drawing = pdf::Drawing { seed: seed.parse()?, count: count.parse()?, labels };
            pdf::draw(&files(folder, &["pdf"])?, &drawing, &mut out)
        }
        ["score", folder, labels] => {
            pdf::score(&files(folder, &["pdf"])?, Path::new(labels), &mut out)
        }
        _ => Err("jats DIR [IS CALLED] | draw DIR SEED COUNT [LABELS] | score DIR LABELS".into()),
    }
}

/// Files below a folder whose names end so, sorted.
fn files(folder: &str, endings: &[&str]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if endings.contains(&ending.as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
