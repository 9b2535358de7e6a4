//! What annotators enter.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::{Store, StoreError};
use crate::annotate::form::{Form, Origin};
use crate::annotate::model::{Preference, Quality, Ratings, Scores};
use crate::annotate::review::ReviewRatings;

/// What became of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saved {
    /// It is stored as this revision.
    Stored(u32),
    /// The same page has sent a newer one already.
    Late(u32),
    /// Another page has changed it since this one was made; nothing was stored.
    Elsewhere(u32),
}

/// What is submitted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Said<'a> {
    /// Of two answers.
    Pair(&'a Ratings),
    /// Of a report.
    Review(&'a ReviewRatings),
    /// The question is passed over.
    Skipped,
}

impl Store {
    /// Keeps what stands in the form.
    pub(crate) fn save(
        &mut self,
        assignment: i64,
        form: &Form,
        origin: &Origin,
        now: &str,
    ) -> Result<Saved, StoreError> {
        self.change(|connection| save(connection, assignment, form, origin, now))
    }

    /// Keeps the form and adds a submission.
    pub(crate) fn submit(
        &mut self,
        assignment: i64,
        form: &Form,
        said: Said<'_>,
        origin: &Origin,
        now: &str,
    ) -> Result<Saved, StoreError> {
        self.change(|connection| {
            let saved = save(connection, assignment, form, origin, now)?;
            if !matches!(saved, Saved::Stored(_)) {
                return Ok(saved);
            }
            let (ratings, review) = match said {
                Said::Pair(ratings) => (Some(ratings), None),
                Said::Review(review) => (None, Some(written(review)?)),
                Said::Skipped => (None, None),
            };
            let scores = |at: usize| ratings.map(|ratings| scores(ratings.scores[at]));
            let preference = ratings.map(|ratings| match ratings.preference {
                Preference::First => "first",
                Preference::Tie => "tie",
                Preference::Second => "second",
            });
            connection.execute(
                "INSERT INTO evaluation (assignment, first_scores, second_scores, preference, explanation, quality, \
                 comment, started, submitted) \
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, started, ?8 FROM draft WHERE assignment = ?1",
                params![
                    assignment,
                    scores(0),
                    scores(1),
                    preference,
                    form.explanation,
                    form.quality.map(Quality::name),
                    form.comment,
                    now
                ],
            )?;
            if let Some(review) = review {
                connection.execute(
                    "INSERT INTO review (evaluation, ratings) VALUES (last_insert_rowid(), ?1)",
                    [review],
                )?;
            }
            Ok(saved)
        })
    }

    fn change<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        self.connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                let result = work(&transaction)?;
                transaction.commit()?;
                Ok(result)
            })
            .map_err(|error| StoreError::sqlite(&path, error))
    }
}

fn save(
    connection: &Connection,
    assignment: i64,
    form: &Form,
    origin: &Origin,
    now: &str,
) -> rusqlite::Result<Saved> {
    let stored: Option<(String, u32, u32)> = connection
        .query_row(
            "SELECT page, seq, revision FROM draft WHERE assignment = ?1",
            [assignment],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let revision = match stored {
        Some((page, seq, revision)) if page == origin.page => {
            if origin.seq < seq {
                return Ok(Saved::Late(revision));
            }
            revision
        }
        Some((_, _, revision)) if revision != origin.base => {
            return Ok(Saved::Elsewhere(revision));
        }
        Some((_, _, revision)) => revision,
        None => 0,
    };
    let text = written(form)?;
    connection.execute(
        "INSERT INTO draft (assignment, form, page, seq, revision, started, saved) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) ON CONFLICT (assignment) DO UPDATE SET form = excluded.form, \
         page = excluded.page, seq = excluded.seq, revision = excluded.revision, saved = excluded.saved",
        params![assignment, text, origin.page, origin.seq, revision.saturating_add(1), now],
    )?;
    Ok(Saved::Stored(revision.saturating_add(1)))
}

fn written(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn scores(scores: Scores) -> String {
    scores.map(|score| score.to_string()).join(" ")
}
