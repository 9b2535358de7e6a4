//! The papers nearest to the idea: searched, scored, added to, scored again, the most relevant taken.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use futures::StreamExt as _;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{Notice, NoticeKind, PaperId, PassageKind, Retrieved, Side};
use scholar_pipeline::modes::scirag::json;
use serde_json::Value;

use super::claims::Claim;
use crate::desk::{Desk, Material};
use crate::library::{Library, by_paper};
use crate::prompts;
use crate::report::{EvidenceOrigin, Funnel, ReviewModule, ScoredPaper};

/// A paper with the text that it is judged by.
#[derive(Debug, Clone)]
pub(crate) struct Near {
    pub(crate) scored: ScoredPaper,
    /// Its abstract.
    pub(crate) opening: Retrieved,
    /// Other passages that searches found of it.
    pub(crate) passages: Vec<Retrieved>,
}

/// What the module compares with.
pub(crate) struct Gathered {
    /// Every paper, the most relevant first.
    pub(crate) all: Vec<ScoredPaper>,
    /// Those that are compared, the most relevant first.
    pub(crate) sample: Vec<Near>,
    pub(crate) funnel: Funnel,
}

/// Passages of one search for one paper found: searches bring passages, and several may be of one paper. Ours.
const PASSAGES_PER_PAPER: usize = 3;

/// Finds and scores.
///
/// # Errors
/// When no search succeeded.
pub(crate) async fn gather(
    desk: &Desk<'_>,
    library: &Library<'_>,
    claims: &[Claim],
) -> Result<Gathered, String> {
    let mut near = searched(desk, library, claims).await?;
    let mut funnel = Funnel { found: near.len(), ..Funnel::default() };
    let most = desk.config.contribution.scored_papers.unwrap_or(usize::MAX).min(near.len());
    score(desk, &mut near[..most], "relevance").await;
    funnel.scored = near.iter().filter(|one| one.scored.relevance.is_some()).count();
    near.truncate(most);
    let min = desk.config.contribution.relevance_min;
    let seeds: Vec<Near> = order(near.clone(), min)
        .into_iter()
        .take(desk.config.contribution.seeds.unwrap_or(usize::MAX))
        .collect();
    funnel.seeds = seeds.len();
    if !desk.config.ablation.pa {
        let mut added = augmented(desk, library, &seeds, &near).await;
        funnel.added = added.len();
        nearest_by_vector(desk, &mut added);
        score(desk, &mut added, "relevance of added").await;
        funnel.added_scored = added.iter().filter(|one| one.scored.relevance.is_some()).count();
        near.extend(added);
    }
    let sample: Vec<Near> =
        order(near.clone(), min).into_iter().take(desk.config.contribution.sample).collect();
    let all = order(near, 0).into_iter().map(|one| one.scored).collect();
    Ok(Gathered { all, sample, funnel })
}

/// Papers of all searches, those of the most searches first, then as they were found.
async fn searched(
    desk: &Desk<'_>,
    library: &Library<'_>,
    claims: &[Claim],
) -> Result<Vec<Near>, String> {
    let mut queries: Vec<&String> = Vec::new();
    for query in claims.iter().flat_map(|claim| claim.queries.iter().flatten()) {
        if !queries.iter().any(|known| known.eq_ignore_ascii_case(query)) {
            queries.push(query);
        }
    }
    let per_query = desk.config.contribution.papers_per_query;
    let replies: Vec<_> = futures::stream::iter(queries.iter().copied())
        .map(|query| library.search(query, per_query * PASSAGES_PER_PAPER))
        .buffered(desk.config.concurrency.max(1))
        .collect()
        .await;
    let mut failed = None;
    let mut found: BTreeMap<PaperId, (usize, usize)> = BTreeMap::new();
    let mut hits: Vec<(Vec<Retrieved>, &String)> = Vec::new();
    let n = replies.len();
    let mut failures = 0;
    for (query, reply) in queries.into_iter().zip(replies) {
        match reply {
            Ok(reply) => {
                for passages in by_paper(reply).into_iter().take(per_query) {
                    let id = passages[0].paper.id.clone();
                    let place = hits.len();
                    let (times, at) = found.entry(id).or_insert((0, place));
                    *times += 1;
                    match *at {
                        known if known < place => hits[known].0.extend(passages),
                        _ => hits.push((passages, query)),
                    }
                }
            }
            Err(error) => {
                failures += 1;
                desk.failed(ReviewModule::Contribution, "search", query, &error.to_string());
                failed.get_or_insert(error.to_string());
            }
        }
    }
    if let Some(failed) = failed.filter(|_| failures == n) {
        return Err(format!("no search succeeded: {failed}"));
    }
    let mut order: Vec<usize> = (0..hits.len()).collect();
    let times = |at: &usize| found.get(&hits[*at].0[0].paper.id).map_or(0, |(times, _)| *times);
    order.sort_by_key(|at| (Reverse(times(at)), *at));
    let mut near = Vec::new();
    for at in order {
        let (passages, query) = &hits[at];
        let origin = EvidenceOrigin::Search { query: (*query).clone() };
        near.extend(opened(library, passages.clone(), origin).await);
    }
    Ok(near)
}

