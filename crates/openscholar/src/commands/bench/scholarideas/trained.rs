//! `bench scholarideas calibrate` and `agree`: the trained measure of coverage.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use scholar_bench::scholarideas::IdeaId;
use scholar_bench::scholarideas::coverage::{Grade, read_grades};
use scholar_bench::scholarideas::reports::{Reports, read_reports};
use scholar_bench::scholarideas::trained::agreement::{AgreementReport, agreement};
use scholar_bench::scholarideas::trained::{
    Calibration, CalibrationRow, CoverageModels, ModelNames, calibration_rows,
};
use scholar_core::Encoder as _;

use super::{LARGEST, name_of, table};
use crate::app::App;
use crate::args::{AgreeArgs, CalibrateArgs, GradedReports};
use crate::commands::bench::publish;
use crate::config::DEFAULT_JUDGE;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::wiring::{judge, models as wired, sentences};
use crate::{progress, runs};

/// The models that the program carries.
pub(super) async fn models(app: &App) -> Result<CoverageModels, CommandError> {
    let encoder = wired::default_encoder(app).await?;
    let classifier = sentences::open(app, encoder.info()).await?.ok_or_else(|| {
        CommandError::new(
            ErrorKind::Bug,
            "the sentence classifier does not fit the default encoder",
        )
    })?;
    let attributor = judge::alone(app, DEFAULT_JUDGE).await?;
    Ok(CoverageModels { encoder, attributor, classifier })
}

/// The calibration in a file.
pub(super) fn calibration(path: &Path, models: &ModelNames) -> Result<Calibration, CommandError> {
    let text = scholar_datastore::files::read_text(path, LARGEST)?;
    Calibration::parse(&text, models)
        .user(|| format!("{} cannot be used", path.display()))
        .map_err(|error| error.with_hint("openscholar bench scholarideas calibrate makes one"))
}

/// One system's reports with a judge's grades of them.
struct Graded {
    name: String,
    reports: Reports,
    grades: Vec<Grade>,
}

fn read(graded: &[GradedReports]) -> Result<Vec<Graded>, CommandError> {
    let one = |GradedReports { reports, grades }: &GradedReports| {
        let found =
            read_reports(reports).user(|| format!("{} has no reports", reports.display()))?;
        let mut grades = read_grades(&table(grades)?)
            .user(|| format!("{} is not a file of grades", grades.display()))?;
        grades.retain(|grade| found.contains_key(&grade.idea));
        if grades.is_empty() {
            return Err(CommandError::user(format!(
                "no graded rubric is of a report in {}",
                reports.display()
            )));
        }
        Ok(Graded { name: name_of(None, reports), reports: found, grades })
    };
    graded.iter().map(one).collect()
}

/// The graded rubrics of the ideas that are `wanted`, measured on their reports, by system.
fn measured(
    graded: Vec<Graded>,
    wanted: impl Fn(IdeaId) -> bool,
    models: &CoverageModels,
    app: &App,
) -> Result<Vec<(String, Vec<CalibrationRow>)>, CommandError> {
    let mut systems = Vec::new();
    for Graded { name, mut reports, mut grades } in graded {
        reports.retain(|idea, _| wanted(*idea));
        grades.retain(|grade| wanted(grade.idea));
        let bar = progress::counted(&app.printer, "reports", Some(reports.len() as u64));
        let rows =
            app.block_on(calibration_rows(models, &grades, &reports, &mut || bar.inc(1)))??;
        bar.finish_and_clear();
        systems.push((name, rows));
    }
    Ok(systems)
}

/// Every other idea, in order.
fn every_other(graded: &[Graded]) -> Vec<IdeaId> {
    let all: BTreeSet<IdeaId> =
        graded.iter().flat_map(|one| one.grades.iter().map(|grade| grade.idea)).collect();
    all.into_iter().step_by(2).collect()
}

pub(super) fn calibrate(args: &CalibrateArgs, app: &App) -> Result<ExitCode, CommandError> {
    let models = app.block_on(models(app))??;
    let graded = read(&args.graded)?;
    let ideas = if args.ideas.is_empty() { every_other(&graded) } else { args.ideas.clone() };
    let systems = measured(graded, |idea| ideas.contains(&idea), &models, app)?;
    let rows: Vec<CalibrationRow> = systems.into_iter().flat_map(|(_, rows)| rows).collect();
    let calibration = Calibration::fit(&rows, models.names(), &args.judge)
        .user(|| "there is nothing to calibrate on".to_owned())?;
    let text =
        serde_json::to_string_pretty(&calibration).user(|| "cannot write JSON".to_owned())?;
    runs::write_atomic(&args.output, format!("{text}\n").as_bytes())?;
    app.printer.say(&format!(
        "calibrated on {} rubrics of {} ideas; written to {}",
        calibration.rubrics,
        calibration.ideas.len(),
        args.output.display()
    ));
    if app.printer.json {
        app.printer.json(&calibration)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn agree(args: &AgreeArgs, app: &App) -> Result<ExitCode, CommandError> {
    let models = app.block_on(models(app))??;
    let calibration = calibration(&args.calibration, &models.names())?;
    let seen = |idea: IdeaId| calibration.ideas.contains(&idea);
    let graded = read(&args.graded)?;
    let left_out = graded
        .iter()
        .flat_map(|one| &one.grades)
        .filter(|one| seen(one.idea) && one.score().is_some());
    let left_out = left_out.count();
    let systems = measured(graded, |idea| !seen(idea), &models, app)?;
    let report = AgreementReport { left_out, ..agreement(&calibration, &systems) };
    if report.systems.is_empty() {
        return Err(CommandError::user("the calibration has seen every graded idea")
            .with_hint("leave ideas out of it: calibrate --ideas"));
    }
    let text = format!(
        "# The trained measure of coverage beside a judge\n\n{}",
        report.markdown(&calibration)
    );
    let json = serde_json::to_value(&report).user(|| "cannot write JSON".to_owned())?;
    publish("coverage-agreement", &text, &json, args.out.as_deref(), app)
}
