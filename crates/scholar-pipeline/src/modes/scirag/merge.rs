//! Answers merged from the leaves to the root, with citations renumbered in code.
//!
//! Source: arXiv 2511.14362 §3.4; specification A7. The source leaves renumbering to the model.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use futures::future::BoxFuture;
use futures::{StreamExt as _, stream};
use scholar_core::text::markers::{citation_groups, render_citations};
use scholar_core::{NodeState, PaperId, PassageId, Ranked};

use super::desk::Desk;
use super::explored::{numbered, reasons_text};
use super::tree::Grown;
use crate::event::Event;
use crate::evidence::Evidence;
use crate::frame::Frame;
use crate::prompts;
use crate::write::{answer_text, unusable};

/// Passages under numbers from 0, with why their papers were kept.
///
/// Deviation D71: the source numbers papers.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    pub(super) passages: Vec<Ranked>,
    pub(super) reasons: Vec<(PaperId, String)>,
}

impl View {
    /// Adds what `other` has; the new number of each of its passages. A passage that is there keeps its number.
    pub(super) fn merge(&mut self, other: &Self) -> Vec<usize> {
        let place = |view: &Self, id: &PassageId| {
            view.passages.iter().position(|known| known.retrieved.passage.id == *id)
        };
        let mut numbers = Vec::with_capacity(other.passages.len());
        for passage in &other.passages {
            let known = place(self, &passage.retrieved.passage.id);
            numbers.push(known.unwrap_or_else(|| {
                self.passages.push(passage.clone());
                self.passages.len() - 1
            }));
        }
        for (paper, why) in &other.reasons {
            match self.reasons.iter_mut().find(|(known, _)| known == paper) {
                Some((_, known)) => known.clone_from(why),
                None => self.reasons.push((paper.clone(), why.clone())),
            }
        }
        numbers
    }
}

/// `text` with its citations under new numbers, and how many had none.
///
/// Deviation D73: the source leaves this to the model.
pub(super) fn renumber(text: &str, new: impl Fn(usize) -> Option<usize>) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut from, mut dropped) = (0, 0);
    for group in citation_groups(text) {
        out.push_str(&text[from..group.range.start]);
        let numbers: Vec<usize> = group.numbers.iter().filter_map(|number| new(*number)).collect();
        dropped += group.numbers.len() - numbers.len();
        if numbers.is_empty() {
            out.truncate(out.trim_end_matches(' ').len());
        }
        out.push_str(&render_citations(&numbers));
        from = group.range.end;
    }
    out.push_str(&text[from..]);
    (out, dropped)
}

/// Numbers that `text` cites.
pub(super) fn cited(text: &str) -> BTreeSet<usize> {
    citation_groups(text).into_iter().flat_map(|group| group.numbers).collect()
}

/// What a node brings to its parent.
#[derive(Debug, Clone)]
pub(super) struct Brought {
    pub(super) query: String,
    /// Its answer, in the numbers of its view; `None` where it brings evidence only.
    pub(super) answer: Option<String>,
    pub(super) view: View,
}

/// What the children of the root bring, in their order: answers of inner nodes are merged with those of their children.
pub(super) async fn upward(frame: &Frame<'_>, nodes: &[Grown]) -> Vec<Brought> {
    let mut brought: Vec<Option<Brought>> = nodes.iter().map(own).collect();
    let deepest = nodes.iter().map(|node| node.place.depth).max().unwrap_or(0);
    for depth in (1..deepest).rev() {
        let inner: Vec<usize> = (0..nodes.len())
            .filter(|at| nodes[*at].place.depth == depth && !nodes[*at].children.is_empty())
            .collect();
        let merges: Vec<BoxFuture<'_, (usize, Option<Brought>)>> = inner
            .into_iter()
            .map(|at| {
                let children: Vec<Brought> =
                    nodes[at].children.iter().filter_map(|child| brought[*child].clone()).collect();
                let own = brought[at].clone();
                let merge = async move { (at, branch(frame, &nodes[at], own, children).await) };
                Box::pin(merge) as BoxFuture<'_, _>
            })
            .collect();
        let concurrency = frame.config.scirag.concurrency.max(1);
        let merged: Vec<(usize, Option<Brought>)> =
            stream::iter(merges).buffer_unordered(concurrency).collect().await;
        for (at, result) in merged {
            brought[at] = result;
        }
    }
    let top = nodes.iter().zip(brought).filter(|(node, _)| node.place.depth == 1);
    top.filter_map(|(_, brought)| brought).collect()
}

