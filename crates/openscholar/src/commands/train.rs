//! `openscholar train …`: models of one's own.

mod collections;
mod data;
mod export;
mod fit_weights;
mod score_teacher;
mod sentences;

use std::path::Path;
use std::process::ExitCode;

use scholar_train::{Control, Ended, Event, Report, Settings, Task};

use crate::app::App;
use crate::args::{TrainArgs, TrainCommand, TrainModelArgs};
use crate::config::DEFAULT_INIT;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::wiring::models;

pub(crate) fn run(args: TrainArgs, app: &App) -> Result<ExitCode, CommandError> {
    let TrainArgs { command } = args;
    match command {
        TrainCommand::Encoder(args) => train(Task::Encoder, args, app),
        TrainCommand::Reranker(args) => train(Task::Reranker, args, app),
        TrainCommand::Attributor(args) => train(Task::Attributor, args, app),
        TrainCommand::Sentences(args) => sentences::run(&args, app),
        TrainCommand::Decontaminate(args) => data::decontaminate(&args, app),
        TrainCommand::Data(args) => data::run(&args, app),
        TrainCommand::Export(args) => export::run(args, app),
        TrainCommand::ScoreTeacher(args) => score_teacher::run(&args, app),
        TrainCommand::FitWeights(args) => fit_weights::run(&args, app),
        TrainCommand::Presets { task, preset } => {
            let settings = Settings::preset(&preset, task.into())?;
            app.printer.out(settings.to_toml()?.trim_end())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn train(task: Task, args: TrainModelArgs, app: &App) -> Result<ExitCode, CommandError> {
    let out = std::path::absolute(&args.out)
        .user(|| format!("{} cannot be an output folder", args.out.display()))?;
    let settings = settings(task, args, app)?;
    let mut evaluator = collections::prepare(&settings, app)?;
    let evaluator =
        evaluator.as_deref_mut().map(|evaluator| evaluator as &mut dyn scholar_train::Evaluator);
    let bar = progress::counted(&app.printer, "steps", Some(0));
    app.heed_signals()?;
    let report = scholar_train::train(&settings, &out, evaluator, &mut |event| {
        show(event, &bar, app);
        if app.stop.requested() { Control::Stop } else { Control::Continue }
    });
    bar.finish_and_clear();
    let report = report?;
    if report.ended == Ended::Stopped {
        let message =
            format!("interrupted after step {}; the same command resumes from there", report.steps);
        return Err(CommandError::new(ErrorKind::Interrupted, message));
    }
    tell(task, &report, app)?;
    Ok(ExitCode::SUCCESS)
}

/// The settings of the file or preset with what the command line says instead.
fn settings(task: Task, args: TrainModelArgs, app: &App) -> Result<Settings, CommandError> {
    let TrainModelArgs {
        out: _,
        settings,
        preset,
        init,
        rows,
        held_out,
        collections,
        max_steps,
        seed,
        device,
    } = args;
    let mut stated = match &settings {
        Some(path) => Settings::read(path, task)?,
        None => Settings::preset(&preset, task)?,
    };
    if stated.threads == 0 {
        stated.threads = app.threads();
    }
    if !rows.is_empty() {
        stated.rows = rows;
    }
    if !held_out.is_empty() {
        stated.held_out = held_out;
    }
    if !collections.is_empty() {
        stated.collections = collections;
    }
    stated.max_steps = max_steps.unwrap_or(stated.max_steps);
    stated.seed = seed.unwrap_or(stated.seed);
    stated.device = device.map_or(stated.device, Into::into);
    let unnamed = stated.init.as_os_str().is_empty();
    let name = init.or_else(|| unnamed.then(|| DEFAULT_INIT.to_owned()));
    // What is wrong with the rest is said before anything is fetched.
    if let Some(name) = &name {
        stated.init = name.into();
    }
    stated.check()?;
    if let Some(absent) = stated.rows.iter().chain(&stated.held_out).find(|path| !path.is_file()) {
        return Err(CommandError::user(format!("there is no file {}", absent.display()))
            .with_hint("pass files of rows as --rows FILE,FILE"));
    }
    if let Some(absent) = stated.collections.iter().find(|path| !path.is_dir()) {
        return Err(CommandError::user(format!("there is no folder {}", absent.display()))
            .with_hint("a collection consists of corpus.jsonl, queries.jsonl and qrels.tsv"));
    }
    if let Some(name) = &name {
        stated.init = app.block_on(models::ensure(app, name))??;
    }
    for path in stated.paths() {
        *path = std::path::absolute(&*path).user(|| format!("{} is not a path", path.display()))?;
    }
    Ok(stated)
}

/// Rows that were left out: file, line from 1, and why.
fn say_left_out<'a>(rows: impl Iterator<Item = (&'a Path, usize, &'a str)>, app: &App) {
    /// More are counted, not named.
    const MOST_NAMED: usize = 5;
    let mut more = 0;
    for (nth, (path, line, problem)) in rows.enumerate() {
        if nth < MOST_NAMED {
            app.printer.say(&format!("skipped {}:{line}: {problem}", path.display()));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        app.printer.say(&format!("skipped {more} more rows"));
    }
}

fn show(event: &Event<'_>, bar: &progress::Bar, app: &App) {
    match event {
        Event::Began { rows, held_out, unscored, rejected, from, device } => {
            let going_on =
                if *from > 0 { format!(", resuming from step {from}") } else { String::new() };
            app.printer
                .say(&format!("{rows} training rows, {held_out} held out, {device}{going_on}"));
            if *unscored > 0 {
                app.printer.say(&format!(
                    "{unscored} of them have no teacher scores: their loss is that of the labels alone"
                ));
            }
            let rows =
                rejected.iter().map(|row| (row.path.as_path(), row.line, row.problem.as_str()));
            say_left_out(rows, app);
        }
        Event::Step(progress) => {
            bar.set_length(progress.steps as u64);
            bar.set_position(progress.step as u64);
            bar.set_message(format!(
                "loss {:.3}, {:.0} tokens/s",
                progress.loss, progress.tokens_per_second
            ));
        }
        Event::Evaluated { step, values, best } => {
            let values: Vec<String> =
                values.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
            let best = if *best { ", the best so far" } else { "" };
            bar.suspend(|| app.printer.say(&format!("step {step}: {}{best}", values.join(", "))));
        }
    }
}

fn tell(task: Task, report: &Report, app: &App) -> Result<(), CommandError> {
    let Report { steps, ended, first, best, model } = report;
    if app.printer.json {
        let first: serde_json::Map<String, serde_json::Value> =
            first.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
        return app.printer.json(&serde_json::json!({
            "schema": "openscholar.train/1",
            "task": task,
            "steps": steps,
            "ended_early": *ended == Ended::Early,
            "first": first,
            "best_step": best.map(|(step, _)| step),
            "best_score": best.map(|(_, score)| score),
            "model": model,
        }));
    }
    let why = if *ended == Ended::Early {
        ": stopped early, no improvement on held-out rows"
    } else {
        ""
    };
    let best = best
        .map_or_else(String::new, |(step, score)| format!(", best {score:.4} after step {step}"));
    app.printer.out(&format!("{steps} steps{why}{best}\n{}", model.display()))
}
