//! `openscholar bench score RUN`: what was answered, measured; every number with n, interval and judge.

mod judges;
mod titles;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scholar_bench::judge::model::ModelJudge;
use scholar_bench::judge::preference::AnswerPair;
use scholar_bench::metrics::citation::Rules;
use scholar_bench::metrics::grading::{GradingRubric, read_rubrics};
use scholar_bench::metrics::rubric::Unread;
use scholar_bench::scholarqa::convert::{align, read_predictions};
use scholar_bench::scholarqa::report::document::slug;
use scholar_bench::scholarqa::report::summary::summary;
use scholar_bench::scholarqa::run::Run;
use scholar_bench::scholarqa::score::{ScoreOptions, Scores, score};
use scholar_bench::scholarqa::{BenchTask, Item, Prediction, load};
use scholar_bench::statistics::SEED;

use super::run::task_named;
use crate::app::App;
use crate::args::{BenchScoreArgs, CitationsArg};
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::stop::unless_stopped;
use crate::{progress, runs};
use judges::Opened;

/// Where the published rubrics of grades are, below the benchmark's folder.
const RUBRICS: [&str; 2] =
    ["rubrics/prometheus_rubrics_v8.json", "data/rubrics/prometheus_rubrics_v8.json"];

/// What is scored.
struct Subject {
    name: String,
    task: BenchTask,
    items: Vec<Item>,
    predictions: Vec<Prediction>,
    /// The datastore that the run asked.
    datastore: Option<String>,
    data: PathBuf,
    folder: PathBuf,
}

pub(super) fn run(args: &BenchScoreArgs, app: &App) -> Result<ExitCode, CommandError> {
    judges::check(args)?;
    let subject = subject(args, app)?;
    let against = args.against.as_deref().map(|other| opponent(&subject, other)).transpose()?;
    let upstream = args.citations == CitationsArg::Upstream;
    let options = ScoreOptions {
        rules: if upstream { Rules::upstream() } else { Rules::corrected() },
        aspects: aspects(args, &subject)?,
        unread: if upstream { Unread::Zero } else { Unread::Reweigh },
    };
    let (mut scores, opened) = app.block_on_to_the_end(async {
        let opened = Opened::open(args, &subject, app).await?;
        let bar = progress::counted(&app.printer, "items", Some(subject.items.len() as u64))
            .with_message(format!("judging by {}", args.judge));
        let verdicts = subject.folder.join(format!("verdicts-{}.jsonl", slug(&args.judge)));
        let shown = |done: usize, total: usize| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        };
        let judging = async {
            opened
                .with_judges(&verdicts, async |judges| {
                    let measured = scholar_bench::scholarqa::score::Subject {
                        run: &subject.name,
                        task: subject.task,
                        items: &subject.items,
                        predictions: &subject.predictions,
                    };
                    score(measured, judges, &options, &shown).await
                })
                .await
        };
        let scores = unless_stopped(app.stop.wait(), judging).await.ok_or_else(interrupted)??;
        bar.finish_and_clear();
        Ok::<_, CommandError>((scores, opened))
    })??;
    let rules = if upstream { "upstream" } else { "corrected" };
    // Grades cost more than the rest: scores without them do not replace them.
    let graded = if args.grade { "-graded" } else { "" };
    let path = subject.folder.join(format!("scores-{}-{rules}{graded}.json", slug(&args.judge)));
    keep(&path, &scores)?;
    if let (Some(other), Some(model)) = (&against, &opened.model) {
        app.block_on_to_the_end(async {
            let work = compare(&subject, other, model, app);
            unless_stopped(app.stop.wait(), work).await.ok_or_else(interrupted)?
        })??;
    }
    // Labelled pairs take minutes: the scores are there whatever becomes of them.
    if args.labels.is_some() {
        scores.agreement = app.block_on(opened.agreement(args, app))??;
        keep(&path, &scores)?;
    }
    if app.printer.json {
        app.printer.json(&scores)?;
    } else {
        app.printer.out(summary(&scores).trim_end())?;
        app.printer.say(&format!("written to {}", path.display()));
    }
    let whole = scores.incomplete.is_none();
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(ErrorKind::Unavailable.code()) })
}

fn interrupted() -> CommandError {
    CommandError::new(ErrorKind::Interrupted, "interrupted; verdicts so far are saved")
        .with_hint("run the same command again: it continues there")
}

fn keep(path: &Path, scores: &Scores) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(scores).user(|| "cannot write JSON".to_owned())?;
    runs::write_atomic(path, format!("{text}\n").as_bytes())
}

