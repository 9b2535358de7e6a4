//! Reflective refinement: feedback and revision until the critic is content, nothing changes, or the rounds are used up.
//!
//! Source: arXiv 2511.14362 §3.4; specification A8.

use scholar_core::text::markers::{between_markers, remove_markers};

use super::desk::Desk;
use super::merge::renumber;
use super::variant::Variant;
use crate::event::Event;
use crate::frame::Frame;
use crate::modes::generative::{accept_revision, revised_text};
use crate::prompts;
use crate::write::Manuscript;
use crate::write::parts::Parts;

/// What a critic writes when an answer needs no more work. Source: released code.
const CONTENT: &str = "[terminate]";
/// Most items of one round. Ours.
const MOST_ITEMS: usize = 5;

/// The items of a reply, or `None` where the critic is content. A reply with neither is one item.
fn items(reply: &str) -> Option<Vec<String>> {
    if reply.to_lowercase().contains(CONTENT) {
        return None;
    }
    let text = remove_markers(&between_markers(reply).text);
    let marked: Vec<String> = text
        .lines()
        .filter_map(|line| {
            let line = line.trim_start_matches(|c: char| !c.is_alphabetic());
            let item = line.get(..9).filter(|start| start.eq_ignore_ascii_case("feedback:"))?;
            Some(line[item.len()..].trim().to_owned())
        })
        .filter(|item| !item.is_empty())
        .take(MOST_ITEMS)
        .collect();
    let whole = text.trim();
    match (marked.is_empty(), whole.is_empty()) {
        (false, _) => Some(marked),
        (true, false) => Some(vec![whole.to_owned()]),
        (true, true) => None,
    }
}

/// Revises `manuscript` in at most `rounds` rounds.
pub(super) async fn refine(
    frame: &Frame<'_>,
    variant: Variant,
    outline: &str,
    manuscript: &mut Manuscript,
    rounds: usize,
) {
    let desk = Desk::new(frame, "");
    for round in 0..rounds {
        if frame.over_budget().is_some() {
            return;
        }
        let values = [
            ("question", frame.question.as_str()),
            ("outline", outline),
            ("answer", manuscript.text.as_str()),
        ];
        let call = frame.config.scirag.sampling.feedback;
        let feedback = match desk.text("feedback", prompts::SCIRAG_FEEDBACK, &values, call).await {
            Ok(reply) => items(&reply),
            Err(error) => return frame.skipped("feedback", &error),
        };
        let Some(items) = feedback else { return };
        let pairs = items.iter().map(|item| (item.clone(), None)).collect();
        frame.emit(&Event::Feedback { items: pairs });
        let Some(revised) = edit(&desk, variant, outline, manuscript, &items).await else { return };
        if revised == manuscript.text {
            return;
        }
        let (accepted, reason) = accept(frame, variant, &manuscript.text, &revised);
        let text = accepted.then(|| revised.clone());
        let new_evidence = Vec::new();
        frame.emit(&Event::Revised { item: round, accepted, reason, new_evidence, text });
        if !accepted {
            return;
        }
        manuscript.text = revised;
    }
}

async fn edit(
    desk: &Desk<'_>,
    variant: Variant,
    outline: &str,
    manuscript: &Manuscript,
    items: &[String],
) -> Option<String> {
    let frame = desk.frame;
    let call = frame.config.scirag.sampling.edit;
    let feedback: String = items.iter().map(|item| format!("- {item}\n")).collect();
    let values = [
        ("question", frame.question.as_str()),
        ("outline", outline),
        ("answer", manuscript.text.as_str()),
        ("feedback", feedback.as_str()),
        ("form", variant.prose),
    ];
    let prompt = prompts::SCIRAG_EDIT;
    match desk.whole_over("edit", prompt, &values, &manuscript.visible, call).await {
        Ok(reply) => {
            let exists = |number: usize| (number < manuscript.registry.len()).then_some(number);
            Some(renumber(&revised_text(&reply), exists).0)
        }
        Err(error) => {
            frame.skipped("the revision", &error);
            None
        }
    }
}

/// Whether a revision counts, and why.
fn accept(frame: &Frame<'_>, variant: Variant, before: &str, after: &str) -> (bool, String) {
    if variant.is_report {
        let longest = *frame.config.writing.length.words().end();
        accept_revision(&Parts::read(before), &Parts::read(after), longest)
    } else {
        let has = after.contains(char::is_alphanumeric);
        (has, if has { "it has text" } else { "the revision is empty" }.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_marked_lines_and_a_content_critic_ends() {
        let reply = "[Response_Start]\nFeedback: Say how large.\n2. **Feedback: Merge.**\nfeedback: \n[Response_End]";
        assert_eq!(items(reply), Some(vec!["Say how large.".to_owned(), "Merge.**".to_owned()]));
        assert_eq!(items("[Response_Start][Terminate][Response_End]"), None);
        assert_eq!(items("Say more on doses."), Some(vec!["Say more on doses.".to_owned()]));
        assert_eq!(items("[Response_Start] [Response_End]"), None);
    }
}
