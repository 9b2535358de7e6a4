//! Files that people sent, and what became of each.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{JobStore, JobStoreError};
use crate::additions::{Addition, Stage};
use crate::backend::AddedFile;

const COLUMNS: &str = "id, caller, datastore, stage, failed, submitted";

impl JobStore {
    /// Keeps that files are being sent; of those that are over, all but the newest `remembered` are forgotten.
    pub(crate) fn receive_files(
        &self,
        addition: &Addition,
        remembered: usize,
    ) -> Result<(), JobStoreError> {
        let Addition { id, caller, datastore, submitted, .. } = addition;
        let remembered = i64::try_from(remembered).unwrap_or(i64::MAX);
        self.with(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT INTO addition (id, caller, datastore, stage, submitted) VALUES (?1, ?2, ?3, 'receiving', ?4)",
                params![id, &**caller, datastore, submitted],
            )?;
            transaction.execute(
                "DELETE FROM addition WHERE stage = 'over' AND id NOT IN \
                 (SELECT id FROM addition ORDER BY submitted DESC, rowid DESC LIMIT ?1)",
                [remembered],
            )?;
            transaction.commit()
        })
    }

    /// Forgets files that did not arrive.
    pub(crate) fn forget_files(&self, id: &str) -> Result<(), JobStoreError> {
        self.with(|connection| {
            connection.execute("DELETE FROM addition WHERE id = ?1", [id]).map(drop)
        })
    }

    /// Keeps that all files of a request arrived, by their names in its folder, and wait for their turn.
    pub(crate) fn received_files(&self, id: &str, names: &[String]) -> Result<(), JobStoreError> {
        self.with(|connection| {
            let transaction = connection.transaction()?;
            for (place, name) in names.iter().enumerate() {
                let place = i64::try_from(place).unwrap_or(i64::MAX);
                transaction.execute(
                    "INSERT INTO added_file (addition, place, name) VALUES (?1, ?2, ?3)",
                    params![id, place, name],
                )?;
            }
            transaction.execute("UPDATE addition SET stage = 'waiting' WHERE id = ?1", [id])?;
            transaction.commit()
        })
    }

    /// Keeps what became of the file at `place`.
    pub(crate) fn file_added(
        &self,
        id: &str,
        place: usize,
        file: &AddedFile,
    ) -> Result<(), JobStoreError> {
        let json = serde_json::to_string(file).unwrap_or_default();
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        self.with(|connection| {
            let told = "UPDATE added_file SET told = ?3 WHERE addition = ?1 AND place = ?2";
            connection.execute(told, params![id, place, json]).map(drop)
        })
    }

    /// Keeps that nothing more will happen, and why if it is not because all is done.
    pub(crate) fn files_over(&self, id: &str, failed: Option<&str>) -> Result<(), JobStoreError> {
        self.with(|connection| {
            let over = "UPDATE addition SET stage = 'over', failed = ?2 WHERE id = ?1";
            connection.execute(over, params![id, failed]).map(drop)
        })
    }

    /// The request of that name.
    pub(crate) fn addition(&self, id: &str) -> Result<Option<Addition>, JobStoreError> {
        let query = format!("SELECT {COLUMNS} FROM addition WHERE id = ?1");
        self.with(|connection| {
            let found = connection.query_row(&query, [id], addition).optional()?;
            found.map(|one| with_files(connection, one)).transpose()
        })
    }

    /// The newest requests of `caller`, or of all, the newest first.
    pub(crate) fn additions(
        &self,
        caller: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Addition>, JobStoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM addition WHERE ?1 IS NULL OR caller = ?1 ORDER BY submitted DESC, rowid DESC LIMIT ?2"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.with(|connection| listed(connection, &query, &[&caller, &limit]))
    }

    /// Requests of which something is still to be done, in the order in which they came.
    pub(crate) fn unfinished_additions(&self) -> Result<Vec<Addition>, JobStoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM addition WHERE stage <> 'over' ORDER BY submitted, rowid"
        );
        self.with(|connection| listed(connection, &query, &[]))
    }
}

fn listed(
    connection: &Connection,
    query: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<Vec<Addition>, rusqlite::Error> {
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map(values, addition)?;
    rows.map(|one| with_files(connection, one?)).collect()
}

/// One without its files.
fn addition(row: &Row<'_>) -> Result<Addition, rusqlite::Error> {
    let caller: String = row.get(1)?;
    let stage: String = row.get(3)?;
    let stage = Stage::ALL.into_iter().find(|one| one.name() == stage).ok_or_else(|| {
        let why = format!("{stage:?} is no stage");
        rusqlite::Error::FromSqlConversionFailure(3, Type::Text, why.into())
    })?;
    Ok(Addition {
        id: row.get(0)?,
        caller: caller.into(),
        datastore: row.get(2)?,
        stage,
        failed: row.get(4)?,
        submitted: row.get(5)?,
        files: Vec::new(),
        done: Vec::new(),
    })
}

fn with_files(
    connection: &Connection,
    mut addition: Addition,
) -> Result<Addition, rusqlite::Error> {
    let query = "SELECT name, told FROM added_file WHERE addition = ?1 ORDER BY place";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([&addition.id])?;
    while let Some(row) = rows.next()? {
        addition.files.push(row.get(0)?);
        let told: Option<String> = row.get(1)?;
        if let Some(told) = told {
            let file = serde_json::from_str(&told).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(1, Type::Text, error.into())
            })?;
            addition.done.push(file);
        }
    }
    Ok(addition)
}
