//! What was meant by an unknown name.

use std::fmt;

/// A name no model has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownModel {
    /// What was asked for.
    pub name: String,
    /// The most similar names, best first, at most three.
    pub suggestions: Vec<String>,
}

impl std::error::Error for UnknownModel {}

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no model is called `{}`", self.name)?;
        if !self.suggestions.is_empty() {
            write!(f, " (did you mean {}?)", self.suggestions.join(", "))?;
        }
        Ok(())
    }
}

impl UnknownModel {
    /// Suggests among `known` what contains the name, is contained in it, or differs by a third of its letters.
    pub(super) fn new<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let wanted = fold(name);
        let mut near: Vec<(usize, &str)> = known
            .filter_map(|candidate| {
                let folded = fold(candidate);
                let contained =
                    wanted.len() >= 3 && (folded.contains(&wanted) || wanted.contains(&folded));
                let distance = distance(&wanted, &folded);
                (contained || distance * 3 <= folded.len())
                    .then_some((if contained { 0 } else { distance }, candidate))
            })
            .collect();
        near.sort_unstable();
        let suggestions = near.into_iter().take(3).map(|(_, name)| name.to_owned()).collect();
        Self { name: name.chars().take(100).collect(), suggestions }
    }
}

/// Letters and digits only, in lower case: separators are what people get wrong.
fn fold(name: &str) -> String {
    name.chars().take(100).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
