//! Replies to this program's own prompts, with and without guessing from them, with and without a schema.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use parking_lot::Mutex;
use scholar_bench::performance::generator::Comparison;
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::content_stems;
use scholar_core::{
    Generation, GenerationRequest, Generator as _, Message, OutputShape, Passage, Sampling,
};
use scholar_models::gguf::{GgufGenerator, GgufOptions};
use scholar_pipeline::modes::generative::quotation_schema;
use scholar_pipeline::tabulate::{Column, Preset, generate};
use scholar_pipeline::{EvidenceNumber, prompts};

use crate::app::App;
use crate::error::CommandError;
use crate::starter;
use crate::wiring::models;

/// What is asked: an answer repeats passages that answer. Three development questions of `docs/results/answers-questions.tsv`.
const QUESTIONS: [&str; 3] = [
    "How can machine translation be evaluated without reference translations?",
    "How effective is intermittent preventive treatment against malaria in children or pregnant women?",
    "Which interventions improve glycaemic control in type 2 diabetes?",
];
/// Passages of a prompt.
const PASSAGES: usize = 3;
/// Fewest words of a passage.
const FEWEST_WORDS: usize = 120;
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
    let open = |lookup| {
        let options = GgufOptions { name: None, lookup, ..models::gguf_options(app, "") };
        GgufGenerator::open(path, options)
    };
    let plain = open(false)?;
    let guessing = open(true)?;
    let asked = asked()?;
    let [first, ..] = &asked;
    let mut tasks = vec![("quotations".to_owned(), first.quotations()?)];
    for (at, one) in asked.iter().enumerate() {
        tasks.push((format!("synthesis, question {}", at + 1), one.synthesis()));
        tasks.push((format!("synthesis of quotations, question {}", at + 1), one.of_quotations()));
    }
    tasks.push(("cells of a table by a JSON schema".to_owned(), cells()?));
    let mut lookup = Vec::new();
    for (name, request) in tasks {
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
        "{}\nGive the main findings as JSON: {{\"sentences\": [\"...\", ...]}}",
        first.references(str::to_owned)
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

/// A question with passages of the starter papers that share its words.
struct Asked {
    question: &'static str,
    /// Number, title and text.
    passages: Vec<(EvidenceNumber, String, String)>,
}

impl Asked {
    /// The lines of the passages in a prompt, with as much of each text as `shown` leaves.
    fn references(&self, shown: impl Fn(&str) -> String) -> String {
        let line = |(number, title, text): &(EvidenceNumber, String, String)| {
            format!("{number} Title: {title} Text: {}\n", shown(text))
        };
        self.passages.iter().map(line).collect()
    }

    /// `prompt` about the passages.
    fn prompt(
        &self,
        prompt: prompts::Prompt,
        references: &str,
        shape: OutputShape,
    ) -> GenerationRequest {
        let values = [
            ("references", references),
            ("question", self.question),
            ("most", "2"),
            ("words", "150 to 200"),
            ("plan", ""),
        ];
        request(prompt.render(false, &values), shape)
    }

    /// Quotations, held to the sentences of the passages.
    fn quotations(&self) -> Result<GenerationRequest, CommandError> {
        let shown: Vec<(EvidenceNumber, &str)> =
            self.passages.iter().map(|(number, _, text)| (*number, text.as_str())).collect();
        let nothing = || CommandError::user("no starter paper has sentences to quote");
        let schema = quotation_schema(&shown).ok_or_else(nothing)?;
        let held = OutputShape::Json { name: "quotations".to_owned(), schema };
        Ok(self.prompt(prompts::QUOTES_CHOICE, &self.references(str::to_owned), held))
    }

    /// The answer of a single pass.
    fn synthesis(&self) -> GenerationRequest {
        self.prompt(prompts::DRAFT, &self.references(str::to_owned), OutputShape::Text)
    }

    /// The report from quotations: the first sentences of each passage stand for those that a model would choose.
    fn of_quotations(&self) -> GenerationRequest {
        let quoted = |text: &str| {
            let sentences = sentence_texts(text).into_iter().take(QUOTED);
            sentences.map(|one| format!("“{one}”")).collect::<Vec<_>>().join(" … ")
        };
        self.prompt(prompts::REPORT, &self.references(quoted), OutputShape::Text)
    }
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

/// The questions, each with the passages, one a paper, that share most stems with it.
fn asked() -> Result<[Asked; QUESTIONS.len()], CommandError> {
    let papers = starter::papers()?;
    let long: Vec<(&str, String, BTreeSet<String>)> = papers
        .iter()
        .filter_map(|paper| {
            let long = cut(paper, PassageRules::sections())
                .into_iter()
                .find(|passage| passage.text.split_whitespace().count() >= FEWEST_WORDS)?;
            let stems = content_stems(&long.text).into_iter().collect();
            Some((paper.meta.title.as_str(), long.text, stems))
        })
        .collect();
    let about = |question: &'static str| {
        let wanted: BTreeSet<String> = content_stems(question).into_iter().collect();
        let mut near: Vec<_> = long.iter().collect();
        near.sort_by_key(|(.., stems)| Reverse(stems.intersection(&wanted).count()));
        let numbered = near.into_iter().take(PASSAGES).enumerate();
        let passages = numbered
            .map(|(i, (title, text, _))| (EvidenceNumber(i), (*title).to_owned(), text.clone()))
            .collect();
        Asked { question, passages }
    };
    Ok(QUESTIONS.map(about))
}