/// A paper with its abstract; `None` of one that has none: nothing could be compared.
async fn opened(
    library: &Library<'_>,
    passages: Vec<Retrieved>,
    origin: EvidenceOrigin,
) -> Option<Near> {
    let opening = library.opening(passages.first()?).await?;
    let paper = (*opening.paper).clone();
    let scored =
        ScoredPaper { paper, origin, relevance: None, rationale: String::new(), cosine: None };
    let mut others: Vec<Retrieved> = Vec::new();
    for hit in passages {
        let known = hit.passage.id == opening.passage.id
            || others.iter().any(|one| one.passage.id == hit.passage.id);
        if !known && hit.passage.kind.is_prose() {
            others.push(hit);
        }
    }
    Some(Near { scored, opening, passages: others })
}

/// Papers near to the seeds and cited by them that are not known yet, each once.
async fn augmented(
    desk: &Desk<'_>,
    library: &Library<'_>,
    seeds: &[Near],
    known: &[Near],
) -> Vec<Near> {
    let config = &desk.config.contribution;
    let nearest: Vec<_> = futures::stream::iter(seeds)
        .map(|seed| library.nearest(&seed.opening, config.recommended_per_seed))
        .buffered(desk.config.concurrency.max(1))
        .collect()
        .await;
    let ids: Vec<PaperId> = seeds.iter().map(|seed| seed.scored.paper.id.clone()).collect();
    let asked = if config.co_citations { ids.as_slice() } else { &[] };
    let mut cited_with = match library.cited_with(asked, config.recommended_per_seed).await {
        Ok(found) => found,
        Err(error) => {
            let (stage, item) = ("co_citations", "the relevant papers");
            desk.failed(ReviewModule::Contribution, stage, item, &error.to_string());
            BTreeMap::new()
        }
    };
    let mut added: Vec<Near> = Vec::new();
    let mut ways: Vec<(EvidenceOrigin, Retrieved)> = Vec::new();
    for (seed, reply) in seeds.iter().zip(nearest) {
        let id = &seed.scored.paper.id;
        let with = cited_with.remove(id).unwrap_or_default();
        match reply {
            Ok(hits) => ways.extend(recommended(id, hits, with, config.recommended_per_seed)),
            Err(error) => {
                let title = seed.scored.paper.display_title();
                desk.failed(
                    ReviewModule::Contribution,
                    "recommendations",
                    &title,
                    &error.to_string(),
                );
            }
        }
    }
    match library.references(&ids, config.references_per_seed).await {
        Ok(cited) => {
            ways.extend(cited.into_iter().map(|(of, hit)| (EvidenceOrigin::ReferenceOf(of), hit)));
        }
        Err(error) => {
            desk.failed(
                ReviewModule::Contribution,
                "references",
                "the relevant papers",
                &error.to_string(),
            );
        }
    }
    for (origin, hit) in ways {
        let id = &hit.paper.id;
        if known.iter().chain(&added).all(|one| one.scored.paper.id != *id) {
            added.extend(opened(library, vec![hit], origin).await);
        }
    }
    added
}

