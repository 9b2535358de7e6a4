//! The same steps without a strong model: facets of the question for an outline, facets without evidence for gaps, sub-queries
//! from the question's own words, roles by section and sentence classifier, chains from citations; the answer is the evidence
//! digest over all that was found.
//!
//! Deviation D77: the source needs a strong model for every step.

use std::collections::BTreeSet;

use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::{content_stems, content_words};
use scholar_core::{
    Answer, AnswerMode, Contribution, ContributionEdge, ContributionGraph, ContributionSegment,
    ContributionTarget, EmbeddedText, EvidenceOrigin, ExpansionDecision, LinkDirection, PortError,
    Query, Ranked, Relevance, SentenceInContext, SentenceRole, Side,
};

use super::candidates::{Origins, by_paper};
use super::node::{by_rule, share};
use super::tree::{Grown, grow};
use super::{chains, outline, root, with_tree};
use crate::config::AskConfig;
use crate::config::scirag::{CandidateRanking, NodeReport, SciragConfig, SufficiencyBy};
use crate::error::AskError;
use crate::event::Event;
use crate::frame::Frame;
use crate::modes::evidence::{self, Facet};
use crate::retrieve::{self, Round, rank};

/// Best passages of the first search in which facets are looked for. Ours: as many as a prompt would show.
const READ_FOR_FACETS: usize = 10;
/// Share of a facet's stems that a passage about it has. Ours, as of the parts of a digest.
const FACET_SHARE: f32 = 0.5;
/// Most sentences of a passage that are classified. Ours.
const MOST_SENTENCES: usize = 12;

/// Answers with a digest along the outline.
pub(super) async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    let began = (frame.ports.clock)();
    let question = Query::from(frame.question);
    let facets = evidence::facets(frame.question.as_str());
    let headings: Vec<String> = facets.iter().map(|facet| facet.heading.clone()).collect();
    let outline = (!headings.is_empty()).then(|| outline::of_headings(headings));
    if let Some(outline) = &outline {
        frame.emit(&Event::Outlined { outline: outline.clone() });
    }
    let mut registry = frame.registry();
    let queries = [question.clone()];
    let shown = retrieve::gather(frame, &queries, &question, Round::Digest, &mut registry).await?;
    let mut root = root(frame, &shown);
    let passages: Vec<Ranked> = shown.into_iter().map(|evidence| evidence.ranked).collect();
    let gaps = if frame.config.scirag.levels() == 0 {
        Vec::new()
    } else {
        gaps(&facets, &passages, &question)
    };
    root.gaps = gaps.iter().map(|facet| facet.heading.clone()).collect();
    let by_code = by_code(frame.config);
    let queries =
        gaps.into_iter().map(|facet| facet.query).take(by_code.scirag.breadth()).collect();
    let mut nodes = {
        let aside = frame.aside(&by_code, &frame.log);
        grow(&aside, queries).await
    };
    for node in &mut nodes {
        node.explored.record.contributions = contributions(frame, node).map_err(AskError::prove)?;
    }
    let all = joined(frame, &question, passages, &nodes).await;
    let n_shown = registry.len();
    for passage in &all {
        registry.add(passage.clone());
    }
    let digest = evidence::digest(frame, all).await.map_err(AskError::prove)?;
    for passage in digest.evidence {
        registry.add(passage);
    }
    frame.report_added(&registry, n_shown, "tree of retrievals");
    let taken = (frame.ports.clock)().saturating_sub(began);
    root.milliseconds = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX);
    let nodes = nodes.into_iter().map(|node| node.explored.record);
    let nodes = std::iter::once(root).chain(nodes).collect();
    let answer = with_tree(Answer { mode: AnswerMode::Scirag, ..digest.answer }, outline, nodes);
    if let (Some(labels), false) = (frame.config.task.labels(), answer.abstained) {
        frame.notice(evidence::no_label(frame.question, &answer, labels));
    }
    Ok(answer)
}

/// The choices of a run whose every step is code.
fn by_code(config: &AskConfig) -> AskConfig {
    let mut config = config.clone();
    config.scirag = SciragConfig {
        max_depth: 1,
        rerank: CandidateRanking::Dense,
        sufficiency: SufficiencyBy::Rule,
        node_report: NodeReport::Evidence,
        ..config.scirag
    };
    config
}

/// Facets that no good passage speaks of; a question without facets is a gap itself where its evidence is thin.
fn gaps(facets: &[Facet], passages: &[Ranked], question: &Query) -> Vec<Facet> {
    let read: Vec<BTreeSet<String>> = passages
        .iter()
        .take(READ_FOR_FACETS)
        .map(|ranked| {
            let passage = &ranked.retrieved.passage;
            content_stems(&format!("{} {}", passage.title, passage.text)).into_iter().collect()
        })
        .collect();
    if facets.is_empty() {
        let best: Vec<Ranked> = passages.iter().take(READ_FOR_FACETS).cloned().collect();
        let found = by_paper(best, &Origins::default());
        let thin = by_rule(question.as_str(), &found) == ExpansionDecision::Expanded;
        let keywords = content_words(question.as_str()).join(" ");
        return (thin && !found.is_empty() && keywords != question.as_str())
            .then(|| Facet {
                heading: "Evidence on the question as a whole".to_owned(),
                query: keywords,
                stems: BTreeSet::new(),
            })
            .into_iter()
            .collect();
    }
    let speaks = |facet: &Facet| {
        read.iter().any(|stems| {
            let has = facet.stems.intersection(stems).count();
            facet.stems.is_empty() || share(has, facet.stems.len()) >= FACET_SHARE
        })
    };
    facets.iter().filter(|facet| !speaks(facet)).cloned().collect()
}

