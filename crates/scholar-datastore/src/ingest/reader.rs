//! Papers of one file, in order.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use scholar_core::Paper;
use scholar_core::text::lost_spaces::repair_paper;
use serde::Serialize;
use serde_json::Value;

use super::lines::{Line, Lines, Place};
use super::options::{HEAD_LINES, Limits, LineCounts, ReadOptions, Rows, judge_share, too_long};
use super::{FilePart, Format, decode, parse};
use crate::error::Error;

/// Lines before the share is judged while reading.
const JUDGED_AFTER_LINES: u64 = 1_000;
/// Rejects described in the report; all are counted.
const REJECTS_KEPT: usize = 100;

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reject {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// What was read of a file so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadReport {
    /// The file that is read.
    pub path: PathBuf,
    /// Its format, once the first usable line is read.
    pub format: Option<Format>,
    /// What it is written in, where that is not plain UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that became papers.
    pub papers: u64,
    /// Lines that could not be used, blank ones not among them.
    pub rejected: u64,
    /// The first hundred of them.
    pub rejects: Vec<Reject>,
    /// Words that had run together and were divided.
    #[serde(skip_serializing_if = "is_zero")]
    pub spaces_repaired: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A paper with the place it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// The paper that the line holds.
    pub paper: Paper,
    /// Its line, from 1.
    pub line: u64,
    /// Offset of the line's first byte in the uncompressed file.
    pub byte: u64,
}

/// Papers of one file, in order. After an `Err` it ends.
pub struct PaperReader {
    lines: Lines,
    options: ReadOptions,
    report: ReadReport,
    /// Unusable lines that do not count against the file: those before the first paper, and comments.
    excused: u64,
    ended: bool,
}

impl fmt::Debug for PaperReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaperReader").field("report", &self.report).finish_non_exhaustive()
    }
}

impl PaperReader {
    /// Opens `path`. Without a `format` the first line with known fields decides.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be opened.
    pub fn open(path: &Path, format: Option<Format>, limits: Limits) -> Result<Self, Error> {
        let rows = format.map_or(Rows::Recognised, Rows::Of);
        let options = ReadOptions { rows, limits, ..ReadOptions::standard() };
        Self::with(&FilePart::whole(path), options)
    }

    /// Opens a file, or a part of one.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be opened.
    pub fn with(part: &FilePart, options: ReadOptions) -> Result<Self, Error> {
        let lines = options.lines_of(part)?;
        let format = match options.rows {
            Rows::Of(format) => Some(format),
            Rows::Recognised | Rows::Mapped(_) => None,
        };
        let report = ReadReport {
            path: part.path.clone(),
            format,
            encoding: None,
            lines: 0,
            papers: 0,
            rejected: 0,
            rejects: Vec::new(),
            spaces_repaired: 0,
        };
        Ok(Self { lines, options, report, excused: 0, ended: false })
    }

    /// What was read so far.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// The papers with their places.
    pub fn numbered(&mut self) -> impl Iterator<Item = Result<Numbered, Error>> {
        std::iter::from_fn(move || self.next_numbered())
    }

    fn reject(&mut self, place: Place, what: String, record: &[u8]) -> Result<(), Error> {
        self.report.rejected += 1;
        let in_head = self.report.papers == 0 && self.report.lines <= HEAD_LINES;
        self.excused += u64::from(in_head || is_comment(record));
        if let Some(log) = &self.options.rejects {
            log.put(&self.report.path, place.line, place.byte, &what, record)?;
        }
        if self.report.rejects.len() < REJECTS_KEPT {
            self.report.rejects.push(Reject { line: place.line, what });
        }
        Ok(())
    }

    fn parse(&mut self, text: &[u8]) -> Result<Paper, String> {
        if is_comment(text) {
            return Err("a comment".to_owned());
        }
        if let Err(error) = std::str::from_utf8(text) {
            return Err(format!("is not UTF-8 after {} bytes", error.valid_up_to()));
        }
        let paper = match (&self.options.rows, self.report.format) {
            (Rows::Mapped(map), _) => {
                let row: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
                map.paper(&row)?
            }
            (_, Some(format)) => parse::paper(format, text)?,
            (_, None) => {
                let row: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
                let format = Format::of_row(&row).ok_or_else(|| no_format(&row))?;
                let paper = parse::paper(format, text)?;
                self.report.format = Some(format);
                paper
            }
        };
        if paper.meta.title.is_empty() && paper.sections.iter().all(|part| part.text.is_empty()) {
            return Err("neither title nor text".to_owned());
        }
        let limits = &self.options.limits.read;
        limits.check(&paper).map_err(|broken| format!("{broken}: {}", broken.limit.hint()))?;
        Ok(paper)
    }

