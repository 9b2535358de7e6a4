//! `bench annotate summary`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scholar_bench::experts::{Record, read_records, summary};

use super::{read, submissions};
use crate::app::App;
use crate::commands::bench::publish;
use crate::error::{CommandError, ErrorKind};

pub(super) fn run(
    db: Option<&Path>,
    files: &[PathBuf],
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let mut records: Vec<Record> = match db {
        Some(db) => submissions(db)?.into_iter().map(|(record, _)| record).collect(),
        None => Vec::new(),
    };
    for path in files {
        let read = read_records(&read(path)?)
            .map_err(|error| CommandError::user(format!("{}, {error}", path.display())))?;
        records.extend(read);
    }
    // Of several files, the latest submission of an annotator is not the last one read.
    records.sort_by(|a, b| a.submitted.cmp(&b.submitted));
    let summary = summary(&records);
    let json = serde_json::to_value(&summary).map_err(|source| {
        CommandError::new(ErrorKind::Bug, "cannot write the summary").with_source(source)
    })?;
    publish("experts", &summary.markdown(), &json, out, app)
}
