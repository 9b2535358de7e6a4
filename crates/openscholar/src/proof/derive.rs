//! From an outcome to the files of a run: the same function writes them and makes them again.

use std::collections::BTreeMap;

use scholar_core::{Answer, Notice, Question};
use scholar_pipeline::config::AskConfig;
use scholar_pipeline::proof::canonical::{as_written, digest, sha256};
use scholar_pipeline::proof::{ProofDatastore, ProofFile, ProofRecord};
use scholar_pipeline::record::{Journal, Replayer};
use scholar_pipeline::{Event, Outcome};
use scholar_review::{Idea, Review, ReviewConfig};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{CommandError, Context as _, ErrorKind};
use crate::output::document::{ANSWER_SCHEMA, AnswerDocument, Timings, Usage};
use crate::output::markdown;
use crate::output::review::ReviewDocument;
use crate::runs::{
    EVENTS_FILE, FOUND_FILE, JOURNAL_FILE, REQUESTS_FILE, REVIEW_FILE, RunRecord, Verb,
};

/// Files of a run that a proof binds by the digest of their bytes.
pub(crate) const BOUND_FILES: [&str; 5] =
    [JOURNAL_FILE, EVENTS_FILE, FOUND_FILE, REQUESTS_FILE, REVIEW_FILE];

/// What is in an answer and follows from no journal: clock, wallet, and notices of what stands behind the ports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    /// Notices from before the algorithm began.
    pub(crate) notices_before: Vec<Notice>,
    /// Notices from after it ended.
    pub(crate) notices_after: Vec<Notice>,
    /// What it took.
    pub(crate) usage: Usage,
    /// How long it took.
    pub(crate) timings_ms: Timings,
}

impl Recorded {
    /// Of a document that has no record of its own: the notices around those that the algorithm gave.
    pub(crate) fn of_document(document: &AnswerDocument, from_algorithm: &[Notice]) -> Self {
        let all = &document.notices;
        let n = from_algorithm.len();
        let place = (0..=all.len().saturating_sub(n))
            .find(|at| all.get(*at..at + n) == Some(from_algorithm));
        let at = place.unwrap_or(all.len().saturating_sub(n));
        Self {
            notices_before: all[..at].to_vec(),
            notices_after: all.get(at + n..).unwrap_or_default().to_vec(),
            usage: document.usage.clone(),
            timings_ms: document.timings_ms.clone(),
        }
    }

    /// The document of `answer`, with the notices that the algorithm gave.
    pub(crate) fn document(&self, answer: Answer, notices: &[Notice], run: &str) -> AnswerDocument {
        let all = [&self.notices_before, notices, &self.notices_after].concat();
        AnswerDocument {
            schema: ANSWER_SCHEMA.to_owned(),
            answer,
            notices: all,
            usage: self.usage.clone(),
            timings_ms: self.timings_ms.clone(),
            run: run.to_owned(),
        }
    }
}

/// What a proof says of its run.
pub(crate) struct Facts<'a> {
    /// `run.json`.
    pub(crate) record: &'a RunRecord,
    /// The datastore's newest commit when the question was asked.
    pub(crate) commit: Option<u64>,
    /// What follows from no journal.
    pub(crate) recorded: Recorded,
    /// Digests of [`BOUND_FILES`], those that are there.
    pub(crate) files: BTreeMap<String, String>,
}

/// The files of an answer, as text.
pub(crate) struct Derived {
    pub(crate) answer_json: String,
    pub(crate) answer_md: String,
    pub(crate) proof_json: String,
}

