//! Blind judges of alarms: whether sentences that count as supported say only what their evidence has.
//!
//! Authors' conclusions and experts' answers were not checked against the texts shown beside them, so that some alarms are
//! right. [`draw`] mixes all alarms with as many random sentences without one; judges see [`sheet`], which does not tell
//! them apart, and [`key`] does. [`BlindReport`] takes what most judges of a sentence find unsupported out of both the
//! alarms and the supported sentences; of those without an alarm by the share found in the random ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use scholar_core::{Missing, SplitMix64};
use serde::Serialize;

use super::Checked;
use super::data::Truth;
use crate::statistics::{SEED, Share};

/// Why a key or verdicts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BlindError {
    /// The file is missing or unreadable.
    #[error("{path} could not be read")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// I/O error; text that is not UTF-8 is one too.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{path}, line {line}: {problem}")]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The key is of other data or of another split.
    #[error("“{source_name}” has no supported sentence {case}, which the key names")]
    Foreign {
        /// Name of the source in the key.
        source_name: String,
        /// Identifier within the source.
        case: String,
    },
}

/// A sentence on a sheet, with what only the key tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Identifier on the sheet.
    pub id: String,
    /// Name of the source.
    pub source: String,
    /// Identifier within the source.
    pub case: String,
    /// What the checks missed; empty for the random sentences.
    pub missing: Vec<Missing>,
    /// The sentence.
    pub sentence: String,
    /// All texts that it may draw on.
    pub evidence: Vec<String>,
}

/// All alarms of the clean sources and as many random sentences of theirs without one, shuffled. The same data and checks
/// give the same sheet.
pub fn draw(all: &[Checked]) -> Vec<Drawn> {
    let mut flagged = Vec::new();
    let mut passing = Vec::new();
    for checked in all.iter().filter(|checked| checked.source.is_clean) {
        for (case, missing) in checked.iter().filter(|(case, _)| case.label == Truth::Full) {
            let drawn = Drawn {
                id: String::new(),
                source: checked.source.name.clone(),
                case: case.id.clone(),
                missing: missing.clone(),
                sentence: case.sentence.clone(),
                evidence: case.source.clone(),
            };
            if missing.is_empty() { passing.push(drawn) } else { flagged.push(drawn) }
        }
    }
    let mut random = SplitMix64::new(SEED);
    let chosen = random.distinct(flagged.len(), passing.len());
    let mut drawn = flagged;
    drawn.extend(chosen.into_iter().map(|at| passing[at].clone()));
    random.shuffle(&mut drawn);
    for (at, one) in drawn.iter_mut().enumerate() {
        one.id = format!("s{:03}", at + 1);
    }
    drawn
}

/// What judges read, tab-separated: id, sentence, evidence, its texts with ¶ between them.
pub fn sheet(drawn: &[Drawn]) -> String {
    let mut text = "id\tsentence\tevidence\n".to_owned();
    for one in drawn {
        let evidence: Vec<String> = one.evidence.iter().map(|text| cell(text)).collect();
        let _infallible =
            writeln!(text, "{}\t{}\t{}", one.id, cell(&one.sentence), evidence.join(" ¶ "));
    }
    text
}

/// What belongs to the identifiers of [`sheet`], tab-separated.
pub fn key(drawn: &[Drawn]) -> String {
    let mut text = "id\tsource\tcase\talarm\tmissing\n".to_owned();
    for one in drawn {
        let alarm = if one.missing.is_empty() { "no" } else { "yes" };
        let missing: Vec<String> = one
            .missing
            .iter()
            .map(|missing| format!("{}: {}", missing.check.name(), cell(&missing.words)))
            .collect();
        let _infallible = writeln!(
            text,
            "{}\t{}\t{}\t{alarm}\t{}",
            one.id,
            one.source,
            one.case,
            missing.join("; ")
        );
    }
    text
}

