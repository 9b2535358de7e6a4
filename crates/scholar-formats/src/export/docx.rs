//! DOCX (Office Open XML). Ours instead of a crate, because six small parts of XML are all it takes.

mod parts;

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use scholar_core::Abstention;
use scholar_core::text::untrusted::escape_html;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::lead::Lead;
use super::outline::{DOUBT_MARK, Outline, OutlineTable, Sentence};
use super::style::{CitesBy, Link, Run};
use crate::error::{FormatError, FormatErrorKind};

/// Footnotes of a person begin behind the two that draw the separating lines.
const FIRST_NOTE: usize = 2;

pub(super) fn write(outline: &Outline) -> Result<Vec<u8>, FormatError> {
    let mut document = Document::default();
    document.body(outline);
    document.packed(&outline.title)
}

fn pack(files: &[(&str, String)]) -> zip::result::ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // No time of day: the same answer gives the same bytes.
    let options = SimpleFileOptions::default();
    for (name, content) in files {
        archive.start_file(*name, options)?;
        archive.write_all(content.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// The parts of a document that grow together.
#[derive(Default)]
pub(super) struct Document {
    xml: String,
    /// XML of the footnotes' paragraphs.
    notes: Vec<String>,
    /// Addresses, escaped; the relation of the n-th is `link{n}`.
    links: Vec<String>,
    bookmarks: usize,
}

impl Document {
    fn body(&mut self, outline: &Outline) {
        self.paragraph("Title", &text(&outline.title, ""));
        if let Some(Abstention { heading, message }) = outline.abstention {
            let warning = text(heading, "<w:b/>") + &text(&format!(" {message}"), "");
            self.paragraph("Normal", &warning);
        }
        for (at, part) in outline.parts.iter().enumerate() {
            self.table(outline, at);
            if let Some(heading) = &part.heading {
                let style = if part.below { "Heading2" } else { "Heading1" };
                self.paragraph(style, &text(heading, ""));
            }
            if let Some(about) = &part.about {
                self.paragraph("Point", &text(about, "<w:i/>"));
            }
            for paragraph in &part.paragraphs {
                let label = paragraph.label.as_ref();
                let mut xml =
                    label.map_or_else(String::new, |label| text(&format!("{label}: "), "<w:b/>"));
                for (number, one) in paragraph.sentences.iter().enumerate() {
                    if number > 0 {
                        xml += &text(" ", "");
                    }
                    xml += &self.sentence(one, outline);
                }
                let bullet = if paragraph.bullet { text("• ", "") } else { String::new() };
                self.paragraph(if paragraph.bullet { "Point" } else { "Normal" }, &(bullet + &xml));
            }
        }
        self.table(outline, outline.parts.len());
        if let Some(legend) = outline.legend {
            self.paragraph("Normal", &text(&format!("{DOUBT_MARK} {legend}"), "<w:i/>"));
        }
        self.references(outline);
        if !outline.notices.is_empty() {
            self.paragraph("Heading1", &text("Notes", ""));
            for notice in &outline.notices {
                self.paragraph("Point", &text(&format!("• {notice}"), ""));
            }
        }
        self.paragraph("Footer", &text(&outline.generated_by, ""));
    }

    /// The file, with this title among its properties.
    pub(super) fn packed(&self, title: &str) -> Result<Vec<u8>, FormatError> {
        let title = escape_html(title);
        let files = [
            ("[Content_Types].xml", parts::CONTENT_TYPES.to_owned()),
            ("_rels/.rels", parts::RELATIONS.to_owned()),
            ("docProps/core.xml", parts::core(&title)),
            ("word/document.xml", parts::document(&self.xml)),
            ("word/_rels/document.xml.rels", parts::document_relations(&self.links)),
            ("word/styles.xml", parts::STYLES.to_owned()),
            ("word/settings.xml", parts::SETTINGS.to_owned()),
            ("word/footnotes.xml", parts::footnotes(&self.notes)),
        ];
        pack(&files).map_err(|error| {
            let message = format!("cannot be packed: {error}");
            FormatError::new(FormatErrorKind::TooLarge, "DOCX", message)
        })
    }

    /// A paragraph of runs.
    pub(super) fn paragraph(&mut self, style: &str, content: &str) {
        // Writing to a string cannot fail.
        let _infallible =
            writeln!(self.xml, "<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>{content}</w:p>");
    }

    fn sentence(&mut self, sentence: &Sentence, outline: &Outline) -> String {
        let citation = self.runs(&sentence.citation);
        let lead = sentence.lead.as_ref();
        let mut xml = lead.map_or_else(String::new, |Lead { emphasised, rest }| {
            text(emphasised, "<w:i/>") + &text(rest, "")
        });
        xml += &text(&sentence.text, "");
        match outline.cites_by {
            _ if citation.is_empty() => {}
            CitesBy::Note | CitesBy::Raised => {}
            CitesBy::Number | CitesBy::Author => xml += &(text(" ", "") + &citation),
        }
        xml += &text(&sentence.closing, "");
        if sentence.marked {
            xml += &text(DOUBT_MARK, "");
        }
        match outline.cites_by {
            CitesBy::Raised => xml += &citation,
            CitesBy::Note if !citation.is_empty() => xml += &self.note(&citation),
            _ => {}
        }
        for quote in &sentence.quotes {
            let page = quote.page.map(|page| format!(", p. {page}")).unwrap_or_default();
            let title = &outline.items[quote.reference].display_title();
            let note = text(&format!("“{}” — ", quote.text), "")
                + &anchored(quote.reference, &text(title, "<w:i/>"))
                + &text(&page, "");
            xml += &self.note(&note);
        }
        xml
    }

    /// The table, where it stands in front of part `at`.
    fn table(&mut self, outline: &Outline, at: usize) {
        let Some(table) = outline.table.as_ref().filter(|table| table.before == at) else { return };
        let heads: Vec<String> = std::iter::once(OutlineTable::PAPERS)
            .chain(table.columns.iter().map(String::as_str))
            .map(|head| text(head, "<w:b/>"))
            .collect();
        let mut rows = vec![heads];
        for row in &table.rows {
            let paper = anchored(row.reference, &text(&row.paper, ""));
            rows.push(
                std::iter::once(paper).chain(row.cells.iter().map(|one| text(one, ""))).collect(),
            );
        }
        self.rows(&rows);
    }

    /// A table of cells of runs, the first row its head.
    pub(super) fn rows(&mut self, rows: &[Vec<String>]) {
        let grid = "<w:gridCol/>".repeat(rows.first().map_or(0, Vec::len));
        let mut xml = format!(
            "<w:tbl><w:tblPr><w:tblW w:w=\"5000\" w:type=\"pct\"/></w:tblPr><w:tblGrid>{grid}</w:tblGrid>"
        );
        for row in rows {
            let cell = |content: &String| format!("<w:tc><w:tcPr/><w:p>{content}</w:p></w:tc>");
            let cells: String = row.iter().map(cell).collect();
            let _infallible = write!(xml, "<w:tr>{cells}</w:tr>");
        }
        self.xml += &(xml + "</w:tbl>\n");
        // Two tables, or a table and the end, need a paragraph between them.
        self.paragraph("Normal", "");
    }

    /// Adds a footnote and gives the mark that leads to it.
    pub(super) fn note(&mut self, content: &str) -> String {
        self.notes.push(content.to_owned());
        let id = self.notes.len() - 1 + FIRST_NOTE;
        format!(
            "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr>\
             <w:footnoteReference w:id=\"{id}\"/></w:r>"
        )
    }

    fn references(&mut self, outline: &Outline) {
        if outline.entries.is_empty() {
            return;
        }
        self.paragraph("Heading1", &text("References", ""));
        for entry in &outline.entries {
            self.bookmarks += 1;
            let mut content = format!(
                "<w:bookmarkStart w:id=\"{}\" w:name=\"ref_{}\"/>",
                self.bookmarks,
                entry.reference + 1
            );
            if !entry.label.is_empty() {
                content += &(self.runs(&entry.label) + "<w:r><w:tab/></w:r>");
            }
            let _infallible = write!(
                content,
                "{}<w:bookmarkEnd w:id=\"{}\"/>",
                self.runs(&entry.text),
                self.bookmarks
            );
            self.paragraph("Bibliography", &content);
        }
    }

    fn runs(&mut self, runs: &[Run]) -> String {
        runs.iter().map(|run| self.run(run)).collect()
    }

    fn run(&mut self, run: &Run) -> String {
        let mut look = String::new();
        for (wanted, xml) in [
            (run.look.bold, "<w:b/>"),
            (run.look.italic, "<w:i/>"),
            (run.look.small_caps, "<w:smallCaps/>"),
            (run.look.underlined, "<w:u w:val=\"single\"/>"),
            (run.look.raised == Some(true), "<w:vertAlign w:val=\"superscript\"/>"),
            (run.look.raised == Some(false), "<w:vertAlign w:val=\"subscript\"/>"),
        ] {
            if wanted {
                look += xml;
            }
        }
        match &run.link {
            Some(Link::Reference(at)) => anchored(*at, &text(&run.text, &look)),
            Some(Link::Url(url)) if is_address(url) => {
                let url = escape_html(url);
                let at = self.links.iter().position(|known| *known == url).unwrap_or_else(|| {
                    self.links.push(url);
                    self.links.len() - 1
                });
                let inner = text(&run.text, &format!("<w:rStyle w:val=\"Hyperlink\"/>{look}"));
                format!("<w:hyperlink r:id=\"link{}\">{inner}</w:hyperlink>", at + 1)
            }
            _ => text(&run.text, &look),
        }
    }
}

/// Content that leads to a reference.
fn anchored(reference: usize, content: &str) -> String {
    format!(
        "<w:hyperlink w:anchor=\"ref_{}\" w:history=\"1\">{content}</w:hyperlink>",
        reference + 1
    )
}

/// A run of text with one look.
pub(super) fn text(text: &str, look: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let look = if look.is_empty() { String::new() } else { format!("<w:rPr>{look}</w:rPr>") };
    format!("<w:r>{look}<w:t xml:space=\"preserve\">{}</w:t></w:r>", escape_html(text))
}

/// Whether word processors take it as an address.
fn is_address(url: &str) -> bool {
    (url.starts_with("https://") || url.starts_with("http://"))
        && url.chars().all(|c| c.is_ascii_graphic() && !"<>\"{}|\\^`".contains(c))
}
