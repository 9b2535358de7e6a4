//! How much of papers' words PDF readers recover, in which order: makes the table of `docs/results/pdf.md`.
//!
//! `cargo run --release -p scholar-formats --example pdf_words -- PDFS GOLD TEI [NAME=TEXTS]…`: `PDFS` has the files,
//! `GOLD` has `attribution_clscisumm_gold.jsonl` (sentences that citing papers hold) and
//! `attribution_clscisumm_reference_papers.jsonl` (whole papers), `TEI` has pairs `x.pdf` and `x.tei.xml`. Each `TEXTS`
//! has `x.txt` for `x.pdf` as another reader made it, and `seconds` and `failures` as its run wrote them
//! (`pdf_peers.py`).

use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use scholar_formats::document::{Document, DocumentFormat, ReadLimits, read};
use serde_json::Value;

/// Words in a shingle: enough that those of two columns read across do not match.
const SHINGLE: usize = 4;

struct Gold {
    pdf: PathBuf,
    text: String,
    /// Whether the text is the whole paper, so that precision can be told.
    whole: bool,
}

#[derive(Default)]
struct Score {
    gold: usize,
    found: usize,
    shingles: usize,
    found_shingles: usize,
    whole_gold: usize,
    whole_read: usize,
    whole_both: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pdfs, gold, tei, peers @ ..] = &arguments[..] else {
        return Err("PDFS GOLD TEI are missing".into());
    };
    let golds = golds(Path::new(pdfs), Path::new(gold), Path::new(tei))?;
    let sentences = golds.iter().filter(|gold| !gold.whole).count();
    writeln!(out, "{sentences} papers with sentences, {} whole papers", golds.len() - sentences)?;
    writeln!(
        out,
        "\n| reader | words recovered | shingles recovered | precision of words (whole papers) | recall (whole papers) | time for all files | failures |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs_err::read_dir(pdfs)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pdf"));
    let mut texts: HashMap<PathBuf, String> = HashMap::new();
    let (start, mut failures) = (Instant::now(), 0);
    for path in files.iter().chain(golds.iter().map(|gold| &gold.pdf)) {
        let bytes = fs_err::read(path)?;
        match read(DocumentFormat::Pdf, &bytes, ReadLimits::default()) {
            Ok(document) => drop(texts.insert(path.clone(), printed(&document))),
            Err(_) => failures += 1,
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    row(
        &mut out,
        "this program",
        &golds,
        |path| texts.get(path).cloned(),
        &format!("{seconds:.1} s"),
        failures,
    )?;
    for peer in peers {
        let (name, folder) = peer.split_once('=').ok_or("a peer is NAME=TEXTS")?;
        let file = |name: &str| fs_err::read_to_string(Path::new(folder).join(name));
        let stated = |name: &str| file(name).unwrap_or_else(|_| "?".into()).trim().to_owned();
        let failures = stated("failures").parse().unwrap_or(0);
        let text = |path: &Path| file(&format!("{}.txt", path.file_stem()?.to_string_lossy())).ok();
        row(&mut out, name, &golds, text, &format!("{} s", stated("seconds")), failures)?;
    }
    Ok(())
}

fn row(
    out: &mut impl std::io::Write,
    name: &str,
    golds: &[Gold],
    text: impl Fn(&Path) -> Option<String>,
    speed: &str,
    failures: usize,
) -> Result<(), Box<dyn Error>> {
    let mut score = Score::default();
    for gold in golds {
        let read = words(&text(&gold.pdf).unwrap_or_default());
        let expect = words(&gold.text);
        let both = common(counts(&read), &counts(&expect));
        if gold.whole {
            score.whole_gold += expect.len();
            score.whole_read += read.len();
            score.whole_both += both;
        }
        score.gold += expect.len();
        score.found += both;
        let all = counts(&shingles(&expect));
        score.shingles += all.values().sum::<usize>();
        score.found_shingles += common(counts(&shingles(&read)), &all);
    }
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    let part = |found: usize, of: usize| format!("{:.3}", found as f64 / of.max(1) as f64);
    writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {speed} | {failures} |",
        part(score.found, score.gold),
        part(score.found_shingles, score.shingles),
        part(score.whole_both, score.whole_read),
        part(score.whole_both, score.whole_gold),
    )?;
    Ok(())
}

/// All text a document holds, its references too.
fn printed(document: &Document) -> String {
    let mut text = document.paper.meta.title.clone();
    for section in &document.paper.sections {
        text.push(' ');
        text.push_str(&section.heading);
        text.push(' ');
        text.push_str(&section.text);
    }
    for reference in &document.references {
        text.push(' ');
        text.push_str(&reference.text);
    }
    text
}

/// Words in small letters; what is no letter or digit parts them.
fn words(text: &str) -> Vec<String> {
    let lower = text
        .replace('\u{fb01}', "fi")
        .replace('\u{fb02}', "fl")
        .replace('\u{fb00}', "ff")
        .to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn shingles(words: &[String]) -> Vec<String> {
    words.windows(SHINGLE).map(|window| window.join(" ")).collect()
}

fn counts(items: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for item in items {
        *counts.entry(item.clone()).or_default() += 1;
    }
    counts
}

fn common(mut read: HashMap<String, usize>, expect: &HashMap<String, usize>) -> usize {
    let mut sum = 0;
    for (item, count) in expect.iter().collect::<std::collections::BTreeMap<_, _>>() {
        sum += read.remove(item).unwrap_or(0).min(*count);
    }
    sum
}

fn golds(pdfs: &Path, gold: &Path, tei: &Path) -> Result<Vec<Gold>, Box<dyn Error>> {
    let pdf_of = |id: &str| pdfs.join(format!("acl_scisumm__{id}.pdf"));
    let mut sentences: std::collections::BTreeMap<String, Vec<String>> =
        std::collections::BTreeMap::new();
    for row in rows(&gold.join("attribution_clscisumm_gold.jsonl"))? {
        let text = row["citation_text"].as_str().unwrap_or_default().to_owned();
        let all =
            sentences.entry(row["citing"].as_str().unwrap_or_default().to_owned()).or_default();
        if !all.contains(&text) {
            all.push(text);
        }
    }
    let mut found: Vec<Gold> = Vec::new();
    for (id, texts) in sentences {
        found.push(Gold { pdf: pdf_of(&id), text: texts.join(" \n "), whole: false });
    }
    for row in rows(&gold.join("attribution_clscisumm_reference_papers.jsonl"))? {
        let mut text = row["title"].as_str().unwrap_or_default().to_owned();
        let sections = row["sections"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|section| section["sentences"].as_array());
        for sentence in row["abstract"].as_array().into_iter().chain(sections).flatten() {
            text.push(' ');
            text.push_str(sentence[1].as_str().unwrap_or_default());
        }
        found.push(Gold { pdf: pdf_of(row["id"].as_str().unwrap_or_default()), text, whole: true });
    }
    for entry in fs_err::read_dir(tei)? {
        let pdf = entry?.path();
        if pdf.extension().is_some_and(|extension| extension == "pdf") {
            let document = read(
                DocumentFormat::Tei,
                &fs_err::read(pdf.with_extension("tei.xml"))?,
                ReadLimits::default(),
            )?;
            found.push(Gold { text: printed(&document), pdf, whole: true });
        }
    }
    found.retain(|gold| gold.pdf.exists());
    Ok(found)
}

fn rows(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = fs_err::read_to_string(path)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
