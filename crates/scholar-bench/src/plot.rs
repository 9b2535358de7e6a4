//! What drawings share.

use plotters::drawing::DrawingAreaErrorKind;

/// A drawing that cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the plot cannot be drawn: {0}")]
pub struct PlotError(String);

impl PlotError {
    pub(crate) fn of<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> Self {
        Self(error.to_string())
    }
}
