//! What a question costs by depth of SciRAG's tree, over a real datastore.

use std::process::ExitCode;

use scholar_bench::answerable::AnswerableQuestion;
use scholar_bench::scirag_depth::{markdown, measure};
use scholar_core::{Encoder as _, Question};
use scholar_pipeline::Ports;

use crate::app::App;
use crate::args::BenchSciragDepthArgs;
use crate::error::{CommandError, Context as _};
use crate::progress;
use crate::wiring::{self, OpenDatastore, judge, reranker};

/// Largest table of questions, in bytes.
const LARGEST: usize = 16 << 20;

pub(super) fn run(args: &BenchSciragDepthArgs, app: &App) -> Result<ExitCode, CommandError> {
    let text = scholar_datastore::files::read_text(&args.questions, LARGEST)?;
    let read = AnswerableQuestion::read(&text)
        .user(|| format!("{} is not a table of questions", args.questions.display()))?;
    let of_split = read.into_iter().filter(|one| one.split == args.split && !one.gold.is_empty());
    let questions = spaced(of_split.map(|one| one.question).collect(), args.limit);
    if questions.is_empty() {
        let message =
            format!("{} has no answerable question of that split", args.questions.display());
        return Err(CommandError::user(message).with_hint("--split names another"));
    }
    let name = app.datastore_name(args.datastore.as_deref());
    app.home.datastore(&name)?;
    let (ports, datastore) = app.block_on(open(app, &name))??;
    let depths = scholar_pipeline::config::scirag::DEEPEST + 1;
    let bar =
        progress::counted(&app.printer, "answers", u64::try_from(questions.len() * depths).ok());
    let rows = app.block_on(measure(&questions, &ports, &mut || bar.inc(1)))?;
    bar.finish_and_clear();
    let rows = rows.map_err(CommandError::from)?;
    let reranker = ports.reranker.as_ref().map_or("none", |one| one.info().name.as_str());
    let text = format!(
        "# SciRAG by depth: calls, tokens, dollars\n\nCommand: `openscholar bench scirag-depth {} --split {} --limit {}`\n\n\
         Datastore: {name}, with its citation graph. Encoder: {}. Reranker: {reranker}. Machine: {}.\n\n\
         The model is a script: its replies are fixed texts of typical length (an outline of four sections, a report of about \
         1,000 words, node answers of 200 words, judgements of every candidate shown), the first critic asks for three \
         sub-questions, the critic of every second node for two more, the citation graph is asked for every node, and the revision \
         repeats the text, so that there is one round of feedback. Searches, links, prompts and the proof are real; the judge of citations is \
         in code. Tokens are characters divided by four, dollars GPT-4o's price in the source ($2.50 and $10.00 for a million). \
         These are expectations of cost: they say nothing of quality, and no time is given, because a script does not wait.\n\n\
         {}\n† published, not measured here: arXiv 2511.14362, table 7, per question of ScholarQA-CS with GPT-4o; the paper gives no \
         price of depth 0. Its answers are shorter than a report, its trees grow as its model asks, and its released code prices words, not tokens.\n",
        args.questions.file_name().unwrap_or_default().to_string_lossy(),
        args.split,
        args.limit,
        datastore.encoder.info().name,
        super::machine(app),
        markdown(&rows)
    );
    let json = serde_json::json!({"schema": "openscholar.bench-scirag-depth/1", "rows": rows});
    super::publish("scirag-depth", &text, &json, args.out.as_deref(), app)
}

/// At most `most` of `questions`, evenly spaced: neighbours are often of one field.
fn spaced(questions: Vec<Question>, most: usize) -> Vec<Question> {
    let n = questions.len();
    let step = n.div_ceil(most.max(1)).max(1);
    questions.into_iter().step_by(step).take(most).collect()
}

async fn open(app: &App, name: &str) -> Result<(Ports, OpenDatastore), CommandError> {
    let datastore = OpenDatastore::open(app, name).await?;
    let (reranker, _) = reranker::open(app, &datastore, None, None).await?;
    let mut ports = Ports::new(datastore.retriever.clone(), judge::alone(app, "lexical").await?);
    ports.reranker = Some(reranker);
    ports.encoder = Some(datastore.encoder.clone());
    ports.graph = Some(wiring::graph::stored(&datastore));
    Ok((ports, datastore))
}
