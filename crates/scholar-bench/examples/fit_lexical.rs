//! Fits the constants of `crates/scholar-pipeline/src/proof/lexical.rs` and prints them with what they reach.
//!
//! `cargo run -p scholar-bench --example fit_lexical -- DIR`, with `DIR` as for `openscholar bench attribution`.
//! Logistic regression on the training cases, each set counting as much as any other (ridge 1.0 on all but the bias,
//! Newton's method, deterministic).

#![expect(clippy::print_stdout, reason = "a script: what it prints is its result")]

use std::error::Error;
use std::path::Path;

use scholar_bench::attribution::data::{self, CaseSet, Label, Split};
use scholar_bench::attribution::evidence_of;
use scholar_bench::attribution::statistics::{Scored, auroc, balanced_accuracy, ece};
use scholar_bench::statistics::logistic::{Observation, fit, ridge};
use scholar_pipeline::proof::features::{FEATURE_NAMES, Features, N_FEATURES, features};
use scholar_pipeline::proof::lexical::probability;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: fit_lexical DIR")?;
    let dir = Path::new(&dir);
    let train = seen(&data::claim_sets(dir, Split::Train)?)?;
    let dev = seen(&data::claim_sets(dir, Split::Dev)?)?;
    let total: usize = train.iter().map(|(_, rows)| rows.len()).sum();
    let mut rows: Vec<Observation<N_FEATURES>> = Vec::new();
    for (_, set) in &train {
        let weight = total as f64 / (train.len() * set.len()) as f64;
        rows.extend(set.iter().map(|(f, label)| Observation {
            x: f.values.map(f64::from),
            y: f64::from(u8::from(*label == Label::Supported)),
            weight,
        }));
    }
    let weights = fit(&rows, &ridge(1.0)).map(|w| w as f32);
    for (name, weight) in FEATURE_NAMES.iter().zip(weights) {
        println!("    {weight:.4}, // {name}");
    }
    for (part, sets) in [("train", &train), ("dev", &dev)] {
        for (name, rows) in sets {
            for threshold in [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6] {
                let scored: Vec<Scored> = rows
                    .iter()
                    .map(|(f, label)| {
                        let score = f64::from(probability(f, &weights));
                        Scored {
                            score,
                            called: score >= threshold,
                            truth: *label == Label::Supported,
                        }
                    })
                    .collect();
                println!(
                    "{part} | {name} | n {} | at {threshold}: balanced accuracy {:.3}, AUROC {:.3}, ECE {:.3}",
                    rows.len(),
                    balanced_accuracy(&scored).unwrap_or(f64::NAN),
                    auroc(&scored).unwrap_or(f64::NAN),
                    ece(&scored),
                );
            }
            for least in [0.4, 0.5, 0.6, 0.7, 0.75, 0.8] {
                let hits: Vec<Label> = rows
                    .iter()
                    .filter(|(f, _)| {
                        f.best_coverage >= least && f.negation_differs != f.direction_differs
                    })
                    .map(|(_, label)| *label)
                    .collect();
                let count = |label| hits.iter().filter(|l| **l == label).count();
                println!(
                    "{part} | {name} | opposite at coverage {least}: contradicted {}, supported {}, unrelated {}",
                    count(Label::Contradicted),
                    count(Label::Supported),
                    count(Label::Unrelated)
                );
            }
        }
    }
    Ok(())
}

type Seen = Vec<(String, Vec<(Features, Label)>)>;

fn seen(sets: &[CaseSet]) -> Result<Seen, Box<dyn Error>> {
    sets.iter()
        .map(|set| {
            let rows = set
                .cases
                .iter()
                .map(|case| Ok((features(&case.sentence, &evidence_of(case, None)?), case.label)))
                .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
            Ok((set.name.clone(), rows))
        })
        .collect()
}
