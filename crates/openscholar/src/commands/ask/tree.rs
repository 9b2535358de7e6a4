//! The outline and the tree of retrievals in lines of a terminal, a node at a time and indented by depth.

use scholar_core::text::untrusted;
use scholar_core::{DecidedBy, ExpansionDecision, NodeState};
use scholar_pipeline::Event;

/// What an event of the tree is told as.
pub(super) fn lines(event: &Event) -> Vec<String> {
    match event {
        Event::Outlined { outline } => {
            let section = |one: &scholar_core::OutlineSection| {
                format!("  {:>3.0} %  {}", one.share, untrusted(&one.heading).line())
            };
            let head = std::iter::once("outline:".to_owned());
            head.chain(outline.sections.iter().map(section)).collect()
        }
        Event::NodeBegan { id, query } => {
            vec![format!("{}{id}  {}", indent(id), untrusted(query).line())]
        }
        Event::NodeDecided { id, papers, decision, by, neighbours } => {
            let found = format!("{papers} papers");
            let by = match by {
                DecidedBy::Model => "the model",
                DecidedBy::Rule => "rule",
                DecidedBy::Fallback => "rule, as the model's reply failed",
            };
            let text = match decision {
                ExpansionDecision::Sufficient => format!("{found}, enough by {by}"),
                ExpansionDecision::Expanded => {
                    format!("{found}, not enough by {by}: {neighbours} more by citations")
                }
            };
            vec![format!("{}    {id}: {text}", indent(id))]
        }
        Event::NodeEnded { node } => {
            let kept = node.evidence.iter().filter(|one| one.kept).count();
            let state = match node.state {
                NodeState::Answered => format!("{kept} of {} papers kept", node.evidence.len()),
                NodeState::NoEvidence => "nothing found".to_owned(),
                NodeState::Failed => "failed".to_owned(),
                NodeState::Skipped => "left out".to_owned(),
            };
            let reason = node.reason.as_deref().filter(|_| node.state != NodeState::Answered);
            let reason = reason.map(|reason| format!(" ({})", untrusted(reason).line()));
            let id = &node.id;
            vec![format!("{}    {id}: {state}{}", indent(id), reason.unwrap_or_default())]
        }
        Event::Merged { id, children, passages, .. } if id == "0" => {
            vec![format!("merged {children} sub-questions over {passages} passages")]
        }
        Event::Merged { id, children, .. } => {
            vec![format!("{}    {id}: merged with {children} below it", indent(id))]
        }
        _ => Vec::new(),
    }
}

/// Two spaces a level.
fn indent(id: &str) -> String {
    "  ".repeat(id.split('.').count())
}
