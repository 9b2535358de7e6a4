//! OpenAlex works: abstracts are inverted indexes, references are works.
//!
//! Works are read as typed rows, because nine tenths of their bytes are of no use here.

use std::borrow::Cow;

use scholar_core::paper::{ABSTRACT_HEADING, Retraction};
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{Paper, PaperId, PaperMeta, Section};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::rows::{day, valid_year};

/// Positions of an abstract beyond this are damage, not words.
const LONGEST_ABSTRACT_WORDS: usize = 100_000;

#[derive(Deserialize)]
struct Work<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    doi: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    display_name: Option<Cow<'a, str>>,
    #[serde(default)]
    publication_year: Option<i64>,
    #[serde(borrow, default)]
    publication_date: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    ids: Option<Ids<'a>>,
    #[serde(borrow, default)]
    primary_location: Option<Location<'a>>,
    #[serde(borrow, default)]
    best_oa_location: Option<Location<'a>>,
    #[serde(borrow, default)]
    host_venue: Option<Named<'a>>,
    #[serde(borrow, default)]
    authorships: Option<Vec<Authorship<'a>>>,
    #[serde(default)]
    cited_by_count: Option<u32>,
    #[serde(default)]
    is_retracted: Option<bool>,
    #[serde(borrow, default)]
    referenced_works: Option<Vec<Cow<'a, str>>>,
    #[serde(default)]
    abstract_inverted_index: Option<Inverted>,
}

#[derive(Deserialize)]
struct Ids<'a> {
    #[serde(borrow, default)]
    pmid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pmcid: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Location<'a> {
    #[serde(borrow, default)]
    source: Option<Named<'a>>,
    #[serde(borrow, default)]
    license: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    display_name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Authorship<'a> {
    #[serde(borrow, default)]
    author: Option<Named<'a>>,
}

/// Each word with its positions.
struct Inverted(Vec<(String, Vec<usize>)>);

impl<'de> Deserialize<'de> for Inverted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = Inverted;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("words with their positions")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Inverted, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = map.next_entry()? {
                    words.push(word);
                }
                Ok(Inverted(words))
            }
        }
        deserializer.deserialize_map(Words)
    }
}

impl Inverted {
    /// The words in order; positions without a word are left out.
    fn text(self) -> Result<String, String> {
        let mut placed: Vec<(usize, &str)> = Vec::new();
        for (word, positions) in &self.0 {
            placed.extend(positions.iter().map(|position| (*position, word.as_str())));
        }
        placed.sort_unstable_by_key(|(position, _)| *position);
        if placed.last().is_some_and(|(position, _)| *position >= LONGEST_ABSTRACT_WORDS) {
            return Err("the abstract's word positions are out of range".to_owned());
        }
        let words: Vec<&str> = placed.into_iter().map(|(_, word)| word).collect();
        Ok(nfc_single_spaced(&words.join(" ")))
    }
}

/// One work. Source: the OpenAlex work object, as of 2023 (`host_venue`) and since (`primary_location`).
pub(crate) fn work(row: &[u8]) -> Result<Paper, String> {
    let work: Work<'_> = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    let id = work_id(&work.id).ok_or_else(|| format!("{:?} is not an OpenAlex work", work.id))?;
    let title = work.title.or(work.display_name).unwrap_or_default();
    let mut meta = PaperMeta::new(id, nfc_single_spaced(&title));
    meta.external_ids.extend(work.doi.and_then(|doi| PaperId::doi(&doi).ok()));
    if let Some(ids) = work.ids {
        let last = |id: &Option<Cow<'_, str>>| {
            id.as_deref()
                .and_then(|id| id.trim_end_matches('/').rsplit('/').next())
                .map(str::to_owned)
        };
        meta.external_ids.extend(last(&ids.pmid).and_then(|id| format!("pmid:{id}").parse().ok()));
        meta.external_ids
            .extend(last(&ids.pmcid).and_then(|id| format!("pmcid:{id}").parse().ok()));
    }
    meta.authors = work
        .authorships
        .into_iter()
        .flatten()
        .filter_map(|authorship| authorship.author?.display_name)
        .map(|name| nfc_single_spaced(&name))
        .filter(|name| !name.is_empty())
        .collect();
    meta.year = work.publication_year.and_then(valid_year);
    // 1 January stands for a year without a day.
    meta.published = work
        .publication_date
        .and_then(|date| day(&date))
        .filter(|day| (day.month(), day.day()) != (1, 1) && Some(day.year()) == meta.year);
    let licence = |location: &Option<Location<'_>>| {
        location.as_ref().and_then(|location| location.license.as_deref().map(str::to_owned))
    };
    meta.licence = licence(&work.primary_location).or_else(|| licence(&work.best_oa_location));
    meta.venue = work
        .primary_location
        .and_then(|location| location.source?.display_name)
        .or_else(|| work.host_venue?.display_name)
        .map(|venue| nfc_single_spaced(&venue));
    meta.citation_count = work.cited_by_count;
    meta.retraction = match work.is_retracted {
        Some(true) => Retraction::Retracted,
        Some(false) => Retraction::Clean,
        None => Retraction::Unknown,
    };
    let mut sections = Vec::new();
    if let Some(inverted) = work.abstract_inverted_index {
        let text = inverted.text()?;
        if !text.is_empty() {
            sections.push(Section::new(ABSTRACT_HEADING, text));
        }
    }
    let references =
        work.referenced_works.into_iter().flatten().filter_map(|id| work_id(&id)).collect();
    Ok(Paper { meta, sections, references })
}

/// `https://openalex.org/W123` or `W123`.
fn work_id(text: &str) -> Option<PaperId> {
    let name = text.rsplit('/').next()?;
    name.starts_with(['W', 'w']).then(|| format!("openalex:{name}").parse().ok())?
}
