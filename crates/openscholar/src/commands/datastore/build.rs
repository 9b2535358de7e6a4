//! Papers from files into a datastore: `openscholar datastore build` and `openscholar papers add`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scholar_core::{Encoder as _, EncoderInfo, Notice};
use scholar_datastore::ingest::{
    self, FilePart, Format, Limits, PaperReader, ReadOptions, ReadReport, RejectLog, Rows, S2Join,
    S2Report,
};
use scholar_datastore::{
    AddOptions, AddProgress, AddReport, Datastore, DatastoreWriter, Descriptor, Duplicate,
    DuplicateReason, Offered,
};
use scholar_models::LocalEncoder;

use crate::app::App;
use crate::args::{PassagesArg, SourceArgs};
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE};
use crate::output::added;
use crate::progress;
use crate::wiring::models::{self, Reading};
use crate::wiring::store_writer;

/// Rejected lines shown.
const SHOWN_REJECTS: usize = 5;

/// How passages are cut and encoded.
pub(crate) struct Building<'a> {
    /// Encoder asked for.
    pub(crate) encoder: Option<&'a str>,
    /// How it reads texts.
    pub(crate) reading: Reading,
    /// How papers are cut; of an existing datastore only what it has is accepted.
    pub(crate) passages: Option<PassagesArg>,
}

/// What is read.
enum Input {
    /// A file or a part of one.
    Part(FilePart),
    /// Something that can be read once only.
    Pipe(PathBuf, Box<PaperReader>),
    /// Files of a Semantic Scholar dump, which belong together.
    Dump(Vec<(PathBuf, Format)>),
}

/// What there is to read, and what cannot be opened.
struct Inputs {
    inputs: Vec<Input>,
    failed: Vec<CommandError>,
}

/// What was read, for the report of the command.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Read {
    File(ReadReport),
    Dump(S2Report),
}

/// One run over all inputs.
struct Run<'a> {
    app: &'a App,
    writer: DatastoreWriter,
    encoder: Arc<LocalEncoder>,
    options: ReadOptions,
    rejects: Arc<RejectLog>,
    bytes: Arc<AtomicU64>,
    bar: progress::Bar,
    interrupted: bool,
}

/// Adds the papers of `sources` to the datastore called `name`, which is created if it is absent.
pub(crate) fn add_files(
    name: &str,
    sources: &SourceArgs,
    building: Building<'_>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let SourceArgs {
        files: _,
        format,
        fields,
        shard,
        rejects,
        keep_lost_spaces,
        skip_check,
        limits,
    } = sources;
    let path = app.home.datastore(name)?;
    let rows = match (fields, format) {
        (Some(fields), _) => Rows::Mapped(Arc::new(fields.clone())),
        (None, Some(format)) => Rows::Of(*format),
        (None, None) => Rows::Recognised,
    };
    let limits = Limits { read: app.config.read_limits(limits), ..Limits::standard() };
    let repair_spaces = !keep_lost_spaces;
    let plain = ReadOptions { rows, limits, repair_spaces, ..ReadOptions::standard() };
    let Inputs { inputs, mut failed } = inputs(sources, &plain)?;
    let Building { encoder, reading, passages } = building;
    let encoder = app.block_on(fitting_encoder(app, &path, encoder, reading))??;
    app.home.create(&app.home.datastores())?;
    let store = open(name, &path, encoder.info(), passages)?;
    let beside = app.home.datastores().join(format!("{name}.rejects.jsonl"));
    let log = Arc::new(RejectLog::new(rejects.as_deref().unwrap_or(&beside))?);
    let bytes = Arc::new(AtomicU64::new(0));
    let options = ReadOptions { rejects: Some(log.clone()), bytes: Some(bytes.clone()), ..plain };
    let bar = progress::bytes(&app.printer, total_bytes(&inputs));
    let mut run = Run {
        app,
        writer: store_writer::open(name, &store, *skip_check, app)?,
        encoder,
        options,
        rejects: log,
        bytes,
        bar,
        interrupted: false,
    };
    let mut reports = Vec::new();
    app.heed_signals()?;
    for input in inputs {
        let read = match input {
            Input::Part(part) => PaperReader::with(&part, run.options.clone())
                .and_then(|reader| run.file(&part.path, reader, name)),
            Input::Pipe(path, reader) => run.file(&path, *reader, name),
            Input::Dump(files) => run.dump(&files, *shard, app.home.datastores().as_path()),
        };
        match read {
            Ok(read) => reports.push(read),
            // What was read of it before is kept, and the others are read.
            Err(error) if error.is_of_source() => failed.push(error.into()),
            Err(error) => return Err(error.into()),
        }
        if run.interrupted {
            break;
        }
    }
    let Run { interrupted, rejects, .. } = run;
    report_rejects(&rejects, app)?;
    if interrupted {
        return Err(CommandError::interrupted_resumable(
            "interrupted; papers added so far are saved",
        ));
    }
    // With nothing read, the command has failed.
    if reports.is_empty() && !failed.is_empty() {
        return Err(only(failed, app));
    }
    let info = store.info()?;
    tell_failed(&failed, reports.len(), app);
    if app.printer.json {
        let failed: Vec<Notice> = failed.iter().map(CommandError::notice).collect();
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.build/1", "files": reports, "failed": failed, "datastore": info,
        }))?;
    } else {
        super::print_info(name, &info, store.graph()?.totals()?, app)?;
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_MISSING_EVIDENCE) })
}

