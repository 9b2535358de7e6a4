//! A program in memory: runs wait at a gate until the test lets them through.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};
use scholar_core::{
    Answer, AnswerMode, AnswerRole, AnswerSentence, Citation, Explanation, Gate, Notice, Quote,
    Ranked, Reference, RerankScore, RetrievalScore, Retrieved, Support, TokenUsage, Verdict,
};
use scholar_formats::exploration::{NoveltyMap, NoveltyRow};
use scholar_formats::export::{ReportLine, ReportPart};
use scholar_pipeline::budget::Estimate;
use scholar_pipeline::screen::PersonDecision;
use scholar_pipeline::{Event, Evidence, EvidenceNumber};
use scholar_server::backend::{
    AnswerView, Backend, BackendError, BackendErrorKind, DatastoreOffer, Expected, Export,
    ExportKind, ExportPart, JobRequest, JobTask, ModeOffer, Offer, Reserved, ReviewRequest,
    ReviewView, RunState, RunSummary, RunUsage, RunView,
};

use serde_json::json;

/// What a question may begin with to be answered otherwise than well.
const FAILS: &str = "fail";
const PANICS: &str = "panic";

/// See the module.
#[derive(Default)]
pub(crate) struct FakeBackend {
    pub(crate) runs: Mutex<BTreeMap<String, RunView>>,
    /// Runs that may go on.
    pub(crate) let_through: (Mutex<usize>, Condvar),
    pub(crate) n_secrets: AtomicUsize,
    pub(crate) n_reserved: AtomicUsize,
    /// Questions in the order in which they were answered, with whether they were taken up.
    pub(crate) answered: Mutex<Vec<(String, bool)>>,
    pub(crate) released: Mutex<Vec<String>>,
    /// What the papers and the model say, in place of ordinary words.
    pub(crate) words: Option<String>,
    /// US dollars that a run costs.
    pub(crate) cost_usd: f64,
    pub(crate) notices: Vec<Notice>,
    /// Where files are put that people send.
    pub(crate) incoming: Mutex<Option<std::path::PathBuf>>,
    /// Files that were added.
    pub(crate) added: Mutex<Vec<std::path::PathBuf>>,
    /// What people decided on papers.
    pub(crate) decided: Mutex<Vec<PersonDecision>>,
    /// What was said of two papers.
    pub(crate) settled: Mutex<Vec<(String, String, bool)>>,
}

impl FakeBackend {
    /// Lets `n` runs come to their end.
    pub(crate) fn open(&self, n: usize) {
        *self.let_through.0.lock() += n;
        self.let_through.1.notify_all();
    }

    /// The events of a run, in order.
    pub(crate) fn events(&self) -> Vec<Event> {
        let (mut passage, paper) = scholar_testing::corpus::passages().swap_remove(0);
        let mut paper = (*paper).clone();
        if let Some(words) = &self.words {
            paper.title.clone_from(words);
            passage.title.clone_from(words);
            passage.section.clone_from(words);
            passage.text = format!("{words}{}", passage.text);
        }
        let retrieved = Retrieved {
            passage,
            paper: Arc::new(paper),
            score: RetrievalScore::new(0.5).expect("a number"),
            explanation: Explanation::new(0.5, "hybrid: dense and lexical"),
            found_by: Vec::new(),
        };
        let ranked = Ranked {
            retrieved,
            score: RerankScore::new(0.9).expect("a number"),
            explanation: Explanation::new(0.9, "late interaction"),
        };
        let evidence = vec![Evidence { number: EvidenceNumber(0), ranked }];
        vec![
            Event::Started { mode: AnswerMode::Evidence, reason: "no language model".to_owned() },
            Event::Pooled { candidates: 9, kept: 7 },
            Event::Ranked { reranker: "mini".to_owned(), evidence },
            Event::Sentence { sentence: self.answer("?").sentences.swap_remove(0) },
            Event::Finished { abstained: false },
        ]
    }

