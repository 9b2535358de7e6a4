//! Other libraries on the same vectors, through a Python script in the same run.

use std::path::Path;
use std::process::Command;

use scholar_bench::performance::index::IndexPoint;
use scholar_datastore::dense::StandaloneIndex;
use scholar_datastore::dense::file::HEADER_BYTES;
use serde::Deserialize;

use crate::app::App;
use crate::args::BenchIndexArgs;
use crate::error::{CommandError, Context as _};

/// The script that measures them.
const SCRIPT: &str = include_str!("../../../../../scholar-datastore/scripts/peer_indexes.py");

/// What peers are measured on.
pub(super) struct PeerRun<'a> {
    pub(super) index: &'a StandaloneIndex,
    pub(super) queries: &'a [Vec<f32>],
    pub(super) truth: &'a [Vec<u32>],
    pub(super) folder: &'a Path,
    pub(super) lists: usize,
}

/// One line of the script.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Measured(IndexPoint),
    Missing { engine: String, error: String },
}

pub(super) fn measure(
    python: &Path,
    on: &PeerRun<'_>,
    args: &BenchIndexArgs,
    app: &App,
    points: &mut Vec<IndexPoint>,
    missing: &mut Vec<String>,
) -> Result<(), CommandError> {
    let PeerRun { index, queries, truth, folder, lists } = on;
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.join(name);
        fs_err::write(&path, bytes).map_err(|source| CommandError::unwritable(&path, source))?;
        Ok::<_, CommandError>(path)
    };
    let script = write("peer_indexes.py", SCRIPT.into())?;
    let bytes = queries.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let queries_path = write("queries.f32", bytes)?;
    let truth_path =
        write("truth.u32", truth.iter().flatten().flat_map(|row| row.to_le_bytes()).collect())?;
    let dim = queries.first().map_or(0, Vec::len);
    app.printer.say(&format!("measuring {} on {} rows", args.peers, index.rows()));
    let output = Command::new(python)
        .arg(script)
        .arg(index.path())
        .args([HEADER_BYTES.to_string(), dim.to_string()])
        .arg(queries_path)
        .arg(truth_path)
        .args([
            args.top_k.to_string(),
            lists.to_string(),
            app.threads().to_string(),
            args.peers.clone(),
        ])
        .output()
        .user(|| format!("cannot run {}", python.display()))?;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match serde_json::from_str(line) {
            Ok(Line::Measured(point)) => points.push(point),
            Ok(Line::Missing { engine, error }) => missing.push(format!("{engine}: {error}")),
            Err(_) => missing.push(format!("a line that is no measurement: {line}")),
        }
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        missing.push(format!("peers: {}", said.lines().last().unwrap_or("the script failed")));
    }
    Ok(())
}
