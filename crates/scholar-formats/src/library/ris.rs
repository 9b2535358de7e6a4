//! RIS: lines of `TY  - value`, as publishers and reference managers write them.

use scholar_core::PaperId;
use scholar_core::text::normalise::single_spaced;

use super::record::Record;
use super::{Attachment, Collector, Library, ids};
use crate::encoding::Decoded;
use crate::names::Name;

/// Largest value of one tag in bytes.
const VALUE_BYTES: usize = 4 << 20;

/// Tags and values of one record.
struct RisEntry<'a> {
    line: usize,
    fields: Vec<(&'a str, String)>,
    odd: Vec<String>,
}

/// Reads a list; what cannot be read is a notice with its line.
pub(super) fn read(decoded: &Decoded) -> Library {
    let mut collector = Collector::default();
    if let Some(encoding) = decoded.assumed {
        collector.notice(format!("the list is not UTF-8 and was read as {encoding}"));
    }
    let mut open: Option<RisEntry<'_>> = None;
    let mut stray = 0_usize;
    for (number, line) in lines(&decoded.text).enumerate() {
        match (tag(line), &mut open) {
            (Some(("TY", kind)), current) => {
                if let Some(mut entry) = current.take() {
                    entry.odd.push("the record is not closed by ER".to_owned());
                    take(entry, &mut collector);
                }
                let fields = vec![("TY", kind.to_owned())];
                open = Some(RisEntry { line: number + 1, fields, odd: Vec::new() });
            }
            (Some(("ER", _)), current) => {
                if let Some(entry) = current.take() {
                    take(entry, &mut collector);
                }
            }
            (Some((tag, value)), Some(entry)) => entry.fields.push((tag, value.to_owned())),
            (None, Some(entry)) if !line.trim().is_empty() => continued(entry, line),
            (_, None) if !line.trim().is_empty() => stray += 1,
            _ => {}
        }
    }
    if let Some(mut entry) = open {
        entry.odd.push("the record is not closed by ER".to_owned());
        take(entry, &mut collector);
    }
    if stray > 0 {
        collector.notice(format!("{stray} lines are outside any record (TY … ER)"));
    }
    collector.finish()
}

/// Lines that end in LF, CRLF or CR alone.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Two letters or digits, blanks, a dash: `AU  - Value`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches([' ', '\t']);
    let (tag, rest) = line.split_at_checked(2)?;
    let mut bytes = tag.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_uppercase());
    let second =
        bytes.next().is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let value = rest[blanks..].strip_prefix('-')?;
    let separate = value.is_empty() || value.starts_with([' ', '\t']);
    (first && second && (1..=4).contains(&blanks) && separate).then(|| (tag, value.trim()))
}

/// A line without a tag goes on with the value before it.
fn continued(entry: &mut RisEntry<'_>, line: &str) {
    if let Some((_, value)) = entry.fields.last_mut()
        && value.len() + line.len() < VALUE_BYTES
    {
        value.push('\n');
        value.push_str(line.trim());
    }
}

fn take(entry: RisEntry<'_>, collector: &mut Collector) {
    let at = format!("line {}", entry.line);
    match entry.fields.iter().find(|(_, value)| value.len() > VALUE_BYTES) {
        Some((tag, _)) => {
            collector.skip(&at, &format!("the field {tag} is longer than {VALUE_BYTES} bytes"));
        }
        None => collector.take(record(entry), &at),
    }
}

fn record(entry: RisEntry<'_>) -> Record {
    let all = |tags: &[&str]| -> Vec<String> {
        let given = |tag: &&str| -> Vec<String> {
            let of_tag = entry.fields.iter().filter(|(t, value)| t == tag && !value.is_empty());
            of_tag.map(|(_, value)| value.clone()).collect()
        };
        tags.iter().flat_map(given).collect()
    };
    let first = |tags: &[&str]| all(tags).into_iter().next();
    let mut record = Record { key: first(&["ID"]), odd: entry.odd.clone(), ..Record::default() };
    record.title = first(&["TI", "T1", "CT"]).unwrap_or_default();
    let kind = first(&["TY"]).unwrap_or_default();
    if record.title.is_empty() && matches!(kind.as_str(), "BOOK" | "EBOOK" | "THES" | "RPRT") {
        record.title = first(&["BT", "T2"]).unwrap_or_default();
    }
    record.venue = first(&["T2", "JO", "JF", "JA", "J2", "BT", "T3"]);
    record.authors = all(&["AU", "A1"]).iter().filter_map(|name| Name::inverted(name)).collect();
    record.abstract_text = first(&["AB", "N2"]);
    record.tags = all(&["KW"])
        .iter()
        .flat_map(|words| words.split('\n').map(single_spaced).collect::<Vec<_>>())
        .filter(|word| !word.is_empty())
        .collect();
    // DA often holds the whole date while PY holds the year alone.
    for (tags, name) in [(["PY", "Y1"], "PY"), (["DA", "Y2"], "DA")] {
        if let Some(date) = first(&tags[..if name == "DA" { 1 } else { 2 }]) {
            record.set_date(name, &date);
        }
    }
    if let Some(doi) = first(&["DO", "DI"]) {
        record.add_doi("DO", &doi);
    }
    for url in all(&["UR"]).iter().flat_map(|urls| urls.split(['\n', ';'])) {
        record.add_url(url.trim());
    }
    ids_of(&all, &mut record);
    record.attachments = all(&["L1", "L2", "L4"])
        .iter()
        .flat_map(|places| places.split('\n'))
        .filter_map(|place| Attachment::at(place, None))
        .collect();
    record
}

