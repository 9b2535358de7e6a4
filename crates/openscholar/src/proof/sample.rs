//! Whole runs made in memory by fakes over the papers of the tests: what `bench fuzz` and tests break.

use std::collections::BTreeMap;
use std::sync::Arc;

use scholar_core::{Answer, AnswerMode, PaperMeta, Passage, Question};
use scholar_pipeline::config::PosthocMode;
use scholar_pipeline::proof::LexicalAttributor;
use scholar_pipeline::record::Recorder;
use scholar_pipeline::{AskConfig, Outcome, Ports};
use scholar_testing::{MemoryRetriever, Reply, ScriptedGenerator, corpus};

use super::check::RunFiles;
use super::derive::{self, Facts, Recorded};
use crate::error::{CommandError, Context as _};
use crate::output::document::{Timings, Usage};
use crate::runs::{
    ANSWER_FILE, EVENTS_FILE, FOUND_FILE, JOURNAL_FILE, MARKDOWN_FILE, PROOF_FILE, RUN_FILE,
    RUN_SCHEMA, RunRecord, RunStatus, WiringRecord,
};

/// A question the papers answer.
const QUESTION: &str =
    "How can hallucinations in neural machine translation be explained, reduced and detected?";

/// A draft that cites, one that does not exist among its citations, and a sentence without any.
const DRAFT: &str = "[Response_Start]Exposure bias is partially to blame for hallucinations in neural machine translation [0]. \
Training with Minimum Risk Training avoids exposure bias and can mitigate hallucinations [0][999].

Annotated data with hallucinations is extremely scarce. Hallucinations come from Mars [1].[Response_End]";

/// Commit that the proofs of samples name.
pub(crate) const COMMIT: u64 = 7;

/// A passage with its paper.
pub(crate) type Stored = (Passage, Arc<PaperMeta>);

/// Which kind of run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Verbatim sentences in code.
    Evidence,
    /// Written by a model and verified.
    Generative,
    /// The model alone.
    NoRetrieval,
    /// Nothing was found.
    Abstained,
}

/// A run of this kind over `passages`.
pub(crate) async fn run(kind: Kind, passages: Vec<Stored>) -> Result<RunFiles, CommandError> {
    let mut config = AskConfig::paper();
    config.retrieval.keywords = 0;
    config.ranking.top_n = 4;
    config.posthoc = PosthocMode::None;
    config.mode = match kind {
        Kind::Evidence | Kind::Abstained => AnswerMode::Evidence,
        Kind::Generative => AnswerMode::Generative,
        Kind::NoRetrieval => AnswerMode::NoRetrieval,
    }
    .into();
    if kind == Kind::Evidence {
        // There is no encoder here, and without one the best paper of these is not probable enough.
        config.evidence.abstain_below = 0.0;
    }
    let retriever = MemoryRetriever::new(passages);
    let mut ports = Ports::new(Arc::new(retriever), Arc::new(LexicalAttributor::new()));
    if matches!(kind, Kind::Generative | Kind::NoRetrieval) {
        let model = ScriptedGenerator::new("scripted")
            .answer("draft", |_| Reply::Text(DRAFT.to_owned()))
            .answer("closed_book", |_| Reply::Text(DRAFT.to_owned()))
            .answer("feedback", |_| Reply::Text("none".to_owned()));
        ports.generator = Some(Arc::new(model));
    }
    let asked = if kind == Kind::Abstained { "xyzzy qwertz?" } else { QUESTION };
    let question = Question::new(asked).map_err(|error| CommandError::user(error.to_string()))?;
    let recorder = Recorder::new(&ports);
    let outcome = scholar_pipeline::ask(recorder.ports(), &question, &config, &()).await?;
    let record = record(&question, &config)?;
    files(&record, &recorder.journal().to_json_lines(), outcome)
}

/// The run over the papers of the tests.
pub(crate) async fn of(kind: Kind) -> Result<RunFiles, CommandError> {
    run(kind, corpus::passages().into_iter().collect()).await
}

fn record(question: &Question, config: &AskConfig) -> Result<RunRecord, CommandError> {
    Ok(RunRecord {
        schema: RUN_SCHEMA.to_owned(),
        id: "20260101-120000-abcd".to_owned(),
        started: "2026-01-01T12:00:00Z".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        status: RunStatus::Done,
        error: None,
        verb: crate::runs::Verb::Ask,
        question: question.as_str().to_owned(),
        follows: None,
        datastore: "papers".to_owned(),
        models: BTreeMap::new(),
        wiring: WiringRecord::default(),
        config: serde_json::to_value(config).user(|| "cannot write the settings".to_owned())?,
    })
}

/// The files of a run as `ask` writes them.
pub(crate) fn files(
    record: &RunRecord,
    journal: &str,
    outcome: Outcome<Answer>,
) -> Result<RunFiles, CommandError> {
    let unwritten = || "cannot write the run".to_owned();
    let notice = |text: &str| scholar_core::Notice::new(scholar_core::NoticeKind::Weak, text);
    let recorded = Recorded {
        notices_before: vec![notice("the model is small")],
        notices_after: vec![notice("[1] is corrected")],
        usage: Usage { calls: outcome.spent.calls, cost_usd: Some(0.125), ..Usage::default() },
        timings_ms: Timings { open: 12, total: 3456, ..Timings::default() },
    };
    let Outcome { value, notices, trace, spent: _ } = outcome;
    let document = recorded.document(value, &notices, &record.id);
    let mut files = BTreeMap::from([
        (RUN_FILE.to_owned(), derive::pretty(record).user(unwritten)?.into_bytes()),
        (JOURNAL_FILE.to_owned(), journal.as_bytes().to_vec()),
        (EVENTS_FILE.to_owned(), derive::events_of(&trace).user(unwritten)?.into_bytes()),
        (FOUND_FILE.to_owned(), Vec::new()),
    ]);
    let digests = derive::file_digests(|name| files.get(name));
    let facts = Facts { record, commit: Some(COMMIT), recorded, files: digests };
    let derived = derive::files(&document, &trace, facts)?;
    files.insert(ANSWER_FILE.to_owned(), derived.answer_json.into_bytes());
    files.insert(MARKDOWN_FILE.to_owned(), derived.answer_md.into_bytes());
    files.insert(PROOF_FILE.to_owned(), derived.proof_json.into_bytes());
    Ok(RunFiles(files))
}
