//! Listed papers that do not exist: what systems without retrieval make up.
//!
//! Steps: read the papers an answer lists ([`listed`]); look each title up ([`TitleLookup`], over datastore and
//! sources [`lookup::PortLookup`]); a paper exists if a title found is the same up to small differences
//! ([`same_title`]). A lookup that fails says nothing: such a reference is counted apart.
//!
//! Source: the paper's table 3; the threshold is its code's.

pub mod lookup;

use std::collections::BTreeMap;

use async_trait::async_trait;
use scholar_core::PortError;
use serde::{Deserialize, Serialize};

use super::Column;
use crate::statistics::{self, Estimate};

/// Similarity above which two titles are one. Source: the reference code.
const SAME_TITLE: f64 = 0.95;
/// Titles looked at per lookup. Source: the reference code.
pub const CANDIDATES: usize = 5;
/// Shortest title worth a lookup, in words. Ours: names and years alone are no titles.
const LEAST_WORDS: usize = 3;
/// Parts of an entry that are looked up as its title.
const MOST_TITLES: usize = 4;
/// Most references read from one answer. Ours: a made-up list without end must not become as many requests.
const MOST_LISTED: usize = 200;

/// Finds papers by title.
#[async_trait]
pub trait TitleLookup: Send + Sync {
    /// Who looks, for reports.
    fn name(&self) -> &str;

    /// Titles of the papers that a search for `title` finds, best first, [`CANDIDATES`] of each place that is asked;
    /// none is an answer too.
    ///
    /// # Errors
    /// When nobody could be asked.
    async fn titles_like(&self, title: &str) -> Result<Vec<String>, PortError>;
}

/// A paper that an answer lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The entry as written.
    pub text: String,
    /// What may be its title, most likely first.
    pub titles: Vec<String>,
}

/// Whether a listed paper exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existence {
    /// A paper of this title was found.
    Exists(String),
    /// Nothing like it was found.
    Invented,
    /// The lookup failed; why.
    Unknown(String),
}

/// One answer's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedPapers {
    /// Each entry with what was found.
    pub papers: Vec<(Listed, Existence)>,
}

/// Table 3 of the paper for one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hallucination {
    /// Papers listed per answer.
    pub listed: Option<Estimate>,
    /// Of them, those that do not exist.
    pub invented: Option<Estimate>,
    /// Invented of those that could be looked up, over all answers; `None` when nothing was listed.
    pub ratio: Option<Estimate>,
    /// Answers.
    pub n: usize,
    /// Listed papers that could not be looked up, by reason.
    pub unknown: BTreeMap<String, usize>,
}

/// The entries of the list of papers at the end of `answer`, or of the whole answer if it is nothing but a list.
///
/// The list stands behind the last heading such as `References`, on lines of its own or on the heading's, and ends at
/// the next Markdown heading. An entry begins with a number, a bracketed number or a bullet; several bracketed ones may
/// share a line.
pub fn listed(answer: &str) -> Vec<Listed> {
    let plain = scholar_core::text::markers::remove_markers(answer);
    let lines: Vec<&str> = plain.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let heading = lines.iter().rposition(|line| behind_heading(line).is_some());
    let entries: Vec<&str> = match heading {
        Some(at) => {
            let rest = lines[at + 1..].iter().take_while(|line| !line.starts_with('#')).copied();
            let first = behind_heading(lines[at]).into_iter();
            first.chain(rest).flat_map(split_line).filter_map(entry).collect()
        }
        None => {
            let all: Option<Vec<&str>> =
                lines.iter().flat_map(|line| split_line(line)).map(entry).collect();
            all.unwrap_or_default()
        }
    };
    entries
        .into_iter()
        .map(|text| Listed { titles: possible_titles(text), text: text.to_owned() })
        .filter(|listed| !listed.titles.is_empty())
        .take(MOST_LISTED)
        .collect()
}

/// What stands behind a heading of a list on its line; `None` if the line is no such heading.
fn behind_heading(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(|c: char| !c.is_alphabetic());
    let len = bare.find(|c: char| !c.is_alphabetic() && c != ' ').unwrap_or(bare.len());
    let (name, rest) = bare.split_at(len);
    let known =
        ["references", "bibliography", "papers", "works cited", "cited papers", "reference list"];
    let rest = rest.trim_start_matches(|c: char| "*_: ".contains(c));
    let listed = rest.is_empty() || rest.starts_with('[');
    (known.contains(&name.trim().to_lowercase().as_str()) && listed).then_some(rest)
}

/// The line, cut before every bracketed number if it begins with one.
fn split_line(line: &str) -> Vec<&str> {
    if bracketed(line).is_none() {
        return vec![line];
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, _) in line.match_indices(" [") {
        if bracketed(&line[at + 1..]).is_some() {
            pieces.push(line[from..at].trim());
            from = at + 1;
        }
    }
    pieces.push(&line[from..]);
    pieces
}

/// What stands behind the bracketed number that `text` begins with.
fn bracketed(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('[')?;
    let (number, rest) = inside.split_at(inside.find(|c: char| !c.is_ascii_digit())?);
    rest.strip_prefix(']').filter(|_| is_number(number))
}

