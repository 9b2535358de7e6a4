//! Replies to this program's own prompts, with and without guessing from them, with and without a schema.

use std::path::Path;
use std::time::Instant;

use parking_lot::Mutex;
use scholar_bench::performance::generator::Comparison;
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::{
    Generation, GenerationRequest, Generator as _, Message, OutputShape, Passage, Sampling,
};
use scholar_models::gguf::{GgufGenerator, GgufOptions};
use scholar_pipeline::modes::generative::quotation_schema;
use scholar_pipeline::tabulate::{Column, Preset, generate};
use scholar_pipeline::{EvidenceNumber, prompts};

use crate::app::App;
use crate::commands::bench::encoder::{FULL_WORDS, QUERY};
use crate::error::CommandError;
use crate::starter;
use crate::wiring::models;

/// Passages of a prompt.
const PASSAGES: usize = 3;
/// Sentences of a passage that are quoted.
const QUOTED: usize = 3;
/// Longest reply.
const MAX_TOKENS: usize = 128;
/// Longest reply with cells.
const CELL_TOKENS: usize = 256;

/// Guessing, and schemas.
pub(super) fn measure(
    path: &Path,
    rounds: usize,
    app: &App,
) -> Result<(Vec<Comparison>, Vec<Comparison>), CommandError> {
    let passages = passages()?;
    let references = listed(&passages, str::to_owned);
    let values = [("references", references.as_str()), ("question", QUERY), ("most", "2")];
    let open = |lookup| {
        let options = GgufOptions { name: None, lookup, ..models::gguf_options(app, "") };
        GgufGenerator::open(path, options)
    };
    let plain = open(false)?;
    let guessing = open(true)?;
    let mut lookup = Vec::new();
    let shown: Vec<(EvidenceNumber, &str)> =
        passages.iter().map(|(number, _, text)| (*number, text.as_str())).collect();
    let nothing = || CommandError::user("no starter paper has sentences to quote");
    let schema = quotation_schema(&shown).ok_or_else(nothing)?;
    let held = OutputShape::Json { name: "quotations".to_owned(), schema };
    let asked = |prompt: prompts::Prompt, shape| request(prompt.render(false, &values), shape);
    for (name, request) in [
        ("quotations", asked(prompts::QUOTES_CHOICE, held)),
        ("synthesis", asked(prompts::DRAFT, OutputShape::Text)),
        ("synthesis of quotations", of_quotations(&passages)),
        ("cells of a table by a JSON schema", cells()?),
    ] {
        app.printer.say(&format!("writing {name}"));
        let sides = [(&plain, &request), (&guessing, &request)];
        lookup.push(compare(format!("{name}, guessed from the prompt"), sides, rounds, app)?);
    }
    app.printer.say("writing by a schema");
    let schema = serde_json::json!({
        "type": "object", "required": ["sentences"], "additionalProperties": false,
        "properties": {"sentences": {"type": "array", "items": {"type": "string"}, "minItems": 3}},
    });
    let messages = vec![Message::user(format!(
        "{references}\nGive the main findings as JSON: {{\"sentences\": [\"...\", ...]}}"
    ))];
    let free = request(messages.clone(), OutputShape::Text);
    let shape = OutputShape::Json { name: "findings".to_owned(), schema };
    let bound = request(messages, shape);
    let sides = [(&plain, &free), (&plain, &bound)];
    let schema = vec![compare("findings by a JSON schema".to_owned(), sides, rounds, app)?];
    Ok((lookup, schema))
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

/// The lines of passages in a prompt, with as much of each text as `shown` leaves.
fn listed(passages: &[(EvidenceNumber, String, String)], shown: impl Fn(&str) -> String) -> String {
    let line = |(number, title, text): &(EvidenceNumber, String, String)| {
        format!("{number} Title: {title} Text: {}\n", shown(text))
    };
    passages.iter().map(line).collect()
}

/// The report from quotations: the first sentences of each passage stand for those that a model would choose.
fn of_quotations(passages: &[(EvidenceNumber, String, String)]) -> GenerationRequest {
    let quoted = |text: &str| {
        let sentences = sentence_texts(text).into_iter().take(QUOTED);
        sentences.map(|one| format!("“{one}”")).collect::<Vec<_>>().join(" … ")
    };
    let references = listed(passages, quoted);
    let values = [
        ("references", references.as_str()),
        ("question", QUERY),
        ("words", "150 to 200"),
        ("plan", ""),
    ];
    request(prompts::REPORT.render(false, &values), OutputShape::Text)
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

/// The cells of a trial: what `papers table` asks a model for, of the first starter paper that has passages enough.
fn cells() -> Result<GenerationRequest, CommandError> {
    let papers = starter::papers()?;
    let passages = papers.iter().find_map(|paper| {
        let mut passages = cut(paper, PassageRules::sections());
        passages.retain(|passage| passage.kind.is_prose());
        (passages.len() >= PASSAGES).then_some(passages)
    });
    let too_short = || CommandError::user("no starter paper has passages enough for a table");
    let passages = passages.ok_or_else(too_short)?;
    let shown: Vec<&Passage> = passages.iter().take(PASSAGES).collect();
    let columns = Column::read(Preset::Trial.name())
        .map_err(|error| CommandError::user(error.to_string()))?;
    Ok(GenerationRequest {
        sampling: Sampling::greedy(CELL_TOKENS),
        ..generate::request(&shown, &columns)
    })
}

/// Number, title and text of a few full passages of the starter papers.
fn passages() -> Result<Vec<(EvidenceNumber, String, String)>, CommandError> {
    let papers = starter::papers()?;
    let full = papers.iter().filter_map(|paper| {
        let full = cut(paper, PassageRules::sections())
            .into_iter()
            .find(|passage| passage.text.split_whitespace().count() >= FULL_WORDS)?;
        Some((paper.meta.title.clone(), full.text))
    });
    let numbered = full.take(PASSAGES).enumerate();
    Ok(numbered.map(|(i, (title, text))| (EvidenceNumber(i), title, text)).collect())
}
