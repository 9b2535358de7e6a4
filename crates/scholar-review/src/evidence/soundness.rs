//! The nearest studies to each method and supposition: what they did and found, and where a judge sees agreement or conflict.

use scholar_core::{Judgement, Notice, NoticeKind, PortError, Support, Verdict};
use scholar_pipeline::Ports;
use scholar_pipeline::proof::believed;

use super::gather::{PaperRead, Read};
use super::items::Item;
use super::numbering::Numbering;
use super::study::{Line, Study, studies};
use super::vectors::Vectors;
use crate::desk::Desk;
use crate::report::{
    Bearing, Evidence, EvidenceTier, ItemState, Method, MethodReview, Soundness, Statement,
};

/// Studies shown of an item.
const STUDIES: usize = 4;
/// Least nearness of a study that is shown, with an encoder and without. Ours, seen on public ideas.
const NEAR: f32 = 0.40;
const NEAR_BY_WORDS: f32 = 0.16;
/// Least nearness of a sentence that is shown: another one of the paper says nothing of the item.
const LINE: f32 = 0.3;
const LINE_BY_WORDS: f32 = 0.08;
/// Least probability of a role for a sentence to be shown as what was done or found.
const ROLE: f32 = 0.5;
/// What telling much adds to the nearness of a finding.
const TELLS: f32 = 0.15;
/// Sentences of one study that a judge reads beside one supposition.
const JUDGED: usize = 4;
/// Least nearness of a sentence that a judge reads, and least probability at which its agreement counts: on twenty public ideas the
/// shipped judge saw agreement three times between 0.6 and 0.8, each time with a sentence on another matter.
const JUDGED_NEAR: f32 = 0.4;
const AGREES: f32 = 0.8;

/// One item with what was read for it; `Err` is why nothing was.
pub(super) struct Looked<'a> {
    pub(super) item: &'a Item,
    pub(super) read: Result<&'a Read, String>,
}

/// Reviews every item, in order.
///
/// # Errors
/// When a model fails.
pub(super) async fn soundness(
    desk: &Desk<'_>,
    looked: &[Looked<'_>],
    subject: &str,
    vectors: &mut Vectors<'_>,
    numbering: &mut Numbering,
) -> Result<Soundness, PortError> {
    let mut reviews = Vec::new();
    for Looked { item, read } in looked {
        let method = Method { id: item.id.clone(), text: item.text.clone() };
        reviews.push(match read {
            Err(reason) => nothing(method, ItemState::Failed(reason.clone())),
            Ok(read) => review(desk, (item, subject), method, read, vectors, numbering).await?,
        });
    }
    Ok(Soundness { summary: None, reviews })
}

fn nothing(method: Method, state: ItemState) -> MethodReview {
    MethodReview {
        method,
        state,
        query: String::new(),
        evidence: Vec::new(),
        irrelevant: 0,
        support: Vec::new(),
        contradictions: Vec::new(),
        suggested_action: Vec::new(),
        related: Vec::new(),
        model_score: None,
    }
}

async fn review(
    desk: &Desk<'_>,
    (item, subject): (&Item, &str),
    method: Method,
    read: &Read,
    vectors: &mut Vectors<'_>,
    numbering: &mut Numbering,
) -> Result<MethodReview, PortError> {
    let all = studies(&read.papers, &item.key, subject, vectors)?;
    let from = if vectors.has_encoder() { NEAR } else { NEAR_BY_WORDS };
    let line_from = if vectors.has_encoder() { LINE } else { LINE_BY_WORDS };
    let near: Vec<&Study<'_>> = all.iter().filter(|study| study.near >= from).collect();
    let bearings = match &item.claim {
        Some(claim) => judged(desk, claim, &near).await?,
        None => vec![Vec::new(); near.len()],
    };
    // What bears on a supposition is shown before what is only near.
    let mut order: Vec<usize> = (0..near.len()).collect();
    order.sort_by_key(|at| bearings[*at].is_empty());
    order.truncate(STUDIES);
    let heading = method.text.clone();
    let mut review = nothing(method, ItemState::Ok);
    let mut shown: Vec<&PaperRead> = Vec::new();
    for at in order {
        let (study, bears) = (near[at], &bearings[at]);
        let chosen = chosen(study, bears, line_from);
        if chosen.is_empty() {
            continue;
        }
        let reference = numbering.of(&study.paper.meta, &study.paper.passages);
        shown.push(study.paper);
        for (line, bearing) in chosen {
            let statement = line.statement(study.paper, reference, &heading, bearing.clone());
            place(&mut review, statement);
        }
    }
    review.query.clone_from(&read.query);
    review.irrelevant = read.papers.len() - shown.len();
    review.evidence = evidence(shown);
    Ok(review)
}

fn place(review: &mut MethodReview, statement: Statement) {
    let bearing = statement.measured.as_ref().and_then(|measured| measured.bearing.as_ref());
    if bearing.is_some_and(Bearing::agrees) {
        review.support.push(statement);
    } else if bearing.is_some_and(Bearing::conflicts) {
        review.contradictions.push(statement);
    } else {
        review.related.push(statement);
    }
}

/// The sentences shown of a study, in reading order: what bears on the supposition, else what was done; and what was found.
fn chosen<'s>(
    study: &'s Study<'_>,
    bears: &[(usize, Bearing)],
    from: f32,
) -> Vec<(&'s Line, Option<Bearing>)> {
    let mut places: Vec<(usize, Option<Bearing>)> =
        bears.iter().take(1).map(|(at, bearing)| (*at, Some(bearing.clone()))).collect();
    let best = |weight: &dyn Fn(&Line) -> Option<f32>, taken: &[(usize, Option<Bearing>)]| {
        let weighed = study.lines.iter().enumerate().filter_map(|(at, line)| {
            let is_taken = taken.iter().any(|(known, _)| study.lines[*known].overlaps(line));
            Some((weight(line).filter(|_| !is_taken && line.near >= from)?, at))
        });
        // The first of equals.
        let best = weighed.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        best.map(|(_, at)| at)
    };
    let did = |line: &Line| (line.did >= ROLE).then_some(line.did * line.near);
    let found = |line: &Line| {
        (line.found >= ROLE).then_some(line.found * (line.near + TELLS * line.sentence.informative))
    };
    let did = best(&did, &places);
    places.extend(did.map(|at| (at, None)));
    if bears.is_empty() {
        let found = best(&found, &places);
        places.extend(found.map(|at| (at, None)));
    }
    places.sort_by_key(|(at, _)| *at);
    places.into_iter().map(|(at, bearing)| (&study.lines[at], bearing)).collect()
}

