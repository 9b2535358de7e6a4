//! Readers of files: documents, libraries, Zotero's database, rows of papers.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use scholar_datastore::ingest::{
    FilePart, Limits, PaperReader, ReadOptions, S2Join, format_of, is_dump,
};
use scholar_formats::document::{self, DocumentFormat, ReadLimits};
use scholar_formats::export::{self, ListFormat};
use scholar_formats::library::{self, LibraryFormat};
use scholar_testing::mutate::{Random, mutate, overwrite};

use super::{Reader, Subject};
use crate::commands::papers::intake::walk::{self, Links};
use crate::error::{CommandError, Context as _};

/// One row of each format that the datastore takes.
const ROWS: &str = include_str!("rows.jsonl");

/// Larger files are left out: what breaks a reader is the shape of its input.
const LARGEST: u64 = 300_000;

/// Time that a reader of documents may take before it gives up by itself.
const TIME: Duration = Duration::from_secs(4);

/// Everything that reads files, with the good files below `paths`; lists of papers and rows are always there.
pub(super) fn subjects(paths: &[PathBuf]) -> Result<Vec<Subject>, CommandError> {
    let mut good = Good::built_in();
    for path in paths {
        if path.is_dir() {
            walk::walk(path, Links::Everywhere)?.files.iter().for_each(|file| good.take(file));
        } else if path.exists() {
            good.take(path);
        } else {
            return Err(CommandError::user(format!("there is no {}", path.display())));
        }
    }
    if let Some((path, source)) = good.unreadable {
        return Err(source).user(|| format!("cannot read {}", path.display()));
    }
    let mut subjects = Vec::new();
    for (format, samples) in good.documents {
        subjects.push(subject(format.name(), move || Ok(Document { format, samples })));
    }
    for (format, samples) in good.libraries {
        subjects.push(subject(name_of(format), move || Ok(List { format, samples })));
    }
    if let Some(sample) = good.zotero {
        let open = move || Ok(Database { sample, folder: folder()? });
        subjects.push(subject("Zotero database", open));
    }
    let rows = good.rows.clone();
    subjects.push(subject("rows of papers", move || {
        Ok(Rows { samples: rows, folder: folder()?, packed: false })
    }));
    let rows = good.rows;
    subjects.push(subject("compressed rows of papers", move || {
        Ok(Rows { samples: rows, folder: folder()?, packed: true })
    }));
    Ok(subjects)
}

pub(super) fn subject<R: Reader + 'static>(
    name: &str,
    open: impl FnOnce() -> Result<R, String> + Send + 'static,
) -> Subject {
    let open = move || open().map(|reader| Box::new(reader) as Box<dyn Reader>);
    Subject { name: name.to_owned(), open: Box::new(open) }
}

pub(super) fn folder() -> Result<tempfile::TempDir, String> {
    tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))
}

fn name_of(format: LibraryFormat) -> &'static str {
    match format {
        LibraryFormat::Bibtex => "BibTeX",
        LibraryFormat::Ris => "RIS",
        LibraryFormat::CslJson => "CSL-JSON",
        LibraryFormat::ZoteroJson => "Zotero items",
        LibraryFormat::ZoteroDatabase => "Zotero database",
    }
}

/// Good inputs by what reads them.
struct Good {
    documents: BTreeMap<DocumentFormat, Vec<Vec<u8>>>,
    libraries: BTreeMap<LibraryFormat, Vec<Vec<u8>>>,
    zotero: Option<Vec<u8>>,
    rows: Vec<Vec<u8>>,
    unreadable: Option<(PathBuf, std::io::Error)>,
}

impl Good {
    /// Lists of the papers that come with the program, and a row of each format.
    fn built_in() -> Self {
        let papers = scholar_testing::corpus::papers();
        let mut libraries = BTreeMap::new();
        for (format, list) in [
            (LibraryFormat::Bibtex, ListFormat::Bibtex),
            (LibraryFormat::Ris, ListFormat::Ris),
            (LibraryFormat::CslJson, ListFormat::CslJson),
        ] {
            libraries
                .insert(format, vec![export::papers(papers.iter().take(5), list).into_bytes()]);
        }
        Self {
            documents: BTreeMap::new(),
            libraries,
            zotero: None,
            rows: ROWS.lines().map(|row| format!("{row}\n{row}\n").into_bytes()).collect(),
            unreadable: None,
        }
    }

