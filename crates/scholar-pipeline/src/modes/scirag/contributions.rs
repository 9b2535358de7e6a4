//! Tags, relations and selections as a model replies with them, read tolerantly. Source: specification A6.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::{
    Contribution, ContributionEdge, ContributionGraph, ContributionSegment, ContributionTarget,
    Relevance,
};
use serde_json::Value;

use super::json;
use crate::modes::evidence::pattern::pattern;

/// Segments read of one candidate. Ours.
const MOST_SEGMENTS: usize = 8;
/// Relations read. Ours: chains are enumerated over them.
const MOST_EDGES: usize = 200;

/// What a model chose, by place of the candidate from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// By rank, each candidate once, with the reason.
    pub(super) kept: Vec<(usize, String)>,
    /// Discarded ones with the reason.
    pub(super) discarded: Vec<(usize, String)>,
}

/// Roles of the parts of `candidates` candidates.
///
/// # Errors
/// When the reply has no such list. What names a candidate that is not there is left out.
pub(super) fn tags(value: &Value, candidates: usize) -> Result<Vec<ContributionSegment>, String> {
    let mut segments = Vec::new();
    for paper in json::list(value, &["papers"])? {
        let Some(evidence) = place(paper, candidates) else { continue };
        let listed = paper.get("segments").and_then(Value::as_array);
        for segment in listed.into_iter().flatten().take(MOST_SEGMENTS) {
            segments.push(ContributionSegment {
                evidence,
                role: role(&json::text(segment.get("label"))),
                description: json::text(segment.get("description")),
                relevance: relevance(&json::text(segment.get("relevance"))),
            });
        }
    }
    segments.sort_by_key(|segment| segment.evidence);
    Ok(segments)
}

/// The place of the candidate that `item` names from 1.
fn place(item: &Value, candidates: usize) -> Option<usize> {
    let index = json::whole(item.get("paper_index").or_else(|| item.get("index")))?;
    index.checked_sub(1).filter(|place| *place < candidates)
}

fn role(label: &str) -> Contribution {
    let label = label.to_lowercase();
    match label.trim() {
        "t" | "theory" => Contribution::Theory,
        "e" | "experiment" => Contribution::Experiment,
        "a" | "application" => Contribution::Application,
        "m" | "method" => Contribution::Method,
        _ => Contribution::Other,
    }
}

fn relevance(word: &str) -> Relevance {
    match word.to_lowercase().as_str() {
        "high" => Relevance::High,
        "low" => Relevance::Low,
        _ => Relevance::Medium,
    }
}

/// Adds the relations of `value` to `graph`, whose segments are tagged.
///
/// # Errors
/// When the reply has no such list.
pub(super) fn relate(
    value: &Value,
    candidates: usize,
    graph: &mut ContributionGraph,
) -> Result<(), String> {
    for relation in json::list(value, &["relationships", "relations"])?.iter().take(MOST_EDGES) {
        let symbol = json::text(relation.get("symbol"));
        match edge(&symbol, candidates, graph) {
            Some((from, to)) => {
                let rationale = json::text(relation.get("rationale"));
                graph.edges.push(ContributionEdge { from, to, rationale });
            }
            None => graph.dropped_edges += 1,
        }
    }
    Ok(())
}

/// `[1]E -> [2]T` and `[1]E → [Q]`; labels may be words or absent.
static SYMBOL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*\[?(\d{1,3})\]?\s*\[?([a-z]*)\]?\s*(?:->|→|=>|-->)\s*(?:\[?(q)(?:uery|uestion)?\]?|\[?(\d{1,3})\]?\s*\[?([a-z]*)\]?)\s*$",
    )
});

fn edge(
    symbol: &str,
    candidates: usize,
    graph: &mut ContributionGraph,
) -> Option<(usize, ContributionTarget)> {
    let found = SYMBOL.captures(symbol)?;
    let place = |group: usize| -> Option<usize> {
        let index: usize = found.get(group)?.as_str().parse().ok()?;
        index.checked_sub(1).filter(|place| *place < candidates)
    };
    let label = |group: usize| found.get(group).map_or("", |label| label.as_str());
    let from = place(1)?;
    if found.get(3).is_some() {
        return Some((segment_of(graph, from, label(2)), ContributionTarget::Query));
    }
    let to = place(4)?;
    let from = segment_of(graph, from, label(2));
    let to = segment_of(graph, to, label(5));
    (from != to).then_some((from, ContributionTarget::Segment(to)))
}

