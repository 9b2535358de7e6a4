//! The face of the crate: an idea in, a review out.

use scholar_core::{AnswerMode, GeneratorInfo, GeneratorStrength, Question, QuestionError};
use scholar_pipeline::{Event, Frame, Observer, Outcome, Ports};

use crate::config::{ModeWanted, ReviewConfig};
use crate::cutoff::Guard;
use crate::desk::Desk;
use crate::idea::Idea;
use crate::library::Library;
use crate::number::Numbering;
use crate::report::{Module, REVIEW_SCHEMA, Review, ReviewMode};
use crate::{appraisal, contribution, soundness, statements};

/// Why there is no review.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The mode needs a model and the ports have none.
    #[error("a generative review needs a language model and none is configured")]
    NoGenerator,
    /// The idea is no question that the stages of `ask` could be given.
    #[error("the idea cannot be read")]
    Idea(#[source] QuestionError),
    /// Every module that was asked for failed.
    #[error("{reasons}")]
    Nothing {
        /// Why, module by module.
        reasons: String,
    },
}

impl ReviewError {
    /// The next step for a person.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoGenerator => Some("name a model, or pass --mode evidence".to_owned()),
            Self::Idea(_) => None,
            Self::Nothing { .. } => {
                Some("run again with --resume, or pass --mode evidence".to_owned())
            }
        }
    }
}

/// The mode that `wanted` comes to with this generator, and why.
pub fn mode_for(wanted: ModeWanted, generator: Option<&GeneratorInfo>) -> (ReviewMode, String) {
    match (wanted, generator) {
        (ModeWanted::Generative, _) => (ReviewMode::Generative, "asked for".to_owned()),
        (ModeWanted::Evidence, _) => (ReviewMode::Evidence, "asked for".to_owned()),
        (ModeWanted::Auto, None) => {
            (ReviewMode::Evidence, "no language model is configured".to_owned())
        }
        (ModeWanted::Auto, Some(info)) => match info.strength {
            GeneratorStrength::Strong => {
                (ReviewMode::Generative, format!("{} can write a review", info.model))
            }
            GeneratorStrength::Small => (
                ReviewMode::Evidence,
                format!("{} is too small to be trusted with a review", info.model),
            ),
        },
    }
}

/// Reviews `idea` with a model. Both modules run side by side; what fails is in the report.
///
/// # Errors
/// [`ReviewError`] when there is nothing to show.
pub async fn generative(
    ports: &Ports,
    idea: &Idea,
    config: &ReviewConfig,
    observer: &dyn Observer,
) -> Result<Outcome<Review>, ReviewError> {
    let Some(generator) = &ports.generator else { return Err(ReviewError::NoGenerator) };
    let (_, reason) = mode_for(config.mode, Some(generator.info()));
    let question = Question::new(&idea.text).map_err(ReviewError::Idea)?;
    let ask = config.ask(Guard::of(idea, config.cutoff).filter());
    let frame = Frame::new(AnswerMode::Generative, ports, &question, &ask, observer);
    frame.emit(&Event::Started { mode: AnswerMode::Generative, reason });
    let review = weigh(&frame, idea, config).await?;
    frame.emit(&Event::Finished { abstained: review.references.is_empty() });
    Ok(frame.finish(review))
}

async fn weigh(
    frame: &Frame<'_>,
    idea: &Idea,
    config: &ReviewConfig,
) -> Result<Review, ReviewError> {
    let desk = Desk::new(frame, idea, config);
    let library = Library::new(&desk);
    let soundness = async {
        match config.modules.soundness() {
            true => Some(soundness::run(&desk, &library).await),
            false => None,
        }
    };
    let contribution = async {
        match config.modules.contribution() {
            true => Some(contribution::run(&desk, &library).await),
            false => None,
        }
    };
    let (soundness, contribution) = futures::join!(soundness, contribution);
    let failed = [
        soundness.as_ref().map(|result| result.as_ref().err()),
        contribution.as_ref().map(|result| result.as_ref().err()),
    ];
    let asked: Vec<Option<&String>> = failed.into_iter().flatten().collect();
    if asked.iter().all(Option::is_some) {
        let mut reasons: Vec<String> = asked.into_iter().flatten().cloned().collect();
        reasons.dedup();
        return Err(ReviewError::Nothing { reasons: reasons.join("; ") });
    }
    let mut numbering = Numbering::default();
    let soundness = soundness.map(|result| match result {
        Ok(draft) => Module::Done(numbering.soundness(draft)),
        Err(reason) => Module::Failed(reason),
    });
    let contribution = contribution.map(|result| match result {
        Ok(draft) => Module::Done(numbering.contribution(draft)),
        Err(reason) => Module::Failed(reason),
    });
    let mut review = Review {
        schema: REVIEW_SCHEMA.to_owned(),
        idea: idea.clone(),
        mode: ReviewMode::Generative,
        cutoff: config.cutoff,
        soundness,
        contribution,
        appraisal: None,
        references: numbering.references,
        unproven: 0,
        removed_links: 0,
        left_out: desk.left_out(),
        failures: Vec::new(),
    };
    if config.appraisal_points > 0 {
        let written = appraisal::write(&desk, &review).await;
        review.appraisal = Some(written.map_or_else(Module::Failed, Module::Done));
    }
    (review.unproven, review.removed_links) = statements::unproven(&desk);
    review.failures = desk.failures();
    review.link_papers();
    for statement in review.statements() {
        frame.emit(&Event::Sentence { sentence: statement.sentence.clone() });
    }
    Ok(review)
}
