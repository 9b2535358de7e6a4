//! Finding the exact place of a quotation in its source.
//!
//! Both texts are reduced to a comparable stream ([`Stream`]) whose characters remember where they come from; the
//! quotation must then occur *completely*. Nothing is scored, so nothing is guessed: white space, hyphenation at line
//! ends, Unicode compatibility forms and the shape of quotation marks and dashes are not part of the comparison;
//! letters, digits, signs and the order of words are. Passes, first success wins:
//! 1. as it stands; 2. without citation markers on both sides; 3. and 4. the same ignoring case.
//!
//! Linear in the length of both texts. Source: ours.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::span::CharSpan;
use crate::text::markers::foreign_markers;
use crate::text::normalise::{is_invisible, is_space, plain_punctuation};

/// Fewest letters and digits of a quotation: fewer occur anywhere.
const SHORTEST_QUOTE: usize = 3;

/// The characters of `source` that `quote` quotes.
///
/// `None` when it does not occur, occurs only as a part of longer words, or occurs in several places that are printed
/// differently and none exactly as quoted.
///
/// Quotation marks, ellipses and brackets around the quotation are ignored, a final `.`, `,`, `;` or `:` may be the
/// quoter's own. Places that are printed alike are one; the first is returned.
pub fn locate(quote: &str, source: &str) -> Option<CharSpan> {
    let bare = trim_quote(quote);
    if bare.chars().filter(|c| c.is_alphanumeric()).count() < SHORTEST_QUOTE {
        return None;
    }
    let stopless = bare.trim_end_matches(['.', ',', ';', ':']);
    for ignore_case in [false, true] {
        for ignore_markers in [false, true] {
            let form = Form { ignore_case, ignore_markers };
            let haystack = Stream::new(source, form);
            for needle in [bare, stopless] {
                if let Some(span) = haystack.find(&Stream::new(needle, form).text, needle, source) {
                    return Some(span);
                }
                if needle.len() == stopless.len() {
                    break;
                }
            }
        }
    }
    None
}

fn trim_quote(quote: &str) -> &str {
    let outer = |c: char| is_space(c) || plain_punctuation(c) == '"' || c == '…';
    let mut text = quote;
    loop {
        let before = text.len();
        text = text.trim_matches(outer);
        for ellipsis in ["...", "[...]", "[…]", "(...)", "(…)"] {
            text = text.strip_prefix(ellipsis).unwrap_or(text);
            text = text.strip_suffix(ellipsis).unwrap_or(text);
        }
        if text.len() == before {
            return text;
        }
    }
}

#[derive(Clone, Copy)]
struct Form {
    ignore_case: bool,
    ignore_markers: bool,
}

/// A text reduced for comparison.
struct Stream {
    text: String,
    /// For each character of `text`: its byte, the character of the source it comes from, and whether it is the
    /// first and the last that this one became.
    origins: Vec<Origin>,
    /// Per character of the source, whether it is a letter or digit.
    word_chars: Vec<bool>,
}

#[derive(Clone, Copy)]
struct Origin {
    byte: usize,
    char: usize,
    first: bool,
    last: bool,
    mark: bool,
}

impl Stream {
    fn new(source: &str, form: Form) -> Self {
        let ignored = if form.ignore_markers { citation_ranges(source) } else { Vec::new() };
        let chars: Vec<(usize, char)> = source.char_indices().collect();
        let mut stream = Self {
            text: String::with_capacity(source.len()),
            origins: Vec::with_capacity(chars.len()),
            word_chars: chars.iter().map(|(_, c)| c.is_alphanumeric()).collect(),
        };
        let mut ignored = ignored.into_iter().peekable();
        let mut pending_space = false;
        let mut joining = false;
        for (n, &(byte, c)) in chars.iter().enumerate() {
            while ignored.next_if(|range| range.end <= byte).is_some() {}
            if ignored.peek().is_some_and(|range| range.contains(&byte)) {
                continue;
            }
            if is_space(c) {
                pending_space = !joining;
                continue;
            }
            if is_invisible(c) {
                joining |= c == '\u{ad}';
                continue;
            }
            if plain_punctuation(c) == '-' && stream.is_hyphen(&chars[n + 1..]) {
                (pending_space, joining) = (false, true);
                continue;
            }
            stream.push(n, c, form, pending_space);
            (pending_space, joining) = (false, false);
        }
        stream
    }

