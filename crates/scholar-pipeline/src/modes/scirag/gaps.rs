//! What a critic finds missing, as search queries.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::markers::{between_markers, remove_markers};
use scholar_core::text::normalise::{match_key, single_spaced};

use crate::modes::evidence::pattern::pattern;

/// What a critic writes when nothing is missing. Source: released code.
pub(super) const COMPLETE: &str = "[end]terminate";
/// Longest line taken for a query, in characters. Ours.
const LONGEST_QUERY: usize = 400;

/// A critic's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing is missing.
    Complete,
    /// These are to be searched for.
    Queries(Vec<String>),
    /// Neither could be read.
    Unreadable,
}

/// Line-initial `(1)`, `1.`, `1)` with at most two digits: `(2019) reported` is prose.
///
/// Deviation D74: the source takes every number in parentheses for the beginning of a query.
static QUERY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*[*_>-]*\s*(?:\(\d{1,2}\)|\d{1,2}[.)])[*_]*\s+(.+)$"));

/// Reads a reply. Queries win over the word that ends it where both are there, as when feedback quotes the instruction.
pub(super) fn read(reply: &str) -> Verdict {
    let text = remove_markers(&between_markers(reply).text);
    let queries: Vec<String> = text.lines().filter_map(query).collect();
    if !queries.is_empty() {
        Verdict::Queries(queries)
    } else if says_complete(reply) {
        Verdict::Complete
    } else {
        Verdict::Unreadable
    }
}

/// Whether a reply says that nothing is missing, in whatever case.
pub(super) fn says_complete(reply: &str) -> bool {
    reply.to_lowercase().contains(COMPLETE)
}

fn query(line: &str) -> Option<String> {
    let text = single_spaced(QUERY.captures(line)?.get(1)?.as_str());
    let text = text.trim_matches(|c: char| c.is_whitespace() || "\"“”*_".contains(c));
    let fits = text.chars().count() <= LONGEST_QUERY && text.contains(char::is_alphabetic);
    (fits && !text.to_lowercase().contains(COMPLETE)).then(|| text.to_owned())
}

/// At most `most` of `queries` that no earlier one and none of `known` repeats, whatever their case and spacing.
pub(super) fn new_queries(queries: Vec<String>, known: &[String], most: usize) -> Vec<String> {
    let mut keys: Vec<String> = known.iter().map(|one| match_key(one)).collect();
    let mut new = Vec::new();
    for query in queries {
        let key = match_key(&query);
        if !keys.contains(&key) && new.len() < most {
            keys.push(key);
            new.push(query);
        }
    }
    new
}

/// The requirements that a first stage lists, or `None` where it says that all are met.
pub(super) fn unmet(reply: &str) -> Option<Vec<String>> {
    if says_complete(reply) {
        return None;
    }
    let text = remove_markers(&between_markers(reply).text);
    let lines = text.lines().map(|line| {
        let line = QUERY.captures(line).and_then(|found| found.get(1)).map_or(line, |m| m.as_str());
        single_spaced(line.trim_start_matches(['-', '*', ' ']))
    });
    let lines: Vec<String> = lines.filter(|line| line.contains(char::is_alphabetic)).collect();
    (!lines.is_empty()).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_lines_that_begin_with_a_small_number() {
        let check = |reply: &str, expected: &[&str]| {
            let expected = expected.iter().map(|one| (*one).to_owned()).collect();
            assert_eq!(read(reply), Verdict::Queries(expected), "{reply}");
        };
        check(
            "The study of Wu (2019) reported less.\n(1) pruning of attention heads\n(2) cost of pruning",
            &["pruning of attention heads", "cost of pruning"],
        );
        check("1. \"a b\"\n2) **c d**", &["a b", "c d"]);
        check("**(1)** a b\nUse [end]terminate if nothing is missing.", &["a b"]);
        assert_eq!(read("(2019) reported it. See (2020)."), Verdict::Unreadable);
        assert_eq!(read("All is there. [END]Terminate"), Verdict::Complete);
        assert_eq!(read(""), Verdict::Unreadable);
        assert_eq!(read("(1) [end]terminate"), Verdict::Complete);
    }

    #[test]
    fn a_query_that_repeats_its_path_or_a_sibling_is_dropped() {
        let known = ["Cost of  Pruning".to_owned()];
        let asked = ["cost of pruning", "heads", "HEADS", "a", "b"].map(str::to_owned).to_vec();
        assert_eq!(new_queries(asked, &known, 2), ["heads", "a"]);
    }

    #[test]
    fn a_list_of_what_is_missing() {
        let reply = "[Response_Start]- no costs\n2. no harms\n[Response_End]";
        assert_eq!(unmet(reply), Some(vec!["no costs".to_owned(), "no harms".to_owned()]));
        assert_eq!(unmet("[end]terminate"), None);
        assert_eq!(unmet(" \n"), None);
    }
}
