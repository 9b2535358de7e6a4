//! The retrieved unit.

use serde::{Deserialize, Serialize};

use crate::ids::PassageId;
use crate::place::Place;
use crate::span::CharSpan;

/// What a passage is made of. Every kind is searched; only prose is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageKind {
    /// Sentences of the abstract.
    Abstract,
    /// Sentences of any other section.
    Body,
    /// Cells of a table, or words of a figure.
    Table,
    /// What is printed below a figure or above a table.
    Caption,
    /// Entries of a reference list.
    References,
    /// Running heads, imprints, addresses, correspondence: what the printer or the publisher added.
    Boilerplate,
}

impl PassageKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Abstract,
        Self::Body,
        Self::Table,
        Self::Caption,
        Self::References,
        Self::Boilerplate,
    ];

    /// Its name in datastores, JSON, Parquet and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abstract => "abstract",
            Self::Body => "body",
            Self::Table => "table",
            Self::Caption => "caption",
            Self::References => "references",
            Self::Boilerplate => "boilerplate",
        }
    }

    /// Whether it holds sentences that may be quoted.
    pub fn is_prose(self) -> bool {
        matches!(self, Self::Abstract | Self::Body)
    }
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
    /// What it is made of.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_stored_by_name_and_an_unknown_one_is_named() {
        for kind in PassageKind::ALL {
            let json = serde_json::to_string(&kind).expect("a name");
            assert_eq!(json, format!("\"{}\"", kind.name()));
            assert_eq!(serde_json::from_str::<PassageKind>(&json).ok(), Some(kind));
        }
        let error = serde_json::from_str::<PassageKind>("\"poem\"").expect_err("not a kind");
        assert!(error.to_string().contains("poem"), "{error}");
        let prose = PassageKind::ALL.into_iter().filter(|kind| kind.is_prose());
        assert!(prose.eq([PassageKind::Abstract, PassageKind::Body]));
    }
}
