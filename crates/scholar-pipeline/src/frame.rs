//! What every mode of a run shares: ports behind the meter, the log, and model calls that report themselves.

use std::sync::Arc;

use parking_lot::Mutex;
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator, Message, Notice, NoticeKind,
    OutputShape, PortError, PortErrorKind, Question,
};

mod stream;

use crate::ask::AskError;
use crate::budget::{BudgetExceeded, Meter};
use crate::config::{AskConfig, CallSampling};
use crate::event::{Event, Observer};
use crate::evidence::EvidenceRegistry;
use crate::outcome::Outcome;
use crate::ports::Ports;
use crate::prompts::Prompt;
use crate::proof::ProofConfig;
use stream::MarkerFilter;

/// Shortest reply worth a call, in tokens. Ours.
const SHORTEST_REPLY: usize = 64;

/// Passes every event on, and keeps all but text pieces. The same notice is given once: several queries meet the same
/// trouble.
pub(crate) struct Log<'a> {
    observer: &'a dyn Observer,
    kept: Mutex<(Vec<Event>, Vec<Notice>)>,
}

impl<'a> Log<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, kept: Mutex::default() }
    }
}

impl Observer for Log<'_> {
    fn on_event(&self, event: &Event) {
        if let Event::Noticed { notice } = event {
            let notices = &mut self.kept.lock().1;
            if notices.contains(notice) {
                return;
            }
            notices.push(notice.clone());
        }
        self.observer.on_event(event);
        let mut kept = self.kept.lock();
        if !matches!(event, Event::Text { .. }) {
            kept.0.push(event.clone());
        }
    }
}

/// One run.
pub(crate) struct Frame<'a> {
    /// Ports whose generator is metered.
    pub(crate) ports: Ports,
    pub(crate) question: &'a Question,
    pub(crate) config: &'a AskConfig,
    pub(crate) log: Log<'a>,
    meter: Arc<Meter>,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(
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
        Self { ports, question, config, log: Log::new(observer), meter }
    }

    pub(crate) fn emit(&self, event: &Event) {
        self.log.on_event(event);
    }

    pub(crate) fn notice(&self, notice: Notice) {
        self.emit(&Event::Noticed { notice });
    }

    /// Shows evidence that joined the registry outside of a ranking, so that the trace holds every number.
    pub(crate) fn report_added(&self, registry: &EvidenceRegistry, before: usize, by: &str) {
        let evidence = registry.items()[before.min(registry.len())..].to_vec();
        if !evidence.is_empty() {
            self.emit(&Event::Ranked { reranker: by.to_owned(), evidence });
        }
    }

    /// The proof's choices, searching where the run searches.
    pub(crate) fn proof_config(&self) -> ProofConfig {
        let mut proof = self.config.proof.clone();
        proof.filter = self.config.retrieval.filter.clone();
        proof.search_mode = self.config.retrieval.search_mode;
        proof
    }

    /// The limit of the budget that was met, if one was.
    pub(crate) fn over_budget(&self) -> Option<BudgetExceeded> {
        self.meter.exceeded()
    }

    pub(crate) fn generator(&self) -> Result<&Arc<dyn Generator>, AskError> {
        let mode = self.config.mode;
        self.ports.generator.as_ref().ok_or(AskError::NoGenerator { mode })
    }

    /// Asks the generator; says so before and after, and passes text on as it comes.
    pub(crate) async fn call(
        &self,
        purpose: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        call: CallSampling,
    ) -> Result<Generation, PortError> {
        let demonstrate = self.demonstrates();
        let messages = prompt.render(demonstrate, values);
        let generator = self.ports.generator.as_ref().ok_or_else(|| {
            PortError::new(PortErrorKind::Unavailable, "no language model is configured")
        })?;
        let mut sampling = self.config.sampling.of(call);
        sampling.max_tokens = fit(generator.as_ref(), &messages, sampling.max_tokens)?;
        let request = GenerationRequest {
            purpose: purpose.to_owned(),
            messages,
            sampling,
            shape: OutputShape::Text,
        };
        let prompt = Some(prompt.fingerprint());
        self.emit(&Event::Generating { purpose: purpose.to_owned(), prompt });
        let filter = Mutex::new(MarkerFilter::default());
        let show = |delta: String| {
            if !delta.is_empty() {
                self.emit(&Event::Text { purpose: purpose.to_owned(), delta });
            }
        };
        let on_text = |piece: &str| {
            let delta = filter.lock().push(piece);
            show(delta);
        };
        let reply = generator.generate(&request, &on_text).await?;
        show(filter.into_inner().rest());
        self.emit(&Event::Generated { purpose: purpose.to_owned(), usage: reply.usage });
        self.warn_of_cut(purpose, reply.finish);
        Ok(reply)
    }

    fn demonstrates(&self) -> bool {
        use crate::config::{Demonstrations, Task};
        match self.config.demonstrations {
            Demonstrations::Paper => {
                matches!(self.config.task, Task::ClaimFull | Task::BooleanQuestionFull)
            }
            Demonstrations::Never => false,
            Demonstrations::Always => true,
        }
    }

    fn warn_of_cut(&self, purpose: &str, finish: FinishReason) {
        let notice = match (finish, self.over_budget()) {
            (FinishReason::Stop, _) => return,
            (FinishReason::Length, Some(exceeded)) => {
                Notice::new(NoticeKind::Budget, format!("the {purpose} was cut: {exceeded}"))
                    .with_hint("raise the budget")
            }
            (FinishReason::Length, None) => Notice::new(
                NoticeKind::Truncated,
                format!("the {purpose} met the model's reply limit and is cut"),
            )
            .with_hint("raise the reply limit of this call"),
            (FinishReason::Filtered, _) => Notice::new(
                NoticeKind::ModelReply,
                format!("the server withheld a part of the {purpose}"),
            ),
        };
        self.notice(notice);
    }

    /// Says that a step was left out because its model call failed.
    pub(crate) fn skipped(&self, step: &str, error: &PortError) {
        let kind = match BudgetExceeded::behind(error) {
            Some(_) => NoticeKind::Budget,
            None => NoticeKind::Skipped,
        };
        let mut notice = Notice::new(kind, format!("{step} left out: {error}"));
        notice.hint = error.hint().map(str::to_owned);
        self.notice(notice);
    }

    /// The result with everything that was logged.
    pub(crate) fn finish<T>(self, value: T) -> Outcome<T> {
        let spent = self.meter.spent();
        let (trace, notices) = self.log.kept.into_inner();
        Outcome { value, notices, trace, spent }
    }
}

/// Tokens a prompt may have if the reply shall have room.
pub(crate) fn prompt_room(generator: &dyn Generator, call: CallSampling) -> usize {
    let context = generator.info().context_tokens;
    context.saturating_sub(call.max_tokens.min(context / 4))
}

/// The reply limit that fits into the model's context behind `messages`.
fn fit(generator: &dyn Generator, messages: &[Message], wanted: usize) -> Result<usize, PortError> {
    let prompt: usize = messages.iter().map(|m| generator.count_tokens(&m.content)).sum();
    let info = generator.info();
    let room = info.context_tokens.saturating_sub(prompt);
    if room < SHORTEST_REPLY.min(wanted) {
        let message = format!(
            "the prompt of {prompt} tokens does not fit the {} tokens of {}",
            info.context_tokens, info.model
        );
        return Err(PortError::new(PortErrorKind::Rejected, message)
            .with_hint("lower top_n or use a model with a longer context"));
    }
    Ok(wanted.min(room))
}
