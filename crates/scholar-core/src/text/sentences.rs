//! Sentences of scientific prose.
//!
//! A full stop ends a sentence unless something says it does not. Steps per candidate:
//! 1. [`Brackets`] forbid a boundary inside a matched pair that is not absurdly long;
//! 2. closing quotes, citation markers and author-year parentheses after the stop stay with the sentence;
//! 3. what follows must look like a start ([`starts_sentence`]);
//! 4. what precedes must not be an abbreviation, an initial or a list number (`blocks_boundary`).
//!
//! Blank lines, and line breaks beside headings and list items, always end a sentence. Not Punkt: benchmark scores
//! that need NLTK's splits have their own. Linear in the text's length. Source: ours.

use std::ops::Range;

use crate::text::markers::is_author_year;
use crate::text::normalise::is_space;

mod abbreviations;

use abbreviations::{Abbreviation, abbreviation, is_starter};

/// Longest bracketed stretch, in characters, inside which no sentence ends; longer ones are taken for stray brackets.
const LONGEST_BRACKET: usize = 400;
/// Longest parenthesis taken for an author-year citation after a full stop, in characters.
const LONGEST_CITATION: usize = 160;

/// A text of so many characters without one capital letter is stored without them; a shorter one may be part of a sentence.
const LONG_TEXT: usize = 120;

/// Byte ranges of the sentences of `text`, trimmed, in order, none empty. White space apart, every character is in
/// exactly one of them.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let small = chars.len() >= LONG_TEXT && !chars.iter().any(|(_, c)| c.is_uppercase());
    let scan = Scan { text, brackets: Brackets::of(&chars), chars, small };
    let mut ranges = Vec::new();
    let mut start = 0;
    while let Some(first) = scan.next_nonspace(start) {
        let end = scan.end_of_sentence(first);
        let (from, to) = (scan.byte(first), scan.byte(end));
        ranges.push(from..from + text[from..to].trim_end_matches(is_space).len());
        start = end;
    }
    ranges
}

/// The sentences of `text` in order, as slices of it.
pub fn sentence_texts(text: &str) -> Vec<&str> {
    sentences(text).into_iter().map(|range| &text[range]).collect()
}

/// For each character, whether it lies inside a bracket pair.
struct Brackets(Vec<bool>);

impl Brackets {
    fn of(chars: &[(usize, char)]) -> Self {
        let mut inside = vec![false; chars.len()];
        let mut open: Vec<(usize, char)> = Vec::new();
        let mut outermost_end = 0;
        let mut pairs = Vec::new();
        for (at, &(_, c)) in chars.iter().enumerate() {
            match c {
                '(' | '[' | '{' => open.push((at, c)),
                ')' | ']' | '}' => {
                    let opener = match c {
                        ')' => '(',
                        ']' => '[',
                        _ => '{',
                    };
                    // Half-open intervals mix brackets: the nearest opener will do when its own kind is missing.
                    let nth =
                        open.iter().rposition(|(_, o)| *o == opener).or(open.len().checked_sub(1));
                    if let Some(nth) = nth {
                        pairs.push((open[nth].0, at));
                        open.truncate(nth);
                    }
                }
                '\n' if matches!(chars.get(at + 1), Some((_, '\n'))) => open.clear(),
                _ => {}
            }
        }
        pairs.sort_unstable();
        for (from, to) in pairs {
            if to - from <= LONGEST_BRACKET && to > outermost_end {
                inside[from.max(outermost_end)..to].fill(true);
                outermost_end = to;
            }
        }
        Self(inside)
    }
}

struct Scan<'a> {
    text: &'a str,
    chars: Vec<(usize, char)>,
    brackets: Brackets,
    /// Whether the text is stored in small letters alone, so that a small letter may begin a sentence.
    small: bool,
}

