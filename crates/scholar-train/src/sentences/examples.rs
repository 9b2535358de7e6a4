//! Sentences with a known label, and what of their context is shown.

use std::collections::BTreeMap;

use scholar_core::random::SplitMix64;
use scholar_core::{PassageKind, SentenceInContext, SentenceRole};

use super::Encoded;
use super::fit::Target;
use super::settings::SentenceSettings;
use crate::data::sentences::SentenceRow;

/// Headings that stand in for another.
const HEADINGS: [&str; 6] =
    ["Background", "Objective", "Methods", "Results", "Discussion", "Results and discussion"];

/// Which heading is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Own,
    /// Another one, where the sentence has any.
    Other(&'static str),
}

/// Which parts of the context are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    title: bool,
    neighbours: bool,
    place: bool,
    section: Section,
}

impl Shown {
    pub(super) const ALL: Self =
        Self { title: true, neighbours: true, place: true, section: Section::Own };

    pub(super) fn without_section(self) -> Self {
        Self { section: Section::None, ..self }
    }

    fn random(settings: &SentenceSettings, random: &mut SplitMix64) -> Self {
        let mut keep = |probability: f64| random.unit() >= probability;
        let (title, neighbours) = (keep(settings.drop_title), keep(settings.drop_neighbours));
        let (has_section, place) = (keep(settings.drop_section), keep(settings.drop_place));
        let is_wrong = !keep(settings.wrong_section);
        let other = is_wrong.then(|| HEADINGS[random.below(HEADINGS.len())]);
        let section = match (has_section, other) {
            (false, _) => Section::None,
            (true, None) => Section::Own,
            (true, Some(other)) => Section::Other(other),
        };
        Self { title, neighbours, place, section }
    }
}

/// A sentence with its label.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example<'a> {
    pub(super) row: &'a SentenceRow,
    pub(super) nth: usize,
    pub(super) target: Target,
    shown: Shown,
}

impl<'a> Example<'a> {
    /// The sentence as a classifier sees it.
    pub(super) fn context(&self, encoded: &'a Encoded) -> SentenceInContext<'a> {
        context(self.row, self.nth, self.shown, encoded)
    }
}

/// Sentence number `nth` of a row with as much of its context as is shown.
pub(super) fn context<'a>(
    row: &'a SentenceRow,
    nth: usize,
    shown: Shown,
    encoded: &'a Encoded,
) -> SentenceInContext<'a> {
    let one = &row.sentences[nth];
    let vector = |text: &'a str| encoded.passage(text).vector;
    let before =
        (nth > 0 && !one.apart && shown.neighbours).then(|| vector(&row.sentences[nth - 1].text));
    let next = row.sentences.get(nth + 1).filter(|next| !next.apart && shown.neighbours);
    let (nth, of) = if row.whole && shown.place { (nth, row.sentences.len()) } else { (0, 1) };
    let section = match shown.section {
        Section::None => "",
        Section::Other(other) if !one.section.is_empty() => other,
        Section::Own | Section::Other(_) => &one.section,
    };
    SentenceInContext {
        sentence: encoded.passage(&one.text),
        before,
        after: next.map(|next| vector(&next.text)),
        title: (shown.title && !row.title.is_empty()).then(|| encoded.passage(&row.title)),
        kind: if row.in_abstract { PassageKind::Abstract } else { PassageKind::Body },
        section,
        nth,
        of,
    }
}

/// The labelled sentences of rows, by source.
#[derive(Debug, Clone)]
pub(super) struct Examples<'a>(BTreeMap<&'a str, Vec<Example<'a>>>);

impl<'a> Examples<'a> {
    pub(super) fn of_roles(rows: &'a [SentenceRow]) -> Self {
        Self::of(rows, |row, nth| {
            let role = row.sentences[nth].role?;
            SentenceRole::ALL.iter().position(|one| *one == role).map(Target::Class)
        })
    }

    pub(super) fn of_answers(rows: &'a [SentenceRow]) -> Self {
        Self::of(rows, |row, nth| row.sentences[nth].answers.map(Target::Binary))
    }

    fn of(rows: &'a [SentenceRow], target: impl Fn(&SentenceRow, usize) -> Option<Target>) -> Self {
        let mut by_source: BTreeMap<&str, Vec<Example<'a>>> = BTreeMap::new();
        for row in rows {
            for nth in 0..row.sentences.len() {
                if let Some(target) = target(row, nth) {
                    let example = Example { row, nth, target, shown: Shown::ALL };
                    by_source.entry(&row.source).or_default().push(example);
                }
            }
        }
        Self(by_source)
    }

    pub(super) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// One pass: at most so many sentences of each source, in random order, with parts of their contexts left out.
    pub(super) fn epoch(
        &self,
        settings: &SentenceSettings,
        random: &mut SplitMix64,
    ) -> Vec<Example<'a>> {
        let mut all = Vec::new();
        for examples in self.0.values() {
            let mut examples = examples.clone();
            random.shuffle(&mut examples);
            examples.truncate(settings.source_sentences);
            all.extend(examples);
        }
        random.shuffle(&mut all);
        for example in &mut all {
            example.shown = Shown::random(settings, random);
        }
        all
    }

    /// As many of each source as a pass over training rows has in proportion, with everything shown of every second one
    /// and parts left out of the others: the same every time.
    pub(super) fn balanced(&self, settings: &SentenceSettings) -> Vec<Example<'a>> {
        let mut random = SplitMix64::stream(settings.seed, 0xde5);
        let mut all = self.epoch(settings, &mut random);
        for example in all.iter_mut().step_by(2) {
            example.shown = Shown::ALL;
        }
        all
    }
}
