//! A run: what was asked of what, and the loop that asks.
//!
//! ```text
//! RUN/run.json           the manifest: task, system, settings, items, how it ended, what it cost
//!     predictions.jsonl  the journal
//!     scores-*.json      one file for each way it was scored
//! ```

mod folder;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};

use futures::StreamExt as _;
use futures::stream;
use jiff::civil::Date;
use scholar_pipeline::AskConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::item::Item;
use super::journal::{JOURNAL_FILE, Journal, Written, read_journal};
use super::json::{DataError, Place, read};
use super::prediction::{Prediction, PredictionStatus, PredictionUsage};
use super::system::Ablation;
use super::task::BenchTask;

pub use folder::{FolderError, PREDICTIONS, RunFolder};

/// Schema identifier that [`Manifest::schema`] must hold.
pub const RUN_SCHEMA: &str = "openscholar.bench-run/1";
/// Name of the manifest in a run's folder.
pub const MANIFEST_FILE: &str = "run.json";
/// Items that may fail in a row before a run gives up: a dead server fails them all. Ours.
pub const FAILURES_IN_A_ROW: usize = 5;

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Begun; also what a killed process leaves.
    Running,
    /// Every item has an answer.
    Done,
    /// Every item was asked and some failed.
    SomeFailed,
    /// The budget ended it.
    OutOfBudget,
    /// Too many items failed in a row.
    GaveUp,
    /// Ended by Ctrl-C; it can be continued.
    Interrupted,
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "not ended",
            Self::Done => "done",
            Self::SomeFailed => "some items failed",
            Self::OutOfBudget => "stopped by the budget",
            Self::GaveUp => "stopped after consecutive failures",
            Self::Interrupted => "interrupted",
        })
    }
}

/// How many items ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Items of the run, repeated questions included.
    pub items: usize,
    /// Items with an answer.
    pub answered: usize,
    /// Said that they cannot be answered.
    pub abstained: usize,
    /// Items that ended with an error.
    pub failed: usize,
    /// Cut by the budget.
    pub cut: usize,
    /// Items without a prediction.
    pub missing: usize,
}

/// What [`MANIFEST_FILE`] records of a run: settings, models, data, items, outcome and cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Schema identifier, always [`RUN_SCHEMA`].
    pub schema: String,
    /// What the run is called in reports.
    pub name: String,
    /// Task that the items are of.
    pub task: BenchTask,
    /// The system, or `predictions` for a file of another's.
    pub system: String,
    /// What was taken out of it.
    #[serde(default)]
    pub ablation: Ablation,
    /// The resolved settings of every item, without its filter.
    #[serde(default)]
    pub config: Value,
    /// Encoder, reranker, generator and judge of the run, by name.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// Datastore that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datastore: Option<String>,
    /// File of the retrieved sets or predictions that the run is about, by SHA-256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_sha256: Option<String>,
    /// Where the task's files were.
    pub data: PathBuf,
    /// SHA-256 of the task's file.
    pub data_sha256: String,
    /// Seed of the sample and of all sampling.
    pub seed: u64,
    /// Items asked for; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Strictly before which day evidence was published, where an item does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Date>,
    /// Names of the items, in order.
    pub items: Vec<String>,
    /// The command line, `openscholar` included.
    pub command: String,
    /// Machine, version and commit.
    pub machine: String,
    /// When it began, UTC.
    pub started: String,
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    /// How many items ended how.
    #[serde(default)]
    pub counts: Counts,
    /// What all items cost together.
    #[serde(default)]
    pub usage: PredictionUsage,
    /// Seconds of all items together.
    #[serde(default)]
    pub seconds: f64,
    /// What a person should know.
    #[serde(default)]
    pub notices: Vec<String>,
}

/// Settings as this version writes them: those of an earlier version may have keys that are gone.
fn settings(value: &Value) -> Value {
    let read = serde_json::from_value::<AskConfig>(value.clone());
    read.and_then(serde_json::to_value).unwrap_or_else(|_| value.clone())
}

impl Manifest {
    /// Reads the manifest of the run in `folder`.
    ///
    /// # Errors
    /// [`DataError`] when there is none or it is of another schema.
    pub fn read(folder: &Path) -> Result<Self, DataError> {
        let path = folder.join(MANIFEST_FILE);
        let text = read(&path)?;
        let place = |line| Place { path: path.clone(), line: Some(line), record: 1 };
        let manifest: Self = serde_json::from_str(&text)
            .map_err(|source| DataError::Json { place: place(source.line()), source })?;
        if manifest.schema != RUN_SCHEMA {
            let what = format!("the schema is {:?} instead of {RUN_SCHEMA:?}", manifest.schema);
            return Err(DataError::Record { place: place(1), what });
        }
        Ok(manifest)
    }

