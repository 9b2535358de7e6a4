//! Citation markers (`[3]`), response markers (`[Response_Start]`) and reference sections in model replies.

use std::fmt::Write as _;
use std::ops::Range;

/// Digits of the longest number taken for a citation: `[2020]` may be one, `[20200101]` is not.
const MAX_DIGITS: usize = 4;
/// Widest range expanded: `[1-30]` is a citation of thirty, `[1-900]` is an interval.
const MAX_RANGE: usize = 50;
/// Longest parenthesis taken for an author-year citation, in bytes.
const LONGEST_AUTHOR_YEAR: usize = 200;

/// One bracket group of citation numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitationGroup {
    /// Bytes of the text, brackets included.
    pub range: Range<usize>,
    /// The numbers in order, ranges expanded, repetitions kept.
    pub numbers: Vec<usize>,
}

/// The citation groups of `text` in order: `[1]`, `[1, 2]`, `[1; 2]`, `[1-3]`, `[1–3]`; neighbours stay separate.
///
/// Blanks inside the brackets are accepted, `[07]` is 7, a falling or very wide range is no citation. Upstream reads
/// `[1-3]` and `[1; 2]` as nothing.
pub fn citation_groups(text: &str) -> Vec<CitationGroup> {
    text.match_indices('[')
        .filter_map(|(open, _)| {
            // Not beyond the next bracket: no group holds one, and a text of brackets alone would take forever.
            let close = open + 1 + text[open + 1..].find(['[', ']'])?;
            let numbers = text[close..].starts_with(']').then(|| &text[open + 1..close])?;
            let numbers = numbers_of(numbers)?;
            Some(CitationGroup { range: open..close + 1, numbers })
        })
        .collect()
}

/// `[1][2]` for 1 and 2: the inverse of [`citation_groups`].
pub fn render_citations(numbers: &[usize]) -> String {
    numbers.iter().fold(String::new(), |mut out, number| {
        // Writing to a string does not fail.
        let _ = write!(out, "[{number}]");
        out
    })
}

/// `text` without its citation groups and without the blanks before them; a blank left before punctuation goes too.
/// Line breaks stay.
pub fn strip_citations(text: &str) -> String {
    let ranges: Vec<Range<usize>> = citation_groups(text).into_iter().map(|g| g.range).collect();
    without(text, &ranges)
}

/// A passage without its own reference markers, so that they cannot pass for numbers of ours.
///
/// Only complete numeric groups go. A group with a zero in it (`arr[0]`, `in [0, 1]`) is an index or an interval, as
/// references are numbered from 1; so is a group glued to a one-letter name or one with an underscore (`x[2]`,
/// `my_list[1]`), and one after `CI`, `IQR`, `range` or `interval`. Those stay. Upstream deletes every `]`.
pub fn strip_foreign_markers(text: &str) -> String {
    without(text, &foreign_markers(text))
}

/// `text` without author-year citations in parentheses: names and years of other papers are no content.
pub fn strip_author_year(text: &str) -> String {
    without(text, &author_year_groups(text))
}

/// Byte ranges of what [`strip_foreign_markers`] deletes, brackets included.
pub(crate) fn foreign_markers(text: &str) -> Vec<Range<usize>> {
    citation_groups(text)
        .into_iter()
        .filter(|group| !group.numbers.contains(&0) && !is_index_or_interval(text, group))
        .map(|group| group.range)
        .collect()
}

/// Byte ranges of author-year citations in parentheses: `(Smith et al., 2020; Ng, 2019)`.
pub(crate) fn author_year_groups(text: &str) -> Vec<Range<usize>> {
    text.match_indices('(')
        .filter_map(|(open, _)| {
            let close = open + text[open..].find(')')?;
            is_author_year(&text[open + 1..close]).then_some(open..close + 1)
        })
        .collect()
}

/// `Smith et al., 2020; Jones, 2019`: short, with a year, and beginning with a name or `see`.
pub(crate) fn is_author_year(inside: &str) -> bool {
    let is_year = |part: &str| {
        (4..=5).contains(&part.len())
            && (part.starts_with("19") || part.starts_with("20"))
            && part[2..4].bytes().all(|b| b.is_ascii_digit())
    };
    let named = ["see ", "e.g.", "cf. ", "reviewed "].iter().any(|start| inside.starts_with(start))
        || inside.starts_with(char::is_uppercase);
    let year = inside.split(|c: char| !c.is_ascii_alphanumeric()).any(is_year);
    inside.len() <= LONGEST_AUTHOR_YEAR
        && !inside.contains('(')
        && named
        && year
        && inside.contains(' ')
}

