//! Which format bytes are in.

use super::DocumentFormat;

/// How far to look for what tells XML from XML.
const HEAD: usize = 1 << 16;

/// See [`DocumentFormat::sniff`].
pub(super) fn sniff(name: &str, bytes: &[u8]) -> Option<DocumentFormat> {
    let head = &bytes[..bytes.len().min(HEAD)];
    if head.windows(5).take(1024).any(|window| window == b"%PDF-") {
        return Some(DocumentFormat::Pdf);
    }
    let text = if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        head.iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte)).skip(2).collect()
    } else {
        String::from_utf8_lossy(head)
    };
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if text.starts_with('<') {
        return markup(text, bytes);
    }
    if head.contains(&0)
        || head.is_empty()
        || text.matches(char::REPLACEMENT_CHARACTER).count() > text.len() / 50 + 1
    {
        return None;
    }
    let extension =
        name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "md" | "markdown" | "mdown" | "mkd" => Some(DocumentFormat::Markdown),
        "txt" | "text" => Some(DocumentFormat::Text),
        _ if !name.contains('.') => Some(DocumentFormat::Text),
        _ => None,
    }
}

fn markup(head: &str, bytes: &[u8]) -> Option<DocumentFormat> {
    let root = root_name(head)?.to_ascii_lowercase();
    let somewhere = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    match root.rsplit(':').next().unwrap_or(&root) {
        "html" => {
            (somewhere(b"ltx_") || somewhere(b"LaTeXML")).then_some(DocumentFormat::LatexmlHtml)
        }
        "tei" | "teicorpus" => Some(DocumentFormat::Tei),
        "article" => Some(DocumentFormat::Jats),
        "pmc-articleset" | "articles" => Some(DocumentFormat::Jats),
        "oai-pmh" | "record" | "records" | "metadata" => {
            (somewhere(b"<article") || somewhere(b":article")).then_some(DocumentFormat::Jats)
        }
        _ => None,
    }
}

/// Name of the first element behind declarations and comments; a `DOCTYPE html` counts as one.
fn root_name(mut text: &str) -> Option<String> {
    loop {
        text = text.trim_start();
        let rest = text.strip_prefix('<')?;
        if let Some(comment) = rest.strip_prefix("!--") {
            text = &comment[comment.find("-->")? + 3..];
        } else if rest.starts_with('?') {
            text = &rest[rest.find('>')? + 1..];
        } else if rest.starts_with('!') {
            let doctype = rest.get(1..).unwrap_or_default();
            let mut words = doctype.split(|c: char| c.is_whitespace() || c == '>');
            if words.next().is_some_and(|word| word.eq_ignore_ascii_case("doctype"))
                && words.next().is_some_and(|word| word.eq_ignore_ascii_case("html"))
            {
                return Some("html".to_owned());
            }
            let internal = rest.find('[').filter(|at| rest.find('>').is_some_and(|end| *at < end));
            let end = match internal {
                Some(at) => at + rest[at..].find(']')? + 1,
                None => 0,
            };
            text = &rest[end + rest[end..].find('>')? + 1..];
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
            return Some(rest[..end].to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_bytes() {
        let check =
            |name: &str, bytes: &[u8], expect| assert_eq!(sniff(name, bytes), expect, "{name}");
        check("a.pdf", b"junk\n%PDF-1.4", Some(DocumentFormat::Pdf));
        let jats = b"\xef\xbb\xbf<?xml version=\"1.0\"?><!-- < --><!DOCTYPE article [<!ENTITY x \">\">]><article><front/>";
        check("a.html", jats, Some(DocumentFormat::Jats));
        check("b", b"<pmc-articleset><article>", Some(DocumentFormat::Jats));
        check("c", b"<OAI-PMH><GetRecord><article>", Some(DocumentFormat::Jats));
        check("d", b"<OAI-PMH><error>", None);
        check("e", b"<TEI xmlns='x'>", Some(DocumentFormat::Tei));
        check("f", b"<!doctype html><html><p class=\"ltx_p\">", Some(DocumentFormat::LatexmlHtml));
        check("g", b"<!DOCTYPE html><html><p>", None);
        check("notes.md", b"# Title", Some(DocumentFormat::Markdown));
        check("notes.txt", b"# Title", Some(DocumentFormat::Text));
        check("notes", b"words", Some(DocumentFormat::Text));
        check("refs.bib", b"@article{x}", None);
        check("x.txt", b"a\0b", None);
        check("x.txt", b"", None);
    }
}
