//! A model that writes replies of typical length to every step of the mode.

use async_trait::async_trait;
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator, GeneratorInfo, GeneratorStrength,
    Message, OnText, PortError, PortErrorKind, TokenUsage,
};
use serde_json::json;

/// Dollars for a million tokens of prompts and of replies. Source: specification A12, GPT-4o.
const USD_PER_MILLION: (f64, f64) = (2.5, 10.0);
/// Characters of a token: English of papers, as GPT-4o's tokenizer splits it, roughly.
const CHARS_OF_A_TOKEN: usize = 4;
/// Sub-questions of the first critic. Ours, as in estimates.
const FIRST_BREADTH: usize = 3;
/// Sub-questions of a node's critic that wants any.
const LATER_BREADTH: usize = 2;
/// Candidates that a judgement keeps of those it is shown.
const KEPT: usize = 7;
/// A sentence of a typical answer, 24 words.
const SENTENCE: &str = "In a study of several hundred cases the method improved the main outcome by a fifth over the usual one under the same conditions";

/// Replies by the step that a request names: an outline, drafts, two rounds of a critic, judgements of candidates, answers.
///
/// The first critic asks for three sub-questions, the critic of every second node for two. Hits are never enough, so that the
/// citation graph is asked for every node: the dearest case.
#[derive(Debug)]
pub struct TypicalModel {
    info: GeneratorInfo,
}

impl TypicalModel {
    /// With GPT-4o's context and price.
    pub fn new() -> Self {
        let info = GeneratorInfo {
            model: "script of typical replies".to_owned(),
            context_tokens: 128_000,
            strength: GeneratorStrength::Strong,
            local: false,
            usd_per_million: Some(USD_PER_MILLION),
        };
        Self { info }
    }
}

impl Default for TypicalModel {
    fn default() -> Self {
        Self::new()
    }
}

/// The step that a purpose names, without its node.
pub(super) fn step(purpose: &str) -> &str {
    purpose.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end()
}

fn reply(request: &GenerationRequest) -> String {
    let step = step(&request.purpose);
    let node = request.purpose[step.len()..].trim();
    let prompt = request.messages.last().map_or("", |message| message.content.as_str());
    match step {
        "outline" => (1..=4).map(|n| format!("{n}. (25%) Facet {n} of the question: what studies of this facet measured, compared with what, under which conditions, and where their results differ.\n")).collect(),
        "gaps" if !node.is_empty() && !is_wanted(node) => "[end]terminate".to_owned(),
        "gaps" => "- The answer names no study of the second facet, although the outline asks for its size.\n- It does not say under which conditions the effect vanishes.\n- Costs are not compared.\n".to_owned(),
        "queries" => queries(prompt, if node.is_empty() { FIRST_BREADTH } else { LATER_BREADTH }),
        "decide" => "[expansion]".to_owned(),
        "tag" | "relate" | "select" | "contributions" => judgement(step, candidates(prompt)),
        "analyse" => paragraph(8, &[]),
        "feedback" => format!("[Response_Start]Feedback: {SENTENCE}.\nFeedback: {SENTENCE}.\nFeedback: {SENTENCE}.[Response_End]"),
        "draft" | "aggregate" | "edit" => report(&references(prompt)),
        "answer" | "merge" => paragraph(8, &references(prompt)),
        "repair" => (1..=10).map(|n| format!("{n} | {SENTENCE}. [{n}]\n")).collect(),
        _ => paragraph(4, &[]),
    }
}

/// Whether a node's critic asks for more: that of every second one.
fn is_wanted(node: &str) -> bool {
    node.rsplit('.')
        .next()
        .and_then(|nth| nth.parse::<usize>().ok())
        .is_some_and(|nth| nth % 2 == 1)
}