/// Constant of reciprocal rank fusion. Source: Cormack, Clarke and Büttcher, SIGIR 2009.
const FUSION: usize = 60;

/// The papers recommended for `seed`: those near to it and those cited with it, fused by their ranks, at most `most`.
fn recommended(
    seed: &PaperId,
    near: Vec<Retrieved>,
    with: Vec<Retrieved>,
    most: usize,
) -> Vec<(EvidenceOrigin, Retrieved)> {
    let mut fused: Vec<(EvidenceOrigin, Retrieved, usize)> = Vec::new();
    let near = near.into_iter().map(|hit| (EvidenceOrigin::NearestTo(seed.clone()), hit));
    let with = with.into_iter().map(|hit| (EvidenceOrigin::CitedWith(seed.clone()), hit));
    for (rank, (origin, hit)) in near.enumerate().chain(with.enumerate()) {
        // Parts of a million, so that sums are exact.
        let score = 1_000_000 / (FUSION + rank + 1);
        match fused.iter_mut().find(|(_, known, _)| known.paper.id == hit.paper.id) {
            Some((_, _, sum)) => *sum += score,
            None => fused.push((origin, hit, score)),
        }
    }
    fused.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.1.paper.id.cmp(&b.1.paper.id)));
    fused.truncate(most);
    fused.into_iter().map(|(origin, hit, _)| (origin, hit)).collect()
}

/// Keeps the new papers that are nearest to the idea, by the cosine of their abstracts with it; as they were found where there is
/// no encoder, or it fails.
fn nearest_by_vector(desk: &Desk<'_>, added: &mut Vec<Near>) {
    let most = desk.config.contribution.embed_top_k;
    let encoder = desk.frame.ports.encoder.as_ref();
    let mut texts: Vec<String> = vec![desk.idea.text.clone()];
    texts.extend(added.iter().map(|one| one.opening.passage.encoded_text()));
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    match encoder.map(|encoder| (encoder.info(), encoder.encode(Side::Passage, &borrowed))) {
        Some((info, Ok(vectors))) => {
            let scale = info.cosine_scale();
            let rows = vectors.unit_rows();
            let Some((idea, papers)) = rows.split_first() else { return };
            for (one, row) in added.iter_mut().zip(papers) {
                let cosine = idea.iter().zip(row).map(|(a, b)| a * b).sum();
                one.scored.cosine = Some(scale.rescaled(cosine));
            }
            let cosine = |one: &Near| one.scored.cosine.unwrap_or(-1.0);
            added.sort_by(|a, b| {
                cosine(b)
                    .total_cmp(&cosine(a))
                    .then_with(|| a.scored.paper.id.cmp(&b.scored.paper.id))
            });
        }
        Some((_, Err(error))) => {
            let message = format!("nearness of added papers not measured: {error}");
            desk.frame.notice(Notice::new(NoticeKind::Skipped, message));
        }
        None if added.len() > most => {
            let message = "no encoder: added papers are kept in the order in which they were found";
            desk.frame.notice(Notice::new(NoticeKind::Skipped, message));
        }
        None => {}
    }
    added.truncate(most);
}

/// Scores papers in batches; a batch that fails is listed, and its papers stay without a score.
async fn score(desk: &Desk<'_>, papers: &mut [Near], purpose: &str) {
    let each = desk.config.contribution.papers_per_relevance.max(1);
    let replies: Vec<Option<BTreeMap<String, (u8, String)>>> =
        futures::stream::iter((1..).zip(papers.chunks(each)))
            .map(|(nth, batch)| relevance(desk, batch, format!("{purpose} {nth}")))
            .buffered(desk.config.concurrency.max(1))
            .collect()
            .await;
    for (batch, reply) in papers.chunks_mut(each).zip(replies) {
        let Some(mut scores) = reply else { continue };
        for (nth, paper) in (1..).zip(batch) {
            if let Some((score, rationale)) = scores.remove(&format!("P{nth}")) {
                paper.scored.relevance = Some(score);
                paper.scored.rationale = rationale;
            }
        }
    }
}

