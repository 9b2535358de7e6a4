//! Whether both engines compute the same: divergence, perplexity, greedy continuations.

use std::path::Path;

use scholar_bench::performance::generator::Agreement;
use scholar_models::gguf::GgufSession;

use super::options;
use super::peer::Peer;
use crate::app::App;
use crate::args::BenchGeneratorArgs;
use crate::error::CommandError;
use crate::starter;

/// Tokens that are read at once.
const WINDOW: usize = 256;
/// Tokens of a window that only give context.
const CONTEXT: usize = 16;
/// Tokens of a continuation that are compared.
const LENGTH: usize = 32;
/// Tokens of a prompt that is continued.
const PROMPT: usize = 48;
/// Differences that are shown.
const SHOWN: usize = 8;

/// The token of the largest logit, the first among equals.
pub(super) fn likeliest(logits: &[f32]) -> u32 {
    let best = logits.iter().enumerate().fold((0, f32::NEG_INFINITY), |best, (i, logit)| {
        if *logit > best.1 { (i, *logit) } else { best }
    });
    u32::try_from(best.0).unwrap_or_default()
}

pub(super) fn measure(
    path: &Path,
    peer: &mut Peer,
    text: &str,
    args: &BenchGeneratorArgs,
    app: &App,
) -> Result<Agreement, CommandError> {
    let threads = app.threads();
    let mut session = GgufSession::open(path, &options(threads, 2 * WINDOW))?;
    peer.open(path, threads, 2 * WINDOW, true)?;
    let encode = |session: &GgufSession, text: &str| {
        session.encode(text).map_err(|error| CommandError::user(error.to_string()))
    };
    let beginning: String = text.chars().take(12 * args.text_tokens).collect();
    let mut tokens = encode(&session, &beginning)?;
    tokens.truncate(args.text_tokens);
    let scratch = app.home.data().join("bench").join("logits.f32");
    let (mut count, mut kl, mut surprise) = (0, 0.0, [0.0, 0.0]);
    for window in tokens.chunks(WINDOW).filter(|window| window.len() > CONTEXT + 1) {
        app.printer.say(&format!("comparing logits, {count} of {} tokens", tokens.len()));
        session.truncate(0);
        let ours = session.read_all(window);
        let theirs = peer.logits(window, &scratch)?;
        let rows =
            ours.chunks_exact(session.vocabulary()).zip(theirs.chunks_exact(session.vocabulary()));
        for ((ours, theirs), next) in rows.zip(&window[1..]).skip(CONTEXT) {
            let [p, q] = [ours, theirs].map(log_probabilities);
            kl += p.iter().zip(&q).map(|(p, q)| q.exp() * (q - p)).sum::<f64>();
            surprise[0] -= p[*next as usize];
            surprise[1] -= q[*next as usize];
            count += 1;
        }
    }
    let mut agreement = Agreement {
        tokens: count,
        mean_kl: kl / count.max(1) as f64,
        perplexity: surprise.map(|sum| (sum / count.max(1) as f64).exp()),
        continuations: 0,
        same: 0,
        peer_same_stepwise: 0,
        peer_same_precise: 0,
        length: LENGTH,
        differences: Vec::new(),
    };
    drop(session);
    let mut session = GgufSession::open(path, &options(threads, 2 * WINDOW))?;
    peer.open(path, threads, 2 * WINDOW, false)?;
    let mut continued = Vec::with_capacity(args.continuations);
    app.printer.say("continuing prompts");
    for paper in starter::papers()?.iter().take(args.continuations) {
        let mut prompt = encode(&session, &format!("{}\n\n{}", paper.meta.title, paper.text()))?;
        prompt.truncate(PROMPT);
        let theirs = continue_both(&mut session, peer, &prompt, &mut agreement)?;
        // How far one engine agrees with itself says what agreement between two can be.
        let stepwise = peer.greedy(&prompt, LENGTH, true)?;
        agreement.peer_same_stepwise += usize::from(stepwise == theirs);
        continued.push((prompt, theirs));
    }
    drop(session);
    peer.open_precise(path, threads, 2 * WINDOW)?;
    for (prompt, theirs) in continued {
        let precise = peer.greedy(&prompt, LENGTH, false)?;
        agreement.peer_same_precise += usize::from(precise == theirs);
    }
    Ok(agreement)
}

/// Continues one prompt with both engines and takes note of the first difference. Returns the peer's continuation.
fn continue_both(
    session: &mut GgufSession,
    peer: &mut Peer,
    prompt: &[u32],
    agreement: &mut Agreement,
) -> Result<Vec<u32>, CommandError> {
    session.truncate(0);
    let mut logits = session.read(prompt);
    let mut ours = Vec::with_capacity(LENGTH);
    while ours.len() < LENGTH {
        ours.push(likeliest(&logits));
        logits = session.read(&ours[ours.len() - 1..]);
    }
    let theirs = peer.greedy(prompt, LENGTH, false)?;
    agreement.continuations += 1;
    let shared = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    if shared == LENGTH {
        agreement.same += 1;
    } else if agreement.differences.len() < SHOWN {
        let read = [prompt, &ours[..shared]].concat();
        let after = session.text(&read[read.len().saturating_sub(8)..]);
        let next = |tokens: &[u32]| session.text(&tokens[shared..(shared + 4).min(tokens.len())]);
        agreement.differences.push([after, next(&ours), next(&theirs)]);
    }
    Ok(theirs)
}

/// Natural logarithms of the probabilities.
fn log_probabilities(logits: &[f32]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - most).exp()).sum();
    let norm = f64::from(most) + sum.ln();
    logits.iter().map(|logit| f64::from(*logit) - norm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_sum_to_one_and_the_first_of_equals_is_likeliest() {
        let logs = log_probabilities(&[1.0, -2.0, 3.0]);
        assert!((logs.iter().map(|log| log.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((logs[2] - logs[0] - 2.0).abs() < 1e-6);
        assert_eq!(likeliest(&[1.0, 4.0, 4.0]), 1);
    }
}
