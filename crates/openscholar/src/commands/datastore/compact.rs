//! `openscholar datastore compact`.

use std::process::ExitCode;

use scholar_datastore::{Bits, CompactOptions, CompactReport, Datastore};

use crate::app::App;
use crate::args::CompactArgs;
use crate::error::{CommandError, ErrorKind};
use crate::progress;
use crate::wiring::store_writer;

pub(super) fn run(name: &str, args: &CompactArgs, app: &App) -> Result<ExitCode, CommandError> {
    let CompactArgs { name: _, nlist, indexed_from, bits } = args;
    let bits = bits
        .map(|count| {
            Bits::of_count(count)
                .ok_or_else(|| CommandError::user(format!("--bits {count} is neither 1 nor 4")))
        })
        .transpose()?;
    let store = Datastore::open(&app.home.datastore(name)?)?;
    let mut options = CompactOptions { nlist: *nlist, bits, ..CompactOptions::standard() };
    options.policy.indexed_from = indexed_from.unwrap_or(options.policy.indexed_from);
    let mut writer = store_writer::open(name, &store, false, app)?;
    app.heed_signals()?;
    let bar = progress::counted(&app.printer, "rows", Some(0));
    let report = writer.compact(&options, &mut |step| {
        progress::show_index(&bar, step);
        app.until_stopped()
    })?;
    bar.finish_and_clear();
    drop(writer);
    let CompactReport { segments_before, segments, rows_dropped, rows_indexed, interrupted } =
        &report;
    if *interrupted {
        return Err(CommandError::new(
            ErrorKind::Interrupted,
            "interrupted; finished merges are saved",
        )
        .with_hint(format!("openscholar datastore compact {name} resumes")));
    }
    if app.printer.json {
        app.printer.json(&serde_json::json!({"schema": "openscholar.compact/1", "datastore": name, "report": report}))?;
    } else {
        app.printer.out(&format!(
            "{name}: {segments_before} dense segments became {segments}, {rows_dropped} rows of removed passages were dropped, {rows_indexed} rows are in an inverted index"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
