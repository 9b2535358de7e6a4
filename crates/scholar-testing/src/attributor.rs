//! A judge without a model.

use async_trait::async_trait;
use scholar_core::{Attributor, Judgement, PortError, Verdict};

use crate::words::coverage;

/// Share of the sentence's stems in the evidence: 0.8 and more supports, 0.4 and more supports in part. Sentences
/// that contain a given text get a given verdict instead.
pub struct FakeAttributor {
    rulings: Vec<(String, Verdict)>,
    tells_evidence: bool,
    finds_contradictions: bool,
}

impl FakeAttributor {
    /// Judges by overlap alone.
    pub fn new() -> Self {
        Self { rulings: Vec::new(), tells_evidence: false, finds_contradictions: false }
    }

    /// Also tells which text is the evidence: by the same overlap.
    #[must_use]
    pub fn telling_evidence(self) -> Self {
        Self { tells_evidence: true, ..self }
    }

    /// Reads whole passages for itself, as a capable model does.
    #[must_use]
    pub fn finding_contradictions(self) -> Self {
        Self { finds_contradictions: true, ..self }
    }

    /// Sentences that contain `part` get `verdict`; the first matching ruling counts.
    #[must_use]
    pub fn ruling(mut self, part: &str, verdict: Verdict) -> Self {
        self.rulings.push((part.to_owned(), verdict));
        self
    }
}

impl Default for FakeAttributor {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Attributor for FakeAttributor {
    fn name(&self) -> &'static str {
        "word overlap (fake)"
    }

    fn finds_contradictions(&self) -> bool {
        self.finds_contradictions
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let judge = |(sentence, evidence): &(&str, &str)| {
            let score = coverage(sentence, evidence);
            let ruled = self.rulings.iter().find(|(part, _)| sentence.contains(part.as_str()));
            let verdict = match ruled {
                Some((_, verdict)) => *verdict,
                None if score >= 0.8 => Verdict::Supported,
                None if score >= 0.4 => Verdict::Partial,
                None => Verdict::Unsupported,
            };
            Judgement { verdict, score }
        };
        Ok(pairs.iter().map(judge).collect())
    }

    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        let scores = candidates.iter().map(|candidate| coverage(sentence, candidate));
        Ok(self.tells_evidence.then(|| scores.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn judges_by_overlap_and_ruling() {
        let judge = FakeAttributor::new().ruling("moon", Verdict::Contradicted);
        let pairs = [
            ("Models hallucinate.", "We show that a model hallucinates often."),
            ("Models hallucinate about chemistry and law.", "Models hallucinate."),
            ("Cats sleep.", "Models hallucinate."),
            ("The moon is cheese.", "The moon is cheese."),
        ];
        let verdicts: Vec<Verdict> =
            judge.judge(&pairs).await.expect("judged").iter().map(|j| j.verdict).collect();
        let expected =
            [Verdict::Supported, Verdict::Partial, Verdict::Unsupported, Verdict::Contradicted];
        assert_eq!(verdicts, expected);
    }
}
