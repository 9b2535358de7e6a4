//! The face of the pipeline: a question in, a proven answer out.

use scholar_core::{Answer, PortError, Question};

use crate::config::{AskConfig, ModeChoice};
use crate::event::Observer;
use crate::outcome::Outcome;
use crate::world::Ports;

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
        source: PortError,
    },
    /// A model call failed before there was anything to show.
    #[error("asking {model} for the {purpose}")]
    Generate {
        /// Which model.
        model: String,
        /// What for.
        purpose: String,
        /// Why.
        source: PortError,
    },
    /// The answer could not be checked.
    #[error("checking the answer's citations")]
    Prove {
        /// Why.
        source: PortError,
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
    crate::generative::run(ports, question, config, observer).await
}
