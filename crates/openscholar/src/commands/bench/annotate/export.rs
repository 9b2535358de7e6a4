//! `bench annotate export`.

use std::path::Path;
use std::process::ExitCode;

use scholar_bench::experts::{Record, spreadsheet};
use scholar_server::annotate::Instance;
use serde::Serialize;

use super::{Submissions, Written, submissions, write};
use crate::app::App;
use crate::args::AnnotateFormat;
use crate::error::{CommandError, ErrorKind};

pub(super) fn run(
    db: &Path,
    format: AnnotateFormat,
    output: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let submissions = match submissions(db)? {
        Submissions::Comparisons(list) => list,
        Submissions::Reviews(records) if format == AnnotateFormat::Jsonl => {
            return write(&lines(records.iter())?, output, app);
        }
        Submissions::Reviews(_) => {
            return Err(CommandError::user("ratings of reports are exported as JSON lines only")
                .with_hint("pass --format jsonl"));
        }
    };
    let text = match format {
        AnnotateFormat::Jsonl => lines(submissions.iter().map(|(record, _)| record))?,
        AnnotateFormat::Csv => {
            Written::Table(spreadsheet::ours(submissions.iter().map(|(record, _)| record)))
        }
        AnnotateFormat::UpstreamCsv => {
            let text = |(record, instance): &(Record, Instance), at: usize| {
                let shown = &record.answers[at].system;
                let answer = instance.answers.iter().find(|answer| answer.system == *shown);
                answer.map(|answer| answer.text.clone()).unwrap_or_default()
            };
            let rows = submissions.iter().map(|one| (&one.0, [text(one, 0), text(one, 1)]));
            Written::Table(spreadsheet::upstream(rows))
        }
    };
    write(&text, output, app)
}

/// A record a line.
fn lines<'a, T: Serialize + 'a>(
    records: impl Iterator<Item = &'a T>,
) -> Result<Written, CommandError> {
    let mut text = String::new();
    for record in records {
        let line = serde_json::to_string(record).map_err(|source| {
            CommandError::new(ErrorKind::Bug, "cannot write a record").with_source(source)
        })?;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(Written::Lines(text))
}
