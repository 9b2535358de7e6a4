//! `openscholar bench run TASK --system SYSTEM`: the benchmark's items asked of a system, into a folder that can be
//! continued, scored and reported.

mod ports;

use std::path::Path;
use std::process::ExitCode;

use jiff::civil::Date;
use scholar_bench::scholarqa::convert::{align, read_predictions};
use scholar_bench::scholarqa::frozen::SetFile;
use scholar_bench::scholarqa::journal::Journal;
use scholar_bench::scholarqa::ports::Answered;
use scholar_bench::scholarqa::run::{
    Counts, Ended, FolderError, Manifest, PREDICTIONS, RUN_SCHEMA, RunFolder, RunState, drive,
};
use scholar_bench::scholarqa::system::config_of;
use scholar_bench::scholarqa::{
    Ablation, BenchTask, ContextSource, Item, Loaded, Prediction, PredictionUsage, System, load,
    mark_duplicates, sample,
};
use scholar_core::text::hex;
use scholar_pipeline::AskConfig;
use scholar_pipeline::config::Settings;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::args::{AnswerArgs, BenchRunArgs, LessArgs};
use crate::commands::ask::settings::overridden;
use crate::error::{CommandError, Context as _, EXIT_MISSING_EVIDENCE, ErrorKind};
use crate::stop::unless_stopped;
use crate::{progress, runs};
use ports::Wiring;

/// Items asked at the same time where the model is elsewhere. Ours: far below a provider's usual limits.
const PARALLEL: usize = 4;

pub(super) fn run(args: &BenchRunArgs, app: &App) -> Result<ExitCode, CommandError> {
    let task = task_named(&args.task)?;
    let loaded = load(task, &args.data)?;
    for notice in &loaded.notices {
        app.printer.say(&format!("note: {notice}"));
    }
    match args.system.strip_prefix("predictions:") {
        Some(file) => take_in(task, loaded, Path::new(file), args, app),
        None => ask(task, loaded, args, app),
    }
}

/// The task called `name`.
pub(super) fn task_named(name: &str) -> Result<BenchTask, CommandError> {
    BenchTask::named(name).ok_or_else(|| {
        CommandError::user(format!("there is no task {name:?}"))
            .with_hint(format!("the tasks are {}", BenchTask::names()))
    })
}

/// Puts what another system answered into a run.
fn take_in(
    task: BenchTask,
    loaded: Loaded,
    file: &Path,
    args: &BenchRunArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let items = sample(loaded.items.clone(), args.limit, args.seed);
    let imported = read_predictions(file)?;
    let (mut predictions, notices) =
        align(imported, &loaded.items, task.title(), args.skip_unknown)?;
    predictions.retain(|prediction| items.iter().any(|item| item.id == prediction.id));
    for notice in &notices {
        app.printer.say(&format!("note: {notice}"));
    }
    let mut manifest = manifest(task, PREDICTIONS, &loaded, &items, args, app);
    manifest.source_sha256 = Some(sha256(file)?);
    manifest.notices.extend(notices);
    let mut folder = open_folder(manifest, args)?;
    for prediction in &predictions {
        folder.journal().append(prediction)?;
    }
    folder.finish_answered()?;
    close(&folder, app)
}

