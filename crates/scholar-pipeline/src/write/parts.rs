//! A text in parts whose sentences have roles, and the lines in which a model writes one.
//!
//! One sentence a line: `F3 | A finding. [2]`, `S F1 F3 | A synthesis`, `X | framing`, `G | a gap`; `## Heading` begins a
//! part, a blank line a paragraph; `T | column | column` heads a table, `T [3] | cell | cell` is a row. Text without such
//! marks is read as prose, and code tells the roles.

use scholar_core::text::markers::citation_groups;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::{AnswerRole, SectionKind};

use super::roles::{nearest, role_of};
use super::sentences::{cite, heading_of, without_list_mark};
use crate::evidence::EvidenceNumber;
use crate::proof::DraftSentence;

/// A sentence with its role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartSentence {
    /// What it does.
    pub(crate) role: AnswerRole,
    /// Places, in [`Parts::sentences`], of the findings that a synthesis follows from.
    pub(crate) follows: Vec<usize>,
    /// Its part, as a place in [`Parts::sections`].
    pub(crate) section: usize,
    /// Text, evidence and whether it begins a paragraph.
    pub(crate) draft: DraftSentence,
}

/// A part that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) heading: Option<String>,
    pub(crate) kind: SectionKind,
}

/// A table as it was written; nothing in it is located yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableDraft {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<TableDraftRow>,
}

/// A row, which is about one shown passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableDraftRow {
    pub(crate) number: EvidenceNumber,
    pub(crate) cells: Vec<String>,
}

/// A text in parts, in the order in which it is read: the short answer first, limits last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) sections: Vec<Section>,
    pub(crate) sentences: Vec<PartSentence>,
    pub(crate) table: Option<TableDraft>,
}

impl Parts {
    /// Reads `text`.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader::default();
        for line in joined(text) {
            reader.line(&line);
        }
        reader.finish()
    }

    /// Words of all sentences; the table and headings do not count.
    pub(crate) fn words(&self) -> usize {
        self.sentences.iter().map(|one| one.draft.text.split_whitespace().count()).sum()
    }

    /// Number of sentences with `role`.
    pub(crate) fn count(&self, role: AnswerRole) -> usize {
        self.sentences.iter().filter(|one| one.role == role).count()
    }
}

/// What a line begins with.
#[derive(Debug, Default, PartialEq, Eq)]
struct Mark {
    role: Option<AnswerRole>,
    label: Option<String>,
    follows: Vec<String>,
}

