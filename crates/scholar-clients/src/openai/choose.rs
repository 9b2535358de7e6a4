//! A choice among few replies by the log-probabilities of the first token.

use scholar_core::{GenerationRequest, Message, OutputShape, PortError, PortErrorKind, Sampling};

use super::OpenAiGenerator;
use super::delivery::Delivery;
use super::wire::Alternative;

/// Log-probability of each choice as the beginning of the reply, normalised over the choices.
pub(super) async fn choose(
    generator: &OpenAiGenerator,
    purpose: &str,
    messages: &[Message],
    choices: &[&str],
) -> Result<Vec<f32>, PortError> {
    let request = GenerationRequest {
        purpose: purpose.to_owned(),
        messages: messages.to_vec(),
        sampling: Sampling::greedy(1),
        shape: OutputShape::Text,
    };
    let mut delivery = Delivery::new(&|_| {}, &[]);
    let reply = generator.exchange(&request, true, &mut delivery).await?;
    if reply.top.is_empty() {
        let message = format!("{} gives no log-probabilities", generator.address());
        return Err(PortError::new(PortErrorKind::Rejected, message)
            .with_hint("use a server with `top_logprobs`, or another judge"));
    }
    scores(&reply.top, choices).ok_or_else(|| {
        let message = format!(
            "`{}` at {} begins with none of {}, or they begin alike",
            generator.config.model,
            generator.address(),
            choices.join(", "),
        );
        PortError::new(PortErrorKind::Corrupt, message)
    })
}

/// Sums the probability of all tokens that begin exactly one choice, whatever their case and leading space. A choice
/// that is not among the listed tokens gets the probability of the least likely one, which bounds its own.
/// `None` when no token begins any choice.
fn scores(top: &[Alternative], choices: &[&str]) -> Option<Vec<f32>> {
    let mut mass = vec![0.0f64; choices.len()];
    for alternative in top {
        let token = alternative.token.trim().to_lowercase();
        let begins =
            |choice: &&str| !token.is_empty() && choice.trim().to_lowercase().starts_with(&token);
        let mut begun = choices.iter().enumerate().filter(|(_, choice)| begins(choice));
        if let (Some((at, _)), None) = (begun.next(), begun.next()) {
            mass[at] += f64::from(alternative.logprob.min(0.0)).exp();
        }
    }
    if mass.iter().all(|m| *m <= 0.0) {
        return None;
    }
    let least = top.iter().map(|a| f64::from(a.logprob.min(0.0)).exp()).fold(1.0, f64::min);
    let floor = least.max(f64::from(f32::MIN_POSITIVE));
    mass.iter_mut().filter(|m| **m <= 0.0).for_each(|m| *m = floor);
    let total: f64 = mass.iter().sum();
    #[expect(clippy::cast_possible_truncation, reason = "a log-probability needs no more than f32")]
    let normalised = mass.iter().map(|m| (m / total).ln() as f32).collect();
    Some(normalised)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_choice_add_up() {
        let top = |pairs: &[(&str, f32)]| -> Vec<Alternative> {
            pairs
                .iter()
                .map(|(token, p)| Alternative { token: (*token).to_owned(), logprob: p.ln() })
                .collect()
        };
        let near = |got: Option<Vec<f32>>, expect: &[f32]| {
            let got: Vec<f32> = got.expect("scores").iter().map(|lp| lp.exp()).collect();
            scholar_testing::assert_all_close(&got, expect, 1e-5);
        };
        near(
            scores(&top(&[("Yes", 0.5), (" yes", 0.1), ("No", 0.2), ("x", 0.1)]), &["yes", "no"]),
            &[0.75, 0.25],
        );
        near(scores(&top(&[("no", 0.9), ("maybe", 0.1)]), &["yes", "no"]), &[0.1, 0.9]);
        near(
            scores(&top(&[("con", 0.3), ("supp", 0.6)]), &["supported", "contradicted"]),
            &[2.0 / 3.0, 1.0 / 3.0],
        );
        assert!(scores(&top(&[("x", 0.9)]), &["yes", "no"]).is_none());
        assert!(scores(&top(&[("s", 0.9)]), &["same", "some"]).is_none(), "they begin alike");
    }
}
