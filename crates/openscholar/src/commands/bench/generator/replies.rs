//! The cells of a table, with and without guessing from their prompt, and replies with and without a schema.

use std::path::Path;
use std::time::Instant;

use parking_lot::Mutex;
use scholar_bench::performance::generator::Comparison;
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{
    Generation, GenerationRequest, Generator as _, Message, OutputShape, Passage, Sampling,
};
use scholar_models::gguf::{GgufGenerator, GgufOptions};
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
    let open = |lookup| {
        let options = GgufOptions { name: None, lookup, ..models::gguf_options(app, "") };
        GgufGenerator::open(path, options)
    };
    let plain = open(false)?;
    let guessing = open(true)?;
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
    let first = Mutex::new(None);
    let on_text = |_: &str| {
        first.lock().get_or_insert_with(Instant::now);
    };
    let reply = app.block_on(generator.generate(request, &on_text))??;
    let seconds = first.into_inner().map_or(f64::INFINITY, |began| began.elapsed().as_secs_f64());
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
