//! Small PDFs: pages of lines at their places, and papers printed from their texts.

use std::fmt::Write as _;

use scholar_core::Paper;

/// A line of a page: x and y from the bottom left, size, text in ASCII.
pub type PdfLine<'a> = (u32, u32, u32, &'a str);

/// A PDF of these pages, each a list of lines: x, y from the bottom, size, text.
pub fn pdf(pages: &[Vec<PdfLine<'_>>]) -> Vec<u8> {
    pdf_with(pages, "")
}

/// The same with an object as in [`pdf_of`].
pub fn pdf_with(pages: &[Vec<PdfLine<'_>>], form: &str) -> Vec<u8> {
    let streams = pages.iter().map(|page| {
        let mut stream = String::new();
        for (x, y, size, text) in page {
            let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
            let line = writeln!(stream, "BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET");
            line.unwrap_or_default();
        }
        ("", stream.into_bytes())
    });
    pdf_of(&streams.collect::<Vec<_>>(), form)
}

/// A PDF of these pages, each the other entries of its stream's dictionary and the stream as packed.
///
/// `form` is an object that every page can draw as `/Fm`, and the file's metadata if it is a packet of XMP.
pub fn pdf_of(pages: &[(&str, Vec<u8>)], form: &str) -> Vec<u8> {
    let mut objects: Vec<Vec<u8>> =
        vec![b"<< /Type /Catalog /Pages 2 0 R /Metadata 4 0 R >>".to_vec()];
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 5 + at * 2)).collect();
    objects.push(
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()).into(),
    );
    objects.push(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
    );
    objects.push(if form.is_empty() { b"null".to_vec() } else { form.into() });
    for (at, (entries, stream)) in pages.iter().enumerate() {
        let content = 6 + at * 2;
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> \
                 /XObject << /Fm 4 0 R >> >> /Contents {content} 0 R >>"
            )
            .into(),
        );
        let head = format!("<< /Length {} {entries} >>\nstream\n", stream.len());
        objects.push([head.as_bytes(), stream, b"\nendstream"].concat());
    }
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut offsets = String::new();
    for (at, object) in objects.iter().enumerate() {
        writeln!(offsets, "{:010} 00000 n ", out.len()).unwrap_or_default();
        out.extend(format!("{} 0 obj\n", at + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let (start, count) = (out.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {count}\n0000000000 65535 f \n{offsets}trailer\n<< /Size {count} /Root 1 0 R >>\n\
         startxref\n{start}\n%%EOF\n"
    );
    out.extend(end.bytes());
    out
}

/// Characters of a line of running text.
const LINE_CHARS: usize = 88;

/// `paper` printed in one column: a running head with its venue and year, title, authors, headed sections. Letters outside of
/// ASCII are left out.
pub fn printed(paper: &Paper) -> Vec<u8> {
    let meta = &paper.meta;
    let ascii = |text: &str| text.chars().filter(char::is_ascii).collect::<String>();
    let year = meta.year.map(|year| year.to_string()).unwrap_or_default();
    let head = ascii(&format!("{} {year}", meta.venue.as_deref().unwrap_or_default()));
    let mut lines: Vec<(u32, String)> = Vec::new();
    lines.extend(wrapped(&ascii(&meta.title), 50).into_iter().map(|line| (18, line)));
    lines.push((11, ascii(&meta.authors.join(", "))));
    for (at, section) in paper.sections.iter().enumerate() {
        let heading = match section.heading.as_str() {
            "Abstract" => "Abstract".to_owned(),
            other => format!("{at} {}", ascii(other)),
        };
        lines.push((12, heading));
        lines.extend(wrapped(&ascii(&section.text), LINE_CHARS).into_iter().map(|line| (10, line)));
    }
    let mut pages: Vec<Vec<(u32, u32, u32, &str)>> = Vec::new();
    let mut y = 0;
    for (size, text) in &lines {
        if y < 80 {
            pages.push(vec![(60, 775, 8, head.trim())]);
            y = 740;
        }
        if let Some(page) = pages.last_mut() {
            page.push((60, y, *size, text));
        }
        y -= size + if *size > 10 { 8 } else { 3 };
    }
    pdf(&pages)
}

/// The words of a text in lines of at most `chars` characters.
fn wrapped(text: &str, chars: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.len() + word.len() < chars) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
