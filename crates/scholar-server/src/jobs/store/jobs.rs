//! Jobs: what was asked, by whom, and how far it came.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{JobStore, JobStoreError};
use crate::backend::{JobKind, JobRequest, RunState};

/// A job that is put into the queue.
#[derive(Debug, Clone)]
pub(crate) struct NewJob<'a> {
    pub(crate) run: &'a str,
    pub(crate) caller: &'a str,
    pub(crate) request: &'a JobRequest,
    /// What lists call it.
    pub(crate) title: &'a str,
    /// Seconds since 1970, UTC.
    pub(crate) now: i64,
}

/// A job as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub(crate) run: String,
    pub(crate) caller: String,
    pub(crate) request: JobRequest,
    /// What lists call it.
    pub(crate) title: String,
    pub(crate) thread: String,
    pub(crate) state: RunState,
    /// Seconds since 1970, UTC.
    pub(crate) submitted: i64,
    pub(crate) attempt: u32,
    pub(crate) error: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) share: Option<String>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) state: RunState,
    pub(crate) error: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) tokens: u64,
}

/// A thread in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThreadLine {
    /// Its last run.
    pub(crate) run: String,
    /// What its first run is called.
    pub(crate) title: String,
    pub(crate) n_runs: usize,
    pub(crate) state: RunState,
}

const COLUMNS: &str =
    "run, caller, request, thread, state, submitted, attempt, error, hint, share, kind, question";

impl JobStore {
    /// Keeps a job that waits for its turn.
    pub(crate) fn add(&self, job: &NewJob<'_>) -> Result<(), JobStoreError> {
        let NewJob { run, caller, request, title, now } = job;
        let json = request.to_json().map_err(|error| self.refused(&error))?;
        self.with(|connection| {
            let earlier: Option<String> = match request.follows() {
                None => None,
                Some(follows) => Some(
                    connection
                        .query_row("SELECT thread FROM job WHERE run = ?1", [follows], |row| {
                            row.get(0)
                        })
                        .optional()?
                        // A run of the command line begins a thread here.
                        .unwrap_or_else(|| follows.to_owned()),
                ),
            };
            let thread = earlier.as_deref().unwrap_or(run);
            connection.execute(
                "INSERT INTO job (run, caller, request, question, thread, state, submitted, kind) \
                 VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6, ?7)",
                params![run, caller, json, title, thread, now, request.kind().name()],
            )?;
            Ok(())
        })
    }

