//! What a review would ask, without a model: every prompt is rendered over the same evidence, and an earlier review stands in for
//! the replies.
//!
//! Methods, dimensions, queries, and how near papers are, come from that review; a paper that it did not meet is as likely to be
//! relevant as those that it did. Texts are as long as its texts are on average, findings as many, and all of them are judged to be
//! supported: what a real judge would refuse is asked about once more, so that the judge's calls here are the fewest.
//!
//! Source: ours, for the costs in table 1 of arXiv 2510.16234.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::{
    AnswerRole, FinishReason, Generation, GenerationRequest, Generator, GeneratorInfo,
    GeneratorStrength, Message, OnText, PortError, PortErrorKind, TokenUsage,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config::{APPRAISAL_POINTS, ReviewConfig};
use crate::report::{Contribution, MethodReview, Module, Review, Soundness, Statement};

/// Characters a token. Ours: English prose in the vocabularies in use.
const CHARACTERS_A_TOKEN: usize = 4;
/// Characters of a text of which the earlier review has none. Ours.
const USUAL_CHARACTERS: usize = 400;

/// Calls of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DryCalls {
    /// How many.
    pub calls: u64,
    /// Tokens of all prompts, estimated as characters divided by four.
    pub prompt_tokens: u64,
    /// Tokens of all replies, estimated in the same way.
    pub reply_tokens: u64,
}

/// A generator that answers with what an earlier review says, and counts.
pub struct DryGenerator {
    earlier: Review,
    info: GeneratorInfo,
    counts: Mutex<BTreeMap<String, DryCalls>>,
}

impl DryGenerator {
    /// One that lets `earlier` stand in.
    pub fn new(earlier: Review) -> Self {
        let info = GeneratorInfo {
            model: "dry run".to_owned(),
            context_tokens: usize::MAX,
            strength: GeneratorStrength::Strong,
            local: false,
            usd_per_million: None,
        };
        Self { earlier, info, counts: Mutex::default() }
    }

    /// What was asked, by the kind of call.
    pub fn counts(&self) -> BTreeMap<String, DryCalls> {
        self.counts.lock().clone()
    }

    fn soundness(&self) -> Option<&Soundness> {
        self.earlier.soundness.as_ref().and_then(Module::done)
    }

    fn contribution(&self) -> Option<&Contribution> {
        self.earlier.contribution.as_ref().and_then(Module::done)
    }

    fn method(&self, purpose: &str) -> Option<&MethodReview> {
        let words: Vec<&str> = purpose.split(' ').collect();
        self.soundness()?.reviews.iter().find(|one| words.contains(&one.method.id.as_str()))
    }

    fn reply(&self, purpose: &str, prompt: &str) -> Option<String> {
        let value = match kind(purpose) {
            "methods" => self.methods(),
            "query" => json!({"query": self.method(purpose)?.query}),
            "summary of papers" => self.summaries(purpose, prompt),
            "method review" => self.method_review(purpose, prompt),
            "summary" => self.summary(),
            "dimensions" => self.dimensions(),
            "queries" => return self.queries(prompt),
            "relevance" => self.relevance(prompt),
            "compare" => self.compared(prompt),
            "synthesis" => self.synthesis(prompt),
            "appraisal" => self.appraisal(),
            "judge" => verdicts(prompt),
            _ => return None,
        };
        Some(value.to_string())
    }

    fn methods(&self) -> Value {
        let all = self.soundness().map(|one| one.reviews.as_slice()).unwrap_or_default();
        let all = all.iter().map(|one| json!({"text": one.method.text, "query": one.query}));
        json!({"methods": all.collect::<Vec<_>>()})
    }

