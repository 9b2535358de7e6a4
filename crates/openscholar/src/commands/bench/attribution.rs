//! Agreement of a judge with human labels.

use std::path::Path;
use std::process::ExitCode;

use scholar_bench::attribution::{markdown, measure};

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::wiring::{judge, models};

pub(super) fn run(
    dir: &Path,
    named: &str,
    encoder: &str,
    limit: Option<usize>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let with = match encoder {
        crate::config::DEFAULT_ENCODER => String::new(),
        other => format!(" --encoder {}", super::short(other)),
    };
    let report = app.block_on(async {
        let attributor = judge::alone(app, named).await?;
        let encoder = models::encoder(app, encoder, models::Reading::WHOLE).await?;
        measure(attributor.as_ref(), Some(encoder.as_ref()), dir, limit)
            .await
            .user(|| format!("{} cannot be measured", dir.display()))
    })??;
    let json = serde_json::to_value(&report).user(|| "cannot write JSON".to_owned())?;
    let limit = limit.map(|limit| format!(" --limit {limit}")).unwrap_or_default();
    let name = super::short(named);
    let command = format!("openscholar bench attribution DIR --judge {name}{with}{limit}");
    let text = markdown(&report, &command, &super::machine(app));
    super::publish(&format!("attribution-{name}"), &text, &json, out, app)
}
