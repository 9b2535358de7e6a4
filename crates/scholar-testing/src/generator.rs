//! A language model that says what the test wrote.

use std::collections::{BTreeMap, VecDeque};

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator, GeneratorInfo, GeneratorStrength,
    Message, OnText, PortError, PortErrorKind, TokenUsage,
};

/// What a scripted generator does at one call.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The whole text, finished.
    Text(String),
    /// This text, cut by the token limit.
    Cut(String),
    /// This text, and the rest withheld by the server.
    Filtered(String),
    /// A failure of this kind with this message.
    Fails(PortErrorKind, String),
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

type Answerer = Box<dyn Fn(&GenerationRequest) -> Reply + Send + Sync>;
type AnyAnswerer = Box<dyn Fn(&GenerationRequest) -> Option<Reply> + Send + Sync>;

/// Replies by the purpose of the request.
///
/// First come the queued replies of that purpose in order, then its standing answerer, then the answerer of all other purposes,
/// else a `Rejected` error that names the purpose. Records every request.
pub struct ScriptedGenerator {
    info: GeneratorInfo,
    queues: Mutex<BTreeMap<String, VecDeque<Reply>>>,
    answerers: BTreeMap<String, Answerer>,
    otherwise: Option<AnyAnswerer>,
    choices: Mutex<BTreeMap<String, VecDeque<Vec<f32>>>>,
    requests: Mutex<Vec<GenerationRequest>>,
}

impl ScriptedGenerator {
    /// A strong remote model with a context of 32,768 tokens and no known price, without replies yet.
    pub fn new(model: &str) -> Self {
        let info = GeneratorInfo {
            model: model.to_owned(),
            context_tokens: 32_768,
            strength: GeneratorStrength::Strong,
            local: false,
            usd_per_million: None,
        };
        Self {
            info,
            queues: Mutex::new(BTreeMap::new()),
            answerers: BTreeMap::new(),
            otherwise: None,
            choices: Mutex::new(BTreeMap::new()),
            requests: Mutex::new(Vec::new()),
        }
    }

    /// Changes what it says about itself.
    #[must_use]
    pub fn with_info(mut self, change: impl FnOnce(&mut GeneratorInfo)) -> Self {
        change(&mut self.info);
        self
    }

    /// Queues one reply to requests with this purpose.
    #[must_use]
    pub fn reply(self, purpose: &str, reply: impl Into<Reply>) -> Self {
        self.queues.lock().entry(purpose.to_owned()).or_default().push_back(reply.into());
        self
    }

