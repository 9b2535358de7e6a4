//! From a text to an answer: every sentence is proven, references are numbered.

use scholar_core::{Answer, Notice, NoticeKind};

use super::manuscript::Manuscript;
use super::sentences::draft_sentences;
use crate::error::AskError;
use crate::event::Event;
use crate::frame::Frame;
use crate::proof::{finalise, prove};

/// Proves every sentence of the manuscript and gives citations their final numbers.
///
/// # Errors
/// When the encoder fails, or the judge where the configuration says that this ends the run.
pub async fn conclude(frame: &Frame<'_>, manuscript: Manuscript) -> Result<Answer, AskError> {
    let Manuscript { mut registry, visible: _, text } = manuscript;
    let shown = registry.len();
    let draft = draft_sentences(&text);
    let proven = prove(frame, &mut registry, &draft).await.map_err(AskError::prove)?;
    frame.report_added(&registry, shown, "searches of the proof");
    let (sentences, references) = finalise(&proven.sentences, &registry);
    for sentence in &sentences {
        frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    if sentences.is_empty() {
        return Ok(frame.abstain("no sentence of the draft could be proven"));
    }
    if references.is_empty() {
        let message = "no sentence of the draft is supported by a passage that was found";
        frame.notice(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
    Ok(frame.answer(sentences, references))
}
