//! Which known paper a reference means. Conservative: a wrong match puts a false edge into the citation graph.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use scholar_core::text::normalise::{match_key, title_key};
use scholar_core::{PaperId, PaperMeta};
use unicode_normalization::UnicodeNormalization as _;

use crate::document::PrintedReference;
use crate::names::Name;

/// Share of words that two titles must have in common.
const OVERLAP: f64 = 0.9;

/// Titles of fewer letters and digits (`Introduction`, `Reply`) need year or author to agree too.
const SHORT_TITLE: usize = 20;

/// Words of a title that must stand in a reference's plain text for it to be looked for there.
const TEXT_WORDS: usize = 5;

/// Letters of a title that may be found without its spaces.
const LETTERS_ALONE: usize = 25;

/// Words of a title that is taken for the same although neither author nor year is.
const UNMISTAKABLE_WORDS: usize = 8;

/// Words in a row under which titles are found.
const SHINGLE: usize = 3;

/// Most titles that one run of words leads to: a longer list means that the words tell nothing.
const CROWD: usize = 200;

/// Why a reference was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchedBy {
    /// They share an identifier.
    Id,
    /// Their titles are equal but for case and punctuation.
    Title,
    /// Nine words of ten, the first author and, within a year, the year are the same.
    Overlap,
    /// The reference has no parsed title, and its text holds this paper's, its first author and its year.
    Text,
}

/// A known paper as references are compared with it.
#[derive(Debug, Clone)]
struct Known {
    id: PaperId,
    title: String,
    words: BTreeSet<String>,
    year: Option<i16>,
    surname: Option<String>,
}

impl Known {
    fn new(meta: &PaperMeta) -> Self {
        let title = title_key(&meta.title);
        Self {
            id: meta.id.clone(),
            words: title.split(' ').map(str::to_owned).collect(),
            title,
            year: meta.year.or_else(|| meta.published.map(Date::year)),
            surname: meta.authors.first().and_then(|author| surname(author)),
        }
    }
}

impl Known {
    /// Whether both are one work, published twice.
    fn is_same_work(&self, other: &Self) -> bool {
        let near = self.year.zip(other.year).is_none_or(|(one, other)| one.abs_diff(other) <= 1);
        self.id == other.id
            || (near
                && self.title == other.title
                && self.surname.is_some()
                && self.surname == other.surname)
    }
}

/// A reference in the form it is compared in.
struct ReferenceQuery {
    title: String,
    words: BTreeSet<String>,
    text: String,
    year: Option<i16>,
    surname: Option<String>,
}

impl ReferenceQuery {
    fn new(reference: &PrintedReference) -> Self {
        let title = title_key(reference.title.as_deref().unwrap_or_default());
        Self {
            words: title.split(' ').map(str::to_owned).collect(),
            title,
            text: format!(" {} ", folded(&title_key(&reference.text))),
            year: reference.year,
            surname: reference.first_author.as_deref().and_then(surname),
        }
    }

    /// Whether the text holds a title: as words, or letter by letter where a reader of pages lost or found spaces in it.
    fn has_title(&self, title: &str) -> bool {
        let letters = |text: &str| text.replace(' ', "");
        self.has_word(title)
            || (letters(title).chars().count() >= LETTERS_ALONE
                && letters(&self.text).contains(&letters(title)))
    }

    fn has_word(&self, word: &str) -> bool {
        self.text.contains(&format!(" {word} "))
    }
}

fn compare(asked: &ReferenceQuery, known: &Known) -> Option<MatchedBy> {
    if known.title.is_empty() {
        return None;
    }
    let years_differ = match (asked.year, known.year) {
        (Some(one), Some(other)) => Some(one.abs_diff(other) > 1),
        _ => None,
    };
    let authors_differ = match (&asked.surname, &known.surname) {
        (Some(one), Some(other)) => Some(one != other),
        _ => None,
    };
    if asked.title.is_empty() {
        return in_text(asked, known).then_some(MatchedBy::Text);
    }
    let letters = |title: &str| title.replace(' ', "");
    if asked.title == known.title
        || (asked.title.chars().count() >= LETTERS_ALONE
            && letters(&asked.title) == letters(&known.title))
    {
        let unlike = authors_differ == Some(true) && years_differ == Some(true);
        let long = known.title.chars().filter(|c| *c != ' ').count() >= SHORT_TITLE
            && (!unlike || known.title.split(' ').count() >= UNMISTAKABLE_WORDS);
        let agrees = years_differ == Some(false) && authors_differ != Some(true)
            || authors_differ == Some(false) && years_differ != Some(true);
        return (long || agrees).then_some(MatchedBy::Title);
    }
    let near = overlap(&asked.words, &known.words) >= OVERLAP;
    (near && years_differ == Some(false) && authors_differ == Some(false))
        .then_some(MatchedBy::Overlap)
}

