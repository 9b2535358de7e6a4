//! The content gates against people.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use scholar_bench::attribution::data::Split;
use scholar_bench::gates::calibration::calibration;
use scholar_bench::gates::{Checked, blind, check, markdown, report};

use crate::app::App;
use crate::args::BenchGatesArgs;
use crate::error::{CommandError, Context as _};
use crate::runs;
use crate::wiring::{judge, models};

pub(super) fn run(args: &BenchGatesArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchGatesArgs { dir, train, judge, sheet, key, verdicts, out } = args;
    let (split, name, option) = match train {
        true => (Split::Train, "gates-train", " --train"),
        false => (Split::Dev, "gates", ""),
    };
    let failed = || format!("{} cannot be measured", dir.display());
    let checked = check(dir, split).user(failed)?;
    if let (Some(sheet), Some(key)) = (sheet, key) {
        return write_sheet(&checked, sheet, key, app);
    }
    let mut measured = report(&checked);
    let mut command = format!("openscholar bench gates --data DIR{option}");
    if let Some(named) = judge {
        let judged = app.block_on(async {
            let attributor = judge::alone(app, named).await?;
            let name = super::encoder_name(None, app);
            let encoder = models::encoder(app, name, models::Reading::WHOLE).await?;
            calibration(attributor.as_ref(), Some(encoder.as_ref()), dir).await.user(failed)
        })??;
        measured.calibration = Some(judged);
        let _infallible = write!(command, " --judge {}", super::short(named));
    }
    if let (Some(key), Some(verdicts)) = (key, verdicts) {
        let unusable = || "the verdicts cannot be used".to_owned();
        let voted = blind::votes(key, verdicts).user(unusable)?;
        measured.blind = Some(blind::judged(&checked, &voted).user(unusable)?);
        let (key, verdicts) = (key.display(), verdicts.display());
        let _infallible = write!(command, " --key {key} --verdicts {verdicts}");
    }
    let json = serde_json::to_value(&measured).user(|| "cannot write JSON".to_owned())?;
    let text = markdown(&measured, &command, &super::machine(app));
    super::publish(name, &text, &json, out.as_deref(), app)
}

/// Writes what judges read, and what it means.
fn write_sheet(
    checked: &[Checked],
    sheet: &Path,
    key: &Path,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let drawn = blind::draw(checked);
    runs::write_atomic(sheet, blind::sheet(&drawn).as_bytes())?;
    runs::write_atomic(key, blind::key(&drawn).as_bytes())?;
    app.printer.say(&format!(
        "{} sentences written to {}, what they are to {}",
        drawn.len(),
        sheet.display(),
        key.display()
    ));
    Ok(ExitCode::SUCCESS)
}