    /// The answer of a run.
    pub(crate) fn answer(&self, question: &str) -> Answer {
        if let Some(words) = &self.words {
            return scholar_testing::hostile::answer(words);
        }
        let (passage, paper) = scholar_testing::corpus::passages().swap_remove(0);
        let text: String = passage.text.chars().take(60).collect();
        let quote = Quote {
            reference: Citation(1),
            passage_id: passage.id,
            start: 0,
            end: 60,
            text: text.clone(),
            places: Vec::new(),
        };
        let finding = AnswerSentence {
            heading: Some("Short answer".to_owned()),
            citations: vec![Citation(1)],
            support: Some(Support {
                verdict: Verdict::Supported,
                score: 0.9,
                judge: "mini".to_owned(),
            }),
            quotes: vec![quote],
            gates: vec![Gate::L0, Gate::L1, Gate::L2],
            verbatim: true,
            role: Some(AnswerRole::Finding),
            ..AnswerSentence::uncited(text)
        };
        let gap = AnswerSentence {
            heading: Some("Limits".to_owned()),
            role: Some(AnswerRole::Gap),
            ..AnswerSentence::uncited("Nothing is reported on cost.")
        };
        Answer {
            question: question.to_owned(),
            mode: AnswerMode::Evidence,
            abstained: false,
            sentences: vec![finding, gap],
            references: vec![Reference {
                number: Citation(1),
                paper_id: paper.id.clone(),
                title: paper.title.clone(),
                authors: paper.authors.clone(),
                year: paper.year,
                venue: paper.venue.clone(),
                url: paper.url.clone(),
                doi: paper.doi().map(str::to_owned),
                found_by: Vec::new(),
            }],
            sections: Vec::new(),
            table: None,
            missing: Vec::new(),
            outline: None,
            tree: None,
        }
    }

    /// What a review says beside its sentences: the first of them, and what failed.
    fn review(&self, request: &ReviewRequest) -> ReviewView {
        let words = self.words.as_deref().unwrap_or("Method M1");
        let line = |sentence: AnswerSentence, label: &str| ReportLine {
            label: Some(label.to_owned()),
            sentence,
        };
        let said = AnswerSentence::uncited(words);
        let first = self.answer("?").sentences.swap_remove(0);
        let map = NoveltyMap {
            title: words.to_owned(),
            columns: vec![("C1".to_owned(), words.to_owned())],
            rows: vec![NoveltyRow {
                name: words.to_owned(),
                title: words.to_owned(),
                number: Some(1),
                whole: Some(0.5),
                cells: vec![Some(0.25)],
            }],
        };
        let parts = vec![
            ReportPart { heading: "At a glance".to_owned(), ..ReportPart::default() },
            ReportPart {
                heading: words.to_owned(),
                below: true,
                about: Some(words.to_owned()),
                lines: vec![line(first, words), line(said, "Failed")],
                map: Some(map),
            },
        ];
        let document = json!({"schema": "openscholar.review/1", "idea": {"text": request.idea}});
        ReviewView { parts, table: None, document }
    }

    fn summary(&self, run: &str, request: &JobRequest, state: RunState) -> RunSummary {
        RunSummary {
            id: run.to_owned(),
            started: self.now().to_string(),
            state,
            verb: request.kind(),
            question: title(request),
            follows: request.follows().map(str::to_owned),
            datastore: "forty".to_owned(),
            error: None,
        }
    }
}

