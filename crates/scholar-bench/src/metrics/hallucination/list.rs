//! The list of papers behind an answer.

use serde::{Deserialize, Serialize};

/// Shortest title worth a lookup, in words. Ours: names and years alone are no titles.
const LEAST_WORDS: usize = 3;
/// Parts of an entry that are looked up as its title.
const MOST_TITLES: usize = 4;
/// Most references read from one answer. Ours: a made-up list without end must not become as many requests.
const MOST_LISTED: usize = 200;

/// A paper that an answer lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The number by which the answer cites it: as written, else its place in the list from 1; `None` in a list that no
    /// heading sets apart from an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// The entry as written.
    pub text: String,
    /// What may be its title, most likely first.
    pub titles: Vec<String>,
}

/// An answer taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAnswer {
    /// What it says, without its list of papers.
    pub text: String,
    /// The papers it lists, at most 200, in order.
    pub papers: Vec<Listed>,
}

impl ListedAnswer {
    /// Takes `answer` and the list of papers at its end apart. An answer that is nothing but a list has its entries as papers
    /// and keeps its text.
    ///
    /// The list stands behind the last heading such as `References`, on lines of its own or on the heading's, and ends at the
    /// next Markdown heading. An entry begins with a number, a bracketed number or a bullet; several bracketed ones may
    /// share a line.
    pub fn read(answer: &str) -> Self {
        let plain = scholar_core::text::markers::remove_markers(answer);
        let lines: Vec<&str> = plain.lines().collect();
        let Some(at) = lines.iter().rposition(|line| behind_heading(line.trim()).is_some()) else {
            let lines = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
            let all: Option<Vec<Entry<'_>>> = lines.flat_map(split_line).map(entry).collect();
            let papers = all.unwrap_or_default().into_iter();
            let papers = papers.map(|entry| listed(None, entry.text));
            return Self { papers: worth_a_lookup(papers), text: plain };
        };
        let behind = &lines[at + 1..];
        let len = behind.iter().position(|line| line.trim().starts_with('#'));
        let (list, rest) = behind.split_at(len.unwrap_or(behind.len()));
        let text: Vec<&str> = lines[..at].iter().chain(rest).copied().collect();
        let first = behind_heading(lines[at].trim()).into_iter();
        let entries = first.chain(list.iter().map(|line| line.trim())).flat_map(split_line);
        let papers = entries
            .filter_map(entry)
            .enumerate()
            .map(|(nth, entry)| listed(entry.number.or(Some(nth + 1)), entry.text));
        Self { papers: worth_a_lookup(papers), text: text.join("\n").trim().to_owned() }
    }
}

fn listed(number: Option<usize>, text: &str) -> Listed {
    Listed { number, titles: possible_titles(text), text: text.to_owned() }
}

fn worth_a_lookup(papers: impl Iterator<Item = Listed>) -> Vec<Listed> {
    papers.filter(|one| !one.titles.is_empty()).take(MOST_LISTED).collect()
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

/// The bracketed number that `text` begins with, and what stands behind it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?;
    let (number, rest) = inside.split_at(inside.find(|c: char| !c.is_ascii_digit())?);
    Some((number, rest.strip_prefix(']').filter(|_| is_number(number))?))
}

/// A list entry without its bullet or number; `None` if the line is none.
fn entry(line: &str) -> Option<Entry<'_>> {
    let bullet = line.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' '));
    let rest = bullet.unwrap_or(line).trim_start();
    let entry = match (numbered(rest), bullet) {
        (Some(entry), _) => entry,
        (None, Some(_)) => Entry { number: None, text: rest.trim() },
        (None, None) => return None,
    };
    (!entry.text.is_empty()).then_some(entry)
}

/// An entry that begins with `[1]`, `1.` or `1)`.
fn numbered(line: &str) -> Option<Entry<'_>> {
    let plain = || {
        let (number, text) = line.split_once(['.', ')'])?;
        (is_number(number) && text.starts_with(' ')).then_some((number, text))
    };
    let (number, text) = bracketed(line).or_else(plain)?;
    Some(Entry { number: number.parse().ok(), text: text.trim() })
}

/// A line of a list.
struct Entry<'a> {
    /// The number in front of it.
    number: Option<usize>,
    /// The rest.
    text: &'a str,
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
