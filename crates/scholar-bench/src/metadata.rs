//! Whether metadata of PDFs are read as they are printed.
//!
//! The catalogue of the ACL Anthology says who wrote a paper and what it is called. Where the page prints something else
//! (an initial for a given name, another title), a committed list says what; it also says which papers print their year at
//! all. A field is right, wrong or absent; an absent one is no error where the page does not print it.
//!
//! Papers whose file's SHA-256 begins with an even digit are the development half.

mod gold;
mod report;

use std::collections::BTreeMap;

use scholar_core::text::normalise::{name_key, title_key};
use scholar_core::{FieldOrigin, MetaField, PaperId, PaperMeta};
use serde::Serialize;

pub use gold::{Gold, GoldError, Stated, catalog, gold, pairs};
pub use report::{MetadataReport, PairRow, Timing};

/// What is measured of one paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The title's letters and digits, as printed.
    Title,
    /// The title character by character.
    TitleExact,
    /// The title's letters and digits, as the catalogue has it.
    TitleCatalog,
    /// All names in order, as printed, without accents and punctuation.
    Authors,
    /// All last words of names in order.
    Surnames,
    /// All names in order, as the catalogue has them.
    AuthorsCatalog,
    /// The year, of papers that print theirs.
    Year,
    /// No year, of papers that print none.
    NoYear,
    /// The name of the proceedings or journal; absent where none is printed.
    Venue,
    /// Identifiers; absent where none is printed.
    Identifiers,
}

impl Measure {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::Title,
        Self::TitleExact,
        Self::TitleCatalog,
        Self::Authors,
        Self::Surnames,
        Self::AuthorsCatalog,
        Self::Year,
        Self::NoYear,
        Self::Venue,
        Self::Identifiers,
    ];

    /// How reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::TitleExact => "title, every character",
            Self::TitleCatalog => "title, as catalogued",
            Self::Authors => "authors, all names in order",
            Self::Surnames => "authors, by surname",
            Self::AuthorsCatalog => "authors, as catalogued",
            Self::Year => "year, where it is printed",
            Self::NoYear => "no year, where none is printed",
            Self::Venue => "venue",
            Self::Identifiers => "identifiers",
        }
    }

    /// The least share that is aimed at, in percent.
    pub fn target(self) -> Option<u32> {
        match self {
            Self::Title => Some(97),
            Self::Authors => Some(85),
            Self::Year => Some(95),
            _ => None,
        }
    }

    /// The measure that tells whether a field of a document is right.
    pub fn of_field(field: MetaField) -> Self {
        match field {
            MetaField::Title => Self::Title,
            MetaField::Authors => Self::Authors,
            MetaField::Year => Self::Year,
            MetaField::Venue => Self::Venue,
            MetaField::Identifiers => Self::Identifiers,
        }
    }
}

/// How a field was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As expected.
    Right,
    /// Something else.
    Wrong,
    /// Not at all.
    Absent,
}

/// One paper as it was read, held against what it is.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The paper's identifier in the catalogue.
    pub id: String,
    /// Whether the reader may have been tuned on it.
    pub development: bool,
    /// Why nothing was read, where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What was read.
    pub read: Stated,
    /// What the pages print.
    pub printed: Stated,
    /// Verdict of each measure that applies.
    pub verdicts: BTreeMap<Measure, Verdict>,
    /// Where each field was read, and how sure that is.
    pub fields: BTreeMap<MetaField, FieldOrigin>,
}

impl Row {
    /// Holds a reading, or the reason why there is none, against `gold`.
    pub fn new(
        gold: &Gold,
        development: bool,
        reading: Result<(&PaperMeta, &BTreeMap<MetaField, FieldOrigin>), String>,
    ) -> Self {
        let (read, fields, failed) = match reading {
            Ok((meta, fields)) => (Stated::of(meta), fields.clone(), None),
            Err(why) => (Stated::default(), BTreeMap::new(), Some(why)),
        };
        let verdicts = verdicts(&read, &gold.printed, &gold.catalog);
        let printed = gold.printed.clone();
        Self { id: gold.id.clone(), development, failed, read, printed, verdicts, fields }
    }

    /// Whether a field that was stated is what the page prints.
    pub fn is_right(&self, field: MetaField) -> bool {
        // A year is also wrong where none is printed.
        self.verdicts.get(&Measure::of_field(field)) == Some(&Verdict::Right)
    }
}

