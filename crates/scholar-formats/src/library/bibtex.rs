//! `BibTeX` and `BibLaTeX`.
//!
//! Ours instead of a crate, because the crates refuse a whole file for one bad entry, and know no line numbers then.

mod files;
mod scan;

use std::collections::BTreeMap;

use scholar_core::PaperId;
use scholar_core::text::normalise::single_spaced;

use super::record::Record;
use super::{Collector, Library, ids};
use crate::encoding::Decoded;
use crate::latex::decode::decode;
use crate::names::Name;
use scan::{BibtexEntry, Item, Scanner};

/// Most fields that `crossref` takes from the other entry.
const INHERITED: [&str; 6] = ["booktitle", "year", "date", "month", "journal", "journaltitle"];

/// Whether text that is not of another format is this one.
pub(super) fn looks_like(head: &str, name: &str) -> bool {
    let mut entries = head.lines().filter_map(|line| line.trim_start().strip_prefix('@'));
    let known = entries.any(|rest| {
        let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        let open = rest[word.len()..].trim_start().starts_with(['{', '(']);
        !word.is_empty() && (open || word.eq_ignore_ascii_case("comment"))
    });
    known || (name.ends_with(".bib") && head.contains('@'))
}

/// Reads a bibliography; what cannot be read is a notice with its line.
pub(super) fn read(decoded: &Decoded) -> Library {
    let mut collector = Collector::default();
    if let Some(encoding) = decoded.assumed {
        collector.notice(format!("the bibliography is not UTF-8 and was read as {encoding}"));
    }
    let mut entries: Vec<BibtexEntry> = Vec::new();
    for item in Scanner::new(&decoded.text) {
        match item {
            Item::BibtexEntry(entry) => entries.push(entry),
            Item::Broken { line, key, why } => {
                let name = key.map(|key| format!(" ({key})")).unwrap_or_default();
                collector.skip(&format!("line {line}{name}"), &why);
            }
            Item::Note { line, what } => collector.notice(format!("line {line}: {what}")),
        }
    }
    let mut by_key = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        by_key.entry(entry.key.to_lowercase()).or_insert(at);
    }
    for entry in &entries {
        let parent = entry
            .field("crossref")
            .and_then(|key| by_key.get(&key.trim().to_lowercase()))
            .map(|at| &entries[*at]);
        // Entries that only carry fields for others are no papers.
        if matches!(entry.kind.as_str(), "xdata" | "set") {
            continue;
        }
        collector.take(record(entry, parent), &format!("line {} ({})", entry.line, entry.key));
    }
    collector.finish()
}

/// Fields of an entry, with those that its parent lends.
struct Fields<'a> {
    entry: &'a BibtexEntry,
    parent: Option<&'a BibtexEntry>,
}

impl Fields<'_> {
    fn raw(&self, name: &str) -> Option<&str> {
        let own = self.entry.field(name);
        let lent = || {
            let parent = self.parent.filter(|_| INHERITED.contains(&name))?;
            let title = || parent.field("title").filter(|_| name == "booktitle");
            parent.field(name).or_else(title)
        };
        own.or_else(lent).filter(|value| !value.trim().is_empty())
    }

    /// The first of `names` that is there, as plain text.
    fn text(&self, names: &[&str], record: &mut Record) -> Option<String> {
        let (name, value) = names.iter().find_map(|name| Some((*name, self.raw(name)?)))?;
        let (text, unknown) = decode(value);
        if !unknown.is_empty() {
            record
                .odd(format!("{name} has LaTeX commands left as they are: {}", unknown.join(", ")));
        }
        Some(single_spaced(&text)).filter(|text| !text.is_empty())
    }
}

fn record(entry: &BibtexEntry, parent: Option<&BibtexEntry>) -> Record {
    let fields = Fields { entry, parent };
    let mut record = Record { key: Some(entry.key.clone()), ..Record::default() };
    record.odd.extend(entry.odd.iter().cloned());
    if let Some(key) = fields.raw("crossref").filter(|_| parent.is_none()) {
        record.odd(format!("its crossref {key:?} is not in this file"));
    }
    record.title = fields.text(&["title", "maintitle"], &mut record).unwrap_or_default();
    if let Some(subtitle) = fields.text(&["subtitle"], &mut record) {
        record.title = format!("{}: {subtitle}", record.title);
    }
    record.venue = fields.text(
        &[
            "journal",
            "journaltitle",
            "booktitle",
            "eventtitle",
            "school",
            "institution",
            "howpublished",
        ],
        &mut record,
    );
    if record.venue.as_deref().is_some_and(|venue| venue.starts_with("http")) {
        record.venue = None;
    }
    record.abstract_text = fields.text(&["abstract"], &mut record);
    if let Some(authors) = fields.raw("author") {
        authors_of(authors, &mut record);
    }
    dates_of(&fields, &mut record);
    ids_of(&fields, &mut record);
    lists_of(&fields, &mut record);
    record
}

