//! A sentence classifier without a model.

use std::collections::BTreeSet;

use scholar_core::{
    EmbeddedText, PortError, PortErrorKind, RoleProbabilities, SentenceClassifier,
    SentenceClassifierInfo, SentenceInContext, SentenceRole, SentenceScores,
};

use crate::words::stems;

/// Says that a sentence answers as far as it shares stems with the question, and tells roles by its words.
///
/// `To` and `We propose` begin a purpose, `In conclusion` and `Conclusion` a conclusion; then a digit makes a result, `We` at
/// the start a method; the rest is background. Sentences that contain a given text get given scores instead.
pub struct FakeSentenceClassifier {
    info: SentenceClassifierInfo,
    rulings: Vec<Ruling>,
}

struct Ruling {
    part: String,
    answers: f32,
    role: SentenceRole,
}

impl FakeSentenceClassifier {
    /// For vectors of `FakeEncoder::new(dim)`.
    pub fn new(dim: usize) -> Self {
        let info = SentenceClassifierInfo {
            name: "word overlap (fake)".to_owned(),
            encoder: format!("fake-encoder-{dim}"),
            dim,
        };
        Self { info, rulings: Vec::new() }
    }

    /// Sentences that contain `part` answer with probability `answers` and have `role`; the first matching ruling counts.
    #[must_use]
    pub fn ruling(mut self, part: &str, answers: f32, role: SentenceRole) -> Self {
        self.rulings.push(Ruling { part: part.to_owned(), answers, role });
        self
    }
}

impl SentenceClassifier for FakeSentenceClassifier {
    fn info(&self) -> &SentenceClassifierInfo {
        &self.info
    }

    fn classify(
        &self,
        question: EmbeddedText<'_>,
        sentences: &[SentenceInContext<'_>],
    ) -> Result<Vec<SentenceScores>, PortError> {
        let all = sentences.iter().map(|one| one.sentence.vector).chain([question.vector]);
        for vector in all {
            if vector.len() != self.info.dim {
                let message = format!("a vector has {} numbers", vector.len());
                return Err(PortError::new(PortErrorKind::Rejected, message));
            }
        }
        let asked: BTreeSet<String> = stems(question.text).into_iter().collect();
        let scores = sentences.iter().map(|one| {
            let text = one.sentence.text;
            match self.rulings.iter().find(|ruling| text.contains(&ruling.part)) {
                Some(ruling) => scores_of(ruling.answers, ruling.role),
                None => scores_of(overlap(&asked, text), role_of(text)),
            }
        });
        Ok(scores.collect())
    }
}

/// Share of the stems of the question in `text`.
fn overlap(asked: &BTreeSet<String>, text: &str) -> f32 {
    let present: BTreeSet<String> = stems(text).into_iter().collect();
    if asked.is_empty() {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a text has fewer than 2^24 words")]
    let share = asked.intersection(&present).count() as f32 / asked.len() as f32;
    share
}

fn role_of(text: &str) -> SentenceRole {
    let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    if begins(&["To ", "We propose"]) {
        SentenceRole::Purpose
    } else if begins(&["In conclusion", "Conclusion"]) {
        SentenceRole::Conclusion
    } else if text.chars().any(|c| c.is_ascii_digit()) {
        SentenceRole::Result
    } else if begins(&["We "]) {
        SentenceRole::Method
    } else {
        SentenceRole::Background
    }
}

/// Four fifths for `role`, the rest for the others in equal parts.
fn scores_of(answers: f32, role: SentenceRole) -> SentenceScores {
    let probabilities = SentenceRole::ALL.map(|one| if one == role { 0.8 } else { 0.05 });
    SentenceScores { answers, role: RoleProbabilities::from_array(probabilities) }
}

#[cfg(test)]
mod tests {
    use scholar_core::PassageKind;

    use super::*;

    #[test]
    fn scores_by_overlap_first_words_and_ruling() {
        let vector = [0.0; 4];
        let embedded = |text| EmbeddedText { text, vector: &vector };
        let in_context = |text| SentenceInContext {
            sentence: embedded(text),
            before: None,
            after: None,
            title: None,
            kind: PassageKind::Abstract,
            section: "",
            nth: 0,
            of: 1,
        };
        let fake = FakeSentenceClassifier::new(4).ruling("moon", 0.25, SentenceRole::Method);
        let sentences = [
            in_context("Aspirin lowered the risk of stroke by 12 %."),
            in_context("The moon is cheese."),
        ];
        let scores =
            fake.classify(embedded("Does aspirin lower stroke?"), &sentences).expect("scored");
        assert!((scores[0].answers - 1.0).abs() < 1e-6);
        assert_eq!(scores[0].role.most_probable(), SentenceRole::Result);
        assert!((scores[1].answers - 0.25).abs() < 1e-6);
        assert_eq!(scores[1].role.most_probable(), SentenceRole::Method);
        let other = FakeSentenceClassifier::new(8).classify(embedded("?"), &sentences);
        assert_eq!(other.expect_err("too short").kind(), PortErrorKind::Rejected);
    }
}
