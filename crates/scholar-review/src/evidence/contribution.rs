//! The nearest earlier work to each claimed contribution, sentence beside sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use scholar_core::{AnswerRole, AnswerSentence, PaperId, PaperMeta, PortError};

use super::items::Item;
use super::numbering::Numbering;
use super::soundness::Looked;
use super::study::{Line, Study, studies};
use super::terms::{Term, terms};
use super::vectors::Vectors;
use crate::desk::Desk;
use crate::report::{
    Contribution, Dimension, DimensionReview, EvidenceOrigin, Funnel, ItemState, Overlap,
    PriorWork, ReviewModule, ScoredPaper, Statement,
};

/// Papers set beside a statement.
const NEAREST: usize = 5;
/// Sentences of the closest paper set beside a statement.
const OF_CLOSEST: usize = 2;
/// Least nearness of a paper that is called near, with an encoder and without. Ours, seen on public ideas.
const NEAR: f32 = 0.42;
const NEAR_BY_WORDS: f32 = 0.18;
/// Papers of the map.
const MAPPED: usize = 40;

/// Sets the nearest work beside every statement, in order.
///
/// # Errors
/// When a model fails.
pub(super) fn contribution(
    desk: &Desk<'_>,
    looked: &[Looked<'_>],
    subject: &str,
    vectors: &mut Vectors<'_>,
    numbering: &mut Numbering,
) -> Result<Contribution, PortError> {
    let mut reviews: Vec<DimensionReview> = Vec::new();
    let mut nearest = Vec::new();
    let mut measured: BTreeMap<PaperId, (Arc<PaperMeta>, EvidenceOrigin, Option<f32>)> =
        BTreeMap::new();
    let mut found: BTreeSet<&PaperId> = BTreeSet::new();
    for Looked { item, read } in looked {
        let review = dimension(&mut reviews, item.dimension);
        review.dimension.statements.push(item.text.clone());
        let id = review.dimension.id.clone();
        let read = match read {
            Ok(read) => read,
            Err(reason) => {
                desk.failed(ReviewModule::Contribution, "search", &item.id, reason);
                review.state = ItemState::Failed(reason.clone());
                continue;
            }
        };
        found.extend(&read.found);
        let studies = studies(&read.papers, &item.key, subject, vectors)?;
        for study in &studies {
            let meta = Arc::clone(&study.paper.meta);
            let known = (meta, study.paper.origin.clone(), study.on_subject);
            measured.entry(study.paper.meta.id.clone()).or_insert(known);
        }
        let (work, quoted) = beside(item, &id, &studies, vectors, numbering);
        review.strengths.extend(not_found(&work));
        review.weaknesses.extend(quoted);
        nearest.push(work);
    }
    let funnel = Funnel { found: found.len(), compared: measured.len(), ..Funnel::default() };
    let papers = papers(measured, numbering);
    Ok(Contribution {
        reviews,
        comparisons: Vec::new(),
        nearest,
        papers,
        funnel,
        model_novelty: None,
    })
}

fn dimension<'r>(reviews: &'r mut Vec<DimensionReview>, name: &str) -> &'r mut DimensionReview {
    let at = reviews.iter().position(|one| one.dimension.name == name).unwrap_or_else(|| {
        let id = format!("D{}", reviews.len() + 1);
        reviews.push(DimensionReview {
            dimension: Dimension {
                id,
                name: name.to_owned(),
                statements: Vec::new(),
                queries: Vec::new(),
            },
            state: ItemState::Ok,
            strengths: Vec::new(),
            weaknesses: Vec::new(),
            suggestions: Vec::new(),
            model_novelty: None,
        });
        reviews.len() - 1
    });
    &mut reviews[at]
}

