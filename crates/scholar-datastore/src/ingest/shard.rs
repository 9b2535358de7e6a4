//! Splitting files over machines: a line belongs to the shard that contains its first byte.
//!
//! The files, in ascending order of their names, are laid end to end; shard `i` of `n` takes bytes `i/n` to `(i+1)/n`
//! of the whole. Plain files are entered in the middle; compressed files and those in UTF-16 cannot be, so each goes to the shard that
//! contains its first byte. Every line is in exactly one shard, whatever the cuts hit.
//!
//! The original loader loses the lines that its cuts hit.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::Error;

/// One of `count` parts, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

/// Text that is not a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a shard: write I/N with I from 0 to N-1, for example 0/16")]
pub struct ShardError(pub String);

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let wrong = || ShardError(text.to_owned());
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let parse = |text: &str| text.trim().parse::<u32>().map(u64::from).map_err(|_| wrong());
        let (index, count) = (parse(index)?, parse(count)?);
        if index < count { Ok(Self { index, count }) } else { Err(wrong()) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// Whether a record with this number (a corpus id) is in this shard, where records are joined over files.
    pub(crate) fn takes_number(self, number: u64) -> bool {
        number % self.count == self.index
    }

    fn range(self, total: u64) -> Range<u64> {
        let cut = |at: u64| {
            u64::try_from(u128::from(total) * u128::from(at) / u128::from(self.count))
                .unwrap_or(u64::MAX)
        };
        cut(self.index)..cut(self.index + 1)
    }
}

/// A file, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// The file of which this is a part.
    pub path: PathBuf,
    /// Lines whose first byte is in this range are read; `None` reads everything.
    pub bytes: Option<Range<u64>>,
}

impl FilePart {
    /// All of a file.
    pub fn whole(path: &Path) -> Self {
        Self { path: path.to_owned(), bytes: None }
    }
}

/// What of `files` belongs to `shard`.
///
/// # Errors
/// [`Error::Io`] when a file cannot be opened.
pub fn parts(files: &[PathBuf], shard: Shard) -> Result<Vec<FilePart>, Error> {
    let mut sorted = files.to_vec();
    // By name, so that machines that keep the files in different folders agree.
    sorted.sort_by(|a, b| (a.file_name(), a).cmp(&(b.file_name(), b)));
    let mut sized = Vec::new();
    let mut total = 0;
    for path in sorted {
        let bytes = fs_err::metadata(&path).map_err(Error::io("open", &path))?.len();
        sized.push((path, total..total + bytes));
        total += bytes;
    }
    let own = shard.range(total);
    let mut parts = Vec::new();
    for (path, place) in sized {
        if super::decode::is_sequential(&path)? {
            if own.contains(&place.start) {
                parts.push(FilePart { path, bytes: None });
            }
            continue;
        }
        let start = own.start.max(place.start);
        let end = own.end.min(place.end);
        if start < end {
            let bytes = Some(start - place.start..end - place.start);
            parts.push(FilePart { path, bytes });
        }
    }
    Ok(parts)
}
