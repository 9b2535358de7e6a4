//! The self-feedback loop: items one after another on the current text.

use scholar_core::{Generation, Notice, NoticeKind, Query};

use super::feedback::FeedbackItem;
use super::{feedback, revise};
use crate::config::{FeedbackConfig, RankNewBy};
use crate::event::Event;
use crate::evidence::Evidence;
use crate::frame::Frame;
use crate::prompts;
use crate::retrieve::queries;
use crate::retrieve::{self, Round};
use crate::write::{Manuscript, reference_block};

/// What the model would improve in `text`; empty, with a notice, where the call fails or nothing can be read.
pub(super) async fn feedback_items(frame: &Frame<'_>, text: &str) -> Vec<FeedbackItem> {
    let limit = frame.config.feedback.items.to_string();
    let values =
        [("items", limit.as_str()), ("question", frame.question.as_str()), ("answer", text)];
    let reply = match frame
        .call("feedback", prompts::FEEDBACK, &values, frame.config.sampling.feedback)
        .await
    {
        Ok(reply) => reply.text,
        Err(error) => {
            frame.skipped("feedback", &error);
            return Vec::new();
        }
    };
    let items = feedback::parse(&reply, frame.config.feedback.parser);
    if items.is_empty() {
        let message = "no feedback item could be read from the model's reply; the draft stands";
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
    }
    let pairs = items.iter().map(|item| (item.text.clone(), item.question.clone())).collect();
    frame.emit(&Event::Feedback { items: pairs });
    items
}

/// Feedback, and its items one after another on the current text.
pub(super) async fn refine(frame: &Frame<'_>, manuscript: &mut Manuscript) {
    let FeedbackConfig {
        items: most,
        parser: _,
        retrieve,
        keywords: _,
        rank_new_by: _,
        acceptance_ratio: _,
    } = frame.config.feedback;
    if most == 0 || frame.over_budget().is_some() {
        return;
    }
    let items = feedback_items(frame, &manuscript.text).await;
    for (nth, item) in items.iter().take(most).enumerate() {
        if frame.over_budget().is_some() {
            break;
        }
        let query = item.question.as_deref().filter(|_| retrieve).and_then(Query::new);
        match query {
            Some(query) => revise_with_retrieval(frame, manuscript, nth, &item.text, &query).await,
            None => revise(frame, manuscript, nth, &item.text).await,
        }
    }
}

async fn revise(frame: &Frame<'_>, manuscript: &mut Manuscript, nth: usize, item: &str) {
    let call = frame.config.sampling.edit;
    let values =
        [("question", frame.question.as_str()), ("answer", &manuscript.text), ("feedback", item)];
    let references = reference_block(frame, prompts::EDIT, &values, &manuscript.visible, call);
    let [question, answer, feedback] = values;
    let values = [question, answer, feedback, ("references", &references)];
    match frame.call("edit", prompts::EDIT, &values, call).await {
        Err(error) => frame.skipped(&format!("revision {}", nth + 1), &error),
        Ok(reply) => decide(frame, manuscript, nth, &reply, Vec::new()),
    }
}

/// Searches for the item's question and revises with what is new.
async fn revise_with_retrieval(
    frame: &Frame<'_>,
    manuscript: &mut Manuscript,
    nth: usize,
    item: &str,
    query: &Query,
) {
    let queries = queries::queries(frame, query, frame.config.feedback.keywords).await;
    let question = Query::from(frame.question);
    let rank_by = match frame.config.feedback.rank_new_by {
        RankNewBy::FeedbackQuestion => query,
        RankNewBy::Question => &question,
    };
    let found =
        retrieve::gather(frame, &queries, rank_by, Round::Feedback, &mut manuscript.registry).await;
    // Failed searches were reported one by one.
    let new = found.unwrap_or_default();
    if new.is_empty() {
        let reason = "no new passage was found for its question".to_owned();
        let (accepted, text, new_evidence) = (false, None, Vec::new());
        frame.emit(&Event::Revised { item: nth, accepted, reason, new_evidence, text });
        return;
    }
    let call = frame.config.sampling.edit;
    let values =
        [("question", frame.question.as_str()), ("answer", &manuscript.text), ("feedback", item)];
    let prompt = prompts::EDIT_WITH_RETRIEVAL;
    let references = reference_block(frame, prompt, &values, &new, call);
    let [question, answer, feedback] = values;
    let values = [question, answer, feedback, ("references", &references)];
    match frame.call("edit_with_retrieval", prompt, &values, call).await {
        Err(error) => frame.skipped(&format!("revision {}", nth + 1), &error),
        Ok(reply) => decide(frame, manuscript, nth, &reply, new),
    }
}

/// Accepts or refuses a revision; accepted evidence is visible to every later prompt.
fn decide(
    frame: &Frame<'_>,
    manuscript: &mut Manuscript,
    nth: usize,
    reply: &Generation,
    new: Vec<Evidence>,
) {
    let revised = revise::revised_text(&reply.text);
    let ratio = frame.config.feedback.acceptance_ratio;
    let (accepted, reason) = revise::accept(&manuscript.text, &revised, ratio);
    let new_evidence = new.iter().map(|evidence| evidence.number).collect();
    let text = accepted.then(|| revised.clone());
    frame.emit(&Event::Revised { item: nth, accepted, reason, new_evidence, text });
    if accepted {
        manuscript.text = revised;
        manuscript.visible.extend(new);
    }
}
