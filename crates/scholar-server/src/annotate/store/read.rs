//! What a study holds.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, params};

use super::{Store, StoreError, StoreErrorKind};
use crate::annotate::form::Form;
use crate::annotate::model::{
    Annotator, Evaluation, Instance, Preference, Quality, Ratings, Scores,
};
use crate::annotate::review::ReviewRatings;

/// How far an annotator is with an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing was entered.
    Open,
    /// Something was entered.
    Begun,
    /// Rated and submitted.
    Submitted,
    /// Passed over.
    Skipped,
}

impl State {
    pub(crate) fn is_done(self) -> bool {
        matches!(self, Self::Submitted | Self::Skipped)
    }
}

/// A line of an annotator's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskLine {
    /// Place in this annotator's order, from 1.
    pub(crate) place: u32,
    pub(crate) question: String,
    pub(crate) state: State,
}

/// What an annotator has to judge, and what they entered so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) assignment: i64,
    pub(crate) instance: Instance,
    /// Whether the second answer is shown as A.
    pub(crate) flipped: bool,
    pub(crate) form: Form,
    /// Counts the changes of the form.
    pub(crate) revision: u32,
    pub(crate) state: State,
}

impl Store {
    /// The annotators, by name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn annotators(&self) -> Result<Vec<Annotator>, StoreError> {
        self.rows(
            "SELECT name, token, \
             (SELECT count(*) FROM assignment a WHERE a.annotator = name), \
             (SELECT count(*) FROM assignment a WHERE a.annotator = name AND EXISTS \
               (SELECT 1 FROM evaluation e WHERE e.assignment = a.id)) \
             FROM annotator ORDER BY name",
            |row| {
                Ok(Annotator {
                    name: row.get(0)?,
                    token: row.get(1)?,
                    assigned: row.get(2)?,
                    done: row.get(3)?,
                })
            },
        )
    }

    /// The instances, in the order in which they came.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn instances(&self) -> Result<Vec<Instance>, StoreError> {
        let contents: Vec<String> =
            self.rows("SELECT content FROM instance ORDER BY place", |row| row.get(0))?;
        contents.iter().map(|content| self.parse(content)).collect()
    }

    /// Every submission, in the order in which they were made.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn evaluations(&self) -> Result<Vec<Evaluation>, StoreError> {
        let raw = self.rows(
            "SELECT a.annotator, a.instance, a.flipped, e.first_scores, e.second_scores, e.preference, e.explanation, \
             e.quality, e.comment, e.started, e.submitted, \
             row_number() OVER (PARTITION BY e.assignment ORDER BY e.id), \
             e.id = max(e.id) OVER (PARTITION BY e.assignment), e.id \
             FROM evaluation e JOIN assignment a ON a.id = e.assignment ORDER BY e.id",
            |row| Ok((row.get::<_, i64>(13)?, evaluation(row)?)),
        )?;
        let mut reviews = self.reviews()?;
        raw.into_iter()
            .map(|(id, read)| {
                let review = reviews.remove(&id);
                read.map(|read| Evaluation { review, ..read }).ok_or_else(|| {
                    StoreError::new(
                        StoreErrorKind::Damaged,
                        &self.path,
                        "a submission holds values that no form has",
                    )
                })
            })
            .collect()
    }

    /// What was said of reports, by submission.
    fn reviews(&self) -> Result<BTreeMap<i64, ReviewRatings>, StoreError> {
        // A study from before there were reviews, opened for reading, has no table of them.
        let tables: Vec<i64> = self.rows(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'review'",
            |row| row.get(0),
        )?;
        if tables.is_empty() {
            return Ok(BTreeMap::new());
        }
        let raw: Vec<(i64, String)> = self
            .rows("SELECT evaluation, ratings FROM review", |row| Ok((row.get(0)?, row.get(1)?)))?;
        raw.into_iter().map(|(id, text)| Ok((id, self.parse(&text)?))).collect()
    }

    /// Who has this token.
    pub(crate) fn annotator(&self, token: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row("SELECT name FROM annotator WHERE token = ?1", [token], |row| row.get(0))
            .optional()
            .map_err(|error| self.failed(error))
    }

    /// The annotator's list in their order.
    pub(crate) fn list(&self, annotator: &str) -> Result<Vec<TaskLine>, StoreError> {
        let mut statement = self
            .connection
            .prepare(
                "SELECT a.place, json_extract(i.content, '$.question'), d.form IS NOT NULL, \
                 (SELECT CASE WHEN e.preference IS NULL AND NOT EXISTS \
                   (SELECT 1 FROM review r WHERE r.evaluation = e.id) THEN 2 ELSE 1 END FROM evaluation e \
                  WHERE e.assignment = a.id ORDER BY e.id DESC LIMIT 1) \
                 FROM assignment a JOIN instance i ON i.id = a.instance \
                 LEFT JOIN draft d ON d.assignment = a.id WHERE a.annotator = ?1 ORDER BY a.place",
            )
            .map_err(|error| self.failed(error))?;
        statement
            .query_map([annotator], |row| {
                let state = state(row.get(2)?, row.get(3)?);
                Ok(TaskLine { place: row.get(0)?, question: row.get(1)?, state })
            })
            .and_then(Iterator::collect)
            .map_err(|error| self.failed(error))
    }

    /// What stands at `place` of the annotator's list.
    pub(crate) fn task(&self, annotator: &str, place: u32) -> Result<Option<Task>, StoreError> {
        type Raw = (i64, String, bool, Option<String>, Option<u32>, Option<u8>);
        let raw: Option<Raw> = self
            .connection
            .query_row(
                "SELECT a.id, i.content, a.flipped, d.form, d.revision, \
                 (SELECT CASE WHEN e.preference IS NULL AND NOT EXISTS \
                   (SELECT 1 FROM review r WHERE r.evaluation = e.id) THEN 2 ELSE 1 END FROM evaluation e \
                  WHERE e.assignment = a.id ORDER BY e.id DESC LIMIT 1) \
                 FROM assignment a JOIN instance i ON i.id = a.instance \
                 LEFT JOIN draft d ON d.assignment = a.id WHERE a.annotator = ?1 AND a.place = ?2",
                params![annotator, place],
                |row| {
                    let (draft, done) = (row.get(3)?, row.get(5)?);
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, draft, row.get(4)?, done))
                },
            )
            .optional()
            .map_err(|error| self.failed(error))?;
        let Some((assignment, content, flipped, draft, revision, done)) = raw else {
            return Ok(None);
        };
        let state = state(draft.is_some(), done);
        let form = draft.map_or(Ok(Form::default()), |draft| self.parse(&draft))?;
        let instance = self.parse(&content)?;
        let revision = revision.unwrap_or(0);
        Ok(Some(Task { assignment, instance, flipped, form, revision, state }))
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| {
            let message = format!("what it holds cannot be read: {error}");
            StoreError::new(StoreErrorKind::Damaged, &self.path, message)
        })
    }

    fn rows<T>(
        &self,
        sql: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.connection
            .prepare(sql)
            .and_then(|mut statement| statement.query_map([], read)?.collect())
            .map_err(|error| self.failed(error))
    }
}

