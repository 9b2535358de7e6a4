//! Evidence-first answers: a digest of verbatim sentences, selected, grouped and cited in code.
//!
//! For a small language model or none. What such a model was measured to do badly (citing, judging, joining) is done in code
//! ([`config::EvidenceConfig`] has the choices); what it does passably is asked for on top and checked: search
//! queries where code finds the question uncovered, headings, and a synthesis of at most five sentences.
//!
//! ```text
//! passages → sentences that may be shown → scores → choice without repetition
//!          → checks in code ⇄ search (≤ 3 rounds) → enough to answer? → parts → digest → [headings, synthesis]
//! ```

pub mod config;

mod abstain;
mod assemble;
mod candidate;
mod checks;
mod condense;
mod desk;
mod direction;
mod facet;
mod filter;
mod informative;
mod model;
mod pattern;
mod question;
mod score;
mod select;
mod synthesis;
mod terms;

use std::collections::BTreeSet;

use scholar_core::{
    Answer, AnswerMode, AnswerSentence, Citation, Notice, NoticeKind, PortError, Query, Question,
    Ranked,
};

pub use abstain::Diagnosis;
pub use config::{EvidenceConfig, EvidenceIs};

use crate::event::{Event, Observer};
use crate::ports::Ports;
use assemble::Digest;
use desk::Desk;
use facet::Facet;
use informative::Side;
use question::Reading;
use terms::Abbreviations;

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

/// Answers `question` with sentences of `evidence`, best passage first. Forty to sixty passages of up to three per paper are
/// right: sentences are selected, so more than `top_n` are of use.
///
/// # Errors
/// When the encoder fails. Searches, headings and synthesis that fail are notices.
pub async fn evidence_first(
    ports: &Ports,
    question: &Question,
    evidence: Vec<Ranked>,
    config: &EvidenceConfig,
    observer: &dyn Observer,
) -> Result<EvidenceAnswer, PortError> {
    let mut desk = Desk::lay_out(ports, question, evidence, (config, observer)).await?;
    let (searched, mut notices) = checks::run(&mut desk).await?;
    let diagnosis = desk.diagnosis();
    if ports.encoder.is_none() {
        let message = "no encoder is configured: sentences were compared by their words alone";
        notices.push(Notice::new(NoticeKind::Weak, message));
    }
    let enough = diagnosis.probability >= config.abstain_below && !desk.chosen.is_empty();
    let mut result = EvidenceAnswer {
        answer: Answer {
            question: question.as_str().to_owned(),
            mode: AnswerMode::Evidence,
            abstained: !enough,
            sentences: Vec::new(),
            references: Vec::new(),
        },
        notices: Vec::new(),
        relevance: Vec::new(),
        diagnosis,
        searched,
        evidence: Vec::new(),
    };
    if enough {
        notices.extend(missing(&desk, &result.diagnosis));
        compose(&desk, &mut result, &mut notices).await;
    } else {
        notices.push(insufficient(&desk, &result));
    }
    for notice in &notices {
        desk.emit(&Event::Noticed { notice: notice.clone() });
    }
    result.notices = notices;
    result.evidence = desk.evidence;
    Ok(result)
}

/// The digest at once, then what the model makes of it.
async fn compose(desk: &Desk<'_>, result: &mut EvidenceAnswer, notices: &mut Vec<Notice>) {
    let mut parts = assemble::parts(desk);
    let mut digest = assemble::digest(desk, &parts);
    for sentence in &digest.sentences {
        desk.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    notices.extend(assemble::retractions(desk, &digest.references));
    let synthesis = ask_model(desk, &mut parts, &mut digest, notices).await;
    for sentence in &synthesis {
        desk.emit(&Event::Sentence { sentence: sentence.clone() });
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
    desk: &Desk<'_>,
    parts: &mut [Facet],
    digest: &mut Digest,
    notices: &mut Vec<Notice>,
) -> Vec<AnswerSentence> {
    let Some(rules) = &desk.config.synthesis else { return Vec::new() };
    let (sources, shown) = synthesis::sources(desk, digest, rules.max_prompt_tokens);
    let (written, problem) = synthesis::write(desk, (&shown, &sources), rules).await;
    notices.extend(problem);
    if desk.config.headings {
        // Same beginning as the synthesis prompt, so that a local model reads the evidence once.
        notices.extend(model::title_parts(desk, (&shown, &sources), parts).await);
        let headings = parts.iter().flat_map(|part| part.members.iter().map(|_| &part.heading));
        for (sentence, heading) in digest.sentences.iter_mut().zip(headings) {
            sentence.heading = Some(heading.clone());
        }
    }
    written
}

/// Key terms and parts of the question that the evidence is silent about.
fn missing(desk: &Desk<'_>, diagnosis: &Diagnosis) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !diagnosis.missing_terms.is_empty() {
        let message = format!("nothing found on {}", quoted(&diagnosis.missing_terms));
        notices.push(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
    let silent: Vec<String> = (0..desk.reading.parts.len())
        .filter(|part| {
            !desk
                .chosen
                .iter()
                .any(|at| facet::part_of(&desk.scored[*at].candidate, &desk.reading) == Some(*part))
        })
        .map(|part| desk.reading.parts[part].heading.clone())
        .filter(|heading| !diagnosis.missing_terms.contains(heading))
        .collect();
    if !silent.is_empty() {
        let message = format!("no sentence found for the part {}", quoted(&silent));
        notices.push(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
    let topic = desk.chosen.iter().map(|at| desk.scored[*at].topic).fold(0.0, f32::max);
    if topic < WHOLE_TOPIC && diagnosis.missing_terms.is_empty() {
        let message =
            "no sentence found speaks of all that the question names: read them as near to it";
        notices.push(Notice::new(NoticeKind::Weak, message));
    }
    notices
}

/// That there is no answer, what was searched and what came nearest.
fn insufficient(desk: &Desk<'_>, result: &EvidenceAnswer) -> Notice {
    let searched: Vec<String> =
        result.searched.iter().map(|query| query.as_str().to_owned()).collect();
    let mut message = format!(
        "the evidence does not suffice: {} passages were read, searched for {}",
        desk.evidence.len(),
        quoted(&searched)
    );
    if !result.diagnosis.missing_terms.is_empty() {
        message.push_str("; none mentions ");
        message.push_str(&quoted(&result.diagnosis.missing_terms));
    }
    let mut nearest: Vec<String> = Vec::new();
    let by_sentence = desk.scored.iter().map(|scored| scored.candidate.passage);
    for passage in by_sentence.chain(0..desk.evidence.len()) {
        let title = &desk.evidence[passage].retrieved.passage.title;
        if nearest.len() < NEAREST && !nearest.contains(title) {
            nearest.push(title.clone());
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

#[cfg(test)]
mod tests;
