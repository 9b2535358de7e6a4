//! `openscholar bench annotate …`: experts compare answers, blind.
//!
//! The pages and their file are `scholar-server`, the statistics `scholar-bench`; this brings the two together.

mod export;
mod import;
mod reviews;
mod serve;
mod study;
mod summary;

use std::path::Path;
use std::process::ExitCode;

use scholar_bench::experts::reviews::ReviewRecord;
use scholar_bench::experts::{Rated, Record, SCHEMA, Scores, Shown};
use scholar_core::text::markers::strip_citations;
use scholar_server::annotate::{Answer, Evaluation, Instance, Kind, Preference, Store};

use crate::app::App;
use crate::args::{AnnotateArgs, AnnotateCommand};
use crate::error::{CommandError, Context as _};
use crate::output::json::Json;
use crate::runs;

pub(crate) use study::{environment, open_existing};

pub(super) fn run(args: AnnotateArgs, app: &App) -> Result<ExitCode, CommandError> {
    match args.command {
        AnnotateCommand::Import(args) => import::run(&args, app),
        AnnotateCommand::Create { study, url } => study::create(&study, &url, app),
        AnnotateCommand::Serve(args) => serve::run(&args, app),
        AnnotateCommand::Export { db, format, output } => {
            export::run(&db, format, output.as_deref(), app)
        }
        AnnotateCommand::Summary { db, records, system, out } => {
            summary::run(db.as_deref(), &records, system.as_deref(), out.as_deref(), app)
        }
    }
}

/// What a study holds.
enum Submissions {
    /// Comparisons, each with its instance.
    Comparisons(Vec<(Record, Instance)>),
    /// Ratings of reports.
    Reviews(Vec<ReviewRecord>),
}

/// Every submission of a study.
fn submissions(db: &Path) -> Result<Submissions, CommandError> {
    let store = Store::open(db)?;
    let instances = store.instances()?;
    let (mut comparisons, mut of_reports) = (Vec::new(), Vec::new());
    for evaluation in store.evaluations()? {
        // The file's own rules keep an instance as long as anything refers to it.
        let Some(instance) = instances.iter().find(|one| one.id == evaluation.instance) else {
            continue;
        };
        match instance.kind {
            Kind::Comparison => comparisons.push((record(&evaluation, instance), instance.clone())),
            Kind::Review => of_reports.push(reviews::record(&evaluation, instance)),
        }
    }
    let has = |kind| instances.iter().any(|instance| instance.kind == kind);
    match (has(Kind::Comparison), has(Kind::Review)) {
        (true, true) => Err(CommandError::user(format!(
            "{} has comparisons and reports on research ideas, which are not summed up together",
            db.display()
        ))
        .with_hint("keep them in two studies")),
        (_, true) => Ok(Submissions::Reviews(of_reports)),
        (_, false) => Ok(Submissions::Comparisons(comparisons)),
    }
}

fn record(evaluation: &Evaluation, instance: &Instance) -> Record {
    let shown = if evaluation.flipped { [1, 0] } else { [0, 1] };
    let preference = evaluation.ratings.as_ref().map(|ratings| {
        let seen = match evaluation.flipped {
            true => ratings.preference.swapped(),
            false => ratings.preference,
        };
        match seen {
            Preference::First => Shown::A,
            Preference::Tie => Shown::Tie,
            Preference::Second => Shown::B,
        }
    });
    Record {
        schema: SCHEMA.to_owned(),
        instance: instance.id.clone(),
        question: instance.question.clone(),
        annotator: evaluation.annotator.clone(),
        version: evaluation.version,
        latest: evaluation.latest,
        started: evaluation.started.clone(),
        submitted: evaluation.submitted.clone(),
        answers: shown.map(|at| {
            let scores = evaluation.ratings.as_ref().map(|ratings| ratings.scores[at]);
            rated(&instance.answers[at], scores.map(Scores::new))
        }),
        preference,
        explanation: evaluation.explanation.clone(),
        quality: evaluation.quality.map(|quality| quality.name().to_owned()),
        comment: evaluation.comment.clone(),
    }
}

fn rated(answer: &Answer, scores: Option<Scores>) -> Rated {
    Rated {
        system: answer.system.clone(),
        words: strip_citations(&answer.text).split_whitespace().count(),
        citations: answer.references.len(),
        scores,
    }
}

fn read(path: &Path) -> Result<String, CommandError> {
    fs_err::read_to_string(path).user(|| format!("cannot read {}", path.display()))
}

/// What leaves the study.
enum Written {
    /// Lines of JSON.
    Lines(String),
    /// CSV.
    Table(String),
}

/// To `output`, or to standard output.
fn write(written: &Written, output: Option<&Path>, app: &App) -> Result<ExitCode, CommandError> {
    let (Written::Lines(text) | Written::Table(text)) = written;
    match (output, written) {
        (Some(path), _) => {
            runs::write_atomic(path, text.as_bytes())?;
            app.printer.say(&format!("written to {}", path.display()));
        }
        // Escaped, not shown by signs: what is read again must be exact.
        (None, Written::Lines(_)) => app.printer.out_json(&Json::written(text.trim_end()))?,
        (None, Written::Table(_)) => app.printer.out(text.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}
