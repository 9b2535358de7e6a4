//! `openscholar datastore starter-vectors DIR`: makes the vectors shipped beside the starter papers.

use std::path::Path;
use std::process::ExitCode;

use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{Encoder as _, Side};

use crate::app::App;
use crate::error::{CommandError, ErrorKind};
use crate::starter::{self, VectorsInfo};
use crate::wiring::models;
use crate::{progress, runs};

/// Passages in one call of the encoder.
const BATCH: usize = 64;

pub(super) fn run(out: &Path, app: &App) -> Result<ExitCode, CommandError> {
    let encoder = app.block_on(models::default_encoder(app))??;
    let texts: Vec<String> = starter::papers()?
        .iter()
        .flat_map(|paper| cut(paper, PassageRules::sections()))
        .map(|passage| passage.encoded_text())
        .collect();
    let bar = progress::counted(&app.printer, "passages", Some(texts.len() as u64))
        .with_message("encoding");
    let mut bytes = Vec::new();
    let mut truncated = 0;
    for batch in texts.chunks(BATCH) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        let embeddings = encoder.encode(Side::Passage, &batch)?;
        truncated += embeddings.truncated;
        for value in &embeddings.values {
            bytes.extend_from_slice(&half::f16::from_f32(*value).to_le_bytes());
        }
        bar.inc(batch.len() as u64);
        if app.stop.requested() {
            return Err(CommandError::new(
                ErrorKind::Interrupted,
                "interrupted; nothing was written",
            ));
        }
    }
    bar.finish_and_clear();
    let info = VectorsInfo {
        encoder: encoder.info().name.clone(),
        fingerprint: encoder.info().fingerprint.clone(),
        dim: encoder.info().dim,
        passages: texts.len(),
        papers_sha256: starter::papers_sha256(),
    };
    fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
    runs::write_atomic(&out.join("vectors.f16"), &bytes)?;
    let mut text = serde_json::to_string_pretty(&info).map_err(|source| {
        CommandError::new(ErrorKind::Bug, "cannot write JSON").with_source(source)
    })?;
    text.push('\n');
    runs::write_atomic(&out.join("vectors.json"), text.as_bytes())?;
    app.printer.say(&format!(
        "{} vectors in {}; {truncated} passages were cut",
        info.passages,
        out.display()
    ));
    Ok(ExitCode::SUCCESS)
}