/// Says which files were not read, or not to their end.
fn tell_failed(failed: &[CommandError], read: usize, app: &App) {
    for error in failed {
        app.printer.notice(&error.notice());
    }
    if !failed.is_empty() {
        let all = failed.len() + read;
        app.printer.say(&format!("{} of {all} inputs were not read to their end", failed.len()));
    }
}

/// The last of several failures; the others are told before it.
fn only(mut failed: Vec<CommandError>, app: &App) -> CommandError {
    let last = failed.pop().unwrap_or_else(|| CommandError::user("nothing was read"));
    tell_failed(&failed, 1, app);
    last
}

impl Run<'_> {
    fn file(
        &mut self,
        path: &Path,
        mut reader: PaperReader,
        name: &str,
    ) -> Result<Read, scholar_datastore::Error> {
        let source = path
            .file_name()
            .map_or_else(|| name.to_owned(), |file| file.to_string_lossy().into_owned());
        let done = self.add(path, &source, reader.numbered())?;
        let report = reader.report().clone();
        report_file(&report, &done, self.app);
        Ok(Read::File(report))
    }

    fn dump(
        &mut self,
        files: &[(PathBuf, Format)],
        shard: Option<ingest::Shard>,
        parent: &Path,
    ) -> Result<Read, scholar_datastore::Error> {
        self.bar.set_message("sorting the dump's files by corpus id");
        let (bar, bytes, app) = (self.bar.clone(), self.bytes.clone(), self.app);
        let split = S2Join::split(files, parent, shard, &self.options, &mut || {
            bar.set_position(bytes.load(Ordering::Relaxed));
            app.until_stopped()
        })?;
        let ControlFlow::Continue(mut join) = split else {
            self.interrupted = true;
            return Ok(Read::Dump(S2Report::default()));
        };
        let done = self.add(Path::new("dump"), "Semantic Scholar", join.papers())?;
        let report = join.report().clone();
        added::report("Semantic Scholar", &done, self.app);
        self.app.printer.say(&format!(
            "  {} papers, {} abstracts, {} full texts, {} citations ({} of works not in these files)",
            report.papers,
            report.abstracts,
            report.full_texts,
            report.citations,
            report.citations_unused,
        ));
        Ok(Read::Dump(report))
    }

    fn add<P: Into<Offered>>(
        &mut self,
        path: &Path,
        source: &str,
        papers: impl Iterator<Item = Result<P, scholar_datastore::Error>>,
    ) -> Result<AddReport, scholar_datastore::Error> {
        let Self { app, writer, encoder, rejects, bytes, bar, interrupted, options: _ } = self;
        let mut failed = None;
        let mut tell = |done: &AddProgress| {
            bar.set_position(bytes.load(Ordering::Relaxed));
            bar.set_message(match done.is_merging {
                true => format!("{source}: merging segments"),
                false => format!(
                    "{source}: {} passages, {:.0}/s",
                    done.passages_added,
                    done.passages_per_second()
                ),
            });
            for duplicate in &done.duplicates {
                let reason = left_out_because(duplicate);
                let record = format!("{} {}", duplicate.paper, duplicate.title);
                let put =
                    rejects.put(path, duplicate.line, duplicate.byte, &reason, record.as_bytes());
                if let Err(error) = put {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
            }
            app.until_stopped()
        };
        let done = writer.add(papers, encoder.as_ref(), &AddOptions::standard(source), &mut tell);
        bar.set_message("");
        if let Some(error) = failed {
            return Err(error);
        }
        let done = done?;
        *interrupted = done.interrupted;
        Ok(done)
    }
}

