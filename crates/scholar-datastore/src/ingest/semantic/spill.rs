//! Rows in temporary files by corpus id.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::Error;
use crate::ingest::Format;

/// Buffer of one temporary file: with the most files, 256 MB together.
const BUFFER_BYTES: usize = 32 << 10;
/// Bytes before a record's row: kind, corpus id, file, line, length.
const HEAD_BYTES: usize = 1 + 8 + 4 + 8 + 4;

/// A row with its origin.
pub(crate) struct Record<'a> {
    pub(crate) format: Format,
    pub(crate) id: u64,
    pub(crate) file: u32,
    pub(crate) line: u64,
    pub(crate) row: &'a [u8],
}

/// Temporary files; they go when it is dropped. None is kept open: there may be more than a process may have.
pub(crate) struct Spill {
    folder: TempDir,
    buffers: Vec<Vec<u8>>,
    next: usize,
}

impl Spill {
    pub(crate) fn new(parent: &Path, partitions: u64) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix(".joining-")
            .tempdir_in(parent)
            .map_err(Error::io("create a folder in", parent))?;
        let partitions = usize::try_from(partitions).unwrap_or(1).max(1);
        Ok(Self { folder, buffers: vec![Vec::new(); partitions], next: 0 })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, partition: usize) -> PathBuf {
        self.folder.path().join(format!("{partition:04}"))
    }

    pub(crate) fn put(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let Record { format, id, file, line, row } = record;
        // Neighbouring ids come from neighbouring years: multiply, so that every part gets some of each.
        let mixed = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let partition = usize::try_from(mixed).unwrap_or(0) % self.buffers.len();
        let length = u32::try_from(row.len()).unwrap_or(u32::MAX);
        let buffer = &mut self.buffers[partition];
        buffer.push(kind(*format));
        buffer.extend_from_slice(&id.to_le_bytes());
        buffer.extend_from_slice(&file.to_le_bytes());
        buffer.extend_from_slice(&line.to_le_bytes());
        buffer.extend_from_slice(&length.to_le_bytes());
        buffer.extend_from_slice(row);
        if buffer.len() >= BUFFER_BYTES { self.flush(partition) } else { Ok(()) }
    }

    fn flush(&mut self, partition: usize) -> Result<(), Error> {
        let path = self.path(partition);
        let buffer = &mut self.buffers[partition];
        if buffer.is_empty() {
            return Ok(());
        }
        fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(buffer))
            .map_err(Error::io("write", &path))?;
        buffer.clear();
        Ok(())
    }

    /// Writes what is still in memory.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        for partition in 0..self.buffers.len() {
            self.flush(partition)?;
            self.buffers[partition] = Vec::new();
        }
        Ok(())
    }

    /// The content of the next temporary file, which is removed; `None` after the last.
    pub(crate) fn next_partition(&mut self) -> Result<Option<Vec<u8>>, Error> {
        while self.next < self.buffers.len() {
            let path = self.path(self.next);
            self.next += 1;
            match fs_err::read(&path) {
                Ok(bytes) => {
                    fs_err::remove_file(&path).map_err(Error::io("remove", &path))?;
                    return Ok(Some(bytes));
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(Error::io("read", &path)(source)),
            }
        }
        Ok(None)
    }
}

fn kind(format: Format) -> u8 {
    match format {
        Format::S2Abstracts => 1,
        Format::S2Citations => 2,
        Format::S2Orc => 3,
        _ => 0,
    }
}

/// The records of a temporary file.
pub(crate) fn records(bytes: &[u8]) -> impl Iterator<Item = Result<Record<'_>, &'static str>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        Some(record(&mut rest).ok_or("a temporary file is cut short"))
    })
    .scan(false, |ended, record| {
        let go_on = !*ended;
        *ended = record.is_err();
        go_on.then_some(record)
    })
}

fn record<'a>(rest: &mut &'a [u8]) -> Option<Record<'a>> {
    let (head, after) = rest.split_at_checked(HEAD_BYTES)?;
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?))
    };
    let long = |at: usize| -> Option<u64> {
        Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?))
    };
    let (row, after) = after.split_at_checked(word(21)? as usize)?;
    let format = match head[0] {
        1 => Format::S2Abstracts,
        2 => Format::S2Citations,
        3 => Format::S2Orc,
        _ => Format::S2Papers,
    };
    *rest = after;
    Some(Record { format, id: long(1)?, file: word(9)?, line: long(13)?, row })
}
