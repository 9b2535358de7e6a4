//! `bench scholarideas curate`: papers and reviews in, ideas with rubrics out.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use scholar_bench::scholarideas::IdeaId;
use scholar_bench::scholarideas::curate::{
    CurateError, Curated, Curator, Kept, Source, Stage, has_sections, plan_source,
};
use scholar_datastore::files;
use scholar_formats::document::{self, DocumentFormat, ReadLimits};

use super::{LARGEST, chain, written};
use crate::app::App;
use crate::args::CurateArgs;
use crate::commands::bench::judging;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::{progress, runs};

/// Names that a paper's file may have, the first that is there counts.
const PAPERS: [&str; 5] = ["paper.tei.xml", "paper.xml", "paper.pdf", "paper.md", "paper.txt"];
/// Schema of the summary.
const SCHEMA: &str = "openscholar.scholarideas-curation/1";

/// What became of one paper.
#[derive(serde::Serialize)]
struct Line {
    id: IdeaId,
    /// How the paper was read.
    read_as: Option<&'static str>,
    /// Whether it had sections to choose from.
    sections: bool,
    /// Headings of the sections that were left out.
    left_out: Vec<String>,
    curated: Option<Curated>,
    failed: Option<String>,
}

pub(super) fn run(args: &CurateArgs, app: &App) -> Result<ExitCode, CommandError> {
    let folders = folders(&args.sources)?;
    fs_err::create_dir_all(&args.out)
        .map_err(|source| CommandError::unwritable(&args.out, source))?;
    let lines = app.block_on_to_the_end(async {
        let hint = "pass --base-url URL --model NAME";
        let generator = judging::generator(&args.model.answer(), "curate", hint, app).await?;
        let pause = Duration::from_secs(args.pause);
        let wait = move || tokio::time::sleep(pause).boxed();
        let curator = Curator { generator: generator.as_ref(), pause: &wait };
        let bar = progress::counted(&app.printer, "papers", Some(folders.len() as u64));
        let work = futures::stream::iter(&folders)
            .map(|(id, folder)| one(*id, folder, &args.out, &curator))
            .buffered(args.parallel.max(1));
        written(work, &bar, "the files", app).await
    })??;
    let failed = lines.iter().filter(|line| line.failed.is_some()).count();
    let json = serde_json::json!({
        "schema": SCHEMA, "processed": lines.len(), "failed": failed, "papers": lines,
    });
    runs::write_atomic(
        &args.out.join("processing_summary.json"),
        format!("{json:#}\n").as_bytes(),
    )?;
    if app.printer.json {
        app.printer.json(&json)?;
    } else {
        let told: Vec<String> = lines.iter().map(told).collect();
        app.printer.out(&told.join("\n"))?;
        app.printer.say("people check plans and rubrics before they are used");
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(ErrorKind::User.code()) })
}

fn told(line: &Line) -> String {
    match (&line.curated, &line.failed) {
        (Some(one), _) => format!(
            "{}\t{} words\t{} rubrics of {} sentences ({} not word for word, {} unreadable, {} repeated)",
            line.id,
            one.words,
            one.rubrics,
            one.quotes,
            one.not_verbatim,
            one.unreadable,
            one.repeated
        ),
        (None, why) => format!("{}\tfailed: {}", line.id, why.as_deref().unwrap_or_default()),
    }
}

/// The folders of ideas, by name.
fn folders(path: &Path) -> Result<Vec<(IdeaId, PathBuf)>, CommandError> {
    let unreadable = |source: std::io::Error| CommandError::user(source.to_string());
    let mut found = Vec::new();
    for entry in fs_err::read_dir(path).map_err(unreadable)? {
        let folder = entry.map_err(unreadable)?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let (true, Ok(id)) = (folder.is_dir(), name.parse()) {
            found.push((id, folder));
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(CommandError::user(format!("{} has no folder like ai_1", path.display()))
            .with_hint("put paper.pdf, reviews.txt and cutoff.txt into one for each paper"));
    }
    Ok(found)
}

/// Works on one paper; that it cannot be used is a line of the summary, that a file cannot be written is an error.
async fn one(
    id: IdeaId,
    folder: &Path,
    out: &Path,
    curator: &Curator<'_>,
) -> Result<Line, CommandError> {
    let mut line = Line {
        id,
        read_as: None,
        sections: false,
        left_out: Vec::new(),
        curated: None,
        failed: None,
    };
    let own = out.join(id.to_string());
    let source = match source(id, folder, &mut line) {
        Ok((source, cutoff)) => {
            fs_err::create_dir_all(&own)
                .map_err(|source| CommandError::unwritable(&own, source))?;
            runs::write_atomic(&own.join("cutoff.txt"), cutoff.as_bytes())?;
            source
        }
        Err(error) => {
            line.failed = Some(error.notice().message);
            return Ok(line);
        }
    };
    let text = own.join(format!("{id}.txt"));
    let quotes = own.join(format!("{id}_intermediate.txt"));
    let kept = Kept { idea: stored(&text)?, quotes: stored(&quotes)? };
    let mut unwritten = None;
    let mut write = |stage: Stage<'_>| {
        let (path, text) = match stage {
            Stage::Idea(content) => (text.clone(), content),
            Stage::Quotes(content) => (quotes.clone(), content),
            Stage::Rubrics(content) => (own.join(format!("{id}.jsonl")), content),
        };
        if let Err(error) = runs::write_atomic(&path, text.as_bytes()) {
            unwritten = Some(error);
        }
    };
    match curator.curate(&source, kept, &mut write).await {
        Ok(curated) => line.curated = Some(curated),
        Err(error @ (CurateError::Asked { .. } | CurateError::Reply { .. })) => {
            line.failed = Some(chain(&error));
        }
    }
    match unwritten {
        Some(error) => Err(error),
        None => Ok(line),
    }
}

/// The text of a file that an earlier run wrote.
fn stored(path: &Path) -> Result<Option<String>, CommandError> {
    if path.is_file() { Ok(Some(files::read_text(path, LARGEST)?)) } else { Ok(None) }
}

/// Paper, reviews and cut-off date of a folder.
fn source(id: IdeaId, folder: &Path, line: &mut Line) -> Result<(Source, String), CommandError> {
    let reviews = files::read_text(&folder.join("reviews.txt"), LARGEST)?;
    let cutoff = files::read_text(&folder.join("cutoff.txt"), LARGEST)?.trim().to_owned();
    if cutoff.parse::<jiff::civil::Date>().is_err() {
        return Err(CommandError::user(format!("{id}: cutoff.txt is not a date YYYY-MM-DD")));
    }
    let path = PAPERS.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    let path = path.ok_or_else(|| {
        CommandError::user(format!("{} has none of {}", folder.display(), PAPERS.join(", ")))
    })?;
    let limits = ReadLimits::default();
    let bytes = files::read(&path, limits.bytes)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let format = DocumentFormat::sniff(&name, &bytes)
        .ok_or_else(|| CommandError::user(format!("{} is of no known format", path.display())))?;
    let read = document::read(format, &bytes, limits)
        .user(|| format!("{} cannot be read", path.display()))?;
    let (text, left_out) = plan_source(&read.paper);
    line.read_as = Some(format.name());
    line.sections = has_sections(&read.paper);
    line.left_out = left_out;
    if text.trim().is_empty() {
        return Err(CommandError::user(format!("{} holds no text but results", path.display())));
    }
    Ok((Source { id, title: read.paper.meta.title, text, reviews }, cutoff))
}