/// Passages of the question and of the tree, best first for the question.
async fn joined(
    frame: &Frame<'_>,
    question: &Query,
    mut passages: Vec<Ranked>,
    nodes: &[Grown],
) -> Vec<Ranked> {
    let mut new = Vec::new();
    for found in nodes.iter().flat_map(|node| &node.explored.passages) {
        let id = &found.retrieved.passage.id;
        let is_known = passages.iter().any(|known| known.retrieved.passage.id == *id)
            || new.iter().any(|known: &scholar_core::Retrieved| known.passage.id == *id);
        if !is_known {
            new.push(found.retrieved.clone());
        }
    }
    if !new.is_empty() {
        let (_, ranked) = rank(frame, question, new, Round::Digest).await;
        passages.extend(ranked);
        passages.sort_by_key(|one| std::cmp::Reverse(one.score));
    }
    passages
}

/// Roles of the kept candidates, and chains along the citations by which they were found.
fn contributions(frame: &Frame<'_>, node: &Grown) -> Result<Option<ContributionGraph>, PortError> {
    let evidence = &node.explored.record.evidence;
    let mut graph = ContributionGraph::default();
    for (at, candidate) in evidence.iter().enumerate().filter(|(_, one)| one.kept) {
        let first = node
            .explored
            .passages
            .iter()
            .find(|passage| passage.retrieved.paper.id == candidate.paper);
        let Some(first) = first else { continue };
        graph.segments.push(ContributionSegment {
            evidence: at,
            role: role(frame, node.place.query(), first)?,
            description: String::new(),
            relevance: Relevance::Medium,
        });
    }
    let segment_of = |graph: &ContributionGraph, paper: &scholar_core::PaperId| {
        graph.segments.iter().position(|segment| evidence[segment.evidence].paper == *paper)
    };
    for from in 0..graph.segments.len() {
        let (to, rationale) = match &evidence[graph.segments[from].evidence].origin {
            EvidenceOrigin::Initial | EvidenceOrigin::Snippet => {
                (ContributionTarget::Query, "found by the search".to_owned())
            }
            EvidenceOrigin::Link { of, direction } => {
                let how = match direction {
                    LinkDirection::References => "cited by",
                    LinkDirection::Citations => "cites",
                };
                match segment_of(&graph, of).filter(|to| *to != from) {
                    Some(to) => (ContributionTarget::Segment(to), format!("{how} {of}")),
                    // The paper that it was found by did not stay itself.
                    None => {
                        (ContributionTarget::Query, format!("{how} {of}, which the search found"))
                    }
                }
            }
        };
        graph.edges.push(ContributionEdge { from, to, rationale });
    }
    chains::find(&mut graph, &[]);
    Ok((!graph.segments.is_empty()).then_some(graph))
}

/// The role of a passage: by the heading of its section, else by what most of its sentences are.
fn role(frame: &Frame<'_>, query: &str, passage: &Ranked) -> Result<Contribution, PortError> {
    let passage = &passage.retrieved.passage;
    if let Some(role) = role_of_heading(&passage.section) {
        return Ok(role);
    }
    let (Some(encoder), Some(classifier)) =
        (&frame.ports.encoder, &frame.ports.sentence_classifier)
    else {
        return Ok(Contribution::Other);
    };
    if !classifier.info().fits(encoder.info()) {
        return Ok(Contribution::Other);
    }
    let texts: Vec<&str> = sentence_texts(&passage.text).into_iter().take(MOST_SENTENCES).collect();
    if texts.is_empty() {
        return Ok(Contribution::Other);
    }
    let asked = encoder.encode(Side::Query, &[query])?.unit_rows();
    let vectors = encoder.encode(Side::Passage, &texts)?.unit_rows();
    let empty = Vec::new();
    let question = EmbeddedText { text: query, vector: asked.first().unwrap_or(&empty) };
    let sentences: Vec<SentenceInContext<'_>> = texts
        .iter()
        .zip(&vectors)
        .enumerate()
        .map(|(nth, (text, vector))| SentenceInContext {
            sentence: EmbeddedText { text, vector },
            before: nth.checked_sub(1).map(|at| vectors[at].as_slice()),
            after: vectors.get(nth + 1).map(Vec::as_slice),
            title: None,
            kind: passage.kind,
            section: &passage.section,
            nth,
            of: texts.len(),
        })
        .collect();
    let mut sums = [0.0_f32; 5];
    for scores in classifier.classify(question, &sentences)? {
        for (sum, value) in sums.iter_mut().zip(scores.role.to_array()) {
            *sum += value;
        }
    }
    let best = (0..sums.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b]));
    Ok(match best.map(|at| SentenceRole::ALL[at]) {
        Some(SentenceRole::Result | SentenceRole::Conclusion) => Contribution::Experiment,
        Some(SentenceRole::Method) => Contribution::Method,
        Some(SentenceRole::Background | SentenceRole::Purpose) => Contribution::Theory,
        None => Contribution::Other,
    })
}

fn role_of_heading(heading: &str) -> Option<Contribution> {
    let lower = heading.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["result", "experiment", "evaluation", "finding", "ablation"]) {
        Some(Contribution::Experiment)
    } else if has(&["method", "approach", "model", "procedure", "materials", "algorithm"]) {
        Some(Contribution::Method)
    } else if has(&["theor", "background", "related work", "introduction", "preliminar"]) {
        Some(Contribution::Theory)
    } else if has(&["application", "case study", "deployment", "practice"]) {
        Some(Contribution::Application)
    } else {
        None
    }
}
