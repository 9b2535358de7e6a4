//! One node: search, sufficiency, one hop through the citation graph, judgement, an answer, its critic.
//!
//! Source: arXiv 2511.14362 §3.2 and §3.3; specification A5 to A7.

use std::collections::BTreeSet;

use scholar_core::text::words::content_stems;
use scholar_core::{
    DecidedBy, EvidenceOrigin, ExpansionDecision, Neighbour, NeighbourRequest, Neighbours,
    NodeState, Notice, NoticeKind, PortError, Query, Ranked, TreeEvidence, TreeNode,
};

use super::candidates::{Candidate, Linked, Origins, by_paper, listed};
use super::critic;
use super::desk::{Desk, node_of};
use super::explored::{Explored, Place, numbered, reasons_text};
use super::symbolic::{self, room};
use crate::budget::BudgetExceeded;
use crate::config::scirag::{
    CandidateRanking, Expansion, NodeReport, SciragConfig, SufficiencyBy, SymbolicWhen,
};
use crate::event::Event;
use crate::evidence::Evidence;
use crate::frame::Frame;
use crate::prompts;
use crate::retrieve::links::{LinkCount, LinkRule};
use crate::retrieve::pool::{dedup, filter_by_citations};
use crate::retrieve::{Round, rank, search_all};
use crate::write::{answer_text, unusable};

/// Passages fetched by a node's search before reranking, for each that is kept. Ours.
const FETCHED_FOR_ONE: usize = 6;
/// Share of the query's content stems that a paper has for covering it. Ours.
const COVERS: f32 = 0.6;
/// Which neighbours are read where candidates are ranked by the reranker: those with most links to any hit.
const BY_NUMBER: LinkRule = LinkRule { seeds: usize::MAX, count: LinkCount::Each, weight: 1.0 };
/// Papers that cover the query for the hits to be enough by rule. Ours.
const ENOUGH: usize = 3;

/// Explores one place. Nothing that fails here fails the question.
pub(super) async fn explore(frame: &Frame<'_>, place: Place) -> Explored {
    let began = (frame.ports.clock)();
    let desk = Desk::new(frame, &place.id);
    let query = place.query().to_owned();
    frame.emit(&Event::NodeBegan { id: place.id.clone(), query });
    let mut explored = Explored {
        record: TreeNode::new(place.id.as_str(), place.path.clone()),
        passages: Vec::new(),
        reasons: Vec::new(),
        queries: Vec::new(),
    };
    match frame.over_budget() {
        Some(exceeded) => explored.record.reason = Some(exceeded.to_string()),
        None => steps(&desk, &place, &mut explored).await,
    }
    let own = |purpose: &str| node_of(purpose) == place.id;
    (explored.record.calls, explored.record.usage) = frame.log.calls(own);
    let taken = (frame.ports.clock)().saturating_sub(began);
    explored.record.milliseconds = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX);
    frame.emit(&Event::NodeEnded { node: Box::new(explored.record.clone()) });
    explored
}

async fn steps(desk: &Desk<'_>, place: &Place, explored: &mut Explored) {
    let config = &desk.frame.config.scirag;
    let candidates = match find(desk, place.query(), &mut explored.record).await {
        Ok(candidates) => candidates,
        Err(error) => {
            explored.record.state = NodeState::NoEvidence;
            explored.record.reason = Some(error.to_string());
            return;
        }
    };
    if candidates.is_empty() {
        explored.record.state = NodeState::NoEvidence;
        explored.record.reason = Some("no passage was found".to_owned());
        return;
    }
    let expanded = explored.record.decision == Some(ExpansionDecision::Expanded);
    let symbolic = config.rerank == CandidateRanking::Symbolic
        && (expanded || config.symbolic_when == SymbolicWhen::Always)
        && desk.frame.over_budget().is_none();
    let candidates = if symbolic {
        let judged = symbolic::judge(desk, &place.written_path(), place.query(), candidates).await;
        explored.record.contributions = judged.graph;
        explored.record.selected_by = Some(judged.by);
        judged.candidates
    } else {
        candidates
    };
    explored.record.evidence.splice(0..0, candidates.iter().map(Candidate::record));
    for candidate in candidates.into_iter().filter(|one| one.discarded.is_none()) {
        let Candidate { paper, passages, rationale, .. } = candidate;
        explored.reasons.extend(rationale.map(|why| (paper.id.clone(), why)));
        explored.passages.extend(passages);
    }
    match config.node_report {
        NodeReport::Evidence => explored.record.state = NodeState::Answered,
        NodeReport::Answer => answer(desk, place, explored).await,
    }
    if explored.tells() && place.depth < config.levels() && desk.frame.over_budget().is_none() {
        critic::of_node(desk, place, explored).await;
    }
}

