//! A paper as lists of references describe it.

use std::collections::HashSet;

use jiff::civil::Date;
use scholar_core::paper::display_title;
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::untrusted;
use scholar_core::text::words;
use scholar_core::{Paper, PaperId, PaperMeta, Reference, Retraction};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization as _;

use crate::names::Name;

/// What a work is, as far as its identifiers and venue tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In a journal.
    Article,
    /// In the proceedings of a conference.
    Conference,
    /// A preprint, or a work of which nothing is known.
    Preprint,
}

/// One reference.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// The identifier it is filed under.
    pub(crate) id: PaperId,
    /// All identifiers, that one first.
    pub(crate) ids: Vec<PaperId>,
    pub(crate) title: String,
    pub(crate) authors: Vec<Name>,
    pub(crate) year: Option<i16>,
    pub(crate) published: Option<Date>,
    pub(crate) venue: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) abstract_text: Option<String>,
    pub(crate) retracted: bool,
}

impl Item {
    pub(crate) fn of_paper(paper: &Paper) -> Self {
        let mut item = Self::of_meta(&paper.meta);
        item.abstract_text = paper.abstract_text().map(one_line).filter(|text| !text.is_empty());
        item
    }

    pub(crate) fn of_meta(meta: &PaperMeta) -> Self {
        Self {
            id: meta.id.clone(),
            ids: meta.ids().cloned().collect(),
            title: one_line(&meta.title),
            authors: meta.authors.iter().filter_map(|author| printed(author)).collect(),
            year: meta.year.or_else(|| meta.published.map(Date::year)),
            published: meta.published,
            venue: meta.venue.as_deref().map(one_line).filter(|venue| !venue.is_empty()),
            url: meta.url.as_deref().map(address).filter(|url| !url.is_empty()),
            abstract_text: None,
            retracted: meta.retraction == Retraction::Retracted,
        }
    }

    /// The title as people see it: never empty.
    pub(crate) fn display_title(&self) -> Cow<'_, str> {
        display_title(&self.title, &self.id)
    }

    pub(crate) fn of_reference(reference: &Reference) -> Self {
        let mut meta = PaperMeta::new(reference.paper_id.clone(), reference.title.clone());
        let doi = reference.doi.as_deref().and_then(|doi| PaperId::doi(doi).ok());
        meta.external_ids.extend(doi.filter(|doi| *doi != reference.paper_id));
        meta.authors.clone_from(&reference.authors);
        meta.year = reference.year;
        meta.venue.clone_from(&reference.venue);
        meta.url.clone_from(&reference.url);
        Self::of_meta(&meta)
    }

    /// From the registry and the venue's own words.
    pub(crate) fn kind(&self) -> Kind {
        let venue = self.venue.as_deref().unwrap_or("").to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| venue.contains(word));
        if self.ids.iter().any(|id| matches!(id, PaperId::Acl(_)))
            || says(&["proceedings", "conference", "workshop", "symposium", "meeting of"])
        {
            Kind::Conference
        } else if venue.is_empty() || says(&["arxiv", "biorxiv", "medrxiv", "ssrn", "preprint"]) {
            Kind::Preprint
        } else {
            Kind::Article
        }
    }

    pub(crate) fn doi(&self) -> Option<&str> {
        self.ids.iter().find_map(|id| match id {
            PaperId::Doi(doi) => Some(doi.as_str()),
            _ => None,
        })
    }

    pub(crate) fn arxiv(&self) -> Option<&str> {
        self.ids.iter().find_map(|id| match id {
            PaperId::Arxiv(number) => Some(number.as_str()),
            _ => None,
        })
    }

    /// The stated address, else that of the first registry that has one.
    pub(crate) fn link(&self) -> Option<String> {
        self.url.clone().or_else(|| self.ids.iter().find_map(PaperId::url).map(|url| address(&url)))
    }
}

