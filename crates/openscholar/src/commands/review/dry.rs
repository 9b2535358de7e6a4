//! `openscholar review --dry-run RUN`: what a preset would ask of a model, over the evidence that a review was written from.

use std::process::ExitCode;
use std::sync::Arc;

use scholar_core::{AnswerMode, Generator, Question};
use scholar_pipeline::Meter;
use scholar_pipeline::budget::Budget;
use scholar_pipeline::proof::{LexicalAttributor, SectionAttributor};
use scholar_review::dry::{DryCalls, DryGenerator};
use scholar_review::{Idea, ModeWanted, ReviewConfig};
use serde_json::json;

use super::settings;
use crate::app::App;
use crate::args::{AnswerArgs, GeneratorChoice, ReviewArgs};
use crate::error::CommandError;
use crate::output::review::ReviewDocument;
use crate::runs::{REVIEW_FILE, RunFolder, Verb};
use crate::wiring::{self, OpenDatastore, PortsWanted};

/// Schema of `--json`.
const SCHEMA: &str = "openscholar.review-dry/1";

/// Renders every prompt and prints how many there are and how long they are.
pub(super) fn run(name: &str, args: &ReviewArgs, app: &App) -> Result<ExitCode, CommandError> {
    let folder = RunFolder::find(&app.home, name)?;
    let record = folder.record()?;
    if record.verb != Verb::Review {
        return Err(CommandError::user(format!("run {} is no review", record.id)));
    }
    let earlier: ReviewDocument = folder.read_json(REVIEW_FILE)?;
    let ran = settings::of_record(&record)?;
    let wanted = settings::resolve(args, &App::now())?;
    let config = ReviewConfig {
        mode: ModeWanted::Generative,
        modules: ran.modules,
        cutoff: ran.cutoff,
        // All of it is counted.
        budget: Budget::unlimited(),
        ..wanted
    };
    let idea = Idea::read(&record.question)?;
    let usage = earlier.usage.clone();
    let dry = Arc::new(DryGenerator::new(earlier.review));
    app.block_on_to_the_end(ask(&idea, &config, &record.datastore, args, app, &dry))??;
    print(&record.id, &args.preset, &dry, &usage, app)
}

async fn ask(
    idea: &Idea,
    config: &ReviewConfig,
    datastore: &str,
    args: &ReviewArgs,
    app: &App,
    dry: &Arc<DryGenerator>,
) -> Result<(), CommandError> {
    let opened = OpenDatastore::open(app, datastore).await?;
    let asked = config.ask(scholar_review::Guard::of(idea, config.cutoff).filter());
    let meter = Meter::start_with(config.budget, app.clock(), Some(App::alarm()));
    let question =
        Question::new(&idea.name()).map_err(|error| CommandError::user(error.to_string()))?;
    let answer = AnswerArgs {
        generator: Some(GeneratorChoice::None),
        judge: Some("lexical".to_owned()),
        judge_model: None,
        ..args.answer.clone()
    };
    let wanted =
        PortsWanted { answer: &answer, preset: "report", mode: AnswerMode::Evidence.into() };
    let mut wired = wiring::ports(app, &opened, wanted, &question, &asked, &meter).await?;
    let generator: Arc<dyn Generator> = Arc::<DryGenerator>::clone(dry);
    let judge = SectionAttributor::new(Arc::clone(&generator), Arc::new(LexicalAttributor::new()));
    wired.ports.generator = Some(generator);
    wired.ports.attributor = Arc::new(judge);
    scholar_review::generative(&wired.ports, idea, config, &()).await?;
    Ok(())
}

fn print(
    run: &str,
    preset: &str,
    dry: &DryGenerator,
    usage: &crate::output::document::Usage,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let counts = dry.counts();
    let mut total = DryCalls::default();
    for count in counts.values() {
        total.calls += count.calls;
        total.prompt_tokens += count.prompt_tokens;
        total.reply_tokens += count.reply_tokens;
    }
    if app.printer.json {
        let kinds: Vec<_> =
            counts.iter().map(|(kind, count)| json!({"kind": kind, "estimate": count})).collect();
        app.printer.json(&json!({
            "schema": SCHEMA, "run": run, "preset": preset, "kinds": kinds, "total": total,
            "run_used": usage,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = |name: &str, count: &DryCalls| {
        let DryCalls { calls, prompt_tokens, reply_tokens } = count;
        format!("| {name} | {calls} | {prompt_tokens} | {reply_tokens} |")
    };
    let mut lines = vec![
        "| kind of call | calls | tokens of prompts | tokens of replies |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    lines.extend(counts.iter().map(|(kind, count)| line(kind, count)));
    lines.push(line("all", &total));
    app.printer.out(&lines.join("\n"))?;
    app.printer.say(&format!(
        "run {run} used {} calls, {} and {} tokens",
        usage.calls, usage.prompt_tokens, usage.completion_tokens
    ));
    Ok(ExitCode::SUCCESS)
}
