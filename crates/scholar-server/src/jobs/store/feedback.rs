//! What readers say of sections of answers.

use rusqlite::params;

use super::{JobStore, JobStoreError};

/// Whether a section helped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thumb {
    Up,
    Down,
}

impl Thumb {
    fn value(self) -> i64 {
        match self {
            Self::Up => 1,
            Self::Down => -1,
        }
    }

    fn of(value: i64) -> Self {
        if value > 0 { Self::Up } else { Self::Down }
    }
}

/// What one caller says of one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// Position of the section in the answer, from 0.
    pub(crate) section: usize,
    pub(crate) thumb: Option<Thumb>,
    pub(crate) comment: String,
}

impl JobStore {
    /// Keeps what `caller` says, in the place of what they said before.
    pub(crate) fn say(
        &self,
        run: &str,
        caller: &str,
        feedback: &Feedback,
        now: i64,
    ) -> Result<(), JobStoreError> {
        let Feedback { section, thumb, comment } = feedback;
        let section = i64::try_from(*section).unwrap_or(i64::MAX);
        self.with(|connection| {
            connection.execute(
                "INSERT INTO feedback (run, section, caller, thumb, comment, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                 ON CONFLICT (run, section, caller) DO UPDATE SET thumb = excluded.thumb, comment = excluded.comment, at = excluded.at",
                params![run, section, caller, thumb.map(Thumb::value), comment, now],
            )?;
            Ok(())
        })
    }

    /// What `caller` said of a run, by section.
    pub(crate) fn said(&self, run: &str, caller: &str) -> Result<Vec<Feedback>, JobStoreError> {
        self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT section, thumb, comment FROM feedback WHERE run = ?1 AND caller = ?2 ORDER BY section",
            )?;
            let rows = statement.query_map(params![run, caller], |row| {
                let section: i64 = row.get(0)?;
                let thumb: Option<i64> = row.get(1)?;
                Ok(Feedback {
                    section: usize::try_from(section).unwrap_or(0),
                    thumb: thumb.map(Thumb::of),
                    comment: row.get(2)?,
                })
            })?;
            rows.collect()
        })
    }
}
