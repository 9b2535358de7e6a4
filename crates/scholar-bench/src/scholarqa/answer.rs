//! One item asked of the pipeline, and its answer as a prediction.

use std::collections::BTreeMap;

use scholar_core::text::markers::{remove_markers, strip_citations};
use scholar_core::{Answer, AnswerMode, AnswerSentence, NoticeKind, PassageId, Question};
use scholar_pipeline::config::AskConfig;
use scholar_pipeline::{Event, Evidence, Observer, Outcome, Ports};

use super::item::{Gold, Item};
use super::prediction::{
    Context, Prediction, PredictionStatus, PredictionUsage, listed_references,
};

/// Asks `item`; a failure is a prediction that says so.
///
/// `config` carries the item's filter.
pub async fn answer(
    ports: &Ports,
    item: &Item,
    config: &AskConfig,
    observer: &dyn Observer,
) -> Prediction {
    let question = match Question::new(&item.question) {
        Ok(question) => question,
        Err(error) => return failed(item, &error.to_string()),
    };
    let mut prediction = match scholar_pipeline::ask(ports, &question, config, observer).await {
        Ok(outcome) => of_outcome(item, outcome),
        Err(error) => {
            let mut text = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(next) = cause {
                text = format!("{text}: {next}");
                cause = next.source();
            }
            failed(item, &text)
        }
    };
    prediction.answer = match &item.gold {
        Gold::Label(text) | Gold::Text(text) => Some(text.clone()),
        Gold::None | Gold::Rubric(_) => None,
    };
    prediction
}

fn failed(item: &Item, why: &str) -> Prediction {
    let mut prediction = Prediction::new(&item.id, &item.question, "");
    prediction.status = PredictionStatus::Failed;
    prediction.error = Some(why.to_owned());
    prediction
}

fn of_outcome(item: &Item, outcome: Outcome<Answer>) -> Prediction {
    let Outcome { value, notices, trace, spent } = outcome;
    let shown = evidence_of(&trace);
    let labelled = item.task.labels().is_some();
    let (output, listed) = if value.mode == AnswerMode::NoRetrieval && !labelled {
        // The pipeline hides what a model alone cites; the benchmark counts it.
        let text = drafted(&trace).unwrap_or_default();
        let listed = listed_references(&text);
        (text, listed)
    } else {
        (text_of(&value, &shown), Vec::new())
    };
    let mut prediction = Prediction::new(&item.id, &item.question, output);
    let cut = notices.iter().any(|notice| notice.kind == NoticeKind::Budget);
    prediction.status = match (cut, value.abstained) {
        (true, _) => PredictionStatus::Cut,
        (false, true) => PredictionStatus::Abstained,
        (false, false) => PredictionStatus::Answered,
    };
    prediction.ctxs = shown.values().map(context).collect();
    prediction.listed = listed;
    prediction.usage = Some(PredictionUsage {
        calls: spent.calls,
        prompt_tokens: spent.usage.prompt,
        completion_tokens: spent.usage.completion,
        cost_usd: spent.usd,
    });
    prediction.seconds = Some(spent.seconds);
    prediction.sentences = value.sentences;
    prediction.notices = notices;
    prediction
}

/// Every passage shown, by number; the numbers of a run are without gaps.
fn evidence_of(trace: &[Event]) -> BTreeMap<usize, Evidence> {
    let mut shown = BTreeMap::new();
    for event in trace {
        if let Event::Ranked { evidence, .. } = event {
            shown.extend(evidence.iter().map(|one| (one.number.0, one.clone())));
        }
    }
    shown
}

fn drafted(trace: &[Event]) -> Option<String> {
    trace.iter().rev().find_map(|event| match event {
        Event::Drafted { text } => Some(remove_markers(text)),
        _ => None,
    })
}

fn context(evidence: &Evidence) -> Context {
    let retrieved = &evidence.ranked.retrieved;
    Context {
        title: retrieved.passage.title.clone(),
        text: retrieved.passage.text.clone(),
        url: retrieved.paper.link(),
        year: retrieved.paper.year,
        authors: retrieved.paper.authors.clone(),
        citation_count: retrieved.paper.citation_count,
        passage_id: Some(retrieved.passage.id.to_string()),
    }
}

/// The answer as upstream writes one: `[n]` in front of the full stop, for the passage of number `n`; headings and
/// paragraphs in Markdown.
fn text_of(answer: &Answer, shown: &BTreeMap<usize, Evidence>) -> String {
    let places: Vec<usize> = shown.keys().copied().collect();
    let mut text = String::new();
    let mut heading: Option<&str> = None;
    for (nth, sentence) in answer.sentences.iter().enumerate() {
        let new_heading = sentence.heading.as_deref().filter(|own| Some(*own) != heading);
        if nth > 0 {
            let apart = sentence.paragraph_start || new_heading.is_some();
            text.push_str(if apart { "\n\n" } else { " " });
        }
        if let Some(own) = new_heading {
            text.push_str("## ");
            text.push_str(own);
            text.push_str("\n\n");
        }
        heading = sentence.heading.as_deref();
        let numbers = numbers_of(sentence, answer, shown);
        let numbers: Vec<usize> = numbers
            .into_iter()
            .filter_map(|number| places.iter().position(|place| *place == number))
            .collect();
        text.push_str(&marked(&sentence.text, &numbers));
    }
    text
}

/// Numbers of the passages behind a sentence's citations: those it quotes, else the best shown passage of the paper.
fn numbers_of(
    sentence: &AnswerSentence,
    answer: &Answer,
    shown: &BTreeMap<usize, Evidence>,
) -> Vec<usize> {
    let mut numbers: Vec<usize> = Vec::new();
    for citation in &sentence.citations {
        let quoted: Vec<&PassageId> = sentence
            .quotes
            .iter()
            .filter(|quote| quote.reference == *citation)
            .map(|quote| &quote.passage_id)
            .collect();
        let by_quote = shown
            .iter()
            .filter(|(_, evidence)| quoted.contains(&&evidence.ranked.retrieved.passage.id));
        let mut found: Vec<usize> = by_quote.map(|(number, _)| *number).collect();
        if found.is_empty() {
            let reference = answer.references.iter().find(|one| one.number == *citation);
            let of_paper = shown.iter().find(|(_, evidence)| {
                reference.is_some_and(|one| one.paper_id == evidence.ranked.retrieved.paper.id)
            });
            found.extend(of_paper.map(|(number, _)| *number));
        }
        for number in found {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }
    numbers
}

/// `sentence` with its numbers in front of the closing punctuation. Numbers in brackets that the sentence quotes from its
/// source go: they are not ours.
fn marked(sentence: &str, numbers: &[usize]) -> String {
    let sentence = strip_citations(sentence);
    if numbers.is_empty() {
        return sentence;
    }
    let bare = sentence.trim_end_matches(['.', '!', '?']);
    let closing = &sentence[bare.len()..];
    let markers: String = numbers.iter().map(|number| format!("[{number}]")).collect();
    format!("{bare} {markers}{closing}")
}

#[cfg(test)]
mod tests;
