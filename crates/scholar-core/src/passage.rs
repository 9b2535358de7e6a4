//! The retrieved unit.

use serde::{Deserialize, Serialize};

use crate::ids::PassageId;
use crate::place::Place;
use crate::span::CharSpan;

/// Which part of a paper a passage comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageKind {
    /// Cut from the abstract.
    Abstract,
    /// Cut from any other section.
    Body,
}

/// A block of consecutive words of one section of a paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Identifier of the paper and the passage's number in it, from 0.
    pub id: PassageId,
    /// The paper's title: encoded and shown in front of the text, never part of it.
    pub title: String,
    /// Heading of the section it was cut from, empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Whether it was cut from the abstract or the body.
    pub kind: PassageKind,
    /// An exact slice of [`crate::Paper::text`].
    pub text: String,
    /// Where in [`crate::Paper::text`] the text lies.
    pub span: CharSpan,
    /// Where the text stands on the page, starts counted from the text's own, where the format tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

impl Passage {
    /// What encoders and rerankers read: title, one space, text.
    ///
    /// Source: Nature article, methods, datastore: the title goes in front of every block.
    pub fn encoded_text(&self) -> String {
        if self.title.is_empty() {
            self.text.clone()
        } else {
            format!("{} {}", self.title, self.text)
        }
    }
}
