//! The calls that answers make of the model, with and without guessing from their prompts.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_bench::performance::generator::Comparison;
use scholar_core::ports::OnText;
use scholar_core::{
    AnswerMode, Generation, GenerationRequest, Generator, GeneratorInfo, Message, PortError,
    Question,
};
use scholar_models::gguf::GgufGenerator;
use scholar_pipeline::config::WritingPlan;
use scholar_pipeline::{AskConfig, Ports, ask};

use crate::app::App;
use crate::config::DEFAULT_JUDGE;
use crate::error::CommandError;

use super::super::answerable;
use super::replies;

/// Development questions of `docs/results/answers-questions.tsv`, from both fields of the starter by turns.
const QUESTIONS: [&str; 8] = [
    "How can machine translation be evaluated without reference translations?",
    "How effective is intermittent preventive treatment against malaria in children or pregnant women?",
    "What limits the reasoning of language models on arithmetic or multi-step problems?",
    "Which interventions improve glycaemic control in type 2 diabetes?",
    "How do parameter-efficient fine-tuning methods compare with full fine-tuning?",
    "Does cognitive behavioural therapy delivered online reduce depression or anxiety?",
    "Which techniques make multilingual models work for languages they have not seen?",
    "Do lifestyle programmes prevent weight gain or reduce obesity?",
];

/// Asks the first `questions` of [`QUESTIONS`] of the default datastore, by one draft and from quotations, with a model that guesses
/// and one that does not by turns; one comparison for each call that writes an answer, then one for each kind of call in sum.
pub(super) fn measure(
    path: &Path,
    questions: usize,
    app: &App,
) -> Result<Vec<Comparison>, CommandError> {
    if questions == 0 {
        return Ok(Vec::new());
    }
    let name = app.datastore_name(None);
    app.home.datastore(&name)?;
    let (ports, _datastore) = app.block_on(answerable::open(app, &name, DEFAULT_JUDGE))??;
    let side = |lookup| replies::open(path, lookup, app).map(|inner| Arc::new(Timed::new(inner)));
    let sides = [side(false)?, side(true)?];
    let mut pairs = Vec::new();
    for (at, question) in QUESTIONS.iter().take(questions).enumerate() {
        let question = Question::new(question).map_err(|e| CommandError::user(e.to_string()))?;
        for (form, config) in forms() {
            app.printer.say(&format!("answering question {} ({form})", at + 1));
            let order = if at % 2 == 0 { [0, 1] } else { [1, 0] };
            let mut calls = [Vec::new(), Vec::new()];
            for side in order {
                let ports = Ports { generator: Some(sides[side].clone()), ..ports.clone() };
                app.block_on(ask(&ports, &question, &config, &()))?.map_err(CommandError::from)?;
                calls[side] = sides[side].take();
            }
            pairs.extend(paired(form, at + 1, calls));
        }
    }
    Ok(comparisons(&pairs))
}

/// Ways of answering that ask the model for prose.
fn forms() -> [(&'static str, AskConfig); 2] {
    let mut single_pass = AskConfig::report();
    single_pass.mode = AnswerMode::SinglePass.into();
    let mut quotes = AskConfig::report();
    quotes.mode = AnswerMode::Generative.into();
    quotes.writing.plan = WritingPlan::Quotes;
    [("single-pass", single_pass), ("--plan quotes", quotes)]
}

/// One call, and how long its reply took from the first text on.
struct Call {
    purpose: String,
    generation: Generation,
    seconds: f64,
}

/// The same call with and without guessing; `None` where the other run did not make it.
struct Pair {
    form: &'static str,
    question: usize,
    calls: [Option<Call>; 2],
}

fn paired(form: &'static str, question: usize, [plain, guessing]: [Vec<Call>; 2]) -> Vec<Pair> {
    let calls = plain.len().max(guessing.len());
    let (mut plain, mut guessing) = (plain.into_iter(), guessing.into_iter());
    (0..calls).map(|_| Pair { form, question, calls: [plain.next(), guessing.next()] }).collect()
}

/// Calls of one purpose in sum.
#[derive(Default)]
struct Sum {
    tokens: [u64; 2],
    written: [f64; 2],
    seconds: [f64; 2],
    differ: bool,
}

impl Sum {
    fn add(&mut self, pair: &Pair) {
        let [Some(plain), Some(guessing)] = &pair.calls else {
            self.differ = true;
            return;
        };
        self.differ |=
            plain.purpose != guessing.purpose || plain.generation.text != guessing.generation.text;
        self.tokens[0] += plain.generation.usage.prompt;
        self.tokens[1] += plain.generation.usage.completion;
        for (side, call) in [plain, guessing].into_iter().enumerate() {
            self.written[side] += call.generation.usage.completion.saturating_sub(1) as f64;
            self.seconds[side] += call.seconds;
        }
    }

    fn comparison(&self, name: String) -> Comparison {
        let per_s = |side: usize| self.written[side] / self.seconds[side];
        Comparison { name, tokens: self.tokens, per_s: [per_s(0), per_s(1)], same: !self.differ }
    }
}

/// Each text of an answer, then all calls of each form by purpose.
fn comparisons(pairs: &[Pair]) -> Vec<Comparison> {
    let mut rows = Vec::new();
    let mut sums: Vec<((&str, &str), Sum)> = Vec::new();
    for pair in pairs {
        let ([Some(call), _] | [None, Some(call)]) = &pair.calls else { continue };
        let purpose = call.purpose.as_str();
        if purpose == DRAFT {
            let mut sum = Sum::default();
            sum.add(pair);
            rows.push(sum.comparison(format!("{} question {}, {DRAFT}", pair.form, pair.question)));
        }
        let key = (pair.form, purpose);
        let known = sums.iter().position(|(known, _)| *known == key);
        let at = known.unwrap_or_else(|| {
            sums.push((key, Sum::default()));
            sums.len() - 1
        });
        sums[at].1.add(pair);
    }
    rows.extend(
        sums.iter()
            .map(|((form, purpose), sum)| sum.comparison(format!("{form} in sum, {purpose}"))),
    );
    rows
}

/// Purpose of the call that writes the text of an answer.
const DRAFT: &str = "draft";

/// A generator that keeps its calls.
struct Timed {
    inner: GgufGenerator,
    calls: Mutex<Vec<Call>>,
}

impl Timed {
    fn new(inner: GgufGenerator) -> Self {
        Self { inner, calls: Mutex::default() }
    }

    /// The calls since the last time.
    fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock())
    }
}

#[async_trait]
impl Generator for Timed {
    fn info(&self) -> &GeneratorInfo {
        self.inner.info()
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.inner.count_tokens(text)
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let (generation, seconds) = replies::timed(&self.inner, request, on_text).await?;
        if let Some(seconds) = seconds {
            let (purpose, generation) = (request.purpose.clone(), generation.clone());
            self.calls.lock().push(Call { purpose, generation, seconds });
        }
        Ok(generation)
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        self.inner.choose(purpose, messages, choices).await
    }
}
