//! The content gates against people.

use std::path::Path;
use std::process::ExitCode;

use scholar_bench::attribution::data::Split;
use scholar_bench::gates::calibration::calibration;
use scholar_bench::gates::{markdown, measure};

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::wiring::{judge, models};

pub(super) fn run(
    dir: &Path,
    train: bool,
    named: Option<&str>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let (split, name, option) = match train {
        true => (Split::Train, "gates-train", " --train"),
        false => (Split::Dev, "gates", ""),
    };
    let mut report =
        measure(dir, split).user(|| format!("{} cannot be measured", dir.display()))?;
    if let Some(named) = named {
        let measured = app.block_on(async {
            let attributor = judge::alone(app, named).await?;
            let name = super::encoder_name(None, app);
            let encoder = models::encoder(app, name, models::Reading::WHOLE).await?;
            calibration(attributor.as_ref(), Some(encoder.as_ref()), dir)
                .await
                .user(|| format!("{} cannot be measured", dir.display()))
        })??;
        report.calibration = Some(measured);
    }
    let json = serde_json::to_value(&report).user(|| "cannot write JSON".to_owned())?;
    let judge = named.map(|name| format!(" --judge {}", super::short(name))).unwrap_or_default();
    let command = format!("openscholar bench gates --data DIR{option}{judge}");
    let text = markdown(&report, &command, &super::machine(app));
    super::publish(name, &text, &json, out, app)
}
