//! One paper from the records of one work.
//!
//! Field by field the curated library comes before publisher and registry, these before what was read from a page. The result
//! depends on the set of records and not on the order in which they came, as long as no two of one precedence disagree;
//! then the earlier one stays.

use std::collections::{BTreeMap, HashSet};

use super::super::{ABSTRACT_HEADING, Paper, PaperMeta};
use super::{Confidence, FieldOrigin, MetaField, RecordSource, SourceRecord};
use crate::ids::PaperId;

/// Where a field of a paper's metadata comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSource<'a> {
    /// Whose value the paper has.
    pub source: &'a RecordSource,
    /// Where in a document it was read.
    pub read: Option<FieldOrigin>,
    /// What other records say instead.
    pub others: Vec<OtherValue<'a>>,
}

/// A value of a field that another record's was preferred to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherValue<'a> {
    /// Who states it.
    pub source: &'a RecordSource,
    /// The value, as it is shown.
    pub value: String,
}

impl Paper {
    /// The paper that `records` of one work describe; `None` without any. Its identifier is the one it is known by in a
    /// collection, else in a person's library, else the one that most registries share; `local:` ones come last.
    pub fn of_records(mut records: Vec<SourceRecord>) -> Option<Self> {
        let meta = merged_meta(&records)?;
        let mut sections = Vec::new();
        let best = (0..records.len())
            .filter(|at| !records[*at].sections.is_empty())
            .min_by_key(|at| text_standing(&records[*at]));
        for (at, record) in records.iter_mut().enumerate() {
            record.has_text = Some(at) == best;
            if record.has_text {
                sections = std::mem::take(&mut record.sections);
            }
        }
        let own: HashSet<&PaperId> = meta.ids().collect();
        let mut seen: HashSet<&PaperId> = HashSet::new();
        let cited = ordered(&records, |record| standing(&record.source));
        let cited = cited.iter().flat_map(|record| &record.cited);
        let references = cited.filter(|id| !own.contains(id) && seen.insert(id)).cloned().collect();
        Some(Self { meta, sections, references, records })
    }

    /// Its records, each with the text it brought. A paper that came as a row of `collection` has one.
    pub fn into_records(self, collection: &str) -> Vec<SourceRecord> {
        let Self { meta, sections, references, mut records } = self;
        if records.is_empty() {
            let source = RecordSource::Collection { name: collection.to_owned() };
            let cited = references;
            return vec![SourceRecord { sections, cited, ..SourceRecord::new(source, meta) }];
        }
        if let Some(owner) = records.iter_mut().find(|record| record.has_text) {
            owner.sections = sections;
        }
        records
    }

    /// Where each field of its metadata comes from; empty for a paper without records.
    pub fn field_sources(&self) -> BTreeMap<MetaField, FieldSource<'_>> {
        let fields = [
            MetaField::Title,
            MetaField::Authors,
            MetaField::Year,
            MetaField::Venue,
            MetaField::Identifiers,
        ];
        let sourced = fields.into_iter().filter_map(|field| {
            let stating = stating(&self.records, field);
            let (first, later) = stating.split_first()?;
            let own = shown(&first.meta, field);
            let mut others: Vec<OtherValue<'_>> = Vec::new();
            for record in later {
                let value = shown(&record.meta, field);
                if value != own && field != MetaField::Identifiers {
                    others.push(OtherValue { source: &record.source, value });
                }
            }
            let read = first.fields.get(&field).copied();
            Some((field, FieldSource { source: &first.source, read, others }))
        });
        sourced.collect()
    }
}

/// Precedence of who states a record, the least first.
fn standing(source: &RecordSource) -> u8 {
    match source {
        RecordSource::Library { .. } => 0,
        RecordSource::Registry { .. } | RecordSource::Collection { .. } => 1,
        RecordSource::File(file) if is_structured(&file.format) => 1,
        RecordSource::File(_) => 2,
    }
}

/// Whether a document's markup names the fields, so that its publisher states them.
fn is_structured(format: &str) -> bool {
    !["PDF", "plain text", "Markdown"].iter().any(|pages| format.starts_with(pages))
}

/// Precedence of a record's text: structured before plain before pages; a text that is no more than an abstract last.
fn text_standing(record: &SourceRecord) -> u8 {
    if record.sections.iter().all(|section| section.heading == ABSTRACT_HEADING) {
        return 3;
    }
    match &record.source {
        RecordSource::File(file) if file.format.starts_with("PDF") => 2,
        RecordSource::File(file) if !is_structured(&file.format) => 1,
        _ => 0,
    }
}