fn state(begun: bool, done: Option<u8>) -> State {
    match done {
        Some(1) => State::Submitted,
        Some(_) => State::Skipped,
        None if begun => State::Begun,
        None => State::Open,
    }
}

/// `None` when a value is not one that was ever written.
fn evaluation(row: &Row<'_>) -> rusqlite::Result<Option<Evaluation>> {
    let text = |at: usize| row.get::<_, Option<String>>(at);
    let ratings = match (text(3)?, text(4)?, text(5)?) {
        (Some(first), Some(second), Some(preference)) => {
            let (Some(first), Some(second)) = (scores(&first), scores(&second)) else {
                return Ok(None);
            };
            let preference = match preference.as_str() {
                "first" => Preference::First,
                "tie" => Preference::Tie,
                "second" => Preference::Second,
                _ => return Ok(None),
            };
            Some(Ratings { scores: [first, second], preference })
        }
        (None, None, None) => None,
        _ => return Ok(None),
    };
    let quality = match text(7)?.as_deref() {
        None => None,
        Some("good") => Some(Quality::Good),
        Some("bad") => Some(Quality::Bad),
        Some("hard") => Some(Quality::Hard),
        Some(_) => return Ok(None),
    };
    Ok(Some(Evaluation {
        annotator: row.get(0)?,
        instance: row.get(1)?,
        flipped: row.get(2)?,
        ratings,
        review: None,
        explanation: row.get(6)?,
        quality,
        comment: row.get(8)?,
        started: row.get(9)?,
        submitted: row.get(10)?,
        version: row.get(11)?,
        latest: row.get(12)?,
    }))
}

/// `4 5 3 4`.
fn scores(text: &str) -> Option<Scores> {
    let read: Vec<u8> = text.split(' ').map(|score| score.parse().ok()).collect::<Option<_>>()?;
    let scores: Scores = read.try_into().ok()?;
    scores.iter().all(|score| (1..=5).contains(score)).then_some(scores)
}
