//! Feedback by checks in code: what the chosen sentences do not cover is searched for.

use std::collections::BTreeSet;

use scholar_core::{
    Notice, NoticeKind, PortError, Query, Ranked, RerankScore, Retrieved, SearchRequest, Searched,
};

use super::config::{CheckRules, ModelQueries};
use super::desk::Desk;
use super::facet::part_of;
use super::model;
use super::question::Term;
use super::score::likeness;
use super::terms::stem_set;
use crate::event::Event;
use crate::evidence::EvidenceNumber;

/// Passages counted as high-ranked.
const HIGH_RANK: usize = 5;
/// Words of the question that go into a search for a missing one.
const CONTEXT_WORDS: usize = 3;
/// How much closer than the limit two chosen sentences may come before they are said to repeat each other.
const REPETITION_MARGIN: f32 = 0.06;

/// One thing the checks found.
struct Item {
    text: String,
    query: Option<Query>,
}

/// Runs the checks, at most `rounds` times; returns every query searched.
///
/// # Errors
/// When sentences cannot be encoded. A search that fails is a notice.
pub(crate) async fn run(desk: &mut Desk<'_>) -> Result<(Vec<Query>, Vec<Notice>), PortError> {
    let CheckRules { rounds, top_k: _, search_mode: _, filter: _, model_queries } =
        desk.config.checks.clone();
    let mut searched: Vec<Query> = Query::new(desk.question.as_str()).into_iter().collect();
    let mut notices = Vec::new();
    let mut asked_model = model_queries == ModelQueries::Never;
    for round in 0..rounds {
        let mut items = items(desk, &searched);
        let uncovered = !uncovered(desk).is_empty();
        if round > 0 && uncovered && !asked_model {
            asked_model = true;
            let (queries, problem) = model::search_queries(desk).await;
            notices.extend(problem);
            for query in queries.into_iter().filter(|query| !is_known(query, &searched)) {
                let text = "the model suggests another wording".to_owned();
                items.push(Item { text, query: Some(query) });
            }
        }
        if items.is_empty() {
            break;
        }
        let listed = items
            .iter()
            .map(|item| {
                (item.text.clone(), item.query.as_ref().map(|query| query.as_str().to_owned()))
            })
            .collect();
        desk.emit(&Event::Feedback { items: listed });
        let queries: Vec<Query> = items.iter().filter_map(|item| item.query.clone()).collect();
        if !queries.is_empty() {
            desk.emit(&Event::Queries { queries });
        }
        let mut accepted = false;
        for (nth, item) in items.iter().enumerate() {
            let known = desk.evidence.len();
            if let Some(query) = &item.query {
                searched.push(query.clone());
                notices.extend(search(desk, query).await);
            }
            let before = chosen_texts(desk);
            desk.choose().await?;
            let changed = before != chosen_texts(desk);
            accepted |= changed;
            let new_evidence = (known..desk.evidence.len()).map(EvidenceNumber).collect();
            let reason =
                if changed { "other sentences are better" } else { "nothing better found" };
            desk.emit(&Event::Revised {
                item: nth,
                accepted: changed,
                reason: reason.to_owned(),
                new_evidence,
                text: None,
            });
        }
        if !accepted && asked_model {
            break;
        }
    }
    Ok((searched, notices))
}

/// Terms of the question, heavy ones, that no chosen sentence nor its title has.
fn uncovered<'a>(desk: &'a Desk<'_>) -> Vec<&'a Term> {
    let mut said: BTreeSet<String> = BTreeSet::new();
    for at in &desk.chosen {
        let candidate = &desk.scored[*at].candidate;
        said.extend(candidate.stems.iter().cloned());
        said.extend(stem_set(&desk.evidence[candidate.passage].retrieved.passage.title));
    }
    desk.reading.keys().into_iter().filter(|term| !term.is_in(&said)).collect()
}

