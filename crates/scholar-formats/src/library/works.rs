//! Whether what is offered and what is known are one work.
//!
//! | evidence | is one work unless |
//! |---|---|
//! | the same entry of a library, or the same path | titles differ and no identifier is shared: another work took its place |
//! | the same bytes | |
//! | a library's entry names the file (`file=`) | another entry of that library names it too, or titles differ |
//! | `paper.xml` beside `paper.pdf` | titles differ |
//! | an identifier | titles differ: abstracts of a supplement share its DOI |
//! | title, first author, and the year within one | a registry gave each an identifier of its own |
//!
//! What a person said ([`SourceRecord::distinct_from`]) comes before all of them. Source: ours; the paper has no library.

use std::collections::BTreeSet;
use std::fmt;

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperId, PaperMeta, RecordSource, SourceRecord};

use super::matching::{overlap, surname};

/// Words that the titles of one work share at least, of all their words, where something else tells that it is one.
const SAME_WORK_OVERLAP: f64 = 0.5;
/// The same where nothing but title, author and year tells it.
const NEAR_TITLE_OVERLAP: f64 = 0.9;
/// Fewest words of a title that can tell a work where author or year are not known: `Editorial` is many works.
const TELLING_TITLE_WORDS: usize = 4;

/// A work as it is compared.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// Its metadata.
    pub meta: &'a PaperMeta,
    /// What each source says about it; empty for papers that came as rows.
    pub records: &'a [SourceRecord],
}

/// How two are known to be one work, the surest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SameBy {
    /// The same entry of a library or the same path.
    Source,
    /// Files with the same bytes.
    Content,
    /// A library's entry names the file.
    NamedFile,
    /// Two files that differ in the ending of their names alone.
    Beside,
    /// An identifier of both.
    Identifier(PaperId),
    /// Title, first author and year.
    Title,
}

impl fmt::Display for SameBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source => f.write_str("the same entry or file"),
            Self::Content => f.write_str("the same bytes"),
            Self::Beside => f.write_str("the name of the file beside it"),
            Self::NamedFile => f.write_str("the file that the entry names"),
            Self::Identifier(id) => write!(f, "the identifier {id}"),
            Self::Title => f.write_str("title, author and year"),
        }
    }
}

/// How `offered` and `known` are known to be one work; `None` where they are not, or nothing tells.
pub fn same_work(offered: Work<'_>, known: Work<'_>) -> Option<SameBy> {
    if is_told_apart(offered, known) {
        return None;
    }
    let titles = titles_overlap(offered.meta, known.meta);
    let titles_agree = titles.is_none_or(|overlap| overlap >= SAME_WORK_OVERLAP);
    let shared = shared_identifier(offered.meta, known.meta);
    let pairs =
        || offered.records.iter().flat_map(|one| known.records.iter().map(move |o| (one, o)));
    if pairs().any(|(one, other)| has_same_bytes(&one.source, &other.source)) {
        return Some(SameBy::Content);
    }
    if !titles_agree {
        // Nor does an identifier make one work of two titles.
        return None;
    }
    if pairs().any(|(one, other)| is_entry_or_path(&one.source, &other.source)) {
        return Some(SameBy::Source);
    }
    if let Some(id) = shared {
        return Some(SameBy::Identifier(id.clone()));
    }
    if names_its_file(offered, known) || names_its_file(known, offered) {
        return Some(SameBy::NamedFile);
    }
    if pairs().any(|(one, other)| is_beside(&one.source, &other.source)) {
        return Some(SameBy::Beside);
    }
    is_same_by_title(offered.meta, known.meta, titles).then_some(SameBy::Title)
}

/// Whether `known` has a record of an entry or file that now holds another work, which `offered` is.
pub fn is_taken_over(offered: Work<'_>, known: &SourceRecord) -> bool {
    offered.records.iter().any(|record| is_entry_or_path(&record.source, &known.source))
}

/// Share of the words of two titles that both have; `None` where one of them has no title.
pub fn titles_overlap(one: &PaperMeta, other: &PaperMeta) -> Option<f64> {
    let (one, other) = (title_key(&one.title), title_key(&other.title));
    if one.is_empty() || other.is_empty() {
        return None;
    }
    // Readers of pages lose the spaces and hyphens of a title before its letters.
    if one.replace(' ', "") == other.replace(' ', "") {
        return Some(1.0);
    }
    let words = |title: &str| title.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
    Some(overlap(&words(&one), &words(&other)))
}

/// An identifier of both; a `local:` one, too, because it is made from the content.
pub fn shared_identifier<'a>(one: &'a PaperMeta, other: &PaperMeta) -> Option<&'a PaperId> {
    one.ids().find(|id| other.ids().any(|known| known == *id))
}

