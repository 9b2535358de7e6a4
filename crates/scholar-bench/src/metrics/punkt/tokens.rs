//! Annotates the words around a candidate: abbreviations, ellipses, breaks.

use super::parameters::Parameters;
use super::{is_space, words};
use crate::metrics::text::python::{digit, is_word};

/// The type of every number.
const NUMBER: &str = "##number##";

/// A word with what is known about it.
struct Token<'a> {
    text: &'a str,
    /// Lower case; [`NUMBER`] for numbers.
    kind: String,
    /// A sentence ends after it.
    breaks: bool,
    /// It is an abbreviation or an ellipsis.
    shortens: bool,
}

/// Whether a sentence ends inside `context`, before its last word.
pub(super) fn has_break(context: &str) -> bool {
    let parameters = Parameters::english();
    let mut tokens: Vec<Token<'_>> = context
        .split('\n')
        .flat_map(words::words)
        .map(|word| Token::new(word, parameters))
        .collect();
    for n in 1..tokens.len() {
        let (before, after) = tokens.split_at_mut(n);
        if let (Some(token), Some(next)) = (before.last_mut(), after.first()) {
            token.see_next(next, parameters);
        }
    }
    tokens.pop();
    tokens.iter().any(|token| token.breaks)
}

/// Whether a word begins a sentence, by the case in which it was seen elsewhere.
#[derive(PartialEq, Eq)]
enum Starts {
    Yes,
    No,
    Unknown,
}

impl<'a> Token<'a> {
    /// The first pass, by the word alone.
    fn new(text: &'a str, parameters: &Parameters) -> Self {
        let lower = text.to_lowercase();
        let kind = if is_number(&lower) { NUMBER.to_owned() } else { lower };
        let mut token = Self { text, kind, breaks: false, shortens: false };
        if matches!(text, "." | "?" | "!") {
            token.breaks = true;
        } else if text.len() >= 2 && text.bytes().all(|b| b == b'.') {
            token.shortens = true;
        } else if text.ends_with('.') && !text.ends_with("..") {
            let word = text[..text.len() - 1].to_lowercase();
            let last_part = word.rsplit('-').next().unwrap_or(&word);
            token.shortens =
                parameters.is_abbreviation(&word) || parameters.is_abbreviation(last_part);
            token.breaks = !token.shortens;
        }
        token
    }

    /// The second pass, by the word that follows.
    fn see_next(&mut self, next: &Token<'_>, parameters: &Parameters) {
        if !self.text.ends_with('.') {
            return;
        }
        let kind = self.without_stop();
        let initial = self.is_initial();
        if parameters.is_collocation(kind, next.kind_in_sentence()) {
            self.breaks = false;
            return;
        }
        let number = kind == NUMBER;
        if self.shortens && !initial {
            let often = next.is_upper() && parameters.is_starter(next.kind_in_sentence());
            if next.starts(parameters) == Starts::Yes || often {
                self.breaks = true;
                return;
            }
        }
        if initial || number {
            let starts = next.starts(parameters);
            let name =
                initial && next.is_upper() && !parameters.contexts(next.kind_in_sentence()).lower();
            if starts == Starts::No || (starts == Starts::Unknown && name) {
                self.breaks = false;
            }
        }
    }

    fn starts(&self, parameters: &Parameters) -> Starts {
        if matches!(self.text, ";" | ":" | "," | "." | "!" | "?") {
            return Starts::No;
        }
        let seen = parameters.contexts(self.kind_in_sentence());
        if self.is_upper() && seen.lower() && !seen.upper_inside() {
            return Starts::Yes;
        }
        if self.is_lower() && (seen.upper() || !seen.lower_at_start()) {
            return Starts::No;
        }
        Starts::Unknown
    }

    /// The type without the full stop at its end.
    fn without_stop(&self) -> &str {
        match self.kind.strip_suffix('.') {
            Some(word) if !word.is_empty() => word,
            _ => &self.kind,
        }
    }

    /// The type, without the full stop if that ends a sentence.
    fn kind_in_sentence(&self) -> &str {
        if self.breaks { self.without_stop() } else { &self.kind }
    }

    /// One letter and a full stop.
    fn is_initial(&self) -> bool {
        let mut chars = self.text.chars();
        let letter = chars.next().is_some_and(|c| is_word(c) && digit(c).is_none());
        letter && chars.as_str() == "."
    }

    fn is_upper(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    fn is_lower(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_lowercase)
    }
}

/// An optional minus, an optional `.` or `,`, a digit, then digits and `,.-`.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let text = text.strip_prefix(['.', ',']).unwrap_or(text);
    text.starts_with(|c| digit(c).is_some())
        && text.chars().all(|c| digit(c).is_some() || matches!(c, ',' | '.' | '-'))
        && !text.contains(is_space)
}