impl Backend for FakeBackend {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_790_000_000).expect("a time")
    }

    fn secret(&self) -> Result<String, BackendError> {
        Ok(format!("secret{:026}", self.n_secrets.fetch_add(1, Ordering::Relaxed)))
    }

    fn offer(&self) -> Result<Offer, BackendError> {
        let name = self.words.clone().unwrap_or_else(|| "forty".to_owned());
        let examples = vec![self.words.clone().unwrap_or_else(|| "What is attention?".to_owned())];
        let mode = |name: &str, is_available| ModeOffer {
            name: name.to_owned(),
            title: name.to_owned(),
            summary: name.to_owned(),
            is_available,
        };
        Ok(Offer {
            datastores: vec![DatastoreOffer { name, papers: 40, passages: 40, examples }],
            modes: vec![mode("evidence", true), mode("generative", false)],
            sources: Vec::new(),
            generator: None,
            offline: true,
        })
    }

    fn estimate(&self, _request: &JobRequest) -> Result<Expected, BackendError> {
        let usage = TokenUsage::default();
        Ok(Expected::exactly(Estimate { calls: 0, usage, usd: Some(0.0) }))
    }

    fn reserve(&self, request: &JobRequest) -> Result<Reserved, BackendError> {
        if request.datastore() == Some("none") {
            return Err(BackendError::new(BackendErrorKind::Invalid, "there is no such datastore"));
        }
        let run = format!("run-{}", self.n_reserved.fetch_add(1, Ordering::Relaxed));
        Ok(Reserved { run, title: title(request) })
    }

    fn release(&self, run: &str) {
        self.released.lock().push(run.to_owned());
    }

    fn carry_out(&self, task: JobTask) -> Result<RunUsage, BackendError> {
        let JobTask { run, request, resume, observer, cancel } = task;
        let asked = title(&request);
        self.answered.lock().push((asked.clone(), resume));
        panics_if_wanted(&asked);
        let events = self.events();
        for event in &events[..3] {
            observer.on_event(event);
        }
        let mut left = self.let_through.0.lock();
        while *left == 0 {
            if cancel.reason().is_some() {
                let view = RunView {
                    summary: self.summary(&run, &request, RunState::Interrupted),
                    answer: None,
                    review: None,
                    events: events[..3].to_vec(),
                };
                self.runs.lock().insert(run, view);
                return Err(BackendError::new(BackendErrorKind::Interrupted, "interrupted"));
            }
            let pause = std::time::Duration::from_millis(5);
            self.let_through.1.wait_for(&mut left, pause);
        }
        *left -= 1;
        drop(left);
        if asked.starts_with(FAILS) {
            let usage = TokenUsage { prompt: 500, completion: 200 };
            observer.on_event(&Event::Generated { purpose: "draft".to_owned(), usage });
            return Err(BackendError::new(BackendErrorKind::Unavailable, "the server is away")
                .with_hint("start it"));
        }
        for event in &events[3..] {
            observer.on_event(event);
        }
        let usage = RunUsage { cost_usd: Some(self.cost_usd), ..RunUsage::default() };
        let answer = AnswerView {
            answer: self.answer(&asked),
            notices: self.notices.clone(),
            usage: usage.clone(),
        };
        let summary = self.summary(&run, &request, RunState::Done);
        let review = match &request {
            JobRequest::Ask(_) | JobRequest::Table(_) | JobRequest::Screening(_) => None,
            JobRequest::Review(request) => Some(self.review(request)),
        };
        self.runs.lock().insert(run, RunView { summary, answer: Some(answer), review, events });
        Ok(usage)
    }

    fn price(&self, usage: TokenUsage) -> Option<f64> {
        Some(usage.total() as f64 / 1_000.0)
    }

    fn runs(&self, limit: usize) -> Result<Vec<RunSummary>, BackendError> {
        Ok(self.runs.lock().values().rev().take(limit).map(|run| run.summary.clone()).collect())
    }

    fn run(&self, run: &str) -> Result<RunView, BackendError> {
        let none = || BackendError::not_found("there is no such run");
        self.runs.lock().get(run).cloned().ok_or_else(none)
    }

    fn idea(&self, name: &str, bytes: Vec<u8>) -> Result<String, BackendError> {
        let invalid =
            |why: &str| BackendError::new(BackendErrorKind::Invalid, format!("{name} {why}"));
        if bytes.starts_with(b"%PDF") {
            return Err(invalid("holds pictures of pages and no text"));
        }
        String::from_utf8(bytes).map_err(|_| invalid("is no text"))
    }

    fn export(
        &self,
        run: &str,
        kind: ExportKind,
        part: Option<ExportPart>,
    ) -> Result<Export, BackendError> {
        self.run(run)?;
        Ok(Export { bytes: format!("{} {part:?}", kind.name()).into_bytes() })
    }
}

/// What a job is called: the question, or the first line of what was sent.
fn title(request: &JobRequest) -> String {
    match request {
        JobRequest::Ask(request) => request.question.trim().to_owned(),
        JobRequest::Review(request) => {
            let first = request.idea.trim().lines().next().unwrap_or_default();
            first.trim_start_matches(['#', ' ']).to_owned()
        }
        JobRequest::Table(request) => request.title(),
        JobRequest::Screening(request) => request.title.clone(),
    }
}

fn panics_if_wanted(question: &str) {
    assert!(!question.starts_with(PANICS), "as the test wants");
}
