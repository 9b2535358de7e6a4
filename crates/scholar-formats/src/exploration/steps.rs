//! The lines that are shown while a tree grows, indented by depth.

use scholar_core::{DecidedBy, ExpansionDecision, Outline, TreeNode};

use super::shorten;
use super::words::{self, count};

/// Characters of a query.
const QUERY: usize = 100;

/// A plan, one line a section.
pub fn outlined(outline: &Outline) -> Vec<String> {
    let mut lines = vec![format!(
        "outline of {}, planned {}",
        count(outline.sections.len(), "section"),
        words::by(outline.by)
    )];
    lines.extend(outline.sections.iter().enumerate().map(|(at, section)| {
        let heading = shorten::chars(&section.heading, QUERY);
        format!("  {:>2}. {heading} ({:.0} %)", at + 1, section.share)
    }));
    lines
}

/// A node that begins: its id and query, indented by its depth.
pub fn began(id: &str, query: &str) -> String {
    format!("{}{} {}", indent(id), shorten::chars(id, QUERY), shorten::chars(query, QUERY))
}

/// Whether the hits of a node were enough, and who decided it.
pub fn decided(
    id: &str,
    n_papers: usize,
    decision: ExpansionDecision,
    by: DecidedBy,
    n_neighbours: usize,
) -> String {
    let (found, by) = (count(n_papers, "paper"), words::by(by));
    let told = match decision {
        ExpansionDecision::Sufficient => format!("{found} found, sufficient, decided {by}"),
        ExpansionDecision::Expanded => {
            format!("{found} found, expanded over citations by {n_neighbours}, decided {by}")
        }
    };
    format!("{}  {}: {told}", indent(id), shorten::chars(id, QUERY))
}

/// A node that ended: state, papers kept of those found, and why where it has no answer or did without something.
pub fn ended(node: &TreeNode) -> String {
    let (id, state) = (shorten::chars(&node.id, QUERY), words::state(node.state));
    let mut line = format!("{}  {id}: {state}", indent(&node.id));
    if !node.evidence.is_empty() {
        let n_kept = node.evidence.iter().filter(|one| one.kept).count();
        line = format!("{line}, {n_kept} of {} kept", count(node.evidence.len(), "paper"));
    }
    match &node.reason {
        Some(why) => format!("{line} ({})", shorten::chars(why, QUERY)),
        None => line,
    }
}

/// Answers of `n_children` nodes that were merged into that of `id`.
pub fn merged(id: &str, n_children: usize, n_passages: usize) -> String {
    let (children, passages) = (count(n_children, "node"), count(n_passages, "passage"));
    let id = shorten::chars(id, QUERY);
    format!("{}  {id}: merged with {children} below it, {passages} shown", indent(&id))
}

/// Two spaces a level, the root's included.
fn indent(id: &str) -> String {
    let depth = if id == "0" { 1 } else { 2 + id.matches('.').count().min(10) };
    "  ".repeat(depth)
}

#[cfg(test)]
mod tests {
    use super::super::index;
    use scholar_testing::{exploration, hostile};

    use super::*;

    #[test]
    fn a_tree_grows_line_by_line() {
        let answer = exploration::sample();
        let outline = answer.outline.as_ref().expect("a plan");
        let nodes = &answer.tree.as_ref().expect("a tree").nodes;
        let mut lines = outlined(outline);
        for node in nodes.iter().take(4) {
            lines.push(began(&node.id, index::query(node)));
            if let (Some(decision), Some(by)) = (node.decision, node.decided_by) {
                lines.push(decided(&node.id, 5, decision, by, 3));
            }
            lines.push(ended(node));
        }
        lines.extend([ended(&nodes[6]), merged("1", 1, 9), merged("0", 2, 14)]);
        let expected = include_str!("steps/sample.txt");
        assert_eq!(lines.join("\n"), expected.trim_end(), "exploration/steps/sample.txt");
    }

    #[test]
    fn a_step_is_one_line_that_obeys_nothing() {
        for string in hostile::STRINGS {
            let answer = exploration::hostile(&string.text());
            let nodes = &answer.tree.as_ref().expect("a tree").nodes;
            for line in nodes.iter().flat_map(|node| {
                let id = string.text();
                [began(&id, index::query(node)), merged(&id, 1, 1), ended(node)]
            }) {
                assert!(!line.contains('\n') && hostile::obeyed(&line).is_empty(), "{line}");
                assert!(line.chars().count() < 500, "{line}");
            }
        }
    }
}
