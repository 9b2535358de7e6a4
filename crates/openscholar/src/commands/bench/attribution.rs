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
    let command = format!("openscholar bench attribution DIR --judge {name}{limit}");
    let text = markdown(&report, &command, &super::machine(app));
    super::publish(&format!("attribution-{name}"), &text, &json, out, app)
}
