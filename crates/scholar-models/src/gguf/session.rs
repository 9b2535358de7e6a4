//! Direct access to tokens and logits, for measurements: no template, no sampling, no queue.

use std::path::Path;
use std::time::Instant;

use super::activations::Rounded;
use super::engine::READ_CHUNK;
use super::error::GgufError;
use super::file::GgufFile;
use super::formats::Format;
use super::model::{Cache, Model, TokenWork};
use super::panels::{Blocks, Level, OUTPUTS, Panel};
use super::pool::Pool;
use super::vocab::Vocabulary;
use super::{GgufOptions, load};

/// One sequence of a model.
pub struct GgufSession {
    model: Model,
    vocabulary: Vocabulary,
    cache: Cache,
    position: usize,
}

impl std::fmt::Debug for GgufSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GgufSession").field("position", &self.position).finish_non_exhaustive()
    }
}

/// What this machine would allow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineLimits {
    /// Products of quantised weights and activations in a second, weights and activations lying in the caches.
    pub products_per_s: f64,
    /// Bytes that are read from memory in a second.
    pub bytes_per_s: f64,
}

impl GgufSession {
    /// Opens a file as [`super::GgufGenerator::open`] does.
    ///
    /// # Errors
    /// As there, but for the chat template, which is not looked at.
    pub fn open(path: &Path, options: &GgufOptions) -> Result<Self, GgufError> {
        let file = GgufFile::open(path)?;
        let vocabulary = Vocabulary::read(&file)?;
        let model = load(&file, options)?;
        let cache = model.cache();
        Ok(Self { model, vocabulary, cache, position: 0 })
    }

    /// The tokens of plain text.
    ///
    /// # Errors
    /// When the tokenizer refuses it.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        self.vocabulary.encode(text)
    }

    /// What tokens print.
    pub fn text(&self, tokens: &[u32]) -> String {
        let bytes: Vec<u8> =
            tokens.iter().flat_map(|token| self.vocabulary.bytes(*token)).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Forgets all positions from `position` on.
    pub fn truncate(&mut self, position: usize) {
        self.position = self.position.min(position);
    }

    /// Reads tokens as a prompt is read; the logits after the last one, `[vocabulary]`.
    ///
    /// # Panics
    /// Without tokens, or beyond the context.
    pub fn read(&mut self, tokens: &[u32]) -> Vec<f32> {
        self.check(tokens);
        let (last, before) = tokens
            .chunks(READ_CHUNK)
            .collect::<Vec<_>>()
            .split_last()
            .map(|(last, before)| (*last, before.to_vec()))
            .expect("there are tokens");
        for chunk in before {
            self.model.read(&mut self.cache, chunk, self.position);
            self.position += chunk.len();
        }
        let logits = self.model.forward(&mut self.cache, last, self.position);
        self.position += last.len();
        logits
    }

    /// As [`Self::read`], with the logits after every token, `[tokens, vocabulary]`.
    ///
    /// # Panics
    /// As there.
    pub fn read_all(&mut self, tokens: &[u32]) -> Vec<f32> {
        self.check(tokens);
        let logits = self.model.forward_all(&mut self.cache, tokens, self.position);
        self.position += tokens.len();
        logits
    }

    fn check(&self, tokens: &[u32]) {
        let vocabulary = self.model.vocabulary();
        assert!(
            !tokens.is_empty()
                && self.position + tokens.len() <= self.cache.capacity()
                && tokens.iter().all(|token| (*token as usize) < vocabulary),
            "tokens are of the vocabulary and within the context"
        );
    }

    /// Entries of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.model.vocabulary()
    }

    /// What a token costs.
    pub fn work(&self) -> TokenWork {
        self.model.work()
    }
}

/// Measures what `threads` threads of this machine would allow: the fastest of a few short rounds each.
///
/// # Errors
/// When no thread can be started.
pub fn machine_limits(threads: usize) -> std::io::Result<MachineLimits> {
    const ROUNDS: usize = 5;
    let pool = Pool::start(threads, "scholar-limits")?;
    let level = Level::detect();
    let (inputs, rows) = (1024, 64);
    // Codes, scales and minima of any value will do: their products take the same time.
    let bytes = vec![0x11; OUTPUTS * inputs / 256 * 144];
    let weights = Blocks { format: Format::Q4K, bytes: &bytes, outputs: OUTPUTS, inputs };
    let mut x = Rounded::default();
    x.take(&vec![1.0; rows * inputs], inputs, 256, &pool);
    let passes = 200;
    let fastest = |work: &(dyn Fn(usize) + Sync)| {
        let seconds = (0..ROUNDS).map(|_| {
            let began = Instant::now();
            pool.run(pool.threads(), work);
            began.elapsed().as_secs_f64()
        });
        seconds.fold(f64::INFINITY, f64::min)
    };
    let seconds = fastest(&|_| {
        let mut panel = Panel::new();
        let mut sum = 0.0;
        panel.repeat(level, &weights, &x, passes, &mut sum);
        std::hint::black_box(sum);
    });
    let products = (OUTPUTS * inputs * rows * passes * pool.threads()) as f64;
    let mut memory = memmap2::MmapMut::map_anon(384 << 20)?;
    // In the pages that weights are mapped in at best; without them the limit would be that of looking pages up.
    #[cfg(target_os = "linux")]
    if let Err(error) = memory.advise(memmap2::Advice::HugePage) {
        tracing::debug!(%error, "memory is measured in small pages");
    }
    memory.fill(1);
    let part = memory.len() / pool.threads();
    let read = fastest(&|i| {
        std::hint::black_box(crate::kernels::sum_bytes(
            crate::simd::SimdLevel::detect(),
            &memory[i * part..][..part],
        ));
    });
    Ok(MachineLimits {
        products_per_s: products / seconds,
        bytes_per_s: (part * pool.threads()) as f64 / read,
    })
}