    fn take(&mut self, path: &Path) {
        let size = fs_err::metadata(path).map_or(0, |data| data.len());
        if size == 0 || size > LARGEST {
            return;
        }
        let bytes = match fs_err::read(path) {
            Ok(bytes) => bytes,
            Err(source) => {
                self.unreadable.get_or_insert((path.to_owned(), source));
                return;
            }
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".jsonl") || name.ends_with(".ndjson") {
            self.rows.push(bytes);
            return;
        }
        match LibraryFormat::sniff(&name, &bytes) {
            Some(LibraryFormat::ZoteroDatabase) => self.zotero = Some(bytes),
            Some(format) => self.libraries.entry(format).or_default().push(bytes),
            None => {
                if let Some(format) = DocumentFormat::sniff(&name, &bytes) {
                    self.documents.entry(format).or_default().push(bytes);
                }
            }
        }
    }
}

struct Document {
    format: DocumentFormat,
    samples: Vec<Vec<u8>>,
}

impl Reader for Document {
    fn read(&mut self, number: u64) -> bool {
        let bytes = mutate(&self.samples, &mut Random::new(number));
        let limits = ReadLimits { time: TIME, ..ReadLimits::default() };
        document::read(self.format, &bytes, limits).is_ok()
    }
}

struct List {
    format: LibraryFormat,
    samples: Vec<Vec<u8>>,
}

impl Reader for List {
    fn read(&mut self, number: u64) -> bool {
        let bytes = mutate(&self.samples, &mut Random::new(number));
        library::read(self.format, &bytes).is_ok_and(|list| !list.entries.is_empty())
    }
}

struct Database {
    sample: Vec<u8>,
    folder: tempfile::TempDir,
}

impl Reader for Database {
    fn read(&mut self, number: u64) -> bool {
        let path = self.folder.path().join("zotero.sqlite");
        fs_err::write(&path, overwrite(&self.sample, &mut Random::new(number))).is_ok()
            && library::zotero::read_database(&path).is_ok()
    }
}

struct Rows {
    samples: Vec<Vec<u8>>,
    folder: tempfile::TempDir,
    /// Whether the file is compressed, and then broken.
    packed: bool,
}

impl Rows {
    /// The papers of a file, dumps joined; whether there is one.
    fn papers(&self, path: &Path) -> Option<bool> {
        let options = ReadOptions::standard();
        let format = format_of(path, Limits::standard()).ok().flatten();
        if let Some(format) = format.filter(|format| is_dump(*format)) {
            let files = [(path.to_owned(), format)];
            let go = &mut || ControlFlow::Continue(());
            let split = S2Join::split(&files, self.folder.path(), None, &options, go).ok()?;
            let ControlFlow::Continue(mut join) = split else { return None };
            return Some(join.papers().filter(Result::is_ok).count() > 0);
        }
        let rows = PaperReader::with(&FilePart::whole(path), options).ok()?;
        Some(rows.filter(Result::is_ok).count() > 0)
    }
}

impl Reader for Rows {
    fn read(&mut self, number: u64) -> bool {
        let mut random = Random::new(number);
        let (name, bytes) = if self.packed {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            let sample = &self.samples[random.below(self.samples.len())];
            let packed = encoder.write_all(sample).and_then(|()| encoder.finish());
            ("rows.jsonl.gz", mutate(&[packed.unwrap_or_default()], &mut random))
        } else {
            ("rows.jsonl", mutate(&self.samples, &mut random))
        };
        let path = self.folder.path().join(name);
        fs_err::write(&path, bytes).is_ok() && self.papers(&path).unwrap_or(false)
    }
}
