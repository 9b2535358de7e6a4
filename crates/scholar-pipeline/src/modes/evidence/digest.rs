//! From passages to a digest, or to the reason why there is none.

use std::collections::BTreeSet;

use scholar_core::paper::display_title;
use scholar_core::{
    Answer, AnswerSentence, Citation, Notice, NoticeKind, PortError, Query, Question, Ranked,
};

use super::abstain::Diagnosis;
use super::assemble::{self, Digest};
use super::config::SynthesisRules;
use super::informative::Side;
use super::question::{Kind, Reading};
use super::sentence_signs::SentenceDiagnosis;
use super::spelling::{corrected, corrections};
use super::state::DigestState;
use super::survey::survey;
use super::terms::Abbreviations;
use super::{checks, synthesis};
use crate::event::Event;
use crate::frame::Frame;

/// Titles named when the evidence does not suffice.
const NEAREST: usize = 3;

/// A digest and what a person should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceAnswer {
    /// The answer, sentences and references numbered from 1.
    pub answer: Answer,
    /// Every notice, each of which the observer has seen as [`Event::Noticed`] already.
    pub notices: Vec<Notice>,
    /// Relevance to the question of each sentence of the answer, in `[0, 1]`; a synthesis sentence has that of its best source.
    pub relevance: Vec<f32>,
    /// What the decision to answer rests on.
    pub diagnosis: Diagnosis,
    /// Sentences of the most probable papers, with what they are chosen by.
    pub sentences: Vec<SentenceDiagnosis>,
    /// What was searched by the checks, the question first.
    pub searched: Vec<Query>,
    /// All passages, the given ones first, then those the checks found.
    pub evidence: Vec<Ranked>,
}

/// Answers the frame's question with sentences of `evidence`, best passage first. Forty to sixty passages of up to three per
/// paper are right: sentences are selected, so more than `top_n` are of use.
///
/// # Errors
/// When the encoder fails. Searches, headings and synthesis that fail are notices.
pub async fn digest(frame: &Frame<'_>, evidence: Vec<Ranked>) -> Result<EvidenceAnswer, PortError> {
    let passages = evidence.iter().map(|ranked| &ranked.retrieved.passage);
    let corrections = corrections(frame.question.as_str(), passages);
    let asked = corrected(frame.question.as_str(), &corrections);
    let mut state = DigestState::new(frame, asked, evidence).await?;
    let (searched, found) = checks::run(&mut state).await?;
    let mut notices: Vec<Notice> = corrections
        .iter()
        .map(|one| {
            let message = format!("“{}” was read as “{}”", one.written, one.read);
            Notice::new(NoticeKind::Weak, message)
        })
        .chain(found)
        .collect();
    let diagnosis = state.diagnosis();
    let is_sure = state.is_sure();
    let survey = survey(&mut state).await?;
    notices.extend(without_models(&state));
    let enough = is_sure && !state.chosen.is_empty();
    let searched = searched.into_iter().chain(survey.searched).collect();
    notices.extend(survey.notices);
    let mut result = EvidenceAnswer {
        answer: Answer { abstained: !enough, ..frame.no_answer() },
        notices: Vec::new(),
        relevance: Vec::new(),
        diagnosis,
        sentences: state.sentences(),
        searched,
        evidence: Vec::new(),
    };
    if enough {
        notices.extend(missing(&result.diagnosis));
        let rules = state.config().synthesis.as_ref();
        compose(&state, (assemble::digest(&state), rules), &mut result, &mut notices).await;
    } else {
        notices.push(insufficient(&state, &result));
        if !survey.is_chosen {
            state.choose_nearest();
        }
        compose(&state, (assemble::chosen(&state), None), &mut result, &mut notices).await;
    }
    for notice in &notices {
        state.frame.emit(&Event::Noticed { notice: notice.clone() });
    }
    result.notices = notices;
    result.evidence = state.evidence;
    Ok(result)
}

/// What sentences could not be compared with.
fn without_models(state: &DigestState<'_>) -> Option<Notice> {
    let message = if state.frame.ports.encoder.is_none() {
        "no encoder is configured: sentences were compared by their words alone"
    } else if state.classifier().is_none() {
        "no sentence classifier reads this encoder's vectors: sentences were chosen by similarity and wording"
    } else {
        return None;
    };
    Some(Notice::new(NoticeKind::Weak, message))
}

