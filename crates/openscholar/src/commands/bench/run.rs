//! `openscholar bench run TASK --system SYSTEM`: the benchmark's items asked of a system, into a folder that can be
//! continued, scored and reported.

mod ports;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use jiff::civil::Date;
use parking_lot::Mutex;
use scholar_bench::scholarqa::convert::{align, read_predictions};
use scholar_bench::scholarqa::journal::{JOURNAL_FILE, Journal, Written, read_journal};
use scholar_bench::scholarqa::run::{
    Counts, Ended, MANIFEST_FILE, Manifest, RUN_SCHEMA, RunState, copy_duplicates, drive,
};
use scholar_bench::scholarqa::system::{config_of, filter_of};
use scholar_bench::scholarqa::{
    Ablation, BenchTask, ContextSource, Item, Loaded, Prediction, PredictionStatus,
    PredictionUsage, System, answer, load, mark_duplicates, sample,
};
use scholar_core::text::hex;
use scholar_pipeline::AskConfig;
use scholar_pipeline::config::Settings;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::args::{AnswerArgs, BenchRunArgs, LessArgs};
use crate::commands::ask::settings::overridden;
use crate::error::{CommandError, Context as _, EXIT_MISSING_EVIDENCE, ErrorKind};
use crate::{progress, runs};
use ports::Wiring;

/// System of a run that holds what another program answered.
const PREDICTIONS: &str = "predictions";
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
    let mut folder = Folder::open(manifest, args)?;
    for prediction in &predictions {
        folder.journal.append(prediction)?;
    }
    let state = folder.state_of_items()?;
    folder.close(state, None, app)
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
            .with_hint("openscholar bench run --help says what each system does"));
    }
    let ablation = ablation(args);
    if let Some(why) = system.lacks(&ablation) {
        return Err(CommandError::user(format!(
            "nothing can be taken out of --system {system}: {why}"
        ))
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
    let mut folder = Folder::open(manifest, args)?;
    let parallel = args.parallel.unwrap_or(if wiring.is_local() { 1 } else { PARALLEL });
    let todo = folder.todo(&items);
    let asked = Asked { wiring: &wiring, config: &config, before, args, app };
    let ended = app.block_on_to_the_end(async {
        tokio::select! {
            ended = asked.all(todo, parallel, &mut folder.journal, items.len()) => Some(ended),
            () = app.stop.wait() => None,
        }
    })?;
    let Some(ended) = ended else {
        return folder.interrupted(app);
    };
    let ended = ended?;
    let written = read_journal(&folder.journal_path())?;
    copy_duplicates(&items, &mut folder.journal, &written)?;
    match ended {
        Ended::Asked => {
            let state = folder.state_of_items()?;
            folder.close(state, None, app)
        }
        Ended::Budget(why) => folder.close(RunState::OutOfBudget, Some(why), app),
        Ended::GaveUp(why) => folder.close(RunState::GaveUp, Some(why), app),
    }
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
            .user(|| format!("--before {day:?} is no day"))
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
            Some(path) => Some(Mutex::new(
                fs_err::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path)
                    .user(|| "the retrieved passages cannot be kept".to_owned())?,
            )),
        };
        let unkept = Mutex::new(None);
        let one = |item: Item| {
            let (sets, unkept, bar) = (sets.as_ref(), &unkept, &bar);
            async move {
                let (prediction, set) = self.one(&item).await;
                if let (Some(file), Some(set)) = (sets, set)
                    && prediction.is_final()
                    && let Err(error) = file.lock().write_all(set.as_bytes())
                {
                    unkept.lock().get_or_insert(error);
                }
                bar.inc(1);
                prediction
            }
        };
        let mut stop = |prediction: &Prediction| {
            let spent = self.wiring.meter.exceeded();
            let why = spent.filter(|_| prediction.status == PredictionStatus::Cut);
            why.map(|why| why.to_string())
        };
        let ended = drive(todo, parallel, journal, one, &mut stop).await?;
        bar.finish_and_clear();
        match unkept.into_inner() {
            None => Ok(ended),
            Some(error) => {
                Err(error).user(|| "the retrieved passages could not all be kept".to_owned())
            }
        }
    }

    /// The answer to an item, and what was retrieved for it as a line.
    async fn one(&self, item: &Item) -> (Prediction, Option<String>) {
        let mut config = self.config.clone();
        config.retrieval.filter = filter_of(item, self.before);
        let opened = match self.wiring.item(self.app, self.args, item) {
            Ok(opened) => opened,
            Err(error) => {
                let mut prediction = Prediction::new(&item.id, &item.question, "");
                prediction.status = PredictionStatus::Failed;
                prediction.error = Some(error.to_string());
                return (prediction, None);
            }
        };
        let mut prediction = answer::answer(&opened.ports, item, &config, &()).await;
        prediction.seconds = Some(opened.seconds());
        let over_budget = self.wiring.meter.exceeded().is_some();
        prediction.status = match (prediction.status, over_budget) {
            (PredictionStatus::Failed, true) => PredictionStatus::Cut,
            // A deadline of a source ended a search: that is an answer with a note.
            (PredictionStatus::Cut, false) if prediction.sentences.is_empty() => {
                PredictionStatus::Abstained
            }
            (PredictionStatus::Cut, false) => PredictionStatus::Answered,
            (status, _) => status,
        };
        let set = opened.saving.map(|saving| saving.set(&item.id));
        let line = set.and_then(|set| serde_json::to_string(&set).ok());
        (prediction, line.map(|line| line + "\n"))
    }
}

