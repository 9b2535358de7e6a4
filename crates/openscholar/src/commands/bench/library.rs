//! `bench library`: thousands of PDFs and a long list into a library, as a person adds them: rates and memory.
//!
//! The papers that come with the program are printed as PDFs, and the program adds them in a process of its own, whose memory
//! is read while it works.

use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use scholar_bench::performance::library::{LibraryReport, LibraryStep};
use scholar_core::{Paper, Section};

use super::{machine, publish};
use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::{progress, starter};

/// Between two looks at the memory of the process.
const LOOK: Duration = Duration::from_millis(200);

/// How much is added.
pub(super) struct LibrarySize {
    pub(super) pdfs: usize,
    pub(super) entries: usize,
}

pub(super) fn run(
    size: &LibrarySize,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let folder = tempfile::tempdir().user(|| "cannot create a folder for the PDFs".to_owned())?;
    let pdfs = folder.path().join("pdfs");
    fs_err::create_dir_all(&pdfs).user(|| "cannot create a folder for the PDFs".to_owned())?;
    let papers = starter::papers()?;
    let bar = progress::counted(&app.printer, "PDFs", Some(size.pdfs as u64));
    let bar = bar.with_message("printing");
    for at in 0..size.pdfs {
        let bytes = scholar_testing::pdf::printed(&distinct(&papers, at));
        let path = pdfs.join(format!("{at:05}.pdf"));
        fs_err::write(&path, bytes).map_err(|source| CommandError::unwritable(&path, source))?;
        bar.inc(1);
        if app.stop.requested() {
            return Err(CommandError::interrupted_resumable("interrupted"));
        }
    }
    bar.finish_and_clear();
    let home = folder.path().join("home");
    link_models(&app.home.models(), &home)?;
    let list = folder.path().join("refs.bib");
    fs_err::write(&list, entries(&papers, size.entries))
        .map_err(|source| CommandError::unwritable(&list, source))?;
    let mut steps = Vec::new();
    for (what, path, things) in [
        ("PDFs, new", &pdfs, size.pdfs),
        ("the same PDFs again", &pdfs, size.pdfs),
        ("a list of entries, new", &list, size.entries),
        ("the same list again", &list, size.entries),
    ] {
        app.printer.say(what);
        steps.push(added(what, path, things, &home)?);
    }
    let report = LibraryReport {
        command: format!(
            "openscholar bench library --pdfs {} --entries {}",
            size.pdfs, size.entries
        ),
        machine: machine(app),
        steps,
    };
    publish("library", &report.markdown(), &report.json(), out, app)
}

/// The `at`th paper. After the last one, each begins with the title and abstract of another, so that no two are alike.
fn distinct(papers: &[Paper], at: usize) -> Paper {
    let mut paper = papers[at % papers.len()].clone();
    let round = at / papers.len();
    if round > 0 {
        let other = &papers[(at * 7 + round) % papers.len()];
        paper.meta.title = format!("{}: beside {}", paper.meta.title, other.meta.title);
        if let Some(text) = other.abstract_text() {
            paper.sections.push(Section::new("Background", text));
        }
    }
    paper
}

/// A BibTeX list of `count` entries.
fn entries(papers: &[Paper], count: usize) -> String {
    let mut list = Vec::with_capacity(count);
    for at in 0..count {
        let meta = distinct(papers, at).meta;
        let clean = |text: &str| text.replace(['{', '}', '\\', '%'], " ");
        let authors: Vec<String> = meta.authors.iter().map(|name| clean(name)).collect();
        let year = meta.year.unwrap_or(2000);
        list.push(format!(
            "@article{{key{at},\n  title = {{{} ({at})}},\n  author = {{{}}},\n  year = {{{year}}}\n}}\n",
            clean(&meta.title),
            authors.join(" and "),
        ));
    }
    list.concat()
}

/// A scratch home with the models that are here.
#[cfg(unix)]
fn link_models(models: &Path, home: &Path) -> Result<(), CommandError> {
    fs_err::create_dir_all(home)
        .and_then(|()| std::os::unix::fs::symlink(models, home.join("models")))
        .user(|| "cannot make a scratch home".to_owned())
}

#[cfg(not(unix))]
fn link_models(_models: &Path, _home: &Path) -> Result<(), CommandError> {
    Err(CommandError::user("bench library needs a system with symbolic links"))
}

/// Adds what lies at `path` to the library of a scratch home, in a process of its own.
fn added(what: &str, path: &Path, things: usize, home: &Path) -> Result<LibraryStep, CommandError> {
    let program =
        std::env::current_exe().user(|| "cannot tell where this program lies".to_owned())?;
    let began = Instant::now();
    let mut child = Command::new(program)
        .arg("--json")
        .args(["papers", "add", "--no-lookup", "--home"])
        .arg(home)
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .user(|| "cannot start the program".to_owned())?;
    let reader = child.stdout.take().map(|mut stdout| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = std::io::Read::read_to_end(&mut stdout, &mut bytes);
            read.map(|_| bytes)
        })
    });
    let peak = watch(&mut child)?;
    let seconds = began.elapsed().as_secs_f64();
    let bytes = reader.and_then(|thread| thread.join().ok()).and_then(Result::ok);
    let report: serde_json::Value =
        serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default();
    let count = |key: &str| report.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ok(LibraryStep {
        what: what.to_owned(),
        things,
        seconds,
        papers: count("added"),
        passages: count("passages"),
        failed: count("failed"),
        peak_memory_bytes: peak,
    })
}

/// Waits for `child` and returns the most memory it had, where the system tells.
fn watch(child: &mut Child) -> Result<Option<u64>, CommandError> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        let text = fs_err::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak = peak.max(kilobytes.map(|kilobytes: u64| kilobytes << 10));
        let ended = child.try_wait().user(|| "cannot wait for the program".to_owned())?;
        if ended.is_some() {
            return Ok(peak);
        }
        std::thread::park_timeout(LOOK);
    }
}
