//! Reports in parts: sentences that cite under headings, with what each part is about beside them.

use std::collections::BTreeMap;

use scholar_core::{Answer, AnswerMode, AnswerSentence, AnswerTable, Citation, Notice, Reference};

use super::item::visible;
use super::lead::Lead;
use super::outline::{Outline, OutlinePart, OutlineTable};
use super::{AnswerExport, CitationStyle};
use crate::error::FormatError;
use crate::exploration::NoveltyMap;

/// A report as it leaves the program.
#[derive(Debug, Clone, Copy)]
pub struct ReportExport<'a> {
    /// The document's title.
    pub title: &'a str,
    /// In the order in which they are read.
    pub parts: &'a [ReportPart],
    /// Papers by what they are compared in, and the part behind which they stand; where that part has a drawing, pages show it
    /// instead.
    pub table: Option<(&'a AnswerTable, usize)>,
    /// What sentences and table cite, numbered from 1.
    pub references: &'a [Reference],
    /// What a person should know about it.
    pub notices: &'a [Notice],
    /// What made it, for the last line: program, version, model, run.
    pub generated_by: &'a str,
}

/// A headed part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportPart {
    /// Its heading.
    pub heading: String,
    /// Whether it is a part of the part before it.
    pub below: bool,
    /// What it is about, in someone's own words.
    pub about: Option<String>,
    /// Its paragraphs.
    pub lines: Vec<ReportLine>,
    /// A drawing, which only pages show.
    pub map: Option<NoveltyMap>,
}

/// One paragraph.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportLine {
    /// What it is for, in a word or two.
    pub label: Option<String>,
    /// What it says, with citations and quotations.
    pub sentence: AnswerSentence,
}

impl ReportLine {
    /// A sentence of the program's own.
    pub fn said(text: impl Into<String>) -> Self {
        Self { label: None, sentence: AnswerSentence::uncited(text) }
    }

    /// The same with what it is for.
    #[must_use]
    pub fn labelled(mut self, label: &str) -> Self {
        self.label = Some(label.to_owned());
        self
    }
}

impl Outline {
    /// Parts, paragraphs and references of a report, laid out like an answer whose paragraphs are its lines.
    pub(super) fn of_report(
        export: &ReportExport<'_>,
        style: &CitationStyle,
    ) -> Result<Self, FormatError> {
        let lines = export.parts.iter().enumerate().flat_map(|(at, part)| {
            part.lines.iter().map(move |line| AnswerSentence {
                // Parts with one heading are still two.
                heading: Some(at.to_string()),
                paragraph_start: true,
                ..line.sentence.clone()
            })
        });
        let answer = Answer {
            question: export.title.to_owned(),
            mode: AnswerMode::Evidence,
            abstained: false,
            sentences: lines.collect(),
            references: export.references.to_vec(),
            sections: Vec::new(),
            table: export.table.map(|(table, _)| table.clone()),
            missing: Vec::new(),
            outline: None,
            tree: None,
        };
        let ReportExport { title, notices, generated_by, .. } = *export;
        let as_answer = AnswerExport { title, answer: &answer, notices, generated_by };
        let mut outline = Self::new(&as_answer, style)?;
        let mut by_part: BTreeMap<String, OutlinePart> = std::mem::take(&mut outline.parts)
            .into_iter()
            .filter_map(|part| Some((part.heading.clone()?, part)))
            .collect();
        for (at, part) in export.parts.iter().enumerate() {
            let laid = by_part.remove(&at.to_string());
            outline.parts.push(part_of(part, laid, export.references));
        }
        let before = export.table.map_or(0, |(_, behind)| behind + 1);
        outline.table = outline.table.map(|table| OutlineTable { before, ..table });
        outline.quotes_beside = true;
        Ok(outline)
    }
}

fn part_of(part: &ReportPart, laid: Option<OutlinePart>, references: &[Reference]) -> OutlinePart {
    let mut named: Vec<Citation> = Vec::new();
    let mut paragraphs = laid.map(|laid| laid.paragraphs).unwrap_or_default();
    for (paragraph, line) in paragraphs.iter_mut().zip(&part.lines) {
        paragraph.label = line.label.as_deref().map(visible);
        let Some(sentence) = paragraph.sentences.first_mut() else { continue };
        if line.sentence.is_quoted() {
            // What is a quotation needs none beside it; its paper has its title in every part, as parts are read alone.
            sentence.quotes.clear();
            let cited = line.sentence.citations.first();
            let paper = cited.and_then(|cited| references.iter().find(|one| one.number == *cited));
            sentence.lead = paper.map(|paper| Lead::to(paper, !named.contains(&paper.number)));
            named.extend(cited);
        }
    }
    OutlinePart {
        below: part.below,
        about: part.about.as_deref().map(visible),
        figure: part.map.as_ref().map(NoveltyMap::svg),
        paragraphs,
        ..OutlinePart::new(Some(visible(&part.heading)))
    }
}

#[cfg(test)]
mod tests;