/// The folder of a run that is being written.
struct Folder<'a> {
    args: &'a BenchRunArgs,
    manifest: Manifest,
    journal: Journal,
    written: Written,
}

impl<'a> Folder<'a> {
    /// Creates it, or opens the one that is there if it is of the same run.
    fn open(mut manifest: Manifest, args: &'a BenchRunArgs) -> Result<Self, CommandError> {
        let folder = &args.out;
        fs_err::create_dir_all(folder)
            .map_err(|source| CommandError::unwritable(folder, source))?;
        if folder.join(MANIFEST_FILE).exists() {
            let before = Manifest::read(folder)?;
            let differences = before.differences(&manifest);
            if !differences.is_empty() {
                return Err(CommandError::user(format!(
                    "{} holds a run with other {}",
                    folder.display(),
                    differences.join(", other ")
                ))
                .with_hint("pass --out with a folder of its own for this run"));
            }
            manifest.started = before.started;
        }
        let (journal, written) = Journal::open(&folder.join(JOURNAL_FILE))?;
        let folder = Self { args, manifest, journal, written };
        folder.write()?;
        Ok(folder)
    }

    fn journal_path(&self) -> std::path::PathBuf {
        self.args.out.join(JOURNAL_FILE)
    }

    /// The items without a final answer that repeat no other.
    fn todo(&self, items: &[Item]) -> Vec<Item> {
        let answered = |id: &str| self.written.get(id).is_some_and(Prediction::is_final);
        let open = items.iter().filter(|item| item.duplicate_of.is_none() && !answered(&item.id));
        open.cloned().collect()
    }

    fn write(&self) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(&self.manifest)
            .user(|| "cannot write the manifest".to_owned())?;
        runs::write_atomic(&self.args.out.join(MANIFEST_FILE), format!("{text}\n").as_bytes())
    }

    /// Whether every item has an answer.
    fn state_of_items(&mut self) -> Result<RunState, CommandError> {
        self.count()?;
        let Counts { items: _, answered: _, abstained: _, failed, cut, missing } =
            self.manifest.counts;
        Ok(if failed + cut + missing == 0 { RunState::Done } else { RunState::SomeFailed })
    }

    fn count(&mut self) -> Result<(), CommandError> {
        self.written = read_journal(&self.journal_path())?;
        self.manifest.count(&self.written);
        Ok(())
    }

    fn interrupted(mut self, app: &App) -> Result<ExitCode, CommandError> {
        self.count()?;
        self.manifest.state = RunState::Interrupted;
        self.write()?;
        let Counts { items, answered, abstained, .. } = self.manifest.counts;
        app.printer.say(&format!("{} of {items} items are answered", answered + abstained));
        Err(CommandError::new(ErrorKind::Interrupted, "interrupted; what was answered is kept")
            .with_hint("the same command continues the run"))
    }

    /// Writes how it ended and prints it.
    fn close(
        mut self,
        state: RunState,
        why: Option<String>,
        app: &App,
    ) -> Result<ExitCode, CommandError> {
        self.count()?;
        self.manifest.state = state;
        self.manifest.ended_by = why;
        self.write()?;
        let manifest = &self.manifest;
        if app.printer.json {
            app.printer.json(manifest)?;
        } else {
            app.printer.out(&summary(manifest, &self.written, &self.args.out))?;
        }
        match state {
            RunState::Done => Ok(ExitCode::SUCCESS),
            RunState::GaveUp => Ok(ExitCode::from(ErrorKind::Unavailable.code())),
            _ => Ok(ExitCode::from(EXIT_MISSING_EVIDENCE)),
        }
    }
}

fn summary(manifest: &Manifest, written: &Written, folder: &Path) -> String {
    let Manifest { task, system, ablation, state, ended_by, counts, usage, seconds, .. } = manifest;
    let Counts { items, answered, abstained, failed, cut, missing } = counts;
    let why = ended_by.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let given = system == PREDICTIONS;
    let parts = if given { String::new() } else { format!(" ({ablation})") };
    let unasked = if given { "without a prediction" } else { "not asked" };
    let mut text = format!(
        "{} by {system}{parts}: {state}{why}\n{answered} of {items} answered, {abstained} abstained, {failed} failed, {cut} cut, {missing} {unasked}\n",
        task.title()
    );
    let tokens = usage.prompt_tokens + usage.completion_tokens;
    let cost = match usage.cost_usd {
        Some(usd) if usd > 0.0 => format!(", ${usd:.4}"),
        Some(_) => String::new(),
        None if usage.calls == 0 => String::new(),
        None => ", at an unknown price".to_owned(),
    };
    let _infallible =
        writeln!(text, "{} model calls, {tokens} tokens{cost}, {seconds:.1} s", usage.calls);
    let first = written.predictions.iter().find_map(|one| one.error.as_ref());
    if let Some(error) = first {
        let _infallible = writeln!(text, "first failure: {error}");
    }
    let _infallible = match state {
        RunState::Done => write!(text, "next: openscholar bench score {}", folder.display()),
        _ if given => write!(
            text,
            "score what is there: openscholar bench score {}; or add the rest to the file and take it in again",
            folder.display()
        ),
        _ => write!(text, "the same command asks again what has no answer"),
    };
    text
}
