//! Reads every file of some folders as a paper and says what came out: a line for each file, a summary for each format.
//!
//! `cargo run --release -p scholar-formats --example read_documents -- [--text] PATH…`; with `--text` the sections are
//! printed too.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use scholar_formats::document::{Document, DocumentFormat, ReadLimits, read};

#[derive(Default)]
struct Sum {
    files: usize,
    read: usize,
    titles: usize,
    abstracts: usize,
    sections: usize,
    captions: usize,
    references: usize,
    identified: usize,
    placed: usize,
    bytes: usize,
    seconds: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut with_text = false;
    let mut files = Vec::new();
    for argument in std::env::args().skip(1) {
        if argument == "--text" {
            with_text = true;
        } else {
            gather(Path::new(&argument), &mut files)?;
        }
    }
    files.sort();
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for path in files {
        let bytes = fs_err::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(format) = DocumentFormat::sniff(&name, &bytes) else {
            writeln!(out, "{name}\tnot recognised")?;
            continue;
        };
        let sum = sums.entry(format.to_string()).or_default();
        let start = Instant::now();
        let document = read(format, &bytes, ReadLimits::default());
        sum.seconds += start.elapsed().as_secs_f64();
        sum.files += 1;
        sum.bytes += bytes.len();
        let document = match document {
            Ok(document) => document,
            Err(error) => {
                writeln!(out, "{name}\t{error}")?;
                continue;
            }
        };
        let paper = &document.paper;
        let summary = paper.abstract_text().map_or(0, str::len);
        let captions = paper
            .sections
            .iter()
            .filter(|s| s.heading.starts_with("Figure") || s.heading.starts_with("Table"));
        let captions = captions.count();
        let placed = paper.sections.iter().filter(|section| !section.places.is_empty()).count();
        sum.read += 1;
        sum.titles += usize::from(!paper.meta.title.is_empty());
        sum.abstracts += usize::from(summary > 0);
        sum.sections += paper.sections.len() - captions;
        sum.captions += captions;
        sum.references += document.references.len();
        sum.identified +=
            document.references.iter().filter(|reference| !reference.ids.is_empty()).count();
        sum.placed += placed;
        writeln!(
            out,
            "{name}\t{}\t{:?}\tauthors {}\tyear {:?}\tabstract {summary}\tsections {}\treferences {}\tnotices {}",
            paper.meta.id,
            paper.meta.title,
            paper.meta.authors.len(),
            paper.meta.year,
            paper.sections.len(),
            document.references.len(),
            document.notices.len(),
        )?;
        if with_text {
            print(&document, &mut out)?;
        }
    }
    table(&sums, &mut out)
}

fn table(
    sums: &BTreeMap<String, Sum>,
    out: &mut impl std::io::Write,
) -> Result<(), Box<dyn Error>> {
    writeln!(
        out,
        "\n| format | files | read | title | abstract | sections | captions | references | with id | with places | MB/s |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for (format, sum) in sums {
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let speed = sum.bytes as f64 / 1e6 / sum.seconds.max(1e-9);
        writeln!(
            out,
            "| {format} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {speed:.1} |",
            sum.files,
            sum.read,
            sum.titles,
            sum.abstracts,
            sum.sections,
            sum.captions,
            sum.references,
            sum.identified,
            sum.placed,
        )?;
    }
    Ok(())
}

fn print(document: &Document, out: &mut impl std::io::Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "{:#?}", document.paper.meta)?;
    for section in &document.paper.sections {
        writeln!(out, "## {}\n{}\n", section.heading, section.text)?;
    }
    for reference in &document.references {
        writeln!(out, "- {reference:?}")?;
    }
    for notice in &document.notices {
        writeln!(out, "! {}", notice.message)?;
    }
    Ok(())
}

fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        for entry in fs_err::read_dir(path)? {
            gather(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
