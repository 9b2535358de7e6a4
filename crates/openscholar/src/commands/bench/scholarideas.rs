//! `openscholar bench scholarideas …`: reviews of research ideas, measured.
//!
//! What is measured and how is `scholar-bench`; this opens datasets, reports and models, and writes what comes of it.

mod baseline;
mod compare;
mod coverage;
mod curate;
mod invalidity;
mod pairwise;
mod reports;
mod trained;

use std::path::Path;
use std::process::ExitCode;

use futures::{Stream, StreamExt as _};
use scholar_bench::scholarideas::counts::{count, differences, markdown};
use scholar_bench::scholarideas::dry::{self, Dry};
use scholar_bench::scholarideas::reports::{Reports, read_reports};
use scholar_bench::scholarideas::{Dataset, IdeaId, load};

use crate::app::App;
use crate::args::{DryArgs, IdeasArgs, ScholarIdeasCommand};
use crate::error::{CommandError, Context as _};
use crate::output::csv;
use crate::progress::Bar;
use crate::stop::unless_stopped;

/// Largest file of grades, labels or a calibration, in bytes.
const LARGEST: usize = 64 << 20;

pub(super) fn run(command: &ScholarIdeasCommand, app: &App) -> Result<ExitCode, CommandError> {
    match command {
        ScholarIdeasCommand::List(args) => list(args, app),
        ScholarIdeasCommand::Verify { data, release } => verify(data, *release, app),
        ScholarIdeasCommand::Coverage(args) => coverage::run(args, app),
        ScholarIdeasCommand::Calibrate(args) => trained::calibrate(args, app),
        ScholarIdeasCommand::Agree(args) => trained::agree(args, app),
        ScholarIdeasCommand::Invalidity(args) => invalidity::run(args, app),
        ScholarIdeasCommand::Pairwise(args) => pairwise::run(args, app),
        ScholarIdeasCommand::Compare(args) => compare::run(args, app),
        ScholarIdeasCommand::Baseline(args) => baseline::run(args, app),
        ScholarIdeasCommand::Reports(args) => reports::run(args, app),
        ScholarIdeasCommand::Curate(args) => curate::run(args, app),
        ScholarIdeasCommand::Dry(args) => dry_run(args, app),
    }
}

