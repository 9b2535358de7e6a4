//! Broken input gives an error or a document, never a panic or a hang. The record of 10,000 inputs made from real papers
//! is `openscholar bench fuzz`.

use std::time::Duration;

use scholar_formats::document::{DocumentFormat, ReadLimits, read};
use scholar_testing::mutate::{Random, mutate};

use crate::samples;

/// Runs `parse` over `count` mutations of `samples`; a panic names the number that makes the input again.
pub(crate) fn survives(
    what: &str,
    samples: &[Vec<u8>],
    count: u64,
    parse: impl Fn(&[u8]) + std::panic::RefUnwindSafe,
) {
    for seed in 0..count {
        let bytes = mutate(samples, &mut Random::new(seed));
        let survived = std::panic::catch_unwind(|| parse(&bytes)).is_ok();
        assert!(survived, "{what}: the input of seed {seed} panics");
    }
}

fn documents(format: DocumentFormat, sample: &[u8], count: u64) {
    let limits = ReadLimits { time: Duration::from_secs(5), ..ReadLimits::default() };
    survives(format.name(), &[sample.to_vec()], count, |bytes| {
        if let Ok(document) = read(format, bytes, limits) {
            for section in &document.paper.sections {
                let length = section.text.chars().count();
                assert!(
                    section.places.iter().all(|place| place.start <= length),
                    "a place is outside of its text"
                );
                assert!(
                    !section.text.contains(['\n', '\t']) && !section.text.contains("  "),
                    "{:?}",
                    section.text
                );
            }
        }
        let _recognised = DocumentFormat::sniff("x.md", bytes);
    });
}

#[test]
fn broken_xml_and_html_are_survived() {
    documents(DocumentFormat::Jats, samples::JATS.as_bytes(), 120);
    documents(DocumentFormat::Tei, samples::TEI.as_bytes(), 80);
    documents(DocumentFormat::LatexmlHtml, samples::LATEXML.as_bytes(), 120);
}

#[test]
fn broken_text_is_survived() {
    documents(DocumentFormat::Markdown, samples::MARKDOWN.as_bytes(), 120);
    documents(DocumentFormat::Text, samples::TEXT.as_bytes(), 60);
}

#[test]
fn broken_pdfs_are_survived() {
    documents(DocumentFormat::Pdf, &samples::two_columns(), 100);
}

#[test]
fn deep_nesting_is_refused_without_a_stack_overflow() {
    for (format, open, close) in [
        (DocumentFormat::Jats, "<sec>", "</sec>"),
        (DocumentFormat::Tei, "<div>", "</div>"),
        (DocumentFormat::LatexmlHtml, "<div class=ltx_document>", "</div>"),
        (DocumentFormat::Markdown, "> ", ""),
        (DocumentFormat::Markdown, "[", "]"),
    ] {
        let bytes = format!("{}text{}", open.repeat(20_000), close.repeat(20_000));
        let _outcome = read(format, bytes.as_bytes(), ReadLimits::default());
    }
    let nested = format!(
        "%PDF-1.4\n1 0 obj\n{}{}\nendobj\ntrailer << /Root 1 0 R >>",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    assert!(read(DocumentFormat::Pdf, nested.as_bytes(), ReadLimits::default()).is_err());
}