/// A node's own answer; `None` where it has nothing to tell.
fn own(node: &Grown) -> Option<Brought> {
    let explored = &node.explored;
    (explored.record.state == NodeState::Answered).then(|| Brought {
        query: node.place.query().to_owned(),
        answer: explored.record.answer.clone(),
        view: View { passages: explored.passages.clone(), reasons: explored.reasons.clone() },
    })
}

/// A node's answer with those of its children. Where the call fails, the children's answers follow the node's own.
async fn branch(
    frame: &Frame<'_>,
    node: &Grown,
    own: Option<Brought>,
    children: Vec<Brought>,
) -> Option<Brought> {
    let Brought { query, answer, mut view } = own?;
    if children.is_empty() {
        return Some(Brought { query, answer, view });
    }
    let supplement = supplement(&mut view, &children);
    let Some(answer) = answer else { return Some(Brought { query, answer: None, view }) };
    let evidence = numbered(&view.passages);
    let mentioned: BTreeSet<usize> = cited(&answer).union(&cited(&supplement)).copied().collect();
    let shown = best_first(&evidence, &mentioned, frame.config.scirag.merged_passages);
    let path = node.place.written_path();
    let values = [
        ("path", path.as_str()),
        ("query", query.as_str()),
        ("answer", answer.as_str()),
        ("supplement", supplement.as_str()),
    ];
    let prompt = prompts::SCIRAG_BRANCH;
    let call = frame.config.scirag.sampling.merge;
    let desk = Desk::new(frame, &node.place.id);
    let reply = if frame.over_budget().is_some() {
        None
    } else {
        match desk.whole_over("merge", prompt, &values, &shown, call).await {
            Ok(reply) => Some(answer_text(&reply)).filter(|text| unusable(text).is_none()),
            Err(error) => {
                frame.skipped(&desk.purpose("merge"), &error);
                None
            }
        }
    };
    let exists = |number: usize| (number < evidence.len()).then_some(number);
    let merged = reply.map(|text| renumber(&text, exists));
    frame.emit(&Event::Merged {
        id: node.place.id.clone(),
        children: children.len(),
        passages: shown.len(),
        dropped: merged.as_ref().map_or(0, |(_, dropped)| *dropped),
        text: merged.as_ref().map(|(text, _)| text.clone()),
    });
    let answer = match merged {
        Some((text, _)) => text,
        None => format!("{answer}\n\n{supplement}"),
    };
    Some(Brought { query, answer: Some(answer), view })
}

/// Children's queries and answers in the numbers of `view`, to which their evidence is added.
pub(super) fn supplement(view: &mut View, children: &[Brought]) -> String {
    let mut text = String::new();
    for (nth, child) in (1..).zip(children) {
        let numbers = view.merge(&child.view);
        let found = match &child.answer {
            Some(answer) => renumber(answer, |old| numbers.get(old).copied()).0,
            None => {
                let own: Vec<Evidence> = numbered(&child.view.passages);
                let (reasons, _) = renumber(&reasons_text(&child.view.reasons, &own), |old| {
                    numbers.get(old).copied()
                });
                if reasons.is_empty() {
                    format!("Found: {}", render_citations(&numbers))
                } else {
                    reasons
                }
            }
        };
        // Writing to a string cannot fail.
        let _infallible = write!(text, "{nth}. {}\n{}\n", child.query, found.trim());
    }
    text
}

/// At most `most` of `evidence`, what is `mentioned` first, then in its order.
pub(super) fn best_first(
    evidence: &[Evidence],
    mentioned: &BTreeSet<usize>,
    most: usize,
) -> Vec<Evidence> {
    let (first, rest): (Vec<&Evidence>, Vec<&Evidence>) =
        evidence.iter().partition(|one| mentioned.contains(&one.number.0));
    let first_n = first.len();
    first.into_iter().chain(rest).take(most.max(first_n)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_move_and_what_does_not_exist_goes() {
        let new = |old: usize| [4, 2].get(old).copied();
        assert_eq!(
            renumber("It works [0][1]. So [7]. And [1, 9].", new),
            ("It works [4][2]. So. And [2].".to_owned(), 2)
        );
        assert_eq!(renumber("No marks.", new), ("No marks.".to_owned(), 0));
        assert_eq!(cited("a [3] b [0, 3]"), BTreeSet::from([0, 3]));
    }
}