/// Searches, decides, expands and reranks. What the reranker leaves out is written into the record.
async fn find(
    desk: &Desk<'_>,
    query: &str,
    record: &mut TreeNode,
) -> Result<Vec<Candidate>, PortError> {
    let frame = desk.frame;
    let config = &frame.config.scirag;
    let Some(query) = Query::new(query) else { return Ok(Vec::new()) };
    let ranked = search(frame, &query, config).await?;
    let found = by_paper(ranked, &Origins::default());
    if found.is_empty() {
        return Ok(found);
    }
    let (decision, by) = decide(desk, &query, &found).await;
    let mut neighbours = Vec::new();
    if decision == ExpansionDecision::Expanded {
        neighbours = expand(frame, &found).await;
    }
    let rule = config.link_rule.unwrap_or(BY_NUMBER);
    let most = config.reranked_neighbours;
    let mut linked = Linked::new(&found, &neighbours, rule, config.min_citations, most);
    let new = std::mem::take(&mut linked.new);
    frame.emit(&Event::NodeDecided {
        id: record.id.clone(),
        papers: found.len(),
        decision,
        by,
        neighbours: new.len(),
    });
    (record.decision, record.decided_by) = (Some(decision), Some(by));
    let origins = Origins::of_neighbours(&neighbours, &found);
    let mut passages: Vec<Ranked> = found.into_iter().flat_map(|one| one.passages).collect();
    if !new.is_empty() {
        let (_, ranked) = rank(frame, &query, new, Round::Feedback).await;
        passages.extend(ranked);
        passages.sort_by(|a, b| {
            let ids = (&a.retrieved.passage.id, &b.retrieved.passage.id);
            b.score.cmp(&a.score).then_with(|| ids.0.cmp(ids.1))
        });
    }
    let mut candidates = by_paper(passages, &origins);
    let by_links = config.link_rule.is_some() && !neighbours.is_empty();
    if by_links {
        linked.sort(&mut candidates);
    }
    let keep = config.dense_keep;
    let left_out = candidates.split_off(candidates.len().min(keep));
    record.evidence.extend(left_out.into_iter().map(|candidate| {
        let place = linked.reason(&candidate.paper.id).filter(|_| by_links);
        let place = place.map_or_else(|| "by score".to_owned(), |place| format!("({place})"));
        TreeEvidence {
            kept: false,
            discarded: Some(format!("not among the {keep} best {place}")),
            ..candidate.record()
        }
    }));
    Ok(candidates)
}

/// The best passages for a node's query.
async fn search(
    frame: &Frame<'_>,
    query: &Query,
    config: &SciragConfig,
) -> Result<Vec<Ranked>, PortError> {
    let most = frame.config.retrieval.top_k.min(config.snippets * FETCHED_FOR_ONE).max(1);
    let lists = search_all(frame, std::slice::from_ref(query), most).await.map_err(|error| {
        let message = error.to_string();
        PortError::new(scholar_core::PortErrorKind::Unavailable, message).with_source(error)
    })?;
    let mut pool = dedup(lists, frame.config.retrieval.dedup);
    pool.retain(|hit| hit.passage.kind.is_prose());
    filter_by_citations(
        &mut pool,
        Some(config.min_citations).filter(|min| *min > 0),
        config.snippets,
    );
    let (_, mut ranked) = rank(frame, query, pool, Round::Feedback).await;
    ranked.truncate(config.snippets);
    Ok(ranked)
}