/// A stable order by `key`.
fn ordered(records: &[SourceRecord], key: impl Fn(&SourceRecord) -> u8) -> Vec<&SourceRecord> {
    let mut ordered: Vec<&SourceRecord> = records.iter().collect();
    ordered.sort_by_key(|record| key(record));
    ordered
}

/// The records that state `field`, the one whose value counts first.
fn stating(records: &[SourceRecord], field: MetaField) -> Vec<&SourceRecord> {
    let weak = |record: &SourceRecord| {
        record.fields.get(&field).is_some_and(|read| read.confidence == Confidence::Low)
    };
    // What a reader of pages is not sure of comes after what others state, and a list that says itself that it is cut after both.
    let rank = |record: &SourceRecord| match (weak(record), &record.source) {
        (false, source) => standing(source),
        (true, RecordSource::Library { .. }) => u8::MAX,
        (true, source) => u8::MAX / 2 + standing(source),
    };
    let by_precedence = ordered(records, rank);
    by_precedence.into_iter().filter(|record| !shown(&record.meta, field).is_empty()).collect()
}

/// A field's value as it is shown; empty where the record does not state it.
fn shown(meta: &PaperMeta, field: MetaField) -> String {
    match field {
        MetaField::Title => meta.title.clone(),
        MetaField::Authors => meta.authors.join("; "),
        MetaField::Year => meta.year.map(|year| year.to_string()).unwrap_or_default(),
        MetaField::Venue => meta.venue.clone().unwrap_or_default(),
        MetaField::Identifiers => {
            let public = meta.ids().filter(|id| !matches!(id, PaperId::Local(_)));
            public.map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
    }
}

fn merged_meta(records: &[SourceRecord]) -> Option<PaperMeta> {
    let first = |field| stating(records, field).first().map(|record| &record.meta);
    let by_precedence = ordered(records, |record| standing(&record.source));
    let mut ids: Vec<PaperId> = Vec::new();
    for id in by_precedence.iter().flat_map(|record| record.meta.ids()) {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    let filed = filed_under(&by_precedence, &ids)?;
    ids.retain(|id| *id != filed);
    let title = first(MetaField::Title).map(|meta| meta.title.clone()).unwrap_or_default();
    let mut merged = PaperMeta::new(filed, title);
    merged.external_ids = ids;
    merged.authors = first(MetaField::Authors).map(|m| m.authors.clone()).unwrap_or_default();
    merged.year = first(MetaField::Year).and_then(|meta| meta.year);
    let days = stating(records, MetaField::Year).into_iter().filter_map(|r| r.meta.published);
    merged.published = days.into_iter().find(|day| Some(day.year()) == merged.year);
    merged.venue = first(MetaField::Venue).and_then(|meta| meta.venue.clone());
    let stated = |value: fn(&PaperMeta) -> Option<String>| {
        by_precedence.iter().find_map(|record| value(&record.meta))
    };
    merged.url = stated(|meta| meta.url.clone());
    merged.licence = stated(|meta| meta.licence.clone());
    merged.citation_count = records.iter().filter_map(|record| record.meta.citation_count).max();
    merged.retraction =
        records.iter().map(|record| record.meta.retraction).max().unwrap_or_default();
    Some(merged)
}

/// The identifier that a paper of these records is filed under.
fn filed_under(records: &[&SourceRecord], ids: &[PaperId]) -> Option<PaperId> {
    if let [only] = records {
        return Some(only.meta.id.clone());
    }
    let is_public = |id: &&PaperId| !matches!(id, PaperId::Local(_));
    let of = |wanted: fn(&RecordSource) -> bool| {
        let own = records.iter().filter(|record| wanted(&record.source)).map(|r| &r.meta.id);
        own.into_iter().find(is_public).cloned()
    };
    of(|source| matches!(source, RecordSource::Collection { .. }))
        .or_else(|| of(|source| matches!(source, RecordSource::Library { .. })))
        .or_else(|| ids.iter().min_by_key(|id| id.registry_rank()).cloned())
}

/// Puts `later` records among `records`: one of the same entry or file takes the place of the earlier.
pub fn put_records(records: &mut Vec<SourceRecord>, later: Vec<SourceRecord>) {
    for mut record in later {
        match records.iter_mut().find(|known| known.source.is_same(&record.source)) {
            Some(known) => {
                // What a person said of it holds for its new state as well.
                record.distinct_from.extend(std::mem::take(&mut known.distinct_from));
                *known = record;
            }
            None => records.push(record),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::super::Section;
    use super::super::{MetaOrigin, SourceFile};
    use super::*;

    fn meta(id: &str, title: &str, authors: &[&str], year: Option<i16>) -> PaperMeta {
        let mut meta = PaperMeta::new(id.parse().expect("an identifier"), title);
        meta.authors = authors.iter().map(|name| (*name).to_owned()).collect();
        meta.year = year;
        meta
    }

    fn pdf() -> SourceRecord {
        let file = SourceFile {
            path: PathBuf::from("/papers/a.pdf"),
            sha256: "ab".to_owned(),
            bytes: 2,
            modified: None,
            format: "PDF".to_owned(),
        };
        let own = meta("local:sha256-ab", "On Cells and Tissues", &["A. Ng"], Some(2020));
        let mut record = SourceRecord::new(RecordSource::File(file), own);
        record.sections = vec![Section::new("", "Cells divide.")];
        let low = FieldOrigin { origin: MetaOrigin::Page, confidence: Confidence::Low };
        record.fields.insert(MetaField::Year, low);
        record
    }

    fn entry() -> SourceRecord {
        let source = RecordSource::Library {
            library: "/papers/refs.bib".to_owned(),
            key: Some("ng2021".to_owned()),
            files: Vec::new(),
        };
        let mut record =
            SourceRecord::new(source, meta("local:ng2021-1", "On cells", &["Ada Ng"], Some(2021)));
        record.sections = vec![Section::new("Abstract", "A summary.")];
        record
    }

    fn registry() -> SourceRecord {
        let names = "Crossref".to_owned();
        let mut own = meta("doi:10.1000/x", "On Cells & Tissues", &[], Some(2021));
        own.venue = Some("Journal of Cells".to_owned());
        SourceRecord::new(RecordSource::Registry { names, asked: None }, own)
    }

    #[test]
    fn every_order_of_records_gives_one_paper() {
        let all = [pdf(), entry(), registry()];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut paper: Option<Paper> = None;
            for at in order {
                let mut records = paper.map(|p| p.into_records("x")).unwrap_or_default();
                put_records(&mut records, vec![all[at].clone()]);
                paper = Paper::of_records(records);
            }
            let paper = paper.expect("records");
            let PaperMeta { id, title, authors, year, venue, .. } = &paper.meta;
            assert_eq!(id.to_string(), "doi:10.1000/x");
            assert_eq!((title.as_str(), authors.join(";").as_str()), ("On cells", "Ada Ng"));
            assert_eq!((*year, venue.as_deref()), (Some(2021), Some("Journal of Cells")));
            let others: Vec<String> =
                paper.meta.external_ids.iter().map(ToString::to_string).collect();
            assert_eq!(others, ["local:ng2021-1", "local:sha256-ab"]);
            assert_eq!(paper.sections, [Section::new("", "Cells divide.")]);
            let summary = paper.records.iter().find(|record| record.source.key().is_some());
            assert_eq!(summary.map(|record| record.sections.len()), Some(1), "kept");
        }
    }

    #[test]
    fn fields_say_where_they_come_from_and_what_others_say() {
        let paper = Paper::of_records(vec![pdf(), entry()]).expect("records");
        let sources = paper.field_sources();
        let title = &sources[&MetaField::Title];
        assert_eq!(title.source.key(), Some("ng2021"));
        assert_eq!(title.others[0].value, "On Cells and Tissues");
        assert!(!sources.contains_key(&MetaField::Venue), "nobody states it");
        // A weak year counts only where nobody else states one.
        assert_eq!(paper.meta.year, Some(2021));
        assert_eq!(Paper::of_records(vec![pdf()]).and_then(|p| p.meta.year), Some(2020));
    }

    #[test]
    fn a_file_that_changed_takes_its_own_place_and_a_record_can_leave() {
        let paper = Paper::of_records(vec![pdf(), entry()]).expect("records");
        let mut changed = pdf();
        changed.sections = vec![Section::new("", "Cells do not divide.")];
        let mut records = paper.into_records("x");
        put_records(&mut records, vec![changed]);
        let paper = Paper::of_records(records).expect("records");
        assert_eq!(paper.records.len(), 2);
        assert_eq!(paper.sections[0].text, "Cells do not divide.");
        let mut records = paper.into_records("x");
        records.retain(|record| record.source.file().is_none());
        let paper = Paper::of_records(records).expect("records");
        assert_eq!(paper.sections, [Section::new("Abstract", "A summary.")]);
    }
}
