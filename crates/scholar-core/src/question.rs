//! What was asked, and what is sent to a retriever.

use serde::{Deserialize, Serialize};

/// Longest accepted question, in characters. Ours: a related-work task carries an abstract, nothing carries a paper.
pub const MAX_QUESTION_CHARS: usize = 20_000;

/// Why a text is not a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// Nothing but white space.
    #[error("the question is empty")]
    Empty,
    /// Longer than [`MAX_QUESTION_CHARS`].
    #[error("the question has {chars} characters, more than the {MAX_QUESTION_CHARS} accepted")]
    TooLong {
        /// Its length in characters.
        chars: usize,
    },
    /// Contains control characters that no text has.
    #[error("the question contains the control character U+{code:04X}: it looks like binary data")]
    Binary {
        /// The first such character.
        code: u32,
    },
    /// No letter or digit at all.
    #[error("the question contains no word")]
    NoWord,
}

/// A person's question, checked to be text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Question(String);

impl Question {
    /// Trims and checks `text`.
    ///
    /// # Errors
    /// [`QuestionError`] says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, QuestionError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(QuestionError::Empty);
        }
        let chars = text.chars().count();
        if chars > MAX_QUESTION_CHARS {
            return Err(QuestionError::TooLong { chars });
        }
        let binary =
            |c: &char| (c.is_control() && !c.is_whitespace()) || *c == char::REPLACEMENT_CHARACTER;
        if let Some(c) = text.chars().find(binary) {
            return Err(QuestionError::Binary { code: u32::from(c) });
        }
        if !text.chars().any(char::is_alphanumeric) {
            return Err(QuestionError::NoWord);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text, single-spaced and not empty.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is sent to a retriever: the question itself, a keyword query, or a feedback item's search.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Query(String);

impl Query {
    /// White space collapsed and trimmed; `None` when nothing remains.
    pub fn new(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        (!words.is_empty()).then(|| Self(words.join(" ")))
    }

    /// The text, single-spaced and not empty.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&Question> for Query {
    fn from(question: &Question) -> Self {
        Self(question.as_str().split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_a_question() {
        assert_eq!(Question::new(" \n\t"), Err(QuestionError::Empty));
        assert_eq!(Question::new("?!…"), Err(QuestionError::NoWord));
        assert_eq!(Question::new("a\u{0}b"), Err(QuestionError::Binary { code: 0 }));
        assert!(matches!(
            Question::new(&"x".repeat(100_000)),
            Err(QuestionError::TooLong { chars: 100_000 })
        ));
        assert_eq!(
            Question::new(" Is RAG useful? ").expect("a question").as_str(),
            "Is RAG useful?"
        );
    }
}
