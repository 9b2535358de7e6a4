//! The file format of the reference code: items with `ctxs`, and what a run adds to them.
//!
//! Reading ([`read_item`]) accepts what `ScholarQABench` and the reference code's own output hold. Writing
//! ([`output_item`]) keeps every field of the item and adds the run's; numbers in `output` are positions in `ctxs`,
//! from 0. `shown_ctxs` holds exactly the passages the run showed, so that a made-up number cannot pass for one of
//! hundreds of candidates (deviation D13).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use scholar_core::text::hex;
use scholar_core::text::markers::render_citations;
use scholar_core::{
    Answer, AnswerSentence, CharSpan, Explanation, PaperId, PaperMeta, Passage, PassageId,
    PassageKind, RetrievalScore, Retrieved,
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use scholar_pipeline::event::Event;
use scholar_pipeline::evidence::Evidence;
use scholar_pipeline::outcome::Outcome;

/// Why a JSON value is not an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    /// Not an object.
    #[error("the item is not a JSON object")]
    NotAnObject,
    /// None of the fields that can hold the question is a text.
    #[error("the item has no `input`, `question` or `query`")]
    NoQuestion,
}

/// An item of a benchmark file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireItem {
    /// `input`, else `query`, else `question`.
    pub(crate) question: String,
    /// The candidates given with it, unusable ones left out.
    pub(crate) contexts: Vec<Retrieved>,
    /// How many of `ctxs` were left out for lack of a text.
    pub(crate) dropped: usize,
    /// Every field as it was read.
    pub(crate) fields: Map<String, Value>,
}

