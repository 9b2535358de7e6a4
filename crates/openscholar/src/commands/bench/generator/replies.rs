//! The cells of a table, with and without guessing from their prompt, and replies with and without a schema.

use std::path::Path;
use std::time::Instant;

use parking_lot::Mutex;
use scholar_bench::performance::generator::Comparison;
use scholar_core::ports::OnText;
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{
    Generation, GenerationRequest, Generator as _, Message, OutputShape, Passage, PortError,
    Sampling,
};
use scholar_models::gguf::{GgufError, GgufGenerator, GgufOptions};
use scholar_pipeline::tabulate::{Column, Preset, generate};

use crate::app::App;
use crate::error::CommandError;
use crate::starter;
use crate::wiring::models;

/// Passages of a prompt.
const PASSAGES: usize = 3;
/// Longest reply.
const MAX_TOKENS: usize = 128;
/// Longest reply with cells.
const CELL_TOKENS: usize = 256;

/// Guessing, and schemas.
pub(super) fn measure(
    path: &Path,
    rounds: usize,
    app: &App,
) -> Result<(Comparison, Vec<Comparison>), CommandError> {
    let plain = open(path, false, app)?;
    let guessing = open(path, true, app)?;
    let passages = first_passages()?;
    app.printer.say("writing the cells of a table");
    let cells = cells(&passages)?;
    let name = "papers table, cells by a JSON schema".to_owned();
    let lookup = compare(name, [(&plain, &cells), (&guessing, &cells)], rounds, app)?;
    app.printer.say("writing by a schema");
    let schema = serde_json::json!({
        "type": "object", "required": ["sentences"], "additionalProperties": false,
        "properties": {"sentences": {"type": "array", "items": {"type": "string"}, "minItems": 3}},
    });
    let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
    let messages = vec![Message::user(format!(
        "{}\nGive the main findings as JSON: {{\"sentences\": [\"...\", ...]}}",
        texts.join("\n")
    ))];
    let free = request(messages.clone(), OutputShape::Text);
    let shape = OutputShape::Json { name: "findings".to_owned(), schema };
    let bound = request(messages, shape);
    let sides = [(&plain, &free), (&plain, &bound)];
    let name = "findings by a JSON schema, against free text".to_owned();
    Ok((lookup, vec![compare(name, sides, rounds, app)?]))
}

/// The model at `path`, which guesses from its prompts if `lookup`.
pub(super) fn open(path: &Path, lookup: bool, app: &App) -> Result<GgufGenerator, GgufError> {
    GgufGenerator::open(path, GgufOptions { name: None, lookup, ..models::gguf_options(app, "") })
}

/// A reply, and the seconds that it took from its first text on; none where it has no text.
pub(super) async fn timed(
    generator: &GgufGenerator,
    request: &GenerationRequest,
    on_text: &OnText<'_>,
) -> Result<(Generation, Option<f64>), PortError> {
    let first: Mutex<Option<Instant>> = Mutex::new(None);
    let heard = |text: &str| {
        first.lock().get_or_insert_with(Instant::now);
        on_text(text);
    };
    let reply = generator.generate(request, &heard).await?;
    Ok((reply, first.into_inner().map(|began| began.elapsed().as_secs_f64())))
}

/// Two ways of writing by turns; the fastest round of each counts.
fn compare(
    name: String,
    sides: [(&GgufGenerator, &GenerationRequest); 2],
    rounds: usize,
    app: &App,
) -> Result<Comparison, CommandError> {
    let mut best: [Option<(Generation, f64)>; 2] = [None, None];
    for _ in 0..rounds.max(1) {
        for ((generator, request), best) in sides.into_iter().zip(&mut best) {
            let found = reply(generator, request, app)?;
            if best.as_ref().is_none_or(|best| found.1 > best.1) {
                *best = Some(found);
            }
        }
    }
    let [Some((a, without)), Some((b, with))] = best else {
        return Err(CommandError::user("a measurement needs at least one round"));
    };
    Ok(Comparison {
        name,
        tokens: [a.usage.prompt, b.usage.completion],
        per_s: [without, with],
        same: a.text == b.text,
    })
}

fn request(messages: Vec<Message>, shape: OutputShape) -> GenerationRequest {
    let sampling = Sampling::greedy(MAX_TOKENS);
    GenerationRequest { purpose: "bench".to_owned(), messages, sampling, shape }
}

/// A reply, and the tokens that were written in a second after the first text. Prompt and grammar are made ready by a call
/// before.
fn reply(
    generator: &GgufGenerator,
    request: &GenerationRequest,
    app: &App,
) -> Result<(Generation, f64), CommandError> {
    let short = GenerationRequest { sampling: Sampling::greedy(1), ..request.clone() };
    app.block_on(generator.generate(&short, &|_: &str| ()))??;
    let (reply, seconds) = app.block_on(timed(generator, request, &|_: &str| ()))??;
    let seconds = seconds.unwrap_or(f64::INFINITY);
    let written = reply.usage.completion.saturating_sub(1) as f64;
    Ok((reply, written / seconds))
}

/// What `papers table` asks a model for, of a trial.
fn cells(passages: &[Passage]) -> Result<GenerationRequest, CommandError> {
    let shown: Vec<&Passage> = passages.iter().collect();
    let columns = Column::read(Preset::Trial.name())
        .map_err(|error| CommandError::user(error.to_string()))?;
    Ok(GenerationRequest {
        sampling: Sampling::greedy(CELL_TOKENS),
        ..generate::request(&shown, &columns)
    })
}

/// The first passages of prose of the first starter paper that has enough.
fn first_passages() -> Result<Vec<Passage>, CommandError> {
    let papers = starter::papers()?;
    let passages = papers.iter().find_map(|paper| {
        let mut passages = cut(paper, PassageRules::sections());
        passages.retain(|passage| passage.kind.is_prose());
        passages.truncate(PASSAGES);
        (passages.len() == PASSAGES).then_some(passages)
    });
    passages.ok_or_else(|| CommandError::user("no starter paper has passages enough for a table"))
}
