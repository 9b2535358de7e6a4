//! Which of a paper's references are papers that are here.

use std::collections::BTreeSet;

use scholar_core::{Paper, PaperId, PaperMeta, PrintedReference};
use scholar_datastore::Datastore;
use scholar_formats::library::matching::{MatchedBy, Matcher};

use crate::error::CommandError;

/// A reference and the paper it means.
pub(crate) struct Matched {
    /// As printed, else its title.
    pub(crate) reference: String,
    /// The paper it means.
    pub(crate) paper: PaperId,
    /// Its title.
    pub(crate) title: String,
    pub(crate) by: MatchedBy,
}

/// Adds to every paper the references that match one of `papers` or of `store`; those that state an identifier known there
/// are told too, and need nothing added, because the graph resolves identifiers. One list a paper.
pub(crate) fn match_references(
    store: Option<&Datastore>,
    papers: &mut [&mut Paper],
) -> Result<Vec<Vec<Matched>>, CommandError> {
    let batch: Vec<PaperMeta> = papers.iter().map(|paper| paper.meta.clone()).collect();
    let store = store.map(StoredTitles::new).transpose()?;
    let known = Known { store, batch: Matcher::new(&batch) };
    let mut matched = Vec::new();
    for paper in papers {
        matched.push(match_paper(paper, |reference| known.find(reference))?);
    }
    Ok(matched)
}

/// Adds to a stored paper the references that match one of `new`, which came after it; whether there are any.
pub(crate) fn match_late(paper: &mut Paper, new: &Matcher) -> Result<bool, CommandError> {
    let before = paper.references.len();
    match_paper(paper, |reference| {
        let found = new.find(reference);
        Ok(found.map(|found| Matched {
            reference: reference.text.clone(),
            paper: found.paper,
            title: found.title,
            by: found.by,
        }))
    })?;
    Ok(paper.references.len() > before)
}

fn match_paper(
    paper: &mut Paper,
    find: impl Fn(&PrintedReference) -> Result<Option<Matched>, CommandError>,
) -> Result<Vec<Matched>, CommandError> {
    let Paper { meta, references, records, .. } = paper;
    let mut matched = Vec::new();
    for record in records {
        for reference in &record.references {
            let Some(found) = find(reference)? else { continue };
            if meta.ids().any(|own| *own == found.paper) {
                continue;
            }
            if found.by != MatchedBy::Id && !references.contains(&found.paper) {
                references.push(found.paper.clone());
                record.cited.push(found.paper.clone());
            }
            matched.push(found);
        }
    }
    Ok(matched)
}

/// The papers that references may mean.
struct Known<'a> {
    store: Option<StoredTitles<'a>>,
    batch: Matcher,
}

impl Known<'_> {
    /// The stored paper that `reference` means, else the one that is being taken in.
    fn find(&self, reference: &PrintedReference) -> Result<Option<Matched>, CommandError> {
        if let Some(store) = &self.store
            && let Some(found) = store.find(reference)?
        {
            return Ok(Some(found));
        }
        let found = self.batch.find(reference);
        Ok(found.map(|found| told(reference, found.paper, found.title, found.by)))
    }
}

fn told(reference: &PrintedReference, paper: PaperId, title: String, by: MatchedBy) -> Matched {
    let printed = Some(&reference.text).filter(|text| !text.is_empty());
    let printed = printed.or(reference.title.as_ref()).cloned().unwrap_or_default();
    Matched { reference: printed, paper, title, by }
}

/// Most stored papers whose titles are kept in memory for matching; in larger stores only titles that stand in a reference letter
/// by letter are found.
const TITLES_IN_MEMORY: u64 = 100_000;

/// Stored papers, ready to be asked for many references.
pub(crate) struct StoredTitles<'a> {
    store: &'a Datastore,
    titles: Option<Matcher>,
}

impl<'a> StoredTitles<'a> {
    pub(crate) fn new(store: &'a Datastore) -> Result<Self, CommandError> {
        let titles = store.title_matcher(TITLES_IN_MEMORY)?;
        Ok(Self { store, titles })
    }

    /// The stored paper that `reference` means: by an identifier that it states, else by title, author and year.
    pub(crate) fn find(
        &self,
        reference: &PrintedReference,
    ) -> Result<Option<Matched>, CommandError> {
        for id in &reference.ids {
            if let Some(paper) = self.store.paper(id)? {
                let PaperMeta { id, title, .. } = paper.meta;
                return Ok(Some(told(reference, id, title, MatchedBy::Id)));
            }
        }
        if let Some(titles) = &self.titles {
            let found = titles.find(reference);
            return Ok(found.map(|found| told(reference, found.paper, found.title, found.by)));
        }
        let mut stored: Vec<PaperMeta> = Vec::new();
        for title in titles(reference) {
            stored.extend(self.store.papers_titled(title)?);
        }
        let Some(found) = Matcher::new(&stored).find(reference) else { return Ok(None) };
        let title = stored.into_iter().find(|meta| meta.id == found.paper);
        let title = title.map(|meta| meta.title).unwrap_or_default();
        Ok(Some(told(reference, found.paper, title, found.by)))
    }
}

/// Fewest words of a part of a printed reference that may be its title.
const TITLE_WORDS: usize = 4;

/// The title, or the parts of the printed text that may be it: a candidate still has to agree in year and author. Commas
/// part some styles and stand in the titles of others, so both ways of parting are tried.
fn titles(reference: &PrintedReference) -> BTreeSet<&str> {
    if let Some(title) = &reference.title {
        return BTreeSet::from([title.as_str()]);
    }
    const STOPS: [char; 4] = ['.', '“', '”', '"'];
    let is_stop = |c: char| STOPS.contains(&c);
    let parts = reference.text.split(is_stop);
    let finer = reference.text.split(move |c| is_stop(c) || "?;,".contains(c));
    let trimmed = parts.chain(finer).map(|part| part.trim().trim_end_matches([',', ';', '?']));
    trimmed.filter(|part| part.split(' ').count() >= TITLE_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_reference_offers_its_parts() {
        let text = "A. Vaswani and N. Shazeer. 2017. Attention is all you need. In Proc. of NIPS.";
        let of = |text: &str| {
            let printed = PrintedReference { text: text.to_owned(), ..PrintedReference::default() };
            titles(&printed).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let title = "Attention is all you need";
        assert_eq!(of(text), [title]);
        let commas = format!("A. Vaswani, N. Shazeer, {title}, NIPS 2017");
        assert!(of(&commas).contains(&title.to_owned()), "{:?}", of(&commas));
        let quoted = format!("A. Vaswani, “{title},” in NIPS, 2017");
        assert_eq!(of(&quoted), [title]);
        let told = PrintedReference {
            title: Some("Short".to_owned()),
            text: text.to_owned(),
            ..PrintedReference::default()
        };
        assert_eq!(titles(&told), BTreeSet::from(["Short"]));
    }
}
