//! One entry for both modes.

use scholar_pipeline::{Observer, Outcome, Ports};

use crate::config::ReviewConfig;
use crate::idea::Idea;
use crate::report::{Review, ReviewMode};
use crate::review::{ReviewError, generative, mode_for};

/// Reviews `idea` in the mode that [`mode_for`] names.
///
/// # Errors
/// [`ReviewError`] when there is nothing to show.
pub async fn review(
    ports: &Ports,
    idea: &Idea,
    config: &ReviewConfig,
    observer: &dyn Observer,
) -> Result<Outcome<Review>, ReviewError> {
    let info = ports.generator.as_ref().map(|generator| generator.info());
    match mode_for(config.mode, info).0 {
        ReviewMode::Generative => generative(ports, idea, config, observer).await,
        ReviewMode::Evidence => crate::evidence::review(ports, idea, config, observer).await,
    }
}
