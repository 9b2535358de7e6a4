//! Follow-up questions: the question made whole, and earlier evidence under its numbers.
//!
//! 1. The follow-up is made a question that stands alone ([`whole_in_code`]): by the model where there is one, else in code. It is
//!    shown ([`Event::Resolved`]), because everything after it is found for this question.
//! 2. Passages that earlier answers quoted are ranked with what the search finds.
//! 3. References of earlier answers keep their numbers; new ones go on after them.
//!
//! Source: ours; the paper answers single questions.

mod whole;

use scholar_core::Question;

use crate::event::Event;
use crate::frame::Frame;
use crate::thread::Thread;

pub use whole::whole_in_code;

/// The question of `frame` made whole, shown and kept in the trace.
pub(crate) async fn resolve(frame: &Frame<'_>, thread: &Thread) -> Question {
    let (text, by) = whole::whole(frame, thread).await;
    let question = Question::new(&text).unwrap_or_else(|_| frame.question.clone());
    frame.emit(&Event::Resolved { question: question.as_str().to_owned(), by });
    question
}
