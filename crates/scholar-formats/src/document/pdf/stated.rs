//! What a PDF states about itself: the document information dictionary and XMP metadata.
//!
//! Neither is believed alone. Programs fill both with their own names, templates and whatever the last file was called, so
//! what they state only confirms what the first page prints, or is looked for there.
//!
//! Source: ISO 32000-1, 14.3; XMP specification part 1.

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{DateTime, Dict, Stream};
use jiff::civil::Date;
use scholar_core::PaperId;
use scholar_core::text::normalise::nfc_single_spaced;

use super::super::dates::StatedDate;
use super::super::tree::Element;
use super::super::{mentions, xml};
use super::FORMAT;
use crate::deadline::Bounds;

/// Largest XMP packet that is read, unpacked, in bytes. Real ones with a history of editing have a tenth of it.
const LARGEST_XMP: usize = 1 << 20;

/// Longest value that is kept, in bytes: no title is longer, and no list of a thousand authors.
const LONGEST: usize = 20_000;

/// Most authors that are kept of one list.
const MOST_AUTHORS: usize = 1_000;

/// What one of the two places states.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// Title, single-spaced.
    pub(super) title: Option<String>,
    /// Authors; one string may hold several, as programs write them.
    pub(super) authors: Vec<String>,
    /// DOIs that it gives as the document's own.
    pub(super) dois: Vec<PaperId>,
    /// Name of the journal or book.
    pub(super) venue: Option<String>,
}

/// What the file states about itself.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Stated {
    /// The document information dictionary.
    pub(super) info: Source,
    /// XMP metadata.
    pub(super) xmp: Source,
    /// When the file was made.
    pub(super) made: Option<Date>,
    /// When it was last changed.
    pub(super) changed: Option<Date>,
}

impl Stated {
    /// Reads both places; a damaged or oversized XMP packet is as good as none.
    pub(super) fn of(pdf: &Pdf, bounds: &Bounds) -> Self {
        let metadata = pdf.metadata();
        let text = |bytes: &Option<Box<[u8]>>| bytes.as_deref().and_then(metadata_text);
        let subject = text(&metadata.subject).unwrap_or_default();
        let info = Source {
            title: text(&metadata.title),
            authors: text(&metadata.author).into_iter().collect(),
            dois: mentions::dois(&subject),
            venue: None,
        };
        let (xmp, xmp_made) = packet(pdf, bounds)
            .and_then(|bytes| xml::read(&bytes, FORMAT, bounds).ok())
            .map(|xml| read_xmp(xml.tree.root()))
            .unwrap_or_default();
        let made = metadata.creation_date.as_ref().and_then(day).or(xmp_made);
        Self { info, xmp, made, changed: metadata.modification_date.as_ref().and_then(day) }
    }

    /// Both places, XMP last: it is the younger, and the other one is what readers show.
    pub(super) fn sources(&self) -> [&Source; 2] {
        [&self.info, &self.xmp]
    }
}

/// The XMP packet of the catalog, unpacked.
fn packet(pdf: &Pdf, bounds: &Bounds) -> Option<Vec<u8>> {
    let xref = pdf.xref();
    let catalog: Dict<'_> = xref.get(xref.root_id())?;
    let stream: Stream<'_> = catalog.get(b"Metadata")?;
    let most = LARGEST_XMP.min(bounds.limits.stream_bytes);
    if stream.raw_data().len() > most {
        return None;
    }
    let bytes = stream.decoded_data().ok()?;
    (bytes.len() <= most).then(|| bytes.into_owned())
}

