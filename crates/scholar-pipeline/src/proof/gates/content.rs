//! The checks of content at work in the gates: what they read, and what their findings do to a verdict.

use scholar_core::{Attributor, Judgement, Missing, NoticeKind, PassageId, PassageKind, Verdict};

use super::super::content::{self, SourceText};
use super::super::lexical::judge_pair;
use super::Prover;
use super::trials::Trial;
use crate::evidence::EvidenceNumber;

impl Prover<'_> {
    /// What of `text` neither the passages of these numbers nor the titles and abstracts of their papers have.
    pub(super) async fn missing(&mut self, text: &str, numbers: &[EvidenceNumber]) -> Vec<Missing> {
        let mut texts: Vec<String> = Vec::new();
        for number in numbers {
            let Some(shown) = self.registry.get(*number) else { continue };
            let passage = &shown.ranked.retrieved.passage;
            let id = passage.id.clone();
            texts.extend([passage.text.clone(), passage.title.clone()]);
            texts.extend(self.abstract_of(&id).await);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if texts.is_empty() { Vec::new() } else { content::missing(text, &SourceText::of(&texts)) }
    }

    /// The abstract of a passage's paper, its first passage if that is one; asked for once.
    async fn abstract_of(&mut self, id: &PassageId) -> Option<String> {
        if let Some(known) = self.abstracts.get(&id.paper) {
            return known.clone();
        }
        let first = PassageId { paper: id.paper.clone(), ordinal: 0 };
        let found = match self.frame.ports.retriever.passage(&first).await {
            Ok(found) => found,
            Err(error) => {
                let message = format!("sentences were checked without an abstract: {error}");
                self.note(NoticeKind::Skipped, message);
                None
            }
        };
        let text = found
            .map(|(passage, _)| passage)
            .filter(|passage| passage.kind == PassageKind::Abstract)
            .map(|passage| passage.text);
        self.abstracts.insert(id.paper.clone(), text.clone());
        text
    }

    /// [`believed`] of a trial.
    pub(super) fn second_sign(&self, text: &str, trial: &Trial, judged: Judgement) -> Judgement {
        believed(self.frame.ports.attributor.as_ref(), text, &trial.evidence, judged)
    }
}

/// What `judged`, by `judge` of `sentence` and `evidence`, is taken for: a small judge's "contradicted" is believed where
/// direction or negation are opposite too; else the evidence is taken not to decide.
pub fn believed(
    judge: &dyn Attributor,
    sentence: &str,
    evidence: &str,
    judged: Judgement,
) -> Judgement {
    if judged.verdict != Verdict::Contradicted || judge.finds_contradictions() {
        return judged;
    }
    let turned = !content::opposite(sentence, &SourceText::of(&[evidence])).is_empty();
    let negated = judge_pair(sentence, evidence).verdict == Verdict::Contradicted;
    if turned || negated { judged } else { Judgement { verdict: Verdict::Unsupported, ..judged } }
}
