//! Outline and tree as lines for a terminal.

use std::fmt::Write as _;

use scholar_core::text::untrusted;
use scholar_core::{Citation, Outline, TreeEvidence, TreeNode};

use super::index::{self, Exploration, Papers};
use super::shorten;
use super::words::{self, Spent, count};

/// Candidates shown of a node: those kept come first.
const CANDIDATES: usize = 20;
/// Candidates shown of a tree, as far as no node has fewer than [`FEWEST`].
const OF_TREE: usize = 400;
/// Candidates shown of a node of the largest tree.
const FEWEST: usize = 3;
/// Chains shown of a node.
const CHAINS: usize = 8;
/// Characters of a title.
const TITLE: usize = 110;
/// Characters of a query, a rationale, a reason, what a section must tell.
const SENTENCE: usize = 140;
/// Longest text of a node in full: more is a flood, and `answer.json` has it.
const FULL: usize = 20_000;

/// How much of a node is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// What fits on a few screens for a whole tree: so many candidates a node.
    Brief(usize),
    /// Everything.
    Full,
}

impl Detail {
    /// `text` in one line, of at most `most` characters unless everything is told.
    fn line(self, text: &str, most: usize) -> String {
        shorten::chars(text, if self == Self::Full { FULL } else { most })
    }

    /// Candidates of a node that are shown.
    fn candidates(self) -> usize {
        match self {
            Self::Brief(candidates) => candidates,
            Self::Full => usize::MAX,
        }
    }
}

/// Outline and tree with all nodes, long texts shortened, nodes indented by depth. Every line ends with a line break.
pub fn text(exploration: Exploration<'_>) -> String {
    let mut out = String::new();
    if let Some(outline) = exploration.outline {
        plan(outline, &mut out);
    }
    let nodes = exploration.nodes();
    if exploration.tree.is_some() {
        if !out.is_empty() {
            out.push('\n');
        }
        // Writing to a string cannot fail, here and below.
        let _infallible = writeln!(out, "Tree of {}", words::summary(nodes));
        let _infallible = writeln!(out, "  {}", Spent::by(nodes).words());
    }
    let papers = Papers::of(exploration);
    let candidates = (OF_TREE / nodes.len().max(1)).clamp(FEWEST, CANDIDATES);
    for (node, depth) in nodes.iter().zip(exploration.depths()) {
        let told = Told { node, papers: &papers, detail: Detail::Brief(candidates) };
        out.push('\n');
        for line in told.lines() {
            let _infallible = writeln!(out, "{:indent$}{line}", "", indent = 2 * depth);
        }
    }
    out
}

/// The node of that id with all its texts; `None` where the tree has none.
pub fn node(exploration: Exploration<'_>, id: &str) -> Option<String> {
    let node = exploration.nodes().iter().find(|node| node.id == id)?;
    let papers = Papers::of(exploration);
    let mut out = String::new();
    for (above, query) in node.path.iter().rev().skip(1).rev().enumerate() {
        let _infallible = writeln!(out, "{:1$}{2}", "", 2 * above, untrusted(query).line());
    }
    for line in (Told { node, papers: &papers, detail: Detail::Full }).lines() {
        let _infallible = writeln!(out, "{line}");
    }
    Some(out)
}

/// At which nodes a reference of the answer was a candidate, and as what; empty where at none.
pub fn reference(exploration: Exploration<'_>, number: Citation) -> String {
    let papers = Papers::of(exploration);
    let mut out = String::new();
    for node in exploration.nodes() {
        let told = Told { node, papers: &papers, detail: Detail::Brief(CANDIDATES) };
        let evidence = node.evidence.iter().enumerate();
        for (at, one) in evidence.filter(|(_, one)| one.reference == Some(number)) {
            let (id, query) = (untrusted(&node.id).line(), index::query(node));
            let _infallible =
                writeln!(out, "found at node {id}: {}", shorten::chars(query, SENTENCE));
            let facts = told.candidate(at, one).into_iter().skip(1);
            for line in facts.chain(told.chains_of(at)) {
                let _infallible = writeln!(out, "  {}", line.trim_start());
            }
        }
    }
    out
}

fn plan(outline: &Outline, out: &mut String) {
    let _infallible = writeln!(out, "Outline, planned {}", words::by(outline.by));
    for (at, section) in outline.sections.iter().enumerate() {
        let heading = shorten::chars(&section.heading, TITLE);
        let _infallible = writeln!(out, "  {:>2}. {heading} ({:.0} %)", at + 1, section.share);
        if !section.content.trim().is_empty() {
            let _infallible = writeln!(out, "      {}", shorten::chars(&section.content, SENTENCE));
        }
    }
    if outline.sections.is_empty() {
        for line in untrusted(outline.text.trim()).block().to_string().lines().take(CANDIDATES) {
            let _infallible = writeln!(out, "  {}", shorten::chars(line, SENTENCE));
        }
    }
    if let Some(total) = outline.renormalised_from {
        let _infallible =
            writeln!(out, "  the shares came to {total:.0} % and were made to come to 100 %");
    }
}

/// One node as it is told.
struct Told<'a> {
    node: &'a TreeNode,
    papers: &'a Papers<'a>,
    detail: Detail,
}