/// Whether the hits are enough.
async fn decide(
    desk: &Desk<'_>,
    query: &Query,
    found: &[Candidate],
) -> (ExpansionDecision, DecidedBy) {
    use ExpansionDecision::{Expanded, Sufficient};
    let frame = desk.frame;
    let config = &frame.config.scirag;
    if frame.ports.graph.is_none() {
        return (Sufficient, DecidedBy::Rule);
    }
    match config.expansion {
        Expansion::Never => (Sufficient, DecidedBy::Rule),
        Expansion::Always => (Expanded, DecidedBy::Rule),
        Expansion::Adaptive => match config.sufficiency {
            SufficiencyBy::Rule => (by_rule(query.as_str(), found), DecidedBy::Rule),
            SufficiencyBy::Model => {
                let papers = listed(found, room(desk));
                let values = [("query", query.as_str()), ("papers", papers.as_str())];
                let call = config.sampling.decide;
                match desk.word("decide", prompts::SCIRAG_DECIDE, &values, call).await {
                    Ok(reply) if super::gaps::says_complete(&reply) => {
                        (Sufficient, DecidedBy::Model)
                    }
                    Ok(_) => (Expanded, DecidedBy::Model),
                    Err(error) => {
                        frame.skipped(&desk.purpose("decide"), &error);
                        (by_rule(query.as_str(), found), DecidedBy::Fallback)
                    }
                }
            }
        },
    }
}

/// Evidence is thin where fewer than three papers have most of the query's words.
pub(super) fn by_rule(query: &str, found: &[Candidate]) -> ExpansionDecision {
    let wanted: BTreeSet<String> = content_stems(query).into_iter().collect();
    let covers = |candidate: &&Candidate| {
        let has: BTreeSet<String> =
            content_stems(&candidate.text(usize::MAX)).into_iter().collect();
        share(wanted.intersection(&has).count(), wanted.len()) >= COVERS
    };
    if found.iter().filter(covers).count() >= ENOUGH {
        ExpansionDecision::Sufficient
    } else {
        ExpansionDecision::Expanded
    }
}

/// `part` of `whole`; of nothing 0.
#[expect(clippy::cast_precision_loss, reason = "a query has few words")]
pub(super) fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole.max(1) as f32
}

/// One hop from the papers found. A graph that cannot be asked costs the neighbours, not the node.
async fn expand(frame: &Frame<'_>, found: &[Candidate]) -> Vec<Neighbour> {
    let Some(graph) = &frame.ports.graph else { return Vec::new() };
    let request = NeighbourRequest {
        papers: found.iter().map(|candidate| candidate.paper.id.clone()).collect(),
        directions: frame.config.scirag.links.directions(),
        per_paper: frame.config.scirag.neighbours,
        filter: frame.config.retrieval.filter.clone(),
    };
    match graph.neighbours(&request).await {
        Ok(Neighbours { found, left_out: _, cut: _, notices }) => {
            notices.into_iter().for_each(|notice| frame.notice(notice));
            found.into_iter().filter(|one| one.found.passage.kind.is_prose()).collect()
        }
        Err(error) => {
            let message = format!("citations of {} papers left out: {error}", request.papers.len());
            let mut notice = Notice::new(NoticeKind::SourceDown, message);
            notice.hint = error.hint().map(str::to_owned);
            frame.notice(notice);
            Vec::new()
        }
    }
}

/// Writes the node's answer from what it keeps.
async fn answer(desk: &Desk<'_>, place: &Place, explored: &mut Explored) {
    let frame = desk.frame;
    let call = frame.config.scirag.sampling.node;
    let shown = numbered(&explored.passages);
    let reasons = reasons_text(&explored.reasons, &shown);
    let path = place.written_path();
    let values = [("path", path.as_str()), ("query", place.query()), ("reasons", reasons.as_str())];
    let prompt = prompts::SCIRAG_NODE_ANSWER;
    let record = &mut explored.record;
    match desk.over("answer", prompt, &values, &shown, call).await {
        Ok(reply) => {
            let text = answer_text(&reply.text);
            if let Some(problem) = unusable(&text) {
                record.state = NodeState::Failed;
                record.reason = Some(problem.to_owned());
            } else {
                record.state = NodeState::Answered;
                record.answer = Some(text);
            }
        }
        Err(error) => {
            frame.skipped(&desk.purpose("answer"), &error);
            record.state = match BudgetExceeded::behind(&error) {
                Some(_) => NodeState::Skipped,
                None => NodeState::Failed,
            };
            record.reason = Some(error.to_string());
        }
    }
}

/// The evidence of the question itself, as the root of the tree tells it.
pub(super) fn initial(shown: &[Evidence]) -> Vec<TreeEvidence> {
    let ranked = shown.iter().map(|one| one.ranked.clone()).collect();
    let candidates = by_paper(ranked, &Origins::default());
    let record = |candidate: Candidate| TreeEvidence {
        origin: EvidenceOrigin::Initial,
        ..candidate.record()
    };
    candidates.into_iter().map(record).collect()
}
