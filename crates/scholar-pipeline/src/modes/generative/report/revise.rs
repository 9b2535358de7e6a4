//! One revision by all feedback at once: fewer tokens than one for each item, and a text of one piece.

use std::ops::RangeInclusive;

use scholar_core::{AnswerRole, Query};

use super::super::{refine, revise as text_of};
use super::words;
use crate::event::Event;
use crate::evidence::Evidence;
use crate::frame::Frame;
use crate::prompts;
use crate::retrieve::{self, Round};
use crate::write::parts::Parts;
use crate::write::{Manuscript, reference_block};

/// New passages shown for one feedback item, best first. Ours: three items then cost as many tokens as the draft.
pub(super) const NEW_PER_ITEM: usize = 3;
/// Least share of the findings that a revision keeps. Ours.
const KEPT_FINDINGS: f64 = 0.8;
/// How far beyond its longest a text may be. Ours: the model counts words only roughly.
const OVER_LENGTH: f64 = 1.15;

/// Asks for feedback, searches for what it wants, and revises the manuscript once.
pub(super) async fn revise(frame: &Frame<'_>, manuscript: &mut Manuscript) {
    let most = frame.config.feedback.items;
    if most == 0 || frame.over_budget().is_some() {
        return;
    }
    let mut items: Vec<String> = Vec::new();
    let mut new: Vec<Evidence> = Vec::new();
    for item in refine::feedback_items(frame, &manuscript.text).await.into_iter().take(most) {
        let query = item.question.as_deref().filter(|_| frame.config.feedback.retrieve);
        if let Some(query) = query.and_then(Query::new) {
            let queries = [query.clone()];
            let registry = &mut manuscript.registry;
            let found = retrieve::gather(frame, &queries, &query, Round::Feedback, registry).await;
            // Failed searches were reported one by one.
            new.extend(found.unwrap_or_default().into_iter().take(NEW_PER_ITEM));
        }
        items.push(item.text);
    }
    let before = Parts::read(&manuscript.text);
    let budget = frame.config.writing.length.words();
    items.extend(about_length(before.words(), &budget));
    if items.is_empty() || frame.over_budget().is_some() {
        return;
    }
    let feedback: String = items.iter().map(|item| format!("- {item}\n")).collect();
    let call = frame.config.sampling.edit;
    let words = words(frame.config);
    let values = [
        ("question", frame.question.as_str()),
        ("answer", manuscript.text.as_str()),
        ("feedback", feedback.as_str()),
        ("words", words.as_str()),
    ];
    let shown = [manuscript.visible.as_slice(), &new].concat();
    let references = reference_block(frame, prompts::REPORT_REVISE, &values, &shown, call);
    let values = [&values[..], &[("references", references.as_str())]].concat();
    let reply = match frame.call("edit", prompts::REPORT_REVISE, &values, call).await {
        Ok(reply) => reply.text,
        Err(error) => {
            frame.skipped("the revision", &error);
            return;
        }
    };
    let revised = text_of::revised_text(&reply);
    let (accepted, reason) = accept(&before, &Parts::read(&revised), *budget.end());
    let new_evidence = new.iter().map(|evidence| evidence.number).collect();
    let text = accepted.then(|| revised.clone());
    frame.emit(&Event::Revised { item: 0, accepted, reason, new_evidence, text });
    if accepted {
        manuscript.text = revised;
        manuscript.visible = shown;
    }
}

/// What a text outside of its budget is told.
fn about_length(words: usize, budget: &RangeInclusive<usize>) -> Option<String> {
    let beyond = float(words) > float(*budget.end()) * OVER_LENGTH;
    beyond.then(|| {
        format!("The answer has {words} words; cut it to at most {} by leaving out what answers the question least.", budget.end())
    })
}

/// Whether a revision counts: it keeps the form and most findings, and stays in the budget or nears it.
pub(crate) fn accept(before: &Parts, after: &Parts, longest: usize) -> (bool, String) {
    let findings = |parts: &Parts| parts.count(AnswerRole::Finding);
    let (had, has) = (findings(before), findings(after));
    let (long, now) = (before.words(), after.words());
    if after.sentences.is_empty() {
        return (false, "the revision is empty".to_owned());
    }
    let shorter_was_wanted = float(long) > float(longest) * OVER_LENGTH;
    if float(has) < float(had) * KEPT_FINDINGS && !shorter_was_wanted {
        return (false, format!("the revision has {has} findings of {had}"));
    }
    if float(now) > float(longest) * OVER_LENGTH && now >= long {
        return (false, format!("the revision has {now} words, more than {longest}"));
    }
    (true, format!("{has} findings in {now} words, {had} in {long} before"))
}

#[expect(clippy::cast_precision_loss, reason = "texts stay far below 2^53 words")]
fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_keeps_findings_and_budget() {
        let text = |findings: usize, words: usize| {
            let finding =
                |n: usize| format!("F{n} | Cells {n} {} grow. [0]\n", "x ".repeat(words - 3));
            Parts::read(&(0..findings).map(finding).collect::<String>())
        };
        let check = |before: &Parts, after: &Parts| accept(before, after, 100).0;
        assert_eq!(text(5, 10).words(), 50);
        assert!(check(&text(5, 10), &text(5, 12)));
        assert!(check(&text(5, 10), &text(4, 10)) && !check(&text(5, 10), &text(3, 10)));
        assert!(!check(&text(5, 20), &text(6, 20)), "120 of 100 words");
        assert!(check(&text(10, 20), &text(6, 20)), "shorter, as was asked");
        assert!(!check(&text(5, 10), &Parts::read("")));
        assert!(
            about_length(116, &(50..=100)).is_some() && about_length(114, &(50..=100)).is_none()
        );
    }
}