/// Verdicts of the measures that apply to a paper.
pub fn verdicts(read: &Stated, printed: &Stated, catalog: &Stated) -> BTreeMap<Measure, Verdict> {
    let judge = |stated: bool, right: bool| match (stated, right) {
        (false, _) => Verdict::Absent,
        (true, true) => Verdict::Right,
        (true, false) => Verdict::Wrong,
    };
    let titled = !read.title.is_empty();
    let title = |other: &Stated| judge(titled, title_key(&read.title) == title_key(&other.title));
    let keys =
        |stated: &Stated| stated.authors.iter().map(|name| name_key(name)).collect::<Vec<_>>();
    let named = !read.authors.is_empty();
    let authors = |other: &Stated| judge(named, keys(read) == keys(other));
    let surnames = |stated: &Stated| {
        let keys = keys(stated);
        keys.iter()
            .map(|key| key.rsplit(' ').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let mut out = BTreeMap::from([
        (Measure::Title, title(printed)),
        (Measure::TitleExact, judge(titled, read.title == printed.title)),
        (Measure::TitleCatalog, title(catalog)),
        (Measure::Authors, authors(printed)),
        (Measure::Surnames, judge(named, surnames(read) == surnames(printed))),
        (Measure::AuthorsCatalog, authors(catalog)),
    ]);
    if printed.year.is_some() {
        out.insert(Measure::Year, judge(read.year.is_some(), read.year == printed.year));
    } else {
        // Nothing is what is wanted here.
        let verdict = if read.year.is_none() { Verdict::Right } else { Verdict::Wrong };
        out.insert(Measure::NoYear, verdict);
    }
    let venue = read.venue.as_deref().unwrap_or_default();
    let is_venue =
        |other: &Stated| other.venue.as_deref().is_some_and(|other| same_venue(venue, other));
    out.insert(Measure::Venue, judge(!venue.is_empty(), is_venue(printed)));
    let own = read.ids.iter().all(|id| printed.ids.contains(id));
    out.insert(Measure::Identifiers, judge(!read.ids.is_empty(), own));
    out
}

/// Whether two names are of one book or journal: one of them has the other's words in a row, and at least three or all of
/// its own. Numbers may be words (`Fifth`, `5th`).
fn same_venue(one: &str, other: &str) -> bool {
    #[rustfmt::skip]
    const ORDINALS: [&str; 20] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
        "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
        "nineteenth", "twentieth",
    ];
    let words = |text: &str| -> Vec<String> {
        let key = title_key(text);
        let plain = key.split(' ').map(|word| {
            let word = match ORDINALS.iter().position(|ordinal| *ordinal == word) {
                Some(at) => (at + 1).to_string(),
                None => word.to_owned(),
            };
            let number = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
            let ordinal = !number.is_empty() && number.len() + 2 == word.len();
            if ordinal { number.to_owned() } else { word }
        });
        plain.collect()
    };
    let (one, other) = (words(one), words(other));
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short == long
        || (short.len() >= 2 && long.windows(short.len()).any(|part| part == short.as_slice()))
}

impl Stated {
    /// What a paper's metadata state; an identifier made from the content states nothing.
    pub fn of(meta: &PaperMeta) -> Self {
        let ids = std::iter::once(&meta.id).chain(&meta.external_ids);
        Self {
            title: meta.title.clone(),
            authors: meta.authors.clone(),
            year: meta.year,
            venue: meta.venue.clone(),
            ids: ids.filter(|id| !matches!(id, PaperId::Local(_))).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(title: &str, authors: &[&str], year: Option<i16>) -> Stated {
        let authors = authors.iter().map(|name| (*name).to_owned()).collect();
        Stated { title: title.into(), authors, year, ..Stated::default() }
    }

    #[test]
    fn accents_do_not_count_and_initials_do() {
        let printed =
            stated("On Things: a study", &["Thomas M\u{fc}ller", "Josep M. Crego"], Some(2013));
        let catalog = stated("On things", &["Thomas Muller", "Josep Maria Crego"], Some(2013));
        let read =
            stated("On things \u{2013} A Study", &["Thomas Muller", "Josep M. Crego"], Some(2012));
        let verdicts = verdicts(&read, &printed, &catalog);
        let of = |measure| verdicts.get(&measure).copied();
        assert_eq!(of(Measure::Title), Some(Verdict::Right));
        assert_eq!(of(Measure::TitleExact), Some(Verdict::Wrong));
        assert_eq!(of(Measure::TitleCatalog), Some(Verdict::Wrong));
        assert_eq!(of(Measure::Authors), Some(Verdict::Right));
        assert_eq!(of(Measure::AuthorsCatalog), Some(Verdict::Wrong));
        assert_eq!(of(Measure::Surnames), Some(Verdict::Right));
        assert_eq!(of(Measure::Year), Some(Verdict::Wrong));
        assert_eq!((of(Measure::NoYear), of(Measure::Venue)), (None, Some(Verdict::Absent)));
    }

    #[test]
    fn order_of_authors_counts() {
        let printed = stated("T", &["Ada Ng", "Bo Li"], None);
        let verdicts = verdicts(&stated("", &["Bo Li", "Ada Ng"], None), &printed, &printed);
        assert_eq!(verdicts.get(&Measure::Authors), Some(&Verdict::Wrong));
        assert_eq!(verdicts.get(&Measure::Surnames), Some(&Verdict::Wrong));
        assert_eq!(verdicts.get(&Measure::Title), Some(&Verdict::Absent));
        assert_eq!(verdicts.get(&Measure::NoYear), Some(&Verdict::Right));
    }

    #[test]
    fn a_venue_may_be_named_in_part() {
        let whole =
            "Proceedings of the 50th Annual Meeting of the Association (Volume 2: Short Papers)";
        assert!(same_venue("Proceedings of the 50th Annual Meeting of the Association", whole));
        assert!(same_venue(
            "Proceedings of the Joint 5th Workshop",
            "Proceedings of the Joint Fifth Workshop"
        ));
        assert!(!same_venue("Proceedings of the 49th Annual Meeting of the Association", whole));
        assert!(!same_venue("Proceedings", whole));
    }
}
