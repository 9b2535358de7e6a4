//! One bounded call for all that did not pass: cited anew, rewritten from a passage, or deleted.

use std::fmt::Write as _;

use scholar_core::text::markers::{between_markers, remove_markers};
use scholar_core::text::sentences::sentence_texts;
use scholar_core::{Missing, Notice, NoticeKind};

use crate::evidence::{Evidence, EvidenceNumber, EvidenceRegistry};
use crate::frame::Frame;
use crate::prompts;
use crate::proof::select::evidence_scores;
use crate::write::reference_block;

/// Passages beside its own that a finding is shown. Ours.
const OTHERS: usize = 2;

/// A sentence that did not pass.
pub(super) struct Doubtful {
    /// Its place.
    pub(super) at: usize,
    /// Its words, without citations.
    pub(super) text: String,
    pub(super) item: Item,
    /// What the checks of content miss in what it cites.
    pub(super) missing: Vec<Missing>,
    /// What may support it, best first.
    pub(super) passages: Vec<EvidenceNumber>,
}

/// What kind of sentence is to be repaired.
pub(super) enum Item {
    /// It cites what does not support it, or nothing.
    Finding,
    /// Passages are about what it says is unreported.
    Gap,
    /// It says more than these findings.
    Conclusion(Vec<String>),
}

/// What the reply says of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// As it stands.
    Keep,
    /// Out.
    Delete,
    /// These words, with citations.
    Text(String),
}

/// The decisions on `doubtful`, in order; `None` where there is none: the call failed, the reply has no such line, or the
/// sentence was one too many.
pub(super) async fn ask(
    frame: &Frame<'_>,
    registry: &EvidenceRegistry,
    doubtful: &[Doubtful],
) -> Vec<Option<Decision>> {
    let most = frame.config.writing.repair_sentences;
    let none = doubtful.iter().map(|_| None).collect();
    if most == 0 || frame.over_budget().is_some() {
        return none;
    }
    let asked = &doubtful[..doubtful.len().min(most)];
    let shown = passages(asked, registry, frame.config.writing.repair_passages);
    let sentences = listed(asked, &shown);
    let values = [("question", frame.question.as_str()), ("sentences", sentences.as_str())];
    let call = frame.config.sampling.edit;
    let references = reference_block(frame, prompts::REPORT_REPAIR, &values, &shown, call);
    let values = [&values[..], &[("references", references.as_str())]].concat();
    match frame.call("repair", prompts::REPORT_REPAIR, &values, call).await {
        Ok(reply) => {
            let decided = decisions(&reply.text, asked.len());
            if decided.iter().all(Option::is_none) {
                let message = "no line of the reply to the repair could be read";
                frame.notice(Notice::new(NoticeKind::ModelReply, message));
            }
            let beyond = doubtful.len() - asked.len();
            decided.into_iter().chain(std::iter::repeat_n(None, beyond)).collect()
        }
        Err(error) => {
            frame.skipped("the repair of unproven sentences", &error);
            none
        }
    }
}

/// The decisions of a reply on sentences 1 to `count`. The first line about a sentence counts.
pub(super) fn decisions(reply: &str, count: usize) -> Vec<Option<Decision>> {
    let mut decided: Vec<Option<Decision>> = vec![None; count];
    let text = remove_markers(&between_markers(reply).text);
    for line in text.lines() {
        let line = line.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '|');
        let Some((number, rest)) = line.split_once('|') else { continue };
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let Some(slot) =
            number[..digits].parse::<usize>().ok().and_then(|n| decided.get_mut(n.checked_sub(1)?))
        else {
            continue;
        };
        let rest = rest.trim();
        let word = rest.trim_matches(|c: char| !c.is_alphabetic());
        let decision = match word.to_ascii_uppercase().as_str() {
            "" => continue,
            "DELETE" | "DELETED" => Decision::Delete,
            "KEEP" => Decision::Keep,
            _ => Decision::Text(rest.to_owned()),
        };
        slot.get_or_insert(decision);
    }
    decided
}

/// The sentences as the prompt lists them, with what of their passages is shown.
fn listed(asked: &[Doubtful], shown: &[Evidence]) -> String {
    let mut out = String::new();
    for (n, one) in asked.iter().enumerate() {
        let kind = match one.item {
            Item::Finding => "",
            Item::Gap => " (gap)",
            Item::Conclusion(_) => " (conclusion)",
        };
        let visible =
            one.passages.iter().filter(|number| shown.iter().any(|e| e.number == **number));
        let numbers: String = visible.map(ToString::to_string).collect();
        // Writing to a string cannot fail.
        let words: Vec<&str> = one.missing.iter().map(|missing| missing.words.as_str()).collect();
        let lacks = match words[..] {
            [] => String::new(),
            _ => format!(" (not in what it cites: {})", words.join("; ")),
        };
        let _infallible = writeln!(out, "{}{kind} | {} {numbers}{lacks}", n + 1, one.text);
        if let Item::Conclusion(findings) = &one.item {
            for finding in findings {
                let _infallible = writeln!(out, "   - {finding}");
            }
        }
    }
    out
}

/// The passages of all sentences: the best of each first, then the second best, and so on.
fn passages(asked: &[Doubtful], registry: &EvidenceRegistry, most: usize) -> Vec<Evidence> {
    let depth = asked.iter().map(|one| one.passages.len()).max().unwrap_or(0);
    let mut shown: Vec<Evidence> = Vec::new();
    for nth in 0..depth {
        for number in asked.iter().filter_map(|one| one.passages.get(nth)) {
            let is_new = shown.iter().all(|known| known.number != *number);
            if is_new && shown.len() < most {
                shown.extend(registry.get(*number).cloned());
            }
        }
    }
    shown
}

/// What may support `text`: the passages it cites, then others by the sentence in them that shares most words with it.
pub(super) fn passages_for(
    text: &str,
    cited: &[EvidenceNumber],
    registry: &EvidenceRegistry,
) -> Vec<EvidenceNumber> {
    let mut numbers: Vec<EvidenceNumber> =
        cited.iter().copied().filter(|number| registry.get(*number).is_some()).collect();
    let best = |passage: &str| {
        let scores = evidence_scores(text, &sentence_texts(passage), None).unwrap_or_default();
        scores.into_iter().fold(0.0_f32, f32::max)
    };
    let mut others: Vec<(f32, EvidenceNumber)> = registry
        .items()
        .iter()
        .filter(|shown| !numbers.contains(&shown.number))
        .map(|shown| (best(&shown.ranked.retrieved.passage.text), shown.number))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    numbers.extend(others.into_iter().take(OTHERS).map(|(_, number)| number));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_read_by_number() {
        let reply = "[Response_Start]1 | Cells grow in mice. [3]\n- 2. | DELETE\n3 (gap) | KEEP\n**4** | delete.\n7 | Too far\nnonsense\n1 | Again [[Response_End]";
        let text = |text: &str| Some(Decision::Text(text.to_owned()));
        assert_eq!(
            decisions(reply, 5),
            [
                text("Cells grow in mice. [3]"),
                Some(Decision::Delete),
                Some(Decision::Keep),
                Some(Decision::Delete),
                None
            ]
        );
    }
}