fn ask(
    task: BenchTask,
    loaded: Loaded,
    args: &BenchRunArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let system = System::named(&args.system).ok_or_else(|| {
        CommandError::user(format!("there is no system {:?}", args.system))
            .with_hint(format!("the systems are {}, and predictions:FILE", System::names()))
    })?;
    let mut items = sample(loaded.items.clone(), args.limit, args.seed);
    if let Some(why) = system.refuses(task, &items) {
        return Err(CommandError::user(format!("--system {system} does not fit: {why}"))
            .with_hint("openscholar bench run --help describes the systems"));
    }
    let ablation = ablation(args);
    if let Some(why) = system.lacks(&ablation) {
        return Err(CommandError::user(format!("--system {system} has nothing to ablate: {why}"))
            .with_hint("leave the switch away, or name a system that has that part"));
    }
    mark_duplicates(&mut items, system.contexts == ContextSource::Given);
    let preset = config_of(task, system, &ablation, args.retrieved.is_some(), args.seed);
    let config = overridden(preset, &Settings::new(), &args.answer.settings)?;
    let mut manifest = manifest(task, &system.to_string(), &loaded, &items, args, app);
    manifest.ablation = ablation;
    manifest.before = cutoff(task, system, args.before.as_deref())?;
    manifest.config = serde_json::to_value(&config).user(|| "cannot write settings".to_owned())?;
    manifest.source_sha256 = args.retrieved.as_deref().map(sha256).transpose()?;
    let wiring = app.block_on(Wiring::open(app, args, system, &items, &config))??;
    manifest.models.clone_from(&wiring.models);
    manifest.datastore.clone_from(&wiring.datastore);
    manifest.notices.extend(wiring.notices.iter().map(|notice| notice.message.clone()));
    let before = manifest.before;
    let mut folder = open_folder(manifest, args)?;
    let parallel = args.parallel.unwrap_or(if wiring.ports.is_local() { 1 } else { PARALLEL });
    let todo = folder.todo(&items);
    let asked = Asked { wiring: &wiring, config: &config, before, args, app };
    let ended = app.block_on_to_the_end(async {
        let work = asked.all(todo, parallel, folder.journal(), items.len());
        unless_stopped(app.stop.wait(), work).await
    })?;
    let Some(ended) = ended else {
        return interrupted(folder, app);
    };
    folder.finish(&items, ended?)?;
    close(&folder, app)
}

fn ablation(args: &BenchRunArgs) -> Ablation {
    let LessArgs { no_feedback, no_verification } = &args.less;
    let AnswerArgs { no_rerank, search, top_n, top_k, .. } = &args.answer;
    Ablation {
        no_rerank: *no_rerank,
        no_feedback: *no_feedback,
        no_verification: *no_verification,
        search: search.map(Into::into),
        top_n: *top_n,
        top_k: *top_k,
        exploration: args.exploration.ablation(),
    }
}

/// The day that holds where items name none; nothing is cut where nothing is retrieved.
fn cutoff(
    task: BenchTask,
    system: System,
    named: Option<&str>,
) -> Result<Option<Date>, CommandError> {
    if system.contexts != ContextSource::Retrieved {
        return Ok(None);
    }
    match named {
        None => Ok(task.cutoff()),
        Some("none") => Ok(None),
        Some(day) => day
            .parse()
            .map(Some)
            .user(|| format!("--before {day:?} is not a date (YYYY-MM-DD)"))
            .map_err(|error| error.with_hint("write it as 2023-01-04, or `none`")),
    }
}

fn sha256(path: &Path) -> Result<String, CommandError> {
    let bytes = fs_err::read(path).user(|| format!("cannot read {}", path.display()))?;
    Ok(hex(&Sha256::digest(bytes)))
}

fn manifest(
    task: BenchTask,
    system: &str,
    loaded: &Loaded,
    items: &[Item],
    args: &BenchRunArgs,
    app: &App,
) -> Manifest {
    let folder = args.out.file_name().map(|name| name.to_string_lossy().into_owned());
    let command: Vec<String> = std::env::args().skip(1).collect();
    Manifest {
        schema: RUN_SCHEMA.to_owned(),
        name: args.name.clone().or(folder).unwrap_or_else(|| system.to_owned()),
        task,
        system: system.to_owned(),
        ablation: Ablation::default(),
        config: serde_json::Value::Null,
        models: std::collections::BTreeMap::new(),
        datastore: None,
        source_sha256: None,
        data: std::path::absolute(&args.data).unwrap_or_else(|_| args.data.clone()),
        data_sha256: loaded.sha256.clone(),
        seed: args.seed,
        limit: args.limit,
        before: None,
        items: items.iter().map(|item| item.id.clone()).collect(),
        command: format!("openscholar {}", command.join(" ")),
        machine: super::machine(app),
        started: App::now(),
        state: RunState::Running,
        ended_by: None,
        counts: Counts::default(),
        usage: PredictionUsage::default(),
        seconds: 0.0,
        notices: loaded.notices.clone(),
    }
}

