//! Replies of classification tasks: one of two labels and citations.

use scholar_core::text::markers::{between_markers, citation_groups, remove_markers};
use scholar_core::{Answer, AnswerSentence, Gate, Generation, Notice, NoticeKind};

use super::references::references_of;
use crate::event::Event;
use crate::evidence::{EvidenceNumber, EvidenceRegistry};
use crate::frame::Frame;

/// One label, and the citations that decide it.
pub(crate) fn classified(
    frame: &Frame<'_>,
    reply: &Generation,
    labels: [&'static str; 2],
    registry: &EvidenceRegistry,
) -> Answer {
    let Some((label, numbers)) = parse(&reply.text, labels) else {
        let message = format!("the reply names neither {} nor {}", labels[0], labels[1]);
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
        return frame.no_answer();
    };
    let (references, citations) = references_of(registry, &numbers);
    let unknown = numbers.iter().filter(|n| registry.get(EvidenceNumber(**n)).is_none());
    let unknown: String = unknown.map(|n| EvidenceNumber(*n).to_string()).collect();
    if !unknown.is_empty() {
        let message = format!("citation {unknown} does not exist and was removed");
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
    }
    let gates = if citations.is_empty() { Vec::new() } else { vec![Gate::L0] };
    let sentence = AnswerSentence {
        paragraph_start: true,
        citations,
        gates,
        ..AnswerSentence::uncited(label)
    };
    frame.emit(&Event::Sentence { sentence: sentence.clone() });
    // A label is an answer, also without a citation.
    Answer { abstained: false, ..frame.answer(vec![sentence], references) }
}

/// The label and the cited numbers of a reply, or `None` when the reply names no label or both.
///
/// The first word decides if it is a label; else a label counts if only one of the two occurs.
fn parse(reply: &str, labels: [&'static str; 2]) -> Option<(&'static str, Vec<usize>)> {
    let text = remove_markers(&between_markers(reply).text);
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let label_of = |word: &String| labels.into_iter().find(|label| label == word);
    let mut found: Vec<&'static str> = words.iter().filter_map(label_of).collect();
    let first = words.first().and_then(label_of);
    found.sort_unstable();
    found.dedup();
    let label = match (first, found.as_slice()) {
        (Some(label), _) => label,
        (None, [label]) => *label,
        _ => return None,
    };
    let mut numbers = Vec::new();
    for number in citation_groups(&text).into_iter().flat_map(|group| group.numbers) {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    Some((label, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_label_is_read_and_none_is_guessed() {
        let check = |reply: &str, expected: Option<(&'static str, Vec<usize>)>| {
            assert_eq!(parse(reply, ["true", "false"]), expected, "{reply}");
        };
        check("[Response_Start]false [1][Response_End]", Some(("false", vec![1])));
        check("True [0][2, 0].", Some(("true", vec![0, 2])));
        check("**false**", Some(("false", vec![])));
        check("The claim is false [3]", Some(("false", vec![3])));
        check("false, it is not true [1]", Some(("false", vec![1])));
        check("It is true or false", None);
        check("truefalse", None);
        check("", None);
    }
}