    fn summaries(&self, purpose: &str, prompt: &str) -> Value {
        let own = self.method(purpose);
        let (kept, left) = own.map_or((1, 0), |one| (one.evidence.len(), one.irrelevant));
        let all = self.soundness().map(|one| one.reviews.as_slice()).unwrap_or_default();
        let texts = all.iter().flat_map(|one| &one.evidence).flat_map(|one| &one.summarised);
        let lengths: Vec<[usize; 3]> = texts
            .map(|one| [&one.method, &one.results, &one.context].map(|text| text.chars().count()))
            .collect();
        let usual = |at: usize| mean(lengths.iter().map(|three| three[at]));
        let own_words = sentences(prompt);
        let of = |(key, _): &(String, String)| {
            let n: usize = key.trim_start_matches('E').parse().unwrap_or(1);
            // As large a share as before, spread evenly.
            let share = |n: usize| n * kept / (kept + left).max(1);
            if share(n) == share(n.saturating_sub(1)) {
                return json!({"key": key, "relevant": false, "method": "", "results": "", "context": ""});
            }
            // In the paper's own words, so that a review can be written from them.
            let found = own_words.get(key).map(String::as_str).unwrap_or_default();
            let more = filler(usual(1).saturating_sub(found.chars().count()));
            json!({"key": key, "relevant": true, "method": filler(usual(0)),
                "results": format!("{found} {more}"), "context": filler(usual(2))})
        };
        json!({"papers": papers(prompt).iter().map(of).collect::<Vec<_>>()})
    }

    fn method_review(&self, purpose: &str, prompt: &str) -> Value {
        let own = self.method(purpose);
        let of =
            |all: fn(&MethodReview) -> &Vec<Statement>| own.map(all).map_or(&[][..], Vec::as_slice);
        let (support, against) = (of(|one| &one.support), of(|one| &one.contradictions));
        let findings = count_findings(support) + count_findings(against);
        let advice: Vec<&str> =
            of(|one| &one.suggested_action).iter().map(|one| one.sentence.text.as_str()).collect();
        let judged: Vec<&str> = support
            .iter()
            .chain(against)
            .filter(|one| one.sentence.role != Some(AnswerRole::Finding))
            .map(|one| one.sentence.text.as_str())
            .collect();
        json!({"support": format!("{} {}", cited(prompt, findings), judged.join(" ")),
            "contradictions": "", "suggested_action": advice.join(" "), "score": 5})
    }

    fn summary(&self) -> Value {
        let summary = self.soundness().and_then(|one| one.summary.clone()).unwrap_or_default();
        let of = |all: &[Statement]| -> Vec<String> {
            all.iter().map(|one| format!("{} [S1]", one.sentence.text)).collect()
        };
        json!({"strengths": of(&summary.strengths), "weaknesses": of(&summary.weaknesses),
            "suggestions": of(&summary.suggestions)})
    }

    fn dimensions(&self) -> Value {
        let all = self.contribution().map(|one| one.reviews.as_slice()).unwrap_or_default();
        let of = |one: &crate::report::DimensionReview| {
            let dimension = &one.dimension;
            let statements: Vec<Value> = dimension
                .statements
                .iter()
                .enumerate()
                .map(|(at, text)| json!({"text": text, "queries": dimension.queries.get(at)}))
                .collect();
            json!({"name": dimension.name, "statements": statements})
        };
        json!({"dimensions": all.iter().map(of).collect::<Vec<_>>()})
    }

    /// The queries of the statement that the prompt ends with, and the statement's first words.
    fn queries(&self, prompt: &str) -> Option<String> {
        let statement = prompt.lines().rfind(|line| !line.trim().is_empty())?;
        let all = self.contribution().map(|one| one.reviews.as_slice()).unwrap_or_default();
        let known = all.iter().find_map(|one| {
            let at = one.dimension.statements.iter().position(|known| known == statement)?;
            one.dimension.queries.get(at)
        });
        let first: Vec<&str> = statement.split(' ').take(7).collect();
        let mut lines = known.cloned().unwrap_or_default();
        lines.push(first.join(" "));
        Some(lines.join("\n"))
    }

