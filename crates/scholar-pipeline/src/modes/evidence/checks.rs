//! Feedback by checks in code: what the chosen sentences do not cover is searched for.

use std::collections::BTreeSet;

use scholar_core::{
    Notice, NoticeKind, PortError, PortErrorKind, Query, Ranked, RerankScore, Retrieved, Searched,
};

use super::config::{CheckRules, ModelQueries};
use super::facet::part_of;
use super::model;
use super::question::Term;
use super::score::similarity;
use super::state::{DigestState, LATER_RANK, Newcomer};
use super::terms::stem_set;
use crate::event::Event;
use crate::evidence::EvidenceNumber;
use crate::retrieve::fuse;

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
pub(crate) async fn run(
    state: &mut DigestState<'_>,
) -> Result<(Vec<Query>, Vec<Notice>), PortError> {
    let CheckRules { rounds, top_k: _, model_queries } = state.config().checks;
    let mut searched: Vec<Query> = Query::new(state.frame.question.as_str()).into_iter().collect();
    let mut notices = Vec::new();
    let mut asked_model = model_queries == ModelQueries::Never;
    for round in 0..rounds {
        let mut items = items(state, &searched);
        let uncovered = !uncovered(state).is_empty();
        if round > 0 && uncovered && !asked_model {
            asked_model = true;
            let (queries, problem) = model::search_queries(state).await;
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
        state.frame.emit(&Event::Feedback { items: listed });
        let queries: Vec<Query> = items.iter().filter_map(|item| item.query.clone()).collect();
        if !queries.is_empty() {
            state.frame.emit(&Event::Queries { queries });
        }
        let mut accepted = false;
        for (nth, item) in items.iter().enumerate() {
            let known = state.evidence.len();
            if let Some(query) = &item.query {
                searched.push(query.clone());
                notices.extend(search(state, query).await);
            }
            let before = chosen_texts(state);
            state.choose().await?;
            let changed = before != chosen_texts(state);
            accepted |= changed;
            let new_evidence = (known..state.evidence.len()).map(EvidenceNumber).collect();
            let reason =
                if changed { "other sentences are better" } else { "nothing better found" };
            state.frame.emit(&Event::Revised {
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
fn uncovered<'a>(state: &'a DigestState<'_>) -> Vec<&'a Term> {
    let mut said: BTreeSet<String> = BTreeSet::new();
    for at in &state.chosen {
        let candidate = &state.scored[*at].candidate;
        said.extend(candidate.stems.iter().cloned());
        said.extend(stem_set(&state.evidence[candidate.passage].retrieved.passage.title));
    }
    state.reading.keys().into_iter().filter(|term| !term.is_in(&said)).collect()
}

fn items(state: &mut DigestState<'_>, searched: &[Query]) -> Vec<Item> {
    let mut items = Vec::new();
    let missing = uncovered(state);
    let context: Vec<&str> = state
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
    for at in 0..state.reading.parts.len() {
        let filled = state
            .chosen
            .iter()
            .any(|chosen| part_of(&state.scored[*chosen].candidate, &state.reading) == Some(at));
        if !filled {
            let heading = &state.reading.parts[at].heading;
            look_for(format!("the part “{heading}” has no sentence"), heading);
        }
    }
    let worth: BTreeSet<usize> =
        state.eligible.iter().map(|at| state.scored[*at].candidate.passage).collect();
    let used: BTreeSet<usize> =
        state.chosen.iter().map(|at| state.scored[*at].candidate.passage).collect();
    for passage in 0..HIGH_RANK.min(state.evidence.len()) {
        let unused = worth.contains(&passage) && !used.contains(&passage);
        if unused && state.nudged.insert(passage) {
            let title = &state.evidence[passage].retrieved.passage.title;
            let text = format!("the high-ranked passage of “{title}” is not used");
            items.push(Item { text, query: None });
        }
    }
    let limit = state.shape.redundancy - REPETITION_MARGIN;
    if state.shape.redundancy >= state.config().shape.redundancy && repeats(state, limit) {
        state.shape.redundancy = limit;
        items.push(Item { text: "two sentences say nearly the same".to_owned(), query: None });
    }
    items
}

fn repeats(state: &DigestState<'_>, limit: f32) -> bool {
    state.chosen.iter().enumerate().any(|(nth, a)| {
        state.chosen[..nth]
            .iter()
            .any(|b| similarity(&state.scored[*a], &state.scored[*b]) >= limit)
    })
}

/// Searches, ranks what is new and adds it; a failure is a notice, as is what the sources have to say.
async fn search(state: &mut DigestState<'_>, query: &Query) -> Vec<Notice> {
    let CheckRules { rounds: _, top_k, model_queries: _ } = state.config().checks;
    let request = state.frame.config.retrieval.request(query, top_k);
    let retriever = &state.frame.ports.retriever;
    let failed = |step: &str, error: &PortError| {
        let message = format!("{step} for {:?} left out: {error}", query.as_str());
        Notice::new(NoticeKind::Skipped, message)
    };
    let Searched { hits: found, mut notices } = match retriever.explore(&request).await {
        Ok(searched) => searched,
        Err(error) => return vec![failed("the search", &error)],
    };
    state.frame.emit(&Event::Searched {
        query: query.clone(),
        source: retriever.name().to_owned(),
        hits: found.len(),
    });
    let new: Vec<Retrieved> = found
        .into_iter()
        .filter(|hit| !state.evidence.iter().any(|old| old.retrieved.passage.id == hit.passage.id))
        .collect();
    match rank_among_known(state, new).await {
        Ok(ranked) => {
            state.add(ranked);
        }
        Err(error) => notices.push(failed("the ranking", &error)),
    }
    notices
}

/// Ranks hits of a later search among the passages that are there: both are read with the question at hand in one call,
/// because a reranker's scores may be standardised among the passages that it sees. Without a reranker they stand behind.
async fn rank_among_known(
    state: &DigestState<'_>,
    mut new: Vec<Retrieved>,
) -> Result<Vec<Newcomer>, PortError> {
    let Some(reranker) = &state.frame.ports.reranker else {
        let newcomer = |(nth, hit): (usize, Retrieved)| {
            let score = RerankScore::new(hit.score.value()).ok()?;
            Some(Newcomer { ranked: ranked(hit, score), rank: LATER_RANK + nth })
        };
        return Ok(new.into_iter().enumerate().filter_map(newcomer).collect());
    };
    let mut known: Vec<Retrieved> =
        state.evidence.iter().map(|ranked| ranked.retrieved.clone()).collect();
    fuse::standardise(&mut known);
    fuse::standardise(&mut new);
    let all: Vec<Retrieved> = known.iter().chain(&new).cloned().collect();
    let scores = reranker.rerank(&Query::from(state.frame.question), &all).await?;
    if scores.len() != all.len() {
        let message = format!("{} scores for {} passages", scores.len(), all.len());
        return Err(PortError::new(PortErrorKind::Corrupt, message));
    }
    let (known, scores) = scores.split_at(known.len());
    let newcomer = |(hit, score): (Retrieved, &RerankScore)| Newcomer {
        rank: known.iter().filter(|other| *other > score).count(),
        ranked: ranked(hit, *score),
    };
    let mut newcomers: Vec<Newcomer> = new.into_iter().zip(scores).map(newcomer).collect();
    newcomers.sort_by(|a, b| {
        let id = |newcomer: &Newcomer| newcomer.ranked.retrieved.passage.id.clone();
        b.ranked.score.cmp(&a.ranked.score).then_with(|| id(a).cmp(&id(b)))
    });
    Ok(newcomers)
}

fn ranked(hit: Retrieved, score: RerankScore) -> Ranked {
    Ranked { score, explanation: hit.explanation.clone(), retrieved: hit }
}

fn chosen_texts(state: &DigestState<'_>) -> Vec<String> {
    let mut texts: Vec<String> =
        state.chosen.iter().map(|at| state.scored[*at].candidate.quote.clone()).collect();
    texts.sort_unstable();
    texts
}

/// Whether a query has the same stems as one before.
fn is_known(query: &Query, searched: &[Query]) -> bool {
    searched.iter().any(|old| stem_set(old.as_str()) == stem_set(query.as_str()))
}