/// Keys for citing, all different: family name, year, first telling word of the title, in ASCII; for a paper that
/// only a list of the person's own names, the key it had there.
pub(crate) fn keys(items: &[Item]) -> Vec<String> {
    let mut taken = HashSet::new();
    items
        .iter()
        .map(|item| {
            let base = own_key(item).unwrap_or_else(|| base_key(item));
            let mut key = base.clone();
            let mut number = 1_usize;
            while !taken.insert(key.to_lowercase()) {
                number += 1;
                key = match number {
                    2..=26 => format!(
                        "{base}{}",
                        char::from(b'a' + u8::try_from(number - 1).unwrap_or(0))
                    ),
                    _ => format!("{base}-{number}"),
                };
            }
            key
        })
        .collect()
}

/// The key of an entry without an identifier: readers make `local:key-digest` of it.
fn own_key(item: &Item) -> Option<String> {
    let PaperId::Local(name) = &item.id else { return None };
    let (key, digest) = name.rsplit_once('-')?;
    let ours = digest.len() == 8 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_:.+/".contains(c);
    (ours && !key.is_empty() && key.chars().all(plain)).then(|| key.to_owned())
}

fn base_key(item: &Item) -> String {
    let family = item.authors.first().map_or("anon", |name| name.family.as_str());
    let word = words::words(&item.title)
        .into_iter()
        .find(|word| word.len() > 3 && !words::is_stop_word(word))
        .unwrap_or_default();
    let year = item.year.map(|year| year.to_string()).unwrap_or_default();
    let key: String = format!("{family}{year}{word}")
        .nfkd()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase();
    let key: String = key.chars().take(60).collect();
    if key.chars().any(|c| c.is_ascii_alphabetic()) { key } else { format!("paper{key}") }
}

/// As it is shown on one line, single-spaced.
pub(crate) fn visible(text: &str) -> String {
    single_spaced(&untrusted(text).line().to_string())
}

/// [`visible`], in normal form C.
pub(crate) fn one_line(text: &str) -> String {
    visible(&text.nfc().collect::<String>())
}

/// A name as it is shown; no-break spaces, which keep its parts together, stay.
fn printed(author: &str) -> Option<Name> {
    Name::printed(&untrusted(author).line().to_string())
}

/// An address without white space, as it is shown.
fn address(url: &str) -> String {
    let unspaced: String = url.chars().filter(|c| !c.is_whitespace()).collect();
    untrusted(&unspaced).line().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_different_and_ascii() {
        let item = |author: &str, title: &str| {
            let mut meta = PaperMeta::new(PaperId::Pmid(1), title);
            meta.authors = vec![author.to_owned()];
            meta.year = Some(2020);
            Item::of_meta(&meta)
        };
        let mut items = vec![item("Jörg Müller", "The Über model"); 28];
        items.push(item("漢 字", "題名"));
        let keys = keys(&items);
        assert_eq!(&keys[..3], ["muller2020uber", "muller2020uberb", "muller2020uberc"]);
        assert_eq!(
            &keys[25..],
            ["muller2020uberz", "muller2020uber-27", "muller2020uber-28", "paper2020"]
        );
        let mut own = items[0].clone();
        own.id = PaperId::Local("Smith:2020-0a1b2c3d".to_owned());
        assert_eq!(super::keys(&[own]), ["Smith:2020"]);
    }

    #[test]
    fn kinds_follow_what_is_known() {
        let kind = |id: &str, venue: &str| {
            let mut meta = PaperMeta::new(id.parse().expect("an id"), "T");
            meta.venue = Some(venue.to_owned());
            Item::of_meta(&meta).kind()
        };
        assert_eq!(kind("acl:2020.acl-main.1", "ACL"), Kind::Conference);
        assert_eq!(kind("doi:10.1/x", "Nature"), Kind::Article);
        assert_eq!(kind("doi:10.1/x", "Proceedings of the 3rd Workshop"), Kind::Conference);
        assert_eq!(kind("arxiv:2411.14199", "arXiv.org"), Kind::Preprint);
        assert_eq!(kind("doi:10.1/x", " "), Kind::Preprint);
    }
}