/// A sentence under reading; what it follows from is known by label only.
struct Pending {
    mark: Mark,
    section: usize,
    draft: DraftSentence,
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    pending: Vec<Pending>,
    table: TableDraft,
    /// The next sentence begins a paragraph.
    starts: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.is_empty() {
            self.starts = true;
            return;
        }
        if let Some(heading) = heading_of(line) {
            let kind = kind_of(&heading);
            self.sections.push(Section { heading: Some(heading), kind });
            self.starts = true;
            return;
        }
        if let Some(cells) = table_line(line) {
            self.table_line(cells);
            return;
        }
        let (mark, text) =
            marked(line).unwrap_or_else(|| (Mark::default(), without_list_mark(line)));
        if is_reference(text) {
            return;
        }
        let mut mark = Some(mark);
        for piece in pieces(text, mark.as_ref().is_some_and(|mark| mark.role.is_some())) {
            let mut draft = DraftSentence::written(piece);
            if !draft.text.contains(char::is_alphanumeric) {
                // A line of markers alone cites for the sentence before it.
                if let Some(before) = self.pending.last_mut() {
                    before.draft.evidence.append(&mut draft.evidence);
                }
                continue;
            }
            if self.sections.is_empty() {
                self.sections.push(Section { heading: None, kind: SectionKind::ShortAnswer });
            }
            draft.paragraph_start = std::mem::take(&mut self.starts) || self.pending.is_empty();
            let section = self.sections.len() - 1;
            draft.heading.clone_from(&self.sections[section].heading);
            let role = mark.as_ref().and_then(|mark| mark.role);
            let mark = mark.take().unwrap_or(Mark { role, ..Mark::default() });
            self.pending.push(Pending { mark, section, draft });
        }
    }

    fn table_line(&mut self, cells: Vec<String>) {
        let (first, rest) = cells
            .split_first()
            .map_or((String::new(), Vec::new()), |(first, rest)| (first.clone(), rest.to_vec()));
        let number = citation_groups(&first).into_iter().flat_map(|group| group.numbers).next();
        match number {
            Some(number) => {
                let number = EvidenceNumber(number);
                self.table.rows.push(TableDraftRow { number, cells: rest });
            }
            None if self.table.columns.is_empty() => self.table.columns = rest,
            None => {}
        }
    }

    fn finish(self) -> Parts {
        let Self { sections, pending, table, starts: _ } = self;
        let mut order: Vec<usize> = (0..sections.len()).collect();
        order.sort_by_key(|at| match sections[*at].kind {
            SectionKind::ShortAnswer => 0,
            SectionKind::Facet => 1,
            SectionKind::Limits => 2,
        });
        let labels: Vec<Option<String>> =
            pending.iter().map(|one| one.mark.label.clone()).collect();
        let mut places: Vec<usize> = (0..pending.len()).collect();
        let rank = |at: usize| order.iter().position(|section| *section == pending[at].section);
        places.sort_by_key(|at| (rank(*at), *at));
        let new_place = |old: usize| places.iter().position(|at| *at == old);
        let mut sentences: Vec<PartSentence> = places
            .iter()
            .map(|at| {
                let Pending { mark, section, draft } = &pending[*at];
                let role = role_of(mark.role, &draft.text, !draft.evidence.is_empty());
                let named = mark.follows.iter().filter_map(|name| {
                    let label = Some(name.as_str());
                    new_place(labels.iter().position(|known| known.as_deref() == label)?)
                });
                PartSentence {
                    role,
                    follows: named.collect(),
                    section: order.iter().position(|old| old == section).unwrap_or(0),
                    draft: draft.clone(),
                }
            })
            .collect();
        resolve(&mut sentences);
        let sections: Vec<Section> = order.iter().map(|at| sections[*at].clone()).collect();
        let sentences = without_repetitions(sentences, &sections);
        let whole = !table.columns.is_empty() && !table.rows.is_empty();
        Parts { sections, sentences, table: whole.then_some(table) }
    }
}

/// What each synthesis follows from becomes findings: named syntheses stand for what they follow from, and one that names
/// nothing follows from the findings nearest to it in words, of its own part where that has any.
fn resolve(sentences: &mut [PartSentence]) {
    let findings: Vec<(usize, usize, String)> = sentences
        .iter()
        .enumerate()
        .filter(|(_, one)| one.role == AnswerRole::Finding)
        .map(|(at, one)| (at, one.section, one.draft.text.clone()))
        .collect();
    let before: Vec<(AnswerRole, Vec<usize>)> =
        sentences.iter().map(|one| (one.role, one.follows.clone())).collect();
    for one in sentences.iter_mut() {
        if one.role != AnswerRole::Synthesis {
            one.follows.clear();
            continue;
        }
        let mut follows: Vec<usize> = Vec::new();
        for named in std::mem::take(&mut one.follows) {
            match &before[named] {
                (AnswerRole::Finding, _) => follows.push(named),
                (AnswerRole::Synthesis, theirs) => follows.extend(
                    theirs.iter().copied().filter(|at| before[*at].0 == AnswerRole::Finding),
                ),
                _ => {}
            }
        }
        if follows.is_empty() {
            let of = |section: Option<usize>| -> Vec<(usize, &str)> {
                let fits = |own: &usize| section.is_none_or(|section| section == *own);
                let chosen = findings.iter().filter(|(_, own, _)| fits(own));
                chosen.map(|(at, _, text)| (*at, text.as_str())).collect()
            };
            follows = nearest(&one.draft.text, &of(Some(one.section)));
            if follows.is_empty() {
                follows = nearest(&one.draft.text, &of(None));
            }
        }
        follows.sort_unstable();
        follows.dedup();
        one.follows = follows;
    }
}