    /// The job of that run, if it was asked for here.
    pub(crate) fn job(&self, run: &str) -> Result<Option<Job>, JobStoreError> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE run = ?1");
        self.with(|connection| connection.query_row(&query, [run], job).optional())
    }

    /// The job that is shared under this secret.
    pub(crate) fn shared(&self, secret: &str) -> Result<Option<Job>, JobStoreError> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE share = ?1");
        self.with(|connection| connection.query_row(&query, [secret], job).optional())
    }

    /// What waits or was under way when the server ended, in the order in which it was asked.
    pub(crate) fn unfinished(&self) -> Result<Vec<Job>, JobStoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM job WHERE state IN ('queued', 'running') ORDER BY submitted, rowid"
        );
        self.with(|connection| all(connection, &query, &[], job))
    }

    /// The newest jobs of `caller`, or of all, the newest first.
    pub(crate) fn recent(
        &self,
        caller: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Job>, JobStoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM job WHERE ?1 IS NULL OR caller = ?1 \
             ORDER BY submitted DESC, rowid DESC LIMIT ?2"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.with(|connection| all(connection, &query, &[&caller, &limit], job))
    }

    /// The runs of a thread, in order.
    pub(crate) fn of_thread(&self, thread: &str) -> Result<Vec<Job>, JobStoreError> {
        let query =
            format!("SELECT {COLUMNS} FROM job WHERE thread = ?1 ORDER BY submitted, rowid");
        self.with(|connection| all(connection, &query, &[&thread], job))
    }

    /// The newest threads of `caller`, or of all.
    pub(crate) fn threads(
        &self,
        caller: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ThreadLine>, JobStoreError> {
        let query = "SELECT last.run, first.question, threads.n, last.state FROM \
             (SELECT thread, count(*) AS n, max(rowid) AS last, min(rowid) AS first FROM job \
              WHERE ?1 IS NULL OR caller = ?1 GROUP BY thread) AS threads \
             JOIN job AS last ON last.rowid = threads.last JOIN job AS first ON first.rowid = threads.first \
             ORDER BY threads.last DESC LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let line = |row: &Row<'_>| {
            let n: i64 = row.get(2)?;
            Ok(ThreadLine {
                run: row.get(0)?,
                title: row.get(1)?,
                n_runs: usize::try_from(n).unwrap_or(0),
                state: state(row, 3)?,
            })
        };
        self.with(|connection| all(connection, query, &[&caller, &limit], line))
    }

    /// Begins it, once more if it was begun before; returns how often it was begun.
    pub(crate) fn begin(&self, run: &str) -> Result<u32, JobStoreError> {
        self.with(|connection| {
            connection.query_row(
                "UPDATE job SET state = 'running', attempt = attempt + 1 WHERE run = ?1 RETURNING attempt",
                [run],
                |row| row.get(0),
            )
        })
    }

    /// Ends it.
    pub(crate) fn end(&self, run: &str, outcome: &Outcome, now: i64) -> Result<(), JobStoreError> {
        let Outcome { state, error, hint, cost_usd, tokens } = outcome;
        let tokens = i64::try_from(*tokens).unwrap_or(i64::MAX);
        self.with(|connection| {
            connection.execute(
                "UPDATE job SET state = ?2, error = ?3, hint = ?4, cost_usd = ?5, tokens = ?6, ended = ?7 WHERE run = ?1",
                params![run, state.name(), error, hint, cost_usd, tokens, now],
            )?;
            Ok(())
        })
    }

    /// Puts a job without a result back into the queue, or in spite of one where `may_go_on`; whether it was such a one. One whose end
    /// could not be kept, on a full disk, is still called running.
    pub(crate) fn requeue(&self, run: &str, may_go_on: bool) -> Result<bool, JobStoreError> {
        self.with(|connection| {
            let n = connection.execute(
                "UPDATE job SET state = 'queued', error = NULL, hint = NULL, ended = NULL \
                 WHERE run = ?1 AND (?2 OR state <> 'done')",
                params![run, may_go_on],
            )?;
            Ok(n == 1)
        })
    }

    /// Shares it under `secret`, or under the one it is shared under already; `None` ends sharing.
    pub(crate) fn share(
        &self,
        run: &str,
        secret: Option<&str>,
    ) -> Result<Option<String>, JobStoreError> {
        self.with(|connection| {
            connection.query_row(
                "UPDATE job SET share = CASE WHEN ?2 IS NULL THEN NULL ELSE coalesce(share, ?2) END \
                 WHERE run = ?1 RETURNING share",
                params![run, secret],
                |row| row.get(0),
            )
        })
    }

    /// Jobs that `caller` asked for since `since`, and US dollars that they cost as far as prices are known.
    pub(crate) fn spent(&self, caller: &str, since: i64) -> Result<(usize, f64), JobStoreError> {
        self.with(|connection| {
            connection.query_row(
                "SELECT count(*), coalesce(sum(cost_usd), 0.0) FROM job WHERE caller = ?1 AND submitted >= ?2",
                params![caller, since],
                |row| {
                    let n: i64 = row.get(0)?;
                    Ok((usize::try_from(n).unwrap_or(usize::MAX), row.get(1)?))
                },
            )
        })
    }
}

fn all<T>(
    connection: &Connection,
    query: &str,
    values: &[&dyn rusqlite::ToSql],
    read: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
) -> Result<Vec<T>, rusqlite::Error> {
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map(values, read)?;
    rows.collect()
}

fn job(row: &Row<'_>) -> Result<Job, rusqlite::Error> {
    let (request, kind): (String, String) = (row.get(2)?, row.get(10)?);
    let kind = JobKind::named(&kind).ok_or_else(|| damaged(10, format!("{kind:?} is no kind")))?;
    let request = JobRequest::read(kind, &request).map_err(|error| damaged(2, error))?;
    Ok(Job {
        run: row.get(0)?,
        caller: row.get(1)?,
        request,
        thread: row.get(3)?,
        state: state(row, 4)?,
        submitted: row.get(5)?,
        attempt: row.get(6)?,
        error: row.get(7)?,
        hint: row.get(8)?,
        share: row.get(9)?,
        title: row.get(11)?,
    })
}

fn state(row: &Row<'_>, column: usize) -> Result<RunState, rusqlite::Error> {
    let name: String = row.get(column)?;
    let states = [
        RunState::Queued,
        RunState::Running,
        RunState::Done,
        RunState::Failed,
        RunState::Interrupted,
        RunState::Cancelled,
    ];
    let found = states.into_iter().find(|state| state.name() == name);
    found.ok_or_else(|| damaged(column, format!("{name:?} is no state")))
}

fn damaged(
    column: usize,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}
