//! Punkt, the sentence splitter the reference scorers use, with the published English parameters.
//!
//! Citation recall is a mean over sentences, so scores compare only if sentences are cut alike. That includes what a
//! reader would cut otherwise: `et al.` and `Fig.` end sentences, a list's `1.` is one, a line break alone ends none,
//! and a citation behind the full stop belongs to the next sentence. For text shown to people use
//! `scholar_core::text::sentences`.
//!
//! Steps: find candidates (`.`, `?`, `!` before a blank or punctuation); cut the words around each ([`words`]);
//! annotate them by type, then by their neighbours ([`tokens`]); join closing quotes and brackets to the sentence
//! before. Linear in the text.
//!
//! Source: Kiss and Strunk, "Unsupervised multilingual sentence boundary detection", 2006; in the form of NLTK up to
//! 3.9, which takes only ASCII quotes for closing ones.

mod parameters;
mod tokens;
mod words;

use std::ops::Range;

use super::text::python::is_space;

/// Characters that may end a sentence.
const ENDS: [char; 3] = ['.', '?', '!'];
/// Quotes and brackets that close; after an end they stay with the sentence before.
const CLOSERS: [char; 5] = ['"', '\'', ')', ']', '}'];
/// White space that parts a candidate's word from the one before it.
const ASCII_SPACE: [char; 6] = [' ', '\t', '\n', '\r', '\u{b}', '\u{c}'];

/// The sentences of `text`, as slices of it.
pub fn sentences(text: &str) -> Vec<&str> {
    sentence_ranges(text).into_iter().map(|range| &text[range]).collect()
}

/// Byte ranges of the sentences of `text`, in order; blanks between them belong to none.
pub fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    realign(text, &slices(text))
}

/// A place where a sentence may end.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Byte of the end character.
    at: usize,
    /// Where the next word begins; `None` when punctuation follows directly.
    next_word: Option<usize>,
    /// One past what follows: the punctuation, or the whole next word.
    end: usize,
}

impl Candidate {
    /// One past the end character, which is ASCII.
    fn after(&self) -> usize {
        self.at + 1
    }
}

/// Every end character that is followed by punctuation, or by white space and a word.
fn candidates(text: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(ENDS) {
        let after = at + 1;
        let rest = &text[after..];
        let Some(next) = rest.chars().next() else { break };
        if words::cannot_be_inside(next) {
            found.push(Candidate { at, next_word: None, end: after + next.len_utf8() });
        } else if is_space(next) {
            let Some(gap) = rest.find(|c| !is_space(c)) else { break };
            let word = &rest[gap..];
            let len = word.find(is_space).unwrap_or(word.len());
            let start = after + gap;
            found.push(Candidate { at, next_word: Some(start), end: start + len });
        }
    }
    found
}

/// Candidates with the stretch of text that decides about each: the word before, the end character, what follows.
/// Of candidates whose words overlap (`!!!`) the last remains.
fn contexts(text: &str) -> Vec<(Candidate, Range<usize>)> {
    let mut kept = Vec::new();
    let mut last: Option<Candidate> = None;
    let mut word = 0..0;
    for candidate in candidates(text) {
        let before = &text[word.end..candidate.at];
        // A blank at the very start is passed over, as in the original.
        let start = match before.rfind(ASCII_SPACE) {
            Some(space) if space > 0 => word.end + space + 1,
            _ => word.start,
        };
        if let Some(last) = last
            && word.end <= start
        {
            kept.push((last, word.start..last.end));
        }
        last = Some(candidate);
        word = start..candidate.at;
    }
    kept.extend(last.map(|last| (last, word.start..last.end)));
    kept
}

/// Sentences before closing quotes are realigned. A slice may be empty, even end before it starts.
fn slices(text: &str) -> Vec<(usize, usize)> {
    let mut slices = Vec::new();
    let mut start = 0;
    for (candidate, context) in contexts(text) {
        if tokens::has_break(&text[context]) {
            slices.push((start, candidate.after()));
            start = candidate.next_word.unwrap_or_else(|| candidate.after());
        }
    }
    slices.push((start, text.trim_end_matches(is_space).len()));
    slices
}

fn realign(text: &str, slices: &[(usize, usize)]) -> Vec<Range<usize>> {
    let mut sentences = Vec::with_capacity(slices.len());
    let mut taken = 0;
    for (n, (start, end)) in slices.iter().enumerate() {
        let start = start + taken;
        taken = 0;
        let next = slices.get(n + 1).filter(|(start, end)| start < end);
        let closing = next.and_then(|(from, to)| closing(&text[*from..*to]));
        match (closing, next) {
            (Some((closers, all)), Some((from, _))) => {
                sentences.push(start..from + closers);
                taken = all;
            }
            _ if start < *end => sentences.push(start..*end),
            _ => {}
        }
    }
    sentences
}

/// Length of the closing quotes and brackets that `text` begins with, without and with the white space behind them;
/// `None` unless white space, a dash or the end follows.
fn closing(text: &str) -> Option<(usize, usize)> {
    let closers = text.find(|c| !CLOSERS.contains(&c)).unwrap_or(text.len());
    let rest = &text[closers..];
    let gap = rest.find(|c| !is_space(c)).unwrap_or(rest.len());
    let ends = rest.is_empty() || gap > 0 || rest.starts_with("--");
    (closers > 0 && ends).then_some((closers, closers + gap))
}

#[cfg(test)]
mod tests;