    /// A dash between two letters, spaced or not, is no part of the comparison: line ends put hyphens there and
    /// editors exchange dashes. One beside a digit may be a minus sign and counts.
    fn is_hyphen(&self, rest: &[(usize, char)]) -> bool {
        let before = self.origins.iter().rev().find(|origin| !origin.mark);
        let letter_before = before
            .and_then(|origin| self.text[origin.byte..].chars().next())
            .is_some_and(char::is_alphabetic);
        let after = rest.iter().map(|(_, c)| *c).find(|c| !is_space(*c) && !is_invisible(*c));
        letter_before && after.is_some_and(char::is_alphabetic)
    }

    fn push(&mut self, n: usize, c: char, form: Form, spaced: bool) {
        let from = self.origins.len();
        let mut expanded: Vec<char> = std::iter::once(plain_punctuation(c))
            .nfkd()
            .filter(|c| !is_space(*c))
            .map(plain_punctuation)
            .collect();
        if form.ignore_case {
            expanded = expanded.into_iter().flat_map(char::to_lowercase).collect();
        }
        let after_word = self.text.ends_with(|c: char| c.is_alphanumeric() || is_combining_mark(c));
        if spaced && after_word && expanded.first().is_some_and(|c| c.is_alphanumeric()) {
            let byte = self.text.len();
            self.origins.push(Origin { byte, char: n, first: false, last: false, mark: false });
            self.text.push(' ');
        }
        let start = self.origins.len();
        for c in expanded {
            let byte = self.text.len();
            let mark = is_combining_mark(c);
            self.origins.push(Origin { byte, char: n, first: false, last: false, mark });
            self.text.push(c);
        }
        if self.origins.len() > start {
            self.origins[start].first = true;
            if let Some(last) = self.origins.last_mut() {
                last.last = true;
            }
        }
        debug_assert!(self.origins.len() >= from);
    }

    fn find(&self, needle: &str, quote: &str, source: &str) -> Option<CharSpan> {
        if needle.is_empty() {
            return None;
        }
        let mut first: Option<(CharSpan, &str)> = None;
        let mut differs = false;
        let mut from = 0;
        while let Some(at) = self.text[from..].find(needle) {
            let start = from + at;
            if let Some(span) = self.span(start..start + needle.len()) {
                let printed = span.slice(source)?;
                if printed == quote {
                    return Some(span);
                }
                match first {
                    None => first = Some((span, printed)),
                    Some((_, earlier)) => differs |= earlier != printed,
                }
            }
            from = start + self.text[start..].chars().next().map_or(1, char::len_utf8);
        }
        first.filter(|_| !differs).map(|(span, _)| span)
    }

    /// The source characters of a stretch of the stream, if it begins and ends with whole characters and words.
    fn span(&self, bytes: Range<usize>) -> Option<CharSpan> {
        let from = self.origins.binary_search_by_key(&bytes.start, |o| o.byte).ok()?;
        let to = self.origins.partition_point(|o| o.byte < bytes.end);
        let (first, last) = (self.origins.get(from)?, self.origins.get(to.checked_sub(1)?)?);
        let mark_follows = self.origins.get(to).is_some_and(|next| next.mark);
        let word = |n: usize| self.word_chars.get(n).copied().unwrap_or(false);
        let inside_before = first.char > 0 && word(first.char) && word(first.char - 1);
        let inside_after = word(last.char) && word(last.char + 1);
        let whole = first.first && last.last && !mark_follows && !inside_before && !inside_after;
        whole.then(|| CharSpan::new(first.char, last.char + 1))
    }
}

/// Numeric citation groups that are references, and author-year parentheses.
fn citation_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = foreign_markers(text);
    ranges.extend(crate::text::markers::author_year_groups(text));
    ranges.sort_unstable_by_key(|range| range.start);
    ranges
}

#[cfg(test)]
mod tests;
