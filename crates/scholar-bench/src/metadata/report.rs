//! The tables of what was read right.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use scholar_core::{Confidence, MetaField, MetaOrigin};
use serde::Serialize;

use super::{Measure, Row, Verdict};
use crate::statistics::Share;

/// Two readings of one PDF: this program's, and another's TEI.
#[derive(Debug, Clone, Serialize)]
pub struct PairRow {
    /// Name of the files.
    pub name: String,
    /// Of this program's reading of the PDF.
    pub own: BTreeMap<Measure, Verdict>,
    /// Of the recorded TEI.
    pub tei: BTreeMap<Measure, Verdict>,
}

/// How long all PDFs of a folder took.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Timing {
    /// Files, readable or not.
    pub files: usize,
    /// Those that gave no paper.
    pub failed: usize,
    /// Seconds for all of them.
    pub seconds: f64,
    /// Seconds of the slowest one.
    pub slowest: f64,
}

/// What was measured.
#[derive(Debug)]
pub struct MetadataReport<'a> {
    /// The command that measured it.
    pub command: &'a str,
    /// The machine and the program's version.
    pub machine: &'a str,
    /// Papers that were compared.
    pub rows: &'a [Row],
    /// Papers of the catalogue that were left out, because the list of printed years does not have them.
    pub unlisted: &'a [String],
    /// Recorded pairs.
    pub pairs: &'a [PairRow],
    /// Of all PDFs of the folder.
    pub timing: Timing,
}

impl MetadataReport<'_> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { command, machine, rows, unlisted, pairs, timing } = self;
        let half = |development| rows.iter().filter(move |row| row.development == development);
        let (tuned, held): (Vec<&Row>, Vec<&Row>) = (half(true).collect(), half(false).collect());
        let all: Vec<&Row> = rows.iter().collect();
        let mut text = format!(
            "# Metadata of PDFs\n\nCommand: `{command}`\n\n\
             {} PDFs whose names state an identifier of the ACL Anthology, against its catalogue and what their pages print \
             (`crates/scholar-bench/data/metadata_printed.tsv`, listed from their text by a large language model). The reader is \
             given bytes without a name. Papers whose SHA-256 begins with an even digit are the development half. \
             Machine: {machine}.\n\n",
            rows.len()
        );
        if !unlisted.is_empty() {
            let _infallible = write!(
                text,
                "Left out, because nobody listed what they print: {}.\n\n",
                unlisted.join(", ")
            );
        }
        let halves = [("Development half", &tuned), ("Held-out half", &held), ("All", &all)];
        for (name, part) in halves {
            let _infallible = write!(text, "## {name}\n\n{}\n", shares(part));
        }
        text.push_str("## Held-out half by confidence and origin\n\n");
        text.push_str(&told(&held));
        text.push_str("\n## All by confidence and origin\n\n");
        text.push_str(&told(&all));
        if !pairs.is_empty() {
            text.push_str(&compared(pairs));
        }
        text.push_str(&failures(rows));
        let Timing { files, failed, seconds, slowest } = timing;
        let _infallible = write!(
            text,
            "\n## Time\n\n{files} PDFs, {failed} of which gave no paper: {:.1} ms each, the slowest {:.0} ms.\n",
            seconds * 1e3 / (*files).max(1) as f64,
            slowest * 1e3
        );
        text
    }

    /// The report as JSON of schema `openscholar.bench-metadata/1`.
    pub fn json(&self) -> serde_json::Value {
        let Self { command: _, machine, rows, unlisted, pairs, timing } = self;
        serde_json::json!({
            "schema": "openscholar.bench-metadata/1", "machine": machine, "rows": rows, "unlisted": unlisted,
            "pairs": pairs, "timing": timing,
        })
    }
}

/// Right, wrong and absent of each measure.
fn shares(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| field | n | right | wrong | absent | share right (95 %) | target |\n|---|---|---|---|---|---|---|\n",
    );
    for measure in Measure::ALL {
        let verdicts: Vec<Verdict> =
            rows.iter().filter_map(|row| row.verdicts.get(&measure).copied()).collect();
        let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
        let (right, n) = (count(Verdict::Right), verdicts.len());
        let target = measure.target().map_or("–".to_owned(), |least| {
            let met = right * 100 >= usize::try_from(least).unwrap_or(100) * n;
            format!("{least} %, {}", if met { "met" } else { "missed" })
        });
        let _infallible = writeln!(
            text,
            "| {} | {n} | {right} | {} | {} | {} | {target} |",
            measure.name(),
            count(Verdict::Wrong),
            count(Verdict::Absent),
            share(right, n)
        );
    }
    text
}

/// Shares of right fields among those that were stated, by how sure the reader was and where it read them.
fn told(rows: &[&Row]) -> String {
    let fields = [
        (MetaField::Title, "title"),
        (MetaField::Authors, "authors"),
        (MetaField::Year, "year"),
        (MetaField::Venue, "venue"),
        (MetaField::Identifiers, "identifiers"),
    ];
    let mut text = String::from(
        "| field | confidence or origin | stated | right | share (95 %) |\n|---|---|---|---|---|\n",
    );
    for (field, name) in fields {
        let mut by: BTreeMap<(u8, String), (usize, usize)> = BTreeMap::new();
        for row in rows {
            let Some(origin) = row.fields.get(&field) else { continue };
            let right = usize::from(row.is_right(field));
            for key in [(0, confidence(origin.confidence)), (1, place(origin.origin))] {
                let counted = by.entry((key.0, key.1.to_owned())).or_default();
                counted.0 += 1;
                counted.1 += right;
            }
        }
        for ((_, key), (n, right)) in by {
            let _infallible =
                writeln!(text, "| {name} | {key} | {n} | {right} | {} |", share(right, n));
        }
    }
    text
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

fn place(origin: MetaOrigin) -> &'static str {
    match origin {
        MetaOrigin::Markup => "from markup",
        MetaOrigin::Page => "from the page",
        MetaOrigin::RunningHead => "from margins",
        MetaOrigin::MarginStamp => "from the stamp",
        MetaOrigin::Xmp => "from XMP",
        MetaOrigin::Info => "from the information dictionary",
    }
}

