//! `openscholar models recommend`: which language model to run in this process.

use std::process::ExitCode;

use scholar_clients::download::Installed;
use scholar_models::gguf::machine_limits;
use serde_json::json;

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::output::table::Table;
use crate::wiring::free_memory::free_memory;
use crate::wiring::{generator_choice, models};

use generator_choice::{Choice, Estimate, Speed};

/// Measures the machine, estimates every generator of the catalog, and recommends one.
pub(super) fn run(app: &App) -> Result<ExitCode, CommandError> {
    app.printer.say("measuring products and memory of this machine");
    let limits = machine_limits(app.threads()).user(|| "cannot start threads".to_owned())?;
    let speed = Speed { products_per_s: limits.products_per_s, bytes_per_s: limits.bytes_per_s };
    generator_choice::remember(app, speed)?;
    let free = free_memory();
    let catalog = models::catalog(app)?;
    let estimates: Vec<Estimate<'_>> = catalog
        .entries()
        .iter()
        .filter_map(|entry| Estimate::of(entry, free, Some(speed)))
        .collect();
    let Choice { name, reason } = generator_choice::choose(&estimates);
    let here = |name: &str| {
        Ok::<_, CommandError>(matches!(models::installed(app, name)?, Installed::Complete { .. }))
    };
    if app.printer.json {
        let rows = estimates
            .iter()
            .map(|estimate| Ok(json!({"estimate": estimate, "installed": here(estimate.name)?})))
            .collect::<Result<Vec<_>, CommandError>>()?;
        app.printer.json(&json!({
            "schema": "openscholar.models-recommend/1", "free_bytes": free, "speed": speed,
            "models": rows, "recommended": name, "reason": reason,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::with_header([
        "model",
        "memory",
        "fits",
        "reads tok/s",
        "writes tok/s",
        "an answer",
        "here",
        "tested",
    ]);
    for estimate in &estimates {
        let rate =
            |rate: Option<f64>| rate.map_or_else(|| "?".to_owned(), |rate| format!("{rate:.0}"));
        table.add_row([
            estimate.name.to_owned(),
            format!("{:.1} GB", estimate.memory_bytes as f64 / 1e9),
            if estimate.fits { "yes" } else { "no" }.to_owned(),
            rate(estimate.read_per_s),
            rate(estimate.written_per_s),
            estimate.answer_s.map_or_else(|| "?".to_owned(), |seconds| format!("{seconds:.0} s")),
            if here(estimate.name)? { "yes" } else { "" }.to_owned(),
            estimate.tested.to_owned(),
        ]);
    }
    app.printer.out(&table.to_string())?;
    app.printer.out(&format!("Recommended: {name}, because {reason}."))?;
    if !here(&name)? {
        app.printer
            .say(&format!("openscholar models pull {name} downloads it; nothing was downloaded"));
    }
    Ok(ExitCode::SUCCESS)
}