/// What there is to read, each file opened once, so that a wrong one is found before a model is fetched.
fn inputs(sources: &SourceArgs, options: &ReadOptions) -> Result<Inputs, CommandError> {
    let (mut inputs, mut failed) = (Vec::new(), Vec::new());
    let (mut plain, mut dump) = (Vec::new(), Vec::new());
    for file in &sources.files {
        if !file.is_file() {
            // What a pipe has been read of cannot be read again; what is absent fails here.
            let reader = match PaperReader::with(&FilePart::whole(file), options.clone()) {
                Ok(reader) => reader,
                Err(error) => {
                    failed.push(error.into());
                    continue;
                }
            };
            if sources.shard.is_some() {
                return Err(CommandError::user(format!(
                    "{} cannot be split: --shard needs files",
                    file.display()
                )));
            }
            inputs.push(Input::Pipe(file.clone(), Box::new(reader)));
            continue;
        }
        let format = match &options.rows {
            Rows::Recognised => match ingest::format_of(file, options.limits) {
                Ok(format) => format,
                Err(error) => {
                    failed.push(error.into());
                    continue;
                }
            },
            Rows::Of(format) => Some(*format),
            Rows::Mapped(_) => None,
        };
        match format.filter(|format| ingest::is_dump(*format)) {
            Some(format) => dump.push((file.clone(), format)),
            None => plain.push(file.clone()),
        }
    }
    match sources.shard {
        Some(shard) => inputs.extend(ingest::parts(&plain, shard)?.into_iter().map(Input::Part)),
        None => inputs.extend(plain.iter().map(|file| Input::Part(FilePart::whole(file)))),
    }
    if !dump.is_empty() {
        inputs.push(Input::Dump(dump));
    }
    match failed.pop() {
        Some(error) if inputs.is_empty() => Err(error),
        last => {
            failed.extend(last);
            Ok(Inputs { inputs, failed })
        }
    }
}

/// Bytes to read; unknown with a pipe among the inputs.
fn total_bytes(inputs: &[Input]) -> Option<u64> {
    let size = |path: &Path| fs_err::metadata(path).ok().map(|metadata| metadata.len());
    inputs.iter().try_fold(0, |total, input| {
        Some(
            total
                + match input {
                    Input::Part(FilePart { path, bytes: None }) => size(path)?,
                    Input::Part(FilePart { bytes: Some(bytes), .. }) => bytes.end - bytes.start,
                    Input::Pipe(..) => return None,
                    Input::Dump(files) => {
                        files.iter().try_fold(0, |sum, (path, _)| Some(sum + size(path)?))?
                    }
                },
        )
    })
}

/// Opens or creates the datastore, and refuses rules that are not its own.
pub(crate) fn open(
    name: &str,
    path: &Path,
    encoder: &EncoderInfo,
    passages: Option<PassagesArg>,
) -> Result<Datastore, CommandError> {
    let rules = passages.unwrap_or(PassagesArg::Sections).rules();
    let store = Datastore::open_or_create(path, encoder, rules)?;
    if passages.is_some() && store.descriptor().rules != rules {
        return Err(CommandError::user(format!("{name} was built with other passage rules"))
            .with_hint(
                "leave out --passages to use its own, or build a datastore of another name",
            ));
    }
    Ok(store)
}

/// The encoder the datastore was built with; for a new one the one asked for, the configured one, or the default. What
/// was asked for and is not what the datastore has is refused when it is opened.
pub(crate) async fn fitting_encoder(
    app: &App,
    path: &Path,
    asked: Option<&str>,
    mut reading: Reading,
) -> Result<Arc<LocalEncoder>, CommandError> {
    let stored = path.is_dir().then(|| Descriptor::read(path)).transpose()?;
    let stored = stored.map(|stored| stored.encoder);
    let default = || app.config.encoder.as_deref().unwrap_or(crate::config::DEFAULT_ENCODER);
    let known = stored.as_ref().map(|stored| stored.name.as_str());
    let name = asked.or(known).unwrap_or_else(default);
    if let Some(stored) = stored.as_ref().filter(|stored| stored.name == name) {
        reading.max_tokens = reading.max_tokens.or(Some(stored.max_tokens));
        if reading.preparation.is_none() {
            reading.preparation = stored.preparation;
        }
    }
    models::encoder(app, name, reading).await
}

fn report_file(report: &ReadReport, done: &AddReport, app: &App) {
    added::report(&report.path.display().to_string(), done, app);
    if let Some(encoding) = report.encoding {
        app.printer.say(&format!("  it is written in {encoding}"));
    }
    added::report_spaces(report.spaces_repaired, app);
    if report.rejected > 0 {
        app.printer.say(&format!("  {} lines were not papers:", report.rejected));
        for reject in report.rejects.iter().take(SHOWN_REJECTS) {
            app.printer.say(&format!("    line {}: {}", reject.line, reject.what));
        }
    }
}

/// Says where everything stands that was not taken in.
pub(super) fn report_rejects(rejects: &RejectLog, app: &App) -> Result<(), CommandError> {
    rejects.flush()?;
    if rejects.rows() > 0 {
        app.printer.say(&format!(
            "{} records were rejected; they are listed in {}",
            rejects.rows(),
            rejects.path().display()
        ));
    }
    Ok(())
}

/// Why a duplicate is one, for the reject file.
fn left_out_because(duplicate: &Duplicate) -> String {
    match &duplicate.by {
        DuplicateReason::Text => format!("the same title and text as {}", duplicate.first),
        DuplicateReason::Identifier(id) => {
            format!("the same paper as {} by {id} and title, without more text", duplicate.first)
        }
    }
}