/// Sub-questions in the words of the question above them, each of which finds something.
fn queries(prompt: &str, most: usize) -> String {
    let asked = prompt.lines().find_map(|line| line.strip_prefix("Question: ")).unwrap_or_default();
    let asked = asked.trim_end_matches(['?', '.', ' ']);
    let turns = ["results and effect sizes", "methods and conditions", "limits and disagreement"];
    (1..).zip(turns).take(most).map(|(n, turn)| format!("({n}) {asked}: {turn}\n")).collect()
}

/// Numbers that begin the lines of a prompt.
fn references(prompt: &str) -> Vec<usize> {
    let number = |line: &str| line.strip_prefix('[')?.split_once(']')?.0.parse().ok();
    prompt.lines().filter_map(number).collect()
}

fn candidates(prompt: &str) -> usize {
    references(prompt).into_iter().max().unwrap_or(0)
}

fn judgement(step: &str, n: usize) -> String {
    let list = |one: &dyn Fn(usize) -> serde_json::Value, n: usize| -> serde_json::Value {
        (1..=n).map(one).collect()
    };
    let papers = list(
        &|at| json!({"paper_index": at, "segments": [{"label": "E", "description": SENTENCE, "relevance": "High"}, {"label": "M", "description": SENTENCE, "relevance": "Medium"}]}),
        n,
    );
    let relations = list(
        &|at| json!({"symbol": format!("[{at}]E -> [Q]"), "rationale": "It measures what the question asks for."}),
        n,
    );
    let kept =
        list(&|at| json!({"paper_index": at, "rank": at, "justification": SENTENCE}), n.min(KEPT));
    let discarded = list(
        &|at| json!({"paper_index": at + n.min(KEPT), "reason": "It is beside the point."}),
        n.saturating_sub(KEPT),
    );
    match step {
        "tag" => json!({"papers": papers}),
        "relate" => json!({"relationships": relations}),
        "select" => json!({"final_selection": kept, "discarded_items": discarded}),
        _ => json!({"papers": papers, "relationships": relations, "final_selection": kept, "discarded_items": discarded}),
    }
    .to_string()
}

fn paragraph(sentences: usize, references: &[usize]) -> String {
    let mut numbers = references.iter().cycle();
    let sentence = |_| match numbers.next() {
        Some(number) => format!("{SENTENCE} [{number}]. "),
        None => format!("{SENTENCE}. "),
    };
    (0..sentences).map(sentence).collect()
}

/// A report of about 1,000 words in the marked lines of its prompt.
fn report(references: &[usize]) -> String {
    let mut numbers = references.iter().cycle();
    let mut finding = |nth: usize| {
        let number = numbers.next().copied().unwrap_or(0);
        format!("F{nth} | {SENTENCE}. [{number}]\n")
    };
    let mut text = String::from("[Response_Start]");
    for part in 0..4 {
        text.extend(["## Facet ", &(part + 1).to_string(), "\n"]);
        text.extend((1..=9).map(|nth| finding(part * 9 + nth)));
    }
    text.push_str("## Limits\nG | No paper found here compares costs.\n## Short answer\nS F1 F2 | Taken together these studies favour the method.[Response_End]");
    text
}

fn tokens(text: &str) -> u64 {
    u64::try_from(text.chars().count().div_ceil(CHARS_OF_A_TOKEN)).unwrap_or(u64::MAX)
}

#[async_trait]
impl Generator for TypicalModel {
    fn info(&self) -> &GeneratorInfo {
        &self.info
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.chars().count().div_ceil(CHARS_OF_A_TOKEN)
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let text = reply(request);
        on_text(&text);
        let prompt = request.messages.iter().map(|message| tokens(&message.content)).sum();
        let usage = TokenUsage { prompt, completion: tokens(&text) };
        let model = self.info.model.clone();
        let finish = FinishReason::Stop;
        Ok(Generation { text, finish, usage, usage_estimated: true, model })
    }

    async fn choose(
        &self,
        _purpose: &str,
        _messages: &[Message],
        _choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        Err(PortError::new(PortErrorKind::Rejected, "a script of replies chooses nothing"))
    }
}
