//! Feedback by checks in code: what the chosen sentences do not cover is searched for.

use std::collections::BTreeSet;

use scholar_core::{
    Notice, NoticeKind, PortError, PortErrorKind, Query, Ranked, RerankScore, Retrieved, Searched,
};

use super::config::CheckRules;
use super::question::Term;
use super::slots::Gap;
use super::state::{DigestState, LATER_RANK, Newcomer};
use super::terms::stem_set;
use crate::event::Event;
use crate::evidence::EvidenceNumber;
use crate::retrieve::fuse;

/// Words of the question that go into a search for a missing one.
const CONTEXT_WORDS: usize = 3;

/// One thing the checks found.
struct Item {
    text: String,
    query: Query,
}

/// Runs the checks, at most `rounds` times; returns every query searched.
///
/// # Errors
/// When sentences cannot be encoded. A search that fails is a notice.
pub(crate) async fn run(
    state: &mut DigestState<'_>,
) -> Result<(Vec<Query>, Vec<Notice>), PortError> {
    let CheckRules { rounds, top_k: _ } = state.config().checks;
    let mut searched: Vec<Query> = Query::new(&state.asked).into_iter().collect();
    let mut notices = Vec::new();
    for _ in 0..rounds {
        let items = items(state, &searched);
        if items.is_empty() {
            break;
        }
        let listed =
            items.iter().map(|item| (item.text.clone(), Some(item.query.as_str().to_owned())));
        state.frame.emit(&Event::Feedback { items: listed.collect() });
        let queries: Vec<Query> = items.iter().map(|item| item.query.clone()).collect();
        state.frame.emit(&Event::Queries { queries });
        let mut accepted = false;
        for (nth, Item { text: _, query }) in items.iter().enumerate() {
            let known = state.evidence.len();
            searched.push(query.clone());
            notices.extend(search(state, query).await);
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
        if !accepted {
            break;
        }
    }
    Ok((searched, notices))
}

/// Core concepts of the question that no chosen sentence nor its title has.
fn uncovered<'a>(state: &'a DigestState<'_>) -> Vec<&'a Term> {
    let mut said: BTreeSet<String> = BTreeSet::new();
    for line in &state.chosen {
        let candidate = &state.scored[line.at].candidate;
        said.extend(candidate.stems.iter().cloned());
        said.extend(stem_set(&state.evidence[candidate.passage].retrieved.passage.title));
    }
    state.reading.keys().into_iter().filter(|term| !term.is_in(&said)).collect()
}

fn items(state: &DigestState<'_>, searched: &[Query]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
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
            items.push(Item { text, query });
        }
    };
    if !missing.is_empty() {
        let words: Vec<&str> = missing.iter().take(4).map(|term| term.word.as_str()).collect();
        look_for(format!("no sentence speaks of {}", words.join(", ")), &words.join(" "));
    }
    for gap in empty_slots(state) {
        look_for(format!("nothing fills the part “{}”", gap.thing()), gap.thing());
    }
    items
}

/// What the parts are about that nothing fills and whose emptiness means something: no paper that is shown mentions it either.
pub(crate) fn empty_slots<'a>(state: &'a DigestState<'_>) -> Vec<&'a Gap> {
    let is_empty = |at: usize| state.chosen.iter().all(|line| line.slot != at);
    let shown: Vec<BTreeSet<String>> = state
        .chosen
        .iter()
        .map(|line| {
            let passage =
                &state.evidence[state.scored[line.at].candidate.passage].retrieved.passage;
            let about = state.abstract_of(line.at).map_or("", |one| one.text.as_str());
            stem_set(&format!("{} {about} {}", passage.title, state.scored[line.at].candidate.text))
        })
        .collect();
    let slots = state.slots.iter().enumerate().filter(|(at, _)| is_empty(*at));
    let missing = slots
        .filter(|(_, slot)| !shown.iter().any(|stems| slot.is_mentioned(stems, &state.reading)));
    missing.filter_map(|(_, slot)| slot.gap.as_ref()).collect()
}

/// Searches, ranks what is new and adds it; a failure is a notice, as is what the sources have to say.
pub(crate) async fn search(state: &mut DigestState<'_>, query: &Query) -> Vec<Notice> {
    let CheckRules { rounds: _, top_k } = state.config().checks;
    let request = state.frame.config.retrieval.request(query, top_k);
    let retriever = &state.frame.ports.retriever;
    let failed = |kind: NoticeKind, step: &str, error: &PortError| {
        Notice::new(kind, format!("{step} for {:?} left out: {error}", query.as_str()))
    };
    let Searched { hits: found, mut notices } = match retriever.explore(&request).await {
        Ok(searched) => searched,
        Err(error) => return vec![failed(NoticeKind::SourceDown, "the search", &error)],
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
        Err(error) => notices.push(failed(NoticeKind::Skipped, "the ranking", &error)),
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
    let asked = Query::new(&state.asked).unwrap_or_else(|| Query::from(state.frame.question));
    let scores = reranker.rerank(&asked, &all).await?;
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
        state.chosen.iter().map(|line| state.scored[line.at].candidate.quote.clone()).collect();
    texts.sort_unstable();
    texts
}

/// Whether a query has the same stems as one before.
fn is_known(query: &Query, searched: &[Query]) -> bool {
    searched.iter().any(|old| stem_set(old.as_str()) == stem_set(query.as_str()))
}
