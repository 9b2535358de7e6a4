//! What imprints and running heads look like.

use std::sync::LazyLock;

use regex::Regex;

#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test runs each")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// Months as dates print them.
const MONTH: &str = r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";

pub(super) static YEAR: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:19|20|21)\d\d\b"));
pub(super) static PAGES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:pages?|pp?)\b\.?\s*[A-Z]?\d+(?:\s?[-\u{2010}-\u{2015}\u{2212}]+\s?[A-Z]?\d+)?",
    )
});
pub(super) static RANGE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b\d+\s?[-\u{2010}-\u{2015}\u{2212}]\s?\d{2,}\b"));
pub(super) static COPYRIGHT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\u{a9}|\(c\)|\bcopyright\b|\u{24b8})[^0-9]{0,40}((?:19|20|21)\d\d)\b|\b((?:19|20|21)\d\d)\s?\u{a9}",
    )
});
pub(super) static MONTH_YEAR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"\b{MONTH}\b[ .,]*(?:\d{{1,2}}(?:st|nd|rd|th)?(?:\s?[-\u{{2010}}-\u{{2015}}]\s?\d{{1,2}})?[ ,]+)?((?:19|20|21)\d\d)\b"
    ))
});
pub(super) static EVENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:Proceedings|Proc\.|Conference|Workshop|Symposium|Transactions|Journal|Annual Meeting|Advances in|Lecture Notes|Letters|Magazine|Bulletin|International|\bVol(?:ume|\.)|\bIssue\b|\bNo\.|\bNumber\b|Posters|Demos?\b|[A-Z]{3,}[A-Za-z]*\W{0,2}(?:19|20)\d\d)",
    )
});
pub(super) static PUBLISHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:published|publication date|available online|first online)\b[^0-9]{0,30}(\b.*)$",
    )
});
pub(super) static ACCEPTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:accepted|revised|received)\b"));
pub(super) static FORTHCOMING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:in press|to appear|forthcoming|under review|submitted to|draft)\b")
});
pub(super) static VOLUME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(.{4,120}?),?\s(?:Volume|Vol\.?)\s?\d+"));
pub(super) static CITED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:.{2,60}?\bet al\.,?\s)?([A-Z][\p{L}&.,:\- ]{2,100}?),?\s\d{1,4}\s?(?:\(\d{1,3}\)\s?)?(?:\((?:19|20)\d\d\)|[,:])\s?\d+",
    )
});
pub(super) static LOCATED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:.{2,60}?\bet al\.,?\s)?([A-Z][\p{L}&.,:\- ]{2,100}?),?\s\(((?:19|20)\d\d)\)\s\d+[:,]\s?\w+",
    )
});
pub(super) static VANCOUVER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^([A-Z][\p{L}&.,:\- ]{2,100}?)\.?\s(?:19|20)\d\d(?:\s\w{3})?;\s?\d+")
});
pub(super) static MEETING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?:^|[.;]\s)([A-Z][A-Za-z]{{2,15}}(?:\s?[\u{{2018}}\u{{2019}}'`]\s?\d\d|[ -](?:19|20)\d\d)),\s(?:\d{{1,2}}\D{{0,12}})?{MONTH}"
    ))
});
pub(super) static NOTE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[\d*\u{2217}\u{2020}\u{2021}]{1,2}[\p{L}\u{201c}]"));
pub(super) static PROCEEDINGS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:Proceedings of|Proc\. of)\b"));
pub(super) static PLACE_DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^(?:\d{{1,2}}\W.*)?(?:{MONTH}\b.*|\d{{4}}\b.*|.*\b{MONTH}\s+(?:19|20)\d\d.*)$"
    ))
});
pub(super) static STAMP: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(\d{{1,2}})\s*({MONTH})\s*((?:19|20)\d\d)")));
pub(super) static ANTHOLOGY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:aclanthology\.(?:org|info)/(?:papers/)?|aclweb\.org/anthology/(?:papers/)?(?:[A-Z]/[A-Z]\d\d/)?)([A-Z]\d\d-\d{4}|\d{4}\.[a-z0-9_-]+(?:-[a-z0-9]+)?\.\d+)",
    )
});
pub(super) static OWN_DOI: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^\W*(?:doi\b|digital object identifier|https?://(?:dx\.)?doi\.org/)")
});

/// Whether a text reads as running text: mostly words in small letters.
pub(super) fn is_sentence(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let small = words
        .iter()
        .filter(|word| word.starts_with(char::is_lowercase) && !word.contains(['/', ':']))
        .count();
    words.len() > 6 && small * 2 > words.len()
}
