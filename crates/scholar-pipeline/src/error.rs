//! Why a question has no answer.

use scholar_core::PortError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The mode needs a model and the ports have none.
    #[error("mode {mode} needs a language model and none is configured")]
    NoGenerator {
        /// Name of the mode that was asked for.
        mode: &'static str,
    },
    /// No search succeeded.
    #[error("searching {retriever} for {query:?}")]
    Search {
        /// Name of the retriever.
        retriever: String,
        /// The first query that failed.
        query: String,
        /// The retriever's failure.
        source: Box<PortError>,
    },
    /// A model call failed before there was anything to show.
    #[error("asking {model} for the {purpose}")]
    Generate {
        /// Name of the model.
        model: String,
        /// What the call was for, as it stands in traces.
        purpose: String,
        /// The generator's failure.
        source: Box<PortError>,
    },
    /// The answer could not be checked.
    #[error("checking the answer's citations")]
    Prove {
        /// The failure of the judge or the encoder.
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

    /// The judge or the encoder failed while sentences were proven.
    pub fn prove(source: PortError) -> Self {
        Self::Prove { source: Box::new(source) }
    }
}
