//! What readers gather, and how it becomes a [`Document`].

use std::collections::{BTreeMap, HashSet};

use jiff::civil::Date;
use scholar_core::text::hex;
use scholar_core::{
    Confidence, FieldOrigin, Limit, MetaField, MetaOrigin, Notice, NoticeKind, PageBox, Paper,
    PaperId, PaperMeta, Place, Retraction, Section,
};
use sha2::{Digest as _, Sha256};

use super::dates::StatedDate;
use super::{Document, PrintedReference, ReadLimits, hyphens};

/// A section's text, put together from paragraphs.
#[derive(Debug, Default)]
pub(crate) struct SectionText {
    text: String,
    chars: usize,
    places: Vec<Place>,
}

impl SectionText {
    /// Adds a finished paragraph, and where it stands if that is known.
    pub(crate) fn paragraph(&mut self, paragraph: &str, place: Option<(u32, Option<PageBox>)>) {
        if paragraph.is_empty() {
            return;
        }
        if self.chars > 0 {
            self.text.push(' ');
            self.chars += 1;
        }
        if let Some((page, bbox)) = place {
            self.places.push(Place { start: self.chars, page, bbox });
        }
        self.text.push_str(paragraph);
        self.chars += paragraph.chars().count();
    }

    /// Adds a line as printed: a hyphen of the printer at the end of the one before goes.
    pub(crate) fn line(&mut self, line: &str, page: u32, bbox: PageBox) {
        if hyphens::joins_without_hyphen(&self.text, line) {
            self.text.pop();
            self.chars -= 1;
        } else if self.chars > 0 && !hyphens::ends_in_hyphen(&self.text) {
            self.text.push(' ');
            self.chars += 1;
        }
        self.places.push(Place { start: self.chars, page, bbox: Some(bbox) });
        self.text.push_str(line);
        self.chars += line.chars().count();
    }

    /// Whether nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.chars == 0
    }

    /// The section, and an empty text again.
    pub(crate) fn take(&mut self, heading: &str) -> Section {
        let Self { text, places, .. } = std::mem::take(self);
        Section { heading: clipped(heading, LONGEST_HEADING).to_owned(), text, places }
    }
}

/// Longest path of headings, in characters, and the part of it that one heading may have: each section below a heading
/// repeats it, so that a long one over many sections would fill the memory.
const LONGEST_HEADING: usize = 1_000;
const LONGEST_OWN_HEADING: usize = 300;

/// One heading of a path.
pub(crate) fn heading_words(own: String) -> String {
    match clipped(&own, LONGEST_OWN_HEADING).len() {
        length if length < own.len() => own[..length].to_owned(),
        _ => own,
    }
}

fn clipped(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

/// What a document said so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) title: String,
    pub(crate) authors: Vec<String>,
    pub(crate) ids: Vec<PaperId>,
    pub(crate) dates: Vec<StatedDate>,
    pub(crate) venue: Option<String>,
    pub(crate) licence: Option<String>,
    pub(crate) retraction: Retraction,
    /// Abstract, then body.
    pub(crate) sections: Vec<Section>,
    /// Collected apart, because they interrupt the text they stand in.
    pub(crate) footnotes: Vec<String>,
    /// Figures and tables.
    pub(crate) captions: Vec<Section>,
    pub(crate) references: Vec<PrintedReference>,
    pub(crate) notices: Vec<Notice>,
    /// Where fields were read, by readers that tell; those that do not read markup that names them.
    pub(crate) fields: BTreeMap<MetaField, FieldOrigin>,
    pub(crate) file_date: Option<Date>,
}

/// Most identifiers of one paper: each is compared with those before it.
const MOST_IDS: usize = 100;

/// Heading of the section that holds what stood in footnotes.
const FOOTNOTES_HEADING: &str = "Footnotes";

impl Draft {
    /// Adds an identifier unless it is there.
    pub(crate) fn id(&mut self, id: PaperId) {
        if self.ids.len() < MOST_IDS && !self.ids.contains(&id) {
            self.ids.push(id);
        }
    }

    /// Adds a section unless it is empty.
    pub(crate) fn section(&mut self, section: Section) {
        if !section.text.is_empty() {
            self.sections.push(section);
        }
    }

    /// Adds the caption of a figure or table unless it is empty.
    pub(crate) fn caption(&mut self, label: &str, fallback: &str, text: String) {
        if !text.is_empty() {
            self.captions.push(Section::new(caption_heading(label, fallback), text));
        }
    }