/// Title, authors, journal and DOI of a packet, and when the file was made. Elements and attributes are found by their
/// local names, because packets differ in prefixes and in which of the two they use.
fn read_xmp(root: Element<'_>) -> (Source, Option<Date>) {
    let mut source = Source::default();
    let mut made = None;
    let value =
        |element: Element<'_>| Some(element.find("li").unwrap_or(element).text()).and_then(kept);
    for element in root.descendants() {
        match element.name() {
            "title" if source.title.is_none() => source.title = value(element),
            "creator" if source.authors.is_empty() => {
                let items = element.descendants().filter(|item| item.name() == "li");
                source.authors =
                    items.filter_map(|item| kept(item.text())).take(MOST_AUTHORS).collect();
            }
            "publicationName" if source.venue.is_none() => source.venue = value(element),
            "doi" | "identifier" => {
                source.dois.extend(value(element).iter().flat_map(|text| mentions::dois(text)));
            }
            "CreateDate" if made.is_none() => made = value(element).as_deref().and_then(iso_day),
            "Description" => {
                let named = |name| element.attribute(name).map(str::to_owned).and_then(kept);
                source.dois.extend(named("doi").iter().flat_map(|text| mentions::dois(text)));
                source.venue = source.venue.take().or_else(|| named("publicationName"));
                made = made.or_else(|| named("CreateDate").as_deref().and_then(iso_day));
            }
            _ => {}
        }
    }
    source.dois.dedup();
    (source, made)
}

fn iso_day(text: &str) -> Option<Date> {
    StatedDate::iso(text).and_then(StatedDate::day)
}

fn day(date: &DateTime) -> Option<Date> {
    let year = i16::try_from(date.year).ok()?;
    Date::new(year, i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?).ok()
}

/// A value that says something, in NFC, single-spaced, with its character references replaced: some programs escape what
/// they write into the information dictionary.
fn kept(text: String) -> Option<String> {
    let text = if text.contains("&#") { xml::unescape(&text) } else { text };
    Some(nfc_single_spaced(&text)).filter(|text| !text.is_empty() && text.len() <= LONGEST)
}

/// Strings of the information dictionary are UTF-16 with a mark, UTF-8 with one, or nearly Latin-1.
fn metadata_text(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.get(..LONGEST * 2).unwrap_or(bytes);
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => {
            let units = rest.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            char::decode_utf16(units).map(|c| c.unwrap_or(' ')).collect()
        }
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|&byte| char::from(byte)).collect::<String>(),
    };
    kept(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_information_dictionary_has_two_encodings() {
        assert_eq!(metadata_text(b"\xfe\xff\0A\0b").as_deref(), Some("Ab"));
        assert_eq!(metadata_text(b"\xef\xbb\xbf\xc3\xa9").as_deref(), Some("\u{e9}"));
        assert_eq!(metadata_text(b"na\xefve&#x02010;x").as_deref(), Some("na\u{ef}ve\u{2010}x"));
        assert_eq!(metadata_text(b"  "), None);
        assert_eq!(metadata_text(&vec![b'x'; LONGEST * 3]), None);
    }

    fn xmp(packet: &str) -> (Source, Option<Date>) {
        let read = xml::read(packet.as_bytes(), FORMAT, &Bounds::default()).expect("well-formed");
        read_xmp(read.tree.root())
    }

    #[test]
    fn a_packet_is_read_in_elements_and_attributes() {
        let (source, made) = xmp(
            r#"<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description prism:doi="10.1000/a"
               prism:publicationName="Journal of Things" xmp:CreateDate="2013-02-03T10:00:00Z">
               <dc:title><rdf:Alt><rdf:li xml:lang="x-default">On  Things</rdf:li></rdf:Alt></dc:title>
               <dc:creator><rdf:Seq><rdf:li>Ada Ng</rdf:li><rdf:li>Bo Li</rdf:li></rdf:Seq></dc:creator>
               <dc:identifier>doi:10.1000/a</dc:identifier></rdf:Description></rdf:RDF></x:xmpmeta>"#,
        );
        assert_eq!(source.title.as_deref(), Some("On Things"));
        assert_eq!(source.authors, ["Ada Ng", "Bo Li"]);
        assert_eq!(source.dois, [PaperId::doi("10.1000/a").expect("valid")]);
        assert_eq!(source.venue.as_deref(), Some("Journal of Things"));
        assert_eq!(made, Date::new(2013, 2, 3).ok());
    }

    #[test]
    fn a_packet_that_defines_entities_gives_their_names_and_not_their_growth() {
        let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
            <x><title>&b;&b;</title></x>"#;
        assert_eq!(xmp(bomb).0.title.as_deref(), Some("&b;&b;"));
    }
}
