//! Makes `crates/scholar-pipeline/src/proof/stem_frequencies.tsv`: in how many of 100,000 scientific abstracts each
//! frequent content stem occurs.
//!
//! `cargo run -p scholar-bench --example stem_frequencies -- DIR > …/stem_frequencies.tsv`, where `DIR/papers` holds
//! `arxiv_sample.jsonl.gz` (CC0), `acl_anthology.jsonl.gz` (CC BY 4.0) and `openalex_works.jsonl.gz` (CC0), and
//! `DIR/fulltext` holds `pmc_rct_ccby.jsonl.gz` (CC BY). The shares of the four collections are averaged, so that no
//! field counts more because its file is larger.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use scholar_core::text::words::content_stems;
use serde_json::Value;

/// Texts the counts are scaled to.
const SCALE: f64 = 100_000.0;
/// Stems listed.
const LISTED: usize = 6000;

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args().nth(1).ok_or("usage: stem_frequencies DIR")?;
    let files = [
        "papers/arxiv_sample.jsonl.gz",
        "papers/acl_anthology.jsonl.gz",
        "papers/openalex_works.jsonl.gz",
        "fulltext/pmc_rct_ccby.jsonl.gz",
    ];
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for file in files {
        let (n_texts, counts) = count(&Path::new(&root).join(file))?;
        for (stem, count) in counts {
            *shares.entry(stem).or_default() += f64::from(count) / f64::from(n_texts) / 4.0;
        }
    }
    let mut stems: Vec<(u32, String)> =
        shares.into_iter().map(|(stem, share)| ((share * SCALE).round() as u32, stem)).collect();
    stems.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut out = std::io::stdout().lock();
    for (count, stem) in stems.into_iter().take(LISTED) {
        writeln!(out, "{stem}\t{count}")?;
    }
    Ok(())
}

fn count(path: &Path) -> Result<(u32, BTreeMap<String, u32>), Box<dyn Error>> {
    let file = fs_err::File::open(path)?;
    let mut counts = BTreeMap::new();
    let mut n_texts = 0;
    for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
        let record: Value = serde_json::from_str(&line?)?;
        let Some(text) = abstract_of(&record) else { continue };
        n_texts += 1;
        for stem in content_stems(&text).into_iter().collect::<BTreeSet<_>>() {
            *counts.entry(stem).or_default() += 1;
        }
    }
    Ok((n_texts, counts))
}

fn abstract_of(record: &Value) -> Option<String> {
    if let Some(text) = record["abstract"].as_str() {
        return (text.len() > 100).then(|| text.to_owned());
    }
    // OpenAlex stores an inverted index; the order of words does not matter here.
    let words = record["abstract_inverted_index"].as_object()?;
    Some(words.keys().map(String::as_str).collect::<Vec<_>>().join(" "))
}
