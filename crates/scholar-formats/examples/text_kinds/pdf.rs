//! PDFs: passages drawn at random from each kind, and the program's kinds held against a reader's.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use scholar_core::random::SplitMix64;
use scholar_core::text::blocks::blocks;
use scholar_core::text::passages::cut;
use scholar_core::text::{PassageRules, hex};
use scholar_core::{Paper, PassageKind};
use scholar_formats::document::{DocumentFormat, ReadLimits, read};
use sha2::{Digest as _, Sha256};

use super::matrix::{ALL, Matrix, kind};

/// Share of the passages drawn of each kind, in the order of [`ALL`]: rare kinds are drawn more often than they occur,
/// and weighted accordingly.
const SHARES: [f64; 6] = [0.10, 0.36, 0.14, 0.14, 0.13, 0.13];

/// Largest part of a kind's passages in one draw, so that a later one finds others.
const LARGEST_PART: f64 = 0.6;

/// Longest excerpt beside a label, in characters.
const EXCERPT: usize = 60;

const COLUMNS: usize = 9;

/// What is drawn.
pub(crate) struct Drawing<'a> {
    /// Of the random numbers.
    pub(crate) seed: u64,
    /// How many passages in all, at most.
    pub(crate) count: usize,
    /// Passages that were looked at before: those that overlap one of them are not drawn.
    pub(crate) labels: Option<&'a Path>,
}

struct Drawn {
    pdf: String,
    start: usize,
    end: usize,
    kind: PassageKind,
    text: String,
}

struct Labelled {
    draw: String,
    pdf: String,
    start: usize,
    end: usize,
    digest: String,
    drawn_as: PassageKind,
    weight: f64,
    label: PassageKind,
}

/// Labels held against the kinds at the time of drawing, those of today, and the latter with weights.
#[derive(Default)]
struct Outcome {
    when_drawn: Matrix,
    now: Matrix,
    weighted: Matrix,
}

/// Draws passages and writes a JSON line for each: the columns of the file of labels without the label, and the text.
pub(crate) fn draw(
    files: &[PathBuf],
    drawing: &Drawing<'_>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let seen = drawing.labels.map(labels).transpose()?.unwrap_or_default();
    let mut by_kind: BTreeMap<PassageKind, Vec<Drawn>> = BTreeMap::new();
    for (pdf, paper) in papers(files)? {
        for passage in cut(&paper, PassageRules::sections()) {
            let (start, end) = (passage.span.start, passage.span.end);
            let is_seen =
                seen.iter().any(|known| known.pdf == pdf && known.start < end && start < known.end);
            if !is_seen {
                let (pdf, kind, text) = (pdf.clone(), passage.kind, passage.text);
                by_kind.entry(kind).or_default().push(Drawn { pdf, start, end, kind, text });
            }
        }
    }
    let mut random = SplitMix64::new(drawing.seed);
    let mut drawn: Vec<(f64, Drawn)> = Vec::new();
    let there = |kind: &PassageKind| by_kind.get(kind).map_or(0, Vec::len);
    let quotas = quotas(drawing.count, ALL.map(|kind| there(&kind)));
    for (kind, quota) in ALL.iter().zip(quotas) {
        let Some(mut passages) = by_kind.remove(kind) else { continue };
        let all = passages.len();
        random.shuffle(&mut passages);
        passages.truncate(quota);
        let weight = all as f64 / passages.len() as f64;
        drawn.extend(passages.into_iter().map(|passage| (weight, passage)));
    }
    random.shuffle(&mut drawn);
    for (weight, Drawn { pdf, start, end, kind, text }) in drawn {
        let record = serde_json::json!({
            "draw": drawing.seed, "pdf": pdf, "start": start, "end": end, "digest": digest(&text),
            "first_words": excerpt(&text), "drawn_as": kind, "weight": format!("{weight:.2}"), "text": text,
        });
        writeln!(out, "{record}")?;
    }
    Ok(())
}

