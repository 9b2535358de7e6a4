//! Evidence-first answers: a digest of verbatim sentences, selected, grouped and cited in code.
//!
//! For a small language model or none. What such a model was measured to do badly (citing, judging, joining) is done in code
//! ([`config::EvidenceConfig`] has the choices); a synthesis of at most five sentences by it is an option.
//!
//! ```text
//! question: kind, core concepts, parts
//! passages → papers, abstracts read on → sentences that may be shown → scores (encoder, sentence classifier)
//!          → papers clearly ahead → of each its conclusion and key result → parts by the question's kind
//!          → checks in code ⇄ search → enough to answer? → digest → [synthesis]
//! ```
//!
//! Its sentences pass the gates as they are made: a number from code, the exact span, the source's own words. Those of the
//! synthesis have gates of their own.

pub mod config;

mod abstain;
mod assemble;
mod candidate;
mod checks;
mod condense;
mod digest;
mod direction;
mod filter;
mod informative;
mod lines;
mod papers;
pub(crate) mod pattern;
mod question;
mod quotable;
mod reply;
mod score;
mod sentence_signs;
mod slots;
mod spelling;
mod state;
pub(crate) mod study;
mod survey;
mod synonyms;
mod synthesis;
mod terms;

use scholar_core::{Answer, AnswerMode, Notice, NoticeKind, Query, Question};

pub use abstain::{Diagnosis, PaperDiagnosis};
pub use config::{EvidenceConfig, EvidenceIs};
pub use digest::{EvidenceAnswer, digest};
pub use papers::PaperSigns;
pub use quotable::{Quotable, quotable};
pub use sentence_signs::{SentenceDiagnosis, SentenceSigns};

use question::Reading;
use spelling::{corrected, corrections};
use terms::Abbreviations;

use super::Mode;
use crate::budget::ExpectedCalls;
use crate::error::AskError;
use crate::frame::Frame;
use crate::retrieve::{self, Round};

/// Its entry of the registry.
pub static MODE: Mode = Mode {
    id: AnswerMode::Evidence,
    name: "evidence",
    aliases: &["evidence-first"],
    title: "evidence-first mode",
    summary: "The best supporting sentences, verbatim, grouped and ordered in code",
    needs_generator: false,
    retrieves: true,
    labels: false,
    calls: |config| match &config.evidence.synthesis {
        Some(_) => vec![ExpectedCalls { calls: 1, prompt: 1_200, completion: 150 }],
        None => Vec::new(),
    },
    run: |frame| Box::pin(run(frame)),
};

async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    let answer = answer(frame).await?.answer;
    if let (Some(labels), false) = (frame.config.task.labels(), answer.abstained) {
        frame.notice(no_label(frame.question, &answer, labels));
    }
    Ok(answer)
}

/// Retrieves broadly, then lets the evidence speak.
///
/// # Errors
/// When every search failed, or a model.
pub async fn answer(frame: &Frame<'_>) -> Result<EvidenceAnswer, AskError> {
    let question = Query::from(frame.question);
    let queries = [question.clone()];
    let mut registry = frame.registry();
    let mut shown =
        retrieve::gather(frame, &queries, &question, Round::Digest, &mut registry).await?;
    let found = shown.iter().map(|evidence| &evidence.ranked.retrieved.passage);
    // A word that was typed wrongly finds little by itself: its correction is searched for instead.
    let corrections = corrections(frame.question.as_str(), found);
    let asked = Query::new(&corrected(frame.question.as_str(), &corrections));
    if let Some(asked) = asked.filter(|_| !corrections.is_empty()) {
        let queries = [asked.clone()];
        registry = frame.registry();
        shown = retrieve::gather(frame, &queries, &asked, Round::Digest, &mut registry).await?;
    }
    let n_shown = shown.len();
    let passages = shown.into_iter().map(|evidence| evidence.ranked).collect();
    // Every notice in the result was seen by the log already.
    let result = digest(frame, passages).await.map_err(AskError::prove)?;
    for found in result.evidence.iter().skip(n_shown) {
        registry.add(found.clone());
    }
    frame.report_added(&registry, n_shown, "searches of the checks");
    Ok(result)
}

/// A part of a question that can be searched for by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facet {
    /// In the question's words.
    pub(crate) heading: String,
    /// Its words with those of the question's topic.
    pub(crate) query: String,
    /// Stems that tell it from the other parts.
    pub(crate) stems: std::collections::BTreeSet<String>,
}

/// The parts that a question itself names; none of a question that names fewer than two.
pub(crate) fn facets(question: &str) -> Vec<Facet> {
    let reading = Reading::of(question, &Abbreviations::default());
    let topic = reading.phrases.join(" ");
    let facet = |part: &question::Part| {
        let stems =
            if part.stems.is_empty() { terms::stem_set(&part.heading) } else { part.stems.clone() };
        let of_topic =
            topic.split_whitespace().filter(|word| terms::stem_set(word).is_disjoint(&stems));
        let words: Vec<&str> = part.heading.split_whitespace().chain(of_topic).collect();
        Facet { heading: part.heading.clone(), query: words.join(" "), stems }
    };
    reading.parts.iter().map(facet).collect()
}

/// That a verdict is left to the reader, with what it would rest on.
pub(crate) fn no_label(question: &Question, answer: &Answer, [yes, no]: [&str; 2]) -> Notice {
    let mut message = format!("this mode gives evidence, no label “{yes}” or “{no}”");
    if let Some([effect, none]) = digest::reported_effects(question, answer) {
        message = format!(
            "{message}; by their wording, {effect} of the papers shown report an effect and {none} report none"
        );
    }
    Notice::new(NoticeKind::Weak, message)
        .with_hint("read the sentences, or pass --mode generative with a model that may judge")
}

#[cfg(test)]
mod tests;
