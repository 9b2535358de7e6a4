//! `bench annotate summary`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scholar_bench::experts::reviews::{ReviewRecord, effects, is_of_reviews, read_review_records};
use scholar_bench::experts::{Record, read_records, summary};

use super::{Submissions, read, submissions};
use crate::app::App;
use crate::commands::bench::publish;
use crate::error::{CommandError, ErrorKind};

pub(super) fn run(
    db: Option<&Path>,
    files: &[PathBuf],
    system: Option<&str>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let (mut records, mut reviews): (Vec<Record>, Vec<ReviewRecord>) = (Vec::new(), Vec::new());
    match db.map(submissions).transpose()? {
        Some(Submissions::Comparisons(list)) => {
            records.extend(list.into_iter().map(|(record, _)| record));
        }
        Some(Submissions::Reviews(list)) => reviews.extend(list),
        None => {}
    }
    for path in files {
        let text = read(path)?;
        let wrong = |error: String| CommandError::user(format!("{}, {error}", path.display()));
        if is_of_reviews(&text) {
            reviews.extend(read_review_records(&text).map_err(wrong)?);
        } else {
            records.extend(read_records(&text).map_err(wrong)?);
        }
    }
    if !reviews.is_empty() {
        if !records.is_empty() {
            return Err(CommandError::user(
                "comparisons and reports on research ideas are not summed up together",
            ));
        }
        return of_reviews(&reviews, system, out, app);
    }
    if system.is_some() {
        return Err(CommandError::user("--system is for studies of reports on research ideas"));
    }
    // Of several files, the latest submission of an annotator is not the last one read.
    records.sort_by(|a, b| a.submitted.cmp(&b.submitted));
    let summary = summary(&records);
    publish("experts", &summary.markdown(), &value(&summary)?, out, app)
}

fn of_reviews(
    records: &[ReviewRecord],
    system: Option<&str>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let summary = effects(records, system).map_err(CommandError::user)?;
    publish("experts", &summary.markdown(), &value(&summary)?, out, app)
}

fn value(summary: &impl serde::Serialize) -> Result<serde_json::Value, CommandError> {
    serde_json::to_value(summary).map_err(|source| {
        CommandError::new(ErrorKind::Bug, "cannot write the summary").with_source(source)
    })
}