    /// The document. Sections are in reading order, then footnotes, then captions; the identifier is the best that the
    /// document states, else one made from `bytes`.
    pub(crate) fn finish(mut self, bytes: &[u8], limits: ReadLimits) -> Document {
        let mut footnotes = SectionText::default();
        for note in &self.footnotes {
            footnotes.paragraph(note, None);
        }
        let footnotes = footnotes.take(FOOTNOTES_HEADING);
        self.section(footnotes);
        self.sections.append(&mut self.captions);
        self.truncate(limits);
        self.ids.sort_by_key(rank);
        let id = if self.ids.is_empty() { local_id(bytes) } else { self.ids.remove(0) };
        let mut meta = PaperMeta::new(id, self.title);
        let earliest = self.dates.iter().map(|date| date.year).min();
        meta.published = self
            .dates
            .iter()
            .filter(|date| Some(date.year) == earliest)
            .filter_map(|date| date.day())
            .min();
        meta.year = earliest;
        meta.external_ids = self.ids;
        meta.authors = self.authors;
        meta.venue = self.venue.filter(|venue| !venue.is_empty());
        meta.licence = self.licence;
        meta.retraction = self.retraction;
        let fields = fields_told(self.fields, &meta);
        let own = |id: &PaperId| *id == meta.id || meta.external_ids.contains(id);
        let mut references: Vec<PaperId> = Vec::new();
        let mut seen: HashSet<PaperId> = HashSet::new();
        for reference in &mut self.references {
            reference.ids.sort_by_key(rank);
            reference.ids.dedup();
            if let Some(id) =
                reference.ids.first().filter(|id| !own(id) && seen.insert((*id).clone()))
            {
                references.push(id.clone());
            }
        }
        let paper = Paper { meta, sections: self.sections, references, records: Vec::new() };
        Document {
            paper,
            references: self.references,
            fields,
            file_date: self.file_date,
            notices: self.notices,
        }
    }

    /// Cuts what is more than the limits allow.
    fn truncate(&mut self, limits: ReadLimits) {
        let (found, most) = (self.sections.len(), limits.sections);
        if found > most {
            self.sections.truncate(most);
            self.cut(
                Limit::Sections,
                format!("only the first {most} of {found} sections were read"),
            );
        }
        let (found, most) = (self.references.len(), limits.references);
        if found > most {
            self.references.truncate(most);
            let message = format!("only the first {most} of {found} references were read");
            self.cut(Limit::References, message);
        }
        let mut left = limits.text_bytes;
        let whole = self.sections.iter().take_while(|section| {
            let fits = section.text.len() <= left;
            left = left.saturating_sub(section.text.len());
            fits
        });
        let whole = whole.count();
        if whole < self.sections.len() {
            let lost = self.sections.len() - whole;
            self.sections.truncate(whole);
            let most = limits.text_bytes;
            let message = format!(
                "{lost} sections were left out, because the document has more than {most} bytes of text"
            );
            self.cut(Limit::TextBytes, message);
        }
    }

    fn cut(&mut self, limit: Limit, message: String) {
        let notice = Notice::new(NoticeKind::Truncated, format!("{message} ({limit})"));
        self.notices.push(notice.with_hint(limit.hint()));
    }
}

/// The fields a document states, each with its origin: what the reader did not tell was named by markup.
fn fields_told(
    mut told: BTreeMap<MetaField, FieldOrigin>,
    meta: &PaperMeta,
) -> BTreeMap<MetaField, FieldOrigin> {
    let markup = FieldOrigin { origin: MetaOrigin::Markup, confidence: Confidence::High };
    let identified = !matches!(meta.id, PaperId::Local(_)) || !meta.external_ids.is_empty();
    for (field, stated) in [
        (MetaField::Title, !meta.title.is_empty()),
        (MetaField::Authors, !meta.authors.is_empty()),
        (MetaField::Year, meta.year.is_some()),
        (MetaField::Venue, meta.venue.is_some()),
        (MetaField::Identifiers, identified),
    ] {
        if stated {
            told.entry(field).or_insert(markup);
        } else {
            told.remove(&field);
        }
    }
    told
}

/// Which identifier names a paper best: the one most registries share.
fn rank(id: &PaperId) -> u8 {
    match id {
        PaperId::Doi(_) => 0,
        PaperId::Arxiv(_) => 1,
        PaperId::Pmid(_) => 2,
        PaperId::Pmcid(_) => 3,
        PaperId::Acl(_) => 4,
        PaperId::CorpusId(_) => 5,
        PaperId::OpenAlex(_) => 6,
        PaperId::Local(_) => 7,
    }
}

/// An identifier that is the same whenever the same bytes are read.
fn local_id(bytes: &[u8]) -> PaperId {
    let digest = Sha256::digest(bytes);
    PaperId::Local(format!("sha256-{}", hex(&digest[..8])))
}

