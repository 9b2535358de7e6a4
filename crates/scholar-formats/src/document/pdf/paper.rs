//! Lines to a paper: title, abstract, sections, captions, references.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::blocks::TABLE_TEXT_HEADING;
use scholar_core::{Notice, NoticeKind};

use super::super::draft::{self, Draft, SectionText};
use super::super::headings::{self, Heading, Opens, Outline};
use super::super::hyphens::join_line;
use super::glyphs::Pages;
use super::lines::Line;
use super::sequence::Sequence;
use super::{FORMAT, entries, front, furniture, tables};
use crate::deadline::Deadline;
use crate::error::FormatError;

#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test runs it")]
static CAPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^((?:Figure|FIGURE|Fig\.|FIG\.|Table|TABLE)\s?[A-Z]?\d{1,3}[a-z]?)\s?[.:\u{2014}|]\s*(.*)$").unwrap()
});

#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test runs it")]
static INLINE_ABSTRACT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:Abstract|ABSTRACT|A\s?BSTRACT)\s?[.:\u{2014}\u{2013}-]+\s*(\S.*)$").unwrap()
});

#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test runs it")]
static FOOTNOTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:\d{1,2}|[*\u{2217}\u{2020}\u{2021}])\s?(?:\p{Lu}|https?:|\u{201c})").unwrap()
});

/// Lines between two looks at the clock.
const LINES_A_LOOK: usize = 1_024;

/// More front matter than this before an abstract is text of its own, and kept.
const LONGEST_FRONT: usize = 3000;

/// What the pages say.
///
/// # Errors
/// The time is up.
pub(super) fn draft(pages: &mut Pages, deadline: &Deadline) -> Result<Draft, FormatError> {
    let lines = std::mem::take(&mut pages.lines);
    let body = body_size(&lines);
    let first: Vec<Line> =
        lines.iter().take_while(|line| line.page <= front::PAGES).cloned().collect();
    let lines = furniture::without(lines, &pages.pages);
    let mut draft = Draft::default();
    let skip = front::read(pages, &first, &lines, body, &mut draft);
    drop(first);
    if draft.title.is_empty() {
        draft.notices.push(
            Notice::new(
                NoticeKind::Weak,
                "the PDF does not show clearly which words are the title, so it has none",
            )
            .with_hint("give the paper's identifier, or a file of its metadata"),
        );
    }
    let mut reader = LineReader { draft, body, ..LineReader::default() };
    let in_table = tables::lines_of_tables(&lines);
    for (at, line) in lines.iter().enumerate() {
        if at.is_multiple_of(LINES_A_LOOK) && deadline.is_over() {
            return Err(deadline.error(FORMAT));
        }
        if in_table[at] && !skip.contains(&at) {
            reader.table_line(line);
        } else if !skip.contains(&at) {
            reader.line(line, at.checked_sub(1).map(|before| &lines[before]));
        }
    }
    Ok(reader.finish())
}

/// The size most letters have.
fn body_size(lines: &[Line]) -> f64 {
    let mut weights: BTreeMap<i64, usize> = BTreeMap::new();
    for line in lines {
        #[expect(clippy::cast_possible_truncation, reason = "sizes are below 500")]
        let size = (line.size * 2.0).round() as i64;
        *weights.entry(size).or_default() += line.text.len();
    }
    let most = weights.into_iter().max_by_key(|(_, weight)| *weight);
    most.and_then(|(size, _)| i32::try_from(size).ok()).map_or(10.0, |size| f64::from(size) / 2.0)
}

/// A caption that is being read.
struct Caption {
    label: String,
    text: String,
    last: Line,
    lines: usize,
}

#[derive(Default)]
struct LineReader {
    draft: Draft,
    body: f64,
    outline: Outline,
    sequence: Sequence,
    heading: String,
    opens: Option<Opens>,
    whole: SectionText,
    caption: Option<Caption>,
    references: Vec<Line>,
    /// Text of tables and figures, told apart from the running text.
    tables: SectionText,
    /// Last line of the footnote that is being read.
    note: Option<Line>,
    headed: bool,
}

