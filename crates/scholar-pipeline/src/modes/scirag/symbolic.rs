//! Symbolic reasoning over the candidates of a node: tag their parts, relate them, analyse, decide.
//!
//! Source: arXiv 2511.14362 §3.3; specification A6. What cannot be read after one repair falls back to the reranker's order, and
//! the notice says so.

use std::fmt::Write as _;

use scholar_core::{ContributionGraph, ContributionTarget, DecidedBy, PortError};

use super::candidates::{Candidate, listed};
use super::contributions::{self, Selection};
use super::desk::Desk;
use super::{chains, forms};
use crate::config::scirag::SymbolicSteps;
use crate::frame::prompt_room;
use crate::prompts;

/// Candidates kept when a selection is empty, or exempt from the gate of chains. Source: specification A6.4 and A6.5.
const FEWEST: usize = 3;
/// Characters of a token, on the low side: candidates are cut to fit a context.
const CHARS_OF_A_TOKEN: usize = 3;
/// Most characters of all candidates in a prompt: ten abstracts with two passages each. Ours.
const MOST_CHARS: usize = 60_000;
/// Share of the room that candidates may take; the rest is for what was said of them.
const SHARE_OF_ROOM: usize = 2;

/// What became of the candidates.
pub(super) struct Judged {
    /// Kept ones by rank, then discarded ones by score.
    pub(super) candidates: Vec<Candidate>,
    /// Its segments refer to places in `candidates`.
    pub(super) graph: Option<ContributionGraph>,
    pub(super) by: DecidedBy,
}

/// Judges `candidates`, best first by score; never empties them.
pub(super) async fn judge(
    desk: &Desk<'_>,
    path: &str,
    query: &str,
    candidates: Vec<Candidate>,
) -> Judged {
    let shown = listed(&candidates, room(desk));
    let n = candidates.len();
    let mut graph = ContributionGraph::default();
    let selected = match desk.frame.config.scirag.symbolic {
        SymbolicSteps::One => one(desk, path, query, &shown, n, &mut graph).await,
        SymbolicSteps::Three | SymbolicSteps::Four => {
            several(desk, path, query, &shown, n, &mut graph).await
        }
    };
    let mut by = DecidedBy::Model;
    let mut selection = match selected {
        Ok(selection) => selection,
        Err(why) => {
            desk.unused("selection", &format!("papers stand in the reranker's order ({why})"));
            by = DecidedBy::Fallback;
            let all = (0..n).map(|at| (at, String::new())).collect();
            Selection { kept: all, discarded: Vec::new() }
        }
    };
    if selection.kept.is_empty() {
        desk.unused("selection", "no paper was kept; the three best by score stand");
        by = DecidedBy::Fallback;
        let best = (0..n.min(FEWEST)).map(|at| (at, String::new()));
        selection.kept = best.collect();
        let kept = |at: usize| selection.kept.iter().any(|(known, _)| *known == at);
        selection.discarded.retain(|(at, _)| !kept(*at));
    }
    let discarded: Vec<usize> = selection.discarded.iter().map(|(at, _)| *at).collect();
    chains::find(&mut graph, &discarded);
    if desk.frame.config.scirag.chain_gate && by == DecidedBy::Model {
        gate(&mut selection, &graph);
    }
    let (candidates, graph) = ordered(candidates, selection, graph);
    let graph = (!graph.segments.is_empty()).then_some(graph);
    Judged { candidates, graph, by }
}

/// Characters that candidates may take in a prompt.
pub(super) fn room(desk: &Desk<'_>) -> usize {
    let call = desk.frame.config.scirag.sampling.symbolic;
    let tokens = desk
        .frame
        .ports
        .generator
        .as_ref()
        .map_or(0, |generator| prompt_room(generator.as_ref(), call));
    (tokens * CHARS_OF_A_TOKEN / SHARE_OF_ROOM).min(MOST_CHARS)
}

/// All steps in one reply. What it tells of the candidates goes into `graph`.
///
/// Deviation D70: the source takes four replies.
async fn one(
    desk: &Desk<'_>,
    path: &str,
    query: &str,
    shown: &str,
    n: usize,
    graph: &mut ContributionGraph,
) -> Result<Selection, PortError> {
    let values = [("path", path), ("query", query), ("papers", shown)];
    let read = |value: &serde_json::Value| {
        // The decision counts; tags and relations explain it, and a reply without them is no failure.
        let mut graph = ContributionGraph {
            segments: contributions::tags(value, n).unwrap_or_default(),
            ..ContributionGraph::default()
        };
        let _explains = contributions::relate(value, n, &mut graph);
        Ok((graph, contributions::selection(value, n)?))
    };
    let prompt = prompts::SCIRAG_CONTRIBUTIONS;
    let selection;
    (*graph, selection) = desk.object("contributions", prompt, &values, forms::all(), read).await?;
    Ok(selection)
}