async fn relevance(
    desk: &Desk<'_>,
    batch: &[Near],
    purpose: String,
) -> Option<BTreeMap<String, (u8, String)>> {
    let blocks: Vec<String> =
        (1..).zip(batch).map(|(nth, one)| text_of(&format!("P{nth}"), one)).collect();
    let idea = ("idea", desk.idea.text.as_str());
    let material = Material { name: "papers", blocks, between: "\n\n" };
    let papers = desk.fit(&purpose, prompts::RELEVANCE, &[idea], material);
    let values = [idea, ("papers", papers.as_str())];
    let call = desk.config.sampling.relevance;
    let n = batch.len();
    let parse = |value: &Value| parse(value, n);
    match desk.ask(&purpose, prompts::RELEVANCE, &values, call, parse).await {
        Ok(asked) => Some(asked.value),
        Err(reason) => {
            let titles: Vec<&str> =
                batch.iter().map(|one| one.scored.paper.title.as_str()).collect();
            desk.failed(ReviewModule::Contribution, "relevance", &titles.join("; "), &reason);
            None
        }
    }
}

/// Key, title and abstract.
pub(crate) fn text_of(key: &str, near: &Near) -> String {
    let passage = &near.opening.passage;
    let name = if passage.kind == PassageKind::Abstract { "Abstract" } else { "Text" };
    let text = scholar_core::text::markers::strip_foreign_markers(&passage.text);
    let line = crate::cite::line(&near.scored.paper);
    format!("[{key}] {line}\n({name}) {}", single_spaced(&text))
}

/// Scores by key; numbers beyond 0 to 5 are drawn to the nearer end, text is taken where it is a number.
pub(crate) fn parse(value: &Value, n: usize) -> Result<BTreeMap<String, (u8, String)>, String> {
    let alone;
    let list = match value {
        Value::Array(list) => list,
        other => match json::list(other, &["papers"]) {
            Ok(list) => list,
            Err(problem) if other.get("score").is_none() => return Err(problem),
            Err(_) => {
                alone = vec![other.clone()];
                &alone
            }
        },
    };
    let mut scores = BTreeMap::new();
    for one in list {
        let key = json::text(one.get("key"));
        let key = match key.trim_matches(['[', ']']) {
            "" if n == 1 => "P1".to_owned(),
            key => key.to_owned(),
        };
        let is_known = key
            .strip_prefix('P')
            .and_then(|number| number.parse::<usize>().ok())
            .is_some_and(|number| (1..=n).contains(&number));
        if !is_known {
            return Err(format!("its key {key:?} is not one of P1 to P{n}"));
        }
        let score = match one.get("score") {
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.trim().trim_end_matches("/5").parse().ok(),
            _ => None,
        };
        let Some(score) = score.filter(|score: &f64| score.is_finite()) else {
            return Err(format!("the score of {key} is not a number from 0 to 5"));
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the value is drawn to 0 to 5 before"
        )]
        let score = score.clamp(0.0, 5.0) as u8;
        scores.entry(key).or_insert((score, json::text(one.get("rationale"))));
    }
    if scores.is_empty() {
        return Err("it scores no paper".to_owned());
    }
    Ok(scores)
}

/// Papers of at least relevance `min`, the most relevant first; equal ones by cosine, citations, identifier. With `min` 0 those
/// without a score come last.
pub(crate) fn order(mut papers: Vec<Near>, min: u8) -> Vec<Near> {
    papers.retain(|one| min == 0 || one.scored.relevance.is_some_and(|score| score >= min));
    papers.sort_by(|a, b| {
        let (a, b) = (&a.scored, &b.scored);
        let cosine = |one: &ScoredPaper| one.cosine.unwrap_or(-1.0);
        b.relevance
            .cmp(&a.relevance)
            .then_with(|| cosine(b).total_cmp(&cosine(a)))
            .then_with(|| b.paper.citation_count.cmp(&a.paper.citation_count))
            .then_with(|| a.paper.id.cmp(&b.paper.id))
    });
    papers
}

#[cfg(test)]
mod tests;
