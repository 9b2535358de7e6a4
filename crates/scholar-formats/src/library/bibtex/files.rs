//! The field `file`, in which every reference manager writes its own way where the papers lie.

use crate::library::Attachment;

/// Attachments of a field: `description:path:type` several times between semicolons (`JabRef`, Mendeley, Zotero), or
/// bare paths between semicolons. `\:` and `\;` are the characters themselves.
pub(super) fn attachments(field: &str) -> Vec<Attachment> {
    let field = without_latex(field);
    split(&field, ';').iter().filter_map(|file| attachment(file)).collect()
}

fn attachment(file: &str) -> Option<Attachment> {
    let parts: Vec<String> = split(file, ':');
    let lower = file.trim().to_ascii_lowercase();
    let address = ["http://", "https://", "file://"].iter().any(|scheme| lower.starts_with(scheme));
    if parts.len() < 3 || address {
        return Attachment::at(&drive(&parts.join(":")), None);
    }
    // A drive's letter is the one part of a path that a colon follows without a backslash.
    let (path, kind) = match parts.as_slice() {
        [_, path @ .., kind] => (path.join(":"), kind),
        _ => return None,
    };
    let kind = if kind.contains('/') {
        kind.clone()
    } else {
        match kind.trim().to_ascii_lowercase().as_str() {
            "pdf" => "application/pdf".to_owned(),
            "html" | "url" => "text/html".to_owned(),
            _ => String::new(),
        }
    };
    Attachment::at(&drive(&path), Some(&kind))
}

/// Mendeley writes `/C:/…` or `C:/…` for a drive; a slash before the letter is none of the path.
fn drive(path: &str) -> String {
    match path.trim().as_bytes() {
        [b'/' | b'\\', letter, b':', ..] if letter.is_ascii_alphabetic() => {
            path.trim()[1..].to_owned()
        }
        _ => path.trim().to_owned(),
    }
}

/// Parts between separators without a backslash before them; the backslashes of separators go.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(last) = parts.last_mut() else { break };
        match (c, chars.peek()) {
            // The other separator keeps its backslash for the second pass.
            ('\\', Some(&next)) if next == separator => {
                last.push(separator);
                chars.next();
            }
            _ if c == separator => parts.push(String::new()),
            _ => last.push(c),
        }
    }
    parts
}

/// The few ways in which paths are escaped; other backslashes are those of paths.
fn without_latex(field: &str) -> String {
    [
        ("{\\_}", "_"),
        ("\\_", "_"),
        ("{\\&}", "&"),
        ("\\&", "&"),
        ("\\%", "%"),
        ("\\#", "#"),
        ("{\\textasciitilde}", "~"),
        ("\\textasciitilde{}", "~"),
        ("$\\backslash$:", "\\:"),
        ("{$\\backslash$}", "\\"),
        ("$\\backslash$", "\\"),
        ("\\\\", "\\"),
    ]
    .iter()
    .fold(field.trim().to_owned(), |text, (latex, plain)| text.replace(latex, plain))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::library::AttachmentPlace;

    #[test]
    fn every_managers_way_of_writing_files() {
        let paths = |field: &str| -> Vec<String> {
            attachments(field)
                .into_iter()
                .map(|attachment| match attachment.place {
                    AttachmentPlace::Path(path) => path.display().to_string(),
                    AttachmentPlace::Url(url) => url,
                })
                .collect()
        };
        for (field, expect) in [
            (":papers/a.pdf:PDF", vec!["papers/a.pdf"]),
            (
                "Full Text:files/12/a.pdf:application/pdf;Snapshot:files/13/b.html:text/html",
                vec!["files/12/a.pdf", "files/13/b.html"],
            ),
            ("/data/x/a b.pdf;/data/x/c.pdf", vec!["/data/x/a b.pdf", "/data/x/c.pdf"]),
            (r":C\:/Papers/x/a\;b.pdf:PDF", vec!["C:/Papers/x/a;b.pdf"]),
            (r":C$\backslash$:/Papers/x/a{\_}b.pdf:pdf", vec!["C:/Papers/x/a_b.pdf"]),
            (r"PDF:C\:\\Users\\x\\a.pdf:application/pdf", vec![r"C:\Users\x\a.pdf"]),
            (":/C:/x/a.pdf:pdf", vec!["C:/x/a.pdf"]),
            ("https://x.y/a.pdf", vec!["https://x.y/a.pdf"]),
            ("", vec![]),
        ] {
            assert_eq!(paths(field), expect, "{field}");
        }
        let one = attachments(":a.bin:PDF");
        assert_eq!(one[0].mime.as_deref(), Some("application/pdf"));
        assert_eq!(one[0].place, AttachmentPlace::Path(PathBuf::from("a.bin")));
    }
}
