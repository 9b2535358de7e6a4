//! The embedded text generator: GGUF files of the families in [`families`], computed on the CPU of this machine.
//!
//! [`GgufGenerator::open`] maps and checks the file; weights are read where it has them, and nothing is arranged or
//! copied. A thread of its own answers one call after the other, and computes on a pool that it owns. Prompts that begin
//! like an earlier one are read from where they differ; replies that repeat their prompt are guessed from it and checked
//! several tokens at a time.
//!
//! Useful for headings, keyword queries, yes/no judgements and joining sentences without any server.

mod activations;
mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod chat;
mod constraint;
mod engine;
mod error;
mod families;
mod file;
mod formats;
mod guess;
mod kernels;
mod limits;
mod model;
mod panels;
mod pool;
mod products;
mod repetition;
mod reply;
mod rope;
mod rows;
mod sampler;
mod session;
#[cfg(test)]
mod tests;
mod vocab;
mod weights;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::channel::{mpsc, oneshot};
use scholar_core::{
    Generation, GenerationRequest, Generator, GeneratorInfo, GeneratorStrength, Message, OnText,
    OutputShape, PortError, PortErrorKind,
};
use tracing::Span;

pub use error::GgufError;
pub use limits::{KernelSpeed, MachineLimits, kernel_speeds, machine_limits};
pub use model::TokenWork;
pub use session::GgufSession;

use chat::ChatTemplate;
use engine::Engine;
use families::Hyperparameters;
use file::GgufFile;
use model::Model;
use panels::Level;
use pool::Pool;
use products::Machine;
use vocab::Vocabulary;
use worker::{Event, Job, JobKind, Worker};

/// Weights from which on a model is trusted with the paper's loop. The smallest published model that ran it has
/// 8 billion; what was measured here below that is in the documentation of [`GeneratorStrength::Small`].
const STRONG_WEIGHTS: usize = 7_000_000_000;

/// How a GGUF file is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufOptions {
    /// Name in traces and replies; `None` takes the file's.
    pub name: Option<String>,
    /// Longest prompt plus reply, in tokens; a model's own limit wins if it is lower. Memory for keys and values is
    /// taken as sequences grow.
    pub context_tokens: usize,
    /// Sequences whose keys and values are kept for prompts that begin alike, at least 1.
    pub kept_sequences: usize,
    /// Calls that may wait before further ones are refused as rate limited.
    pub queue: usize,
    /// Threads that compute; `None` takes one per core.
    pub threads: Option<usize>,
    /// Bytes that keys and values may take; `None` is without limit.
    pub memory_bytes: Option<u64>,
    /// Whether replies are guessed from their prompts. What is written is the same with and without.
    pub lookup: bool,
}

impl GgufOptions {
    /// For one person's machine: 8192 tokens hold ten passages, instructions and a long answer; two sequences let
    /// short judgements pass without losing a long evidence prompt.
    pub fn laptop() -> Self {
        Self {
            name: None,
            context_tokens: 8192,
            kept_sequences: 2,
            queue: 64,
            threads: None,
            memory_bytes: None,
            lookup: true,
        }
    }
}

/// A [`Generator`] in this process. Dropping the future of a call stops it at the next token; dropping the generator
/// stops its thread.
pub struct GgufGenerator {
    info: GeneratorInfo,
    path: PathBuf,
    vocabulary: Arc<Vocabulary>,
    template: ChatTemplate,
    worker: Worker,
}

impl std::fmt::Debug for GgufGenerator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GgufGenerator").field("path", &self.path).finish_non_exhaustive()
    }
}

impl GgufGenerator {
    /// Opens and checks the file at `path` and starts the generator thread.
    ///
    /// # Errors
    /// [`GgufError`], naming the file: it cannot be opened, is damaged or truncated, has an architecture, tokenizer, format of
    /// weights or chat template that is not supported, or its context needs more memory than it may take.
    /// [`GgufError::hint`] says what to do.
    pub fn open(path: &Path, options: GgufOptions) -> Result<Self, GgufError> {
        let GgufOptions { name, queue, lookup, .. } = options.clone();
        let file = GgufFile::open(path)?;
        let vocabulary = Arc::new(Vocabulary::read(&file)?);
        let template = ChatTemplate::read(&file, &vocabulary)?;
        let n_weights = weights(&file);
        let name = name
            .or_else(|| file.text_opt("general.name").map(str::to_owned))
            .or_else(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
            .unwrap_or_else(|| "gguf".to_owned());
        let model = load(&file, &options)?;
        let context_tokens = model.positions();
        let slots = options.kept_sequences.max(1);
        let engine =
            Engine::new(model, Arc::clone(&vocabulary), Arc::from(name.as_str()), slots, lookup);
        let worker = Worker::start(engine, queue)
            .map_err(|source| GgufError::Spawn { path: path.to_owned(), source })?;
        let strength = if n_weights >= STRONG_WEIGHTS {
            GeneratorStrength::Strong
        } else {
            GeneratorStrength::Small
        };
        let info = GeneratorInfo {
            model: name,
            context_tokens,
            strength,
            local: true,
            usd_per_million: Some((0.0, 0.0)),
        };
        Ok(Self { info, path: path.to_owned(), vocabulary, template, worker })
    }

    /// The tokens of a conversation, checked to leave room for `reserve` more.
    fn prompt(&self, messages: &[Message], reserve: usize) -> Result<Vec<u32>, PortError> {
        let rejected = |message: &str| PortError::new(PortErrorKind::Rejected, message);
        if messages.is_empty() {
            return Err(rejected("the conversation has no message"));
        }
        let pieces = self.template.render(messages).map_err(|source| {
            rejected("the conversation cannot be written for the local model").with_source(source)
        })?;
        let tokens = self
            .vocabulary
            .encode_prompt(&pieces)
            .map_err(|source| rejected("the prompt cannot be tokenized").with_source(source))?;
        let limit = self.info.context_tokens;
        if tokens.is_empty() || tokens.len() + reserve > limit {
            let message = format!(
                "the prompt has {} tokens, the local model reads {limit} with its reply",
                tokens.len()
            );
            return Err(rejected(&message)
                .with_hint("give fewer or shorter passages, or raise the context length"));
        }
        Ok(tokens)
    }
}

/// What a GGUF file says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufSummary {
    /// Family, as the file calls it.
    pub architecture: &'static str,
    /// Numbers in all tensors.
    pub weights: u64,
    /// Longest sequence the model was made for, in tokens.
    pub context_tokens: usize,
    /// Bytes of all its files.
    pub bytes: u64,
}

