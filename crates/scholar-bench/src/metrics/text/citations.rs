//! Citation markers as the reference scorers see them: `[3]` and `[3, 5]`, nothing else.
//!
//! They pass over `[1-3]`, `[1; 2]` and `[ 3]`; the corrected forms read with `scholar_core::text::markers`.

use std::ops::Range;

use super::python;

/// `text` without groups of citation numbers, blanks tidied.
///
/// Steps, in this order: groups go; runs of two or more white-space characters, line breaks included, become one
/// space; the ends are trimmed; a space before a full stop or comma goes.
pub fn remove(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut from = 0;
    for (range, _) in groups(text) {
        bare.push_str(&text[from..range.start]);
        from = range.end;
    }
    bare.push_str(&text[from..]);
    python::strip(&single_spaces(&bare)).replace(" .", ".").replace(" ,", ",")
}

/// All numbers in groups, in order, repetitions kept.
pub fn numbers(text: &str) -> Vec<usize> {
    groups(text).into_iter().flat_map(|(_, numbers)| numbers).collect()
}

/// The number after every bracket that has one: what upstream's citation scorer takes for a sentence's citations.
///
/// `[1, 2]` gives only 1, and `[6-8]` gives 6.
pub fn first_numbers(text: &str) -> Vec<usize> {
    text.match_indices('[').filter_map(|(at, _)| Some(number(&text[at + 1..])?.0)).collect()
}

/// Byte ranges of `[d]`, `[d, d, …]` with their numbers.
fn groups(text: &str) -> Vec<(Range<usize>, Vec<usize>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('[') {
        if let Some((len, numbers)) = group(&text[at..]) {
            found.push((at..at + len, numbers));
        }
    }
    found
}

/// The group that `text` begins with: its length in bytes, its numbers.
fn group(text: &str) -> Option<(usize, Vec<usize>)> {
    let mut rest = text.strip_prefix('[')?;
    let mut numbers = Vec::new();
    loop {
        let (value, len) = number(rest)?;
        numbers.push(value);
        rest = &rest[len..];
        if let Some(after) = rest.strip_prefix(']') {
            return Some((text.len() - after.len(), numbers));
        }
        rest = rest.strip_prefix(',')?.trim_start_matches(python::is_space);
    }
}

/// The number that `text` begins with and its length in bytes. A number beyond `usize` is the greatest one: it is out
/// of every range.
fn number(text: &str) -> Option<(usize, usize)> {
    let len = text.find(|c| python::digit(c).is_none()).unwrap_or(text.len());
    let digits = text[..len].chars().filter_map(python::digit);
    let value = digits.fold(0_usize, |value, digit| value.saturating_mul(10).saturating_add(digit));
    (len > 0).then_some((value, len))
}

fn single_spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run: Option<(char, usize)> = None;
    for c in text.chars() {
        if python::is_space(c) {
            run = Some(run.map_or((c, 1), |(first, n)| (first, n + 1)));
            continue;
        }
        push_run(&mut out, run.take());
        out.push(c);
    }
    push_run(&mut out, run);
    out
}

fn push_run(out: &mut String, run: Option<(char, usize)>) {
    match run {
        Some((c, 1)) => out.push(c),
        Some(_) => out.push(' '),
        None => {}
    }
}
