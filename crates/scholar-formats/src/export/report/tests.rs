use scholar_core::{AnswerRole, Citation, TableCell, TableRow};
use scholar_testing::hostile::{self, STRINGS};

use super::*;
use crate::exploration::NoveltyRow;
use crate::export::{ExportFormat, report};

struct Material {
    parts: Vec<ReportPart>,
    table: AnswerTable,
    references: Vec<Reference>,
    notices: Vec<Notice>,
    title: String,
}

/// A report with `text` in every place.
fn material(text: &str) -> Material {
    let answer = hostile::answer(text);
    let line = |nth: usize, quoted: bool| {
        let sentence = answer.sentences[nth].clone();
        let role = quoted.then_some(AnswerRole::Finding);
        ReportLine { label: Some(text.to_owned()), sentence: AnswerSentence { role, ..sentence } }
    };
    let row = NoveltyRow {
        name: text.to_owned(),
        title: text.to_owned(),
        number: Some(1),
        whole: Some(0.5),
        cells: vec![Some(0.7)],
    };
    let columns = vec![("C1".to_owned(), text.to_owned())];
    let map = NoveltyMap { title: text.to_owned(), columns, rows: vec![row] };
    let part = |below, map, lines| ReportPart {
        heading: text.to_owned(),
        below,
        about: below.then(|| text.to_owned()),
        lines,
        map,
    };
    Material {
        parts: vec![
            part(false, None, Vec::new()),
            part(true, None, vec![line(0, true), line(1, false), ReportLine::said(text)]),
            part(false, Some(map), vec![line(2, true)]),
        ],
        table: AnswerTable {
            columns: vec![text.to_owned()],
            rows: vec![TableRow {
                reference: Citation(1),
                cells: vec![TableCell { text: text.to_owned(), quote: None }],
            }],
        },
        references: answer.references,
        notices: vec![hostile::notice(text)],
        title: text.to_owned(),
    }
}

fn written(material: &Material, format: ExportFormat) -> Vec<u8> {
    let export = ReportExport {
        title: &material.title,
        parts: &material.parts,
        table: Some((&material.table, 2)),
        references: &material.references,
        notices: &material.notices,
        generated_by: &material.title,
    };
    let style = CitationStyle::named("ieee").expect("a style");
    report(&export, format, &style).expect("writes")
}

fn text(material: &Material, format: ExportFormat) -> String {
    String::from_utf8(written(material, format)).expect("text")
}

#[test]
fn parts_stand_in_order_with_labels_and_what_they_are_about() {
    let mut material = material("plain words");
    material.parts[1].heading = "One claim".to_owned();
    material.parts[1].about = Some("What is claimed".to_owned());
    let markdown = text(&material, ExportFormat::Markdown);
    let place = |part: &str| markdown.find(part).unwrap_or_else(|| panic!("{part} in {markdown}"));
    assert!(place("## plain words") < place("### One claim"));
    assert!(place("### One claim") < place("> What is claimed"));
    assert!(place("> What is claimed") < place("**plain words:**"));
    assert!(place("**plain words:**") < place("| Study |"), "the table stands behind its part");
    assert!(!markdown.contains("<svg"));
    let html = text(&material, ExportFormat::Html);
    assert!(html.contains("<h3>One claim</h3>") && html.contains("<blockquote class=\"about\">"));
    assert!(html.contains("<figure><svg") && !html.contains("<table"), "the map instead");
    assert!(html.contains("class=\"quotes\""), "the quotation beside what is not one itself");
    assert_eq!(html.matches("class=\"quotes\"").count(), 1);
    let tex = text(&material, ExportFormat::Latex);
    assert!(tex.contains("\\subsection*{One claim}") && tex.contains("\\begin{quote}"));
    assert!(written(&material, ExportFormat::Docx).starts_with(b"PK"));
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    for one in STRINGS {
        let material = material(&one.text());
        let html = text(&material, ExportFormat::Html);
        let lower = html.to_lowercase();
        for tag in ["<script", "<img", "<iframe", "<svg onload", "javascript:alert(1)\""] {
            assert!(!lower.contains(tag), "{} has {tag}", one.name);
        }
        for format in [ExportFormat::Html, ExportFormat::Markdown, ExportFormat::Latex] {
            let shown = text(&material, format);
            assert!(hostile::obeyed(&shown).is_empty(), "{} in {format:?}", one.name);
        }
        assert!(written(&material, ExportFormat::Docx).len() > 1_000);
    }
}