/// What `work` writes, in order, with a step of `bar` for each; an interruption tells that `what` are kept.
async fn written<T>(
    mut work: impl Stream<Item = Result<T, CommandError>> + Unpin,
    bar: &Bar,
    what: &str,
    app: &App,
) -> Result<Vec<T>, CommandError> {
    let mut lines = Vec::new();
    loop {
        let Some(next) = unless_stopped(app.stop.wait(), work.next()).await else {
            let said = format!("interrupted; {what} written so far are kept");
            return Err(CommandError::interrupted_resumable(said));
        };
        let Some(line) = next else { break };
        lines.push(line?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(lines)
}

/// The part of the dataset that is meant.
fn dataset(args: &IdeasArgs) -> Result<Dataset, CommandError> {
    let whole = read_dataset(&args.data)?;
    if let Some(unknown) = args.ideas.iter().find(|id| whole.idea(**id).is_none()) {
        return Err(CommandError::user(format!("{} has no idea {unknown}", args.data.display())));
    }
    let part = whole.filtered(&args.filter());
    if part.ideas.is_empty() {
        return Err(CommandError::user(format!("no rubric of {} is meant", args.data.display()))
            .with_hint("give fewer of --ideas, --disciplines, --type, --axis and --severity"));
    }
    Ok(part)
}

fn read_dataset(path: &Path) -> Result<Dataset, CommandError> {
    load(path).user(|| format!("{} is not ScholarIdeas", path.display())).map_err(|error| {
        error.with_hint("it is a folder with ai_1/ai_1.txt and so on, or a file of JSON lines")
    })
}

/// The reports in a folder, and which of them are about no idea that is meant.
fn reports(path: &Path, dataset: &Dataset, app: &App) -> Result<Reports, CommandError> {
    let mut reports = read_reports(path).user(|| format!("{} has no reports", path.display()))?;
    reports.retain(|id, _| dataset.idea(*id).is_some());
    if reports.is_empty() {
        return Err(CommandError::user(format!(
            "no report in {} is about an idea that is meant",
            path.display()
        )));
    }
    let without: Vec<IdeaId> =
        dataset.ideas.iter().map(|idea| idea.id).filter(|id| !reports.contains_key(id)).collect();
    if !without.is_empty() {
        app.printer.say(&format!(
            "note: {} of {} ideas have no report in {}, and are left out",
            without.len(),
            dataset.ideas.len(),
            path.display()
        ));
    }
    Ok(reports)
}

/// Rows of a CSV file.
fn table(path: &Path) -> Result<Vec<Vec<String>>, CommandError> {
    let text = scholar_datastore::files::read_text(path, LARGEST)?;
    csv::read(&text).map_err(|line| {
        CommandError::user(format!("{} line {line}: a quoted cell does not end", path.display()))
    })
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// A system's name: the one given, or the last part of the path without its extension.
fn name_of(given: Option<&str>, path: &Path) -> String {
    let own = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    given.map_or_else(own, str::to_owned)
}

/// The names of two or more systems, all different.
fn names_of(given: &[String], paths: &[&Path]) -> Result<Vec<String>, CommandError> {
    if !given.is_empty() && given.len() != paths.len() {
        return Err(CommandError::user(format!(
            "--names has {} names, not {}",
            given.len(),
            paths.len()
        )));
    }
    let names: Vec<String> = paths
        .iter()
        .enumerate()
        .map(|(at, path)| name_of(given.get(at).map(String::as_str), path))
        .collect();
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        Some((_, name)) => Err(CommandError::user(format!("two systems are called {name:?}"))
            .with_hint("tell them apart: --names ours,theirs")),
        None => Ok(names),
    }
}

fn list(args: &IdeasArgs, app: &App) -> Result<ExitCode, CommandError> {
    let dataset = dataset(args)?;
    let words = |text: &str| text.split_whitespace().count();
    if app.printer.json {
        let ideas: Vec<serde_json::Value> = dataset
            .ideas
            .iter()
            .map(|idea| {
                serde_json::json!({
                    "id": idea.id, "cutoff": idea.cutoff, "words": words(&idea.text), "rubrics": idea.rubrics,
                })
            })
            .collect();
        let json = serde_json::json!({"schema": "openscholar.scholarideas-list/1", "ideas": ideas});
        app.printer.json(&json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<String> = dataset
        .ideas
        .iter()
        .map(|idea| {
            let title = idea.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            format!(
                "{}\t{}\t{} words\t{} rubrics\t{}",
                idea.id,
                idea.cutoff,
                words(&idea.text),
                idea.rubrics.len(),
                title.trim_start_matches(['#', ' '])
            )
        })
        .collect();
    app.printer.out(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn verify(data: &Path, release: bool, app: &App) -> Result<ExitCode, CommandError> {
    let dataset = read_dataset(data)?;
    let counts = count(&dataset).ok_or_else(|| CommandError::user("there is nothing to count"))?;
    let different = differences(&counts);
    let mut json = serde_json::to_value(&counts).user(|| "cannot write JSON".to_owned())?;
    json["differences"] = serde_json::json!(different);
    if app.printer.json {
        app.printer.json(&json)?;
    } else {
        let beside = match different.as_slice() {
            [] => "This is the whole release.".to_owned(),
            lines => format!("Not the whole release:\n\n- {}", lines.join("\n- ")),
        };
        app.printer.out(&format!("{}\n{beside}", markdown(&counts)))?;
    }
    if release && !different.is_empty() {
        return Err(CommandError::user(format!(
            "{} differs from the release in {} counts",
            data.display(),
            different.len()
        )));
    }
    Ok(ExitCode::SUCCESS)
}

fn dry_run(args: &DryArgs, app: &App) -> Result<ExitCode, CommandError> {
    let dataset = dataset(&args.ideas)?;
    let ours = reports(&args.reports, &dataset, app)?;
    let mut rows: Vec<(&str, Dry)> = vec![("coverage", dry::coverage(&dataset, &ours))];
    if let Some(path) = &args.against {
        let theirs = reports(path, &dataset, app)?;
        rows.push(("pairwise, both orders", dry::pairwise(&dataset, &ours, &theirs)));
    }
    let price = match args.price.as_slice() {
        [prompt, reply] => Some([*prompt, *reply]),
        [] => None,
        _ => return Err(CommandError::usage("--price takes two numbers: prompts,replies")),
    };
    if app.printer.json {
        let list: Vec<serde_json::Value> = rows
            .iter()
            .map(|(what, dry)| {
                let dollars = price.map(|price| dry.dollars(price));
                serde_json::json!({"what": what, "estimate": dry, "usd": dollars})
            })
            .collect();
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.scholarideas-dry/1", "measurements": list}),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut lines =
        vec!["| measurement | calls | tokens of prompts | tokens of replies, at most | US dollars, at most |".to_owned(), "|---|---|---|---|---|".to_owned()];
    for (what, dry) in &rows {
        let dollars =
            price.map_or_else(|| "–".to_owned(), |price| format!("{:.2}", dry.dollars(price)));
        lines.push(format!(
            "| {what} | {} | {} | {} | {dollars} |",
            dry.calls, dry.prompt_tokens, dry.reply_tokens
        ));
    }
    app.printer.out(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
