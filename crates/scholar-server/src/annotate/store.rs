//! A study in one `SQLite` file: instances, annotators, who judges what, and every submission.
//!
//! Every change is one transaction that is on the disk before it is confirmed. Several processes may use the file at
//! once; one that finds it locked waits [`PATIENCE`]. It holds the annotators' secret addresses, so that only its owner
//! may read it.

mod error;
mod read;
mod save;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};

use super::draw;
use super::model::{Instance, Kind};

pub use error::{StoreError, StoreErrorKind};
pub(super) use read::{State, Task, TaskLine};
pub(super) use save::{Said, Saved};

/// How long a process waits for another one's transaction.
const PATIENCE: Duration = Duration::from_secs(10);
/// Marks the file as ours: `OSAN`.
const APPLICATION: i32 = 0x4f53_414e;
/// Version of the schema.
const VERSION: i32 = 1;

/// An annotator to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAnnotator {
    /// Their name, known to the study's owner alone.
    pub name: String,
    /// The secret part of their address, drawn by the caller; kept only if the name is new.
    pub token: String,
}

/// Rows that [`Store::add`] put into a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Added {
    /// Instances that were not in the study before.
    pub instances: usize,
    /// Annotators that were not in the study before.
    pub annotators: usize,
    /// Pairs of annotator and instance that were not in the study before.
    pub assignments: usize,
    /// Instances that have fewer annotators than asked for, because too few are eligible.
    pub short: usize,
}

/// A study: one `SQLite` file of instances, annotators and their evaluations.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the study at `path` for reading and writing, or makes it with `seed`.
    ///
    /// # Errors
    /// When the file is no study, cannot be written, or was made with another seed.
    pub fn open_or_create(path: &Path, seed: Option<u64>) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        private_file(path)?;
        let mut store = Self::connect(path, flags)?;
        store.prepare(seed)?;
        Ok(store)
    }

    /// Opens the study at `path` for reading; the file may be write-protected.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::new(StoreErrorKind::Missing, path, "there is no such file"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let store = Self::connect(path, flags)?;
        store.check()?;
        Ok(store)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        let failed = |error| StoreError::sqlite(path, error);
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        // One file that can be copied, and confirmed only when it is on the disk.
        connection
            .execute_batch(
                "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; \
                 PRAGMA mmap_size = 0;",
            )
            .map_err(failed)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, error)
    }

    fn pragma(&self, name: &str) -> Result<i32, StoreError> {
        self.connection
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            .map_err(|error| self.failed(error))
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.pragma("application_id")? != APPLICATION {
            let message = "the file is a database of another program";
            return Err(StoreError::new(StoreErrorKind::NotAStudy, &self.path, message));
        }
        let version = self.pragma("user_version")?;
        if version != VERSION {
            let message = format!("it has version {version}, this program knows {VERSION}");
            return Err(StoreError::new(StoreErrorKind::NotAStudy, &self.path, message));
        }
        Ok(())
    }

    /// Makes the tables in an empty file, and finds out whether the file can be written.
    fn prepare(&mut self, seed: Option<u64>) -> Result<(), StoreError> {
        let path = self.path.clone();
        let failed = |error| StoreError::sqlite(&path, error);
        // Two processes that begin at once: the second one finds the tables made.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let tables: i64 = transaction
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        if tables == 0 {
            transaction.execute_batch(include_str!("store/schema.sql")).map_err(failed)?;
            let seed = seed.unwrap_or(DEFAULT_SEED).to_string();
            transaction
                .execute("INSERT INTO study (key, value) VALUES ('seed', ?1)", [seed])
                .map_err(failed)?;
            transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
        // Studies from before there were reviews get the table when they are served again.
        transaction.execute_batch(include_str!("store/review.sql")).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        self.check()?;
        let stored = self.seed()?;
        if let Some(asked) = seed.filter(|asked| *asked != stored) {
            let message = format!("it was created with the seed {stored}, not {asked}");
            return Err(StoreError::new(StoreErrorKind::Conflict, &self.path, message));
        }
        Ok(())
    }

    /// The seed of every draw in this study.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn seed(&self) -> Result<u64, StoreError> {
        let text: Option<String> = self
            .connection
            .query_row("SELECT value FROM study WHERE key = 'seed'", [], |row| row.get(0))
            .optional()
            .map_err(|error| self.failed(error))?;
        text.and_then(|text| text.parse().ok()).ok_or_else(|| {
            StoreError::new(StoreErrorKind::Damaged, &self.path, "it does not say its seed")
        })
    }

    /// Adds what is not there yet, and gives every instance `per_instance` annotators, or all. What was assigned stays.
    ///
    /// # Errors
    /// When an instance is there with other content: the judgements of it would be of something else.
    pub fn add(
        &mut self,
        instances: &[Instance],
        annotators: &[NewAnnotator],
        per_instance: Option<usize>,
    ) -> Result<Added, StoreError> {
        let seed = self.seed()?;
        let path = self.path.clone();
        let failed = |error| StoreError::sqlite(&path, error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let mut added = Added::default();
        for instance in instances {
            let content = serde_json::to_string(instance).map_err(|error| {
                StoreError::new(StoreErrorKind::Other, &path, format!("cannot be written: {error}"))
            })?;
            let known: Option<String> = transaction
                .query_row("SELECT content FROM instance WHERE id = ?1", [&instance.id], |row| {
                    row.get(0)
                })
                .optional()
                .map_err(failed)?;
            match known {
                Some(known) if known == content => {}
                Some(_) => {
                    let message =
                        format!("it holds the instance {:?} with other words", instance.id);
                    return Err(StoreError::new(StoreErrorKind::Conflict, &path, message));
                }
                None => {
                    transaction
                        .execute(
                            "INSERT INTO instance (id, place, content) \
                             SELECT ?1, coalesce(max(place), 0) + 1, ?2 FROM instance",
                            params![instance.id, content],
                        )
                        .map_err(failed)?;
                    added.instances += 1;
                }
            }
        }
        for annotator in annotators {
            added.annotators += transaction
                .execute(
                    "INSERT INTO annotator (name, token) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
                    params![annotator.name, annotator.token],
                )
                .map_err(failed)?;
        }
        (added.assignments, added.short) =
            assign(&transaction, seed, per_instance).map_err(|error| match error {
                AssignError::Sqlite(error) => failed(error),
                AssignError::Content(message) => {
                    StoreError::new(StoreErrorKind::Damaged, &path, message)
                }
            })?;
        transaction.commit().map_err(failed)?;
        Ok(added)
    }

    /// Stops the file from growing beyond `pages`, as a full disk would.
    #[cfg(test)]
    pub(crate) fn limit_pages(&self, pages: u32) {
        self.connection.pragma_update(None, "max_page_count", pages).expect("settable");
    }
}

