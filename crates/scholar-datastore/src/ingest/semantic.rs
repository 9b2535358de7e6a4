//! The bulk dumps of Semantic Scholar: `papers`, `abstracts`, `citations` and `s2orc` in separate files, joined by
//! corpus id.
//!
//! 1. [`S2Join::split`] reads every file once and writes each row to one of many temporary files by its corpus id; a
//!    citation goes, as eight bytes, to the paper that cites.
//! 2. [`S2Join::papers`] reads one temporary file at a time and puts the rows of each corpus id together.
//!
//! Memory is bounded by the buffers of the first step (256 MB at most) and by one temporary file of the second.

mod rows;
mod spill;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scholar_core::Paper;
use serde::Serialize;

use super::lines::Line;
use super::options::{Limits, LineCounts, ReadOptions, judge_share, too_long};
use super::{Format, RejectLog, Shard};
use crate::error::Error;
pub(crate) use rows::{abstract_alone, full_text, paper_row};
use spill::{Record, Spill};

/// Source bytes in one temporary file: what the second step holds in memory, about twice over.
const PARTITION_BYTES: u64 = 64 << 20;
/// gzip makes these dumps about this much smaller.
const COMPRESSION: u64 = 4;
/// Temporary files at most.
const MOST_PARTITIONS: u64 = 8_192;
/// Lines between two reports of progress.
const REPORT_EVERY_LINES: u64 = 10_000;

/// What a join read and left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct S2Report {
    /// Rows of each kind that were taken.
    pub papers: u64,
    /// Rows with an abstract.
    pub abstracts: u64,
    /// Rows with a full text.
    pub full_texts: u64,
    /// Pairs of citing and cited paper that were taken.
    pub citations: u64,
    /// Citations by works that the files have no other row of.
    pub citations_unused: u64,
    /// Citations without both corpus ids.
    pub citations_incomplete: u64,
    /// Rows of any kind that could not be used.
    pub rejected: u64,
}

/// Dump files, split by corpus id and ready to be joined.
pub struct S2Join {
    spill: Spill,
    files: Vec<PathBuf>,
    rejects: Option<Arc<RejectLog>>,
    report: S2Report,
}

impl std::fmt::Debug for S2Join {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S2Join").field("report", &self.report).finish_non_exhaustive()
    }
}

/// Whether files of `format` are parts of one dump that have to be joined.
pub fn is_dump(format: Format) -> bool {
    matches!(format, Format::S2Papers | Format::S2Abstracts | Format::S2Citations | Format::S2Orc)
}

