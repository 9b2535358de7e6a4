//! Run folders: every `ask` leaves one, and it can be read, explained, replayed, verified and compared.
//!
//! ```text
//! runs/<id>/run.json       what was asked of what: question, resolved config, datastore, models, status
//!          journal.jsonl   every request to a port with its reply: what replay feeds on
//!          events.jsonl    the events in order, text pieces left out
//!          answer.json     the answer document (openscholar.answer/1)
//!          answer.md       the same for people
//!          review.json     of a review, the whole of it (openscholar.review/1); answer.json has its sentences
//!          proof.json      every sentence with its quotations, the quoted passages, and digests that bind the answer
//!                          (openscholar.proof/2)
//!          proof.json.sig  OpenSSH's signature of it, where the run is signed
//!          requests.jsonl  every request to sources beyond the datastore, without secrets: when, how long, what came back
//!          found.jsonl     papers that sources beyond the datastore found, with the text that was read
//!          lock            held by the process that answers, for as long as it lives
//! ```
//!
//! Only their owner can read them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scholar_core::{Paper, ReadLimits};
use scholar_datastore::files::{self, FileError};
use scholar_pipeline::retrieve::sources::SourcesConfig;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, Context as _, ErrorKind};
use crate::home::Home;
use crate::private;

/// File of what was asked of what.
pub(crate) const RUN_FILE: &str = "run.json";
/// File of every request to a port with its reply.
pub(crate) const JOURNAL_FILE: &str = "journal.jsonl";
/// File of the journal that a run had before it was taken up again, until it is over.
pub(crate) const FORMER_JOURNAL_FILE: &str = "journal.before.jsonl";
/// File of the events.
pub(crate) const EVENTS_FILE: &str = "events.jsonl";
/// File of the answer for programs.
pub(crate) const ANSWER_FILE: &str = "answer.json";
/// File of the answer for people.
pub(crate) const MARKDOWN_FILE: &str = "answer.md";
/// File of the proof.
pub(crate) const PROOF_FILE: &str = "proof.json";
/// File of the proof's signature.
pub(crate) const SIGNATURE_FILE: &str = "proof.json.sig";
/// File of a review for programs.
pub(crate) const REVIEW_FILE: &str = "review.json";
/// File of the papers that sources beyond the datastore found.
pub(crate) const FOUND_FILE: &str = "found.jsonl";
/// File of the requests sent to sources.
pub(crate) const REQUESTS_FILE: &str = "requests.jsonl";
/// Held while a run is answered.
const LOCK_FILE: &str = "lock";
/// Schema of [`RunRecord`].
pub(crate) const RUN_SCHEMA: &str = "openscholar.run/1";

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunStatus {
    /// Begun. [`RunFolder::record`] says so only as long as the process is there.
    Running,
    /// Answered.
    Done,
    /// Ended with an error.
    Failed,
    /// Ended by a signal or with its process; the journal holds what was done.
    Interrupted,
}

impl RunStatus {
    /// As `run.json` has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What a run was asked to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    /// To answer a question.
    #[default]
    Ask,
    /// To review an idea.
    Review,
}

impl Verb {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_ask(&self) -> bool {
        *self == Self::Ask
    }
}

/// `run.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    /// Always [`RUN_SCHEMA`].
    pub(crate) schema: String,
    /// Name of the folder.
    pub(crate) id: String,
    /// When it began, UTC.
    pub(crate) started: String,
    /// Version of this program.
    pub(crate) version: String,
    /// How far it came.
    pub(crate) status: RunStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What it does; runs of earlier versions answer questions.
    #[serde(default, skip_serializing_if = "Verb::is_ask")]
    pub(crate) verb: Verb,
    /// What was asked, as it was typed; of a review the whole idea.
    pub(crate) question: String,
    /// The run that it follows up on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) follows: Option<String>,
    /// Datastore asked.
    pub(crate) datastore: String,
    /// Encoder, reranker, generator and judge, by name.
    pub(crate) models: std::collections::BTreeMap<String, String>,
    /// Which ports were opened.
    #[serde(default)]
    pub(crate) wiring: WiringRecord,
    /// The resolved settings.
    pub(crate) config: serde_json::Value,
}

