//! How an answer was explored: its outline and its tree of retrievals, while it grows and when it is whole.

use maud::{Markup, PreEscaped, html};
use scholar_core::{Answer, ExpansionDecision, NodeState, Outline, TreeNode};
use scholar_formats::exploration::{Exploration, fragment};
use scholar_pipeline::Event;

use super::text::{counted, text};

/// What is known of a tree under way.
#[derive(Debug, Default)]
pub(super) struct Growing {
    outline: Option<Outline>,
    nodes: Vec<Twig>,
}

/// A node so far.
#[derive(Debug, Default)]
struct Twig {
    id: String,
    query: String,
    /// What was found for it and whether that was enough.
    decided: Option<String>,
    ended: Option<TreeNode>,
    merged: Option<String>,
}

impl Growing {
    /// Takes an event; whether anything changed.
    pub(super) fn see(&mut self, event: &Event) -> bool {
        match event {
            Event::Outlined { outline } => self.outline = Some(outline.clone()),
            Event::NodeBegan { id, query } => self.node(id).query.clone_from(query),
            Event::NodeDecided { id, papers, decision, neighbours, .. } => {
                let found = counted(*papers, "paper", "papers");
                self.node(id).decided = Some(match decision {
                    ExpansionDecision::Sufficient => format!("{found} found, sufficient"),
                    ExpansionDecision::Expanded => {
                        format!("{found} found, expanded over citations by {neighbours}")
                    }
                });
            }
            Event::NodeEnded { node } => {
                let twig = self.node(&node.id);
                if let Some(query) = node.path.last() {
                    twig.query.clone_from(query);
                }
                twig.ended = Some((**node).clone());
            }
            Event::Merged { id, children, passages, .. } => {
                let told = format!("merged with {children} below it over {passages} passages");
                self.node(id).merged = Some(told);
            }
            _ => return false,
        }
        true
    }

    fn node(&mut self, id: &str) -> &mut Twig {
        let at = self.nodes.iter().position(|one| one.id == id).unwrap_or_else(|| {
            self.nodes.push(Twig { id: id.to_owned(), ..Twig::default() });
            self.nodes.len() - 1
        });
        &mut self.nodes[at]
    }

    /// What the page shows of it; nothing before anything is known.
    pub(super) fn render(&self) -> Markup {
        html! {
            @if let Some(outline) = &self.outline {
                h3 { "Outline" }
                @if outline.sections.is_empty() { p.prose { (text(&outline.text)) } }
                @else { ol { @for section in &outline.sections { li { (text(&section.heading)) " (" (section.share.round()) " %)" } } } }
            }
            @if !self.nodes.is_empty() {
                h3 { "Tree of retrievals" }
                ul.tree {
                    @for node in self.nodes.iter().filter(|node| self.above(&node.id).is_none()) { (self.branch(node, 0)) }
                }
            }
        }
    }

    /// The node that this one is below, where it is there.
    fn above(&self, id: &str) -> Option<&Twig> {
        let above = match id.rsplit_once('.') {
            _ if id == "0" => return None,
            Some((above, _)) => above,
            None => "0",
        };
        self.nodes.iter().find(|node| node.id == above)
    }

    fn branch(&self, node: &Twig, depth: usize) -> Markup {
        let below = |one: &&Twig| self.above(&one.id).is_some_and(|above| above.id == node.id);
        let children: Vec<&Twig> = self.nodes.iter().filter(below).collect();
        html! {
            li {
                span.soft { (text(&node.id)) } " " (text(&node.query)) " " span.soft { "– " (text(&state_of(node))) }
                // No tree is deeper; one that a faulty record makes deeper is not followed.
                @if !children.is_empty() && depth < 12 { ul { @for child in children { (self.branch(child, depth + 1)) } } }
            }
        }
    }
}

fn state_of(node: &Twig) -> String {
    let mut told: Vec<String> = node.decided.iter().cloned().collect();
    match &node.ended {
        None => told.push("under way".to_owned()),
        Some(ended) => {
            let state = match ended.state {
                NodeState::Answered => "answered",
                NodeState::NoEvidence => "no evidence",
                NodeState::Failed => "failed",
                NodeState::Skipped => "skipped",
            };
            told.push(state.to_owned());
            if !ended.evidence.is_empty() {
                let kept = ended.evidence.iter().filter(|one| one.kept).count();
                told.push(format!("{kept} of {} kept", ended.evidence.len()));
            }
            told.extend(ended.reason.clone());
        }
    }
    told.extend(node.merged.clone());
    told.join("; ")
}

/// Outline, drawing and tree of an answer, with all their texts; nothing for an answer without. `drawing` is the address of
/// the drawing.
pub(super) fn section(answer: &Answer, drawing: &str) -> Markup {
    let Some(exploration) = Exploration::of(answer) else { return html! {} };
    html! {
        section.explored aria-labelledby="explored" {
            h2 #explored { "How it was explored" }
            div.drawing tabindex="0" role="region" aria-label="Drawing of outline, tree and contributions; it may be wider than the window" {
                img src=(drawing) alt="Outline, tree of retrievals and contributions. All that is drawn stands as text below.";
            }
            p { a href=(drawing) download="exploration.svg" { "Save the drawing (SVG)" } }
            // Made of escaped text by the function that writes the page of `runs explain --html`.
            (PreEscaped(fragment(exploration)))
        }
    }
}

#[cfg(test)]
mod tests {
    use scholar_testing::{exploration, hostile};

    use super::*;

    #[test]
    fn a_tree_grows_with_its_nodes_in_their_places() {
        let answer = exploration::sample();
        let tree = answer.tree.clone().expect("a tree");
        let mut growing = Growing::default();
        assert_eq!(growing.render().into_string(), "");
        for node in tree.nodes.iter().take(4) {
            let query = node.path.last().cloned().unwrap_or_default();
            assert!(growing.see(&Event::NodeBegan { id: node.id.clone(), query }));
        }
        let shown = growing.render().into_string();
        assert_eq!(shown.matches("under way").count(), 4, "{shown}");
        assert_eq!(shown.matches("<ul").count(), shown.matches("</ul>").count());
        assert!(shown.contains("<ul class=\"tree\"><li>") && shown.contains("<ul><li>"), "{shown}");
        for node in tree.nodes {
            growing.see(&Event::NodeEnded { node: Box::new(node) });
        }
        let shown = growing.render().into_string();
        assert!(!shown.contains("under way") && shown.contains("kept"), "{shown}");
        assert!(!growing.see(&Event::Finished { abstained: false }));
    }

    #[test]
    fn nothing_of_a_tree_is_obeyed() {
        for string in hostile::STRINGS {
            let answer = exploration::hostile(&string.text());
            let whole = section(&answer, "/runs/x/drawing.svg").into_string();
            assert!(hostile::obeyed(&whole).is_empty(), "{whole}");
            let mut growing = Growing::default();
            if let Some(outline) = answer.outline {
                growing.see(&Event::Outlined { outline });
            }
            for node in answer.tree.into_iter().flat_map(|tree| tree.nodes) {
                growing.see(&Event::NodeEnded { node: Box::new(node) });
            }
            let shown = growing.render().into_string();
            assert!(hostile::obeyed(&shown).is_empty(), "{shown}");
        }
    }
}
