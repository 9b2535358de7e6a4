//! Everything that was not taken in, one JSON line each: nothing is dropped in silence.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Serialize;

use crate::error::Error;

/// Characters of a record that are kept to recognise it by.
const RECORD_CHARS: usize = 200;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectRow<'a> {
    /// The file it came from.
    pub file: &'a Path,
    /// Its line, from 1; counted from where a shard begins in the file.
    pub line: u64,
    /// Offset of the line's first byte in the uncompressed file.
    pub byte: u64,
    /// Why it was not taken in.
    pub reason: &'a str,
    /// The beginning of the record, as text.
    pub record: String,
}

/// A file of [`RejectRow`]s, which is only there when there is something in it.
#[derive(Debug)]
pub struct RejectLog {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<BufWriter<fs_err::File>>,
    rows: u64,
}

impl RejectLog {
    /// A log at `path`; what an earlier run left there is removed.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be removed.
    pub fn new(path: &Path) -> Result<Self, Error> {
        match fs_err::remove_file(path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::io("remove", path)(source)),
        }
        Ok(Self { path: path.to_owned(), state: Mutex::default() })
    }

    /// Path of the log, whether or not it exists yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.state.lock().rows
    }

    /// Writes one row; `record` is shortened.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn put(
        &self,
        file: &Path,
        line: u64,
        byte: u64,
        reason: &str,
        record: &[u8],
    ) -> Result<(), Error> {
        let row = RejectRow { file, line, byte, reason, record: beginning(record) };
        let mut state = self.state.lock();
        let State { file, rows } = &mut *state;
        let out = match file {
            Some(out) => out,
            None => file.insert(BufWriter::new(
                fs_err::File::create(&self.path).map_err(Error::io("create", &self.path))?,
            )),
        };
        *rows += 1;
        serde_json::to_writer(&mut *out, &row)
            .map_err(std::io::Error::from)
            .and_then(|()| out.write_all(b"\n"))
            .map_err(Error::io("write", &self.path))
    }

    /// Puts everything written so far into the file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn flush(&self) -> Result<(), Error> {
        match &mut self.state.lock().file {
            Some(out) => out.flush().map_err(Error::io("write", &self.path)),
            None => Ok(()),
        }
    }
}

/// The first characters, with what is no UTF-8 replaced.
pub(crate) fn beginning(record: &[u8]) -> String {
    // Four bytes are the longest character.
    let head = &record[..record.len().min(RECORD_CHARS * 4)];
    String::from_utf8_lossy(head).chars().take(RECORD_CHARS).collect()
}
