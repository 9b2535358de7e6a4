//! The parts of a DOCX that are the same for every document, or a frame around content.

use std::fmt::Write as _;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

const NAMESPACES: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
     xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

pub(super) const CONTENT_TYPES: &str = include_str!("content_types.xml");
pub(super) const RELATIONS: &str = include_str!("relations.xml");
pub(super) const STYLES: &str = include_str!("styles.xml");
pub(super) const SETTINGS: &str = include_str!("settings.xml");

/// The document's properties; `title` is escaped.
pub(super) fn core(title: &str) -> String {
    format!(
        "{HEAD}<cp:coreProperties \
         xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{title}</dc:title></cp:coreProperties>"
    )
}

pub(super) fn document(body: &str) -> String {
    format!(
        "{HEAD}<w:document {NAMESPACES}><w:body>\n{body}<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/>\
         <w:pgMar w:top=\"1417\" w:right=\"1417\" w:bottom=\"1417\" w:left=\"1417\" w:header=\"708\" \
         w:footer=\"708\" w:gutter=\"0\"/></w:sectPr></w:body></w:document>"
    )
}

/// Relations to the other parts and to `links`, which are escaped.
pub(super) fn document_relations(links: &[String]) -> String {
    let mut xml = format!(
        "{HEAD}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\n"
    );
    for part in ["styles", "settings", "footnotes"] {
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            xml,
            "<Relationship Id=\"{part}\" Type=\"{OFFICE}/{part}\" Target=\"{part}.xml\"/>"
        );
    }
    for (number, link) in links.iter().enumerate() {
        let _infallible = writeln!(
            xml,
            "<Relationship Id=\"link{}\" Type=\"{OFFICE}/hyperlink\" Target=\"{link}\" \
             TargetMode=\"External\"/>",
            number + 1
        );
    }
    xml + "</Relationships>"
}

/// Footnotes, behind the two that draw the separating lines.
pub(super) fn footnotes(notes: &[String]) -> String {
    let mut xml = format!("{HEAD}<w:footnotes {NAMESPACES}>\n");
    for (id, kind) in ["separator", "continuationSeparator"].iter().enumerate() {
        let _infallible = writeln!(
            xml,
            "<w:footnote w:type=\"{kind}\" w:id=\"{id}\"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>"
        );
    }
    for (number, note) in notes.iter().enumerate() {
        let _infallible = writeln!(
            xml,
            "<w:footnote w:id=\"{}\"><w:p><w:pPr><w:pStyle w:val=\"FootnoteText\"/></w:pPr><w:r><w:rPr>\
             <w:rStyle w:val=\"FootnoteReference\"/></w:rPr><w:footnoteRef/></w:r>\
             <w:r><w:t xml:space=\"preserve\"> </w:t></w:r>{note}</w:p></w:footnote>",
            number + super::FIRST_NOTE
        );
    }
    xml + "</w:footnotes>"
}