impl LineReader {
    fn line(&mut self, line: &Line, before: Option<&Line>) {
        if self.continue_caption(line) {
            return;
        }
        if let Some(found) = CAPTION.captures(&line.text)
            && self.opens != Some(Opens::References)
        {
            let part = |at| found.get(at).map_or("", |part| part.as_str()).to_owned();
            self.caption =
                Some(Caption { label: part(1), text: part(2), last: line.clone(), lines: 1 });
            return;
        }
        if let Some(found) = INLINE_ABSTRACT.captures(&line.text)
            && !self.headed
        {
            self.open(Heading {
                number: None,
                title: ABSTRACT_HEADING.into(),
                opens: Opens::Abstract,
                well_known: true,
            });
            let rest = found.get(1).map_or("", |rest| rest.as_str());
            self.text(&Line { text: rest.to_owned(), ..line.clone() });
            return;
        }
        if let Some(heading) = self.heading(line, before) {
            self.open(heading);
            return;
        }
        self.text(line);
    }

    /// A heading is short, not in small type, and either says well-known words or carries the next number; an unknown
    /// word with a number is one only if it does not go on from the line before.
    fn heading(&mut self, line: &Line, before: Option<&Line>) -> Option<Heading> {
        let heading = headings::heading(&line.text)?;
        let small = line.size < self.body * 0.93;
        if small
            && !matches!(heading.opens, Opens::Abstract | Opens::References | Opens::BackMatter)
        {
            return None;
        }
        let known = heading.well_known && heading.title.split(' ').count() <= 5;
        let in_sentence = before.is_some_and(|before| {
            before.column == line.column
                && (before.size - line.size).abs() < 0.3
                && line.y - before.y < line.size * 1.35
                && !before.text.ends_with(['.', ':', '?', '!'])
        });
        let Some(number) = &heading.number else {
            return known.then_some(heading).filter(|_| !in_sentence);
        };
        let in_list = self.opens == Some(Opens::References) && !known;
        let words = heading.title.split(' ').count();
        let sentence = line.text.ends_with(['.', ',', ';', ':']) || heading.title.contains(". ");
        if in_list || words > 14 || (sentence && !known) || (in_sentence && !known) {
            return None;
        }
        (self.sequence.takes(number) || known).then_some(heading)
    }

    fn open(&mut self, heading: Heading) {
        self.close();
        self.heading = if heading.opens == Opens::Abstract {
            ABSTRACT_HEADING.into()
        } else {
            self.outline.path(&heading)
        };
        self.opens = Some(heading.opens);
        self.headed = true;
    }

    /// Small type that begins with a mark is a footnote, as is the small type below it.
    fn footnote(&mut self, line: &Line) -> bool {
        let small = line.size < self.body * 0.92;
        let in_text = matches!(self.opens, Some(Opens::Body | Opens::Abstract));
        let begins = FOOTNOTE.is_match(&line.text);
        let goes_on = self.note.as_ref().is_some_and(|last| {
            last.page == line.page
                && last.column == line.column
                && line.y > last.y
                && line.y - last.y < last.size * 1.6
        });
        if !(small && in_text && (begins || goes_on)) {
            self.note = None;
            return false;
        }
        let text = line.text.trim_start_matches(|c: char| {
            begins && (c.is_ascii_digit() || "*\u{2217}\u{2020}\u{2021} ".contains(c))
        });
        match self.draft.footnotes.last_mut().filter(|_| goes_on && !begins) {
            Some(open) => join_line(open, text),
            None => self.draft.footnotes.push(text.to_owned()),
        }
        self.note = Some(line.clone());
        true
    }

    /// A row of a table: in a reference list it is an entry all the same.
    fn table_line(&mut self, line: &Line) {
        match self.opens {
            Some(Opens::References | Opens::BackMatter) => self.text(line),
            _ => self.tables.paragraph(&line.text, Some((line.page, Some(line.bbox())))),
        }
    }

    fn text(&mut self, line: &Line) {
        if self.footnote(line) {
            return;
        }
        match self.opens {
            Some(Opens::References) => self.references.push(line.clone()),
            Some(Opens::BackMatter) => {}
            _ => self.whole.line(&line.text, line.page, line.bbox()),
        }
    }