/// How many passages of each kind are drawn, given how many there are: by [`SHARES`], at most [`LARGEST_PART`] of a kind,
/// and what is missing then from the body.
fn quotas(count: usize, there: [usize; 6]) -> [usize; 6] {
    let mut quotas = SHARES.map(|share| (count as f64 * share).round() as usize);
    let body = ALL.iter().position(|kind| *kind == PassageKind::Body).unwrap_or_default();
    for (quota, there) in quotas.iter_mut().zip(there) {
        *quota = (*quota).min((there as f64 * LARGEST_PART).ceil() as usize);
    }
    quotas[body] += count.saturating_sub(quotas.iter().sum());
    quotas
}

/// Compares labels with the kind that most characters of each passage have now, and writes a table for each draw.
pub(crate) fn score(
    files: &[PathBuf],
    path: &Path,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let papers: HashMap<String, Paper> = papers(files)?.into_iter().collect();
    let kinds: HashMap<&str, Vec<PassageKind>> =
        papers.iter().map(|(pdf, paper)| (pdf.as_str(), kinds(paper))).collect();
    let mut draws: BTreeMap<String, Outcome> = BTreeMap::new();
    let mut pdfs: HashSet<String> = HashSet::new();
    for row in labels(path)? {
        let paper = papers.get(&row.pdf).ok_or_else(|| format!("{} is not there", row.pdf))?;
        let text: String = paper.text().chars().skip(row.start).take(row.end - row.start).collect();
        if digest(&text) != row.digest {
            return Err(format!("{} {}: the text is another", row.pdf, row.start).into());
        }
        let called = commonest(&kinds[row.pdf.as_str()][row.start..row.end]);
        pdfs.insert(row.pdf);
        let outcome = draws.entry(row.draw).or_default();
        outcome.when_drawn.add(row.label, row.drawn_as, 1.0);
        outcome.now.add(row.label, called, 1.0);
        outcome.weighted.add(row.label, called, row.weight);
    }
    writeln!(out, "passages of {} PDFs", pdfs.len())?;
    for (draw, outcome) in draws {
        let title = format!("Draw {draw}, passages, kinds when they were drawn");
        outcome.when_drawn.write(&title, out)?;
        outcome.now.write(&format!("Draw {draw}, passages, kinds now"), out)?;
        outcome
            .weighted
            .write(&format!("Draw {draw}, weighted to all passages, kinds now"), out)?;
    }
    Ok(())
}

/// The kind of every character of [`Paper::text`]; breaks between sections have that of the section before.
fn kinds(paper: &Paper) -> Vec<PassageKind> {
    let mut kinds = Vec::new();
    for section in &paper.sections {
        for block in blocks(&section.heading, &section.text) {
            let count = section.text[block.range].chars().count();
            kinds.extend(std::iter::repeat_n(block.kind, count));
        }
        let last = kinds.last().copied().unwrap_or(PassageKind::Body);
        kinds.extend(std::iter::repeat_n(last, scholar_core::paper::SECTION_BREAK.chars().count()));
    }
    kinds
}

fn commonest(kinds: &[PassageKind]) -> PassageKind {
    let count = |kind: &PassageKind| kinds.iter().filter(|other| *other == kind).count();
    ALL.into_iter().max_by_key(count).unwrap_or(PassageKind::Body)
}

/// Papers by the file's name; files that are no papers are passed over.
fn papers(files: &[PathBuf]) -> Result<Vec<(String, Paper)>, Box<dyn Error>> {
    let mut papers = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs_err::read(path)?;
        if let Ok(document) = read(DocumentFormat::Pdf, &bytes, ReadLimits::default()) {
            papers.push((name, document.paper));
        }
    }
    Ok(papers)
}

fn labels(path: &Path) -> Result<Vec<Labelled>, Box<dyn Error>> {
    let text = fs_err::read_to_string(path)?;
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with("draw\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [draw, pdf, start, end, digest, _, drawn_as, weight, label] = fields[..] else {
            return Err(format!("line {number} has not {COLUMNS} columns").into());
        };
        rows.push(Labelled {
            draw: draw.to_owned(),
            pdf: pdf.to_owned(),
            start: start.parse()?,
            end: end.parse()?,
            digest: digest.to_owned(),
            drawn_as: kind(drawn_as)?,
            weight: weight.parse()?,
            label: kind(label)?,
        });
    }
    Ok(rows)
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))[..8].to_owned()
}

fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.chars().count() + word.chars().count() + 1 > EXCERPT {
            break;
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "{}{word}", if out.is_empty() { "" } else { " " });
    }
    out
}
