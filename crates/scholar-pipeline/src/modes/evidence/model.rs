//! What the small model is asked for: search queries and headings. Every reply is checked in code and may be thrown away.

use std::collections::BTreeSet;

use scholar_core::{
    Generation, GenerationRequest, Message, Notice, NoticeKind, OutputShape, PortError,
    PortErrorKind, Query, Sampling,
};
use serde_json::{Value, json};

use super::desk::Desk;
use super::facet::{FURTHER, Facet, HEADING_WORDS};
use super::question::keywords;
use super::synthesis::Source;
use super::terms::{stem_set, stems};
use crate::budget::BudgetExceeded;
use crate::event::Event;
use crate::prompts::Prompt;

pub(crate) const QUERIES: Prompt =
    Prompt::new("evidence/queries", include_str!("../../../prompts/evidence/queries.txt"));
pub(crate) const HEADINGS: Prompt =
    Prompt::new("evidence/headings", include_str!("../../../prompts/evidence/headings.txt"));

/// Most queries asked for.
const MAX_QUERIES: usize = 3;
/// Longest query, in words.
const QUERY_WORDS: usize = 12;

/// Asks the model; says so before and after, and passes text on as it comes.
pub(crate) async fn call(
    desk: &Desk<'_>,
    purpose: &str,
    (prompt, messages): (Prompt, Vec<Message>),
    (name, schema): (&str, Value),
    max_tokens: usize,
) -> Result<Generation, PortError> {
    let Some(generator) = &desk.ports.generator else {
        return Err(PortError::new(PortErrorKind::Unavailable, "no language model is configured"));
    };
    let request = GenerationRequest {
        purpose: purpose.to_owned(),
        messages,
        sampling: Sampling::greedy(max_tokens),
        shape: OutputShape::Json { name: name.to_owned(), schema },
    };
    let prompt = Some(prompt.fingerprint());
    desk.emit(&Event::Generating { purpose: purpose.to_owned(), prompt });
    let observer = desk.observer;
    let pass_on = |delta: &str| {
        observer.on_event(&Event::Text { purpose: purpose.to_owned(), delta: delta.to_owned() });
    };
    let reply = generator.generate(&request, &pass_on).await?;
    desk.emit(&Event::Generated { purpose: purpose.to_owned(), usage: reply.usage });
    Ok(reply)
}

/// A notice that a step was left out because its call failed.
pub(crate) fn left_out(step: &str, error: &PortError) -> Notice {
    let kind = match BudgetExceeded::behind(error) {
        Some(_) => NoticeKind::Budget,
        None => NoticeKind::Skipped,
    };
    let mut notice = Notice::new(kind, format!("{step} left out: {error}"));
    notice.hint = error.hint().map(str::to_owned);
    notice
}

/// The question without stop words, then the model's queries, near-duplicates dropped. Without a model, the first alone.
pub(crate) async fn search_queries(desk: &Desk<'_>) -> (Vec<Query>, Option<Notice>) {
    let own: Vec<Query> = Query::new(&keywords(desk.question.as_str())).into_iter().collect();
    if desk.ports.generator.is_none() {
        return (own, None);
    }
    let schema = json!({
        "type": "object",
        "properties": {"queries": {
            "type": "array", "minItems": 1, "maxItems": MAX_QUERIES,
            "items": {"type": "string", "maxLength": 80}
        }},
        "required": ["queries"],
        "additionalProperties": false
    });
    let messages = QUERIES.render(false, &[("question", desk.question.as_str())]);
    match call(desk, "queries", (QUERIES, messages), ("queries", schema), 90).await {
        Err(error) => (own, Some(left_out("search queries of the model", &error))),
        Ok(reply) => {
            let strings = strings(&reply.text, "queries");
            let notice = strings.is_none().then(|| {
                let message = "the model's search queries could not be read";
                Notice::new(NoticeKind::ModelReply, message)
            });
            (distinct_queries(own, strings.unwrap_or_default()), notice)
        }
    }
}

fn distinct_queries(own: Vec<Query>, suggested: Vec<String>) -> Vec<Query> {
    let mut queries = own;
    for text in suggested.into_iter().take(MAX_QUERIES) {
        let stems = stem_set(&text);
        let near = |query: &Query| {
            let known = stem_set(query.as_str());
            let shared = known.intersection(&stems).count();
            shared * 5 >= known.union(&stems).count() * 4
        };
        let usable = !stems.is_empty() && text.split_whitespace().count() <= QUERY_WORDS;
        if let Some(query) = Query::new(&text).filter(|_| usable && !queries.iter().any(near)) {
            queries.push(query);
        }
    }
    queries
}

