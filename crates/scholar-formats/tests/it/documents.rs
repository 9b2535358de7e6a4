//! What each reader makes of a small document.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use scholar_core::Retraction;
use scholar_formats::document::{Document, DocumentFormat, ReadLimits, read};
use scholar_formats::error::FormatErrorKind;

use crate::samples;

fn sniffed(name: &str, bytes: &[u8]) -> Document {
    let format = DocumentFormat::sniff(name, bytes).expect("recognised");
    read(format, bytes, ReadLimits::default()).expect("readable")
}

fn sections(document: &Document) -> Vec<(&str, &str)> {
    document
        .paper
        .sections
        .iter()
        .map(|section| (section.heading.as_str(), section.text.as_str()))
        .collect()
}

#[test]
fn jats_gives_metadata_sections_captions_and_references() {
    let document = sniffed("a.xml", samples::JATS.as_bytes());
    let meta = &document.paper.meta;
    assert_eq!(meta.id.to_string(), "doi:10.1000/j.1");
    let others: Vec<String> = meta.external_ids.iter().map(ToString::to_string).collect();
    assert_eq!(others, ["pmid:123", "pmcid:PMC456"]);
    assert_eq!(meta.title, "CO2 and E. coli: a study");
    assert_eq!(meta.authors, ["Ada Ng", "The Group"]);
    assert_eq!(meta.published.map(|day| day.to_string()).as_deref(), Some("2013-03-03"));
    assert_eq!(meta.venue.as_deref(), Some("Journal of Things"));
    assert_eq!(meta.licence.as_deref(), Some("CC BY 4.0"));
    assert_eq!(meta.retraction, Retraction::Retracted);
    assert_eq!(
        sections(&document),
        [
            ("Abstract", "Background: We ask. Results: We know."),
            ("Author Summary", "For all."),
            ("", "Before."),
            ("Methods", "We used 10^5 cells. More text and Ng et al. (2010)."),
            ("Methods: Statistical analysis", "With care: x^2. one two"),
            ("Methods", "After."),
            ("Results", "Good."),
            ("Appendix A", "More."),
            ("Footnotes", "A note."),
            ("Figure 1", "Cells. They grow."),
            ("Table 1", "Numbers"),
        ]
    );
    assert_eq!(document.references.len(), 2);
    let first = &document.references[0];
    assert_eq!(
        (first.title.as_deref(), first.year, first.first_author.as_deref()),
        (Some("First things"), Some(2010), Some("Lo"))
    );
    assert_eq!(first.text, "Kyle Lo First things J 2010 10.1000/r.1");
    let ids: Vec<String> = document.paper.references.iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["doi:10.1000/r.1", "doi:10.1000/r.2"]);
}

#[test]
fn tei_gives_places() {
    let document = sniffed("a.xml", samples::TEI.as_bytes());
    assert_eq!(
        sections(&document),
        [
            ("Abstract", "We show."),
            ("Methods: People", "First one. Second one."),
            ("Footnotes", "A note."),
            ("Table 1", "Numbers."),
        ]
    );
    let places: Vec<(usize, u32)> =
        document.paper.sections[1].places.iter().map(|place| (place.start, place.page)).collect();
    assert_eq!(places, [(0, 2), (11, 3)]);
    let meta = &document.paper.meta;
    assert_eq!((meta.id.to_string().as_str(), meta.year), ("doi:10.1000/t.1", Some(2019)));
    assert_eq!(document.references[0].text, "Kyle Lo. First things. J. 2010");
}