/// Which ports a run opened, so that the run can be resumed with the same. An address with credentials is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WiringRecord {
    /// `embedded`, `server` or `none`; absent: the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generator: Option<String>,
    /// Model to write with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Address of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
    /// `small` or `strong`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strength: Option<String>,
    /// Who judges support.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<String>,
    /// Model of the server that judges support.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) judge_model: Option<String>,
    /// Who reads candidates again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reranker: Option<String>,
    /// Whether reranking was switched off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_rerank: bool,
    /// Where papers were looked for; empty: the datastore alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<String>,
    /// Whether nobody was to be asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) offline: bool,
    /// How far they were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) looking: Option<SourcesConfig>,
}

/// Takes the lines of a journal.
pub(crate) type JournalSink = Box<dyn Fn(&str) + Send + Sync>;

/// Characters of a run's name that say when it began, to the second.
const STAMP: usize = 15;

/// The run that began last; of several in one second the one whose record was written last.
fn latest<'a>(home: &Home, ids: &'a [String]) -> Option<&'a String> {
    let stamp = |id: &'a String| id.get(..STAMP).unwrap_or(id);
    let newest = stamp(ids.last()?);
    let written = |id: &&String| {
        fs_err::metadata(home.runs().join(id).join(RUN_FILE)).and_then(|meta| meta.modified()).ok()
    };
    ids.iter().filter(|id| stamp(id) == newest).max_by_key(written)
}

/// The folder of one run.
#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    path: PathBuf,
    /// In the process that answers, the lock that tells others so.
    _held: Option<Arc<fs_err::File>>,
}