/// As upstream's.
const DEFAULT_SEED: u64 = 42;

enum AssignError {
    Sqlite(rusqlite::Error),
    Content(String),
}

impl From<rusqlite::Error> for AssignError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Fills up assignments; returns how many were new, and how many instances have fewer than asked for.
fn assign(
    connection: &Connection,
    seed: u64,
    per_instance: Option<usize>,
) -> Result<(usize, usize), AssignError> {
    let column = |sql: &str| -> Result<Vec<String>, rusqlite::Error> {
        connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let names = column("SELECT name FROM annotator ORDER BY name")?;
    let instances: Vec<Instance> = column("SELECT content FROM instance ORDER BY place")?
        .iter()
        .map(|content| serde_json::from_str(content))
        .collect::<Result<_, _>>()
        .map_err(|error| AssignError::Content(format!("an instance cannot be read: {error}")))?;
    let have: Vec<(String, String)> = connection
        .prepare("SELECT annotator, instance FROM assignment")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wanted: Vec<draw::Wanted<'_>> = instances
        .iter()
        .map(|one| draw::Wanted {
            instance: &one.id,
            authors: &one.authors,
            participants: &one.participants,
        })
        .collect();
    let reviews: Vec<&str> = instances
        .iter()
        .filter(|one| one.kind == Kind::Review)
        .map(|one| one.id.as_str())
        .collect();
    let per_instance = per_instance.unwrap_or(usize::MAX);
    let mut new = draw::assign(seed, &names, &wanted, &have, per_instance);
    new.sort_by_cached_key(|(annotator, instance)| {
        (*annotator, draw::place(seed, annotator, instance), *instance)
    });
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (annotator, _) in have.iter().filter(|(_, held)| reviews.contains(&held.as_str())) {
        *seen.entry(annotator).or_default() += 1;
    }
    for (annotator, instance) in &new {
        let flipped = if reviews.contains(instance) {
            let place = seen.entry(annotator).or_default();
            *place += 1;
            draw::second_system(seed, annotator, *place - 1)
        } else {
            draw::flipped(seed, annotator, instance)
        };
        connection.execute(
            "INSERT INTO assignment (annotator, instance, place, flipped) \
             SELECT ?1, ?2, coalesce(max(place), 0) + 1, ?3 FROM assignment WHERE annotator = ?1",
            params![annotator, instance, flipped],
        )?;
    }
    let asked = per_instance.min(names.len());
    let short = wanted.iter().filter(|one| {
        let old = have.iter().filter(|(_, instance)| instance == one.instance).count();
        old + new.iter().filter(|(_, instance)| *instance == one.instance).count() < asked
    });
    Ok((new.len(), short.count()))
}

/// Makes the file, if it is new, readable for its owner alone.
fn private_file(path: &Path) -> Result<(), StoreError> {
    let mut options = fs_err::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path).map(drop).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::StorageFull => StoreErrorKind::Full,
            _ => StoreErrorKind::ReadOnly,
        };
        StoreError::new(kind, path, error.to_string())
    })
}

#[cfg(test)]
mod tests;
