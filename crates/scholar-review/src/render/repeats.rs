//! Quotations that would stand in a document again: they are named with the part that has them, as a reader has read them there.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use scholar_core::{AnswerSentence, Citation};
use scholar_formats::export::{ReportLine, ReportPart};

/// What stays although it stands above: the work that a part is about first.
pub(super) const CLOSEST: &str = "Closest";

/// Leaves of every quotation in `parts` the first, and in its other parts one line that says where it is.
pub(super) fn named_once(parts: &mut [ReportPart]) {
    let mut seen: BTreeMap<(Citation, String), String> = BTreeMap::new();
    for part in parts.iter_mut().filter(|part| part.below) {
        let own = short(&part.heading);
        let (mut papers, mut places): (Vec<Citation>, Vec<String>) = (Vec::new(), Vec::new());
        let mut kept = Vec::new();
        // Where the line about what is above goes: behind the last quotation.
        let mut behind = 0;
        for line in std::mem::take(&mut part.lines) {
            let cited = line.sentence.citations.first().filter(|_| line.sentence.is_quoted());
            if let Some(cited) = cited {
                match seen.entry((*cited, line.sentence.text.clone())) {
                    Entry::Vacant(first) => {
                        first.insert(own.to_owned());
                    }
                    Entry::Occupied(_) if line.label.as_deref() == Some(CLOSEST) => {}
                    Entry::Occupied(before) => {
                        push(&mut papers, *cited);
                        push(&mut places, before.get().clone());
                        continue;
                    }
                }
                behind = kept.len() + 1;
            }
            kept.push(line);
        }
        if !papers.is_empty() {
            let text = format!("under {}.", places.join(", "));
            let sentence = AnswerSentence { citations: papers, ..AnswerSentence::uncited(text) };
            kept.insert(behind, ReportLine { label: Some("Quoted above".to_owned()), sentence });
        }
        part.lines = kept;
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

/// `C1` of `C1 · Method`, `M2` of `Method M2`.
fn short(heading: &str) -> &str {
    let is_number = |word: &&str| {
        let rest = word.trim_start_matches(['C', 'H', 'M']);
        !rest.is_empty()
            && rest.len() < word.len()
            && rest.bytes().all(|byte| byte.is_ascii_digit())
    };
    heading.split_whitespace().find(is_number).unwrap_or(heading)
}

#[cfg(test)]
mod tests {
    use scholar_core::AnswerRole;

    use super::*;

    fn quoted(label: &str, text: &str, of: usize) -> ReportLine {
        let sentence = AnswerSentence {
            citations: vec![Citation(of)],
            verbatim: true,
            role: Some(AnswerRole::Finding),
            ..AnswerSentence::uncited(text)
        };
        ReportLine { label: Some(label.to_owned()), sentence }
    }

    #[test]
    fn what_is_quoted_again_is_named() {
        let part = |heading: &str, lines: Vec<ReportLine>| ReportPart {
            heading: heading.to_owned(),
            below: true,
            lines,
            ..ReportPart::default()
        };
        let mut parts = [
            part("C1 · Method", vec![quoted(CLOSEST, "a", 1), quoted("Near", "b", 2)]),
            part(
                "C2 · Data",
                vec![quoted(CLOSEST, "b", 2), quoted("Near", "a", 1), ReportLine::said("Shared")],
            ),
            part("Method M1", vec![quoted("Did", "b", 2), quoted("Found", "a", 1)]),
            part("Method M2", vec![quoted("Did", "a", 3)]),
        ];
        named_once(&mut parts);
        let told: Vec<Vec<String>> = parts
            .iter()
            .map(|part| part.lines.iter().map(|line| line.sentence.text.clone()).collect())
            .collect();
        assert_eq!(told[0], ["a", "b"]);
        assert_eq!(told[1], ["b", "under C1.", "Shared"]);
        assert_eq!(told[2], ["under C1."]);
        assert_eq!(parts[2].lines[0].sentence.citations, [Citation(2), Citation(1)]);
        assert_eq!(told[3], ["a"], "another paper's");
    }
}
