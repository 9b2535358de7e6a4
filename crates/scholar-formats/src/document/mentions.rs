//! Identifiers and years that stand in running text.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::PaperId;

use super::dates;

#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test runs each")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

static DOI: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b10\.\d{4,9}/[^\s"<>{}|\\^`\u{201c}\u{201d}]+"#));
static ARXIV: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\barxiv(?:\.org/(?:abs|pdf|html)/|\s?:\s?(?:abs/)?|\s+preprint\s+(?:arxiv\s?:\s?)?)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})",
    )
});
static YEAR: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:1[89]|20)\d\d[a-z]?\b"));

/// DOIs in a text, without the punctuation that ends sentences and closes brackets.
pub(crate) fn dois(text: &str) -> Vec<PaperId> {
    let mut found: Vec<PaperId> = Vec::new();
    for hit in DOI.find_iter(text) {
        let mut doi = hit.as_str();
        while let Some(last) = doi.chars().next_back() {
            let unopened = |open, close| {
                last == close && doi.matches(open).count() < doi.matches(close).count()
            };
            let ends = ".,;:'\u{2019}*".contains(last) || unopened('(', ')') || unopened('[', ']');
            if !ends {
                break;
            }
            doi = &doi[..doi.len() - last.len_utf8()];
        }
        if let Ok(id) = PaperId::doi(doi)
            && !doi.ends_with('/')
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
    found
}

/// arXiv identifiers in a text that say `arXiv`.
pub(crate) fn arxiv_ids(text: &str) -> Vec<PaperId> {
    let mut found: Vec<PaperId> = Vec::new();
    for hit in ARXIV.captures_iter(text) {
        if let Some(id) = hit.get(1).and_then(|id| PaperId::arxiv(&id.as_str().to_lowercase()).ok())
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
    found
}

/// The year a reference states, if the text outside of addresses and identifiers has only one.
pub(crate) fn only_year(text: &str) -> Option<i16> {
    let mut found = None;
    for word in text.split_whitespace() {
        if word.contains('/') || word.to_lowercase().contains("arxiv") {
            continue;
        }
        for hit in YEAR.find_iter(word) {
            let year = dates::year(hit.as_str());
            if found.is_some() && found != year {
                return None;
            }
            found = year;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_leave_their_sentences() {
        let text =
            "See (doi:10.1000/a(b)c), https://doi.org/10.1371/journal.pone.0000217. and 10.1/x";
        let found: Vec<String> = dois(text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["doi:10.1000/a(b)c", "doi:10.1371/journal.pone.0000217"]);
        let text = "arXiv preprint arXiv:1904.01608v2, https://arxiv.org/abs/hep-th/9901001 and 2004.14974";
        let found: Vec<String> = arxiv_ids(text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["arxiv:1904.01608", "arxiv:hep-th/9901001"]);
    }

    #[test]
    fn a_year_is_taken_only_where_there_is_one() {
        assert_eq!(only_year("Lo, K. 2020b. Title. arXiv:1999.12345"), Some(2020));
        assert_eq!(only_year("Lo, K. 2020. Results of 2019."), None);
        assert_eq!(only_year("pages 12020-20211"), None);
    }
}