impl GgufSummary {
    /// Reads the head of a file; the weights are not looked at.
    ///
    /// # Errors
    /// As [`GgufGenerator::open`], for what the head has.
    pub fn read(path: &Path) -> Result<Self, GgufError> {
        let file = GgufFile::open(path)?;
        let shape = Hyperparameters::read(&file)?;
        Ok(Self {
            architecture: shape.architecture,
            weights: weights(&file) as u64,
            context_tokens: shape.context,
            bytes: file.maps.iter().map(|map| map.len() as u64).sum(),
        })
    }
}

fn weights(file: &GgufFile) -> usize {
    file.tensors.values().map(|tensor| tensor.dims.iter().product::<usize>()).sum()
}

/// The model of `file`, with a pool of threads.
fn load(file: &GgufFile, options: &GgufOptions) -> Result<Model, GgufError> {
    let shape = Hyperparameters::read(file)?;
    let context_tokens = options.context_tokens.clamp(1, shape.context);
    let sequences = options.kept_sequences.max(1);
    let needed = (shape.position_bytes() * context_tokens * sequences) as u64;
    if let Some(free) = options.memory_bytes.filter(|free| *free < needed) {
        let (path, tokens) = (file.path.clone(), context_tokens);
        return Err(GgufError::Memory { path, tokens, needed, free });
    }
    let threads = options
        .threads
        .or_else(|| std::thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1);
    let pool = Pool::start(threads, "scholar-generator-pool")
        .map_err(|source| GgufError::Spawn { path: file.path.clone(), source })?;
    Model::load(file, shape, context_tokens, Machine { pool, level: Level::detect() })
}

#[async_trait]
impl Generator for GgufGenerator {
    fn info(&self) -> &GeneratorInfo {
        &self.info
    }

    fn count_tokens(&self, text: &str) -> usize {
        // A text the tokenizer refuses cannot be sent either; one token per byte is the most it could ever be.
        self.vocabulary.encode(text).map_or(text.len(), |tokens| tokens.len())
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let prompt = self.prompt(&request.messages, 1)?;
        let schema = match &request.shape {
            OutputShape::Text => None,
            OutputShape::Json { schema, .. } => Some(schema.clone()),
        };
        let (events, mut received) = mpsc::unbounded();
        let work = JobKind::Generate { sampling: request.sampling.clone(), schema, events };
        self.worker.submit(Job { prompt, work, span: Span::current() })?;
        while let Some(event) = received.next().await {
            match event {
                Event::Text(text) => on_text(&text),
                Event::Done(result) => return result,
            }
        }
        Err(worker::gone())
    }

    /// Log-probability of each of `choices` as the start of the reply, normalised over the choices. A choice that
    /// begins another one has the other's probability too: end both with a full stop to tell them apart.
    async fn choose(
        &self,
        _purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        let rejected = |message: String| PortError::new(PortErrorKind::Rejected, message);
        let choices = choices
            .iter()
            .map(|choice| match self.vocabulary.encode(choice) {
                Ok(tokens) if !tokens.is_empty() => Ok(tokens),
                _ => Err(rejected(format!("`{choice}` is not a valid choice"))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let Some(longest) = choices.iter().map(Vec::len).max() else {
            return Err(rejected("there is nothing to choose from".to_owned()));
        };
        let prompt = self.prompt(messages, longest)?;
        let (done, received) = oneshot::channel();
        let work = JobKind::Choose { choices, done };
        self.worker.submit(Job { prompt, work, span: Span::current() })?;
        received.await.unwrap_or_else(|_| Err(worker::gone()))
    }
}
