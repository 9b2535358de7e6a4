//! The text of a Word document: paragraphs and headings, for texts that people bring along.
//!
//! No paper: a DOCX file states no metadata that could be relied upon, so [`document`](crate::document) does not read it.

use std::io::{Cursor, Read as _};

use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};
use crate::xml::{self, Element};

/// The part of the archive that has the text.
const BODY: &str = "word/document.xml";

/// Whether `bytes` are an archive, as every DOCX file is.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// The paragraphs of a DOCX file, a blank line between them; paragraphs styled as headings have the marks of Markdown.
///
/// # Errors
/// [`FormatError`]: no archive, no text part, broken XML, or larger than `bounds` allow, unpacked.
pub fn text(bytes: &[u8], bounds: &Bounds) -> Result<String, FormatError> {
    let error = |kind, message: String| FormatError::new(kind, "DOCX", message);
    let broken = |message: String| error(FormatErrorKind::Malformed, message);
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|source| broken(format!("it is no ZIP archive: {source}")))?;
    let part = archive.by_name(BODY).map_err(|source| broken(format!("{BODY}: {source}")))?;
    let most = u64::try_from(bounds.limits.bytes).unwrap_or(u64::MAX);
    let mut body = Vec::new();
    part.take(most.saturating_add(1))
        .read_to_end(&mut body)
        .map_err(|source| broken(format!("{BODY}: {source}")))?;
    if body.len() > bounds.limits.bytes {
        let message = format!("{BODY} unpacks to more than {most} bytes");
        return Err(error(FormatErrorKind::TooLarge, message));
    }
    let tree = xml::read(&body, bounds)?;
    let paragraphs: Vec<String> = tree
        .root()
        .descendants()
        .filter(|element| element.name() == "p")
        .map(paragraph)
        .filter(|text| !text.trim().is_empty())
        .collect();
    if paragraphs.is_empty() {
        return Err(error(FormatErrorKind::NoText, "it holds no text".to_owned()));
    }
    Ok(paragraphs.join("\n\n"))
}

fn paragraph(element: Element<'_>) -> String {
    let mut text = String::new();
    let mut level = 0;
    for one in element.descendants() {
        match one.name() {
            "t" => text.push_str(&one.raw_text()),
            "tab" | "br" => text.push(' '),
            "pStyle" => {
                let style = one.attribute("val").unwrap_or_default().to_lowercase();
                level = match style.strip_prefix("heading") {
                    Some(digit) => digit.trim().parse::<usize>().unwrap_or(1).clamp(1, 6),
                    None if style == "title" => 1,
                    None => 0,
                };
            }
            _ => {}
        }
    }
    let text = text.trim();
    if level == 0 || text.is_empty() {
        text.to_owned()
    } else {
        format!("{} {text}", "#".repeat(level))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::ReadLimits;

    fn packed(name: &str, body: &str) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(name, SimpleFileOptions::default()).expect("a file");
        archive.write_all(body.as_bytes()).expect("written");
        archive.finish().expect("an archive").into_inner()
    }

    fn read(bytes: &[u8]) -> Result<String, FormatError> {
        text(bytes, &ReadLimits::standard().into())
    }

    #[test]
    fn paragraphs_and_headings_are_read() {
        let body = r#"<w:document xmlns:w="w"><w:body>
            <w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>Research Plan: A</w:t></w:r></w:p>
            <w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Method</w:t></w:r></w:p>
            <w:p><w:r><w:t xml:space="preserve">We train </w:t></w:r><w:r><w:t>one &amp; test.</w:t></w:r></w:p>
            <w:p/></w:body></w:document>"#;
        let bytes = packed("word/document.xml", body);
        assert!(is_archive(&bytes));
        assert_eq!(
            read(&bytes).expect("text"),
            "# Research Plan: A\n\n## Method\n\nWe train one & test."
        );
    }

    #[test]
    fn what_is_no_document_is_named() {
        assert!(read(b"PK\x03\x04 and no more").is_err());
        assert!(read(&packed("other.xml", "<a/>")).is_err());
        let empty =
            read(&packed("word/document.xml", "<w:document xmlns:w='w'/>")).expect_err("empty");
        assert_eq!(empty.kind, FormatErrorKind::NoText);
        assert!(read(&packed("word/document.xml", "<w:document")).is_err());
    }
}