impl S2Join {
    /// Splits `files` into temporary files below `parent`; of a `shard` only the corpus ids that leave its number when
    /// divided by the number of shards. `progress` can stop the work.
    ///
    /// # Errors
    /// [`Error::Ingest`] for damaged compressed data, [`Error::TooManyRejects`], [`Error::Io`].
    pub fn split(
        files: &[(PathBuf, Format)],
        parent: &Path,
        shard: Option<Shard>,
        options: &ReadOptions,
        progress: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), Self>, Error> {
        let mut source_bytes = 0;
        for (path, _) in files {
            let bytes = fs_err::metadata(path).map_err(Error::io("open", path))?.len();
            let times = if super::decode::is_compressed(path)? { COMPRESSION } else { 1 };
            source_bytes += bytes * times;
        }
        let partitions = (source_bytes / PARTITION_BYTES).clamp(1, MOST_PARTITIONS);
        let mut join = Self {
            spill: Spill::new(parent, partitions)?,
            files: files.iter().map(|(path, _)| path.clone()).collect(),
            rejects: options.rejects.clone(),
            report: S2Report::default(),
        };
        for (number, file) in (0_u32..).zip(files) {
            if join.split_file(number, file, shard, options, progress)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        join.spill.finish()?;
        Ok(ControlFlow::Continue(join))
    }

    fn split_file(
        &mut self,
        number: u32,
        file: &(PathBuf, Format),
        shard: Option<Shard>,
        options: &ReadOptions,
        progress: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let (path, format) = (file.0.as_path(), file.1);
        let mut lines = options.lines(path)?;
        let Limits { rejected_share, read: most } = options.limits;
        let (mut read, mut rejected, mut first) = (0, 0, None);
        while let Some((place, line)) = lines
            .next_line()
            .map_err(|(place, source)| super::broken_off(path, place.line, &source))?
        {
            read += 1;
            let (text, outcome) = match line {
                Line::TooLong(head) => (head, Err(too_long(&most))),
                Line::Text(text) => {
                    let keys = rows::keys(format, &text);
                    (text, keys)
                }
            };
            match outcome {
                Ok(rows::Keys::Row(id)) => {
                    if shard.is_none_or(|shard| shard.takes_number(id)) {
                        *self.count_of(format) += 1;
                        let record =
                            Record { format, id, file: number, line: place.line, row: &text };
                        self.spill.put(&record)?;
                    }
                }
                Ok(rows::Keys::Citation { citing, cited }) => {
                    if shard.is_none_or(|shard| shard.takes_number(citing)) {
                        self.report.citations += 1;
                        let row = &cited.to_le_bytes();
                        let record =
                            Record { format, id: citing, file: number, line: place.line, row };
                        self.spill.put(&record)?;
                    }
                }
                Ok(rows::Keys::Incomplete) => self.report.citations_incomplete += 1,
                Err(what) => {
                    rejected += 1;
                    self.report.rejected += 1;
                    if let Some(rejects) = &self.rejects {
                        rejects.put(path, place.line, place.byte, &what, &text)?;
                    }
                    first.get_or_insert((place.line, what));
                }
            }
            if read % REPORT_EVERY_LINES == 0 {
                judge_share(
                    path,
                    LineCounts { rejected, all: read },
                    rejected_share,
                    first.as_ref(),
                )?;
                if progress().is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        judge_share(path, LineCounts { rejected, all: read }, rejected_share, first.as_ref())?;
        Ok(progress())
    }

    fn count_of(&mut self, format: Format) -> &mut u64 {
        match format {
            Format::S2Abstracts => &mut self.report.abstracts,
            Format::S2Orc => &mut self.report.full_texts,
            Format::S2Citations => &mut self.report.citations,
            _ => &mut self.report.papers,
        }
    }

    /// What was read so far.
    pub fn report(&self) -> &S2Report {
        &self.report
    }

    /// The next group of papers, in ascending order of corpus id inside it; `None` after the last.
    fn next_partition(&mut self) -> Result<Option<Vec<Result<Paper, Error>>>, Error> {
        let Some(bytes) = self.spill.next_partition()? else { return Ok(None) };
        let mut works: BTreeMap<u64, rows::Parts<'_>> = BTreeMap::new();
        for record in spill::records(&bytes) {
            let record = record.map_err(|what| Error::corrupt(self.spill.folder(), what))?;
            works.entry(record.id).or_default().take(record);
        }
        let mut papers = Vec::new();
        for (id, parts) in works {
            if parts.only_citations() {
                self.report.citations_unused += parts.cited.len() as u64;
                continue;
            }
            let origin = parts.origin();
            match parts.paper(id) {
                Ok(paper) => papers.push(Ok(paper)),
                Err(what) => {
                    self.report.rejected += 1;
                    if let (Some(rejects), Some((file, line, row))) = (&self.rejects, origin) {
                        let file = self.files.get(file as usize).map_or(Path::new(""), |f| f);
                        rejects.put(file, line, 0, &what, row)?;
                    }
                }
            }
        }
        Ok(Some(papers))
    }

    /// The papers, joined. The order depends on the files' sizes and the corpus ids only.
    pub fn papers(&mut self) -> impl Iterator<Item = Result<Paper, Error>> {
        let mut waiting = Vec::new().into_iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(paper) = waiting.next() {
                    return Some(paper);
                }
                match self.next_partition() {
                    Ok(Some(papers)) => waiting = papers.into_iter(),
                    Ok(None) => return None,
                    Err(error) => return Some(Err(error)),
                }
            }
        })
    }
}