/// `and` between names, braces around what has no parts, `others` for those left out.
fn authors_of(field: &str, record: &mut Record) {
    let mut words: Vec<&str> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for word in split_outside_braces(field, char::is_whitespace) {
        if word.eq_ignore_ascii_case("and") {
            names.push(words.join(" "));
            words.clear();
        } else if !word.is_empty() {
            words.push(word);
        }
    }
    names.push(words.join(" "));
    for name in names {
        let bare = name.trim();
        if bare.eq_ignore_ascii_case("others") {
            record.odd("its list of authors is not complete".to_owned());
            record.authors_cut = true;
            continue;
        }
        let braced = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let whole = braced.filter(|inner| !closes_early(inner));
        let plain = |text: &str| single_spaced(&decode(text).0);
        let parts: Vec<String> =
            split_outside_braces(bare, |c| c == ',').into_iter().map(plain).collect();
        let name = match (whole, parts.as_slice()) {
            (Some(inner), _) => Name::whole(&plain(inner)),
            (None, [family, given]) if !given.is_empty() && !Name::is_suffix(given) => {
                Name::new(given, family, "")
            }
            (None, [_, _]) => Name::inverted(&parts.join(", ")),
            (None, [family, suffix, given]) => Name::new(given, family, suffix),
            _ => printed_name(bare),
        };
        record.authors.extend(name);
    }
}

/// `Given Family` without a comma, where braces keep words of the family name together.
fn printed_name(bare: &str) -> Option<Name> {
    let words: Vec<String> = split_outside_braces(bare, char::is_whitespace)
        .into_iter()
        .map(|word| single_spaced(&decode(word).0).replace(' ', "\u{a0}"))
        .filter(|word| !word.is_empty())
        .collect();
    Name::printed(&words.join(" ")).map(|mut name| {
        name.family = name.family.replace('\u{a0}', " ");
        name
    })
}

/// Whether the braces around `inner` do not belong together: `{A} and {B}`.
fn closes_early(inner: &str) -> bool {
    let mut depth = 0_i64;
    inner.chars().any(|c| {
        depth += i64::from(c == '{') - i64::from(c == '}');
        depth < 0
    })
}

/// Parts of `text` between separators that stand in no brace.
fn split_outside_braces(text: &str, separates: impl Fn(char) -> bool) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && separates(c) => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn dates_of(fields: &Fields<'_>, record: &mut Record) {
    if let Some(date) = fields.text(&["date"], record) {
        record.set_date("date", &date);
    }
    if record.year.is_some() {
        return;
    }
    let Some(year) = fields.text(&["year"], record) else { return };
    record.set_date("year", &year);
    let month = fields.text(&["month"], record);
    let day = fields.text(&["day"], record).and_then(|day| day.parse().ok());
    let month = month.as_deref().and_then(super::dates::month);
    if let (Some(year), true) = (record.year, record.published.is_none()) {
        record.published = super::dates::of_parts(i64::from(year), month, day).day;
    }
}

fn ids_of(fields: &Fields<'_>, record: &mut Record) {
    if let Some(doi) = fields.text(&["doi"], record) {
        record.add_doi("doi", &doi);
    }
    if let Some(eprint) = fields.text(&["eprint", "arxivid", "arxiv"], record) {
        let kind = fields.text(&["eprinttype", "archiveprefix"], record).unwrap_or_default();
        match kind.to_ascii_lowercase().as_str() {
            "arxiv" => record.add_parsed(PaperId::arxiv(&eprint).ok(), "eprint", &eprint),
            "pubmed" | "pmid" => record.add_parsed(ids::pmid(&eprint), "eprint", &eprint),
            "" => record.add_ids(PaperId::arxiv(&eprint).ok()),
            _ => {}
        }
    }
    for (name, parse) in [
        ("pmid", ids::pmid as fn(&str) -> Option<PaperId>),
        ("pmcid", |text| ids::pmcid(text)),
        ("pmc", |text| ids::pmcid(text)),
        ("corpusid", |text| format!("corpusid:{text}").parse().ok()),
        ("openalex", |text| format!("openalex:{text}").parse().ok()),
        ("aclid", |text| format!("acl:{text}").parse().ok()),
        ("openscholar-id", |text| text.parse().ok()),
    ] {
        if let Some(value) = fields.text(&[name], record) {
            record.add_parsed(parse(&value), name, &value);
        }
    }
    if let Some(filed) = fields.text(&["openscholar-id"], record) {
        record.filed_under = filed.parse().ok();
    }
    for name in ["url", "howpublished", "ee"] {
        if let Some(url) = fields.text(&[name], record).filter(|url| url.starts_with("http")) {
            record.add_url(&url);
        }
    }
    for name in ["journal", "volume", "note", "howpublished", "journaltitle"] {
        let Some(text) = fields.text(&[name], record) else { continue };
        if let Some(id) = ids::arxiv_in(&text) {
            record.add_id(id);
        }
        for id in text.split([';', '\n']).filter_map(ids::of_line) {
            record.add_id(id);
        }
        if name == "note" && text.to_lowercase().starts_with("retracted") {
            record.retracted = true;
        }
    }
}

fn lists_of(fields: &Fields<'_>, record: &mut Record) {
    if let Some(keywords) = fields.text(&["keywords", "keyword", "mendeley-tags"], record) {
        record.tags = parts(&keywords, &[',', ';']);
    }
    if let Some(groups) = fields.text(&["groups", "mendeley-groups"], record) {
        record.collections = parts(&groups, &[',']);
    }
    for name in ["file", "local-url", "pdf"] {
        if let Some(files) = fields.raw(name) {
            record.attachments.extend(files::attachments(files));
        }
    }
}

fn parts(text: &str, separators: &[char]) -> Vec<String> {
    text.split(separators).map(single_spaced).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests;
