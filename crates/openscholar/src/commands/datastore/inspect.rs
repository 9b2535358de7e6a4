//! `openscholar datastore info` and `verify`.

use std::process::ExitCode;

use scholar_datastore::graph::LinkTotals;
use scholar_datastore::{Datastore, DatastoreInfo, Depth};

use crate::app::App;
use crate::error::CommandError;
use crate::output::table::Table;
use crate::progress;
use crate::wiring::models;

/// Passages encoded again by `verify --deep`.
const DEEP_SAMPLE: usize = 64;

pub(super) fn info(name: &str, app: &App) -> Result<ExitCode, CommandError> {
    let store = Datastore::open(&app.existing_datastore(name)?)?;
    let info = store.info()?;
    let links = store.graph()?.totals()?;
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.datastore/1", "name": name, "info": info, "links": links,
        }))?;
    } else {
        print_info(name, &info, links, app)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what a datastore holds as a table.
pub(super) fn print_info(
    name: &str,
    info: &DatastoreInfo,
    links: LinkTotals,
    app: &App,
) -> Result<(), CommandError> {
    let mut table = Table::with_header(["datastore", name]);
    let encoder = &info.encoder;
    let formats = info.formats;
    let rows = [
        ("papers", info.papers.to_string()),
        ("passages", info.passages.to_string()),
        ("citation links", describe(links)),
        (
            "encoder",
            format!("{} ({} numbers, {} tokens)", encoder.name, encoder.dim, encoder.max_tokens),
        ),
        ("fingerprint", encoder.fingerprint.clone()),
        (
            "formats",
            format!(
                "datastore {}, manifest {}, dense {}, lexical {}",
                formats.datastore, formats.manifest, formats.dense, formats.lexical
            ),
        ),
        (
            "vectors",
            format!(
                "{} in {} segments, {} with an inverted index",
                info.vectors, info.dense_segments, info.indexed_segments
            ),
        ),
        (
            "on disk",
            format!(
                "{:.1} MB vectors, {:.1} MB texts and lexical index",
                mega(info.dense_bytes),
                mega(info.lexical_bytes)
            ),
        ),
        (
            "memory to search",
            format!(
                "{:.1} MB, {:.1} MB more for each query at a time; of {:.1} MB a little is read",
                mega(info.memory.allocated_bytes + info.memory.hot_bytes),
                mega(info.memory.per_query_bytes),
                mega(info.memory.cold_bytes)
            ),
        ),
    ];
    for (what, value) in rows {
        table.add_row([what.to_owned(), value]);
    }
    if info.unnamed_bytes > 0 {
        let waits = format!("{:.1} MB that no commit names", mega(info.unnamed_bytes));
        table.add_row(["removed by the next writer".to_owned(), waits]);
    }
    for part in &info.parts {
        table.add_row([part.part.to_owned(), format!("{:.1} MB", mega(part.bytes))]);
    }
    for source in &info.sources {
        table.add_row([format!("from {}", source.source), format!("{} papers", source.papers)]);
    }
    app.printer.out(&table.to_string())
}

fn describe(links: LinkTotals) -> String {
    let LinkTotals { citing, cited, references, inner } = links;
    if references == 0 {
        return "none".to_owned();
    }
    format!(
        "{citing} papers have references ({references}, {inner} of them to papers here), {cited} papers are cited by one here"
    )
}

pub(super) fn verify(name: &str, deep: bool, app: &App) -> Result<ExitCode, CommandError> {
    let path = app.existing_datastore(name)?;
    // Before it is opened: files that are damaged are not believed.
    let bar = progress::bytes(&app.printer, Some(0)).with_message(format!("reading {name}"));
    let files = Datastore::check_files(&path, &mut |done| {
        bar.set_length(done.of_bytes);
        bar.set_position(done.bytes);
    })?;
    bar.finish_and_clear();
    let store = Datastore::open(&path)?;
    let mut report = if deep {
        let stored = store.descriptor().encoder.clone();
        let encoder = app.block_on(models::encoder(app, &stored.name, (&stored).into()))??;
        app.printer.say(&format!("encoding {DEEP_SAMPLE} passages again"));
        store.verify(Depth::Quick, Some((encoder.as_ref(), DEEP_SAMPLE)))?
    } else {
        store.verify(Depth::Quick, None)?
    };
    report.files = files;
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.verify/1", "name": name, "report": report}),
        )?;
    } else {
        let encoded = if report.encoded > 0 {
            format!("; {} encoded again: least cosine {:.5}", report.encoded, report.least_cosine)
        } else {
            String::new()
        };
        app.printer.out(&format!(
            "{name} is whole: the checksums of {} lexical and {} dense files ({:.1} MB), descriptor and commit; \
             {} passages with their vectors{encoded}",
            files.lexical_files,
            files.dense_files,
            mega(files.bytes),
            report.passages,
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