impl Told<'_> {
    /// Lines without the indentation of the node.
    fn lines(&self) -> Vec<String> {
        let Self { node, detail, .. } = *self;
        let id = untrusted(&node.id).line();
        let mut lines = vec![
            format!("{id}  {}", detail.line(index::query(node), SENTENCE)),
            format!("   {}", self.status()),
        ];
        lines.extend(node.reason.iter().map(|why| format!("   {}", detail.line(why, SENTENCE))));
        lines.push(format!("   {}", Spent::by(std::slice::from_ref(node)).words()));
        let shown = detail.candidates();
        for (at, evidence) in node.evidence.iter().enumerate().take(shown) {
            lines.extend(self.candidate(at, evidence));
        }
        let rest = node.evidence.get(shown.min(node.evidence.len())..).unwrap_or_default();
        if !rest.is_empty() {
            let n_kept = rest.iter().filter(|one| one.kept).count();
            lines.push(format!("   and {} more, {n_kept} of them kept", rest.len()));
        }
        lines.extend(self.chains());
        lines.extend(self.writings());
        lines
    }

    fn status(&self) -> String {
        let state = words::state(self.node.state);
        let mut parts = vec![state.to_owned()];
        parts.extend(words::decision(self.node));
        if !self.node.evidence.is_empty() {
            parts.push(words::kept(self.node));
        }
        parts.join("; ")
    }

    fn candidate(&self, at: usize, evidence: &TreeEvidence) -> Vec<String> {
        let detail = self.detail;
        let sign = if evidence.kept { '+' } else { '-' };
        let year = evidence.year.map(|year| format!(" ({year})")).unwrap_or_default();
        let (label, title) = (index::label(self.node, at), detail.line(&evidence.title, TITLE));
        let mut lines = vec![format!("   {sign} {label} {title}{year}")];
        let mut facts = vec![words::origin(&evidence.origin, self.papers)];
        facts.extend(evidence.score.map(|score| format!("score {score:.2}")));
        let roles: Vec<String> = index::segments(self.node.contributions.as_ref(), at)
            .map(|(_, one)| format!("{} ({})", one.role.name(), one.relevance.name()))
            .collect();
        if !roles.is_empty() {
            facts.push(roles.join(", "));
        }
        lines.push(format!("       {}", untrusted(&facts.join("; ")).line()));
        let reasons = [("kept", &evidence.rationale), ("discarded", &evidence.discarded)];
        for (what, why) in reasons {
            lines.extend(
                why.iter().map(|why| format!("       {what}: {}", detail.line(why, SENTENCE))),
            );
        }
        if detail == Detail::Full {
            lines.push(format!("       {}", untrusted(&evidence.paper.to_string()).line()));
            lines.extend(
                evidence
                    .passages
                    .iter()
                    .map(|id| format!("       passage {}", untrusted(&id.to_string()).line())),
            );
            let described = index::segments(self.node.contributions.as_ref(), at)
                .filter(|(_, one)| !one.description.trim().is_empty());
            lines.extend(described.map(|(_, one)| {
                format!("       {}: {}", one.role.name(), detail.line(&one.description, SENTENCE))
            }));
        }
        lines
    }

    fn chains(&self) -> Vec<String> {
        let Some(graph) = &self.node.contributions else { return Vec::new() };
        let (counting, pruned) = index::chains(self.node, graph);
        let mut lines = Vec::new();
        let shown = if self.detail == Detail::Full { usize::MAX } else { CHAINS };
        for (at, chain) in counting.iter().take(shown).enumerate() {
            let head = if at == 0 { "chains:" } else { "" };
            lines.push(format!("   {head:<7} {chain}"));
        }
        if counting.len() > shown {
            lines.push(format!("           and {} more", counting.len() - shown));
        }
        for (why, n) in &pruned {
            let why = self.detail.line(why, SENTENCE);
            lines.push(format!("   {} pruned: {why}", count(*n, "chain")));
        }
        if graph.dropped_edges > 0 {
            let relations = count(graph.dropped_edges, "relation");
            lines.push(format!(
                "   {relations} left out: of a candidate that is not there, or to itself"
            ));
        }
        if self.detail == Detail::Full {
            for edge in &graph.edges {
                let from = graph.segments.get(edge.from);
                let to = match edge.to {
                    scholar_core::ContributionTarget::Query => Some("Q".to_owned()),
                    scholar_core::ContributionTarget::Segment(to) => {
                        graph.segments.get(to).map(|to| index::segment_label(self.node, to))
                    }
                };
                let (Some(from), Some(to)) = (from, to) else { continue };
                let from = index::segment_label(self.node, from);
                let why = self.detail.line(&edge.rationale, SENTENCE);
                lines.push(format!("   {from} -> {to}: {why}"));
            }
        }
        lines
    }

    /// Chains that count and lead over a candidate.
    fn chains_of(&self, at: usize) -> Vec<String> {
        let Some(graph) = &self.node.contributions else { return Vec::new() };
        let leads_over = |place: &usize| {
            graph.segments.get(*place).is_some_and(|segment| segment.evidence == at)
        };
        let chains = graph.chains.iter().filter(|chain| chain.pruned.is_none());
        let over = chains.filter(|chain| chain.segments.iter().any(leads_over));
        over.filter_map(|chain| index::chain(self.node, graph, chain)).take(CHAINS).collect()
    }

    /// What a model wrote for the node: gaps always, analysis and answer in full only.
    fn writings(&self) -> Vec<String> {
        let Self { node, detail, .. } = *self;
        let gaps = node.gaps.iter();
        let mut lines: Vec<String> =
            gaps.map(|gap| format!("   missing: {}", detail.line(gap, SENTENCE))).collect();
        if detail == Detail::Full {
            let analysis = node.contributions.as_ref().and_then(|graph| graph.analysis.as_ref());
            for (what, text) in [("analysis", analysis), ("answer", node.answer.as_ref())] {
                let Some(text) = text else { continue };
                lines.push(format!("   {what}:"));
                let block = untrusted(text.trim()).block().to_string();
                lines.extend(block.lines().map(|line| format!("     {}", detail.line(line, FULL))));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests;
