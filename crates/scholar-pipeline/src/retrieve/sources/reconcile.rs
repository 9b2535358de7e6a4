//! One paper found several ways is one candidate.

use std::collections::HashMap;

use scholar_core::text::normalise::{match_key, title_key};
use scholar_core::{Paper, PaperId, PaperMeta, Section};

/// Fewest words of a title that can tell a paper: `Editorial` and `Author correction` are many papers.
const TELLING_TITLE_WORDS: usize = 4;

/// One way a paper was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Provenance {
    /// Name of the source.
    pub source: String,
    /// What it was asked.
    pub text: String,
    /// Place in its list, from 1.
    pub rank: usize,
}

/// A paper with every way it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What the sources say together.
    pub paper: Paper,
    /// In order of finding.
    pub found: Vec<Provenance>,
}

/// Papers by what tells them: finds the records of one paper without comparing each with each.
#[derive(Debug, Default)]
pub struct KnownPapers {
    by_id: HashMap<PaperId, usize>,
    by_title: HashMap<String, Vec<usize>>,
}

impl KnownPapers {
    /// Remembers that the paper at `place` has this metadata.
    pub fn add(&mut self, meta: &PaperMeta, place: usize) {
        for id in meta.ids() {
            self.by_id.insert(id.clone(), place);
        }
        if let Some(title) = telling_title(meta) {
            let places = self.by_title.entry(title).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }

    /// The places of papers that `meta` speaks of, ascending: those that share an identifier, or a telling title that
    /// nothing speaks against. `at` gives the metadata at a place, `None` where a paper is no longer.
    pub fn places<'a>(
        &self,
        meta: &PaperMeta,
        at: impl Fn(usize) -> Option<&'a PaperMeta>,
    ) -> Vec<usize> {
        let mut places: Vec<usize> =
            meta.ids().filter_map(|id| self.by_id.get(id).copied()).collect();
        if let Some(title) = telling_title(meta) {
            let same = self.by_title.get(&title).into_iter().flatten().copied();
            places.extend(same.filter(|place| at(*place).is_some_and(|it| may_be_same(it, meta))));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// Joins the records of one paper: those that share an identifier, or a telling title with a first author and years
/// that agree. In order of first finding.
pub fn reconcile(found: Vec<(Provenance, Paper)>) -> Vec<Candidate> {
    let mut candidates: Vec<Option<Candidate>> = Vec::new();
    let mut known = KnownPapers::default();
    for (way, paper) in found {
        let at = |place: usize| candidates[place].as_ref().map(|one| &one.paper.meta);
        let places = known.places(&paper.meta, at);
        let mut joined = Candidate { paper, found: vec![way] };
        let at = places.first().copied().unwrap_or(candidates.len());
        // A record may show that two candidates were one: all go to the first one's place.
        for place in places.iter().rev() {
            if let Some(known) = candidates[*place].take() {
                joined = join(known, joined);
            }
        }
        known.add(&joined.paper.meta, at);
        if at == candidates.len() {
            candidates.push(Some(joined));
        } else {
            candidates[at] = Some(joined);
        }
    }
    candidates.into_iter().flatten().collect()
}

/// Whether two records speak of one paper: by a shared identifier, or a telling title that nothing speaks against.
pub(super) fn is_same(a: &PaperMeta, b: &PaperMeta) -> bool {
    a.ids().any(|id| b.ids().any(|other| other == id))
        || telling_title(a).is_some_and(|title| telling_title(b) == Some(title))
            && may_be_same(a, b)
}

fn telling_title(meta: &PaperMeta) -> Option<String> {
    let key = title_key(&meta.title);
    (key.split(' ').count() >= TELLING_TITLE_WORDS).then_some(key)
}

/// Whether nothing that both records state speaks against their being one paper of the same title. A preprint and its
/// printing may be a year apart and have identifiers of their own.
fn may_be_same(a: &PaperMeta, b: &PaperMeta) -> bool {
    let years = match (a.year, b.year) {
        (Some(a), Some(b)) => a.abs_diff(b) <= 1,
        _ => true,
    };
    let authors = match (first_surname(a), first_surname(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    years && authors
}

/// `Lovelace` of `Ada Lovelace` and of `Lovelace, Ada`, folded.
fn first_surname(meta: &PaperMeta) -> Option<String> {
    let name = meta.authors.first()?;
    let surname = match name.split_once(',') {
        Some((surname, _)) => surname,
        None => name.split_whitespace().next_back()?,
    };
    Some(match_key(surname)).filter(|surname| !surname.is_empty())
}

/// Both records as one: the first keeps its place and wording where it has one.
fn join(first: Candidate, second: Candidate) -> Candidate {
    let Candidate { paper: mut kept, found: mut ways } = first;
    let Candidate { paper: other, found } = second;
    ways.extend(found);
    let Paper { meta, sections, references, records: _ } = other;
    join_meta(&mut kept.meta, meta);
    if letters(&sections) > letters(&kept.sections) {
        kept.sections = sections;
    }
    for reference in references {
        if !kept.references.contains(&reference) {
            kept.references.push(reference);
        }
    }
    Candidate { paper: kept, found: ways }
}

/// Adds what another record of the same paper knows. The first record's wording stays where it has one, the worst
/// status and the earliest day of both count.
pub fn join_meta(kept: &mut PaperMeta, other: PaperMeta) {
    let PaperMeta {
        id,
        external_ids,
        title,
        authors,
        year,
        published,
        venue,
        url,
        citation_count,
        licence,
        retraction,
    } = other;
    let mut all: Vec<PaperId> = kept.ids().cloned().chain([id]).chain(external_ids).collect();
    all.sort_by_key(|id| (id.registry_rank(), id.clone()));
    all.dedup();
    kept.id = all.remove(0);
    kept.external_ids = all;
    if kept.title.is_empty() {
        kept.title = title;
    }
    if authors.len() > kept.authors.len() {
        kept.authors = authors;
    }
    // The earliest day that a source states is when the work could first be read.
    kept.published = match (kept.published, published) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    kept.year = match (kept.year, year) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    kept.venue = kept.venue.take().or(venue);
    kept.url = kept.url.take().or(url);
    kept.citation_count = kept.citation_count.max(citation_count);
    kept.licence = kept.licence.take().or(licence);
    kept.retraction = kept.retraction.max(retraction);
}

fn letters(sections: &[Section]) -> usize {
    sections.iter().map(|section| section.text.len()).sum()
}

#[cfg(test)]
mod tests {
    use scholar_core::Retraction;

    use super::*;

    fn way(source: &str, rank: usize) -> Provenance {
        Provenance { source: source.to_owned(), text: "q".to_owned(), rank }
    }

    fn paper(id: &str, others: &[&str], title: &str, author: &str, year: i16) -> Paper {
        let mut meta = PaperMeta::new(id.parse().expect("an identifier"), title);
        meta.external_ids = others.iter().map(|id| id.parse().expect("an identifier")).collect();
        meta.authors = vec![author.to_owned()];
        meta.year = Some(year);
        Paper { meta, sections: Vec::new(), references: Vec::new(), records: Vec::new() }
    }

    #[test]
    fn a_paper_found_five_ways_is_one_candidate() {
        let title = "Synthesizing scientific literature with language models";
        let found = vec![
            (way("s2", 1), paper("corpusid:5", &["arxiv:2411.14199"], title, "Ada Lovelace", 2024)),
            (way("openalex", 3), paper("openalex:W9", &["doi:10.1/x"], title, "A. Lovelace", 2025)),
            (way("arxiv", 2), paper("arxiv:2411.14199", &[], title, "Lovelace, Ada", 2024)),
            (
                way("pubmed", 1),
                paper("pmid:7", &["doi:10.1/x"], "Synthesising literature", "B", 2025),
            ),
            (way("web", 9), paper("arxiv:2411.14199", &[], "", "", 2024)),
            (way("s2", 2), paper("corpusid:6", &[], title, "Someone Else", 2024)),
        ];
        let candidates = reconcile(found);
        assert_eq!(candidates.len(), 2, "{candidates:#?}");
        let sources: Vec<&str> = candidates[0].found.iter().map(|w| w.source.as_str()).collect();
        assert_eq!(sources, ["s2", "openalex", "arxiv", "pubmed", "web"]);
        let meta = &candidates[0].paper.meta;
        assert_eq!(meta.id.to_string(), "doi:10.1/x");
        assert_eq!(meta.external_ids.len(), 4, "{meta:?}");
        assert_eq!(meta.year, Some(2024));
    }

    #[test]
    fn a_record_can_show_that_two_candidates_are_one() {
        let found = vec![
            (way("a", 1), paper("doi:10.1/x", &[], "One title of a paper", "A", 2020)),
            (way("b", 1), paper("pmid:3", &[], "Another wording of the title", "A", 2020)),
            (way("c", 1), paper("pmid:3", &["doi:10.1/x"], "", "", 2020)),
        ];
        let candidates = reconcile(found);
        assert_eq!(candidates.len(), 1);
        assert_eq!(candidates[0].found.len(), 3);
        assert_eq!(candidates[0].paper.meta.title, "One title of a paper");
    }

    #[test]
    fn short_titles_and_contradictions_join_nothing() {
        let found = vec![
            (way("a", 1), paper("doi:10.1/x", &[], "Editorial", "A", 2020)),
            (way("a", 2), paper("doi:10.1/y", &[], "Editorial", "A", 2020)),
            (way("a", 3), paper("doi:10.1/z", &[], "A long and telling title", "A", 2010)),
            (way("a", 4), paper("doi:10.1/w", &[], "A long and telling title", "A", 2020)),
        ];
        assert_eq!(reconcile(found).len(), 4);
    }

    #[test]
    fn the_worst_that_is_known_of_a_paper_stays() {
        let mut bad = paper("doi:10.1/x", &[], "t", "A", 2020);
        bad.meta.retraction = Retraction::Retracted;
        let mut clean = bad.clone();
        clean.meta.retraction = Retraction::Clean;
        clean.meta.citation_count = Some(3);
        let joined = reconcile(vec![(way("a", 1), bad), (way("b", 1), clean)]);
        assert_eq!(joined[0].paper.meta.retraction, Retraction::Retracted);
        assert_eq!(joined[0].paper.meta.citation_count, Some(3));
    }
}