impl RunFolder {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path, _held: None }
    }

    /// Creates the folder and locks it for this process; the name is the time of day plus a digest of the question, made unique.
    pub(crate) fn create(
        home: &Home,
        started: &str,
        question: &str,
    ) -> Result<(Self, String), CommandError> {
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(question.as_bytes());
        let stamp: String =
            started.chars().filter(|c| c.is_ascii_digit() || *c == 'T').take(15).collect();
        let base = format!("{}-{:02x}{:02x}", stamp.replace('T', "-"), digest[0], digest[1]);
        let runs = home.runs();
        private::folder(&runs).map_err(|source| CommandError::unwritable(&runs, source))?;
        for attempt in 0..1000_u32 {
            let id = if attempt == 0 { base.clone() } else { format!("{base}-{attempt}") };
            let path = runs.join(&id);
            match private::create_folder(&path) {
                Ok(()) => {
                    let held =
                        hold(&path).map_err(|source| CommandError::unwritable(&path, source))?;
                    return Ok((Self { path, _held: Some(Arc::new(held)) }, id));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(CommandError::unwritable(&runs, source)),
            }
        }
        Err(CommandError::new(
            ErrorKind::Bug,
            format!("no free name for a run in {}", runs.display()),
        ))
    }

    /// The run called `name`: an id, a unique beginning of one, or `last`; of runs that began in one second the one that ended
    /// last.
    pub(crate) fn find(home: &Home, name: &str) -> Result<Self, CommandError> {
        let ids = ids(home)?;
        // A folder of this very name is meant, even without `run.json`: not another run that begins alike.
        let path = home.runs().join(name);
        if !name.is_empty() && !name.contains(['/', '\\', '.']) && path.is_dir() {
            return Ok(Self::at(path));
        }
        let matching: Vec<&String> = if name == "last" {
            latest(home, &ids).into_iter().collect()
        } else {
            ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect()
        };
        match matching.as_slice() {
            [id] => Ok(Self::at(home.runs().join(id))),
            [] => Err(CommandError::user(format!(
                "there is no run {name:?} in {}",
                home.runs().display()
            ))
            .with_hint("openscholar runs list")),
            several => Err(CommandError::user(format!(
                "{name:?} is the beginning of {} runs",
                several.len()
            ))
            .with_hint("give more of its name")),
        }
    }

    /// The folder called `id`, made where it is missing, and locked for this process. The journal that is there is kept beside the
    /// new one, unless one that is longer is kept already.
    pub(crate) fn take_up(home: &Home, id: &str) -> Result<Self, CommandError> {
        let path = home.runs().join(id);
        let unwritable = |source| CommandError::unwritable(&path, source);
        private::folder(&path).map_err(unwritable)?;
        let held = hold(&path).map_err(unwritable)?;
        let folder = Self { path: path.clone(), _held: Some(Arc::new(held)) };
        let length = |name: &str| fs_err::metadata(folder.file(name)).map_or(0, |file| file.len());
        if length(JOURNAL_FILE) > length(FORMER_JOURNAL_FILE) {
            fs_err::rename(folder.file(JOURNAL_FILE), folder.file(FORMER_JOURNAL_FILE))
                .map_err(unwritable)?;
        }
        Ok(folder)
    }

    /// Writes the whole journal, after which one from before is of no use.
    pub(crate) fn write_journal(&self, lines: &str) -> Result<(), CommandError> {
        self.write_text(JOURNAL_FILE, lines)?;
        let former = self.file(FORMER_JOURNAL_FILE);
        match fs_err::metadata(&former) {
            Ok(file) if file.len() <= lines.len() as u64 => fs_err::remove_file(&former)
                .map_err(|source| CommandError::unwritable(&self.path, source)),
            // An interrupted run may have been cut off before it was where it had been.
            _ => Ok(()),
        }
    }

    /// Removes the folder, unless there is something in it.
    pub(crate) fn give_up(home: &Home, id: &str) {
        let path = home.runs().join(id);
        if path.join(RUN_FILE).exists() {
            return;
        }
        // What cannot be removed is an empty folder, which nobody lists.
        let _lock = fs_err::remove_file(path.join(LOCK_FILE));
        let _folder = fs_err::remove_dir(&path);
    }

    /// A file in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes `value` as pretty JSON, atomically.
    pub(crate) fn write_json(
        &self,
        name: &str,
        value: &impl Serialize,
    ) -> Result<(), CommandError> {
        let mut text = serde_json::to_string_pretty(value).map_err(|source| {
            CommandError::new(ErrorKind::Bug, format!("cannot write {name}")).with_source(source)
        })?;
        text.push('\n');
        self.write_text(name, &text)
    }

    /// Writes `values` as JSON lines, atomically.
    pub(crate) fn write_lines<T: Serialize>(
        &self,
        name: &str,
        values: &[T],
    ) -> Result<(), CommandError> {
        let mut text = String::new();
        for value in values {
            let line = serde_json::to_string(value).map_err(|source| {
                CommandError::new(ErrorKind::Bug, format!("cannot write {name}"))
                    .with_source(source)
            })?;
            text.push_str(&line);
            text.push('\n');
        }
        self.write_text(name, &text)
    }

    /// Writes text, atomically.
    pub(crate) fn write_text(&self, name: &str, text: &str) -> Result<(), CommandError> {
        replace(&self.file(name), text.as_bytes(), private::create)
    }

    /// Writes text to a file in a folder of the run, `soundness/methods.json`, atomically.
    pub(crate) fn write_below(&self, path: &str, text: &str) -> Result<(), CommandError> {
        if let Some(parent) = self.file(path).parent() {
            private::folder(parent).map_err(|source| CommandError::unwritable(parent, source))?;
        }
        self.write_text(path, text)
    }

    /// Appends every line it gets to `journal.jsonl` at once, so that a killed run keeps what it knew. A full disk
    /// shows when the whole journal is written at the end.
    pub(crate) fn journal_sink(&self) -> Result<JournalSink, CommandError> {
        let path = self.file(JOURNAL_FILE);
        let file = private::create(&path)
            .map_err(|source| CommandError::unwritable(&self.path, source))?;
        let file = parking_lot::Mutex::new(file);
        Ok(Box::new(move |line| {
            let _at_the_end = file.lock().write_all(format!("{line}\n").as_bytes());
        }))
    }

    /// What was asked of what, and how far it came: a run that was begun by a process that is gone is interrupted.
    pub(crate) fn record(&self) -> Result<RunRecord, CommandError> {
        let mut record: RunRecord = self.read_json(RUN_FILE)?;
        if record.status == RunStatus::Running && !self.is_held() {
            record.status = RunStatus::Interrupted;
        }
        Ok(record)
    }

    /// Whether a process answers this run. The system gives its lock back when it ends, however it ends. Runs of earlier
    /// versions have no lock, and some network file systems know none.
    fn is_held(&self) -> bool {
        let lock = files::open_own(&self.file(LOCK_FILE));
        lock.is_ok_and(|lock| {
            matches!(lock.file().try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
        })
    }

    /// The bytes of a file of the folder; `None` when there is none. Run folders are passed on: what is no regular file of
    /// the folder itself, or larger than any run writes, is refused.
    pub(crate) fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, CommandError> {
        match files::read_own(&self.file(name), ReadLimits::standard().bytes) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => {
                let hint = match error {
                    FileError::TooLarge { .. } => "no run writes so much: remove the file",
                    FileError::Special { .. } => "no run creates such a file: remove it",
                    FileError::Read { .. } | FileError::NotText { .. } => {
                        "check the permissions of the run folder"
                    }
                };
                let message = format!("cannot read {name} of the run");
                Err(CommandError::user(message).with_source(error).with_hint(hint))
            }
        }
    }

    /// The text of a file of the folder that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<String, CommandError> {
        let bytes = self.bytes(name)?.ok_or_else(|| {
            CommandError::user(format!("the run has no {name}"))
                .with_hint("it may have been interrupted: openscholar runs list shows its status")
        })?;
        String::from_utf8(bytes).user(|| format!("{} is damaged", self.file(name).display()))
    }

    /// Reads a JSON file of the folder.
    pub(crate) fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, CommandError> {
        let damaged = || format!("{} is damaged", self.file(name).display());
        serde_json::from_str(&self.text(name)?).user(damaged)
    }

    /// The papers that sources beyond the datastore found; none when there were no such sources.
    pub(crate) fn found_papers(&self) -> Result<Vec<Paper>, CommandError> {
        match self.bytes(FOUND_FILE)? {
            Some(bytes) => self.lines_of(FOUND_FILE, bytes),
            None => Ok(Vec::new()),
        }
    }

    /// Reads a file of JSON lines; an error names the line.
    pub(crate) fn read_lines<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Vec<T>, CommandError> {
        self.lines_of(name, self.text(name)?.into_bytes())
    }

    fn lines_of<T: DeserializeOwned>(
        &self,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<Vec<T>, CommandError> {
        let path = self.file(name);
        let text = String::from_utf8(bytes).user(|| format!("{} is damaged", path.display()))?;
        text.lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(idx, line)| {
                serde_json::from_str(line)
                    .user(|| format!("{}, line {} is damaged", path.display(), idx + 1))
            })
            .collect()
    }
}

