//! Words with a full stop of their own.

/// What a full stop after a word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// Nothing special.
    No,
    /// It belongs to the word.
    Never,
    /// It belongs to the word when a number follows (`no. 3`).
    BeforeNumber,
    /// It ends a sentence only when a typical first word follows (`et al. The`).
    UnlessStarter,
}

pub(super) fn abbreviation(word: &str) -> Abbreviation {
    let lower = word.to_lowercase();
    let lower = lower.as_str();
    if NEVER.binary_search(&lower).is_ok() {
        Abbreviation::Never
    } else if BEFORE_NUMBER.binary_search(&lower).is_ok() {
        Abbreviation::BeforeNumber
    } else if UNLESS_STARTER.binary_search(&lower).is_ok() {
        Abbreviation::UnlessStarter
    } else {
        Abbreviation::No
    }
}

/// Whether a capitalised word rarely continues a name: `The`, `However`, `In`.
pub(super) fn is_starter(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    bare.starts_with(char::is_uppercase)
        && STARTERS.binary_search(&bare.to_lowercase().as_str()).is_ok()
}

#[rustfmt::skip]
const NEVER: &[&str] = &[
    "adj", "approx", "ca", "cf", "dept", "dr", "e.g", "ed", "edn", "eds", "eg", "eq", "eqn", "eqns", "eqs", "esp",
    "fig", "figs", "i.e", "ie", "mr", "mrs", "ms", "prof", "ref", "refs", "resp", "sect", "supp", "suppl",
    "univ", "viz", "vs",
];

#[rustfmt::skip]
const BEFORE_NUMBER: &[&str] = &[
    "app", "apr", "art", "aug", "ch", "chap", "dec", "ex", "exp", "feb", "jan", "jul", "jun", "mar", "no", "nos",
    "nov", "nr", "oct", "p", "par", "pp", "sec", "secs", "sep", "sept", "tab", "v", "vol", "vols",
];

#[rustfmt::skip]
const UNLESS_STARTER: &[&str] = &[
    "al", "avg", "co", "corp", "etc", "gen", "inc", "jr", "lit", "ltd", "max", "nat", "sp", "spp", "sr", "st",
    "subsp", "var",
];

#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "a", "accordingly", "additionally", "after", "all", "also", "although", "among", "an", "another", "as", "at",
    "because", "before", "both", "but", "by", "consequently", "despite", "due", "during", "each", "every",
    "finally", "first", "following", "for", "from", "further", "furthermore", "given", "hence", "here", "how",
    "however", "i", "if", "in", "indeed", "instead", "it", "its", "many", "moreover", "most", "nevertheless",
    "next", "no", "notably", "of", "on", "one", "our", "over", "recently", "second", "several", "similarly",
    "since", "some", "specifically", "such", "that", "the", "their", "then", "there", "therefore", "these",
    "they", "third", "this", "those", "thus", "to", "two", "under", "unlike", "until", "using", "we", "what",
    "when", "where", "whereas", "whether", "which", "while", "with", "within", "without", "yet",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        for list in [NEVER, BEFORE_NUMBER, UNLESS_STARTER, STARTERS] {
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            assert_eq!(list, sorted);
        }
        assert_eq!(abbreviation("Fig"), Abbreviation::Never);
        assert!(is_starter("However,") && !is_starter("however") && !is_starter("Smith"));
    }
}
