//! The face of the pipeline: a question in, a proven answer out.

use scholar_core::{Answer, Question};

use crate::budget::{Estimate, ExpectedCalls};
use crate::config::AskConfig;
use crate::error::AskError;
use crate::event::{Event, Observer};
use crate::follow_up;
use crate::frame::Frame;
use crate::modes::{self, Mode};
use crate::outcome::Outcome;
use crate::ports::Ports;
use scholar_core::GeneratorInfo;

/// Answers `question` in the mode that `config` and the generator come to.
///
/// # Errors
/// [`AskError`] when there is nothing to show; everything less is a notice of the outcome.
pub async fn ask(
    ports: &Ports,
    question: &Question,
    config: &AskConfig,
    observer: &dyn Observer,
) -> Result<Outcome<Answer>, AskError> {
    let info = ports.generator.as_ref().map(|generator| generator.info());
    let (mode, reason) = modes::mode_for(config.mode, info);
    run(modes::of(mode), &reason, Frame::new(mode, ports, question, config, observer)).await
}

/// Makes a follow-up question whole before anything is looked for.
async fn run(mode: &Mode, reason: &str, frame: Frame<'_>) -> Result<Outcome<Answer>, AskError> {
    frame.emit(&Event::Started { mode: mode.id, reason: reason.to_owned() });
    if mode.needs_generator && frame.ports.generator.is_none() {
        return Err(AskError::NoGenerator { mode: mode.name });
    }
    match &frame.config.thread {
        Some(thread) => {
            let question = follow_up::resolve(&frame, thread).await;
            answer(mode, frame.about(&question)).await
        }
        None => answer(mode, frame).await,
    }
}

/// Answers `question` in `mode`, whatever `config` says, and whether or not the mode is registered.
///
/// # Errors
/// As [`ask()`].
pub async fn ask_in(
    mode: &Mode,
    ports: &Ports,
    question: &Question,
    config: &AskConfig,
    observer: &dyn Observer,
) -> Result<Outcome<Answer>, AskError> {
    let frame = Frame::new(mode.id, ports, question, config, observer);
    run(mode, modes::ASKED_FOR, frame).await
}

async fn answer(mode: &Mode, frame: Frame<'_>) -> Result<Outcome<Answer>, AskError> {
    let answer = (mode.run)(&frame).await?;
    frame.emit(&Event::Finished { abstained: answer.abstained });
    Ok(frame.finish(answer))
}

/// Making a follow-up whole: five turns of two or three sentences in, one question out.
const FOLLOW_UP_CALL: ExpectedCalls = ExpectedCalls { calls: 1, prompt: 800, completion: 50 };

/// What answering one question with `config` and this generator will use. Judging by a model is not included.
pub fn estimate(config: &AskConfig, generator: Option<&GeneratorInfo>) -> Estimate {
    let (mode, _) = modes::mode_for(config.mode, generator);
    let mut calls = if generator.is_some() { (modes::of(mode).calls)(config) } else { Vec::new() };
    if generator.is_some() && config.thread.is_some() {
        calls.push(FOLLOW_UP_CALL);
    }
    Estimate::of(&calls, generator)
}

#[cfg(test)]
mod tests {
    use scholar_core::{AnswerMode, GeneratorStrength};

    use super::*;
    use crate::config::ModeChoice;
    use crate::thread::Thread;

    #[test]
    fn the_loop_costs_more_than_a_draft_and_a_model_without_price_has_none() {
        let mut info = GeneratorInfo {
            model: "m".to_owned(),
            context_tokens: 8_000,
            strength: GeneratorStrength::Strong,
            local: false,
            usd_per_million: Some((2.0, 10.0)),
        };
        let mut config = AskConfig::paper();
        let whole = estimate(&config, Some(&info));
        // Keywords, draft, feedback, three revisions, two paragraphs.
        assert_eq!(whole.calls, 8);
        assert!(whole.usd.is_some_and(|usd| usd > 0.05));
        config.mode = AnswerMode::SinglePass.into();
        let single = estimate(&config, Some(&info));
        assert!(single.calls == 2 && single.usage.total() < whole.usage.total());
        info.usd_per_million = None;
        assert_eq!(estimate(&config, Some(&info)).usd, None);
        config.thread = Some(Thread::default());
        assert_eq!(estimate(&config, Some(&info)).calls, single.calls + 1);
        config.mode = ModeChoice::Auto;
        let none = estimate(&config, None);
        assert_eq!((none.calls, none.usd), (0, Some(0.0)));
    }
}
