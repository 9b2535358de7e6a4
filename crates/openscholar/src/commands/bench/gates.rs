//! The content gates against people.

use std::path::Path;
use std::process::ExitCode;

use scholar_bench::attribution::data::Split;
use scholar_bench::gates::{markdown, measure};

use crate::app::App;
use crate::error::{CommandError, Context as _};

pub(super) fn run(
    dir: &Path,
    train: bool,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let (split, name, option) = match train {
        true => (Split::Train, "gates-train", " --train"),
        false => (Split::Dev, "gates", ""),
    };
    let report = measure(dir, split).user(|| format!("{} cannot be measured", dir.display()))?;
    let json = serde_json::to_value(&report).user(|| "cannot write JSON".to_owned())?;
    let command = format!("openscholar bench gates --data DIR{option}");
    let text = markdown(&report, &command, &super::machine(app));
    super::publish(name, &text, &json, out, app)
}
