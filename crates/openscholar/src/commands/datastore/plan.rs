//! `openscholar datastore plan`: how large and how long, before anything is started.
//!
//! Everything is a product of counts and constants; each constant is an option whose default names where it was
//! measured.

use std::process::ExitCode;

use scholar_datastore::dense::ivf::IvfOptions;
use serde::Serialize;

use crate::app::App;
use crate::args::PlanArgs;
use crate::error::CommandError;
use crate::output::table::Table;

/// Bytes of a stored 16-bit value.
const VECTOR_VALUE_BYTES: f64 = 2.0;
/// Bytes of the inverted index that belong to a vector beside one bit for each value: offset, slope and row, four each.
const CODE_EXTRA_BYTES: f64 = 12.0;
/// Bytes of a centroid's value.
const CENTROID_VALUE_BYTES: f64 = 4.0;
/// Numbers in the vectors that `--index-rate` speaks of; the work grows with their length.
const INDEX_RATE_DIM: f64 = 768.0;
/// Memory of a program that searches, before any index: an estimate, about what `bench search` shows on a small store.
const PROGRAM_BYTES: f64 = 300e6;

/// What a datastore will need.
#[derive(Debug, Serialize)]
struct Plan {
    papers: f64,
    passages: f64,
    vector_bytes: f64,
    index_bytes: f64,
    lexical_bytes: f64,
    disk_bytes: f64,
    /// Mapped codes that every search touches, and the program.
    search_memory_bytes: f64,
    read_hours: f64,
    encode_hours: f64,
    /// On one machine, after the parts are merged.
    index_hours: f64,
    hours: f64,
}

impl Plan {
    fn of(args: &PlanArgs) -> Self {
        let PlanArgs {
            papers,
            dim,
            passages_per_paper,
            bytes_per_passage,
            ingest_rate,
            encode_rate,
            index_rate,
            machines,
        } = *args;
        let passages = papers * passages_per_paper;
        let vector_bytes = passages * dim * VECTOR_VALUE_BYTES;
        let index_bytes = index_bytes(passages, dim);
        let lexical_bytes = passages * bytes_per_passage;
        let hours = |rate: f64| passages / rate / 3600.0 / machines;
        let (read_hours, encode_hours) = (hours(ingest_rate), hours(encode_rate));
        let index_hours = passages * dim / INDEX_RATE_DIM / index_rate / 3600.0;
        Self {
            papers,
            passages,
            vector_bytes,
            index_bytes,
            lexical_bytes,
            disk_bytes: vector_bytes + index_bytes + lexical_bytes,
            search_memory_bytes: search_memory_bytes(passages, dim),
            read_hours,
            encode_hours,
            index_hours,
            hours: read_hours + encode_hours + index_hours,
        }
    }
}

/// Of the inverted index of so many vectors of `dim` numbers.
fn index_bytes(passages: f64, dim: f64) -> f64 {
    let lists = IvfOptions::for_rows(passages as usize).nlist as f64;
    passages * (dim / 8.0 + CODE_EXTRA_BYTES) + lists * dim * CENTROID_VALUE_BYTES
}

/// What searching so many passages had better have.
pub(crate) fn search_memory_bytes(passages: f64, dim: f64) -> f64 {
    index_bytes(passages, dim) + PROGRAM_BYTES
}

pub(super) fn run(args: &PlanArgs, app: &App) -> Result<ExitCode, CommandError> {
    let plan = Plan::of(args);
    if app.printer.json {
        app.printer.json(&serde_json::json!({"schema": "openscholar.plan/1", "plan": plan}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let PlanArgs {
        dim,
        passages_per_paper,
        bytes_per_passage,
        ingest_rate,
        encode_rate,
        index_rate,
        machines,
        ..
    } = args;
    let mut table = Table::with_header(["what", "predicted", "from"]);
    let giga = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    let rows = [
        ("passages", format!("{:.0}", plan.passages), format!("{passages_per_paper} per paper")),
        ("vectors on disk", giga(plan.vector_bytes), format!("{dim} values of 16 bits each")),
        (
            "index of the vectors",
            giga(plan.index_bytes),
            format!("{dim} bits and {CODE_EXTRA_BYTES} bytes each"),
        ),
        (
            "texts and lexical index",
            giga(plan.lexical_bytes),
            format!("{bytes_per_passage} bytes per passage"),
        ),
        ("disk in all", giga(plan.disk_bytes), "while merging up to half of it again".to_owned()),
        (
            "memory to search",
            giga(plan.search_memory_bytes),
            "the index of the vectors in the system's cache; less works, slower".to_owned(),
        ),
        (
            "read, cut, index",
            format!("{:.1} h", plan.read_hours),
            format!("{ingest_rate} passages/s on each of {machines} machines"),
        ),
        (
            "encode",
            format!("{:.1} h", plan.encode_hours),
            format!("{encode_rate} passages/s on each of {machines} machines"),
        ),
        (
            "make the index of the vectors",
            format!("{:.1} h", plan.index_hours),
            format!("{index_rate} vectors/s of {INDEX_RATE_DIM} numbers, on one machine"),
        ),
    ];
    for (what, value, from) in rows {
        table.add_row([what.to_owned(), value, from]);
    }
    app.printer.out(&table.to_string())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_the_product_of_its_parts() {
        let args = PlanArgs {
            papers: 1_000.0,
            dim: 768.0,
            passages_per_paper: 5.0,
            bytes_per_passage: 2_000.0,
            ingest_rate: 5_000.0,
            encode_rate: 50.0,
            index_rate: 10_000.0,
            machines: 2.0,
        };
        let plan = Plan::of(&args);
        let close =
            |value: f64, expect: f64| assert!((value - expect).abs() < 1e-6 * expect, "{value}");
        close(plan.passages, 5_000.0);
        close(plan.vector_bytes, 5_000.0 * 1_536.0);
        close(plan.lexical_bytes, 1e7);
        close(plan.encode_hours, 50.0 / 3_600.0);
        close(plan.index_hours, 0.5 / 3_600.0);
        close(plan.hours, plan.read_hours + plan.encode_hours + plan.index_hours);
        close(plan.disk_bytes, plan.vector_bytes + plan.index_bytes + plan.lexical_bytes);
    }
}
