//! OpenAlex's works, as its API answers them and its dumps hold them.
//!
//! Works are read as typed rows, because nine tenths of their bytes are of no use here; fields that OpenAlex leaves out or
//! sets to null are all optional.
//!
//! Source: the OpenAlex work object, as of 2023 (`host_venue`) and since (`primary_location`).

use std::borrow::Cow;

use jiff::civil::Date;
use scholar_core::paper::{ABSTRACT_HEADING, Retraction};
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{Paper, PaperId, PaperMeta, Section};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

/// Positions of an abstract beyond this are damage, not words.
const LONGEST_ABSTRACT_WORDS: usize = 100_000;

/// Longer words, in bytes, are damage too: formulas and addresses are shorter.
const LONGEST_WORD: usize = 1000;

/// A work of OpenAlex: of a reply of its API or a line of its dump.
#[derive(Deserialize)]
pub struct OpenAlexRecord<'a> {
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
    locations: Option<Vec<Location<'a>>>,
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

/// A copy of a work.
#[derive(Deserialize)]
pub struct Location<'a> {
    /// Whether everybody may read it.
    #[serde(default)]
    pub is_oa: Option<bool>,
    /// Address of its page.
    #[serde(borrow, default)]
    pub landing_page_url: Option<Cow<'a, str>>,
    /// Address of its PDF.
    #[serde(borrow, default)]
    pub pdf_url: Option<Cow<'a, str>>,
    /// Journal or repository that holds the copy.
    #[serde(borrow, default)]
    pub source: Option<Source<'a>>,
    /// Licence, as OpenAlex names it.
    #[serde(borrow, default)]
    pub license: Option<Cow<'a, str>>,
    /// `publishedVersion`, `acceptedVersion` or `submittedVersion`.
    #[serde(borrow, default)]
    pub version: Option<Cow<'a, str>>,
}

/// Journal, repository or other place of publication.
#[derive(Deserialize)]
pub struct Source<'a> {
    #[serde(borrow, default)]
    display_name: Option<Cow<'a, str>>,
    /// `journal`, `repository` and others.
    #[serde(borrow, default, rename = "type")]
    pub kind: Option<Cow<'a, str>>,
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

impl<'a> OpenAlexRecord<'a> {
    /// All copies, OpenAlex's choice first. Some come more than once.
    pub fn locations(&self) -> impl Iterator<Item = &Location<'a>> + Clone {
        let chosen = [&self.best_oa_location, &self.primary_location];
        chosen.into_iter().flatten().chain(self.locations.iter().flatten())
    }

    /// The paper: metadata, abstract, and references as OpenAlex's identifiers. Markup in titles and abstracts stays.
    ///
    /// # Errors
    /// When `id` names no work; the text quotes it.
    pub fn paper(&self) -> Result<Paper, String> {
        let id = work_id(&self.id)
            .ok_or_else(|| format!("the field `id`: {:?} is not an OpenAlex work", self.id))?;
        let title = self.title.as_ref().or(self.display_name.as_ref());
        let mut meta = PaperMeta::new(id, nfc_single_spaced(title.map_or("", |title| title)));
        meta.external_ids.extend(self.doi.as_ref().and_then(|doi| PaperId::doi(doi).ok()));
        if let Some(ids) = &self.ids {
            let pmid =
                last_part(ids.pmid.as_deref()).and_then(|id| format!("pmid:{id}").parse().ok());
            let pmcid = last_part(ids.pmcid.as_deref()).and_then(|id| PaperId::pmcid(id).ok());
            meta.external_ids.extend([pmid, pmcid].into_iter().flatten());
        }
        meta.authors = self
            .authorships
            .iter()
            .flatten()
            .filter_map(|authorship| authorship.author.as_ref()?.display_name.as_ref())
            .map(|name| nfc_single_spaced(name))
            .filter(|name| !name.is_empty())
            .collect();
        let year = self.publication_year.and_then(|year| i16::try_from(year).ok());
        meta.year = year.filter(|year| (1000..=2999).contains(year));
        // 1 January stands for a year without a day.
        meta.published = self
            .publication_date
            .as_ref()
            .and_then(|date| date.trim().get(..10)?.parse::<Date>().ok())
            .filter(|day| (day.month(), day.day()) != (1, 1) && Some(day.year()) == meta.year);
        let licence = |location: &Option<Location<'_>>| {
            location.as_ref()?.license.as_deref().map(str::to_owned)
        };
        meta.licence = licence(&self.primary_location).or_else(|| licence(&self.best_oa_location));
        let source = self.primary_location.as_ref().and_then(|location| location.source.as_ref());
        meta.venue = source
            .and_then(|source| source.display_name.as_ref())
            .or_else(|| self.host_venue.as_ref()?.display_name.as_ref())
            .map(|venue| nfc_single_spaced(venue));
        meta.citation_count = self.cited_by_count;
        meta.retraction = match self.is_retracted {
            Some(true) => Retraction::Retracted,
            Some(false) => Retraction::Clean,
            None => Retraction::Unknown,
        };
        let text = self.abstract_inverted_index.as_ref().map(|words| nfc_single_spaced(&words.0));
        let text = text.filter(|text| !text.is_empty());
        let sections = text.into_iter().map(|text| Section::new(ABSTRACT_HEADING, text)).collect();
        let references =
            self.referenced_works.iter().flatten().filter_map(|id| work_id(id)).collect();
        Ok(Paper { meta, sections, references, records: Vec::new() })
    }
}

/// What follows the last slash of an address.
fn last_part(address: Option<&str>) -> Option<&str> {
    address?.trim_end_matches('/').rsplit('/').next()
}

/// `https://openalex.org/W123` or `W123`.
fn work_id(text: &str) -> Option<PaperId> {
    let name = text.rsplit('/').next()?;
    name.starts_with(['W', 'w']).then(|| format!("openalex:{name}").parse().ok())?
}

/// An abstract as its words with their positions, put in order while it is read.
struct Inverted(String);

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