    fn relevance(&self, prompt: &str) -> Value {
        let known = self.contribution().map(|one| one.papers.as_slice()).unwrap_or_default();
        let min = ReviewConfig::paper().contribution.relevance_min;
        let scored: Vec<u8> = known.iter().filter_map(|one| one.relevance).collect();
        let near = scored.iter().filter(|score| **score >= min).count();
        let rationale = filler(mean(known.iter().map(|one| one.rationale.chars().count())));
        let of = |(key, title): &(String, String)| {
            let own =
                known.iter().find(|one| title.starts_with(one.paper.display_title().as_ref()));
            let score = own.and_then(|one| one.relevance).unwrap_or_else(|| {
                // As large a share as before, by a number that is the title's own.
                let number = title.bytes().fold(17_usize, |sum, byte| {
                    sum.wrapping_mul(31).wrapping_add(usize::from(byte)) % 1_000_003
                });
                if number % scored.len().max(1) < near { min } else { min - 1 }
            });
            json!({"key": key, "rationale": rationale, "score": score})
        };
        json!({"papers": papers(prompt).iter().map(of).collect::<Vec<_>>()})
    }

    fn compared(&self, prompt: &str) -> Value {
        let earlier = self.contribution().map(|one| one.comparisons.as_slice()).unwrap_or_default();
        let overall = filler(mean(earlier.iter().map(|one| one.overall.chars().count())));
        let along = earlier.iter().flat_map(|one| &one.dimensions);
        let text = filler(mean(along.map(|one| one.text.chars().count())));
        let mut dimensions = Map::new();
        for one in self.contribution().into_iter().flat_map(|one| &one.reviews) {
            let value = json!({"comparison": text, "score": 0});
            dimensions.insert(one.dimension.id.clone(), value);
        }
        let of = |(key, _): &(String, String)| json!({"key": key, "overall": overall, "dimensions": dimensions});
        json!({"papers": papers(prompt).iter().map(of).collect::<Vec<_>>()})
    }

    fn synthesis(&self, prompt: &str) -> Value {
        let mut dimensions = Map::new();
        for one in self.contribution().into_iter().flat_map(|one| &one.reviews) {
            let text = |all: &[Statement]| -> String {
                let texts: Vec<&str> = all.iter().map(|one| one.sentence.text.as_str()).collect();
                texts.join(" ")
            };
            let findings = count_findings(&one.strengths) + count_findings(&one.weaknesses);
            let value = json!({"strengths": text(&one.strengths),
                "weaknesses": cited(prompt, findings), "suggestions": text(&one.suggestions)});
            dimensions.insert(one.dimension.id.clone(), value);
        }
        json!({ "dimensions": dimensions })
    }

    fn appraisal(&self) -> Value {
        let first: Vec<&str> = self.earlier.idea.text.split(' ').take(30).collect();
        let point = json!({"kind": "method", "weight": "major", "quotes": [first.join(" ")],
            "matter": filler(USUAL_CHARACTERS / 2), "action": filler(USUAL_CHARACTERS / 4)});
        json!({"points": vec![point; APPRAISAL_POINTS]})
    }
}

#[async_trait]
impl Generator for DryGenerator {
    fn info(&self) -> &GeneratorInfo {
        &self.info
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.chars().count().div_ceil(CHARACTERS_A_TOKEN)
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        _: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let prompt = request.messages.last().map(|one| one.content.as_str()).unwrap_or_default();
        let text = self.reply(&request.purpose, prompt).ok_or_else(|| {
            let message = format!("a dry run has no reply to {}", request.purpose);
            PortError::new(PortErrorKind::Rejected, message)
        })?;
        let asked: usize = request.messages.iter().map(|one| one.content.chars().count()).sum();
        let tokens =
            |chars: usize| u64::try_from(chars.div_ceil(CHARACTERS_A_TOKEN)).unwrap_or(u64::MAX);
        let usage = TokenUsage { prompt: tokens(asked), completion: tokens(text.chars().count()) };
        let mut counts = self.counts.lock();
        let count = counts.entry(kind(&request.purpose).to_owned()).or_default();
        count.calls += 1;
        count.prompt_tokens += usage.prompt;
        count.reply_tokens += usage.completion;
        drop(counts);
        let model = self.info.model.clone();
        Ok(Generation { text, finish: FinishReason::Stop, usage, usage_estimated: true, model })
    }

