//! Jobs, threads, feedback, files that were sent and sign-ins in one `SQLite` file.
//!
//! The file is in WAL mode: pages read while a job is written. Every change is on the disk before it is confirmed, so that a
//! server that is killed finds all jobs again. Only its owner may read it.

mod additions;
mod feedback;
mod jobs;
mod sessions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

pub(crate) use feedback::{Feedback, Thumb};
pub(crate) use jobs::{Job, NewJob, Outcome, ThreadLine};

/// How long a write waits for another process's.
const PATIENCE: Duration = Duration::from_secs(10);
/// Marks the file as ours: `OSJB`.
const APPLICATION: i32 = 0x4f53_4a42;
/// Version of `schema.sql`, which makes a new file.
const SCHEMA_VERSION: usize = 2;
/// What makes a file of version 1 one of version 2, of that one of version 3, and so on.
const CHANGES: [&str; 2] =
    ["ALTER TABLE job ADD COLUMN kind TEXT NOT NULL DEFAULT 'ask'", include_str!("additions.sql")];
/// Version of the schema.
const VERSION: usize = CHANGES.len() + 1;

/// The file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the server's database {}: {message}", path.display())]
pub struct JobStoreError {
    path: PathBuf,
    message: String,
    #[source]
    source: Option<rusqlite::Error>,
}

/// The file.
#[derive(Debug)]
pub(crate) struct JobStore {
    connection: Mutex<Connection>,
    path: PathBuf,
}

impl JobStore {
    /// Opens the file at `path`, or makes it.
    pub(crate) fn open(path: &Path) -> Result<Self, JobStoreError> {
        private_file(path)?;
        let failed = |error| sqlite(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        let setup = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                     PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0;";
        connection.execute_batch(setup).map_err(failed)?;
        let store = Self { connection: Mutex::new(connection), path: path.to_owned() };
        store.prepare()?;
        Ok(store)
    }

    fn prepare(&self) -> Result<(), JobStoreError> {
        let mut connection = self.connection.lock();
        let failed = |error| sqlite(&self.path, error);
        let transaction = connection.transaction().map_err(failed)?;
        let pragma = |name: &str| -> Result<i32, JobStoreError> {
            let text = format!("PRAGMA {name}");
            transaction.query_row(&text, [], |row| row.get(0)).map_err(failed)
        };
        let tables: i64 = transaction
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        let made = if tables == 0 {
            transaction.execute_batch(include_str!("schema.sql")).map_err(failed)?;
            transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
            SCHEMA_VERSION
        } else {
            let version = usize::try_from(pragma("user_version")?).unwrap_or(0);
            if pragma("application_id")? != APPLICATION || !(1..=VERSION).contains(&version) {
                let message =
                    "it is of another program or a newer version; move it away".to_owned();
                return Err(JobStoreError { path: self.path.clone(), message, source: None });
            }
            version
        };
        for change in &CHANGES[made - 1..] {
            transaction.execute_batch(change).map_err(failed)?;
        }
        transaction.pragma_update(None, "user_version", VERSION.cast_signed()).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// What cannot be written down.
    fn refused(&self, error: &serde_json::Error) -> JobStoreError {
        let message = format!("a request is no JSON: {error}");
        JobStoreError { path: self.path.clone(), message, source: None }
    }

    /// Does `work` with the database, which nobody else of this process uses meanwhile.
    fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, JobStoreError> {
        work(&mut self.connection.lock()).map_err(|error| sqlite(&self.path, error))
    }
}

fn sqlite(path: &Path, error: rusqlite::Error) -> JobStoreError {
    let message = "it does not do what was asked".to_owned();
    JobStoreError { path: path.to_owned(), message, source: Some(error) }
}

/// Creates the file closed to others: it holds what was asked.
fn private_file(path: &Path) -> Result<(), JobStoreError> {
    let mut options = fs_err::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|error| JobStoreError {
        path: path.to_owned(),
        message: format!("it cannot be written: {}", error.kind()),
        source: None,
    })
}

#[cfg(test)]
mod tests;