/// Each sentence once, where it is read first: small models say the same in every part. What it cites elsewhere it cites here.
/// The short answer may repeat what a part says.
fn without_repetitions(sentences: Vec<PartSentence>, sections: &[Section]) -> Vec<PartSentence> {
    let is_short = |one: &PartSentence| sections[one.section].kind == SectionKind::ShortAnswer;
    let mut kept: Vec<PartSentence> = Vec::with_capacity(sentences.len());
    let mut new_place: Vec<usize> = Vec::with_capacity(sentences.len());
    let mut lost_start = None;
    for mut one in sentences {
        let same = |known: &PartSentence| {
            (known.role, is_short(known)) == (one.role, is_short(&one))
                && known.draft.text.to_lowercase() == one.draft.text.to_lowercase()
        };
        if let Some(at) = kept.iter().position(same) {
            cite(&mut kept[at].draft, &one.draft.evidence);
            new_place.push(at);
            if one.draft.paragraph_start {
                lost_start = Some(one.section);
            }
            continue;
        }
        one.draft.paragraph_start |= lost_start.take() == Some(one.section);
        new_place.push(kept.len());
        kept.push(one);
    }
    for one in &mut kept {
        for place in &mut one.follows {
            *place = new_place[*place];
        }
        one.follows.sort_unstable();
        one.follows.dedup();
    }
    kept
}

/// A reference of the prompt that was copied as if it were a sentence.
fn is_reference(text: &str) -> bool {
    let text = text.trim_start_matches("References:").trim_start();
    let text = match (text.starts_with('['), text.find(']')) {
        (true, Some(end)) => text[end + 1..].trim_start(),
        _ => text,
    };
    text.starts_with("Title: ") && text.contains(" Text: ")
}

/// What a part with this heading is for.
fn kind_of(heading: &str) -> SectionKind {
    let lower = heading.to_lowercase();
    let begins = |starts: &[&str]| starts.iter().any(|start| lower.starts_with(start));
    if begins(&["short answer", "in short", "answer in short", "summary", "bottom line"]) {
        SectionKind::ShortAnswer
    } else if begins(&["limit", "caveat", "what limits"]) {
        SectionKind::Limits
    } else {
        SectionKind::Facet
    }
}

/// Longest mark in front of the bar, in bytes. Ours.
const LONGEST_MARK: usize = 60;

/// The mark of a line and the text behind its bar.
fn marked(line: &str) -> Option<(Mark, &str)> {
    let (head, text) = without_list_mark(line).split_once('|')?;
    if head.len() > LONGEST_MARK {
        return None;
    }
    let mut words = head
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("from"));
    let first = words.next()?.to_ascii_uppercase();
    let (letter, digits) = first.split_at(1);
    let role = match letter {
        "F" => AnswerRole::Finding,
        "S" => AnswerRole::Synthesis,
        "X" => AnswerRole::Framing,
        "G" => AnswerRole::Gap,
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let follows: Vec<String> = words.map(str::to_ascii_uppercase).collect();
    if !follows.iter().all(|name| is_label(name)) {
        return None;
    }
    let label = (!digits.is_empty()).then_some(first);
    Some((Mark { role: Some(role), label, follows }, text.trim()))
}

fn is_label(name: &str) -> bool {
    let digits = name.strip_prefix(['F', 'S']);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The cells of a line of the table, that with the passage's number first.
fn table_line(line: &str) -> Option<Vec<String>> {
    let rest = line.strip_prefix('T')?;
    let cells: Vec<String> = rest.split('|').map(|cell| cell.trim().to_owned()).collect();
    let number = &cells[0];
    let plain = number.is_empty() || number.starts_with('[');
    let mut cells = cells;
    // A closing bar, as Markdown has one, ends no cell.
    if cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    (plain && cells.len() > 1).then_some(cells)
}

/// The sentences of a line. A marked line is one sentence, unless each of several cites for itself.
fn pieces(text: &str, is_marked: bool) -> Vec<&str> {
    let sentences = sentence_texts(text);
    let cites = |sentence: &&str| !citation_groups(sentence).is_empty();
    if is_marked && !sentences.iter().all(cites) { vec![text] } else { sentences }
}

/// Trimmed lines; one that goes on with the one before it is joined to that.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        let rule = !line.is_empty() && line.chars().all(|c| "-*_=".contains(c));
        let line = if rule { "" } else { line };
        let goes_on = line.starts_with(|c: char| c.is_lowercase() || c == '[');
        match lines.last_mut() {
            Some(before) if goes_on && !before.is_empty() && heading_of(before).is_none() => {
                before.push(' ');
                before.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
