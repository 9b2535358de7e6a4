//! One node of the tree with all its texts.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;
use scholar_core::{ContributionGraph, NodeState, TreeEvidence, TreeNode};

use crate::exploration::index::{self, Exploration, Papers};
use crate::exploration::words::{self, Spent};
use crate::fragment::is_web;

/// The node's element up to where nodes below it stand; it is not closed. The root and its children are unfolded.
pub(super) fn begun(node: &TreeNode, exploration: Exploration<'_>, papers: &Papers<'_>) -> String {
    let class = match node.state {
        NodeState::Answered => "answered",
        NodeState::NoEvidence => "no-evidence",
        NodeState::Failed => "failed",
        NodeState::Skipped => "skipped",
    };
    let unfolded = if node.id == "0" { " open" } else { "" };
    let mut html = format!(
        "<details class=\"node {class}\"{unfolded}>\n<summary>{} <span dir=\"auto\">{}</span> <span class=\"state\">{}</span></summary>\n",
        escape_html(&node.id),
        escape_html(index::query(node)),
        words::state(node.state)
    );
    let mut facts: Vec<String> = words::decision(node).into_iter().collect();
    if !node.evidence.is_empty() {
        facts.push(words::kept(node));
    }
    facts.push(Spent::by(std::slice::from_ref(node)).words());
    let _infallible = writeln!(html, "<p class=\"facts\">{}.</p>", facts.join("; "));
    html.push_str(&paragraph("Why", node.reason.as_deref()));
    if !node.evidence.is_empty() {
        html.push_str("<ol class=\"candidates\">\n");
        for (at, evidence) in node.evidence.iter().enumerate() {
            html.push_str(&candidate(node, (at, evidence), exploration, papers));
        }
        html.push_str("</ol>\n");
    }
    if let Some(graph) = &node.contributions {
        html.push_str(&chains(node, graph));
        html.push_str(&folded("Analysis of the contributions", graph.analysis.as_deref()));
    }
    html.push_str(&folded(
        "Answer of this node, not part of the final one",
        node.answer.as_deref(),
    ));
    for gap in &node.gaps {
        html.push_str(&paragraph("Missing", Some(gap)));
    }
    html
}

fn candidate(
    node: &TreeNode,
    (at, evidence): (usize, &TreeEvidence),
    exploration: Exploration<'_>,
    papers: &Papers<'_>,
) -> String {
    let (class, sign) = if evidence.kept { ("kept", "kept") } else { ("discarded", "discarded") };
    let number = evidence.reference.map_or_else(String::new, |number| {
        let in_list = exploration.references.iter().any(|one| one.number == number);
        match in_list {
            true => format!("<a href=\"#ref-{0}\">[{0}]</a> ", number.0),
            false => format!("[{}] ", number.0),
        }
    });
    let year = evidence.year.map(|year| format!(" ({year})")).unwrap_or_default();
    let name = linked(&evidence.title, exploration.link(evidence));
    let mut html = format!(
        "<li class=\"{class}\"><p>{number}<span class=\"name\">{name}</span>{year} <span class=\"sign\">{sign}</span></p>\n"
    );
    let mut facts = vec![words::origin(&evidence.origin, papers)];
    facts.extend(evidence.score.map(|score| format!("score {score:.2}")));
    facts.push(evidence.paper.to_string());
    let passages: Vec<String> = evidence.passages.iter().map(ToString::to_string).collect();
    if !passages.is_empty() {
        facts.push(format!("passages {}", passages.join(", ")));
    }
    let _infallible = writeln!(html, "<p class=\"facts\">{}</p>", escape_html(&facts.join("; ")));
    html.push_str(&paragraph("Kept", evidence.rationale.as_deref()));
    html.push_str(&paragraph("Discarded", evidence.discarded.as_deref()));
    let mut roles = String::new();
    for (_, segment) in index::segments(node.contributions.as_ref(), at) {
        let (role, relevance) = (segment.role.name(), segment.relevance.name());
        let text = escape_html(&segment.description);
        let _infallible = writeln!(
            roles,
            "<li>{role}, {relevance} relevance: <span dir=\"auto\">{text}</span></li>"
        );
    }
    if !roles.is_empty() {
        let _infallible = write!(html, "<ul>\n{roles}</ul>\n");
    }
    html + "</li>\n"
}

fn chains(node: &TreeNode, graph: &ContributionGraph) -> String {
    let (counting, pruned) = index::chains(node, graph);
    let mut html = String::new();
    if !counting.is_empty() {
        html.push_str("<p>Chains to the query (Q), in which #4 is the fourth candidate above:</p>\n<ul class=\"chains\">\n");
        for chain in &counting {
            let _infallible = writeln!(html, "<li>{}</li>", escape_html(chain));
        }
        html.push_str("</ul>\n");
    }
    for (why, n) in &pruned {
        let _infallible = writeln!(
            html,
            "<p class=\"facts\">{} pruned: {}</p>",
            words::count(*n, "chain"),
            escape_html(why)
        );
    }
    if graph.dropped_edges > 0 {
        let _infallible = writeln!(
            html,
            "<p class=\"facts\">{} left out: of a candidate that is not there, or to itself.</p>",
            words::count(graph.dropped_edges, "relation")
        );
    }
    html
}

fn paragraph(what: &str, text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| {
        format!("<p>{what}: <span dir=\"auto\">{}</span></p>\n", escape_html(text))
    })
}

fn folded(what: &str, text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| {
        format!(
            "<details>\n<summary>{what}</summary>\n<p class=\"prose\" dir=\"auto\">{}</p>\n</details>\n",
            escape_html(text)
        )
    })
}

/// A title, as a link where there is an address of the web.
pub(super) fn linked(title: &str, link: Option<String>) -> String {
    let title = escape_html(title);
    match link.filter(|url| is_web(url)) {
        Some(url) => {
            format!("<a href=\"{}\" rel=\"noreferrer\" dir=\"auto\">{title}</a>", escape_html(&url))
        }
        None => format!("<span dir=\"auto\">{title}</span>"),
    }
}
