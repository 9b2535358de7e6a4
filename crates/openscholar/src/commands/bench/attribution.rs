//! Agreement of a judge with human labels.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use scholar_bench::attribution::{AttributionReport, SelectionReport, measure};

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::wiring::{judge, models};

pub(super) fn run(
    dir: &Path,
    named: &str,
    limit: Option<usize>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let report = app.block_on(async {
        let attributor = judge::alone(app, named).await?;
        let encoder = models::default_encoder(app).await?;
        measure(attributor.as_ref(), Some(encoder.as_ref()), dir, limit)
            .await
            .user(|| format!("{} cannot be measured", dir.display()))
    })??;
    let json = serde_json::to_value(&report).user(|| "cannot write JSON".to_owned())?;
    let limit = limit.map(|limit| format!(" --limit {limit}")).unwrap_or_default();
    let name = super::short(named);
    let text = render(&report, &format!("--judge {name}{limit}"), app);
    super::publish(&format!("attribution-{name}"), &text, &json, out, app)
}

fn render(report: &AttributionReport, options: &str, app: &App) -> String {
    let mut text = format!(
        "# Judge {}\n\nCommand: `openscholar bench attribution DIR {options}`. Machine: {}.\n\n\
         | set | n | supported | AUC (95 % interval) | accuracy | balanced accuracy | calibration error | that of exact scores, by chance: mean, 95 % below |\n|---|---|---|---|---|---|---|---|\n",
        report.judge,
        super::machine(app)
    );
    for set in &report.sets {
        let auc = set.auc.as_ref().map_or_else(
            || "–".to_owned(),
            |auc| format!("{:.3} ({:.3}–{:.3})", auc.value, auc.low, auc.high),
        );
        let (mean, high) = set.calibration_by_chance;
        let balanced = set
            .balanced_accuracy
            .as_ref()
            .map_or_else(|| "–".to_owned(), |value| format!("{:.3}", value.value));
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {auc} | {:.3} | {balanced} | {:.3} | {mean:.3}, {high:.3} |",
            set.name, set.n, set.supported, set.accuracy.value, set.calibration_error
        );
    }
    text.push_str(
        "\n| evidence sentences | selected by | n | candidates | first (95 % interval) | first two |\n|---|---|---|---|---|---|\n",
    );
    for selection in &report.selections {
        let SelectionReport { set, selector, n, mean_candidates, at_1, at_2 } = selection;
        let _infallible = writeln!(
            text,
            "| {set} | {selector} | {n} | {mean_candidates:.0} | {:.3} ({:.3}–{:.3}) | {:.3} |",
            at_1.value, at_1.low, at_1.high, at_2.value
        );
    }
    text
}