/// Ids of all runs, oldest first.
pub(crate) fn ids(home: &Home) -> Result<Vec<String>, CommandError> {
    let entries = match fs_err::read_dir(home.runs()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).user(|| "cannot list the runs".to_owned()),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry.user(|| "cannot list the runs".to_owned())?;
        if entry.path().join(RUN_FILE).is_file() {
            ids.extend(entry.file_name().into_string());
        }
    }
    // The tenth run of a second comes after the ninth.
    ids.sort_by(|a, b| age(a).cmp(&age(b)));
    Ok(ids)
}

/// A key that orders run ids by age: time of day, digest, and the number of runs before with the same of both.
fn age(id: &str) -> (&str, u32, &str) {
    let (base, count) = match id.match_indices('-').nth(2) {
        Some((at, _)) => (&id[..at], id[at + 1..].parse().unwrap_or(0)),
        None => (id, 0),
    };
    (base, count, id)
}

/// Takes the lock of the run in `folder`, which ends with this process.
fn hold(folder: &Path) -> std::io::Result<fs_err::File> {
    let lock = private::create(&folder.join(LOCK_FILE))?;
    match lock.file().lock() {
        // Some network file systems have none; then nobody sees that this run is being answered.
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(lock),
        locked => locked.map(|()| lock),
    }
}

/// Replaces `path` in one step: a reader sees the old or the new bytes, and a full disk leaves the old ones.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    replace(path, bytes, |temporary| fs_err::File::create(temporary))
}

/// The same with a file that `create` makes.
fn replace(
    path: &Path,
    bytes: &[u8],
    create: impl FnOnce(&Path) -> std::io::Result<fs_err::File>,
) -> Result<(), CommandError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = folder.join(format!(".{name}.{}.part", std::process::id()));
    let written = (|| {
        let mut file = create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs_err::rename(&temporary, path)
    })();
    written.map_err(|source| {
        // The half-written file is of no use; if it cannot be removed either, the error below says why.
        let _ignored = fs_err::remove_file(&temporary);
        CommandError::unwritable(folder, source)
    })
}

/// Writes `bytes` where the user wants them: a regular file in one step, anything else (a pipe, a device) as it is.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    match fs_err::metadata(path) {
        Ok(found) if !found.is_file() => fs_err::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes))
            .user(|| "cannot write the answer there".to_owned()),
        _ => write_atomic(path, bytes).map_err(|error| {
            CommandError::user(format!("cannot write {}", path.display())).with_source(error)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_second_are_ordered_by_their_count() {
        let mut ids = ["20260101-120000-ab12-10", "20260101-120000-ab12", "20260101-120000-ab12-9"];
        ids.sort_by(|a, b| age(a).cmp(&age(b)));
        assert_eq!(
            ids,
            ["20260101-120000-ab12", "20260101-120000-ab12-9", "20260101-120000-ab12-10"]
        );
    }
}