    /// Answers requests with this purpose once their queue is empty.
    #[must_use]
    pub fn answer(
        mut self,
        purpose: &str,
        answer: impl Fn(&GenerationRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        self.answerers.insert(purpose.to_owned(), Box::new(answer));
        self
    }

    /// Answers requests of purposes without a queued reply or an answerer of their own: purposes may name what they are for,
    /// like the node of a tree. `None` refuses.
    #[must_use]
    pub fn otherwise(
        mut self,
        answer: impl Fn(&GenerationRequest) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        self.otherwise = Some(Box::new(answer));
        self
    }

    /// Queues the result of one [`Generator::choose`] with this purpose; the last one queued stands for ever.
    #[must_use]
    pub fn choice(self, purpose: &str, log_probabilities: &[f32]) -> Self {
        let mut choices = self.choices.lock();
        choices.entry(purpose.to_owned()).or_default().push_back(log_probabilities.to_vec());
        drop(choices);
        self
    }

    /// Every request in order, those that failed included.
    pub fn requests(&self) -> Vec<GenerationRequest> {
        self.requests.lock().clone()
    }

    /// The purposes of [`ScriptedGenerator::requests`].
    pub fn purposes(&self) -> Vec<String> {
        self.requests.lock().iter().map(|request| request.purpose.clone()).collect()
    }

    /// Queued replies nobody asked for, by purpose; a scenario that ran as written leaves none.
    pub fn unused(&self) -> Vec<(String, usize)> {
        let queues = self.queues.lock();
        let left = queues.iter().filter(|(_, queue)| !queue.is_empty());
        left.map(|(purpose, queue)| (purpose.clone(), queue.len())).collect()
    }

    fn next_reply(&self, request: &GenerationRequest) -> Reply {
        let queued = self.queues.lock().get_mut(&request.purpose).and_then(VecDeque::pop_front);
        queued
            .or_else(|| self.answerers.get(&request.purpose).map(|answer| answer(request)))
            .or_else(|| self.otherwise.as_ref().and_then(|answer| answer(request)))
            .unwrap_or_else(|| {
                Reply::Fails(
                    PortErrorKind::Rejected,
                    format!("no scripted reply for purpose `{}`", request.purpose),
                )
            })
    }
}

#[async_trait]
impl Generator for ScriptedGenerator {
    fn info(&self) -> &GeneratorInfo {
        &self.info
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        self.requests.lock().push(request.clone());
        let (text, finish) = match self.next_reply(request) {
            Reply::Text(text) => (text, FinishReason::Stop),
            Reply::Cut(text) => (text, FinishReason::Length),
            Reply::Filtered(text) => (text, FinishReason::Filtered),
            Reply::Fails(kind, message) => return Err(PortError::new(kind, message)),
        };
        text.split_inclusive(' ').for_each(on_text);
        let prompt: usize = request.messages.iter().map(|m| self.count_tokens(&m.content)).sum();
        let usage = TokenUsage {
            prompt: u64::try_from(prompt).unwrap_or(u64::MAX),
            completion: u64::try_from(self.count_tokens(&text)).unwrap_or(u64::MAX),
        };
        let model = self.info.model.clone();
        Ok(Generation { text, finish, usage, usage_estimated: false, model })
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        let _ = messages;
        let mut scripted = self.choices.lock();
        let queue = scripted.get_mut(purpose).filter(|queue| !queue.is_empty());
        let Some(queue) = queue else {
            let message = format!("no scripted choice for purpose `{purpose}`");
            return Err(PortError::new(PortErrorKind::Rejected, message));
        };
        let values = if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() };
        values.filter(|values| values.len() == choices.len()).ok_or_else(|| {
            let message =
                format!("the scripted choice for `{purpose}` is not for {} options", choices.len());
            PortError::new(PortErrorKind::Corrupt, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::{OutputShape, Sampling};

    use super::*;

    fn request(purpose: &str) -> GenerationRequest {
        GenerationRequest {
            purpose: purpose.to_owned(),
            messages: vec![Message::user("two words")],
            sampling: Sampling::greedy(10),
            shape: OutputShape::Text,
        }
    }

    #[tokio::test]
    async fn queue_first_then_answerer_then_refusal() {
        let model = ScriptedGenerator::new("m")
            .reply("draft", "first one")
            .reply("draft", Reply::Cut("second".to_owned()))
            .answer("draft", |request| Reply::Text(format!("{} turns", request.messages.len())))
            .choice("judge", &[-0.1, -2.0])
            .otherwise(|request| request.purpose.strip_prefix("tag ").map(Reply::from));
        let seen = Mutex::new(String::new());
        let first = model
            .generate(&request("draft"), &|text| seen.lock().push_str(text))
            .await
            .expect("first");
        assert_eq!((first.text.as_str(), seen.lock().as_str()), ("first one", "first one"));
        assert_eq!(first.usage, TokenUsage { prompt: 2, completion: 2 });
        let second = model.generate(&request("draft"), &|_| {}).await.expect("second");
        assert_eq!(second.finish, FinishReason::Length);
        assert_eq!(
            model.generate(&request("draft"), &|_| {}).await.expect("third").text,
            "1 turns"
        );
        let error = model.generate(&request("other"), &|_| {}).await.expect_err("unknown purpose");
        assert_eq!(error.kind(), PortErrorKind::Rejected);
        let tagged = model.generate(&request("tag 1.2"), &|_| {}).await.expect("any other purpose");
        assert_eq!(tagged.text, "1.2");
        assert_eq!(model.purposes(), ["draft", "draft", "draft", "other", "tag 1.2"]);
        assert!(model.unused().is_empty());
        assert_eq!(model.choose("judge", &[], &["yes", "no"]).await.expect("chosen"), [-0.1, -2.0]);
        assert!(model.choose("judge", &[], &["yes"]).await.is_err());
        assert!(model.choose("other", &[], &["yes"]).await.is_err());
    }
}
