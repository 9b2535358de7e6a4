//! References in text that has no markup.

use std::sync::LazyLock;

use regex::Regex;

use super::PrintedReference;
use super::mentions;

#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test runs it")]
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:\[(\d{1,3}|[A-Za-z+]{2,10}\d{2,4}[a-z]?)\]|(\d{1,3})\.)\s+\S").unwrap()
});

/// Whether an entry begins with its number or key: `[12] …`, `12. …`, `[Lo20] …`.
pub(crate) fn is_numbered(line: &str) -> bool {
    NUMBER.is_match(line)
}

/// One entry of the list: identifiers it states, its year if there is only one.
pub(crate) fn entry(text: &str) -> Option<PrintedReference> {
    let label = NUMBER.captures(text).and_then(|hit| hit.get(1).or_else(|| hit.get(2)));
    let body = label.map_or(text, |label| text[label.end()..].trim_start_matches([']', '.']));
    let body = body.trim();
    if body.chars().filter(|c| c.is_alphabetic()).count() < 10 {
        return None;
    }
    let mut ids = mentions::dois(body);
    ids.extend(mentions::arxiv_ids(body));
    Some(PrintedReference {
        text: body.to_owned(),
        title: quoted_title(body),
        year: mentions::only_year(body),
        first_author: None,
        ids,
    })
}

/// A title that stands in quotation marks, which is the only one that text without markup tells for certain.
fn quoted_title(body: &str) -> Option<String> {
    let (_, rest) = body.split_once('\u{201c}')?;
    let (title, _) = rest.split_once('\u{201d}')?;
    let title = title.trim().trim_end_matches([',', '.']);
    (title.split(' ').count() >= 3 && !rest.contains('\u{201c}')).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_tells_what_is_certain() {
        let found = entry(
            "[12] K. Lo, \u{201c}A title of words,\u{201d} ACL, 2020. doi:10.1/none 10.1000/x.",
        )
        .expect("entry");
        assert_eq!(found.title.as_deref(), Some("A title of words"));
        assert_eq!((found.year, found.ids.len()), (Some(2020), 1));
        assert!(found.text.starts_with("K. Lo"));
        assert!(
            is_numbered("3. Lo, K.") && is_numbered("[KLM+19] Lo") && !is_numbered("Lo, K. [3]")
        );
        assert_eq!(entry("[3] 12-14"), None);
    }
}