    /// Ends the open section. What stands before the first heading is names and addresses, unless it is long.
    fn close(&mut self) {
        let section = self.whole.take(&self.heading);
        if self.headed || section.text.len() > LONGEST_FRONT {
            self.draft.section(section);
        }
    }

    /// Whether the line belongs to the open caption: next to its last line, in the same type.
    fn continue_caption(&mut self, line: &Line) -> bool {
        let Some(open) = &mut self.caption else { return false };
        let last = &open.last;
        let near = line.page == last.page
            && line.column == last.column
            && line.y > last.y
            && line.y - last.y < last.size * 1.45
            && (line.size - last.size).abs() < 0.4
            && line.left < last.right
            && line.right > last.left;
        // A last line that is much shorter than the one before ends the caption.
        let ended =
            open.lines > 1 && open.text.ends_with('.') && last.right < line.right - last.size * 4.0;
        if near && !ended && open.lines < 15 && !CAPTION.is_match(&line.text) {
            join_line(&mut open.text, &line.text);
            open.last = line.clone();
            open.lines += 1;
            return true;
        }
        self.end_caption();
        false
    }

    fn end_caption(&mut self) {
        if let Some(caption) = self.caption.take()
            && !caption.text.is_empty()
        {
            let mut text = SectionText::default();
            text.line(&caption.text, caption.last.page, caption.last.bbox());
            self.draft.captions.push(text.take(&draft::caption_heading(&caption.label, "Figure")));
        }
    }

    fn finish(mut self) -> Draft {
        self.end_caption();
        self.headed |= self.draft.sections.is_empty();
        self.close();
        let front =
            self.draft.sections.iter().position(|section| section.heading == ABSTRACT_HEADING);
        if let Some(at) = front.filter(|at| *at > 0) {
            let summary = self.draft.sections.remove(at);
            self.draft.sections.insert(0, summary);
        }
        if !self.tables.is_empty() {
            self.draft.captions.push(self.tables.take(TABLE_TEXT_HEADING));
        }
        self.draft.references = entries::read(&self.references);
        self.draft
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_a_paper() {
        let texts = [
            ("Ada Ng and Kyle Lo", 10.0),
            ("Abstract", 12.0),
            ("We trans-", 10.0),
            ("late things.", 10.0),
            ("1 Introduction", 12.0),
            ("The first of them", 10.0),
            ("3 Apples were eaten", 10.0),
            ("2 Our Way", 12.0),
            ("Figure 1: A caption", 10.0),
            ("of two lines.", 10.0),
        ];
        let mut reader = LineReader { body: 10.0, ..LineReader::default() };
        let lines: Vec<Line> = texts
            .iter()
            .enumerate()
            .map(|(at, (text, size))| {
                Line::sample(text, 12.0 * f64::from(u32::try_from(at).expect("few")), *size)
            })
            .collect();
        for (at, next) in lines.iter().enumerate() {
            reader.line(next, at.checked_sub(1).map(|before| &lines[before]));
        }
        let draft = reader.finish();
        let sections: Vec<(&str, &str)> =
            draft.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
        assert_eq!(
            sections,
            [
                ("Abstract", "We translate things."),
                ("Introduction", "The first of them 3 Apples were eaten")
            ]
        );
        assert_eq!(draft.captions[0].heading, "Figure 1");
        assert_eq!(draft.captions[0].text, "A caption of two lines.");
        assert_eq!(draft.sections[0].places.len(), 2);
        assert_eq!(draft.sections[0].places[1].start, 8);
    }

    #[test]
    fn an_abstract_can_begin_on_its_heading() {
        let found = INLINE_ABSTRACT.captures("Abstract\u{2014}We show").expect("matches");
        assert_eq!(&found[1], "We show");
        assert!(
            FOOTNOTE.is_match("2The parser")
                && !FOOTNOTE.is_match("2 the")
                && !FOOTNOTE.is_match("The")
        );
        assert!(CAPTION.is_match("Fig. 3. Words") && !CAPTION.is_match("Figure 3 shows"));
    }
}