/// Whether a registry gave each an identifier of its own.
pub fn identifiers_conflict(one: &PaperMeta, other: &PaperMeta) -> bool {
    type Kind = fn(&PaperId) -> bool;
    let kinds: [Kind; 4] = [
        |id| matches!(id, PaperId::Doi(_)),
        |id| matches!(id, PaperId::Arxiv(_)),
        |id| matches!(id, PaperId::Pmid(_)),
        |id| matches!(id, PaperId::Acl(_)),
    ];
    kinds.iter().any(|kind| {
        let of = |meta: &PaperMeta| -> Vec<PaperId> {
            meta.ids().filter(|id| kind(id)).cloned().collect()
        };
        let (one, other) = (of(one), of(other));
        // arXiv gives its papers DOIs, which say nothing about the published version.
        let is_preprint = |ids: &[PaperId]| ids.iter().any(|id| id.twin().is_some());
        !one.is_empty()
            && !other.is_empty()
            && !one.iter().any(|id| other.contains(id))
            && !(matches!(one[0], PaperId::Doi(_)) && (is_preprint(&one) || is_preprint(&other)))
    })
}

/// Whether a person said that they are two works.
pub fn is_told_apart(one: Work<'_>, other: Work<'_>) -> bool {
    let says = |by: Work<'_>, of: Work<'_>| {
        let told = by.records.iter().flat_map(|record| &record.distinct_from);
        let mut told = told.into_iter();
        told.any(|id| of.meta.ids().any(|own| own == id))
    };
    says(one, other) || says(other, one)
}

fn is_entry_or_path(one: &RecordSource, other: &RecordSource) -> bool {
    !matches!(one, RecordSource::Registry { .. } | RecordSource::Collection { .. })
        && one.is_same(other)
}

fn has_same_bytes(one: &RecordSource, other: &RecordSource) -> bool {
    let (one, other) = (one.file(), other.file());
    one.zip(other).is_some_and(|(one, other)| one.sha256 == other.sha256)
}

fn is_beside(one: &RecordSource, other: &RecordSource) -> bool {
    let (one, other) = (one.file(), other.file());
    one.zip(other).is_some_and(|(one, other)| {
        one.path != other.path && one.path.with_extension("") == other.path.with_extension("")
    })
}

/// Whether an entry of `entry` names a file of `file`, and no other entry of its library that `file` has does.
fn names_its_file(entry: Work<'_>, file: Work<'_>) -> bool {
    let mut named = entry.records.iter().filter_map(|record| match &record.source {
        RecordSource::Library { library, key, files } => Some((library, key, files)),
        RecordSource::File(_) | RecordSource::Registry { .. } | RecordSource::Collection { .. } => {
            None
        }
    });
    named.any(|(library, key, files)| {
        let names = file.records.iter().filter_map(|record| record.source.file());
        let is_named = names.into_iter().any(|it| files.contains(&it.path));
        let has_other_entry = file.records.iter().any(|record| match &record.source {
            RecordSource::Library { library: of, key: other, .. } => of == library && other != key,
            RecordSource::File(_)
            | RecordSource::Registry { .. }
            | RecordSource::Collection { .. } => false,
        });
        is_named && !has_other_entry
    })
}

