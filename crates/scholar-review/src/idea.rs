//! The idea under review.

use scholar_core::text::normalise::title_key;
use scholar_core::text::words::{is_stop_word, words};
use scholar_core::{Question, QuestionError};
use serde::{Deserialize, Serialize};

/// A headed part of an idea.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdeaSection {
    /// Its heading without marks, empty for text in front of the first.
    pub heading: String,
    /// Its text with its line breaks.
    pub text: String,
}

/// A research idea: a problem, methods and experiments that are planned, without results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idea {
    /// The title, where one is written; the guard against leaks compares it with papers' titles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The whole text as it was given, trimmed.
    pub text: String,
    /// Its parts in order; together they hold all text but the headings.
    pub sections: Vec<IdeaSection>,
}

/// Why a text is no idea that can be reviewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdeaError {
    /// Nothing but white space.
    #[error("the idea is empty")]
    Empty,
    /// Longer than any plan: a whole paper, or several.
    #[error("the idea has {chars} characters, more than the {most} accepted")]
    TooLong {
        /// Its length in characters.
        chars: usize,
        /// The longest accepted.
        most: usize,
    },
    /// Bytes of something that is no text.
    #[error("the idea contains the control character U+{code:04X}: it looks like binary data")]
    Binary {
        /// The first such character.
        code: u32,
    },
    /// Too few words to look anything up.
    #[error("the idea has {words} words, fewer than the {FEWEST_WORDS} that a review needs")]
    TooShort {
        /// Words found.
        words: usize,
    },
    /// Not English, in which the literature here and every prompt is.
    #[error("the idea does not look like English: {common} of its {words} words are common ones")]
    NotEnglish {
        /// Words that every English text has.
        common: usize,
        /// All words.
        words: usize,
    },
}

impl IdeaError {
    /// The next step for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::TooShort { .. } => {
                "describe the problem, the method and the planned experiments in a few paragraphs"
            }
            Self::TooLong { .. } => "give the plan alone, without results, tables and references",
            Self::Binary { .. } => "give a text, Markdown, PDF or DOCX file",
            Self::NotEnglish { .. } => "translate the idea: the literature searched is English",
        }
    }
}

/// Fewest words of an idea. Ours: a sentence names a topic, not a plan.
pub const FEWEST_WORDS: usize = 12;

/// Least share of common words of an English text, in percent. Ours: English prose has 35 to 50, other languages below 5.
const COMMON_PERCENT: usize = 8;

impl Idea {
    /// Reads `text`: headings of Markdown begin parts, the first of level 1 is the title.
    ///
    /// A title behind `Research Plan:` loses that. The published ideas have the parts `Problem`, `Method` and
    /// `Experiment Design`; any others are taken as well, and none at all.
    ///
    /// # Errors
    /// [`IdeaError`] says why this is nothing to review.
    pub fn read(text: &str) -> Result<Self, IdeaError> {
        let question = Question::new(text).map_err(|error| match error {
            QuestionError::Empty => IdeaError::Empty,
            QuestionError::NoWord => IdeaError::TooShort { words: 0 },
            QuestionError::TooLong { chars } => {
                IdeaError::TooLong { chars, most: scholar_core::question::MAX_QUESTION_CHARS }
            }
            QuestionError::Binary { code } => IdeaError::Binary { code },
        })?;
        let text = question.as_str();
        let all = words(text);
        let n = all.len();
        let common = all.iter().filter(|word| is_stop_word(word)).count();
        let foreign_script = text.chars().filter(|c| c.is_alphabetic()).count()
            > 2 * text.chars().filter(char::is_ascii_alphabetic).count();
        if foreign_script || (n >= 2 * FEWEST_WORDS && common * 100 < n * COMMON_PERCENT) {
            return Err(IdeaError::NotEnglish { common, words: n });
        }
        if n < FEWEST_WORDS {
            return Err(IdeaError::TooShort { words: n });
        }
        let (title, sections) = parts(text);
        Ok(Self { title, text: text.to_owned(), sections })
    }

    /// The title as the guard compares it; `None` without one, or where it only says what the text is.
    pub fn title_key(&self) -> Option<String> {
        self.title.as_deref().map(title_key).filter(|key| !key.is_empty())
    }

    /// What the idea is called: its title, else its first words.
    pub fn name(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let first =
            self.sections.iter().map(|part| part.text.as_str()).find(|text| !text.is_empty());
        let shown: Vec<&str> = first.unwrap_or(&self.text).split_whitespace().take(12).collect();
        shown.join(" ")
    }
}

/// What a level-1 heading of the published ideas says of itself.
const PLAN: &str = "research plan";

fn parts(text: &str) -> (Option<String>, Vec<IdeaSection>) {
    let mut title = None;
    let mut sections: Vec<IdeaSection> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut heading = String::new();
    let mut close = |heading: &mut String, lines: &mut Vec<&str>, next: &str| {
        let text = lines.join("\n").trim().to_owned();
        if !text.is_empty() || !heading.is_empty() {
            sections.push(IdeaSection { heading: heading.clone(), text });
        }
        next.clone_into(heading);
        lines.clear();
    };
    for line in text.lines() {
        let marks = line.bytes().take_while(|byte| *byte == b'#').count();
        let name = line[marks..].trim().trim_end_matches('#').trim_end();
        let is_heading = (1..=6).contains(&marks) && line[marks..].starts_with([' ', '\t']);
        if !is_heading {
            lines.push(line);
        } else if marks == 1 && title.is_none() {
            title = Some(without_plan(name).to_owned());
        } else {
            close(&mut heading, &mut lines, name);
        }
    }
    close(&mut heading, &mut lines, "");
    (title.filter(|title| !title.is_empty()), sections)
}

/// A title without the words that announce it.
fn without_plan(title: &str) -> &str {
    match title.get(..PLAN.len()) {
        Some(head) if head.eq_ignore_ascii_case(PLAN) => {
            title[PLAN.len()..].trim_start_matches([':', '-', '–', '—', ' '])
        }
        _ => title,
    }
}

#[cfg(test)]
mod tests;
