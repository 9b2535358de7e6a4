//! Which language model runs in this process: by free memory, and by the speed that was measured last.

use scholar_models::catalog::{CatalogEntry, Purpose};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::config::DEFAULT_GENERATOR;
use crate::error::CommandError;

/// Tokens of the context that memory is counted for.
const CONTEXT: u64 = 8192;
/// Part of free memory that a model may take.
const SHARE: f64 = 0.8;
/// Part of what the machine allows that is reached (docs/results/generator.md).
const REACHED: f64 = 0.6;
/// Tokens of a single-pass answer: prompt and reply.
const ANSWER: [f64; 2] = [1633.0, 147.0];
/// The longest that an answer may take where there is a choice.
const PATIENCE_S: f64 = 60.0;
/// Below this many millions of weights a model is for tests.
const SMALLEST_MILLIONS: u64 = 1000;

/// What the machine was measured to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speed {
    pub(crate) products_per_s: f64,
    pub(crate) bytes_per_s: f64,
}

/// What a model would be like here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Estimate<'a> {
    pub(crate) name: &'a str,
    pub(crate) weights_millions: u64,
    pub(crate) memory_bytes: u64,
    /// Whether it fits into free memory; `true` where that is not known.
    pub(crate) fits: bool,
    pub(crate) read_per_s: Option<f64>,
    pub(crate) written_per_s: Option<f64>,
    /// Seconds for a single-pass answer.
    pub(crate) answer_s: Option<f64>,
    pub(crate) tested: &'a str,
}

impl<'a> Estimate<'a> {
    /// Of a generator; `None` for other models, and those whose needs are not stated.
    pub(crate) fn of(
        entry: &'a CatalogEntry,
        free: Option<u64>,
        speed: Option<Speed>,
    ) -> Option<Self> {
        let needs = entry.needs.as_ref().filter(|_| entry.purpose == Purpose::Generator)?;
        let memory_bytes = needs.memory_bytes(CONTEXT);
        let weights = needs.weights_millions as f64 * 1e6;
        let read_per_s = speed.map(|speed| REACHED * speed.products_per_s / weights);
        let written_per_s =
            speed.map(|speed| REACHED * speed.bytes_per_s / needs.file_bytes as f64);
        let answer_s = read_per_s
            .zip(written_per_s)
            .map(|(read, written)| ANSWER[0] / read + ANSWER[1] / written);
        Some(Self {
            name: &entry.name,
            weights_millions: needs.weights_millions,
            memory_bytes,
            fits: free.is_none_or(|free| memory_bytes as f64 <= SHARE * free as f64),
            read_per_s,
            written_per_s,
            answer_s,
            tested: &needs.tested,
        })
    }
}

/// A model, and why it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// The largest model that fits and answers within a minute; the fastest that fits where none does; the default where none fits.
pub(crate) fn choose(estimates: &[Estimate<'_>]) -> Choice {
    let fitting: Vec<_> = estimates
        .iter()
        .filter(|estimate| estimate.fits && estimate.weights_millions >= SMALLEST_MILLIONS)
        .collect();
    let quick = fitting
        .iter()
        .filter(|estimate| estimate.answer_s.is_none_or(|seconds| seconds <= PATIENCE_S))
        .max_by_key(|estimate| estimate.weights_millions);
    let seconds = |estimate: &Estimate<'_>| {
        estimate.answer_s.map_or_else(String::new, |seconds| {
            format!(", and an answer takes about {seconds:.0} s")
        })
    };
    if let Some(estimate) = quick {
        let reason = format!(
            "it is the largest whose {:.1} GB fit into free memory{}",
            estimate.memory_bytes as f64 / 1e9,
            seconds(estimate)
        );
        return Choice { name: estimate.name.to_owned(), reason };
    }
    match fitting.iter().min_by_key(|estimate| estimate.weights_millions) {
        Some(estimate) => Choice {
            name: estimate.name.to_owned(),
            reason: format!("larger ones are slower still{}", seconds(estimate)),
        },
        None => Choice {
            name: DEFAULT_GENERATOR.to_owned(),
            reason: "none fits into free memory, and it is the smallest that answers".to_owned(),
        },
    }
}

/// Keeps a measurement for later choices.
pub(crate) fn remember(app: &App, speed: Speed) -> Result<(), CommandError> {
    let folder = app.home.data().join("bench");
    fs_err::create_dir_all(&folder).map_err(|source| CommandError::unwritable(&folder, source))?;
    crate::runs::write_atomic(
        &folder.join(FILE),
        format!("{}\n", serde_json::json!(speed)).as_bytes(),
    )
}

/// The last measurement; `None` before the first, or where it cannot be read.
pub(crate) fn remembered(app: &App) -> Option<Speed> {
    let text = fs_err::read_to_string(app.home.data().join("bench").join(FILE)).ok()?;
    serde_json::from_str(&text).ok()
}

const FILE: &str = "machine-limits.json";

#[cfg(test)]
mod tests {
    use scholar_models::catalog::Catalog;

    use super::*;

    const FAST: Speed = Speed { products_per_s: 2e12, bytes_per_s: 1e11 };
    const SLOW: Speed = Speed { products_per_s: 1e11, bytes_per_s: 1.2e10 };

    fn chosen(free: Option<u64>, speed: Option<Speed>) -> Choice {
        let catalog = Catalog::builtin();
        let estimates: Vec<_> =
            catalog.entries().iter().filter_map(|entry| Estimate::of(entry, free, speed)).collect();
        choose(&estimates)
    }

    #[test]
    fn memory_and_speed_decide_and_the_reason_names_both() {
        let large = chosen(Some(64 << 30), Some(FAST));
        assert_eq!(large.name, "llama-3.1-openscholar-8b");
        assert!(large.reason.contains("fit into free memory, and an answer takes about"));
        let middle = chosen(Some(6 << 30), Some(FAST));
        assert_eq!(middle.name, "qwen3-4b-instruct-2507-q4_k_m");
        assert_eq!(chosen(Some(64 << 30), Some(SLOW)).name, DEFAULT_GENERATOR);
        assert_eq!(chosen(Some(2 << 30), None).name, DEFAULT_GENERATOR);
        let none = chosen(Some(1 << 20), None);
        assert_eq!(none.name, DEFAULT_GENERATOR);
        assert!(none.reason.contains("none fits"));
    }
}