/// The files of `document`, whose answer `trace` led to.
pub(crate) fn files(
    document: &AnswerDocument,
    trace: &[Event],
    facts: Facts<'_>,
) -> Result<Derived, CommandError> {
    let Facts { record, commit, recorded, files } = facts;
    let written = |source: serde_json::Error| {
        CommandError::new(ErrorKind::Bug, "cannot write the proof").with_source(source)
    };
    let datastore = commit.map(|commit| ProofDatastore { name: record.datastore.clone(), commit });
    let proof = ProofRecord {
        run: record.id.clone(),
        version: record.version.clone(),
        datastore,
        recorded: as_written(&recorded).map_err(written)?,
        answer: digest(document).map_err(written)?,
        settings: digest(&record.config).map_err(written)?,
        files,
    };
    let proof = ProofFile::of(&document.answer, trace, proof).map_err(written)?;
    Ok(Derived {
        answer_json: pretty(document).map_err(written)?,
        answer_md: markdown_of(document),
        proof_json: pretty(&proof).map_err(written)?,
    })
}

/// `answer.md`.
pub(crate) fn markdown_of(document: &AnswerDocument) -> String {
    format!("{}\n", markdown::render(document))
}

/// `events.jsonl`.
pub(crate) fn events_of(trace: &[Event]) -> serde_json::Result<String> {
    trace.iter().map(|event| serde_json::to_string(event).map(|line| line + "\n")).collect()
}

/// A value as the JSON files of a run are written: indented, a line break at the end.
pub(crate) fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}

/// Digests of those of [`BOUND_FILES`] that `read` has.
pub(crate) fn file_digests<B: AsRef<[u8]>>(
    read: impl Fn(&str) -> Option<B>,
) -> BTreeMap<String, String> {
    let digest = |name: &str| Some((name.to_owned(), sha256(read(name)?.as_ref())));
    BOUND_FILES.iter().filter_map(|name| digest(name)).collect()
}

/// What a replay comes to.
pub(crate) struct Replay {
    /// The answer; of a review, its sentences.
    pub(crate) outcome: Outcome<Answer>,
    /// The review as a whole, where the run is one.
    pub(crate) review: Option<Review>,
}

/// `review.json` of a run whose sentences are `document`.
pub(crate) fn review_of(review: Review, document: &AnswerDocument) -> ReviewDocument {
    ReviewDocument {
        review,
        notices: document.notices.clone(),
        usage: document.usage.clone(),
        timings_ms: document.timings_ms.clone(),
        run: document.run.clone(),
    }
}

/// Runs the algorithm again on the replies that `journal` holds.
pub(crate) async fn replay(record: &RunRecord, journal: &Journal) -> Result<Replay, CommandError> {
    if record.verb == Verb::Review {
        return replay_review(record, journal).await;
    }
    let question =
        Question::new(&record.question).map_err(|error| CommandError::user(error.to_string()))?;
    let config: AskConfig = serde_json::from_value(Value::clone(&record.config)).user(|| {
        format!("the settings of run {} are of another version of the program", record.id)
    })?;
    let replayer = Replayer::new(journal).user(|| "the journal cannot be replayed".to_owned())?;
    let outcome = scholar_pipeline::ask(&replayer.ports(), &question, &config, &()).await;
    check_misses(&replayer)?;
    Ok(Replay { outcome: outcome?, review: None })
}

fn check_misses(replayer: &Replayer) -> Result<(), CommandError> {
    match replayer.misses().first() {
        None => Ok(()),
        Some(miss) => Err(CommandError::user(format!(
            "the replay needed a reply that is not in the journal: {miss}"
        ))
        .with_hint("the run was written by another version of the program, or was altered")),
    }
}

/// A review, made again.
async fn replay_review(record: &RunRecord, journal: &Journal) -> Result<Replay, CommandError> {
    let idea = Idea::read(&record.question)?;
    let config: ReviewConfig = serde_json::from_value(Value::clone(&record.config)).user(|| {
        format!("the settings of run {} are of another version of the program", record.id)
    })?;
    let replayer = Replayer::new(journal).user(|| "the journal cannot be replayed".to_owned())?;
    let outcome = scholar_review::review(&replayer.ports(), &idea, &config, &()).await;
    check_misses(&replayer)?;
    let Outcome { value, notices, trace, spent } = outcome?;
    let outcome = Outcome { value: value.to_answer(), notices, trace, spent };
    Ok(Replay { outcome, review: Some(value) })
}
