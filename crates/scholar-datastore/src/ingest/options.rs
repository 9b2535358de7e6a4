//! How files are read, and how much of one may be wrong.

use std::io::{Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use scholar_core::{Limit, ReadLimits};

use super::lines::Lines;
use super::{FieldMap, FilePart, Format, RejectLog, decode};
use crate::error::Error;

/// How much a source may be wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest accepted share of unusable lines, 0 to 1; above zero, one line of several may always be unusable, and
    /// lines before the first usable one do not count as long as they are few ([`HEAD_LINES`]).
    pub rejected_share: f64,
    /// How long a line and how large a paper may be, and how much a compressed file may unpack to.
    pub read: ReadLimits,
}

/// Lines by which a format is recognised. Unusable ones before the first paper are a blemish: notes of whoever made the
/// file, a line that was cut in two.
pub const HEAD_LINES: u64 = 20;
/// More than this is the wrong format or a damaged file, not a blemish.
const LARGEST_REJECTED_SHARE: f64 = 0.05;
impl Limits {
    /// 5 % unusable, and what [`ReadLimits::standard`] allows.
    pub fn standard() -> Self {
        Self { rejected_share: LARGEST_REJECTED_SHARE, read: ReadLimits::standard() }
    }
}

/// How rows become papers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// The first line with known fields decides, which is among the first [`HEAD_LINES`].
    Recognised,
    /// Every line is of this format.
    Of(Format),
    /// Any shape, by a map of its fields.
    Mapped(Arc<FieldMap>),
}

/// How files are read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// How rows become papers.
    pub rows: Rows,
    /// How much may be wrong.
    pub limits: Limits,
    /// Where unusable lines are written.
    pub rejects: Option<Arc<RejectLog>>,
    /// Whether words that ran together (`wecan`) are divided before they are stored; see
    /// [`scholar_core::text::lost_spaces`].
    pub repair_spaces: bool,
    /// Counts bytes as they are read from disk, for progress.
    pub bytes: Option<Arc<AtomicU64>>,
}

impl ReadOptions {
    /// Recognised formats, usual limits, texts as they are, nothing written or counted.
    pub fn standard() -> Self {
        Self {
            rows: Rows::Recognised,
            limits: Limits::standard(),
            rejects: None,
            repair_spaces: false,
            bytes: None,
        }
    }

    /// The lines of a whole file.
    pub(crate) fn lines(&self, path: &Path) -> Result<Lines, Error> {
        let Limits { read, rejected_share: _ } = &self.limits;
        Ok(Lines::new(decode::open(path, self.bytes.as_ref(), read)?, read.line_bytes))
    }

    pub(super) fn lines_of(&self, part: &FilePart) -> Result<Lines, Error> {
        let FilePart { path, bytes } = part;
        let Some(bytes) = bytes else { return self.lines(path) };
        let failed = || Error::io("read", path);
        let mut file = decode::counted(path, self.bytes.as_ref())?;
        file.seek(SeekFrom::Start(bytes.start.saturating_sub(1))).map_err(failed())?;
        let source = Box::new(decode::buffered(file));
        let line_bytes = self.limits.read.line_bytes;
        Lines::part(source, line_bytes, bytes.clone()).map_err(failed())
    }
}

/// Lines of a file so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineCounts {
    pub(crate) rejected: u64,
    pub(crate) all: u64,
}

/// Refuses a file of which more than `largest`, a share from 0 to 1, is unusable.
///
/// One line among others is a blemish however short the file is, unless nothing at all may be wrong.
#[expect(clippy::cast_precision_loss, reason = "a share of lines")]
pub(crate) fn judge_share(
    path: &Path,
    counts: LineCounts,
    largest: f64,
    first: Option<&(u64, String)>,
) -> Result<(), Error> {
    let LineCounts { rejected, all: lines } = counts;
    let share = rejected as f64 / lines.max(1) as f64;
    let blemish = rejected == 1 && lines > 1 && largest > 0.0;
    match first {
        Some((line, what)) if share > largest && !blemish => Err(Error::TooManyRejects {
            path: path.to_owned(),
            rejected,
            lines,
            first_line: *line,
            first: what.clone(),
        }),
        _ => Ok(()),
    }
}

/// What is wrong with a line that is longer than `limits` allow.
pub(crate) fn too_long(limits: &ReadLimits) -> String {
    let limit = Limit::LineBytes;
    format!("longer than {} bytes ({limit}): {}", limits.line_bytes, limit.hint())
}
