//! Whether answers are held back where the passages are those of another question.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use scholar_bench::abstention::{Asked, Measured, Models, markdown, measure, questions};
use scholar_bench::retrieval::{Collection, document_name};
use scholar_bench::scholarqa::{BenchTask, Context};
use scholar_datastore::ingest::{Format, Limits, PaperReader};
use scholar_pipeline::modes::evidence::EvidenceConfig;

use crate::app::App;
use crate::args::BenchAbstentionArgs;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _};
use crate::progress;
use crate::wiring::{judge, models};

pub(super) fn run(args: &BenchAbstentionArgs, app: &App) -> Result<ExitCode, CommandError> {
    let mut sets = Vec::new();
    for what in &args.sets {
        let task = what.to_str().and_then(BenchTask::named);
        let (name, mut asked) = match task {
            Some(task) => (task.title().to_owned(), of_task(task, args)?),
            None => of_collection(what, args.passages)?,
        };
        asked.truncate(args.limit.unwrap_or(usize::MAX));
        if asked.len() < 2 {
            return Err(CommandError::user(format!(
                "{} has {} questions with passages, and two are needed",
                what.display(),
                asked.len()
            )));
        }
        sets.push((name, asked));
    }
    let name = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER);
    let encoder = app.block_on(models::encoder(app, name, models::Reading::WHOLE))??;
    let judge = app.block_on(judge::alone(app, "lexical"))??;
    let models = Models { encoder, judge };
    let mut measured: Vec<Measured> = Vec::new();
    for (name, asked) in sets {
        let bar = progress::counted(&app.printer, "sets", u64::try_from(3 * asked.len()).ok())
            .with_message(name.clone());
        let rows = app.block_on(measure(&asked, &models, args.seed, &mut || bar.inc(1)))?;
        bar.finish_and_clear();
        let rows = rows.user(|| "the passages cannot be compared".to_owned())?;
        measured.push(Measured { questions: name, rows });
    }
    let what: Vec<String> = args
        .sets
        .iter()
        .map(|set| set.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let limit = args.limit.map(|limit| format!(" --limit {limit}")).unwrap_or_default();
    let text = format!(
        "# Answers held back\n\nCommand: `openscholar bench abstention {} --passages {} --seed {}{limit}`\n\n\
         Encoder: {}. Machine: {}. Each question is asked in evidence mode, without a model, of at most {} passages that \
         people chose for it, of those of the question most like it, and of those of any other one.\n\n{}",
        what.join(" "),
        args.passages,
        args.seed,
        models.encoder.info().name,
        super::machine(app),
        args.passages,
        markdown(&measured, EvidenceConfig::given().abstain_below)
    );
    let json = serde_json::json!({"schema": "openscholar.bench-abstention/1", "sets": measured});
    super::publish("abstention", &text, &json, args.out.as_deref(), app)
}

/// The questions of a task that come with passages.
fn of_task(task: BenchTask, args: &BenchAbstentionArgs) -> Result<Vec<Asked>, CommandError> {
    let data = args.data.as_deref().ok_or_else(|| {
        CommandError::user(format!("{} is a task, and --data does not name its files", task.name()))
            .with_hint("pass --data DIR, the folder of ScholarQABench's files")
    })?;
    questions::of_task(task, data, args.passages)
        .user(|| format!("{} cannot be loaded", task.title()))
}

/// The queries of a folder in BEIR layout with their relevant documents.
fn of_collection(dir: &Path, passages: usize) -> Result<(String, Vec<Asked>), CommandError> {
    let collection = Collection::load(dir)?;
    let mut documents: BTreeMap<String, Context> = BTreeMap::new();
    let reader = PaperReader::open(&collection.corpus, Some(Format::Beir), Limits::standard())?;
    for record in reader {
        let paper = record?;
        let text = paper.text();
        let context = Context { title: paper.meta.title, text, ..Context::default() };
        documents.insert(document_name(&paper.meta.id), context);
    }
    let asked = questions::of_collection(&collection, &documents, passages);
    Ok((collection.name, asked))
}
