//! From passages to a digest, or to the reason why there is none.

use std::collections::BTreeSet;

use scholar_core::paper::display_title;
use scholar_core::{
    Answer, AnswerSentence, Citation, Notice, NoticeKind, PortError, Query, Question, Ranked,
};

use super::abstain::Diagnosis;
use super::assemble::{self, Digest};
use super::facet::{self, Facet};
use super::informative::Side;
use super::question::Reading;
use super::state::DigestState;
use super::terms::Abbreviations;
use super::{checks, model, synthesis};
use crate::event::Event;
use crate::frame::Frame;

/// Share of the topic in its best sentence below which a person is told that nothing speaks of all of it.
const WHOLE_TOPIC: f32 = 0.7;
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
    let mut state = DigestState::new(frame, evidence).await?;
    let (searched, mut notices) = checks::run(&mut state).await?;
    let diagnosis = state.diagnosis();
    if frame.ports.encoder.is_none() {
        let message = "no encoder is configured: sentences were compared by their words alone";
        notices.push(Notice::new(NoticeKind::Weak, message));
    }
    let enough =
        diagnosis.probability >= frame.config.evidence.abstain_below && !state.chosen.is_empty();
    let mut result = EvidenceAnswer {
        answer: Answer { abstained: !enough, ..frame.no_answer() },
        notices: Vec::new(),
        relevance: Vec::new(),
        diagnosis,
        searched,
        evidence: Vec::new(),
    };
    if enough {
        notices.extend(missing(&state, &result.diagnosis));
        compose(&state, &mut result, &mut notices).await;
    } else {
        notices.push(insufficient(&state, &result));
    }
    for notice in &notices {
        state.frame.emit(&Event::Noticed { notice: notice.clone() });
    }
    result.notices = notices;
    result.evidence = state.evidence;
    Ok(result)
}

/// The digest at once, then what the model makes of it.
async fn compose(state: &DigestState<'_>, result: &mut EvidenceAnswer, notices: &mut Vec<Notice>) {
    let mut parts = assemble::parts(state);
    let mut digest = assemble::digest(state, &parts);
    for sentence in &digest.sentences {
        state.frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    notices.extend(assemble::retractions(state, &digest.references));
    let synthesis = ask_model(state, &mut parts, &mut digest, notices).await;
    for sentence in &synthesis {
        state.frame.emit(&Event::Sentence { sentence: sentence.clone() });
        let best = sentence.citations.iter().filter_map(|citation| {
            let cites = |shown: &AnswerSentence| shown.citations.contains(citation);
            digest.sentences.iter().position(cites).map(|nth| digest.relevance[nth])
        });
        result.relevance.push(best.fold(0.0, f32::max));
    }
    let Digest { sentences, references, relevance, origins: _ } = digest;
    result.relevance.extend(relevance);
    result.answer.sentences = synthesis.into_iter().chain(sentences).collect();
    result.answer.references = references;
}

/// Headings and synthesis, where they are wanted and there is a model.
async fn ask_model(
    state: &DigestState<'_>,
    parts: &mut [Facet],
    digest: &mut Digest,
    notices: &mut Vec<Notice>,
) -> Vec<AnswerSentence> {
    let Some(rules) = &state.config().synthesis else { return Vec::new() };
    let shown = synthesis::sources(state, digest, rules.max_prompt_tokens);
    let (written, problem) = synthesis::write(state, &shown, rules).await;
    notices.extend(problem);
    if state.config().headings {
        // Same beginning as the synthesis prompt, so that a local model reads the evidence once.
        notices.extend(model::title_parts(state, &shown, parts).await);
        let headings = parts.iter().flat_map(|part| part.members.iter().map(|_| &part.heading));
        for (sentence, heading) in digest.sentences.iter_mut().zip(headings) {
            sentence.heading = Some(heading.clone());
        }
    }
    written
}

/// Key terms and parts of the question that the evidence is silent about.
fn missing(state: &DigestState<'_>, diagnosis: &Diagnosis) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !diagnosis.missing_terms.is_empty() {
        let message = format!("nothing found on {}", quoted(&diagnosis.missing_terms));
        notices.push(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
    let silent: Vec<String> = (0..state.reading.parts.len())
        .filter(|part| {
            !state.chosen.iter().any(|at| {
                facet::part_of(&state.scored[*at].candidate, &state.reading) == Some(*part)
            })
        })
        .map(|part| state.reading.parts[part].heading.clone())
        .filter(|heading| !diagnosis.missing_terms.contains(heading))
        .collect();
    if !silent.is_empty() {
        let message = format!("no sentence found for the part {}", quoted(&silent));
        notices.push(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
    let topic = state.chosen.iter().map(|at| state.scored[*at].topic).fold(0.0, f32::max);
    if topic < WHOLE_TOPIC && diagnosis.missing_terms.is_empty() {
        let message =
            "no sentence found speaks of all that the question names: read them as near to it";
        notices.push(Notice::new(NoticeKind::Weak, message));
    }
    notices
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
    let by_sentence = state.scored.iter().map(|scored| scored.candidate.passage);
    for passage in by_sentence.chain(0..state.evidence.len()) {
        let passage = &state.evidence[passage].retrieved.passage;
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
    if !reading.asks_effect {
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