/// The segment of a candidate with this label: without one its first. One that was not tagged is added at the end.
fn segment_of(graph: &mut ContributionGraph, evidence: usize, label: &str) -> usize {
    let wanted = (!label.is_empty()).then(|| role(label));
    let known = graph.segments.iter().position(|segment| {
        segment.evidence == evidence && wanted.is_none_or(|wanted| segment.role == wanted)
    });
    known.unwrap_or_else(|| {
        graph.segments.push(ContributionSegment {
            evidence,
            role: wanted.unwrap_or(Contribution::Other),
            description: String::new(),
            relevance: Relevance::Medium,
        });
        graph.segments.len() - 1
    })
}

/// What is kept and what is not.
///
/// # Errors
/// When the reply has no such list.
pub(super) fn selection(value: &Value, candidates: usize) -> Result<Selection, String> {
    let mut ranked: Vec<(usize, usize, String)> = json::list(value, &["final_selection"])?
        .iter()
        .filter_map(|item| {
            let rank = json::whole(item.get("rank")).unwrap_or(usize::MAX);
            Some((rank, place(item, candidates)?, json::text(item.get("justification"))))
        })
        .collect();
    ranked.sort_by_key(|(rank, ..)| *rank);
    let mut selection = Selection::default();
    for (_, place, why) in ranked {
        if selection.kept.iter().all(|(known, _)| *known != place) {
            selection.kept.push((place, why));
        }
    }
    let discarded = value.get("discarded_items").and_then(Value::as_array);
    for item in discarded.into_iter().flatten() {
        if let Some(place) = place(item, candidates)
            && selection.kept.iter().chain(&selection.discarded).all(|(known, _)| *known != place)
        {
            selection.discarded.push((place, json::text(item.get("reason"))));
        }
    }
    Ok(selection)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_of_candidates_that_are_there() {
        let reply = json!({"papers": [
            {"paper_index": 2, "segments": [{"label": "E", "description": "A  trial.", "relevance": "High"}, {"label": "Theory", "relevance": "low"}]},
            {"paper_index": "1", "segments": [{"label": "x"}]},
            {"paper_index": 0, "segments": [{"label": "E"}]},
            {"paper_index": 4, "segments": [{"label": "E"}]},
            {"paper_index": 3}
        ]});
        let read: Vec<_> = tags(&reply, 3)
            .expect("a list")
            .into_iter()
            .map(|one| (one.evidence, one.role.letter(), one.relevance, one.description))
            .collect();
        let expected = [
            (0, "other", Relevance::Medium, String::new()),
            (1, "E", Relevance::High, "A trial.".to_owned()),
            (1, "T", Relevance::Low, String::new()),
        ];
        assert_eq!(read, expected);
        assert!(tags(&json!({"a": []}), 3).is_err());
    }

    #[test]
    fn relations_are_read_in_many_spellings() {
        let mut graph = ContributionGraph {
            segments: tags(
                &json!({"papers": [{"paper_index": 1, "segments": [{"label": "E"}, {"label": "T"}]}]}),
                2,
            )
            .expect("a list"),
            ..ContributionGraph::default()
        };
        let symbols = ["[1]E -> [Q]", "[1]T → [2]M", "1E->Q", "[2] -> [1]", "[2]method -> [Query]"];
        let wrong = ["[1]E -> [1]E", "[3]E -> [Q]", "[1]E", "", "[0]T -> [Q]"];
        let relation = |symbol: &&str| json!({"symbol": symbol, "rationale": "r"});
        let all: Vec<Value> = symbols.iter().chain(&wrong).map(relation).collect();
        relate(&json!({"relationships": all}), 2, &mut graph).expect("a list");
        assert_eq!(graph.dropped_edges, wrong.len());
        let read: Vec<_> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        use ContributionTarget::{Query, Segment};
        assert_eq!(read, [(0, Query), (1, Segment(2)), (0, Query), (2, Segment(0)), (2, Query)]);
        assert_eq!(graph.segments[2].role, Contribution::Method, "named before it was tagged");
    }

    #[test]
    fn a_selection_is_ranked_and_names_nobody_twice() {
        let reply = json!({
            "final_selection": [
                {"paper_index": 3, "justification": "no rank"},
                {"paper_index": 1, "rank": 2, "justification": "second"},
                {"paper_index": 2, "rank": 1, "justification": "first"},
                {"paper_index": 1, "rank": 3, "justification": "again"},
                {"paper_index": 9, "rank": 1}
            ],
            "discarded_items": [{"paper_index": 1, "reason": "kept all the same"}, {"paper_index": 4, "reason": "off topic"}]
        });
        let read = selection(&reply, 4).expect("a list");
        let kept: Vec<_> = read.kept.iter().map(|(at, why)| (*at, why.as_str())).collect();
        assert_eq!(kept, [(1, "first"), (0, "second"), (2, "no rank")]);
        assert_eq!(read.discarded, [(3, "off topic".to_owned())]);
        assert_eq!(selection(&json!({"final_selection": []}), 4), Ok(Selection::default()));
        assert!(selection(&json!({}), 4).is_err());
    }
}
