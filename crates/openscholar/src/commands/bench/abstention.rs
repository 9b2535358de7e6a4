//! Whether answers are held back where the passages are those of another question.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::abstention::{Asked, Row, markdown, measure};
use scholar_bench::retrieval::{Collection, document_name};
use scholar_bench::scholarqa::{BenchTask, Context, load};
use scholar_core::{Attributor, Encoder, Question};
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
    let encoder: Arc<dyn Encoder> = encoder;
    let judge: Arc<dyn Attributor> = app.block_on(judge::alone(app, "lexical"))??;
    let mut measured: Vec<(String, Vec<Row>)> = Vec::new();
    for (name, asked) in sets {
        let bar = progress::counted(&app.printer, "sets", u64::try_from(3 * asked.len()).ok())
            .with_message(name.clone());
        let rows =
            app.block_on(measure(&asked, (&encoder, &judge), args.seed, &mut || bar.inc(1)))?;
        bar.finish_and_clear();
        measured.push((name, rows.user(|| "the passages cannot be compared".to_owned())?));
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
        encoder.info().name,
        super::machine(app),
        args.passages,
        markdown(&measured, EvidenceConfig::given().abstain_below)
    );
    let sets: Vec<serde_json::Value> = measured
        .iter()
        .map(|(name, rows)| serde_json::json!({"questions": name, "rows": rows}))
        .collect();
    let json = serde_json::json!({"schema": "openscholar.bench-abstention/1", "sets": sets});
    super::publish("abstention", &text, &json, args.out.as_deref(), app)
}

/// The items of a task that come with passages.
fn of_task(task: BenchTask, args: &BenchAbstentionArgs) -> Result<Vec<Asked>, CommandError> {
    let data = args.data.as_deref().ok_or_else(|| {
        CommandError::user(format!(
            "{} is a task, and where its files are is not said",
            task.name()
        ))
        .with_hint("pass --data DIR: the folder that holds ScholarQABench's files")
    })?;
    let loaded = load(task, data).user(|| format!("{} cannot be loaded", task.title()))?;
    let asked = loaded.items.into_iter().filter(|item| item.duplicate_of.is_none());
    let asked = asked.filter_map(|item| {
        let mut evidence = item.contexts;
        evidence.retain(|context| !context.text.trim().is_empty());
        evidence.truncate(args.passages);
        let question = Question::new(&item.question).ok()?;
        (!evidence.is_empty()).then_some(Asked { id: item.id, question, evidence })
    });
    Ok(asked.collect())
}

/// The queries of a folder in BEIR layout with their relevant documents, best grade first.
fn of_collection(dir: &Path, most: usize) -> Result<(String, Vec<Asked>), CommandError> {
    let collection = Collection::load(dir)?;
    let mut documents: BTreeMap<String, Context> = BTreeMap::new();
    let reader = PaperReader::open(&collection.corpus, Some(Format::Beir), Limits::standard())?;
    for record in reader {
        let paper = record?;
        let text = paper.text();
        let context = Context { title: paper.meta.title, text, ..Context::default() };
        documents.insert(document_name(&paper.meta.id), context);
    }
    let mut asked = Vec::new();
    for query in &collection.queries {
        let Some(grades) = collection.grades.get(&query.id) else { continue };
        let mut relevant: Vec<(&String, _)> =
            grades.iter().filter(|(_, grade)| **grade > 0).collect();
        relevant.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let evidence: Vec<Context> = relevant
            .into_iter()
            .filter_map(|(name, _)| documents.get(name))
            .filter(|context| !context.text.trim().is_empty())
            .take(most)
            .cloned()
            .collect();
        let question = Question::new(query.query.as_str());
        if let (Ok(question), false) = (question, evidence.is_empty()) {
            asked.push(Asked { id: query.id.clone(), question, evidence });
        }
    }
    Ok((collection.name, asked))
}
