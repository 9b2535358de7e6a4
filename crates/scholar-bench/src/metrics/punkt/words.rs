//! Words as Punkt cuts them: punctuation apart, full stops with their word.

use super::is_space;

/// Whether `c` ends a word and stands alone.
pub(super) fn cannot_be_inside(c: char) -> bool {
    matches!(c, ')' | '"' | ';' | '}' | ']' | '*' | ':' | '@' | '\'' | '(' | '{' | '[' | '!' | '?')
}

fn cannot_begin(c: char) -> bool {
    matches!(
        c,
        '(' | '"'
            | '`'
            | '{'
            | '['
            | ':'
            | ';'
            | '&'
            | '#'
            | '*'
            | '@'
            | ')'
            | '}'
            | ']'
            | '-'
            | ','
    )
}

/// The words of one line. Multiple dashes and full stops, also with blanks between (`. . .`), are words.
pub(super) fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(first) = rest.chars().next() else { return words };
        let len = punctuation_run(rest)
            .unwrap_or_else(|| if cannot_begin(first) { first.len_utf8() } else { word_len(rest) });
        let (word, after) = rest.split_at(len);
        words.push(word);
        rest = after;
    }
}

/// Length of the word that `text` begins with, at least one character.
fn word_len(text: &str) -> usize {
    text.char_indices()
        .skip(1)
        .find(|(at, c)| {
            let rest = &text[*at..];
            *c != ',' && ends_before(rest) || *c == ',' && ends_before(&rest[1..])
        })
        .map_or(text.len(), |(at, _)| at)
}

/// Whether a word ends where `rest` begins.
fn ends_before(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| is_space(c) || cannot_be_inside(c))
        || punctuation_run(rest).is_some()
}

/// Length of the dashes or full stops that `text` begins with, if they are a word.
fn punctuation_run(text: &str) -> Option<usize> {
    for c in ['-', '.'] {
        let run = text.find(|other| other != c).unwrap_or(text.len());
        if run >= 2 {
            return Some(run);
        }
    }
    spaced_stops(text)
}

/// Length of `. . .`: at least two full stops each with one white space behind, and a last one.
fn spaced_stops(text: &str) -> Option<usize> {
    let mut pairs = 0;
    let mut at = 0;
    let mut before_last = 0;
    while let Some(space) = text[at..].strip_prefix('.').and_then(|rest| rest.chars().next())
        && is_space(space)
    {
        before_last = at;
        at += 1 + space.len_utf8();
        pairs += 1;
    }
    if pairs >= 2 && text[at..].starts_with('.') {
        Some(at + 1)
    } else if pairs >= 3 {
        Some(before_last + 1)
    } else {
        None
    }
}