fn items(desk: &mut Desk<'_>, searched: &[Query]) -> Vec<Item> {
    let mut items = Vec::new();
    let missing = uncovered(desk);
    let context: Vec<&str> = desk
        .reading
        .keys()
        .into_iter()
        .filter(|term| !missing.iter().any(|gone| gone.stem == term.stem))
        .take(CONTEXT_WORDS)
        .map(|term| term.word.as_str())
        .collect();
    let mut look_for = |text: String, words: &str| {
        let query = Query::new(&format!("{words} {}", context.join(" ")));
        if let Some(query) = query.filter(|query| !is_known(query, searched)) {
            items.push(Item { text, query: Some(query) });
        }
    };
    if !missing.is_empty() {
        let words: Vec<&str> = missing.iter().take(4).map(|term| term.word.as_str()).collect();
        look_for(format!("no sentence speaks of {}", words.join(", ")), &words.join(" "));
    }
    for at in 0..desk.reading.parts.len() {
        let filled = desk
            .chosen
            .iter()
            .any(|chosen| part_of(&desk.scored[*chosen].candidate, &desk.reading) == Some(at));
        if !filled {
            let heading = &desk.reading.parts[at].heading;
            look_for(format!("the part “{heading}” has no sentence"), heading);
        }
    }
    let worth: BTreeSet<usize> =
        desk.eligible.iter().map(|at| desk.scored[*at].candidate.passage).collect();
    let used: BTreeSet<usize> =
        desk.chosen.iter().map(|at| desk.scored[*at].candidate.passage).collect();
    for passage in 0..HIGH_RANK.min(desk.evidence.len()) {
        let unused = worth.contains(&passage) && !used.contains(&passage);
        if unused && desk.nudged.insert(passage) {
            let title = &desk.evidence[passage].retrieved.passage.title;
            let text = format!("the high-ranked passage of “{title}” is not used");
            items.push(Item { text, query: None });
        }
    }
    let limit = desk.shape.redundancy - REPETITION_MARGIN;
    if desk.shape.redundancy >= desk.config.shape.redundancy && repeats(desk, limit) {
        desk.shape.redundancy = limit;
        items.push(Item { text: "two sentences say nearly the same".to_owned(), query: None });
    }
    items
}

fn repeats(desk: &Desk<'_>, limit: f32) -> bool {
    desk.chosen.iter().enumerate().any(|(nth, a)| {
        desk.chosen[..nth].iter().any(|b| likeness(&desk.scored[*a], &desk.scored[*b]) >= limit)
    })
}

/// Searches, ranks what is new and adds it; a failure is a notice, as is what the sources have to say.
async fn search(desk: &mut Desk<'_>, query: &Query) -> Vec<Notice> {
    let CheckRules { rounds: _, top_k, search_mode, filter, model_queries: _ } =
        desk.config.checks.clone();
    let request = SearchRequest { query: query.clone(), top_k, mode: search_mode, filter };
    let retriever = &desk.ports.retriever;
    let failed = |step: &str, error: &PortError| {
        let message = format!("{step} for {:?} left out: {error}", query.as_str());
        Notice::new(NoticeKind::Skipped, message)
    };
    let Searched { hits: found, mut notices } = match retriever.explore(&request).await {
        Ok(searched) => searched,
        Err(error) => return vec![failed("the search", &error)],
    };
    desk.emit(&Event::Searched {
        query: query.clone(),
        source: retriever.name().to_owned(),
        hits: found.len(),
    });
    let new: Vec<Retrieved> = found
        .into_iter()
        .filter(|hit| !desk.evidence.iter().any(|old| old.retrieved.passage.id == hit.passage.id))
        .collect();
    let Some(reranker) = &desk.ports.reranker else {
        let ranked = new.into_iter().filter_map(|hit| {
            let score = RerankScore::new(hit.score.value()).ok()?;
            Some(Ranked { score, explanation: hit.explanation.clone(), retrieved: hit })
        });
        let ranked = ranked.collect();
        desk.add(ranked, false);
        return notices;
    };
    // Ranked by the question, so that the scores compare with those of the first passages.
    let scores = match reranker.rerank(&Query::from(desk.question), &new).await {
        Ok(scores) => scores,
        Err(error) => {
            notices.push(failed("the ranking", &error));
            return notices;
        }
    };
    let mut ranked: Vec<Ranked> = new
        .into_iter()
        .zip(scores)
        .map(|(hit, score)| Ranked { score, explanation: hit.explanation.clone(), retrieved: hit })
        .collect();
    ranked.sort_by(|a, b| {
        let id = |ranked: &Ranked| ranked.retrieved.passage.id.clone();
        b.score.cmp(&a.score).then_with(|| id(a).cmp(&id(b)))
    });
    desk.add(ranked, true);
    notices
}

fn chosen_texts(desk: &Desk<'_>) -> Vec<String> {
    let mut texts: Vec<String> =
        desk.chosen.iter().map(|at| desk.scored[*at].candidate.quote.clone()).collect();
    texts.sort_unstable();
    texts
}

/// Whether a query has the same stems as one before.
fn is_known(query: &Query, searched: &[Query]) -> bool {
    searched.iter().any(|old| stem_set(old.as_str()) == stem_set(query.as_str()))
}
