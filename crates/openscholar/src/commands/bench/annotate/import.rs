//! `bench annotate import`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scholar_bench::scholarqa::finite;
use scholar_server::annotate::material::{
    MaterialError, Numbering, Paired, Predictions, pair, read_instances, read_predictions,
};

use super::{Written, read, reviews, write};
use crate::app::App;
use crate::args::AnnotateImportArgs;
use crate::error::{CommandError, ErrorKind};

/// Where a run of the benchmark keeps what was answered.
const RUN_FILE: &str = "predictions.jsonl";

pub(super) fn run(args: &AnnotateImportArgs, app: &App) -> Result<ExitCode, CommandError> {
    let limit = args.limit.map(|limit| (limit, args.seed));
    let paired = match args.predictions.as_slice() {
        [_] if args.reviews.is_some() => {
            return Err(CommandError::user("--reviews needs the reports of two systems"));
        }
        [one] if one.is_dir() => {
            return Err(CommandError::user(format!("{} is one system", one.display()))
                .with_hint("name the predictions of two, or one file of comparisons"));
        }
        [one] => Paired { instances: instances(one)?, notices: Vec::new() },
        [first, second] => {
            let names = names(args, [first, second])?;
            if let Some(data) = &args.reviews {
                return finish(reviews::pair(data, [first, second], &names)?, args, app);
            }
            let numbering =
                args.numbered_from.map_or(Numbering::Detect, |n| Numbering::From(usize::from(n)));
            let [a, b] = [(first, &names[0]), (second, &names[1])]
                .map(|(path, name)| predictions(path, name, numbering));
            pair(&a?, &b?, limit)
        }
        _ => return Err(CommandError::user("name one or two files")),
    };
    finish(paired, args, app)
}

/// Writes the comparisons, and tells what should be known of them.
fn finish(paired: Paired, args: &AnnotateImportArgs, app: &App) -> Result<ExitCode, CommandError> {
    if paired.instances.is_empty() {
        let mut error = CommandError::user("there is nothing to compare");
        for notice in paired.notices {
            error = error.with_hint(notice);
        }
        return Err(error);
    }
    for notice in &paired.notices {
        app.printer.say(&format!("note: {notice}"));
    }
    let mut text = String::new();
    for instance in &paired.instances {
        let line = serde_json::to_string(instance).map_err(|source| {
            CommandError::new(ErrorKind::Bug, "cannot write an instance").with_source(source)
        })?;
        let _infallible = writeln!(text, "{line}");
    }
    app.printer.say(&format!("{} comparisons", paired.instances.len()));
    write(&Written::Lines(text), args.output.as_deref(), app)
}

/// Comparisons in a file.
pub(super) fn instances(
    path: &Path,
) -> Result<Vec<scholar_server::annotate::Instance>, CommandError> {
    let instances =
        read_instances(&finite(&read(path)?)).map_err(|error| unusable(path, &error))?;
    if instances.is_empty() {
        return Err(CommandError::user(format!("{} contains no comparison", path.display())));
    }
    Ok(instances)
}

fn predictions(path: &Path, name: &str, numbering: Numbering) -> Result<Predictions, CommandError> {
    let path = if path.is_dir() { path.join(RUN_FILE) } else { path.to_owned() };
    // Upstream's answers of experts have bare NaN in them.
    read_predictions(&finite(&read(&path)?), name, numbering)
        .map_err(|error| unusable(&path, &error))
}

fn unusable(path: &Path, error: &MaterialError) -> CommandError {
    CommandError::user(format!("{}, {error}", path.display()))
        .with_hint("docs/annotation.md describes the format of the files")
}

/// The names given, or the paths' own.
fn names(args: &AnnotateImportArgs, paths: [&PathBuf; 2]) -> Result<[String; 2], CommandError> {
    let names: [String; 2] = match args.names.as_slice() {
        [] => paths.map(|path| {
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
        }),
        [a, b] => [a.trim().to_owned(), b.trim().to_owned()],
        other => {
            let message = format!("--names has {} names, not 2", other.len());
            return Err(CommandError::user(message));
        }
    };
    if names[0] == names[1] || names.iter().any(String::is_empty) {
        return Err(CommandError::user(format!("both systems are called {:?}", names[0]))
            .with_hint("tell them apart: --names ours,theirs"));
    }
    Ok(names)
}