    fn judge(&self) -> Result<(), Error> {
        let ReadReport { path, lines, papers, rejected, rejects, .. } = &self.report;
        let first = rejects.first().map(|first| (first.line, first.what.clone()));
        let share = self.options.limits.rejected_share;
        // A file without any paper has no blemishes: it is something else.
        let excused = if *papers > 0 && share > 0.0 { self.excused } else { 0 };
        let counts = LineCounts { rejected: rejected - excused, all: lines - excused };
        let outcome = judge_share(path, counts, share, first.as_ref());
        match outcome {
            Err(_) if self.is_unknown() => Err(self.unknown_format()),
            other => other,
        }
    }

    /// Whether no line so far told the format.
    fn is_unknown(&self) -> bool {
        self.report.format.is_none() && !matches!(self.options.rows, Rows::Mapped(_))
    }

    fn unknown_format(&self) -> Error {
        let ReadReport { path, lines, rejects, .. } = &self.report;
        let seen = rejects.first().map_or_else(String::new, |Reject { line, what }| {
            format!("none of its first {lines} lines is a paper; line {line}: {what}")
        });
        Error::UnknownFormat { path: path.clone(), seen }
    }

    fn step(&mut self) -> Result<Option<Numbered>, Error> {
        loop {
            let (place, line) = match self.lines.next_line() {
                Ok(Some(found)) => found,
                Ok(None) => return self.judge().map(|()| None),
                Err((place, source)) => {
                    return Err(decode::broken_off(&self.report.path, place.line, &source));
                }
            };
            self.report.lines += 1;
            self.report.encoding = self.lines.encoding();
            let (text, outcome) = match line {
                Line::TooLong(head) => (head, Err(too_long(&self.options.limits.read))),
                Line::Text(text) => {
                    // What breaks the parser costs its line alone.
                    let paper = catch_unwind(AssertUnwindSafe(|| self.parse(&text)));
                    (text, paper.unwrap_or_else(|_| Err("reading it failed: a bug".to_owned())))
                }
            };
            match outcome {
                Ok(mut paper) => {
                    self.report.papers += 1;
                    if self.options.repair_spaces {
                        self.report.spaces_repaired += repair_paper(&mut paper);
                    }
                    let Place { line, byte } = place;
                    return Ok(Some(Numbered { paper, line, byte }));
                }
                Err(what) => self.reject(place, what, &text)?,
            }
            if self.report.lines >= HEAD_LINES && self.is_unknown() {
                return Err(self.unknown_format());
            }
            if self.report.lines.is_multiple_of(JUDGED_AFTER_LINES) {
                self.judge()?;
            }
        }
    }

    fn next_numbered(&mut self) -> Option<Result<Numbered, Error>> {
        if self.ended {
            return None;
        }
        let item = self.step().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

impl Iterator for PaperReader {
    type Item = Result<Paper, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_numbered()?.map(|numbered| numbered.paper))
    }
}

/// Notes between rows, as people write them: no row begins like this.
fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"//") || line.starts_with(b"#")
}

/// Names of fields that are shown of a row of no known format.
const FIELDS_SHOWN: usize = 6;

fn no_format(row: &Value) -> String {
    let fields: Vec<String> = row
        .as_object()
        .into_iter()
        .flat_map(|row| row.keys())
        .take(FIELDS_SHOWN)
        .map(|name| format!("{:?}", name.chars().take(40).collect::<String>()))
        .collect();
    match fields.is_empty() {
        true => "it is not a JSON object with fields".to_owned(),
        false => format!("its fields ({}) are those of no known format", fields.join(", ")),
    }
}

/// The format of a file by the first of its lines that has known fields; `None` when none of the first [`HEAD_LINES`] is of
/// a known format.
///
/// # Errors
/// [`Error::Io`] when it cannot be opened; unreadable content is `None`, and reading it says what is wrong.
pub fn format_of(path: &Path, limits: Limits) -> Result<Option<Format>, Error> {
    let mut lines = ReadOptions { limits, ..ReadOptions::standard() }.lines(path)?;
    for _ in 0..HEAD_LINES {
        let Ok(Some((_, line))) = lines.next_line() else { return Ok(None) };
        let Line::Text(text) = line else { continue };
        let row = serde_json::from_slice(&text).ok();
        if let Some(format) = row.and_then(|row| Format::of_row(&row)) {
            return Ok(Some(format));
        }
    }
    Ok(None)
}
