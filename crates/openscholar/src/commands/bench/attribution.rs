//! Agreement of a judge with human labels.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::attribution::{AttributionReport, measure};
use scholar_core::Attributor;
use scholar_models::gguf::{GgufGenerator, GgufOptions};
use scholar_pipeline::proof::{GeneratorAttributor, LexicalAttributor};

use crate::app::App;
use crate::config::DEFAULT_GENERATOR;
use crate::error::{CommandError, Context as _};
use crate::wiring::models;

pub(super) fn run(
    dir: &Path,
    judge: &str,
    limit: Option<usize>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let report = app.block_on(async {
        let attributor: Arc<dyn Attributor> = match judge {
            "lexical" => Arc::new(LexicalAttributor::new()),
            "embedded" => {
                let path = models::gguf(app, DEFAULT_GENERATOR).await?;
                let options = GgufOptions {
                    name: Some(DEFAULT_GENERATOR.to_owned()),
                    ..GgufOptions::laptop()
                };
                Arc::new(GeneratorAttributor::new(Arc::new(GgufGenerator::open(&path, options)?)))
            }
            other => {
                return Err(CommandError::user(format!("there is no judge {other:?}"))
                    .with_hint("the judges are lexical and embedded"));
            }
        };
        let encoder = models::default_encoder(app).await?;
        measure(attributor.as_ref(), Some(encoder.as_ref()), dir, limit)
            .await
            .user(|| format!("{} cannot be measured", dir.display()))
    })??;
    let json = serde_json::to_value(&report).user(|| "cannot write JSON".to_owned())?;
    let limit = limit.map(|limit| format!(" --limit {limit}")).unwrap_or_default();
    let text = render(&report, &format!("--judge {judge}{limit}"), app);
    super::publish(&format!("attribution-{judge}"), &text, &json, out, app)
}

fn render(report: &AttributionReport, options: &str, app: &App) -> String {
    let mut text = format!(
        "# Judge {}\n\nCommand: `openscholar bench attribution DIR {options}`. Machine: {}.\n\n\
         | set | n | supported | AUC (95 % interval) | accuracy | balanced accuracy | calibration error |\n|---|---|---|---|---|---|---|\n",
        report.judge,
        super::machine(app)
    );
    for set in &report.sets {
        let auc = set.auc.as_ref().map_or_else(
            || "–".to_owned(),
            |auc| format!("{:.3} ({:.3}–{:.3})", auc.value, auc.low, auc.high),
        );
        let balanced = set
            .balanced_accuracy
            .as_ref()
            .map_or_else(|| "–".to_owned(), |value| format!("{:.3}", value.value));
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {auc} | {:.3} | {balanced} | {:.3} |",
            set.name, set.n, set.supported, set.accuracy.value, set.calibration_error
        );
    }
    let selection = &report.selection;
    let _infallible = writeln!(
        text,
        "\nSentence selection (CL-SciSumm, {} citing sentences, {:.0} candidates each): first {:.3}, first two {:.3}.",
        selection.n, selection.mean_candidates, selection.at_1.value, selection.at_2.value
    );
    text
}
