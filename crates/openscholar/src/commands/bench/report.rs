//! `openscholar bench report RUNS…`: runs beside one another and beside what was published.

use std::path::Path;
use std::process::ExitCode;

use scholar_bench::scholarqa::journal::JOURNAL_FILE;
use scholar_bench::scholarqa::load;
use scholar_bench::scholarqa::report::document::slug;
use scholar_bench::scholarqa::report::pages::pages;
use scholar_bench::scholarqa::report::{Measured, Report, judge_of, report};
use scholar_bench::scholarqa::run::Run;
use scholar_bench::scholarqa::score::{SCORES_SCHEMA, Scores};

use crate::app::App;
use crate::args::BenchReportArgs;
use crate::error::{CommandError, Context as _};
use crate::runs;

pub(super) fn run(args: &BenchReportArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchReportArgs { runs: folders, out, name, no_pages } = args;
    let measured = folders.iter().map(|folder| read(folder, app)).collect::<Result<Vec<_>, _>>()?;
    let commands: Vec<String> =
        measured.iter().map(|one| format!("`{}`", one.run.manifest.command)).collect();
    let here = super::machine(app);
    let mut machines: Vec<&str> =
        measured.iter().map(|one| one.run.manifest.machine.as_str()).collect();
    machines.dedup();
    // A run may be older than the program that scores it, or come from elsewhere.
    let machine = if machines == [here.as_str()] {
        format!("Machine: {here}")
    } else {
        format!("Answered on: {}. Reported on: {here}", machines.join("; "))
    };
    let head = format!(
        "Made by `openscholar bench report`. The runs: {}. {machine}.",
        commands.join("; ")
    );
    let made = report(&measured, &head);
    if let Some(out) = out {
        write(out, &slug(name), &made, app)?;
        if !no_pages {
            for (path, page) in measured.iter().flat_map(pages) {
                let path = out.join(path);
                let folder = path.parent().unwrap_or(out);
                fs_err::create_dir_all(folder)
                    .map_err(|source| CommandError::unwritable(folder, source))?;
                runs::write_atomic(&path, page.as_bytes())?;
            }
        }
    }
    if app.printer.json {
        app.printer.json(&made.json)?;
    } else {
        app.printer.out(made.document.markdown().trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(out: &Path, name: &str, made: &Report, app: &App) -> Result<(), CommandError> {
    fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
    let json = format!("{:#}\n", made.json);
    let files = [
        ("md", made.document.markdown()),
        ("html", made.document.html()),
        ("csv", made.csv.clone()),
        ("json", json),
    ];
    for (extension, text) in files {
        runs::write_atomic(&out.join(format!("{name}.{extension}")), text.as_bytes())?;
    }
    for (file, svg) in made.document.figures() {
        runs::write_atomic(&out.join(file), svg.as_bytes())?;
    }
    app.printer.say(&format!("written to {}", out.join(format!("{name}.md")).display()));
    Ok(())
}

/// A run with its scores, sorted by file name, and its items where the task's file is still there.
fn read(folder: &Path, app: &App) -> Result<Measured, CommandError> {
    if !folder.join(JOURNAL_FILE).is_file() {
        return Err(CommandError::user(format!("{} is not a run folder", folder.display()))
            .with_hint(
                "create one: openscholar bench run TASK --system SYSTEM --data PATH --out RUN",
            ));
    }
    let run = Run::read(folder)?;
    let items = match load(run.manifest.task, &run.manifest.data) {
        Ok(loaded) => loaded.items,
        Err(error) => {
            app.printer.say(&format!("note: pages of items have no reference answers: {error}"));
            Vec::new()
        }
    };
    let names = files(folder)?;
    let mut pairwise = Vec::new();
    for name in names.iter().filter(|name| name.starts_with("pairwise-")) {
        pairwise.push(parsed(&folder.join(name))?);
    }
    let mut scores: Vec<Scores> = Vec::with_capacity(names.len());
    for name in names.iter().filter(|name| name.starts_with("scores-")) {
        let path = folder.join(name);
        let one: Scores = parsed(&path)?;
        if one.schema != SCORES_SCHEMA {
            return Err(CommandError::user(format!(
                "{} has the schema {:?} instead of {SCORES_SCHEMA:?}",
                path.display(),
                one.schema
            )));
        }
        // `auto` may be a judge that was also named.
        let known = |other: &Scores| judge_of(other) == judge_of(&one) && other.rules == one.rules;
        if !scores.iter().any(known) {
            scores.push(one);
        }
    }
    Ok(Measured { run, items, scores, pairwise })
}

/// Names of the JSON files of a run, sorted.
fn files(folder: &Path) -> Result<Vec<String>, CommandError> {
    let entries = fs_err::read_dir(folder).user(|| "the run cannot be listed".to_owned())?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"))
        .collect();
    names.sort();
    Ok(names)
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CommandError> {
    let text = fs_err::read_to_string(path).user(|| "scores cannot be read".to_owned())?;
    serde_json::from_str(&text)
        .user(|| format!("{} is damaged or of another version", path.display()))
        .map_err(|error| error.with_hint("openscholar bench score makes it again"))
}
