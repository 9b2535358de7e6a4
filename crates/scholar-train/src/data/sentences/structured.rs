//! Roles from structured abstracts, and from the sections of full texts.

use serde::Deserialize;
use serde_json::Value;

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::source::{Source, read_papers};
use super::super::wording::first_words;
use super::labels::{label_role, labelled_sentences};
use super::{LabelledSentence, Maker, SentenceRow, Use, is_reserved};

/// Fewer labels are a word at the start of a sentence, not the structure of an abstract.
const MIN_ROLES: usize = 3;

/// Sentences of one section in a row, and sections of a paper that give rows.
const SECTION_SENTENCES: usize = 5;
const SECTIONS: usize = 1;

/// A full text with its headings.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct FullText {
    pub(super) id: String,
    pub(super) title: String,
    #[serde(rename = "abstract", default)]
    pub(super) summary: String,
    #[serde(default)]
    pub(super) sections: Vec<Section>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Section {
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) text: String,
}

pub(super) fn read_full_texts(source: &Source, file: usize) -> Result<Vec<FullText>, DataError> {
    let rows = read_rows(&source.files[file], 1.0, |_: &Value| Ok(()))?;
    Ok(rows.values().filter_map(|row| serde_json::from_value(row).ok()).collect())
}

/// Labelled abstracts of works.
pub(super) fn abstracts(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    for paper in read_papers(&source.files[0], maker.settings.max_rejected_fraction)? {
        structured(source.name.name(), [&paper.id, &paper.title, &paper.labelled], maker);
    }
    Ok(())
}

/// Labelled abstracts of trials, and a few sentences of sections whose heading gives a role.
pub(super) fn full_texts(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    for paper in read_full_texts(source, 0)? {
        structured(source.name.name(), [&paper.id, &paper.title, &paper.summary], maker);
        let mut known: Vec<&Section> = paper
            .sections
            .iter()
            .filter(|section| section.title.as_deref().is_some_and(|t| label_role(t).is_some()))
            .collect();
        maker.random.shuffle(&mut known);
        for section in known.into_iter().take(SECTIONS) {
            let heading = section.title.clone().unwrap_or_default();
            let all = sentences(&section.text);
            let from = maker.random.below(all.len().saturating_sub(SECTION_SENTENCES) + 1);
            let chosen = all.into_iter().skip(from).take(SECTION_SENTENCES).map(|text| {
                let role = super::labels::role_below(&heading, &text);
                let section = heading.clone();
                LabelledSentence { section, role, ..LabelledSentence::new(text) }
            });
            let row = SentenceRow {
                question: String::new(),
                paper: paper.id.clone(),
                title: first_words(&paper.title, usize::MAX),
                in_abstract: false,
                whole: false,
                sentences: chosen.collect(),
                source: source.name.name().to_owned(),
            };
            maker.add(Use::Train, row);
        }
    }
    Ok(())
}

fn structured(source: &str, [id, title, text]: [&String; 3], maker: &mut Maker<'_>) {
    let sentences = labelled_sentences(text);
    let mut roles: Vec<_> = sentences.iter().filter_map(|one| one.role).collect();
    roles.sort_unstable();
    roles.dedup();
    if roles.len() < MIN_ROLES {
        return;
    }
    let row = SentenceRow {
        question: String::new(),
        paper: id.clone(),
        title: first_words(title, usize::MAX),
        in_abstract: true,
        whole: true,
        sentences,
        source: source.to_owned(),
    };
    maker.add(if is_reserved(id) { Use::Test } else { Use::Train }, row);
}
