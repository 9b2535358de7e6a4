//! Whether a datastore's questions are answered, and others are not.

use std::process::ExitCode;

use scholar_bench::answerable::{AnswerableQuestion, Condition, markdown, measure};
use scholar_core::Encoder as _;
use scholar_pipeline::{AskConfig, Ports};

use crate::app::App;
use crate::args::BenchAnswerableArgs;
use crate::error::{CommandError, Context as _};
use crate::progress;
use crate::wiring::{OpenDatastore, judge, reranker, sentences};

/// Largest table of questions, in bytes.
const LARGEST: usize = 16 << 20;

pub(super) fn run(args: &BenchAnswerableArgs, app: &App) -> Result<ExitCode, CommandError> {
    let text = scholar_datastore::files::read_text(&args.questions, LARGEST)?;
    let mut asked = AnswerableQuestion::read(&text)
        .user(|| format!("{} is not a table of questions", args.questions.display()))?;
    if let Some(split) = &args.split {
        asked.retain(|one| one.split == *split);
    }
    if asked.is_empty() {
        return Err(CommandError::user(format!(
            "{} has no question of that split",
            args.questions.display()
        )));
    }
    let name = app.datastore_name(args.datastore.as_deref());
    app.home.datastore(&name)?;
    let config = args.set.iter().try_fold(AskConfig::report(), |config, one| {
        config.with_setting(one).user(|| format!("--set {one}"))
    })?;
    let (ports, datastore) = app.block_on(open(app, &name, "lexical"))??;
    let bar = progress::counted(&app.printer, "questions", u64::try_from(asked.len()).ok());
    let rows = app.block_on(measure(&asked, &ports, &config, &mut || bar.inc(1)))?;
    bar.finish_and_clear();
    let rows = rows.map_err(CommandError::from)?;
    if let Some(path) = &args.sentences {
        let mut lines = String::new();
        for row in rows.iter().filter(|row| row.condition == Condition::Answerable) {
            for sentence in &row.sentences {
                let line =
                    serde_json::json!({"id": row.id, "gold": row.gold, "sentence": sentence});
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
        crate::runs::write_atomic(path, lines.as_bytes())?;
    }
    let reranker = ports.reranker.as_ref().map_or("none", |one| one.info().name.as_str());
    let text = format!(
        "# Questions that a datastore answers, and others\n\nCommand: `openscholar bench answerable {}{}`\n\n\
         Datastore: {name}. Encoder: {}. Reranker: {reranker}. Machine: {}. Evidence mode without a model; an answer is \
         given from a probability of {} of the best paper.\n\n{}",
        args.questions.file_name().unwrap_or_default().to_string_lossy(),
        args.split.as_ref().map(|split| format!(" --split {split}")).unwrap_or_default(),
        datastore.encoder.info().name,
        super::machine(app),
        config.evidence.abstain_below,
        markdown(&rows)
    );
    let json = serde_json::json!({"schema": "openscholar.bench-answerable/1", "rows": rows});
    super::publish("answerable", &text, &json, args.out.as_deref(), app)
}

/// What answers from a datastore without a model, judged by `judge`.
pub(super) async fn open(
    app: &App,
    name: &str,
    judge: &str,
) -> Result<(Ports, OpenDatastore), CommandError> {
    let datastore = OpenDatastore::open(app, name).await?;
    let (reranker, _) = reranker::open(app, &datastore, None, None).await?;
    let mut ports = Ports::new(datastore.retriever.clone(), judge::alone(app, judge).await?);
    ports.reranker = Some(reranker);
    ports.encoder = Some(datastore.encoder.clone());
    ports.sentence_classifier = sentences::open(app, datastore.encoder.info()).await?;
    Ok((ports, datastore))
}
