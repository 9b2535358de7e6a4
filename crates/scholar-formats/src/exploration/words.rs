//! The words in which a tree is told.

use std::fmt::Write as _;

use scholar_core::{
    DecidedBy, EvidenceOrigin, ExpansionDecision, LinkDirection, NodeState, TokenUsage, TreeNode,
};

use super::index::Papers;

/// `answered`, `no evidence`, ….
pub(super) fn state(state: NodeState) -> &'static str {
    match state {
        NodeState::Answered => "answered",
        NodeState::NoEvidence => "no evidence",
        NodeState::Failed => "failed",
        NodeState::Skipped => "skipped",
    }
}

/// Who decided, behind what was decided.
pub(super) fn by(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Model => "by the model",
        DecidedBy::Rule => "by a rule",
        DecidedBy::Fallback => "by a rule, as the model's reply could not be used",
    }
}

/// Whether the citation graph was asked, and who decided it; `None` where that was not decided.
pub(super) fn decision(node: &TreeNode) -> Option<String> {
    let decided = match node.decision? {
        ExpansionDecision::Sufficient => "hits sufficient",
        ExpansionDecision::Expanded => "expanded over citations",
    };
    Some(match node.decided_by {
        Some(who) => format!("{decided}, decided {}", by(who)),
        None => decided.to_owned(),
    })
}

/// Where a candidate came from.
pub(super) fn origin(origin: &EvidenceOrigin, papers: &Papers<'_>) -> String {
    match origin {
        EvidenceOrigin::Initial => "initial, retrieved for the question".to_owned(),
        EvidenceOrigin::Snippet => "snippet, retrieved for this query".to_owned(),
        EvidenceOrigin::Link { of, direction: LinkDirection::References } => {
            format!("reference of {}", papers.name(of))
        }
        EvidenceOrigin::Link { of, direction: LinkDirection::Citations } => {
            format!("citation of {}", papers.name(of))
        }
    }
}

/// The same in one or two words.
pub(super) fn short_origin(origin: &EvidenceOrigin, papers: &Papers<'_>) -> String {
    match origin {
        EvidenceOrigin::Initial => "initial".to_owned(),
        EvidenceOrigin::Snippet => "snippet".to_owned(),
        EvidenceOrigin::Link { .. } => self::origin(origin, papers),
    }
}

/// `1 candidate`, `2 candidates`.
pub(super) fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// `81,234`.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `840 ms`, `12.3 s`, `4 min 10 s`.
pub(super) fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{:.1} s", milliseconds as f64 / 1_000.0),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1_000),
    }
}

/// What was spent: calls, tokens read and written, time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    calls: u64,
    usage: TokenUsage,
    milliseconds: u64,
}

impl Spent {
    /// That of `nodes` together.
    pub(super) fn by(nodes: &[TreeNode]) -> Self {
        nodes.iter().fold(Self::default(), |sum, node| Self {
            calls: sum.calls.saturating_add(node.calls),
            usage: TokenUsage {
                prompt: sum.usage.prompt.saturating_add(node.usage.prompt),
                completion: sum.usage.completion.saturating_add(node.usage.completion),
            },
            milliseconds: sum.milliseconds.saturating_add(node.milliseconds),
        })
    }

    /// `3 model calls, 2,140 tokens read and 310 written, 1.2 s`.
    pub(super) fn words(self) -> String {
        let plural = if self.calls == 1 { "" } else { "s" };
        let mut text = format!("{} model call{plural}", grouped(self.calls));
        let TokenUsage { prompt, completion } = self.usage;
        if prompt > 0 || completion > 0 {
            let (read, written) = (grouped(prompt), grouped(completion));
            // Writing to a string cannot fail.
            let _infallible = write!(text, ", {read} tokens read and {written} written");
        }
        text + ", " + &duration(self.milliseconds)
    }
}

/// How many of a node's candidates it kept, how many the answer cites, and who chose.
pub(super) fn kept(node: &TreeNode) -> String {
    let n_kept = node.evidence.iter().filter(|one| one.kept).count();
    let n_cited = node.evidence.iter().filter(|one| one.reference.is_some()).count();
    let mut text =
        format!("{n_kept} of {} kept, {n_cited} cited", count(node.evidence.len(), "candidate"));
    if let Some(who) = node.selected_by {
        text = format!("{text}, chosen {}", by(who));
    }
    text
}

/// The whole tree in a line: `7 nodes: 5 answered, 1 no evidence, 1 skipped; 18 of 40 candidates kept`.
pub(super) fn summary(nodes: &[TreeNode]) -> String {
    let states =
        [NodeState::Answered, NodeState::NoEvidence, NodeState::Failed, NodeState::Skipped];
    let counted = states.map(|one| (one, nodes.iter().filter(|node| node.state == one).count()));
    let states: Vec<String> = counted
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(one, n)| format!("{n} {}", state(one)))
        .collect();
    let all = nodes.iter().flat_map(|node| &node.evidence);
    let (n_all, n_kept) = (all.clone().count(), all.filter(|one| one.kept).count());
    let (nodes, candidates) = (count(nodes.len(), "node"), count(n_all, "candidate"));
    format!("{nodes}: {}; {n_kept} of {candidates} kept", states.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let of = [0, 7, 999, 1_000, 81_234, 1_234_567].map(grouped);
        assert_eq!(of, ["0", "7", "999", "1,000", "81,234", "1,234,567"]);
        let of = [840, 12_340, 250_000].map(duration);
        assert_eq!(of, ["840 ms", "12.3 s", "4 min 10 s"]);
        assert_eq!(count(1, "node"), "1 node");
        assert_eq!(count(0, "node"), "0 nodes");
    }
}