    /// The settings in which `other` is another run than this one, by name: such runs must not share a folder.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let pairs = [
            (self.task == other.task, "task"),
            (self.system == other.system, "system"),
            (self.ablation == other.ablation, "ablation"),
            (settings(&self.config) == settings(&other.config), "settings"),
            (self.models == other.models, "models"),
            (self.datastore == other.datastore, "datastore"),
            (
                self.source_sha256 == other.source_sha256,
                "file of retrieved passages or predictions",
            ),
            (self.data_sha256 == other.data_sha256, "data"),
            (self.seed == other.seed, "seed"),
            (self.before == other.before, "date cutoff"),
        ];
        pairs.into_iter().filter(|(same, _)| !same).map(|(_, name)| name).collect()
    }

    /// Fills in what `written` says: counts, cost and seconds.
    pub fn count(&mut self, written: &Written) {
        let mut counts = Counts { items: self.items.len(), ..Counts::default() };
        let mut usage = PredictionUsage { cost_usd: Some(0.0), ..PredictionUsage::default() };
        let mut seconds = 0.0;
        for id in &self.items {
            let Some(prediction) = written.get(id) else {
                counts.missing += 1;
                continue;
            };
            match prediction.status {
                PredictionStatus::Answered => counts.answered += 1,
                PredictionStatus::Abstained => counts.abstained += 1,
                PredictionStatus::Failed => counts.failed += 1,
                PredictionStatus::Cut => counts.cut += 1,
            }
            if prediction.duplicate_of.is_some() {
                continue;
            }
            seconds += prediction.seconds.unwrap_or_default();
            let own = prediction.usage.unwrap_or_default();
            usage.calls += own.calls;
            usage.prompt_tokens += own.prompt_tokens;
            usage.completion_tokens += own.completion_tokens;
            usage.cost_usd = usage.cost_usd.zip(own.cost_usd).map(|(sum, own)| sum + own);
        }
        self.counts = counts;
        self.usage = usage;
        self.seconds = seconds;
    }
}

/// A run that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Folder that it was read from.
    pub folder: PathBuf,
    /// What it was about.
    pub manifest: Manifest,
    /// The last word on each item.
    pub written: Written,
}

impl Run {
    /// Reads the run in `folder`.
    ///
    /// # Errors
    /// As [`Manifest::read`] and [`read_journal`].
    pub fn read(folder: &Path) -> Result<Self, DataError> {
        let manifest = Manifest::read(folder)?;
        let written = read_journal(&folder.join(JOURNAL_FILE))?;
        Ok(Self { folder: folder.to_owned(), manifest, written })
    }
}

/// How the loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Every item was asked.
    Asked,
    /// `stop` ended it, for this reason.
    Budget(String),
    /// The last failure of many in a row.
    GaveUp(String),
}

/// Asks every item of `todo`, `parallel` at a time, and appends each prediction at once.
///
/// `stop` is looked at after every item and says why no more should be asked. Concurrency changes the order of the journal
/// and nothing else.
///
/// # Errors
/// When the journal cannot be written.
pub async fn drive<F, Fut>(
    todo: Vec<Item>,
    parallel: usize,
    journal: &mut Journal,
    ask: F,
    stop: &mut (dyn FnMut(&Prediction) -> Option<String> + Send),
) -> Result<Ended, DataError>
where
    F: Fn(Item) -> Fut,
    Fut: Future<Output = Prediction>,
{
    let mut asked = stream::iter(todo.into_iter().map(ask)).buffer_unordered(parallel.max(1));
    let mut failures = 0;
    while let Some(prediction) = asked.next().await {
        journal.append(&prediction)?;
        failures = if prediction.status == PredictionStatus::Failed { failures + 1 } else { 0 };
        if let Some(why) = stop(&prediction) {
            return Ok(Ended::Budget(why));
        }
        if failures >= FAILURES_IN_A_ROW {
            return Ok(Ended::GaveUp(prediction.error.unwrap_or_default()));
        }
    }
    Ok(Ended::Asked)
}

/// Appends a copy of the first's answer for every repeated item that lacks one; returns how many.
///
/// # Errors
/// When the journal cannot be read or written.
pub fn copy_duplicates(
    items: &[Item],
    journal: &mut Journal,
    written: &Written,
) -> Result<usize, DataError> {
    let mut copied = 0;
    for item in items {
        let Some(first) = &item.duplicate_of else { continue };
        let has_own = written.get(&item.id).is_some_and(Prediction::is_final);
        let Some(source) = written.get(first).filter(|source| source.is_final() && !has_own) else {
            continue;
        };
        let mut copy = source.clone();
        copy.id.clone_from(&item.id);
        copy.duplicate_of = Some(first.clone());
        journal.append(&copy)?;
        copied += 1;
    }
    Ok(copied)
}

#[cfg(test)]
mod tests;
