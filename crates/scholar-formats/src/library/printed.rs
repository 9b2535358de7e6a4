//! The title in a reference as it is printed, where no markup tells it.
//!
//! Styles differ in what parts the title from the rest: quotation marks, the year before it, full stops. What is found
//! is good enough to count and to list works that are not here, and no metadata of a paper is made of it.

use std::sync::LazyLock;

use regex::Regex;

#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test runs each")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern("[\u{201c}\"]([^\u{201c}\u{201d}\"]{12,300}?)[,.]?[\u{201d}\"]"));
static AFTER_YEAR: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\(?\b(?:1[89]|20)\d\d[a-z]?\)?[.,:]\s+(.+)$"));
static INITIALS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\p{Lu}\.(?:[\s-]?\p{Lu}\.)*"));

/// Fewest words of a title.
const FEWEST_WORDS: usize = 3;
/// Most words of a title.
const MOST_WORDS: usize = 40;

/// The title that a printed reference states; `None` where none stands out.
pub fn reference_title(text: &str) -> Option<&str> {
    if let Some(quoted) = QUOTED.captures(text).and_then(|found| found.get(1)) {
        return is_title(quoted.as_str()).then(|| quoted.as_str().trim());
    }
    if let Some(rest) = AFTER_YEAR.captures(text).and_then(|found| found.get(1)) {
        let first = first_sentence(rest.as_str());
        if is_title(first) {
            return Some(first);
        }
    }
    let mut rest = text;
    while !rest.is_empty() {
        let sentence = first_sentence(rest);
        let after = rest.get(sentence.len()..).unwrap_or_default();
        if is_title(sentence) && !looks_like_names(sentence) {
            return Some(sentence);
        }
        rest = after.trim_start_matches(['.', '?', '!', ' ']);
        if sentence.is_empty() && !after.is_empty() && rest == after {
            return None;
        }
    }
    None
}

/// Up to the first full stop that ends a sentence rather than an initial or an abbreviation.
fn first_sentence(text: &str) -> &str {
    let mut from = 0;
    while let Some(at) = text[from..].find(['.', '?', '!']).map(|at| at + from) {
        let before = &text[..at];
        let last = before.rsplit([' ', '\u{a0}', '.']).next().unwrap_or_default();
        let is_initial = text[at..].starts_with('.')
            && last.chars().count() == 1
            && last.chars().all(char::is_uppercase);
        let ends = text[at + 1..].is_empty() || text[at + 1..].starts_with(' ');
        // `Shazeer N.` ends a list of authors, `N. Shazeer` goes on.
        let name = before.rsplit(' ').nth(1).unwrap_or_default();
        let ends_name = name.starts_with(char::is_uppercase)
            && name.chars().count() > 1
            && name.chars().all(|c| c.is_alphabetic() || c == '-');
        if ends && (!is_initial || ends_name) {
            let end = if text[at..].starts_with('?') { at + 1 } else { at };
            return text[..end].trim();
        }
        from = at + 1;
    }
    text.trim()
}

fn is_title(text: &str) -> bool {
    let words = text.split_whitespace().count();
    (FEWEST_WORDS..=MOST_WORDS).contains(&words)
        && text.chars().filter(|c| c.is_alphabetic()).count() * 2 > text.chars().count()
        && !["In ", "Proceedings of ", "Proc. "].iter().any(|venue| text.starts_with(venue))
}

/// Whether most of the words are names: initials, `and`, words with a comma after them.
fn looks_like_names(text: &str) -> bool {
    let initials = INITIALS.find_iter(text).count();
    let words: Vec<&str> = text.split_whitespace().collect();
    let parted = words.iter().filter(|word| word.ends_with(',')).count();
    let capital = words.iter().filter(|word| word.starts_with(char::is_uppercase)).count();
    // `Vaswani A, Shazeer N`: every word is a name or a few capitals.
    let has_capitals = words.iter().any(|word| {
        let bare = word.trim_end_matches(',');
        bare.chars().count() <= 3 && bare.chars().all(char::is_uppercase)
    });
    (has_capitals && capital == words.len())
        || initials >= 2
        || (parted * 3 >= words.len() && capital * 3 >= words.len() * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_found_in_the_usual_styles() {
        for (text, title) in [
            (
                "A. Vaswani and N. Shazeer. 2017. Attention is all you need. In Proc. of NIPS.",
                Some("Attention is all you need"),
            ),
            (
                "[3] A. Vaswani, \u{201c}Attention is all you need,\u{201d} in NIPS, 2017.",
                Some("Attention is all you need"),
            ),
            (
                "Koehn, P., Och, F. J. (2003). Statistical phrase-based translation. HLT-NAACL.",
                Some("Statistical phrase-based translation"),
            ),
            (
                "Vaswani A, Shazeer N. Attention is all you need. Adv Neural Inf. 2017;30:1-11.",
                Some("Attention is all you need"),
            ),
            ("Ibid.", None),
            ("...", None),
            ("", None),
        ] {
            assert_eq!(reference_title(text), title, "{text}");
        }
    }
}