/// The nearest papers beside a statement, and their sentences as statements that cite.
fn beside(
    item: &Item,
    dimension: &str,
    studies: &[Study<'_>],
    vectors: &Vectors<'_>,
    numbering: &mut Numbering,
) -> (PriorWork, Vec<Statement>) {
    let from = if vectors.has_encoder() { NEAR } else { NEAR_BY_WORDS };
    let near = studies.iter().filter(|study| study.near >= from && !study.lines.is_empty());
    let near: Vec<&Study<'_>> = near.take(NEAREST).collect();
    let (mut overlaps, mut further, mut quoted) = (Vec::new(), Vec::new(), Vec::new());
    let mut closest = None;
    for (nth, study) in near.iter().enumerate() {
        let reference = numbering.of(&study.paper.meta, &study.paper.passages);
        closest = closest.or(Some(reference));
        let most = if nth == 0 { OF_CLOSEST } else { 1 };
        for (rank, line) in best_lines(study, most).into_iter().enumerate() {
            let passage = &study.paper.passages[line.passage].passage;
            let overlap = Overlap {
                idea: item.text.clone(),
                quote: line.sentence.quote(passage, reference),
                section: passage.section.clone(),
                cosine: line.cosine,
            };
            if rank == 0 {
                overlaps.push(overlap);
            } else {
                further.push(overlap);
            }
            quoted.push(line.statement(study.paper, reference, &item.text, None));
        }
    }
    overlaps.extend(further);
    let of_statement = terms(&item.key);
    let shared = near
        .first()
        .map(|study| named(of_statement.iter().filter(|term| term.is_in(&study.stems))));
    let absent =
        of_statement.iter().filter(|term| !studies.iter().any(|one| term.is_in(&one.stems)));
    let work = PriorWork {
        dimension: dimension.to_owned(),
        statement: item.text.clone(),
        closest,
        overlaps,
        shared: shared.unwrap_or_default(),
        not_found: named(absent),
        read: studies.len(),
    };
    (work, quoted)
}

fn named<'t>(terms: impl Iterator<Item = &'t Term>) -> Vec<String> {
    terms.map(|term| term.words.clone()).collect()
}

/// The nearest sentences of a study, the nearest first; what it tells of others only where it tells nothing else.
fn best_lines<'s>(study: &'s Study<'_>, most: usize) -> Vec<&'s Line> {
    let mut lines: Vec<&Line> = study.lines.iter().collect();
    lines.sort_by(|a, b| {
        a.is_of_others().cmp(&b.is_of_others()).then(b.weight().total_cmp(&a.weight()))
    });
    let mut kept: Vec<&Line> = Vec::new();
    for line in lines {
        if kept.len() < most && !kept.iter().any(|other| other.overlaps(line)) {
            kept.push(line);
        }
    }
    kept
}

/// That nothing of what was read for a statement has some of its terms.
fn not_found(work: &PriorWork) -> Option<Statement> {
    if work.not_found.is_empty() || work.read == 0 {
        return None;
    }
    let terms: Vec<String> = work.not_found.iter().map(|term| format!("“{term}”")).collect();
    let papers = if work.read == 1 { "paper" } else { "papers" };
    let text = format!(
        "Not found in the literature searched ({} {papers} read for this): {}.",
        work.read,
        terms.join(", ")
    );
    let sentence = AnswerSentence {
        heading: Some(work.statement.clone()),
        paragraph_start: true,
        role: Some(AnswerRole::Gap),
        ..AnswerSentence::uncited(text)
    };
    Some(Statement { sentence, rests_on: Vec::new(), measured: None })
}

/// Every paper that was read with its cosine to the idea, the nearest first, without an encoder by identifier.
fn papers(
    measured: BTreeMap<PaperId, (Arc<PaperMeta>, EvidenceOrigin, Option<f32>)>,
    numbering: &Numbering,
) -> Vec<ScoredPaper> {
    let scored = |(meta, origin, cosine): (Arc<PaperMeta>, EvidenceOrigin, Option<f32>)| {
        let paper = meta.as_ref().clone();
        ScoredPaper { paper, origin, relevance: None, rationale: String::new(), cosine }
    };
    let mut papers: Vec<ScoredPaper> = measured.into_values().map(scored).collect();
    let value = |one: &ScoredPaper| one.cosine.unwrap_or(-1.0);
    papers.sort_by(|a, b| value(b).total_cmp(&value(a)));
    // What is quoted has its place on the map, however far it is from the idea as a whole.
    let quoted = papers.iter().filter(|one| numbering.has(&one.paper.id)).count();
    let mut room = MAPPED.saturating_sub(quoted);
    papers.retain(|one| {
        let is_quoted = numbering.has(&one.paper.id);
        let stays = is_quoted || room > 0;
        room = room.saturating_sub(usize::from(!is_quoted));
        stays
    });
    papers
}
