//! Every format has the quotations, and none obeys what stands in a cell.

use scholar_core::NoticeKind;

use super::*;

fn rows() -> Vec<ExportRow> {
    let cell = |text: &str, quote: &str| {
        Some(ExportCell {
            text: text.to_owned(),
            quote: quote.to_owned(),
            place: "pmid:1#0, characters 3–9, p. 2".to_owned(),
        })
    };
    vec![
        ExportRow {
            title: "Aspirin, \"again\"".to_owned(),
            year: Some(2020),
            id: "pmid:1".to_owned(),
            link: Some("https://example.org/1".to_owned()),
            cells: vec![cell("120 adults", "We saw 120 adults."), None],
        },
        ExportRow {
            title: "=HYPERLINK(\"http://bad\")".to_owned(),
            year: None,
            id: "pmid:2".to_owned(),
            link: Some("javascript:alert(1)".to_owned()),
            cells: vec![
                cell("<b>9</b> | mice", "<script>alert(1)</script> | -x"),
                cell("-3 points", "+1 to -3 points"),
            ],
        },
    ]
}

fn written(format: TableFormat) -> Vec<u8> {
    let rows = rows();
    let columns = ["n".to_owned(), "effect".to_owned()];
    let notices = [Notice::new(NoticeKind::Skipped, "one was skipped")];
    let export = TableExport {
        title: "Two papers",
        columns: &columns,
        rows: &rows,
        notices: &notices,
        generated_by: "openscholar test",
    };
    table(&export, format).expect("it can be packed")
}

#[test]
fn csv_pairs_values_with_quotations_and_disarms_formulas() {
    let text = String::from_utf8(written(TableFormat::Csv)).expect("text");
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(lines[0], "paper,title,year,n,n_quote,n_place,effect,effect_quote,effect_place");
    assert_eq!(
        lines[1],
        "pmid:1,\"Aspirin, \"\"again\"\"\",2020,120 adults,We saw 120 adults.,\"pmid:1#0, characters 3–9, p. 2\",,,"
    );
    assert!(lines[2].contains("\"'=HYPERLINK(\"\"http://bad\"\")\""), "{}", lines[2]);
    assert!(lines[2].contains("\"'-3 points\",\"'+1 to -3 points\""), "{}", lines[2]);
}

#[test]
fn markdown_has_a_footnote_for_each_cell_and_no_foreign_markup() {
    let text = String::from_utf8(written(TableFormat::Markdown)).expect("text");
    assert!(text.contains("| 120 adults[^1] | – |"), "{text}");
    assert!(text.contains("[^1]: “We saw 120 adults.” — pmid:1"), "{text}");
    // Every angle bracket of a paper has its backslash.
    assert!(!text.replace("\\<", "").contains('<'), "{text}");
    let row = text.lines().find(|line| line.contains("mice")).expect("a row");
    assert_eq!(row.matches('|').count(), 4, "{row}");
}

#[test]
fn html_shows_quotation_and_place_and_escapes() {
    let text = String::from_utf8(written(TableFormat::Html)).expect("text");
    assert!(text.contains("<td title=\"pmid:1#0, characters 3–9, p. 2\">"), "{text}");
    assert!(text.contains("<blockquote>We saw 120 adults.</blockquote>"));
    assert!(text.contains("<a href=\"https://example.org/1\">"));
    assert!(!text.contains("<script>") && !text.contains("javascript:"));
    assert!(text.contains("one was skipped"));
}

#[test]
fn docx_has_a_footnote_for_each_cell() {
    let bytes = written(TableFormat::Docx);
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("an archive");
    let mut read = |name: &str| {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut archive.by_name(name).expect(name), &mut text)
            .expect("text");
        text
    };
    let document = read("word/document.xml");
    assert_eq!(document.matches("<w:footnoteReference ").count(), 3);
    assert!(document.contains("120 adults") && document.contains("&lt;b&gt;9"));
    assert!(read("word/footnotes.xml").contains("We saw 120 adults."));
}
