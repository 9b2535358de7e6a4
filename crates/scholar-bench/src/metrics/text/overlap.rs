//! Exact match and token F1.
//!
//! Source: Rajpurkar et al. 2016 (`SQuAD`).

use std::collections::HashMap;

use super::{Overlap, python};

/// `SQuAD`'s normal form: lower case; ASCII punctuation deleted, other quotation marks kept; the words `a`, `an`, `the`
/// deleted; single spaces.
pub fn normalise(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain: String = lower.chars().filter(|c| !python::is_punctuation(*c)).collect();
    let mut out = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    while !rest.is_empty() {
        let len = rest.find(|c| !python::is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len);
        out.push_str(if ["a", "an", "the"].contains(&word) { " " } else { word });
        let gap = after.find(python::is_word).unwrap_or(after.len());
        out.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    python::words(&out).collect::<Vec<_>>().join(" ")
}

/// Whether both have the same normal form.
pub fn exact_match(output: &str, reference: &str) -> bool {
    normalise(output) == normalise(reference)
}

/// Overlap of the words of the normal forms, each counted as often as it occurs. Both empty is full overlap, one
/// empty is none.
pub fn token_f1(output: &str, reference: &str) -> Overlap {
    let (output, reference) = (normalise(output), normalise(reference));
    if output.is_empty() && reference.is_empty() {
        return Overlap { precision: 1.0, recall: 1.0, f1: 1.0 };
    }
    let output: Vec<&str> = python::words(&output).collect();
    let reference: Vec<&str> = python::words(&reference).collect();
    Overlap::of(shared(&output, &reference), output.len(), reference.len())
}

/// How many entries two multisets share.
pub(crate) fn shared<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> usize {
    let mut left: HashMap<&T, usize> = HashMap::with_capacity(a.len());
    for entry in a {
        *left.entry(entry).or_default() += 1;
    }
    let mut n = 0;
    for entry in b {
        if let Some(count) = left.get_mut(entry)
            && *count > 0
        {
            *count -= 1;
            n += 1;
        }
    }
    n
}