/// Whether the plain text of a reference holds title, first author and year of a paper.
fn in_text(asked: &ReferenceQuery, known: &Known) -> bool {
    let (Some(year), Some(surname)) = (known.year, &known.surname) else { return false };
    let near = |year: i16| (year - 1..=year + 1).any(|year| asked.has_word(&year.to_string()));
    known.title.split(' ').count() >= TEXT_WORDS
        && asked.has_title(&folded(&known.title))
        && surname.split(' ').all(|word| asked.has_word(word))
        && near(year)
}

/// Shared words of all words.
pub(super) fn overlap(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    let count = |n: usize| u32::try_from(n).map_or(f64::INFINITY, f64::from);
    if all == 0 { 0.0 } else { count(shared) / count(all) }
}

/// A family name without accents, in lower case, `Müller` and `Mueller` alike; a lone word is one too.
pub(super) fn surname(name: &str) -> Option<String> {
    let family = Name::printed(name)?.family;
    let mut key = folded(&title_key(&family));
    // Letters that lists without them write as two.
    for (letter, written) in
        [("ß", "ss"), ("ø", "o"), ("æ", "a"), ("œ", "o"), ("ł", "l"), ("đ", "d"), ("ð", "d")]
    {
        key = key.replace(letter, written);
    }
    for (written, letter) in [("ae", "a"), ("oe", "o"), ("ue", "u")] {
        key = key.replace(written, letter);
    }
    (!key.is_empty()).then_some(key)
}

/// Without accents.
pub(super) fn folded(text: &str) -> String {
    use unicode_normalization::char::is_combining_mark;
    match_key(text).nfd().filter(|c| !is_combining_mark(*c)).collect()
}

/// Known papers, ready to be asked for many references.
#[derive(Debug, Clone, Default)]
pub struct Matcher {
    papers: Vec<Known>,
    by_id: BTreeMap<PaperId, usize>,
    by_title: BTreeMap<String, Vec<usize>>,
    by_shingle: BTreeMap<String, Vec<usize>>,
}

/// The paper that a reference means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The identifier it is filed under.
    pub paper: PaperId,
    /// Its title, in the form in which titles are compared.
    pub title: String,
    /// What reference and paper have in common.
    pub by: MatchedBy,
}

impl Matcher {
    /// Prepares `papers` for matching by identifier, then by title.
    pub fn new<'a>(papers: impl IntoIterator<Item = &'a PaperMeta>) -> Self {
        let mut matcher = Self::default();
        for meta in papers {
            matcher.add(meta);
        }
        matcher
    }

    /// Adds one paper, unless it is there under one of its identifiers.
    pub fn add(&mut self, meta: &PaperMeta) {
        if meta.ids().any(|id| self.by_id.contains_key(id)) {
            return;
        }
        let at = self.papers.len();
        let known = Known::new(meta);
        for id in meta.ids() {
            self.by_id.entry(id.clone()).or_insert(at);
        }
        for shingle in shingles(&folded(&known.title)) {
            self.by_shingle.entry(shingle).or_default().push(at);
        }
        self.by_title.entry(known.title.clone()).or_default().push(at);
        self.papers.push(known);
    }

    /// The paper that `reference` means, if exactly one does: two that fit equally well are no match, unless they are one
    /// work, as preprint and article are; then the one added first is.
    pub fn find(&self, reference: &PrintedReference) -> Option<Match> {
        let found = |at: usize, by| {
            let Known { id, title, .. } = &self.papers[at];
            Match { paper: id.clone(), title: title.clone(), by }
        };
        if let Some(at) = reference.ids.iter().find_map(|id| self.by_id.get(id)) {
            return Some(found(*at, MatchedBy::Id));
        }
        let asked = ReferenceQuery::new(reference);
        let mut candidates: BTreeSet<usize> = BTreeSet::new();
        candidates.extend(self.by_title.get(&asked.title).into_iter().flatten());
        let text = if asked.title.is_empty() { &asked.text } else { &asked.title };
        for shingle in shingles(&folded(text)) {
            let found = self.by_shingle.get(&shingle).filter(|found| found.len() <= CROWD);
            candidates.extend(found.into_iter().flatten());
        }
        let mut fits: Vec<(MatchedBy, bool, usize)> = candidates
            .into_iter()
            .filter_map(|at| {
                let known = &self.papers[at];
                let author = asked.surname.is_some() && asked.surname == known.surname;
                Some((compare(&asked, known)?, !author, at))
            })
            .collect();
        fits.sort_unstable();
        let (by, author, first) = *fits.first()?;
        let mut equals = fits.iter().take_while(|fit| (fit.0, fit.1) == (by, author));
        let one = equals.all(|fit| self.papers[first].is_same_work(&self.papers[fit.2]));
        one.then(|| found(first, by))
    }
}