/// The field `name` of a JSON object, a list of strings; text around the object is ignored.
pub(crate) fn strings(reply: &str, name: &str) -> Option<Vec<String>> {
    let list = list(reply, name)?;
    Some(list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

/// The same, a list of numbers.
pub(crate) fn numbers(reply: &str, name: &str) -> Option<Vec<usize>> {
    let list = list(reply, name)?;
    Some(list.iter().filter_map(|item| usize::try_from(item.as_u64()?).ok()).collect())
}

fn list(reply: &str, name: &str) -> Option<Vec<Value>> {
    let start = reply.find('{')?;
    let end = reply.rfind('}')?;
    let value: Value = serde_json::from_str(reply.get(start..=end)?).ok()?;
    Some(value.get(name)?.as_array()?.clone())
}

/// Replaces headings made in code by the model's where those pass [`heading_fits`]; a notice if nothing could be read.
pub(crate) async fn title_parts(
    desk: &Desk<'_>,
    (shown, sources): (&str, &[Source]),
    parts: &mut [Facet],
) -> Option<Notice> {
    let open: Vec<usize> = (0..parts.len())
        .filter(|at| {
            let heading = &parts[*at].heading;
            !heading.starts_with("Findings differ") && heading != FURTHER
        })
        .filter(|at| sources.iter().any(|source| parts[*at].members.contains(&source.at)))
        .collect();
    if desk.ports.generator.is_none() || open.len() < 2 || !desk.groups.by_phrase {
        return None;
    }
    let groups: Vec<String> = open
        .iter()
        .enumerate()
        .map(|(nth, at)| {
            let numbers: Vec<String> = sources
                .iter()
                .filter(|source| parts[*at].members.contains(&source.at))
                .map(|source| format!("[{}]", source.number))
                .collect();
            format!("Group {}: {}", nth + 1, numbers.join(" "))
        })
        .collect();
    let n = open.len();
    let schema = json!({
        "type": "object",
        "properties": {"headings": {
            "type": "array", "minItems": n, "maxItems": n,
            "items": {"type": "string", "maxLength": 48}
        }},
        "required": ["headings"],
        "additionalProperties": false
    });
    let groups = groups.join("\n");
    let values =
        [("question", desk.question.as_str()), ("evidence", shown), ("groups", groups.as_str())];
    let messages = HEADINGS.render(false, &values);
    let reply =
        match call(desk, "headings", (HEADINGS, messages), ("headings", schema), 20 * n + 20).await
        {
            Ok(reply) => reply,
            Err(error) => return Some(left_out("headings of the model", &error)),
        };
    let Some(headings) = strings(&reply.text, "headings").filter(|list| list.len() == n) else {
        let message = "the model's headings could not be read: those made in code stand";
        return Some(Notice::new(NoticeKind::ModelReply, message));
    };
    let mut taken: BTreeSet<BTreeSet<String>> =
        parts.iter().map(|part| stem_set(&part.heading)).collect();
    for (at, heading) in open.into_iter().zip(headings) {
        let heading = heading.trim().trim_end_matches(['.', ':']).to_owned();
        let new = stem_set(&heading);
        if heading_fits(desk, &heading, &parts[at].members) && taken.insert(new) {
            let agreed =
                parts[at].heading.find(" (").map(|from| parts[at].heading[from..].to_owned());
            parts[at].heading = format!("{heading}{}", agreed.unwrap_or_default());
        }
    }
    None
}

/// At most six words, no sentence, every content word from the part's sentences or the question, and not only the question's.
fn heading_fits(desk: &Desk<'_>, heading: &str, members: &[usize]) -> bool {
    let n_words = heading.split_whitespace().count();
    let found = stems(heading);
    let from_evidence: BTreeSet<&String> =
        members.iter().flat_map(|at| &desk.scored[*at].candidate.stems).collect();
    let known = |stem: &String| from_evidence.contains(stem) || desk.reading.stems.contains(stem);
    let shared = members.iter().filter(|at| {
        let stems = &desk.scored[**at].candidate.stems;
        found.iter().any(|stem| stems.contains(stem) && !desk.reading.stems.contains(stem))
    });
    let covers = shared.count() * 2 > members.len();
    // A heading with a verb in it claims something: nothing here could check that.
    const VERBS: &[&str] = &[
        "is", "are", "was", "were", "can", "does", "do", "has", "have", "not", "no", "will",
        "should",
    ];
    let claims = heading
        .split_whitespace()
        .any(|word| VERBS.contains(&word.to_lowercase().as_str()) || super::direction::moves(word));
    (1..=HEADING_WORDS).contains(&n_words)
        && !found.is_empty()
        && found.iter().all(known)
        && covers
        && !claims
        && heading.chars().next().is_some_and(char::is_alphabetic)
        && !heading.contains(['[', ']', '"', '?', ';'])
}