/// A text without tabs and line breaks.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the judges of one sentence of a sheet say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voted {
    /// Name of its source.
    source: String,
    /// Identifier within the source.
    case: String,
    /// Was an alarm when the sheet was drawn, else one of the random sentences.
    alarm: bool,
    /// By judge: whether the evidence has all that the sentence states.
    votes: BTreeMap<String, bool>,
}

impl Voted {
    /// Whether more judges say no than yes; a tie leaves a sentence supported.
    fn is_unsupported(&self) -> bool {
        2 * self.votes.values().filter(|yes| !**yes).count() > self.votes.len()
    }
}

/// Rows of a tab-separated file whose header has the columns `names`, with their line numbers.
fn rows<const N: usize>(
    path: &Path,
    names: [&str; N],
) -> Result<Vec<(usize, [String; N])>, BlindError> {
    let text = fs_err::read_to_string(path)
        .map_err(|source| BlindError::Read { path: path.to_owned(), source })?;
    let wrong = |line, problem: String| BlindError::Line { path: path.to_owned(), line, problem };
    let mut lines = text.lines().enumerate();
    let header: Vec<&str> = lines.next().map_or("", |(_, line)| line).split('\t').collect();
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        let found = header.iter().position(|column| *column == name);
        *place = found.ok_or_else(|| wrong(1, format!("no column `{name}`, separated by tabs")))?;
    }
    let rows = lines.filter(|(_, line)| !line.trim().is_empty()).map(|(at, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        let mut row = [const { String::new() }; N];
        for (own, place) in row.iter_mut().zip(places) {
            let found =
                cells.get(place).ok_or_else(|| wrong(at + 1, "too few cells".to_owned()))?;
            found.trim().clone_into(own);
        }
        Ok((at + 1, row))
    });
    rows.collect()
}

fn yes(path: &Path, line: usize, word: &str) -> Result<bool, BlindError> {
    match word {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => {
            let problem = format!("“{word}” is neither yes nor no");
            Err(BlindError::Line { path: path.to_owned(), line, problem })
        }
    }
}

/// Reads a [`key`] and the judges' verdicts on its sheet.
///
/// Verdicts are a tab-separated file with the columns `id`, `judge` and `verdict`: yes where the evidence contains every name,
/// number, direction and scope that the sentence states, else no. Sentences without a verdict are left out.
///
/// # Errors
/// [`BlindError`] with file and line: an unknown identifier, another verdict, two verdicts of one judge.
pub fn votes(key: &Path, verdicts: &Path) -> Result<Vec<Voted>, BlindError> {
    let mut drawn = BTreeMap::new();
    for (line, [id, source, case, alarm]) in rows(key, ["id", "source", "case", "alarm"])? {
        let alarm = yes(key, line, &alarm)?;
        drawn.insert(id, Voted { source, case, alarm, votes: BTreeMap::new() });
    }
    for (line, [id, judge, verdict]) in rows(verdicts, ["id", "judge", "verdict"])? {
        let verdict = yes(verdicts, line, &verdict)?;
        let wrong = |problem| BlindError::Line { path: verdicts.to_owned(), line, problem };
        let one = drawn.get_mut(&id).ok_or_else(|| wrong(format!("the key has no {id}")))?;
        if one.votes.insert(judge.clone(), verdict).is_some() {
            return Err(wrong(format!("a second verdict of {judge} on {id}")));
        }
    }
    Ok(drawn.into_values().filter(|one| !one.votes.is_empty()).collect())
}

/// False alarms of one source, or of all, among the sentences that judges leave supported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlindShare {
    /// Its name.
    pub name: String,
    /// Alarms.
    pub alarms: usize,
    /// Of these judged.
    pub judged: usize,
    /// Of these not supported after all, by more judges than not.
    pub unsupported: usize,
    /// Other alarms, of the sentences estimated to be supported.
    pub left: Share,
}