/// Runs of [`SHINGLE`] words; a shorter title is one run.
pub(super) fn shingles(title: &str) -> BTreeSet<String> {
    let words: Vec<&str> = title.split(' ').filter(|word| !word.is_empty()).collect();
    match words.len() {
        0 => BTreeSet::new(),
        1..SHINGLE => BTreeSet::from([words.join(" ")]),
        _ => words.windows(SHINGLE).map(|run| run.join(" ")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(id: &str, title: &str, author: &str, year: i16) -> PaperMeta {
        let mut meta = PaperMeta::new(id.parse().expect("an id"), title);
        meta.authors = vec![author.to_owned()];
        meta.year = Some(year);
        meta
    }

    fn reference(title: &str, author: &str, year: i16) -> PrintedReference {
        PrintedReference {
            title: Some(title.to_owned()).filter(|title| !title.is_empty()),
            first_author: Some(author.to_owned()),
            year: Some(year),
            ..PrintedReference::default()
        }
    }

    fn matcher() -> Matcher {
        let mut first = paper(
            "doi:10.1/a",
            "A study of large language models that answer questions from scientific papers",
            "José Müller-Garcia",
            2020,
        );
        first.external_ids = vec!["pmid:7".parse().expect("an id")];
        Matcher::new(&[
            first,
            paper("doi:10.1/b", "Introduction", "Ann Lee", 2001),
            paper(
                "doi:10.1/c",
                "Deep learning for the analysis of protein structures",
                "B. Chen",
                2018,
            ),
            paper(
                "doi:10.1/d",
                "Deep learning for the analysis of protein structures",
                "C. Wu",
                2019,
            ),
            paper("doi:10.1/e", "Introduction to the analysis of proteins", "Di Rossi", 2010),
            paper("arxiv:1001.00001", "Introduction to the analysis of proteins", "D. Rossi", 2009),
        ])
    }

    #[test]
    fn references_find_their_papers_and_no_others() {
        let matcher = matcher();
        let found = |r: &PrintedReference| matcher.find(r).map(|m| (m.paper.to_string(), m.by));
        let a = |by| Some(("doi:10.1/a".to_owned(), by));
        let by_id = PrintedReference {
            ids: vec!["pmid:7".parse().expect("an id")],
            ..PrintedReference::default()
        };
        assert_eq!(found(&by_id), a(MatchedBy::Id));
        let title =
            "A Study of Large Language Models that Answer Questions from Scientific Papers.";
        assert_eq!(found(&reference(title, "X", 1990)), a(MatchedBy::Title));
        let near = "Study of large language models that answer questions from scientific papers";
        assert_eq!(found(&reference(near, "Muller-Garcia", 2021)), a(MatchedBy::Overlap));
        assert_eq!(found(&reference(near, "Muller-Garcia", 2023)), None, "another year");
        assert_eq!(found(&reference(near, "Smith", 2020)), None, "another author");
        assert_eq!(
            found(&reference("Introduction", "Lee", 2001)).map(|m| m.1),
            Some(MatchedBy::Title)
        );
        assert_eq!(found(&reference("Introduction", "Kim", 2015)), None, "a title of everyone");
        let twice = "Deep learning for the analysis of protein structures";
        let of = |author, year| found(&reference(twice, author, year)).map(|m| m.0);
        assert_eq!(of("Wu", 2019).as_deref(), Some("doi:10.1/d"), "the author decides");
        assert_eq!(of("Lee", 2019), None, "two papers of that title");
        let other = "Introduction to the analysis of proteins";
        assert_eq!(
            found(&reference(other, "Kim", 1990)),
            None,
            "a common title, and nothing else agrees"
        );
        assert!(found(&reference(other, "Kim", 2011)).is_some(), "authors are misread");
    }

    #[test]
    fn names_are_compared_without_the_letters_that_lists_lack() {
        for (one, other) in [
            ("Sonja Nießen", "Niessen, Sonja"),
            ("Thomas Müller", "T. Mueller"),
            ("Anders Søgaard", "Sogaard, Anders"),
            ("Wojciech Łukasz", "W. Lukasz"),
        ] {
            assert_eq!(surname(one), surname(other), "{one}");
        }
        assert_ne!(surname("Ann Lee"), surname("Ann Lie"));
    }

    #[test]
    fn plain_text_needs_title_author_and_year() {
        let matcher = matcher();
        let text = |text: &str| {
            let r = PrintedReference { text: text.to_owned(), ..PrintedReference::default() };
            matcher.find(&r).map(|m| m.by)
        };
        let whole = "[3] J. Muller-Garcia. A study of large language models that answer questions from \
                     scientific papers. In: X, 2020.";
        assert_eq!(text(whole), Some(MatchedBy::Text));
        let glued = whole.replace("large language models", "largelanguage models");
        assert_eq!(text(&glued), Some(MatchedBy::Text), "a page that lost a space");
        assert_eq!(text(&whole.replace("2020", "2010")), None);
        assert_eq!(text(&whole.replace("Garcia", "Lopez")), None);
        assert_eq!(text(""), None);
    }
}
