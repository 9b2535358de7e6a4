//! Model calls that report themselves.

use parking_lot::Mutex;
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator, Message, Notice, NoticeKind,
    OutputShape, PortError, PortErrorKind, Sampling,
};
use serde_json::Value;

use super::Frame;
use super::stream::MarkerFilter;
use crate::config::{CallSampling, Demonstrations, Task};
use crate::event::Event;
use crate::prompts::Prompt;

/// Shortest reply worth a call, in tokens. Ours.
const SHORTEST_REPLY: usize = 64;

impl Frame<'_> {
    /// Asks the generator for text; says so before and after, and passes text on as it comes.
    ///
    /// # Errors
    /// When there is no generator, the prompt does not fit its context, or the call fails.
    pub async fn call(
        &self,
        purpose: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        call: CallSampling,
    ) -> Result<Generation, PortError> {
        let reply = self.call_shaped(purpose, prompt, values, call, OutputShape::Text).await?;
        self.warn_of_cut(purpose, reply.finish);
        Ok(reply)
    }

    /// As [`Frame::call`], for a reply of any shape, of which the caller says what it means that it is cut.
    ///
    /// # Errors
    /// As [`Frame::call`].
    pub(crate) async fn call_shaped(
        &self,
        purpose: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        call: CallSampling,
        shape: OutputShape,
    ) -> Result<Generation, PortError> {
        let messages = prompt.render(self.demonstrates(), values);
        let mut sampling = self.config.sampling.of(call);
        sampling.max_tokens = fit(self.generator()?, &messages, sampling.max_tokens)?;
        let request = GenerationRequest { purpose: purpose.to_owned(), messages, sampling, shape };
        self.generate(prompt, &request).await
    }

    /// Asks the generator for JSON that follows `schema`, at temperature 0 and without worked examples: what a small model
    /// does passably.
    ///
    /// # Errors
    /// When there is no generator or the call fails.
    pub async fn call_json(
        &self,
        purpose: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        schema: Value,
        max_tokens: usize,
    ) -> Result<Generation, PortError> {
        let request = GenerationRequest {
            purpose: purpose.to_owned(),
            messages: prompt.render(false, values),
            sampling: Sampling::greedy(max_tokens),
            shape: OutputShape::Json { name: purpose.to_owned(), schema },
        };
        self.generate(prompt, &request).await
    }

    fn generator(&self) -> Result<&dyn Generator, PortError> {
        self.ports.generator.as_deref().ok_or_else(|| {
            PortError::new(PortErrorKind::Unavailable, "no language model is configured")
        })
    }

    async fn generate(
        &self,
        prompt: Prompt,
        request: &GenerationRequest,
    ) -> Result<Generation, PortError> {
        let generator = self.generator()?;
        let purpose = request.purpose.clone();
        let prompt = Some(prompt.fingerprint());
        self.emit(&Event::Generating { purpose: purpose.clone(), prompt });
        let filter = Mutex::new(MarkerFilter::default());
        let show = |delta: String| {
            if !delta.is_empty() {
                self.emit(&Event::Text { purpose: purpose.clone(), delta });
            }
        };
        let on_text = |piece: &str| {
            let delta = filter.lock().push(piece);
            show(delta);
        };
        let reply = generator.generate(request, &on_text).await?;
        show(filter.into_inner().rest());
        self.emit(&Event::Generated { purpose: purpose.clone(), usage: reply.usage });
        Ok(reply)
    }

    fn demonstrates(&self) -> bool {
        match self.config.demonstrations {
            Demonstrations::Paper => {
                matches!(self.config.task, Task::ClaimFull | Task::BooleanQuestionFull)
            }
            Demonstrations::Never => false,
            Demonstrations::Always => true,
        }
    }

    pub(crate) fn warn_of_cut(&self, purpose: &str, finish: FinishReason) {
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
            (FinishReason::Repetition, _) => Notice::new(
                NoticeKind::Truncated,
                format!("the model repeated itself: the {purpose} was ended there"),
            ),
            (FinishReason::Filtered, _) => Notice::new(
                NoticeKind::ModelReply,
                format!("the server withheld a part of the {purpose}"),
            ),
        };
        self.notice(notice);
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
