//! What every mode of a run is given: ports behind the meter, the question, the choices, and one log.

use std::sync::Arc;

use scholar_core::{
    Answer, AnswerMode, AnswerSentence, Notice, NoticeKind, PortError, Question, Reference,
};

use crate::budget::{BudgetExceeded, Meter};
use crate::config::AskConfig;
use crate::event::{Event, Observer};
use crate::evidence::EvidenceRegistry;
use crate::outcome::Outcome;
use crate::ports::Ports;

mod call;
mod log;
mod stream;

pub(crate) use call::prompt_room;
pub use log::Log;

/// One run: what a mode may use, and where it reports.
pub struct Frame<'a> {
    /// Ports whose generator is metered.
    pub ports: Ports,
    /// The question of the run.
    pub question: &'a Question,
    /// Every choice of the run.
    pub config: &'a AskConfig,
    /// What passes events on and keeps them.
    pub log: Log<'a>,
    mode: AnswerMode,
    meter: Arc<Meter>,
}

impl<'a> Frame<'a> {
    /// A run that begins now. The account is that of the ports, if they bring one, else one with the configured budget.
    pub fn new(
        mode: AnswerMode,
        ports: &Ports,
        question: &'a Question,
        config: &'a AskConfig,
        observer: &'a dyn Observer,
    ) -> Self {
        let mut ports = ports.clone();
        let clock = Arc::clone(&ports.clock);
        let meter = match &ports.meter {
            Some(shared) => shared.read_by(clock),
            None => Meter::start(config.budget, clock),
        };
        ports.generator = ports.generator.map(|generator| meter.wrap(generator));
        Self { ports, question, config, log: Log::new(observer), mode, meter }
    }

    /// The same run about another question.
    pub(crate) fn about<'b>(self, question: &'b Question) -> Frame<'b>
    where
        'a: 'b,
    {
        let Self { ports, question: _, config, log, mode, meter } = self;
        Frame { ports, question, config, log, mode, meter }
    }

    /// An empty registry that knows which references earlier answers of the thread have.
    pub(crate) fn registry(&self) -> EvidenceRegistry {
        let earlier = self.config.thread.as_ref();
        EvidenceRegistry::after(earlier.map(|thread| thread.references.clone()).unwrap_or_default())
    }

    /// The same run under other choices, whose events go to `observer` alone.
    pub(crate) fn aside<'b>(
        &'b self,
        config: &'b AskConfig,
        observer: &'b dyn Observer,
    ) -> Frame<'b> {
        Frame {
            ports: self.ports.clone(),
            question: self.question,
            config,
            log: Log::new(observer),
            mode: self.mode,
            meter: Arc::clone(&self.meter),
        }
    }

    /// Tells the observer and keeps it for the trace.
    pub fn emit(&self, event: &Event) {
        self.log.on_event(event);
    }

    /// Tells a person something; the same notice is given once.
    pub fn notice(&self, notice: Notice) {
        self.emit(&Event::Noticed { notice });
    }

    /// Shows evidence that joined the registry outside of a ranking, so that the trace holds every number.
    pub fn report_added(&self, registry: &EvidenceRegistry, before: usize, by: &str) {
        let evidence = registry.items()[before.min(registry.len())..].to_vec();
        if !evidence.is_empty() {
            self.emit(&Event::Ranked { reranker: by.to_owned(), evidence });
        }
    }

    /// The limit of the budget that was met, if one was.
    pub fn over_budget(&self) -> Option<BudgetExceeded> {
        self.meter.exceeded()
    }

    /// Says that a step was left out because its model call failed.
    pub fn skipped(&self, step: &str, error: &PortError) {
        self.notice(left_out(step, error));
    }

    /// The answer of these sentences, which says that there is none where nothing is referred to.
    pub fn answer(&self, sentences: Vec<AnswerSentence>, references: Vec<Reference>) -> Answer {
        Answer {
            question: self.question.as_str().to_owned(),
            mode: self.mode,
            abstained: references.is_empty() || self.cites_nothing_of_thread(&sentences),
            sentences,
            references,
            sections: Vec::new(),
            table: None,
            missing: Vec::new(),
            outline: None,
            tree: None,
        }
    }

    /// Whether only the references of earlier answers are there, and no sentence cites one.
    fn cites_nothing_of_thread(&self, sentences: &[AnswerSentence]) -> bool {
        self.config.thread.is_some() && sentences.iter().all(|one| one.citations.is_empty())
    }

    /// An answer that says there is none.
    pub fn no_answer(&self) -> Answer {
        self.answer(Vec::new(), Vec::new())
    }

    /// The same, with the reason for a person.
    pub fn abstain(&self, why: &str) -> Answer {
        self.notice(Notice::new(NoticeKind::InsufficientEvidence, why));
        self.no_answer()
    }

    /// The result with everything that was logged.
    pub fn finish<T>(self, value: T) -> Outcome<T> {
        let spent = self.meter.spent();
        let (trace, notices) = self.log.into_kept();
        Outcome { value, notices, trace, spent }
    }
}

/// A notice that a step was left out because its call failed.
pub(crate) fn left_out(step: &str, error: &PortError) -> Notice {
    let kind = match BudgetExceeded::behind(error) {
        Some(_) => NoticeKind::Budget,
        None => NoticeKind::Skipped,
    };
    let mut notice = Notice::new(kind, format!("{step} left out: {error}"));
    notice.hint = error.hint().map(str::to_owned);
    notice
}