/// Of each study the sentences that a judge sees for or against `claim`, the surest first.
async fn judged(
    desk: &Desk<'_>,
    claim: &str,
    near: &[&Study<'_>],
) -> Result<Vec<Vec<(usize, Bearing)>>, PortError> {
    let mut asked: Vec<(usize, usize)> = Vec::new();
    for (nth, study) in near.iter().enumerate() {
        let is_asked = |line: &Line| line.near >= JUDGED_NEAR && line.found >= ROLE;
        let mut places: Vec<usize> =
            (0..study.lines.len()).filter(|at| is_asked(&study.lines[*at])).collect();
        places.sort_by(|a, b| study.lines[*b].near.total_cmp(&study.lines[*a].near));
        asked.extend(places.into_iter().take(JUDGED).map(|at| (nth, at)));
    }
    let text = |(nth, at): &(usize, usize)| near[*nth].lines[*at].sentence.text.as_str();
    let pairs: Vec<(&str, &str)> = asked.iter().map(|place| (claim, text(place))).collect();
    let ports = &desk.frame.ports;
    let verdicts = match ports.attributor.judge(&pairs).await {
        Ok(verdicts) if verdicts.len() == pairs.len() => verdicts,
        Ok(verdicts) => {
            let message =
                format!("{} judgements of {} sentences were left out", verdicts.len(), pairs.len());
            desk.frame.notice(Notice::new(NoticeKind::Skipped, message));
            Vec::new()
        }
        Err(error) => {
            desk.frame.skipped("agreement with a supposition", &error);
            Vec::new()
        }
    };
    let mut bearings: Vec<Vec<(usize, Bearing)>> = vec![Vec::new(); near.len()];
    for ((place, pair), verdict) in asked.iter().zip(&pairs).zip(verdicts) {
        if let Some(judged) = decided(ports, *pair, verdict) {
            bearings[place.0].push((place.1, Bearing { claim: claim.to_owned(), judged }));
        }
    }
    for found in &mut bearings {
        found.sort_by(|a, b| sureness(&b.1.judged).total_cmp(&sureness(&a.1.judged)));
    }
    Ok(bearings)
}

/// The judgement, where it is agreement or conflict.
fn decided(ports: &Ports, (claim, text): (&str, &str), verdict: Judgement) -> Option<Support> {
    let judge = ports.attributor.as_ref();
    let Judgement { verdict, score } = believed(judge, claim, text, verdict);
    let counts = match verdict {
        Verdict::Supported => score >= AGREES,
        Verdict::Contradicted => true,
        Verdict::Partial | Verdict::Unsupported => false,
    };
    counts.then(|| Support { verdict, score, judge: judge.name().to_owned() })
}

/// How sure a decided judgement is, in `[0, 1]`.
fn sureness(judged: &Support) -> f32 {
    if judged.verdict == Verdict::Contradicted { 1.0 - judged.score } else { judged.score }
}

/// The papers shown, oldest first, undated before dated.
fn evidence(mut shown: Vec<&PaperRead>) -> Vec<Evidence> {
    shown.sort_by_key(|paper| paper.meta.latest_day());
    let one = |(at, paper): (usize, &PaperRead)| {
        let mut sections: Vec<String> = Vec::new();
        for hit in &paper.passages {
            if !sections.contains(&hit.passage.section) {
                sections.push(hit.passage.section.clone());
            }
        }
        let is_abstract =
            |hit: &scholar_core::Retrieved| hit.passage.kind == scholar_core::PassageKind::Abstract;
        Evidence {
            key: format!("E{}", at + 1),
            paper: paper.meta.as_ref().clone(),
            tier: if paper.passages.iter().all(is_abstract) {
                EvidenceTier::AbstractOnly
            } else if paper.passages.iter().any(is_abstract) {
                EvidenceTier::FullText
            } else {
                EvidenceTier::SnippetOnly
            },
            passages: paper.passages.iter().map(|hit| hit.passage.id.clone()).collect(),
            sections,
            origin: paper.origin.clone(),
            summarised: Vec::new(),
        }
    };
    shown.into_iter().enumerate().map(one).collect()
}
