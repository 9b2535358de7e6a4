//! Reading papers from files, line by line in bounded memory.
//!
//! Every format is JSON lines, plain or compressed (`.gz`, `.zst`). A line that cannot be used is counted and reported
//! with its number, never dropped in silence; too many of them, or compressed data that ends early, end the reading
//! with an error that names file and line.
//!
//! | format | rows |
//! |---|---|
//! | [`Format::Papers`] | one [`scholar_core::Paper`] each: our own |
//! | [`Format::Pes2o`] | peS2o v1 to v3 (spec A.1) |
//! | [`Format::Beir`] | `_id`, `title`, `text`, `metadata` |
//! | [`Format::Acl`] | ACL Anthology metadata with abstracts |
//! | [`Format::Arxiv`] | arXiv metadata with abstracts |
//! | [`Format::Pmc`] | `PubMed` Central full texts in sections |

mod decode;
mod lines;
mod rows;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use scholar_core::Paper;
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use lines::{Line, Lines};

/// What the rows of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Our own: one [`Paper`] per line.
    Papers,
    /// peS2o.
    Pes2o,
    /// BEIR corpus.
    Beir,
    /// ACL Anthology.
    Acl,
    /// arXiv metadata.
    Arxiv,
    /// `PubMed` Central.
    Pmc,
}

impl Format {
    /// Every format with its name on the command line.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Papers, "papers"),
        (Self::Pes2o, "pes2o"),
        (Self::Beir, "beir"),
        (Self::Acl, "acl"),
        (Self::Arxiv, "arxiv"),
        (Self::Pmc, "pmc"),
    ];

    /// The format whose distinguishing fields `row` has.
    pub fn of_row(row: &Value) -> Option<Self> {
        let has = |key: &str| row.get(key).is_some();
        let pmc_id = row.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with("PMC"));
        if has("meta") && has("sections") {
            Some(Self::Papers)
        } else if has("_id") && has("text") {
            Some(Self::Beir)
        } else if has("text") && has("source") && has("id") {
            Some(Self::Pes2o)
        } else if has("bibkey") {
            Some(Self::Acl)
        } else if pmc_id && has("title") {
            Some(Self::Pmc)
        } else if has("abstract") && has("categories") {
            Some(Self::Arxiv)
        } else {
            None
        }
    }

    fn parse(self, row: Value) -> Result<Paper, String> {
        match self {
            Self::Papers => rows::own(row),
            Self::Pes2o => rows::pes2o(&row),
            Self::Beir => rows::beir(&row),
            Self::Acl => rows::acl(&row),
            Self::Arxiv => rows::arxiv(&row),
            Self::Pmc => rows::pmc(&row),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// A format nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format (papers, pes2o, beir, acl, arxiv or pmc)")]
pub struct UnknownFormatName(pub String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(text: &str) -> Result<Self, UnknownFormatName> {
        Self::ALL
            .iter()
            .find(|(_, name)| name.eq_ignore_ascii_case(text))
            .map(|(format, _)| *format)
            .ok_or_else(|| UnknownFormatName(text.to_owned()))
    }
}

/// How much a source may be wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Longest accepted line.
    pub line_bytes: usize,
    /// Largest accepted share of unusable lines, 0 to 1.
    pub rejected_share: f64,
}

/// The longest full texts known are near 10 MB of JSON.
const LONGEST_LINE_BYTES: usize = 32 << 20;
/// More than this is the wrong format or a damaged file, not a blemish.
const LARGEST_REJECTED_SHARE: f64 = 0.05;
/// Lines before the share is judged while reading.
const JUDGED_AFTER_LINES: u64 = 1_000;
/// Rejects described in the report; all are counted.
const REJECTS_KEPT: usize = 100;

impl Limits {
    /// 32 MiB a line, 5 % unusable.
    pub fn standard() -> Self {
        Self { line_bytes: LONGEST_LINE_BYTES, rejected_share: LARGEST_REJECTED_SHARE }
    }
}

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
    /// The file.
    pub path: PathBuf,
    /// Its format, once the first usable line is read.
    pub format: Option<Format>,
    /// Lines that are not blank.
    pub lines: u64,
    /// Papers returned.
    pub papers: u64,
    /// Unusable lines.
    pub rejected: u64,
    /// The first hundred of them.
    pub rejects: Vec<Reject>,
}

/// Papers of one file, in order. After an `Err` it ends.
pub struct PaperReader {
    lines: Lines,
    limits: Limits,
    report: ReadReport,
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
        let lines = Lines::new(decode::open(path)?, limits.line_bytes);
        let report = ReadReport {
            path: path.to_owned(),
            format,
            lines: 0,
            papers: 0,
            rejected: 0,
            rejects: Vec::new(),
        };
        Ok(Self { lines, limits, report, ended: false })
    }

    /// What was read so far.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    fn reject(&mut self, line: u64, what: String) {
        self.report.rejected += 1;
        if self.report.rejects.len() < REJECTS_KEPT {
            self.report.rejects.push(Reject { line, what });
        }
    }

    fn parse(&mut self, text: &[u8]) -> Result<Paper, String> {
        let row: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        let format = match self.report.format {
            Some(format) => format,
            None => Format::of_row(&row).ok_or("the fields are those of no known format")?,
        };
        let paper = format.parse(row)?;
        self.report.format = Some(format);
        Ok(paper)
    }

    #[expect(clippy::cast_precision_loss, reason = "a share of lines")]
    fn judge(&self) -> Result<(), Error> {
        let ReadReport { path, lines, rejected, rejects, format, .. } = &self.report;
        let share = *rejected as f64 / (*lines).max(1) as f64;
        match rejects.first() {
            Some(first) if share > self.limits.rejected_share => {
                if format.is_none() {
                    return Err(Error::UnknownFormat { path: path.clone() });
                }
                Err(Error::TooManyRejects {
                    path: path.clone(),
                    rejected: *rejected,
                    lines: *lines,
                    first_line: first.line,
                    first: first.what.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    fn step(&mut self) -> Result<Option<Paper>, Error> {
        loop {
            let (number, line) = match self.lines.next_line() {
                Ok(Some((number, line))) => (number, line),
                Ok(None) => return self.judge().map(|()| None),
                Err((line, source)) => {
                    return Err(Error::Ingest {
                        path: self.report.path.clone(),
                        line,
                        what: format!("the file ends early or is damaged ({source})"),
                    });
                }
            };
            self.report.lines += 1;
            let outcome = match line {
                Line::TooLong => Err(format!("longer than {} bytes", self.limits.line_bytes)),
                Line::Text(text) => self.parse(&text),
            };
            match outcome {
                Ok(paper) => {
                    self.report.papers += 1;
                    return Ok(Some(paper));
                }
                Err(what) => self.reject(number, what),
            }
            if self.report.lines.is_multiple_of(JUDGED_AFTER_LINES) {
                self.judge()?;
            }
        }
    }
}

impl Iterator for PaperReader {
    type Item = Result<Paper, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.step().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

#[cfg(test)]
mod tests;