    async fn choose(&self, _: &str, _: &[Message], _: &[&str]) -> Result<Vec<f32>, PortError> {
        Err(PortError::new(PortErrorKind::Rejected, "a dry run gives no probabilities"))
    }
}

/// What kind of call a purpose names.
fn kind(purpose: &str) -> &str {
    match purpose.split_once(' ') {
        Some(("summary", _)) => "summary of papers",
        Some(("method", _)) => "method review",
        Some((first, _)) => first,
        None => purpose,
    }
}

/// Keys of the papers of a prompt, with their titles and whatever stands behind these.
fn papers(prompt: &str) -> Vec<(String, String)> {
    let paper = |line: &str| {
        let (key, title) = line.strip_prefix('[')?.split_once("] ")?;
        let is_key = key.starts_with(['E', 'P']) && key[1..].bytes().all(|b| b.is_ascii_digit());
        is_key.then(|| (key.to_owned(), title.to_owned()))
    };
    prompt.lines().filter_map(paper).collect()
}

/// A sentence of each paper of a prompt, word for word, by its key: of its first passage, or of what was found in it.
fn sentences(prompt: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut key = None;
    for line in prompt.lines() {
        if let Some((own, _)) = papers(line).pop() {
            key = Some(own);
            continue;
        }
        let passage = line.strip_prefix('(').and_then(|rest| Some(rest.split_once(") ")?.1));
        let words = passage.or_else(|| line.strip_prefix("Results: "));
        if let (Some(own), Some(words)) = (&key, words) {
            let sentence = sentence_texts(words).into_iter().find(|one| one.len() > 60);
            let sentence = sentence.unwrap_or(words).to_owned();
            found.entry(own.clone()).or_insert(sentence);
        }
    }
    found
}

/// Sentences of `n` papers of a prompt, each with its key.
fn cited(prompt: &str, n: usize) -> String {
    let mut told = String::new();
    for (key, sentence) in sentences(prompt).into_iter().take(n) {
        let _infallible = write!(told, "{} [{key}]. ", sentence.trim_end_matches('.'));
    }
    told
}

/// Verdicts on the sentences that a prompt numbers: all supported, by the first words of their extracts.
fn verdicts(prompt: &str) -> Value {
    let extracts = prompt.lines().filter_map(|line| line.trim_start().strip_prefix("Extract: "));
    let of = |(n, extract): (usize, &str)| {
        let words: Vec<&str> = extract.split(' ').take(8).collect();
        json!({"sentence": n, "verdict": "supported", "words": words.join(" ")})
    };
    json!({"verdicts": (1..).zip(extracts).map(of).collect::<Vec<_>>()})
}

fn count_findings(statements: &[Statement]) -> usize {
    statements.iter().filter(|one| one.sentence.role == Some(AnswerRole::Finding)).count()
}

/// The mean of `lengths`, [`USUAL_CHARACTERS`] of none.
fn mean(lengths: impl Iterator<Item = usize>) -> usize {
    let (n, sum) = lengths.fold((0, 0), |(n, sum), length| (n + 1, sum + length));
    sum.checked_div(n).unwrap_or(USUAL_CHARACTERS)
}

/// Words of about so many characters.
fn filler(chars: usize) -> String {
    let mut text = "words ".repeat(chars / 6 + 1);
    text.truncate(chars.max(1));
    text.trim_end().to_owned()
}
