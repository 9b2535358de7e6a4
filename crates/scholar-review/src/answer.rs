//! A review as an [`Answer`]: what proof files, checks and exports read.

use scholar_core::{Answer, AnswerMode, AnswerSection, AnswerSentence, SectionKind};

use crate::report::{Review, ReviewMode};

impl Review {
    /// Its sentences with their parts and references; the question is what the idea is called.
    ///
    /// Everything that holds of an answer holds of it: a proof of it can be written and checked, it can be exported.
    pub fn to_answer(&self) -> Answer {
        let sentences: Vec<AnswerSentence> =
            self.statements().map(|statement| statement.sentence.clone()).collect();
        Answer {
            question: self.idea.name(),
            mode: match self.mode {
                ReviewMode::Generative => AnswerMode::Generative,
                ReviewMode::Evidence => AnswerMode::Evidence,
            },
            abstained: self.references.is_empty(),
            sections: parts(&sentences),
            sentences,
            references: self.references.clone(),
            table: None,
            missing: Vec::new(),
            outline: None,
            tree: None,
        }
    }
}

/// Runs of sentences under one heading.
fn parts(sentences: &[AnswerSentence]) -> Vec<AnswerSection> {
    let mut parts: Vec<AnswerSection> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if part.heading == sentence.heading => part.end = at + 1,
            _ => parts.push(AnswerSection {
                heading: sentence.heading.clone(),
                kind: SectionKind::Facet,
                start: at,
                end: at + 1,
            }),
        }
    }
    parts
}
