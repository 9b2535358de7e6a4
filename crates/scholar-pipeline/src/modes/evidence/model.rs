//! What the small model is asked for: search queries and headings. Every reply is checked in code and may be thrown away.

use std::collections::BTreeSet;

use scholar_core::{Notice, NoticeKind, Query};
use serde_json::json;

use super::facet::{FURTHER, Facet, HEADING_WORDS};
use super::question::keywords;
use super::reply::strings;
use super::state::DigestState;
use super::synthesis::Shown;
use super::terms::{stem_set, stems};
use crate::frame::left_out;
use crate::prompts::{DIGEST_HEADINGS, DIGEST_QUERIES};

/// Most queries asked for.
const MAX_QUERIES: usize = 3;
/// Longest query, in words.
const QUERY_WORDS: usize = 12;

/// The question without stop words, then the model's queries, near-duplicates dropped. Without a model, the first alone.
pub(crate) async fn search_queries(state: &DigestState<'_>) -> (Vec<Query>, Option<Notice>) {
    let own: Vec<Query> =
        Query::new(&keywords(state.frame.question.as_str())).into_iter().collect();
    if state.frame.ports.generator.is_none() {
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
    let values = [("question", state.frame.question.as_str())];
    match state.frame.call_json("queries", DIGEST_QUERIES, &values, schema, 90).await {
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

/// Replaces headings made in code by the model's where those pass [`heading_fits`]; a notice if nothing could be read.
pub(crate) async fn title_parts(
    state: &DigestState<'_>,
    shown: &Shown,
    parts: &mut [Facet],
) -> Option<Notice> {
    let open: Vec<usize> = (0..parts.len())
        .filter(|at| {
            let heading = &parts[*at].heading;
            !heading.starts_with("Findings differ") && heading != FURTHER
        })
        .filter(|at| shown.sources.iter().any(|source| parts[*at].members.contains(&source.at)))
        .collect();
    if state.frame.ports.generator.is_none() || open.len() < 2 || !state.groups.by_phrase {
        return None;
    }
    let groups: Vec<String> = open
        .iter()
        .enumerate()
        .map(|(nth, at)| {
            let numbers: Vec<String> = shown
                .sources
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
    let values = [
        ("question", state.frame.question.as_str()),
        ("evidence", shown.lines.as_str()),
        ("groups", groups.as_str()),
    ];
    let reply = match state
        .frame
        .call_json("headings", DIGEST_HEADINGS, &values, schema, 20 * n + 20)
        .await
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
        if heading_fits(state, &heading, &parts[at].members) && taken.insert(new) {
            let agreed =
                parts[at].heading.find(" (").map(|from| parts[at].heading[from..].to_owned());
            parts[at].heading = format!("{heading}{}", agreed.unwrap_or_default());
        }
    }
    None
}

/// At most six words, no sentence, every content word from the part's sentences or the question, and not only the question's.
fn heading_fits(state: &DigestState<'_>, heading: &str, members: &[usize]) -> bool {
    let n_words = heading.split_whitespace().count();
    let found = stems(heading);
    let from_evidence: BTreeSet<&String> =
        members.iter().flat_map(|at| &state.scored[*at].candidate.stems).collect();
    let known = |stem: &String| from_evidence.contains(stem) || state.reading.stems.contains(stem);
    let shared = members.iter().filter(|at| {
        let stems = &state.scored[**at].candidate.stems;
        found.iter().any(|stem| stems.contains(stem) && !state.reading.stems.contains(stem))
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