/// Tag, relate, analyse where that is configured, decide; `graph` gets what each step tells, also where a later one fails.
async fn several(
    desk: &Desk<'_>,
    path: &str,
    query: &str,
    shown: &str,
    n: usize,
    graph: &mut ContributionGraph,
) -> Result<Selection, PortError> {
    let values = [("path", path), ("query", query), ("papers", shown)];
    let read = |value: &serde_json::Value| contributions::tags(value, n);
    graph.segments = desk.object("tag", prompts::SCIRAG_TAG, &values, forms::tags(), read).await?;
    let tags = tags_text(graph);
    let values = [("query", query), ("tags", tags.as_str())];
    let tagged = graph.clone();
    let read = |value: &serde_json::Value| {
        let mut graph = tagged.clone();
        contributions::relate(value, n, &mut graph)?;
        Ok(graph)
    };
    *graph =
        desk.object("relate", prompts::SCIRAG_RELATE, &values, forms::relations(), read).await?;
    let relations = relations_text(graph);
    if desk.frame.config.scirag.symbolic == SymbolicSteps::Four {
        let values = [
            ("path", path),
            ("query", query),
            ("tags", tags.as_str()),
            ("relations", relations.as_str()),
        ];
        let call = desk.frame.config.scirag.sampling.symbolic;
        let text = desk.text("analyse", prompts::SCIRAG_ANALYSE, &values, call).await?;
        graph.analysis = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    }
    let analysis = match &graph.analysis {
        Some(text) => format!("Analysis:\n{text}\n"),
        None => String::new(),
    };
    let values = [
        ("path", path),
        ("query", query),
        ("tags", tags.as_str()),
        ("relations", relations.as_str()),
        ("analysis", analysis.as_str()),
    ];
    let read = |value: &serde_json::Value| contributions::selection(value, n);
    desk.object("select", prompts::SCIRAG_SELECT, &values, forms::selection(), read).await
}

/// `[1] E, high: description`, a line a segment.
fn tags_text(graph: &ContributionGraph) -> String {
    let mut out = String::new();
    for segment in &graph.segments {
        let relevance = segment.relevance.name();
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            out,
            "[{}] {}, {relevance}: {}",
            segment.evidence + 1,
            segment.role.letter(),
            segment.description
        );
    }
    out
}

/// `[1]E -> [Q]: rationale`, a line a relation.
fn relations_text(graph: &ContributionGraph) -> String {
    let name = |at: usize| {
        let segment = &graph.segments[at];
        format!("[{}]{}", segment.evidence + 1, segment.role.letter())
    };
    let mut out = String::new();
    for edge in &graph.edges {
        let to = match edge.to {
            ContributionTarget::Query => "[Q]".to_owned(),
            ContributionTarget::Segment(at) => name(at),
        };
        let _infallible = writeln!(out, "{} -> {to}: {}", name(edge.from), edge.rationale);
    }
    out
}

/// Discards kept papers from which no chain reaches the query, but for the first three.
fn gate(selection: &mut Selection, graph: &ContributionGraph) {
    let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut selection.kept)
        .into_iter()
        .enumerate()
        .partition(|(rank, (at, _))| *rank < FEWEST || graph.reaches_query(*at));
    selection.kept = kept.into_iter().map(|(_, one)| one).collect();
    let why = "no chain of contributions leads from it to the question";
    selection.discarded.extend(gone.into_iter().map(|(_, (at, _))| (at, why.to_owned())));
}

/// Candidates in the order of the decision, and the graph with its places moved along.
fn ordered(
    candidates: Vec<Candidate>,
    selection: Selection,
    mut graph: ContributionGraph,
) -> (Vec<Candidate>, ContributionGraph) {
    let n = candidates.len();
    let Selection { kept, discarded } = selection;
    let mut places: Vec<usize> = kept.iter().map(|(at, _)| *at).collect();
    places.extend((0..n).filter(|at| kept.iter().all(|(known, _)| known != at)));
    let mut taken: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
    let mut all = Vec::with_capacity(n);
    for at in &places {
        let Some(mut candidate) = taken[*at].take() else { continue };
        match kept.iter().find(|(known, _)| known == at) {
            Some((_, why)) => candidate.rationale = Some(why.clone()).filter(|why| !why.is_empty()),
            None => {
                let why = discarded.iter().find(|(known, _)| known == at);
                let why = why.map(|(_, why)| why.clone()).filter(|why| !why.is_empty());
                let unnamed = || "not among the papers selected".to_owned();
                candidate.discarded = Some(why.unwrap_or_else(unnamed));
            }
        }
        all.push(candidate);
    }
    let new_place = |old: usize| places.iter().position(|at| *at == old).unwrap_or(old);
    for segment in &mut graph.segments {
        segment.evidence = new_place(segment.evidence);
    }
    (all, graph)
}
