//! OpenAlex's JSON, as far as it is read. Fields that it leaves out or sets to null are all optional.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

/// The fields asked for: nine tenths of a work are of no use here.
pub(super) const FIELDS: &str = "id,doi,title,display_name,publication_year,publication_date,ids,primary_location,\
best_oa_location,locations,authorships,cited_by_count,is_retracted,referenced_works,abstract_inverted_index";

/// Positions of an abstract beyond this are damage, not words.
const LONGEST_ABSTRACT_WORDS: usize = 100_000;

/// Longer words, in bytes, are damage too: formulas and addresses are shorter.
const LONGEST_WORD: usize = 1000;

/// A page of works.
#[derive(Deserialize)]
pub(super) struct Page {
    pub(super) meta: PageMeta,
    pub(super) results: Vec<Value>,
}

#[derive(Deserialize)]
pub(super) struct PageMeta {
    pub(super) count: u64,
    #[serde(default)]
    pub(super) next_cursor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Work {
    pub(super) id: String,
    #[serde(default)]
    pub(super) doi: Option<String>,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) display_name: Option<String>,
    #[serde(default)]
    pub(super) publication_year: Option<i64>,
    #[serde(default)]
    pub(super) publication_date: Option<String>,
    #[serde(default)]
    pub(super) ids: Option<Ids>,
    #[serde(default)]
    pub(super) primary_location: Option<Location>,
    #[serde(default)]
    pub(super) best_oa_location: Option<Location>,
    #[serde(default)]
    pub(super) locations: Option<Vec<Location>>,
    #[serde(default)]
    pub(super) authorships: Option<Vec<Authorship>>,
    #[serde(default)]
    pub(super) cited_by_count: Option<u32>,
    #[serde(default)]
    pub(super) is_retracted: Option<bool>,
    #[serde(default)]
    pub(super) referenced_works: Option<Vec<String>>,
    #[serde(default)]
    pub(super) abstract_inverted_index: Option<Inverted>,
}

#[derive(Deserialize)]
pub(super) struct Ids {
    #[serde(default)]
    pub(super) pmid: Option<String>,
    #[serde(default)]
    pub(super) pmcid: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Location {
    #[serde(default)]
    pub(super) is_oa: Option<bool>,
    #[serde(default)]
    pub(super) landing_page_url: Option<String>,
    #[serde(default)]
    pub(super) pdf_url: Option<String>,
    #[serde(default)]
    pub(super) source: Option<Source>,
    #[serde(default)]
    pub(super) license: Option<String>,
    #[serde(default)]
    pub(super) version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Source {
    #[serde(default)]
    pub(super) display_name: Option<String>,
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Authorship {
    #[serde(default)]
    pub(super) author: Option<Author>,
}

#[derive(Deserialize)]
pub(super) struct Author {
    #[serde(default)]
    pub(super) display_name: Option<String>,
}

/// An abstract as its words with their positions, put in order while it is read.
pub(super) struct Inverted(pub(super) String);

impl<'de> Deserialize<'de> for Inverted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = Inverted;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("words with their positions")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Inverted, A::Error> {
                let mut placed: Vec<(usize, String)> = Vec::new();
                while let Some((word, positions)) = map.next_entry::<String, Vec<usize>>()? {
                    // A long word may claim many places: without this, one reply could ask for gigabytes.
                    let many = placed.len() + positions.len() > LONGEST_ABSTRACT_WORDS;
                    let far = positions.iter().find(|at| **at >= LONGEST_ABSTRACT_WORDS);
                    if many || far.is_some() || word.len() > LONGEST_WORD {
                        let at = far.or(positions.last()).copied().unwrap_or_default();
                        return Err(A::Error::custom(format!("a word at {at} is out of range")));
                    }
                    placed.extend(positions.into_iter().map(|at| (at, word.clone())));
                }
                placed.sort_unstable();
                let words: Vec<&str> = placed.iter().map(|(_, word)| word.as_str()).collect();
                Ok(Inverted(words.join(" ")))
            }
        }
        deserializer.deserialize_map(Words)
    }
}