/// What every item is asked with.
struct Asked<'a> {
    wiring: &'a Wiring,
    config: &'a AskConfig,
    before: Option<Date>,
    args: &'a BenchRunArgs,
    app: &'a App,
}

impl Asked<'_> {
    async fn all(
        &self,
        todo: Vec<Item>,
        parallel: usize,
        journal: &mut Journal,
        total: usize,
    ) -> Result<Ended, CommandError> {
        let bar = progress::counted(&self.app.printer, "items", Some(total as u64))
            .with_message(self.args.task.clone());
        bar.set_position((total - todo.len()) as u64);
        let sets = match &self.args.save_retrieved {
            None => None,
            Some(path) => {
                Some(SetFile::open(path).user(|| "cannot save the retrieved passages".to_owned())?)
            }
        };
        let one = |item: Item| {
            let (sets, bar) = (sets.as_ref(), &bar);
            async move {
                let Answered { prediction, set } =
                    self.wiring.ports.answer(&item, self.config, self.before).await;
                if let (Some(file), Some(set)) = (sets, set)
                    && prediction.is_final()
                {
                    file.append(&set);
                }
                bar.inc(1);
                prediction
            }
        };
        let mut stop = |prediction: &Prediction| self.wiring.ports.stops(prediction);
        let ended = drive(todo, parallel, journal, one, &mut stop).await?;
        bar.finish_and_clear();
        if let Some(sets) = sets {
            sets.close().user(|| "could not save all retrieved passages".to_owned())?;
        }
        Ok(ended)
    }
}

/// Creates the folder of a run, or opens the one that is there if it is of the same run.
fn open_folder(manifest: Manifest, args: &BenchRunArgs) -> Result<RunFolder, CommandError> {
    let folder = &args.out;
    fs_err::create_dir_all(folder).map_err(|source| CommandError::unwritable(folder, source))?;
    let folder = RunFolder::open(folder, manifest).map_err(|error| match error {
        FolderError::OtherRun { .. } => CommandError::user(error.to_string())
            .with_hint("pass --out with a folder of its own for this run"),
        FolderError::Data(error) => error.into(),
    })?;
    write(&folder)?;
    Ok(folder)
}

fn write(folder: &RunFolder) -> Result<(), CommandError> {
    let text = folder.manifest_text().user(|| "cannot write the manifest".to_owned())?;
    runs::write_atomic(&folder.manifest_path(), text.as_bytes())
}

fn interrupted(mut folder: RunFolder, app: &App) -> Result<ExitCode, CommandError> {
    folder.interrupt()?;
    write(&folder)?;
    let Counts { items, answered, abstained, .. } = folder.manifest().counts;
    app.printer.say(&format!("{} of {items} items are answered", answered + abstained));
    Err(CommandError::new(ErrorKind::Interrupted, "interrupted; answers so far are saved")
        .with_hint("the same command continues the run"))
}

/// Writes and prints how it ended.
fn close(folder: &RunFolder, app: &App) -> Result<ExitCode, CommandError> {
    write(folder)?;
    if app.printer.json {
        app.printer.json(folder.manifest())?;
    } else {
        app.printer.out(&folder.summary())?;
    }
    match folder.manifest().state {
        RunState::Done => Ok(ExitCode::SUCCESS),
        RunState::GaveUp => Ok(ExitCode::from(ErrorKind::Unavailable.code())),
        _ => Ok(ExitCode::from(EXIT_MISSING_EVIDENCE)),
    }
}