/// Both readings of each pair, summed.
fn compared(pairs: &[PairRow]) -> String {
    let mut text = format!(
        "\n## Against GROBID\n\nRecorded pairs of a PDF and GROBID's TEI, which the reader of TEI read: {}. One pair says little.\n\n\
         | field | n | this program | GROBID |\n|---|---|---|---|\n",
        pairs.len()
    );
    let measures = [
        Measure::Title,
        Measure::Authors,
        Measure::Surnames,
        Measure::Year,
        Measure::Venue,
        Measure::Identifiers,
    ];
    for measure in measures {
        let right = |of: fn(&PairRow) -> &BTreeMap<Measure, Verdict>| {
            pairs.iter().filter(|pair| of(pair).get(&measure) == Some(&Verdict::Right)).count()
        };
        let n = pairs.len();
        let (own, tei) = (right(|pair| &pair.own), right(|pair| &pair.tei));
        let _infallible =
            writeln!(text, "| {} | {n} | {} | {} |", measure.name(), share(own, n), share(tei, n));
    }
    text
}

/// What was not read right, paper by paper; of the held-out half only the measures, so that nobody tunes on it.
fn failures(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n## What was not read right\n\n| paper | half | field | read | printed |\n|---|---|---|---|---|\n",
    );
    let shown = [Measure::Title, Measure::Authors, Measure::Year, Measure::NoYear];
    for row in rows {
        let wrong = shown
            .into_iter()
            .filter(|measure| row.verdicts.get(measure).is_some_and(|one| *one != Verdict::Right));
        for measure in wrong {
            let of = |stated: &super::Stated| match measure {
                Measure::Title => stated.title.clone(),
                Measure::Year | Measure::NoYear => {
                    stated.year.map_or("none".to_owned(), |year| year.to_string())
                }
                _ => stated.authors.join(", "),
            };
            let (read, printed) = match (&row.failed, row.development) {
                (Some(_), _) => ("nothing: the file is not readable".to_owned(), "–".to_owned()),
                (None, true) => (cell(&of(&row.read)), cell(&of(&row.printed))),
                (None, false) => ("(held out)".to_owned(), "(held out)".to_owned()),
            };
            let half = if row.development { "development" } else { "held out" };
            let _infallible =
                writeln!(text, "| {} | {half} | {} | {read} | {printed} |", row.id, measure.name());
        }
    }
    text
}

/// Text of a page in a cell of a table.
fn cell(text: &str) -> String {
    scholar_core::text::untrusted(text).markdown().replace('|', "\\|")
}

/// `17 of 20, 85 % (64–95)`.
fn share(hits: usize, n: usize) -> String {
    if n == 0 {
        return "none".to_owned();
    }
    let Share { low, high, .. } = Share::of(hits, n);
    let percent = |value: f64| format!("{:.1}", 100.0 * value);
    format!("{} % ({}–{})", percent(hits as f64 / n as f64), percent(low), percent(high))
}

#[cfg(test)]
mod tests {
    use scholar_core::FieldOrigin;

    use super::super::{Gold, Stated};
    use super::*;

    #[test]
    fn a_report_tells_halves_targets_and_confidence() {
        let printed = Stated {
            title: "On Things".into(),
            authors: vec!["Ada Ng".into()],
            ..Stated::default()
        };
        let gold = Gold { id: "X".into(), catalog: printed.clone(), printed };
        let mut meta =
            scholar_core::PaperMeta::new(scholar_core::PaperId::Local("x".into()), "On Things");
        meta.authors.push("Bo | Li".into());
        let page = FieldOrigin { origin: MetaOrigin::Page, confidence: Confidence::High };
        let fields = BTreeMap::from([(MetaField::Title, page), (MetaField::Authors, page)]);
        let rows = [
            Row::new(&gold, true, Ok((&meta, &fields))),
            Row::new(&gold, false, Err("no text".into())),
        ];
        let report = MetadataReport {
            command: "x",
            machine: "y",
            rows: &rows,
            unlisted: &[],
            pairs: &[],
            timing: Timing { files: 2, failed: 1, seconds: 0.1, slowest: 0.06 },
        };
        let text = report.markdown();
        assert!(
            text.contains("| title | 1 | 1 | 0 | 0 | 100.0 % (20.7–100.0) | 97 %, met |"),
            "{text}"
        );
        assert!(text.contains("| title | 2 | 1 | 0 | 1 | 50.0 %"), "{text}");
        assert!(text.contains("| authors | high | 1 | 0 |"), "{text}");
        let line =
            text.lines().find(|line| line.contains("all names in order | Bo")).expect("a failure");
        assert!(line.starts_with("| X | development |") && !line.contains("Bo | Li"), "{line}");
        assert!(text.contains("50.0 ms each, the slowest 60 ms"), "{text}");
    }
}
