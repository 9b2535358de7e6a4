//! The face of the pipeline: a question in, a proven answer out.

use scholar_core::{
    Answer, AnswerMode, GeneratorInfo, GeneratorStrength, Notice, NoticeKind, PortError, Query,
    Question,
};

use crate::config::{AskConfig, ModeChoice};
use crate::event::{Event, Observer};
use crate::evidence::EvidenceRegistry;
use crate::frame::Frame;
use crate::modes::evidence::{evidence_first, reported_effects};
use crate::modes::generative;
use crate::outcome::Outcome;
use crate::ports::Ports;
use crate::retrieve;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The mode needs a model and the ports have none.
    #[error("mode {mode:?} needs a language model and none is configured")]
    NoGenerator {
        /// The mode asked for.
        mode: ModeChoice,
    },
    /// No search succeeded.
    #[error("searching {retriever} for {query:?}")]
    Search {
        /// Where.
        retriever: String,
        /// What for: the first query that failed.
        query: String,
        /// Why.
        source: Box<PortError>,
    },
    /// A model call failed before there was anything to show.
    #[error("asking {model} for the {purpose}")]
    Generate {
        /// Which model.
        model: String,
        /// What for.
        purpose: String,
        /// Why.
        source: Box<PortError>,
    },
    /// The answer could not be checked.
    #[error("checking the answer's citations")]
    Prove {
        /// Why.
        source: Box<PortError>,
    },
}

impl AskError {
    /// The failure behind the port, if one caused this.
    pub fn port_error(&self) -> Option<&PortError> {
        match self {
            Self::NoGenerator { .. } => None,
            Self::Search { source, .. }
            | Self::Generate { source, .. }
            | Self::Prove { source } => Some(source),
        }
    }

    /// The next step for a person.
    pub fn hint(&self) -> Option<String> {
        let own = self.port_error().and_then(PortError::hint).map(str::to_owned);
        match self {
            Self::NoGenerator { .. } => Some("name a model, or pass --mode evidence".to_owned()),
            Self::Generate { .. } => {
                own.or_else(|| Some("pass --mode evidence to answer without a model".to_owned()))
            }
            Self::Search { .. } | Self::Prove { .. } => own,
        }
    }
}

/// Answers `question`.
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
    let (mode, reason) = mode_for(config.mode, info);
    let frame = Frame::new(ports, question, config, observer);
    frame.emit(&Event::Started { mode, reason });
    let answer = match mode {
        AnswerMode::Generative => generative::answer(&frame, generative::Rounds::Loop).await?,
        AnswerMode::SinglePass => generative::answer(&frame, generative::Rounds::DraftOnly).await?,
        AnswerMode::NoRetrieval => generative::closed_book(&frame).await?,
        AnswerMode::Evidence => from_evidence(&frame).await?,
    };
    frame.emit(&Event::Finished { abstained: answer.abstained });
    Ok(frame.finish(answer))
}

/// Retrieves broadly, then lets the evidence speak.
async fn from_evidence(frame: &Frame<'_>) -> Result<Answer, AskError> {
    let question = Query::from(frame.question);
    let queries = [question.clone()];
    let mut registry = EvidenceRegistry::new();
    let shown =
        retrieve::gather(frame, &queries, &question, retrieve::Round::Digest, &mut registry)
            .await?;
    let n_shown = shown.len();
    let passages = shown.into_iter().map(|evidence| evidence.ranked).collect();
    let mut config = frame.config.evidence.clone();
    config.checks.filter = frame.config.retrieval.filter.clone();
    config.checks.search_mode = frame.config.retrieval.search_mode;
    // Every notice in the result was seen by the log already.
    let result = evidence_first(&frame.ports, frame.question, passages, &config, &frame.log).await;
    let result = result.map_err(prove_error)?;
    for found in result.evidence.into_iter().skip(n_shown) {
        registry.add(found);
    }
    frame.report_added(&registry, n_shown, "searches of the checks");
    if let (Some([yes, no]), false) = (frame.config.task.labels(), result.answer.abstained) {
        frame.notice(no_label(frame.question, &result.answer, [yes, no]));
    }
    Ok(result.answer)
}

/// That a verdict is left to the reader, with what it would rest on.
fn no_label(question: &Question, answer: &Answer, [yes, no]: [&str; 2]) -> Notice {
    let mut message = format!("this mode gives evidence, no label “{yes}” or “{no}”");
    if let Some([effect, none]) = reported_effects(question, answer) {
        message = format!(
            "{message}; by their wording, {effect} of the papers shown report an effect and {none} report none"
        );
    }
    Notice::new(NoticeKind::Weak, message)
        .with_hint("read the sentences, or pass --mode generative with a model that may judge")
}

/// A failure while checking.
pub(crate) fn prove_error(source: PortError) -> AskError {
    AskError::Prove { source: Box::new(source) }
}

/// The mode `choice` comes to with this generator, and why.
pub fn mode_for(choice: ModeChoice, generator: Option<&GeneratorInfo>) -> (AnswerMode, String) {
    let asked = |mode| (mode, "asked for".to_owned());
    match (choice, generator) {
        (ModeChoice::Generative, _) => asked(AnswerMode::Generative),
        (ModeChoice::Evidence, _) => asked(AnswerMode::Evidence),
        (ModeChoice::SinglePass, _) => asked(AnswerMode::SinglePass),
        (ModeChoice::NoRetrieval, _) => asked(AnswerMode::NoRetrieval),
        (ModeChoice::Auto, None) => {
            (AnswerMode::Evidence, "no language model is configured".to_owned())
        }
        (ModeChoice::Auto, Some(info)) => match info.strength {
            GeneratorStrength::Strong => {
                (AnswerMode::Generative, format!("{} can run the whole loop", info.model))
            }
            GeneratorStrength::Small => (
                AnswerMode::Evidence,
                format!("{} is too small to be trusted with citations", info.model),
            ),
        },
    }
}