/// The text of a list entry without its number or bullet.
fn entry(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' '));
    let numbered = line
        .split_once(['.', ')'])
        .and_then(|(number, text)| (is_number(number) && text.starts_with(' ')).then_some(text));
    bullet.or(bracketed(line)).or(numbered).map(str::trim).filter(|text| !text.is_empty())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit())
}

/// What stands in quotation marks or emphasis; then the parts between full stops and the whole entry, longest first.
fn possible_titles(entry: &str) -> Vec<String> {
    let plain: String =
        entry.chars().map(|c| if matches!(c, '“' | '”') { '"' } else { c }).collect();
    let quoted = plain.split('"').skip(1).step_by(2);
    let emphasised = plain.split("**").skip(1).step_by(2);
    let whole = plain.replace(['*', '"'], "");
    let mut parts: Vec<&str> = whole.split(". ").flat_map(|part| part.split("). ")).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    let mut titles: Vec<String> = Vec::new();
    for title in quoted.chain(emphasised).chain(parts).chain([whole.as_str()]) {
        let title = title.trim_matches(|c: char| c.is_whitespace() || ".,;:*".contains(c));
        let known = titles.iter().any(|known| known == title);
        if !known && title.split_whitespace().count() >= LEAST_WORDS {
            titles.push(title.to_owned());
        }
        if titles.len() == MOST_TITLES {
            break;
        }
    }
    titles
}

/// Looks the listed papers up, one after the other, each title until one is found.
///
/// A failed lookup makes a paper unknown only if no other title of it is found.
pub async fn look_up(listed: Vec<Listed>, lookup: &dyn TitleLookup) -> ListedPapers {
    let mut papers = Vec::with_capacity(listed.len());
    for one in listed {
        let mut existence = Existence::Invented;
        for title in &one.titles {
            match lookup.titles_like(title).await {
                Ok(found) => {
                    let same = found.into_iter().find(|found| same_title(title, found));
                    if let Some(same) = same {
                        existence = Existence::Exists(same);
                        break;
                    }
                }
                Err(error) => existence = Existence::Unknown(error.to_string()),
            }
        }
        papers.push((one, existence));
    }
    ListedPapers { papers }
}

/// Whether two titles are one: trigram similarity above 0.95 of the lower-cased titles.
pub fn same_title(a: &str, b: &str) -> bool {
    trigram_similarity(a, b) > SAME_TITLE
}

/// Shared trigrams of all trigrams, each title lower-cased and with a blank at both ends; repeated trigrams count as
/// often as they occur. 0 when either has none.
pub fn trigram_similarity(a: &str, b: &str) -> f64 {
    let trigrams = |text: &str| -> Vec<[char; 3]> {
        let padded: Vec<char> = format!(" {} ", text.trim().to_lowercase()).chars().collect();
        padded.windows(3).map(|window| [window[0], window[1], window[2]]).collect()
    };
    let (a, b) = (trigrams(a), trigrams(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let shared = super::text::overlap::shared(&a, &b);
    statistics::ratio(shared, a.len() + b.len() - shared)
}

impl ListedPapers {
    fn count(&self, which: impl Fn(&Existence) -> bool) -> usize {
        self.papers.iter().filter(|(_, existence)| which(existence)).count()
    }

    /// Papers that do not exist.
    pub fn invented(&self) -> usize {
        self.count(|existence| *existence == Existence::Invented)
    }

    /// Papers that could be looked up.
    pub fn known(&self) -> usize {
        self.count(|existence| !matches!(existence, Existence::Unknown(_)))
    }
}

/// The share of invented papers per answer; answers that list none are left out.
pub fn column(answers: &[(String, ListedPapers)]) -> Column {
    let mut column = Column::new("invented references");
    for (item, answer) in answers {
        match answer.known() {
            0 if answer.papers.is_empty() => column.leave_out(item, "lists no papers"),
            0 => column.leave_out(item, "no listed paper could be looked up"),
            known => column.push(item, statistics::ratio(answer.invented(), known)),
        }
    }
    column
}

/// The row of the paper's table 3.
pub fn table(answers: &[ListedPapers], seed: u64) -> Hallucination {
    let numbers = |count: fn(&ListedPapers) -> usize| -> Vec<f64> {
        answers.iter().map(|answer| statistics::ratio(count(answer), 1)).collect()
    };
    let invented = numbers(ListedPapers::invented);
    let known = numbers(ListedPapers::known);
    let pairs: Vec<(f64, f64)> = invented.iter().copied().zip(known).collect();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for (_, existence) in answers.iter().flat_map(|answer| &answer.papers) {
        if let Existence::Unknown(why) = existence {
            *unknown.entry(why.clone()).or_default() += 1;
        }
    }
    Hallucination {
        listed: statistics::estimate(&numbers(|answer| answer.papers.len()), seed),
        invented: statistics::estimate(&invented, seed),
        ratio: statistics::estimate_by(&pairs, seed, statistics::ratio_of_means),
        n: answers.len(),
        unknown,
    }
}

#[cfg(test)]
mod tests;