/// The digest at once, then what the model makes of it by the rules, if there are any.
async fn compose(
    state: &DigestState<'_>,
    (digest, rules): (Digest, Option<&SynthesisRules>),
    result: &mut EvidenceAnswer,
    notices: &mut Vec<Notice>,
) {
    emit(state, &digest.sentences);
    notices.extend(assemble::retractions(state, &digest.references));
    let synthesis = match rules {
        Some(rules) => ask_model(state, &digest, rules, notices).await,
        None => Vec::new(),
    };
    emit(state, &synthesis);
    for sentence in &synthesis {
        let best = sentence.citations.iter().filter_map(|citation| {
            let cites = |shown: &AnswerSentence| shown.citations.contains(citation);
            digest.sentences.iter().position(cites).map(|nth| digest.relevance[nth])
        });
        result.relevance.push(best.fold(0.0, f32::max));
    }
    let Digest { mut sentences, references, relevance, origins: _ } = digest;
    for sentence in &mut sentences {
        sentence.follows.iter_mut().for_each(|at| *at += synthesis.len());
    }
    result.relevance.extend(relevance);
    result.answer.sentences = synthesis.into_iter().chain(sentences).collect();
    result.answer.references = references;
}

fn emit(state: &DigestState<'_>, sentences: &[AnswerSentence]) {
    for sentence in sentences {
        state.frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
}

/// The synthesis, where there is a model.
async fn ask_model(
    state: &DigestState<'_>,
    digest: &Digest,
    rules: &SynthesisRules,
    notices: &mut Vec<Notice>,
) -> Vec<AnswerSentence> {
    let shown = synthesis::sources(state, digest, rules.max_prompt_tokens);
    let (written, problem) = synthesis::write(state, &shown, rules).await;
    notices.extend(problem);
    written
}

/// Words of the question that the evidence does not use. That it says nothing of the matter does not follow.
fn missing(diagnosis: &Diagnosis) -> Option<Notice> {
    (!diagnosis.missing_terms.is_empty()).then(|| {
        let words = if diagnosis.missing_terms.len() == 1 { "word" } else { "words" };
        let message =
            format!("no paper found uses the {words} {}", quoted(&diagnosis.missing_terms));
        Notice::new(NoticeKind::InsufficientEvidence, message)
    })
}

/// That there is no answer, what was searched and what came nearest.
fn insufficient(state: &DigestState<'_>, result: &EvidenceAnswer) -> Notice {
    let searched: Vec<String> =
        result.searched.iter().map(|query| query.as_str().to_owned()).collect();
    let mut message = format!(
        "the evidence does not suffice: {} passages were read, searched for {}",
        state.evidence.len(),
        quoted(&searched)
    );
    if !result.diagnosis.missing_terms.is_empty() {
        message.push_str("; none mentions ");
        message.push_str(&quoted(&result.diagnosis.missing_terms));
    }
    let mut nearest: Vec<String> = Vec::new();
    // The order in which the nearest are quoted, too.
    let by_paper = state.papers.iter().filter_map(|paper| {
        state.evidence.iter().find(|one| one.retrieved.passage.id.paper == paper.id)
    });
    for ranked in by_paper.chain(&state.evidence) {
        let passage = &ranked.retrieved.passage;
        let title = display_title(&passage.title, &passage.id.paper).into_owned();
        if nearest.len() < NEAREST && !nearest.contains(&title) {
            nearest.push(title);
        }
    }
    if !nearest.is_empty() {
        message.push_str("; the nearest found: ");
        message.push_str(&quoted(&nearest));
    }
    Notice::new(NoticeKind::InsufficientEvidence, message)
        .with_hint("ask in other words, or add papers on the subject")
}

/// Papers of the answer that report an effect, and that report none, if that is what the question asks.
pub(crate) fn reported_effects(question: &Question, answer: &Answer) -> Option<[usize; 2]> {
    let reading = Reading::of(question.as_str(), &Abbreviations::default());
    if reading.kind != Kind::Effect {
        return None;
    }
    let papers = |side: Side| {
        let on_side = answer.sentences.iter().filter(|sentence| {
            sentence.verbatim && Side::on(&sentence.text, &reading) == Some(side)
        });
        let papers: BTreeSet<Citation> =
            on_side.flat_map(|sentence| sentence.citations.iter().copied()).collect();
        papers.len()
    };
    Some([papers(Side::Effect), papers(Side::NoEffect)])
}

fn quoted(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| format!("“{item}”")).collect();
    quoted.join(", ")
}