/// False alarms when blind judges decide what is supported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlindReport {
    /// Names of the judges.
    pub judges: Vec<String>,
    /// Pairs of verdicts on one sentence that are the same.
    pub agreement: Share,
    /// Random sentences without an alarm that are not supported; the others without an alarm are taken to be like them.
    pub random: Share,
    /// By clean source.
    pub sources: Vec<BlindShare>,
    /// Over them.
    pub pooled: BlindShare,
}

/// What `voted` leaves of the alarms in `all`.
///
/// # Errors
/// [`BlindError::Foreign`] for a sentence that `all` does not have.
pub fn judged(all: &[Checked], voted: &[Voted]) -> Result<BlindReport, BlindError> {
    let mut by_case: BTreeMap<(&str, &str), &Voted> = BTreeMap::new();
    for one in voted {
        let known = all.iter().filter(|checked| checked.source.name == one.source).any(|checked| {
            let mut cases = checked.source.cases.iter();
            cases.any(|case| case.id == one.case && case.label == Truth::Full)
        });
        if !known {
            let (source_name, case) = (one.source.clone(), one.case.clone());
            return Err(BlindError::Foreign { source_name, case });
        }
        by_case.insert((&one.source, &one.case), one);
    }
    let random: Vec<&Voted> = voted.iter().filter(|one| !one.alarm).collect();
    let random = Share::of(random.iter().filter(|one| one.is_unsupported()).count(), random.len());
    let clean: Vec<&Checked> = all.iter().filter(|checked| checked.source.is_clean).collect();
    let of = |name: &str, chosen: &[&Checked]| {
        let mut counts = Counts::default();
        for checked in chosen {
            for (case, missing) in checked.iter().filter(|(case, _)| case.label == Truth::Full) {
                let vote = by_case.get(&(checked.source.name.as_str(), case.id.as_str())).copied();
                counts.add(!missing.is_empty(), vote);
            }
        }
        counts.share(name, random)
    };
    let sources = clean.iter().map(|checked| of(&checked.source.name, &[*checked])).collect();
    let judges: BTreeSet<String> = voted.iter().flat_map(|one| one.votes.keys().cloned()).collect();
    Ok(BlindReport {
        judges: judges.into_iter().collect(),
        agreement: agreement(voted),
        random,
        sources,
        pooled: of("all", &clean),
    })
}

#[derive(Default)]
struct Counts {
    alarms: usize,
    judged: usize,
    unsupported: usize,
    /// Without an alarm, each judged to be supported, or not judged.
    supported: usize,
    unjudged: usize,
}

impl Counts {
    fn add(&mut self, alarm: bool, vote: Option<&Voted>) {
        match (alarm, vote) {
            (true, vote) => {
                self.alarms += 1;
                self.judged += usize::from(vote.is_some());
                self.unsupported += usize::from(vote.is_some_and(Voted::is_unsupported));
            }
            (false, Some(vote)) => self.supported += usize::from(!vote.is_unsupported()),
            (false, None) => self.unjudged += 1,
        }
    }

    fn share(&self, name: &str, random: Share) -> BlindShare {
        // Nobody read the others without an alarm; the random ones stand for them.
        let kept = match random.n {
            0 => self.unjudged,
            n => self.unjudged * (n - random.hits) / n,
        };
        let left = self.alarms - self.unsupported;
        BlindShare {
            name: name.to_owned(),
            alarms: self.alarms,
            judged: self.judged,
            unsupported: self.unsupported,
            left: Share::of(left, left + self.supported + kept),
        }
    }
}

fn agreement(voted: &[Voted]) -> Share {
    let (mut same, mut pairs) = (0, 0);
    for one in voted {
        let said: Vec<bool> = one.votes.values().copied().collect();
        for (at, first) in said.iter().enumerate() {
            pairs += said.len() - at - 1;
            same += said[at + 1..].iter().filter(|second| *second == first).count();
        }
    }
    Share::of(same, pairs)
}

#[cfg(test)]
mod tests;