fn subject(args: &BenchScoreArgs, app: &App) -> Result<Subject, CommandError> {
    if args.run.is_dir() {
        let run = Run::read(&args.run)?;
        let manifest = run.manifest;
        let data = args.data.clone().unwrap_or_else(|| manifest.data.clone());
        let loaded = load(manifest.task, &data)?;
        if loaded.sha256 != manifest.data_sha256 {
            app.printer.say(&format!(
                "note: {} is not the file that the run was about",
                loaded.file.display()
            ));
        }
        let items = loaded.items.into_iter().filter(|item| manifest.items.contains(&item.id));
        return Ok(Subject {
            name: manifest.name,
            task: manifest.task,
            items: items.collect(),
            predictions: run.written.predictions,
            datastore: manifest.datastore,
            data,
            folder: args.run.clone(),
        });
    }
    let (Some(task), Some(data)) = (&args.task, &args.data) else {
        return Err(CommandError::user(format!("{} is not a run folder", args.run.display()))
            .with_hint("for a file of predictions pass --task TASK --data PATH"));
    };
    let task = task_named(task)?;
    let imported = read_predictions(&args.run)?;
    let items = load(task, data)?.items;
    let (predictions, notices) = align(imported, &items, task.title(), args.skip_unknown)?;
    for notice in &notices {
        app.printer.say(&format!("note: {notice}"));
    }
    let parent = args.run.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = args.out.clone().unwrap_or_else(|| parent.unwrap_or(Path::new(".")).to_owned());
    fs_err::create_dir_all(&folder).map_err(|source| CommandError::unwritable(&folder, source))?;
    let name = args.run.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Subject { name, task, items, predictions, datastore: None, data: data.clone(), folder })
}

/// What grades are given for, if anybody gives grades.
fn aspects(args: &BenchScoreArgs, subject: &Subject) -> Result<Vec<GradingRubric>, CommandError> {
    if !judges::grades(args) || !subject.task.measures().aspects {
        return Ok(Vec::new());
    }
    let folder = if subject.data.is_dir() {
        subject.data.clone()
    } else {
        subject.data.parent().unwrap_or(Path::new(".")).to_owned()
    };
    let named = args.rubrics.clone();
    let found = named
        .or_else(|| RUBRICS.map(|name| folder.join(name)).into_iter().find(|path| path.is_file()));
    let path = found.ok_or_else(|| {
        CommandError::user(format!("{} has no rubrics of grades", folder.display()))
            .with_hint("pass --rubrics with prometheus_rubrics_v8.json")
    })?;
    let text = fs_err::read_to_string(&path).user(|| "the rubrics cannot be read".to_owned())?;
    read_rubrics(&text, &path.display().to_string())
        .user(|| "the rubrics cannot be used".to_owned())
}

/// The run that is compared with.
fn opponent(subject: &Subject, other: &Path) -> Result<Run, CommandError> {
    let theirs = Run::read(other)?;
    if theirs.manifest.task == subject.task {
        return Ok(theirs);
    }
    Err(CommandError::user(format!(
        "{} is a run of {}, not of {}",
        other.display(),
        theirs.manifest.task.title(),
        subject.task.title()
    )))
}

/// Lets the model say which of two runs' answers are better, and keeps what it said beside the scores.
async fn compare(
    subject: &Subject,
    theirs: &Run,
    model: &ModelJudge,
    app: &App,
) -> Result<(), CommandError> {
    let pairs: Vec<AnswerPair<'_>> = subject
        .items
        .iter()
        .filter_map(|item| {
            let ours =
                subject.predictions.iter().find(|one| one.id == item.id && one.is_final())?;
            let theirs = theirs.written.get(&item.id).filter(|one| one.is_final())?;
            let (a, b) = (ours.output.as_str(), theirs.output.as_str());
            Some(AnswerPair { item: &item.id, question: &item.question, a, b })
        })
        .collect();
    let bar = progress::counted(&app.printer, "pairs", Some(pairs.len() as u64));
    let systems = (subject.name.as_str(), theirs.manifest.name.as_str());
    let shown = |done: usize, _: usize| bar.set_position(done as u64);
    let compared = model.compare_all(systems, &pairs, SEED, &shown).await;
    bar.finish_and_clear();
    let rates = &compared.rates;
    app.printer.say(&format!(
        "{} against {} by {}: {} wins, {} ties, {} losses of {}, sign test p {:.3}; {} unreadable",
        compared.system_a,
        compared.system_b,
        compared.judge.name,
        rates.wins,
        rates.ties,
        rates.losses,
        rates.n,
        rates.p,
        rates.unreadable
    ));
    for doubt in compared.doubts() {
        app.printer.say(&format!("warning: {doubt}"));
    }
    if let Some(why) = &compared.incomplete {
        app.printer.say(&format!("warning: {why}"));
    }
    let file = format!("pairwise-{}-{}.json", slug(&compared.system_b), slug(&compared.judge.name));
    let text = serde_json::to_string_pretty(&compared).user(|| "cannot write JSON".to_owned())?;
    runs::write_atomic(&subject.folder.join(file), format!("{text}\n").as_bytes())
}