#[test]
fn latexml_gives_formulas_and_keeps_names() {
    let document = sniffed("a.html", samples::LATEXML.as_bytes());
    let meta = &document.paper.meta;
    assert_eq!(
        (meta.title.as_str(), meta.id.to_string().as_str()),
        ("Fact or Fiction", "arxiv:2004.14974")
    );
    assert_eq!(meta.authors, ["Ada Ng", "Kyle Lo"]);
    assert_eq!(
        sections(&document),
        [
            ("Abstract", "We ask."),
            ("Methods", "As in we take x^{2}. See Lo et al. (2019)."),
            ("Methods: Data", "Much."),
            ("Details", "Many."),
            ("Footnotes", "A note."),
            ("Figure 1", "A picture."),
        ]
    );
    assert_eq!(
        (document.references[0].title.as_deref(), document.references[0].year),
        (Some("First things"), Some(2019))
    );
    let failed = b"<html><body><article class=\"ltx_document\"></article></body></html>";
    let error =
        read(DocumentFormat::LatexmlHtml, failed, ReadLimits::default()).expect_err("no text");
    assert_eq!(error.kind, FormatErrorKind::NoText);
}

#[test]
fn a_pdf_is_read_column_by_column_with_places() {
    let document = sniffed("a.pdf", &samples::two_columns());
    assert_eq!(document.paper.meta.title, "A Study of Several Things");
    let all = sections(&document);
    assert_eq!(
        all[0],
        (
            "Abstract",
            "This paper shows that much can be translated into other things by many people."
        )
    );
    assert_eq!(all[1].0, "Introduction");
    assert!(
        all[1].1.starts_with("The first column")
            && all[1].1.ends_with("and this is its last line."),
        "{}",
        all[1].1
    );
    assert_eq!(
        all[2],
        ("Results", "Results are good and fill this line well. They go on upon the second page.")
    );
    assert_eq!(all[3], ("Figure 1", "A caption of one line."));
    let places = &document.paper.sections[2].places;
    assert_eq!(
        places.iter().map(|place| (place.start, place.page)).collect::<Vec<_>>(),
        [(0, 1), (42, 2)]
    );
    let line = places[0].bbox.expect("a box");
    assert_eq!((line.left, line.bottom > 205 && line.top < 207), (320, true), "{line:?}");
    assert_eq!(document.references.len(), 2);
    assert_eq!(document.references[1].ids[0].to_string(), "doi:10.1000/r.2");
    assert_eq!(document.references[1].year, Some(2018));
}

#[test]
fn a_pdf_encrypted_without_a_password_is_read_and_a_locked_one_says_so() {
    let document = sniffed("a.pdf", include_bytes!("../data/encrypted.pdf"));
    assert!(sections(&document).iter().any(|(_, text)| text.contains("twelve words more")));
    let locked =
        read(DocumentFormat::Pdf, include_bytes!("../data/locked.pdf"), ReadLimits::default());
    let error = locked.expect_err("it needs a password");
    assert!(error.to_string().contains("password"), "{error}");
    assert!(error.hint.is_some());
}

#[test]
fn a_page_that_cannot_be_unpacked_costs_no_other_page() {
    let document = sniffed("a.pdf", include_bytes!("../data/broken_page.pdf"));
    let has = |words: &str| sections(&document).iter().any(|(_, text)| text.contains(words));
    assert!(has("remembered more words") && has("twelve words more"));
    assert!(!has("learned a list"), "the second page is broken");
    assert_eq!(about_pages(&document), ["PDF pages that could not be read are missing: 2"]);
    assert!(document.notices[0].hint.is_some());
}