impl Scan<'_> {
    fn at(&self, n: usize) -> Option<char> {
        self.chars.get(n).map(|(_, c)| *c)
    }

    fn byte(&self, n: usize) -> usize {
        self.chars.get(n).map_or(self.text.len(), |(byte, _)| *byte)
    }

    fn next_nonspace(&self, from: usize) -> Option<usize> {
        (from..self.chars.len()).find(|n| !is_space(self.chars[*n].1))
    }

    /// One past the last character of the sentence that begins at `first`.
    fn end_of_sentence(&self, first: usize) -> usize {
        let mut n = first;
        while let Some(c) = self.at(n) {
            if c == '\n' && self.line_break_ends(first, n) {
                return n;
            }
            let closes_after_stop = c == ')' && n > first && self.at(n - 1).is_some_and(is_stop);
            if (is_stop(c) || closes_after_stop) && !self.brackets.0[n] {
                let mut after = n + 1;
                while self.at(after).is_some_and(|c| is_stop(c) || is_closer(c)) {
                    after += 1;
                }
                if let Some(end) = self.boundary(first, n, after) {
                    return end;
                }
                n = after;
            } else {
                n += 1;
            }
        }
        self.chars.len()
    }

    /// A blank line, or a break beside a heading or before a list item.
    fn line_break_ends(&self, first: usize, n: usize) -> bool {
        let Some(next) = self.next_nonspace(n) else { return true };
        let blank = self.chars[n + 1..next].iter().any(|(_, c)| *c == '\n');
        let line = &self.text[self.byte(first)..self.byte(n)];
        let following = &self.text[self.byte(next)..];
        blank || line.starts_with('#') || following.starts_with('#') || starts_list_item(following)
    }

    /// Whether a sentence that begins at `first` ends with the stop at `stop`, closers up to `after`; if so, where
    /// it ends once the citations that follow are taken in.
    fn boundary(&self, first: usize, stop: usize, after: usize) -> Option<usize> {
        let (end, cited) = self.take_citations(after);
        let Some(next) = self.next_nonspace(end) else { return Some(self.chars.len()) };
        let spaced = next > end;
        let word = self.word_before(first, stop);
        if !spaced {
            let clear = after == end && self.is_glued_start(&word, next);
            return (clear || (cited && self.capital_word(next))).then_some(end);
        }
        let follower = self.word_at(next);
        let exclaims = self.at(stop).is_some_and(|c| c != '.' && c != ')');
        let small = self.small && follower.starts_with(char::is_alphabetic);
        if !(small || starts_sentence(&follower, &word))
            || (!exclaims && !cited && self.blocks_boundary(first, stop, &word, &follower))
        {
            return None;
        }
        Some(end)
    }

    /// Takes `[1]`, `(Smith et al., 2020)`, superscript numbers and a second stop after a sentence's stop, unless what
    /// follows them goes on in lower case and so has them as its subject.
    fn take_citations(&self, after: usize) -> (usize, bool) {
        let mut end = after;
        let mut cited = false;
        while let Some(next) = self.next_nonspace(end) {
            let Some(close) = self.citation_end(after, next) else { break };
            end = close;
            cited = true;
        }
        if !cited {
            return (after, false);
        }
        while self.at(end).is_some_and(is_stop) {
            end += 1;
        }
        let goes_on = self
            .next_nonspace(end)
            .and_then(|next| self.at(next))
            .is_some_and(|c| c.is_lowercase() || matches!(c, ',' | ';' | ':'));
        if goes_on { (after, false) } else { (end, true) }
    }

    /// One past a citation that begins at `next`.
    fn citation_end(&self, after: usize, next: usize) -> Option<usize> {
        let c = self.at(next)?;
        let close_of = |close: char| {
            (next + 1..self.chars.len().min(next + LONGEST_CITATION))
                .find(|n| self.chars[*n].1 == close)
        };
        match c {
            '[' => {
                let close = close_of(']')?;
                let inside = &self.text[self.byte(next + 1)..self.byte(close)];
                let numeric = inside.chars().all(|c| c.is_ascii_digit() || " ,;-–—".contains(c));
                (numeric && inside.contains(|c: char| c.is_ascii_digit())).then_some(close + 1)
            }
            '(' => {
                let close = close_of(')')?;
                let inside = &self.text[self.byte(next + 1)..self.byte(close)];
                is_author_year(inside).then_some(close + 1)
            }
            // `found.12 However`: a superscript reference flattened into the line.
            c if c.is_ascii_digit() && next == after => {
                let letters = self.text[..self.byte(next)]
                    .trim_end_matches(is_stop)
                    .chars()
                    .rev()
                    .take_while(|c| c.is_lowercase())
                    .count();
                let end = (next..self.chars.len()).find(|n| {
                    !(self.chars[*n].1.is_ascii_digit() || ",-–".contains(self.chars[*n].1))
                })?;
                let starts =
                    self.next_nonspace(end).is_some_and(|n| n > end && self.capital_word(n));
                (letters >= 4 && end - next <= 9 && starts).then_some(end)
            }
            _ => None,
        }
    }

    /// `end.Start`: a word of at least two lower-case letters, or a closing bracket or digit, then a capitalised word.
    fn is_glued_start(&self, word: &str, next: usize) -> bool {
        let tail = word.chars().rev().take_while(|c| c.is_lowercase()).count();
        let closed = word.ends_with([')', ']', '%'])
            || (word.len() > 2 && word.ends_with(|c: char| c.is_ascii_digit()));
        let address = ["/", "@", "www."].iter().any(|part| word.contains(part));
        let dotted = word.contains('.');
        (tail >= 2 || closed)
            && !address
            && !dotted
            && abbreviation(word) == Abbreviation::No
            && self.capital_word(next)
            && !self.word_at(next).trim_end_matches('.').contains(['.', '/', '@'])
    }

    /// An upper-case letter followed by a lower-case one, or a lone `A` or `I` before a space.
    fn capital_word(&self, n: usize) -> bool {
        let Some(c) = self.at(n).filter(|c| c.is_uppercase()) else { return false };
        match self.at(n + 1) {
            Some(second) => second.is_lowercase() || (matches!(c, 'A' | 'I') && is_space(second)),
            None => false,
        }
    }

    /// The word that ends before the stop: back to white space, openers cut off.
    fn word_before(&self, first: usize, stop: usize) -> String {
        let from =
            (first..stop).rev().find(|n| is_space(self.chars[*n].1)).map_or(first, |n| n + 1);
        let word = &self.text[self.byte(from)..self.byte(stop)];
        word.trim_start_matches(|c: char| "([{\"'“‘*_".contains(c)).trim_end_matches('.').to_owned()
    }

    /// The word that begins at `n`, up to white space.
    fn word_at(&self, n: usize) -> String {
        self.chars[n..].iter().map(|(_, c)| *c).take_while(|c| !is_space(*c)).collect()
    }

    fn blocks_boundary(&self, first: usize, stop: usize, word: &str, follower: &str) -> bool {
        let begins_sentence = word.chars().count() == stop - first;
        if begins_sentence && word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit()) {
            return true;
        }
        let starter = is_starter(follower);
        match abbreviation(word) {
            Abbreviation::Never => return true,
            Abbreviation::BeforeNumber => {
                return follower
                    .starts_with(|c: char| c.is_ascii_digit() || "IVX".contains(c) && !starter);
            }
            Abbreviation::UnlessStarter => return !starter,
            Abbreviation::No => {}
        }
        if word.chars().count() == 1 && word.chars().all(char::is_uppercase) {
            return !starter && self.is_initial(first, stop);
        }
        // `U.S.`, `Ph.D.`, `a.m.`
        let parts: Vec<&str> = word.split('.').collect();
        let dotted = parts.len() > 1
            && parts.iter().all(|part| {
                (1..=2).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic)
            });
        dotted && !starter
    }

    /// `J. Smith` has an initial, `vitamin D. Patients` has not: a plain lower-case word stands before it.
    fn is_initial(&self, first: usize, stop: usize) -> bool {
        let before = self.text[self.byte(first)..self.byte(stop - 1)].trim_end();
        let previous = before.rsplit(is_space).next().unwrap_or("");
        let plain = !previous.is_empty() && previous.chars().all(char::is_lowercase);
        !plain
            || matches!(
                previous,
                "and" | "by" | "of" | "with" | "from" | "to" | "see" | "von" | "van" | "de"
            )
    }
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。')
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '}' | '*' | '_')
}

/// Whether `follower` can begin a sentence after a stop behind `word`.
fn starts_sentence(follower: &str, word: &str) -> bool {
    let bare = follower.trim_start_matches(|c: char| "\"'“‘«([{*_#".contains(c));
    let Some(c) = bare.chars().next() else { return true };
    if c.is_lowercase() {
        // Names like p53, mRNA or iPSCs begin sentences; after a short word they rather continue one.
        let name = bare.trim_end_matches(|c: char| ",.;:)".contains(c));
        let mixed = name.chars().any(|c| c.is_uppercase() || c.is_ascii_digit());
        return mixed && word.chars().count() > 3;
    }
    c.is_alphanumeric()
        || !matches!(c, ',' | ';' | ':' | '.' | ')' | ']' | '}' | '%' | '=' | '<' | '>')
}

fn starts_list_item(line: &str) -> bool {
    let bullet = ["- ", "* ", "• ", "+ "].iter().any(|mark| line.starts_with(mark));
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits)
        && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "));
    bullet || numbered
}

#[cfg(test)]
mod tests;