fn is_same_by_title(one: &PaperMeta, other: &PaperMeta, shared: Option<f64>) -> bool {
    let Some(shared) = shared.filter(|_| !identifiers_conflict(one, other)) else { return false };
    let year = |meta: &PaperMeta| meta.year.or_else(|| meta.published.map(jiff::civil::Date::year));
    let years = year(one).zip(year(other)).map(|(one, other)| one.abs_diff(other) <= 1);
    let family = |meta: &PaperMeta| meta.authors.first().and_then(|name| surname(name));
    let authors = family(one).zip(family(other)).map(|(one, other)| one == other);
    let is_telling = title_key(&one.title).split(' ').count() >= TELLING_TITLE_WORDS;
    if shared >= 1.0 && is_telling {
        years != Some(false) && authors != Some(false)
    } else {
        shared >= NEAR_TITLE_OVERLAP && years == Some(true) && authors == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use scholar_core::SourceFile;

    use super::*;

    fn meta(id: &str, title: &str, author: &str, year: i16) -> PaperMeta {
        let mut meta = PaperMeta::new(id.parse().expect("an identifier"), title);
        meta.authors =
            vec![author.to_owned()].into_iter().filter(|name| !name.is_empty()).collect();
        meta.year = Some(year).filter(|year| *year > 0);
        meta
    }

    fn pdf(path: &str, digest: &str, meta: &PaperMeta) -> SourceRecord {
        let file = SourceFile {
            path: PathBuf::from(path),
            sha256: digest.to_owned(),
            bytes: 1,
            modified: None,
            format: "PDF".to_owned(),
        };
        SourceRecord::new(RecordSource::File(file), meta.clone())
    }

    fn entry(key: &str, file: Option<&str>, meta: &PaperMeta) -> SourceRecord {
        let source = RecordSource::Library {
            library: "/refs.bib".to_owned(),
            key: Some(key.to_owned()),
            files: file.map(PathBuf::from).into_iter().collect(),
        };
        SourceRecord::new(source, meta.clone())
    }

    fn same(one: &SourceRecord, other: &SourceRecord) -> Option<SameBy> {
        fn work(record: &SourceRecord) -> Work<'_> {
            Work { meta: &record.meta, records: std::slice::from_ref(record) }
        }
        same_work(work(one), work(other))
    }

    #[test]
    fn one_work_is_known_by_whatever_tells() {
        let page = meta("local:sha256-1", "On the Growth of Cells in Vitro", "A. Ng", 0);
        let list = meta("local:ng-1", "On the growth of cells in vitro", "Ng, Ada", 2020);
        let (file, named) = (pdf("/a.pdf", "1", &page), entry("ng", Some("/a.pdf"), &list));
        assert_eq!(same(&file, &named), Some(SameBy::NamedFile));
        assert_eq!(same(&named, &file), Some(SameBy::NamedFile));
        assert_eq!(same(&file, &entry("ng", None, &list)), Some(SameBy::Title));
        assert_eq!(same(&file, &pdf("/b.pdf", "1", &list)), Some(SameBy::Content));
        assert_eq!(same(&file, &pdf("/a.pdf", "2", &list)), Some(SameBy::Source));
        let doi = meta("doi:10.1000/x", "", "", 0);
        let mut numbered = page.clone();
        numbered.external_ids = vec!["doi:10.1000/x".parse().expect("an identifier")];
        let found = same(&pdf("/a.pdf", "1", &numbered), &entry("x", None, &doi));
        assert_eq!(found, Some(SameBy::Identifier(doi.id)));
    }

    #[test]
    fn two_works_stay_two() {
        let cells = meta("local:1", "On the growth of cells in vitro", "A. Ng", 2020);
        let other = meta("local:2", "Sleep and memory in children", "B. Li", 2020);
        assert_eq!(same(&pdf("/a.pdf", "1", &cells), &pdf("/a.pdf", "2", &other)), None);
        assert_eq!(same(&entry("k", None, &cells), &entry("k", None, &other)), None);
        let mut one = cells.clone();
        one.external_ids = vec!["doi:10.1000/a".parse().expect("an identifier")];
        let mut two = cells.clone();
        two.id = "doi:10.1000/b".parse().expect("an identifier");
        one.id = "local:3".parse().expect("an identifier");
        assert_eq!(same(&entry("a", None, &one), &entry("b", None, &two)), None, "two DOIs");
        let mut later = cells.clone();
        later.id = "local:4".parse().expect("an identifier");
        later.year = Some(2024);
        assert_eq!(same(&entry("a", None, &cells), &entry("b", None, &later)), None, "years");
        let editorial = |id, author, year| {
            entry(id, None, &meta(&format!("local:{id}"), "Editorial", author, year))
        };
        assert_eq!(same(&editorial("a", "A. Ng", 2020), &editorial("b", "", 2020)), None);
        let told = |record: &SourceRecord| SourceRecord {
            distinct_from: vec!["local:sha256-9".parse().expect("an identifier")],
            ..record.clone()
        };
        let mut page = cells.clone();
        page.id = "local:sha256-9".parse().expect("an identifier");
        let file = pdf("/a.pdf", "1", &page);
        assert_eq!(
            same(&told(&entry("a", Some("/a.pdf"), &cells)), &file),
            None,
            "a person said so"
        );
    }

    #[test]
    fn a_volume_that_two_entries_name_is_not_both() {
        let cells = meta("local:1", "On the growth of cells in vitro", "A. Ng", 2020);
        let sleep = meta("local:2", "Sleep and memory in children", "B. Li", 2020);
        let volume = meta("local:sha256-1", "", "", 0);
        let held = [pdf("/v.pdf", "1", &volume), entry("cells", Some("/v.pdf"), &cells)];
        let known = Work { meta: &volume, records: &held };
        let second = entry("sleep", Some("/v.pdf"), &sleep);
        let offered = Work { meta: &sleep, records: std::slice::from_ref(&second) };
        assert_eq!(same_work(offered, known), None);
    }
}
