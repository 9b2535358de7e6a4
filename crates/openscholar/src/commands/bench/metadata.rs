//! `bench metadata`: whether title, authors, year, venue and identifiers of PDFs are read as they are printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use scholar_bench::metadata::{
    Gold, MetadataReport, PairRow, Row, Stated, Timing, catalog, gold, pairs, verdicts,
};
use scholar_datastore::files;
use scholar_formats::{Document, DocumentFormat, ReadLimits, document};
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::args::BenchMetadataArgs;
use crate::commands::bench::{machine, publish};
use crate::error::{CommandError, Context as _};

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

pub(super) fn run(args: &BenchMetadataArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchMetadataArgs { folder, catalog: file, grobid, out } = args;
    let named = pdfs(folder)?;
    let packed = files::read(file, ReadLimits::default().bytes)?;
    let wanted: BTreeMap<String, &Path> =
        named.iter().filter_map(|path| Some((anthology_id(path)?, path.as_path()))).collect();
    let records = catalog(&packed[..], packed.starts_with(&GZIP), |id| wanted.contains_key(id))
        .user(|| file.display().to_string())?;
    let (known, unlisted) = gold(&records).user(|| "the list of printed metadata".to_owned())?;
    let by_id: BTreeMap<&str, &Gold> = known.iter().map(|one| (one.id.as_str(), one)).collect();
    let mut timing = Timing { files: named.len(), ..Timing::default() };
    let mut rows = Vec::new();
    for path in &named {
        let bytes = files::read(path, ReadLimits::default().bytes)?;
        let began = Instant::now();
        let read = read(&bytes);
        let seconds = began.elapsed().as_secs_f64();
        timing.seconds += seconds;
        timing.slowest = timing.slowest.max(seconds);
        timing.failed += usize::from(read.is_err());
        let id = anthology_id(path);
        if let Some(gold) = id.and_then(|id| by_id.get(id.as_str())) {
            let reading =
                read.as_ref().map(|one| (&one.paper.meta, &one.fields)).map_err(Clone::clone);
            rows.push(Row::new(gold, is_development(&bytes), reading));
        }
    }
    if rows.is_empty() {
        let hint =
            format!("{} has no PDF that is named after a paper of the catalogue", folder.display());
        return Err(CommandError::user(hint));
    }
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    let pairs = grobid.as_deref().map(compared).transpose()?.unwrap_or_default();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let option =
        grobid.as_deref().map(|path| format!(" --grobid {}", name(path))).unwrap_or_default();
    let report = MetadataReport {
        command: &format!(
            "openscholar bench metadata {} --catalog {}{option}",
            name(folder),
            name(file)
        ),
        machine: &machine(app),
        rows: &rows,
        unlisted: &unlisted,
        pairs: &pairs,
        timing,
    };
    publish("metadata", &report.markdown(), &report.json(), out.as_deref(), app)
}

/// Reads bytes and nothing else: the name of the file, which states the identifier, does not come here.
fn read(bytes: &[u8]) -> Result<Document, String> {
    document::read(DocumentFormat::Pdf, bytes, ReadLimits::default())
        .map_err(|error| error.to_string())
}

/// PDFs right in a folder, by name.
fn pdfs(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let unreadable = |source: std::io::Error| CommandError::user(source.to_string());
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf")) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The identifier in a file's name, behind the name of the collection.
fn anthology_id(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let id = stem.rsplit("__").next().unwrap_or(stem);
    Some(id.to_owned())
}

/// Whether the SHA-256 of a file begins with an even digit.
fn is_development(bytes: &[u8]) -> bool {
    let digest = Sha256::digest(bytes);
    (digest[0] >> 4).is_multiple_of(2)
}

/// Both readings of each pair of a PDF and a TEI that the list of what they print has.
fn compared(folder: &Path) -> Result<Vec<PairRow>, CommandError> {
    let printed = pairs().user(|| "the list of printed metadata".to_owned())?;
    let mut rows = Vec::new();
    for path in pdfs(folder)? {
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let tei = path.with_file_name(format!("{name}.tei.xml"));
        let Some(gold) = printed.get(name).filter(|_| tei.exists()) else { continue };
        let most = ReadLimits::default().bytes;
        let own = read(&files::read(&path, most)?);
        let theirs =
            document::read(DocumentFormat::Tei, &files::read(&tei, most)?, ReadLimits::default())
                .map_err(|error| error.to_string());
        let judged = |read: Result<Document, String>| {
            let stated = read.map(|one| Stated::of(&one.paper.meta)).unwrap_or_default();
            verdicts(&stated, gold, gold)
        };
        rows.push(PairRow { name: name.to_owned(), own: judged(own), tei: judged(theirs) });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_state_identifiers_and_digests_decide_halves() {
        let id = |name: &str| anthology_id(Path::new(name));
        assert_eq!(id("/x/acl_scisumm__P03-1039.pdf").as_deref(), Some("P03-1039"));
        assert_eq!(id("N18-3011.pdf").as_deref(), Some("N18-3011"));
        // SHA-256 of nothing begins with e3, of `a` with ca, of `b` with 3e.
        assert!(is_development(b"") && is_development(b"a") && !is_development(b"b"));
    }
}