fn is_index_or_interval(text: &str, group: &CitationGroup) -> bool {
    let before = &text[..group.range.start];
    let glued = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let word = before
        .trim_end()
        .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
        .find(|word| !word.is_empty())
        .unwrap_or("");
    if glued {
        return word.contains('_')
            || (word.chars().count() == 1 && word.chars().all(char::is_alphabetic));
    }
    let introduces =
        before.trim_end().ends_with(|c: char| c.is_alphanumeric() || ":,=".contains(c));
    introduces && ["CI", "IQR", "range", "interval"].contains(&word)
}

fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        out.push_str(text[from..range.start].trim_end_matches([' ', '\t']));
        from = range.end;
        let rest = text[from..].trim_start_matches([' ', '\t']);
        let ends_clause = rest.is_empty() || rest.starts_with(['.', ',', ';', ':', '!', '?', ')']);
        let nothing_before = out.is_empty() || out.ends_with('\n');
        if ends_clause || nothing_before {
            from = text.len() - rest.len();
        }
    }
    out.push_str(&text[from..]);
    out
}

fn numbers_of(inside: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in inside.split([',', ';']) {
        match part.split_once(['-', '–', '—']) {
            None => numbers.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if last < first || last - first > MAX_RANGE {
                    return None;
                }
                numbers.extend(first..=last);
            }
        }
    }
    Some(numbers)
}

fn number(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits && text.len() <= MAX_DIGITS { text.parse().ok() } else { None }
}

/// Opens a reply's answer.
pub const RESPONSE_START: &str = "[Response_Start]";
/// Closes a reply's answer.
pub const RESPONSE_END: &str = "[Response_End]";

/// How a reply broke the marker rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerProblem {
    /// No `[Response_Start]` before the answer's end.
    MissingStart,
    /// No `[Response_End]`: the reply may be cut.
    MissingEnd,
    /// More than one answer; the first complete one was taken.
    Several,
}

/// The answer inside a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedReply {
    /// The answer between the markers, trimmed.
    pub text: String,
    /// What was wrong, in order; empty for a clean reply.
    pub problems: Vec<MarkerProblem>,
}

/// The text between the response markers.
///
/// With an end marker: of the pieces between start markers the first that has one, cut there. Without: the whole
/// reply, a lone start marker included (see [`remove_markers`]).
///
/// Source: upstream's parser, kept because OpenScholar-8B was trained against it.
pub fn between_markers(reply: &str) -> MarkedReply {
    let mut problems = Vec::new();
    let starts = reply.matches(RESPONSE_START).count();
    let segment = reply
        .split(RESPONSE_START)
        .enumerate()
        .find_map(|(nth, segment)| segment.split_once(RESPONSE_END).map(|(text, _)| (nth, text)));
    if segment.map_or(starts == 0, |(nth, _)| nth == 0) {
        problems.push(MarkerProblem::MissingStart);
    }
    if segment.is_none() {
        problems.push(MarkerProblem::MissingEnd);
    }
    if starts > 1 || reply.matches(RESPONSE_END).count() > 1 {
        problems.push(MarkerProblem::Several);
    }
    let text = segment.map_or(reply, |(_, text)| text).trim().to_owned();
    MarkedReply { text, problems }
}

/// `text` without any response marker left in it, trimmed: the last step before a person reads it.
pub fn remove_markers(text: &str) -> String {
    text.replace(RESPONSE_START, "").replace(RESPONSE_END, "").trim().to_owned()
}

/// `text` up to a closing reference section, trimmed at its end.
///
/// The section starts at a line that is only `References` or `Bibliography` (with optional `#`, `*`, number and
/// colon), or that starts so and goes on with a bracket or number; no other Markdown heading may follow. The words
/// inside prose cut nothing, unlike upstream.
pub fn cut_reference_section(text: &str) -> &str {
    let mut cut = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_reference_heading(line) {
            cut = cut.or(Some(at));
        } else if line.trim_start().starts_with('#') {
            cut = None;
        }
        at += line.len();
    }
    cut.map_or(text, |cut| text[..cut].trim_end())
}

fn is_reference_heading(line: &str) -> bool {
    let bare = line.trim().trim_start_matches(['#', '*', '_', ' ']);
    let bare = bare.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ' ']);
    let lower = bare.to_ascii_lowercase();
    ["references", "bibliography"].iter().any(|name| {
        lower.strip_prefix(name).is_some_and(|rest| {
            let tail = rest.trim_start_matches(['*', '_', ':', ' ']);
            let listed = rest.trim_start_matches(['*', '_']).starts_with(':')
                && tail.starts_with(|c: char| c == '[' || c.is_ascii_digit());
            tail.is_empty() || listed
        })
    })
}

#[cfg(test)]
mod tests;