/// `Fig. 3.`, `FIGURE 3:` and `Figure 3` are headed `Figure 3`; tables alike; other labels stay as printed.
pub(crate) fn caption_heading(label: &str, fallback: &str) -> String {
    let label = label.trim().trim_end_matches(['.', ':', '|', ' ', '\u{2014}']);
    let lower = label.to_lowercase();
    for (names, name) in
        [(["figure", "fig.", "fig"], "Figure"), (["table", "tab.", "tab"], "Table")]
    {
        for prefix in names {
            if let Some(rest) = lower.strip_prefix(prefix)
                && !rest.starts_with(char::is_alphabetic)
            {
                let number = label.get(label.len() - rest.len()..).unwrap_or(rest).trim();
                return if number.is_empty() {
                    name.to_owned()
                } else {
                    format!("{name} {number}")
                };
            }
        }
    }
    match label {
        "" => fallback.to_owned(),
        bare if bare.chars().all(|c| c.is_ascii_digit()) => format!("{fallback} {bare}"),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_year_decides_and_a_day_only_within_it() {
        let mut draft = Draft::default();
        for date in ["2021-09-13", "2021-07", "2022"] {
            draft.dates.extend(StatedDate::iso(date));
        }
        let meta = draft.finish(b"x", ReadLimits::default()).paper.meta;
        assert_eq!((meta.year, meta.published), (Some(2021), Date::new(2021, 9, 13).ok()));
        let mut draft = Draft::default();
        draft.dates.extend(StatedDate::iso("2020"));
        draft.dates.extend(StatedDate::iso("2021-02-30"));
        let meta = draft.finish(b"x", ReadLimits::default()).paper.meta;
        assert_eq!((meta.year, meta.published), (Some(2020), None));
    }

    #[test]
    fn stated_fields_have_an_origin_and_others_have_none() {
        let page = FieldOrigin { origin: MetaOrigin::Page, confidence: Confidence::Low };
        let mut draft = Draft { title: "On Things".into(), ..Draft::default() };
        draft.fields.insert(MetaField::Title, page);
        draft.fields.insert(MetaField::Venue, page);
        draft.authors.push("Ada Ng".into());
        let fields = draft.finish(b"x", ReadLimits::default()).fields;
        let markup = FieldOrigin { origin: MetaOrigin::Markup, confidence: Confidence::High };
        let expect = [(MetaField::Title, page), (MetaField::Authors, markup)];
        assert_eq!(fields, BTreeMap::from(expect));
    }

    #[test]
    fn labels_become_headings() {
        for (label, fallback, expect) in [
            ("Fig. 3.", "Figure", "Figure 3"),
            ("FIGURE 1:", "Figure", "Figure 1"),
            ("Table S2", "Table", "Table S2"),
            ("4", "Table", "Table 4"),
            ("", "Figure", "Figure"),
            ("Figured", "Figure", "Figured"),
            ("Box 1.", "Box", "Box 1"),
            ("F\u{130}G. 1", "Figure", "F\u{130}G. 1"),
        ] {
            assert_eq!(caption_heading(label, fallback), expect);
        }
    }

    #[test]
    fn text_beyond_the_limit_is_left_out_with_a_notice() {
        let mut draft = Draft::default();
        draft.section(Section::new("Abstract", "short"));
        draft.section(Section::new("Body", "longer than that"));
        let document = draft.finish(b"", ReadLimits { text_bytes: 10, ..ReadLimits::default() });
        assert_eq!(document.paper.sections.len(), 1);
        assert_eq!(document.notices[0].kind, NoticeKind::Truncated);
    }

    #[test]
    fn sections_and_references_beyond_their_limits_are_left_out_with_the_limits_name() {
        let limits = ReadLimits { sections: 2, references: 1, ..ReadLimits::default() };
        let mut draft = Draft::default();
        for text in ["a", "b", "c"] {
            draft.section(Section::new("", text));
            draft.references.push(PrintedReference::default());
        }
        let document = draft.finish(b"", limits);
        assert_eq!((document.paper.sections.len(), document.references.len()), (2, 1));
        let told: Vec<&str> =
            document.notices.iter().map(|notice| notice.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "only the first 2 of 3 sections were read (sections)",
                "only the first 1 of 3 references were read (references)"
            ]
        );
        let hints = document.notices.iter().filter_map(|notice| notice.hint.as_deref());
        assert!(hints.zip(["sections", "references"]).all(|(hint, name)| hint.contains(name)));
    }

    #[test]
    fn a_long_heading_is_not_repeated_whole_with_every_section_below_it() {
        let long = "\u{e9}".repeat(LONGEST_HEADING * 3);
        assert_eq!(heading_words(long.clone()).chars().count(), LONGEST_OWN_HEADING);
        assert_eq!(heading_words("Methods".to_owned()), "Methods");
        let section = SectionText::default().take(&long);
        assert_eq!(section.heading.chars().count(), LONGEST_HEADING);
    }
}