/// What was said about pages, and not about titles.
fn about_pages(document: &Document) -> Vec<String> {
    let told = document.notices.iter().map(|notice| notice.message.clone());
    told.filter(|message| message.contains("pages")).collect()
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

/// Lines of text that fill half a page.
fn drawn(words: &str) -> Vec<u8> {
    let line = |at: usize| {
        format!(
            "BT /F1 10 Tf 1 0 0 1 50 {} Tm ({words}, line {at} of several) Tj ET\n",
            700 - at * 12
        )
    };
    (0..30).map(line).collect::<String>().into_bytes()
}

const PACKED: &str = "/Filter /FlateDecode";

#[test]
fn a_page_that_breaks_off_is_told_and_keeps_what_it_has() {
    let (first, second) = (zlib(&drawn("Some words here")), zlib(&drawn("Other words there")));
    let half = second[..second.len() / 2].to_vec();
    let notices = |pages: &[(&str, Vec<u8>)], form: &str| {
        let document = sniffed("a.pdf", &scholar_testing::pdf::pdf_of(pages, form));
        let told = about_pages(&document);
        let text: String = document.paper.sections.iter().map(|one| one.text.clone()).collect();
        (text, told)
    };
    let (text, told) = notices(&[(PACKED, first.clone()), (PACKED, second)], "");
    assert!(told.is_empty() && text.contains("Other words there, line 29"), "{told:?} {text}");
    let (text, told) = notices(&[(PACKED, first.clone()), (PACKED, half)], "");
    assert!(text.contains("Other words") && !text.contains("there, line 29"), "{text}");
    assert_eq!(told, ["PDF pages that are damaged may lack a part of their text: 2"]);
    let (_, told) = notices(&[(PACKED, first.clone()), ("/Filter /NoSuchWay", b"x".to_vec())], "");
    assert_eq!(told, ["PDF pages that could not be read are missing: 2"]);

    let form = "<< /Subtype /Form /BBox [0 0 9 9] /Filter /FlateDecode /Length 9 >>\n\
                stream\nno stream\nendstream";
    let drawing = (PACKED, zlib(b"/Fm Do"));
    let (text, told) = notices(&[(PACKED, first.clone()), drawing], form);
    assert!(text.contains("Some words"), "{text}");
    assert_eq!(
        told,
        ["PDF pages that could not be read are missing: 2"],
        "what it draws is broken"
    );
    let (_, told) = notices(&[(PACKED, first)], form);
    assert!(told.is_empty(), "nothing draws the broken form: {told:?}");
}

#[test]
fn what_unpacks_without_end_is_refused_before_it_does() {
    let page = (PACKED, zlib(&drawn("Some words here")));
    let spaces = zlib(&vec![b' '; 65 << 20]);
    for (entries, stream) in [
        (PACKED, spaces.clone()),
        ("/Filter [/FlateDecode /FlateDecode]", zlib(&spaces)),
        ("/Filter [/Fl#61teDecode /Flate#44ecode]", zlib(&spaces)),
        (
            "/Filter /FlateDecode /DecodeParms << /Predictor 12 /Colors 5 /Columns 4000000000000000 >>",
            zlib(b"x"),
        ),
        (
            "/Filter /FlateDecode /DecodeParms << /Predictor 12 /Colors 5 /Col#75mns 4000000000000000 >>",
            zlib(b"x"),
        ),
    ] {
        let bytes = scholar_testing::pdf::pdf_of(&[page.clone(), (entries, stream)], "");
        assert!(bytes.len() < 1 << 20, "{entries}");
        let error = read(DocumentFormat::Pdf, &bytes, ReadLimits::default()).expect_err(entries);
        assert_eq!(error.kind, FormatErrorKind::TooLarge, "{entries}: {error}");
    }
}

#[test]
fn a_pdf_that_takes_too_long_is_an_error() {
    let limits = ReadLimits { time: Duration::ZERO, ..ReadLimits::default() };
    let error = read(DocumentFormat::Pdf, &samples::two_columns(), limits).expect_err("no time");
    assert_eq!(error.kind, FormatErrorKind::TooLarge, "{error}");
}

#[test]
fn a_pdf_without_text_and_one_that_is_none_say_so() {
    let empty = scholar_testing::pdf::pdf(&[Vec::new()]);
    let error = read(DocumentFormat::Pdf, &empty, ReadLimits::default()).expect_err("empty");
    assert_eq!(error.kind, FormatErrorKind::NoText);
    assert!(error.hint.is_some());
    let error =
        read(DocumentFormat::Pdf, b"%PDF-1.4 nothing", ReadLimits::default()).expect_err("broken");
    assert_eq!(error.kind, FormatErrorKind::Malformed);
    let limits = ReadLimits { bytes: 3, ..ReadLimits::default() };
    assert_eq!(
        read(DocumentFormat::Text, b"four", limits).expect_err("long").kind,
        FormatErrorKind::TooLarge
    );
}
