//! `openscholar papers screen`.

pub(crate) mod criteria_file;

use scholar_core::PaperId;
use scholar_datastore::Datastore;
use scholar_pipeline::screen::ScreenPaper;

use crate::error::CommandError;

/// The paper as it is screened; `None` where the datastore has none of that name.
pub(crate) fn read_paper(
    store: &Datastore,
    id: &PaperId,
) -> Result<Option<ScreenPaper>, CommandError> {
    let Some(paper) = store.paper(id)? else { return Ok(None) };
    let passages = store.passages_of(&paper.meta.id)?;
    Ok(Some(ScreenPaper { id: paper.meta.id, title: paper.meta.title, passages }))
}

/// Vectors scaled to length 1; one of zeros stays as it is.
pub(crate) fn unit_vectors(vectors: Vec<Option<Vec<f32>>>) -> Vec<Option<Vec<f32>>> {
    let unit = |vector: Vec<f32>| {
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if norm > 0.0 { vector.iter().map(|value| value / norm).collect() } else { vector }
    };
    vectors.into_iter().map(|vector| vector.map(unit)).collect()
}

use std::process::ExitCode;

use crate::app::App;
use crate::args::ScreenArgs;

pub(super) fn run(_name: &str, _args: ScreenArgs, _app: &App) -> Result<ExitCode, CommandError> {
    Err(CommandError::user("not yet"))
}