/// Identifiers in the fields that some exporters put them in.
fn ids_of(all: &impl Fn(&[&str]) -> Vec<String>, record: &mut Record) {
    let database = all(&["DB", "DP"]).join(" ").to_lowercase();
    if database.contains("pubmed") || database.contains("medline") {
        let numbers = all(&["AN"]);
        record.add_ids(numbers.iter().filter_map(|number| ids::pmid(number)));
    }
    record.add_ids(all(&["C2"]).iter().filter_map(|number| ids::pmcid(number)));
    for text in all(&["JO", "T2", "M1", "M3", "N1", "AN", "PB"]) {
        if let Some(id) = ids::arxiv_in(&text) {
            record.add_id(id);
        }
    }
    for line in all(&["N1"]).iter().flat_map(|note| note.lines()) {
        let id: Option<PaperId> = ids::of_line(line);
        if let Some(id) = id {
            record.add_id(id);
        }
        record.retracted |= line.to_lowercase().starts_with("retracted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(text: &str) -> Library {
        read(&Decoded { text: text.to_owned(), assumed: None })
    }

    #[test]
    fn a_record_with_everything() {
        let found = library(
            "TY  - JOUR\r\nAU  - King, Martin Luther, Jr.\r\nAU  - World Health Organization\r\n\
             TI  - A long\r\n  title\r\nT2  - Nature\r\nPY  - 2020\r\nDA  - 2020/05/03/\r\n\
             DO  - https://doi.org/10.1000/ABC\r\nUR  - https://pubmed.ncbi.nlm.nih.gov/12/\r\n\
             C2  - PMC34\r\nAB  - One.\r\nKW  - a\r\nKW  - b\r\nL1  - file:///x/a.pdf\r\nID  - k\r\nER  - \r\n",
        );
        assert_eq!(found.notices, []);
        let entry = &found.entries[0];
        let meta = &entry.paper.meta;
        assert_eq!(meta.title, "A long title");
        assert_eq!(meta.authors[0], "Martin Luther King Jr.");
        assert_eq!(meta.venue.as_deref(), Some("Nature"));
        assert_eq!(meta.published.map(|day| day.to_string()).as_deref(), Some("2020-05-03"));
        assert_eq!(meta.id.to_string(), "doi:10.1000/abc");
        let others: Vec<String> = meta.external_ids.iter().map(ToString::to_string).collect();
        assert_eq!(others, ["pmid:12", "pmcid:PMC34"]);
        assert_eq!((entry.tags.len(), entry.attachments.len(), entry.odd.len()), (2, 1, 0));
    }

    #[test]
    fn records_that_are_not_closed_are_kept() {
        let found =
            library("junk\nTY  - JOUR\nTI  - One\nTY  - JOUR\nTI  - Two\nTY  - JOUR\nER  -\n");
        let titles: Vec<&str> =
            found.entries.iter().map(|entry| entry.paper.meta.title.as_str()).collect();
        assert_eq!(titles, ["One", "Two"]);
        assert_eq!(found.skipped, 1);
        assert_eq!(
            found.notices[0].message,
            "line 6 was skipped: it has neither a title nor an identifier"
        );
        assert!(found.notices[1].message.contains("1 lines are outside any record"));
        assert_eq!(found.entries[0].odd, ["the record is not closed by ER"]);
    }

    #[test]
    fn old_line_ends_and_dashes_in_text() {
        let found = library("TY  - JOUR\rTI  - One\rAB  - x\rAS - they say\rER  - \r");
        assert_eq!(found.entries[0].paper.abstract_text(), Some("x"));
        let found = library("TY  - JOUR\nTI  - One\nN2  - state\nof-the - art\nER  - ");
        assert_eq!(found.entries[0].paper.abstract_text(), Some("state of-the - art"));
    }
}
