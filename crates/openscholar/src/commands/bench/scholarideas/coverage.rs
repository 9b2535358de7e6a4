//! `bench scholarideas coverage`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use scholar_bench::scholarideas::Dataset;
use scholar_bench::scholarideas::compare::{System, compare, markdown};
use scholar_bench::scholarideas::coverage::{COLUMNS, Grade, GradeOutcome, judge};
use scholar_bench::scholarideas::reports::Reports;
use scholar_bench::scholarideas::trained::grade_all;
use scholar_bench::scholarqa::report::document::slug;

use super::{dataset, name_of, reports, trained};
use crate::app::App;
use crate::args::{CoverageArgs, MeasureArg};
use crate::commands::bench::{judging, publish};
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::output::csv;
use crate::stop::unless_stopped;
use crate::{progress, runs};

/// Who graded, and what came of it.
struct Graded {
    grades: Vec<Grade>,
    /// For the report.
    method: String,
    pin: serde_json::Value,
    incomplete: Option<String>,
}

pub(super) fn run(args: &CoverageArgs, app: &App) -> Result<ExitCode, CommandError> {
    let dataset = dataset(&args.ideas)?;
    let reports = reports(&args.reports, &dataset, app)?;
    let name = name_of(args.name.as_deref(), &args.reports);
    let out = args.out.as_deref().unwrap_or(&args.reports);
    fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
    let graded = match args.measure {
        MeasureArg::Judge => judged(args, &dataset, &reports, out, app)?,
        MeasureArg::Trained => measured(args, &dataset, &reports, app)?,
    };
    let Graded { grades, method, pin, incomplete } = graded;
    let file = format!("coverage-{}", slug(&name));
    let path = out.join(format!("{file}.csv"));
    keep(&path, &grades)?;
    app.printer.say(&format!("grades written to {}", path.display()));
    let missing = grades.iter().filter(|grade| matches!(grade.outcome, GradeOutcome::Missing(_)));
    let missing = missing.count();
    let compared = compare(&[System { name: name.clone(), grades }]);
    let mut text = format!(
        "# Coverage of {name}\n\n{method}\n\n{missing} rubrics have no grade and are left out of every mean.\n\n"
    );
    if let Some(why) = &incomplete {
        // Writing to a string cannot fail.
        let _infallible = write!(text, "**Not complete:** {why}\n\n");
    }
    text += &markdown(&compared);
    let json = serde_json::json!({
        "schema": "openscholar.scholarideas-coverage/1", "system": name, "measure": pin, "missing": missing,
        "incomplete": incomplete, "slices": compared.systems,
    });
    let code = publish(&file, &text, &json, Some(out), app)?;
    Ok(if incomplete.is_none() { code } else { ExitCode::from(ErrorKind::Unavailable.code()) })
}

/// Writes the grades in the columns of the reference scorer.
fn keep(path: &Path, grades: &[Grade]) -> Result<(), CommandError> {
    let rows: Vec<Vec<String>> = grades.iter().map(Grade::cells).collect();
    runs::write_atomic(path, csv::write(&COLUMNS.map(str::to_owned), &rows).as_bytes())
}

fn judged(
    args: &CoverageArgs,
    dataset: &Dataset,
    reports: &Reports,
    out: &Path,
    app: &App,
) -> Result<Graded, CommandError> {
    app.block_on_to_the_end(async {
        let hint = "pass --base-url URL --model NAME, or --measure trained";
        let model = args.model.answer();
        let generator = judging::generator(&model, "--measure judge", hint, app).await?;
        let judge = judging::remembering(generator, out)?;
        let bar = progress::counted(&app.printer, "rubrics", Some(0)).with_message("judging");
        let shown = |done: usize, total: usize| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        let work = judge::judge_all(&judge, dataset, reports, args.parallel, &shown);
        let Some(judging) = unless_stopped(app.stop.wait(), work).await else {
            let said = "interrupted; what the judge said so far is kept";
            return Err(CommandError::interrupted_resumable(said));
        };
        bar.finish_and_clear();
        let pin = judge.coverage_pin();
        let method = format!(
            "Judged by {} ({}, {}), which saw neither the system's name nor other reports.",
            pin.name,
            pin.way,
            pin.prompts.join(", ")
        );
        let pin = serde_json::to_value(&pin).user(|| "cannot write JSON".to_owned())?;
        Ok(Graded { grades: judging.grades, method, pin, incomplete: judging.incomplete })
    })?
}

fn measured(
    args: &CoverageArgs,
    dataset: &Dataset,
    reports: &Reports,
    app: &App,
) -> Result<Graded, CommandError> {
    let path = args
        .calibration
        .as_deref()
        .ok_or_else(|| CommandError::usage("--measure trained needs --calibration FILE"))?;
    app.block_on(async {
        let models = trained::models(app).await?;
        let calibration = trained::calibration(path, &models.names())?;
        let seen = calibration.ideas.iter().filter(|id| reports.contains_key(id)).count();
        if seen > 0 {
            app.printer.say(&format!("note: the calibration has seen grades of {seen} of these ideas"));
        }
        let bar = progress::counted(&app.printer, "reports", Some(reports.len() as u64));
        let mut progress = || bar.inc(1);
        let grades = grade_all(&models, &calibration, dataset, reports, &mut progress).await?;
        bar.finish_and_clear();
        let names = &calibration.models;
        let method = format!(
            "Measured, not judged: nearness by {}, {} and {}, calibrated on {} rubrics of {} ideas graded by {}.",
            names.encoder,
            names.attributor,
            names.classifier,
            calibration.rubrics,
            calibration.ideas.len(),
            calibration.judge
        );
        let pin = serde_json::json!({"models": names, "judge": calibration.judge});
        Ok(Graded { grades, method, pin, incomplete: None })
    })?
}
