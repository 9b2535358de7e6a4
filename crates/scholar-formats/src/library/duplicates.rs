//! Pairs of stored papers that may be one work and were not joined, because something speaks against it.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperId, PaperMeta};

use super::matching::{folded, shingles, surname};
use super::works::{Work, identifiers_conflict, is_told_apart, shared_identifier, titles_overlap};

/// Share of the words of two titles from which they are taken for nearly the same.
const NEAR: f64 = 0.75;
/// The share from which they are called the same.
const SAME: f64 = 0.95;
/// Most papers that three words in a row lead to: more means that the words tell nothing.
const CROWD: usize = 200;

/// Two papers that may be one work.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulPair {
    /// The one that is stored first.
    pub one: PaperId,
    /// The other.
    pub other: PaperId,
    /// Share of the words of their titles that both have, 0 to 1.
    pub overlap: f64,
    /// What speaks for it, and what against.
    pub why: String,
}

/// The doubtful pairs among `works`, the likeliest first. Pairs that a person told apart are left out.
pub fn doubtful_pairs(works: &[Work<'_>]) -> Vec<DoubtfulPair> {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, work) in works.iter().enumerate() {
        let ids = work.meta.ids().map(ToString::to_string);
        let runs = shingles(&folded(&title_key(&work.meta.title)));
        // Readers of pages lose or find spaces in a title.
        let letters = title_key(&work.meta.title).replace(' ', "");
        let whole = (!letters.is_empty()).then(|| format!("letters:{letters}"));
        for name in ids.chain(whole).chain(runs.into_iter().map(|run| format!("words:{run}"))) {
            by_name.entry(name).or_default().push(at);
        }
    }
    let mut candidates: BTreeSet<(usize, usize)> = BTreeSet::new();
    for places in by_name.values().filter(|places| places.len() <= CROWD) {
        for (n, one) in places.iter().enumerate() {
            candidates.extend(places[n + 1..].iter().filter(|at| *at != one).map(|at| (*one, *at)));
        }
    }
    let mut pairs: Vec<DoubtfulPair> = candidates
        .into_iter()
        .filter_map(|(one, other)| doubtful(works[one], works[other]))
        .collect();
    pairs.sort_by(|a, b| {
        b.overlap.total_cmp(&a.overlap).then_with(|| (&a.one, &a.other).cmp(&(&b.one, &b.other)))
    });
    pairs
}

fn doubtful(one: Work<'_>, other: Work<'_>) -> Option<DoubtfulPair> {
    if is_told_apart(one, other) {
        return None;
    }
    let overlap = titles_overlap(one.meta, other.meta);
    let shared = shared_identifier(one.meta, other.meta);
    let words = overlap.unwrap_or(0.0);
    let years = one.meta.year.zip(other.meta.year).map(|(one, other)| one.abs_diff(other));
    let first = |meta: &PaperMeta| meta.authors.first().and_then(|name| surname(name));
    let authors = first(one.meta).zip(first(other.meta)).map(|(one, other)| one == other);
    let title = if words >= SAME {
        "the same title".to_owned()
    } else {
        format!("{:.0} % of the words of the titles", words * 100.0)
    };
    let mut against: Vec<String> = Vec::new();
    if identifiers_conflict(one.meta, other.meta) {
        against.push("each has an identifier of its own".to_owned());
    }
    if let Some(apart) = years.filter(|apart| *apart > 1) {
        against.push(format!("{apart} years apart"));
    }
    if authors == Some(false) {
        against.push("another first author".to_owned());
    }
    let why = match shared {
        Some(id) if words < SAME => {
            let read = overlap.map_or("one has no title".to_owned(), |_| title);
            format!("both have {id}, but {read}")
        }
        _ if words >= SAME => {
            if against.is_empty() {
                against.push("too little else is known".to_owned());
            }
            format!("{title}, but {}", against.join(", "))
        }
        _ if words >= NEAR && authors == Some(true) && years.is_none_or(|apart| apart <= 2) => {
            format!("{title} and the first author")
        }
        _ => return None,
    };
    let (one, other) = (one.meta.id.clone(), other.meta.id.clone());
    Some(DoubtfulPair { one, other, overlap: words, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(id: &str, title: &str, author: &str, year: i16) -> PaperMeta {
        let mut meta = PaperMeta::new(id.parse().expect("an identifier"), title);
        meta.authors = vec![author.to_owned()];
        meta.year = Some(year);
        meta
    }

    #[test]
    fn pairs_that_something_speaks_against_are_doubtful() {
        let papers = [
            meta("doi:10.1000/a", "On the growth of cells in vitro", "A. Ng", 2018),
            meta("doi:10.1000/b", "On the growth of cells in vitro", "A. Ng", 2020),
            meta("local:1", "The growth of human cells in vitro", "Ada Ng", 2019),
            meta("local:2", "Sleep and memory in children", "B. Li", 2020),
        ];
        let works: Vec<Work<'_>> = papers.iter().map(|meta| Work { meta, records: &[] }).collect();
        let pairs = doubtful_pairs(&works);
        let of = |pair: &DoubtfulPair| (pair.one.to_string(), pair.other.to_string());
        assert_eq!(of(&pairs[0]), ("doi:10.1000/a".to_owned(), "doi:10.1000/b".to_owned()));
        assert!(pairs[0].why.contains("identifier of its own"), "{}", pairs[0].why);
        assert!(pairs.iter().all(|pair| !pair.other.to_string().contains("local:2")));
    }
}
