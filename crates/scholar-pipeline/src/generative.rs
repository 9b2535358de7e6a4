//! The paper's loop.

use scholar_core::{Answer, Question};

use crate::ask::AskError;
use crate::config::AskConfig;
use crate::event::Observer;
use crate::outcome::Outcome;
use crate::world::Ports;

pub(crate) async fn run(
    _ports: &Ports,
    _question: &Question,
    config: &AskConfig,
    _observer: &dyn Observer,
) -> Result<Outcome<Answer>, AskError> {
    Err(AskError::NoGenerator { mode: config.mode })
}