/// Reads an item.
///
/// `ctxs` may be nested one level; `retrieval text` wins over `text`; a text may be an object with
/// `contexts`; the literal `<cit.>` goes. Citation markers stay: they are stripped for prompts only.
///
/// # Errors
/// [`WireError`] when it is no item at all.
pub(crate) fn read_item(value: &Value) -> Result<WireItem, WireError> {
    let fields = value.as_object().ok_or(WireError::NotAnObject)?.clone();
    let text = |name: &str| fields.get(name).and_then(Value::as_str).filter(|t| !t.is_empty());
    let question = ["input", "query", "question"].into_iter().find_map(text);
    let question = question.ok_or(WireError::NoQuestion)?.to_owned();
    let given = fields.get("ctxs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let flat: Vec<&Value> = given
        .iter()
        .flat_map(|one| one.as_array().map_or(std::slice::from_ref(one), Vec::as_slice))
        .collect();
    let mut ordinals: HashMap<PaperId, u32> = HashMap::new();
    let mut contexts = Vec::new();
    for (nth, context) in flat.iter().enumerate() {
        contexts.extend(context.as_object().and_then(|c| read_context(c, nth, &mut ordinals)));
    }
    let dropped = flat.len() - contexts.len();
    Ok(WireItem { question, contexts, dropped, fields })
}

fn read_context(
    context: &Map<String, Value>,
    nth: usize,
    ordinals: &mut HashMap<PaperId, u32>,
) -> Option<Retrieved> {
    let text = ["retrieval text", "text"]
        .into_iter()
        .filter_map(|name| context.get(name))
        .find_map(text_of)?
        .replace("<cit.>", "");
    let text = text.trim().to_owned();
    if text.is_empty() {
        return None;
    }
    let string = |name: &str| context.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    let mut paper = PaperMeta::new(paper_id(context, &text), string("title"));
    paper.year = context.get("year").and_then(number).and_then(|year| i16::try_from(year).ok());
    paper.citation_count =
        context.get("citation_counts").and_then(number).and_then(|n| u32::try_from(n).ok());
    paper.url = Some(string("url")).filter(|url| !url.is_empty());
    paper.authors = authors(context.get("authors"));
    let ordinal = ordinals.entry(paper.id.clone()).or_default();
    let id = PassageId { paper: paper.id.clone(), ordinal: *ordinal };
    *ordinal += 1;
    let span = CharSpan::new(0, text.chars().count());
    let title = paper.title.clone();
    let kind = PassageKind::Body;
    let passage =
        Passage { id, title, section: String::new(), kind, text, span, places: Vec::new() };
    let stated = ["retrieval score", "score"].into_iter().find_map(|name| context.get(name));
    let stated = stated.and_then(float).and_then(|value| RetrievalScore::new(value).ok());
    let score = stated.or_else(|| RetrievalScore::new(0.0).ok())?;
    let explanation = Explanation::new(score.value(), format!("given as candidate {nth}"));
    Some(Retrieved { passage, paper: Arc::new(paper), score, explanation, found_by: Vec::new() })
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Object(fields) => {
            let parts: Vec<&str> =
                fields.get("contexts")?.as_array()?.iter().filter_map(Value::as_str).collect();
            (!parts.is_empty()).then(|| parts.join(" "))
        }
        _ => None,
    }
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

#[expect(clippy::cast_possible_truncation, reason = "scores are single-precision numbers")]
fn float(value: &Value) -> Option<f32> {
    value.as_f64().map(|v| v as f32).or_else(|| value.as_str()?.trim().parse().ok())
}

fn authors(value: Option<&Value>) -> Vec<String> {
    let name = |author: &Value| {
        author.as_str().or_else(|| author.get("name")?.as_str()).map(str::to_owned)
    };
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(name).collect(),
        Some(Value::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// A stated corpus id; else a stated passage id, which then is a paper of its own; else the title or text.
fn paper_id(context: &Map<String, Value>, text: &str) -> PaperId {
    let digits = |name: &str| {
        let value = context.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    let corpus = ["pes2o_paper_id", "corpusId", "corpus_id", "semantic_scholar_id"];
    if let Some(id) = corpus.into_iter().find_map(digits) {
        return PaperId::CorpusId(id);
    }
    let local = |text: &str| {
        let digest = Sha256::digest(text.as_bytes());
        PaperId::Local(hex(&digest[..8]))
    };
    let title = context.get("title").and_then(Value::as_str).unwrap_or("");
    match context
        .get("id")
        .and_then(|id| id.as_str().map(str::to_owned).or_else(|| Some(id.as_u64()?.to_string())))
    {
        Some(id) if !id.is_empty() => PaperId::Local(id),
        _ if !title.is_empty() => local(title),
        _ => local(text),
    }
}

/// The item with what the run adds: `ctxs`, `shown_ctxs`, `final_passages`, `initial_result`, `feedbacks`,
/// `edited_answer_k`, `output`, `total_cost`, `elapsed`.
pub(crate) fn output_item(item: Option<&WireItem>, outcome: &Outcome<Answer>) -> Value {
    let mut fields = item.map_or_else(Map::new, |item| item.fields.clone());
    let answer = &outcome.value;
    fields.entry("input").or_insert_with(|| json!(answer.question));
    fields.entry("answer").or_insert_with(|| json!(""));
    let shown = shown_evidence(&outcome.trace);
    let contexts: Vec<Value> = shown.iter().map(context_of).collect();
    let candidates = item.map_or(&[][..], |item| item.contexts.as_slice());
    let not_shown = candidates.iter().filter(|candidate| {
        let id = &candidate.passage.id;
        !shown.iter().any(|evidence| evidence.ranked.retrieved.passage.id == *id)
    });
    let all: Vec<Value> =
        contexts.iter().cloned().chain(not_shown.map(retrieved_context)).collect();
    if let Some(original) = fields.get("ctxs").cloned() {
        fields.entry("original_ctxs").or_insert(original);
    }
    fields.insert("ctxs".to_owned(), json!(all));
    fields.insert("shown_ctxs".to_owned(), json!(contexts));
    let lines: String = shown.iter().map(|e| e.prompt_line() + "\n").collect();
    fields.insert("final_passages".to_owned(), json!(lines));
    for event in &outcome.trace {
        match event {
            Event::Drafted { text } => {
                fields.insert("initial_result".to_owned(), json!(text));
            }
            Event::Feedback { items } => {
                let pairs: Vec<[&str; 2]> = items
                    .iter()
                    .map(|(text, question)| [text.as_str(), question.as_deref().unwrap_or("")])
                    .collect();
                fields.insert("feedbacks".to_owned(), json!(pairs));
            }
            Event::Revised { item, text: Some(text), .. } => {
                fields.insert(format!("edited_answer_{item}"), json!(text));
            }
            _ => {}
        }
    }
    fields.insert("output".to_owned(), json!(render(answer, &shown)));
    fields.insert("total_cost".to_owned(), json!(outcome.spent.usd));
    fields.insert("elapsed".to_owned(), json!(outcome.spent.seconds));
    Value::Object(fields)
}

/// Every numbered passage of a run, by number.
pub(crate) fn shown_evidence(trace: &[Event]) -> Vec<Evidence> {
    let mut shown: Vec<Evidence> = Vec::new();
    for event in trace {
        if let Event::Ranked { evidence, .. } = event {
            for passage in evidence {
                if !shown.iter().any(|known| known.number == passage.number) {
                    shown.push(passage.clone());
                }
            }
        }
    }
    shown.sort_by_key(|evidence| evidence.number);
    shown
}

fn context_of(evidence: &Evidence) -> Value {
    let mut context = retrieved_context(&evidence.ranked.retrieved);
    if let Some(fields) = context.as_object_mut() {
        fields.insert("score".to_owned(), json!(evidence.ranked.score.value()));
    }
    context
}

fn retrieved_context(retrieved: &Retrieved) -> Value {
    let (paper, passage) = (&retrieved.paper, &retrieved.passage);
    let mut fields = Map::new();
    fields.insert("title".to_owned(), json!(passage.title));
    fields.insert("text".to_owned(), json!(passage.text));
    fields.insert("id".to_owned(), json!(passage.id.to_string()));
    fields.insert("paper_id".to_owned(), json!(paper.id));
    fields.insert("url".to_owned(), json!(paper.link().unwrap_or_default()));
    fields.insert("citation_counts".to_owned(), json!(paper.citation_count));
    fields.insert("year".to_owned(), json!(paper.year));
    fields.insert("authors".to_owned(), json!(paper.authors));
    Value::Object(fields)
}

/// The answer's text with positions of `shown` in brackets, before the closing full stop.
fn render(answer: &Answer, shown: &[Evidence]) -> String {
    let mut out = String::new();
    let mut heading: Option<&str> = None;
    for sentence in &answer.sentences {
        let new_heading = sentence.heading.as_deref().filter(|h| Some(*h) != heading);
        if let Some(title) = new_heading {
            let gap = if out.is_empty() { "" } else { "\n\n" };
            // Writing to a string does not fail.
            let _ = write!(out, "{gap}## {title}\n\n");
            heading = Some(title);
        } else if sentence.paragraph_start && !out.is_empty() {
            out.push_str("\n\n");
        } else if !out.is_empty() {
            out.push(' ');
        }
        let marks = render_citations(&positions(answer, sentence, shown));
        let text = sentence.text.as_str();
        let (body, stop) = match text.strip_suffix(['.', '!', '?']) {
            Some(body) => (body, &text[body.len()..]),
            None => (text, ""),
        };
        let gap = if marks.is_empty() { "" } else { " " };
        let _ = write!(out, "{body}{gap}{marks}{stop}");
    }
    out
}

/// Positions of the quoted passages of each citation; of the paper's first shown passage where none is quoted.
fn positions(answer: &Answer, sentence: &AnswerSentence, shown: &[Evidence]) -> Vec<usize> {
    let mut positions = Vec::new();
    let place = |test: &dyn Fn(&Retrieved) -> bool| {
        shown.iter().find(|evidence| test(&evidence.ranked.retrieved)).map(|e| e.number.0)
    };
    for citation in &sentence.citations {
        let quoted = sentence.quotes.iter().filter(|quote| quote.reference == *citation);
        let mut found: Vec<usize> =
            quoted.filter_map(|quote| place(&|r| r.passage.id == quote.passage_id)).collect();
        if found.is_empty() {
            let paper = answer.references.iter().find(|r| r.number == *citation);
            found.extend(paper.and_then(|p| place(&|r| r.paper.id == p.paper_id)));
        }
        for position in found {
            if !positions.contains(&position) {
                positions.push(position);
            }
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_as_the_reference_code_reads_them_without_its_crashes() {
        let item = read_item(&json!({
            "query": "q", "question": "other", "kept": [1],
            "ctxs": [
                {"text": "a <cit.> b [2]", "title": "T", "pes2o_paper_id": "12", "citation_counts": 3, "year": "2020"},
                [{"retrieval text": "c", "text": "no", "corpusId": 12, "authors": [{"name": "A"}]}, "junk"],
                {"text": null}, {"text": {"contexts": ["x", "y"]}, "title": null, "score": "1.5"}, {"text": " "}
            ]
        }))
        .expect("an item");
        assert_eq!((item.question.as_str(), item.dropped), ("q", 3));
        let texts: Vec<(&str, String)> = item
            .contexts
            .iter()
            .map(|c| (c.passage.text.as_str(), c.passage.id.to_string()))
            .collect();
        assert_eq!(texts[0], ("a  b [2]", "corpusid:12#0".to_owned()));
        assert_eq!(texts[1], ("c", "corpusid:12#1".to_owned()));
        assert_eq!(texts[2].0, "x y");
        assert_eq!(item.contexts[0].paper.year, Some(2020));
        assert_eq!(item.contexts[1].paper.authors, ["A"]);
        assert!((item.contexts[2].score.value() - 1.5).abs() < 1e-6);
        assert_eq!(read_item(&json!([])), Err(WireError::NotAnObject));
        assert_eq!(read_item(&json!({"input": ""})), Err(WireError::NoQuestion));
    }
}
