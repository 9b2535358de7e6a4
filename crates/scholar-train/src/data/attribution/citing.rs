//! CL-SciSumm: a citing sentence beside the sentences of the cited paper that people chose, and beside other ones of
//! the same paper that share words with it. Rows of papers before 2016 are left out, for their licence.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::rows::EvidenceLabel;
use super::super::source::{ACL_BEFORE_2016, ReferencePaperRow, Source, SourceName, SummaryRow};
use super::super::wording::{coverage, first_words, stems};
use super::{Draft, Maker};

/// Longest citing text in words.
const CITING_WORDS: usize = 70;

/// Sentences beside which a window is not taken: what surrounds the chosen ones often says the same.
const MARGIN: usize = 8;

static AUTHORS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\s*\([^()]*(?:19|20)\d\d[^()]*\)").ok());

struct Reference {
    title: String,
    sentences: Vec<(String, String)>,
}

pub(super) fn summaries(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    let rows = read_rows(&source.files[0], bad, |_: &SummaryRow| Ok(()))?;
    let references: HashMap<String, Reference> =
        read_rows(&source.files[1], bad, |_: &ReferencePaperRow| Ok(()))?
            .values()
            .map(|row| {
                let (id, title) = (row.id.clone(), row.title.clone().unwrap_or_default());
                (id, Reference { title, sentences: row.sentences() })
            })
            .collect();
    for row in rows.values() {
        if !row.is_commercial() {
            maker.ledger.reject(SourceName::Clscisumm.name(), ACL_BEFORE_2016, &row.citation_text);
            continue;
        }
        let Some(reference) = references.get(&row.reference) else { continue };
        let chosen: Vec<usize> = reference
            .sentences
            .iter()
            .enumerate()
            .filter(|(_, (number, _))| row.reference_sids.contains(number))
            .map(|(n, _)| n)
            .collect();
        if !chosen.is_empty() {
            beside(&row, &chosen, reference, maker);
        }
    }
    Ok(())
}

fn beside(row: &SummaryRow, chosen: &[usize], reference: &Reference, maker: &mut Maker<'_>) {
    let citing = AUTHORS.as_ref().map_or_else(
        || row.citation_text.clone(),
        |pattern| pattern.replace_all(&row.citation_text, "").into_owned(),
    );
    let citing = first_words(&citing, CITING_WORDS);
    let group = format!("clscisumm {}", row.reference);
    let all = &reference.sentences;
    let from = chosen[0].saturating_sub(maker.between(0, 3));
    let to = (chosen[0] + 1 + maker.between(1, 4)).min(all.len());
    let window: Vec<String> = all[from..to].iter().map(|(_, text)| text.clone()).collect();
    let gold: Vec<usize> =
        chosen.iter().filter(|n| (from..to).contains(n)).map(|n| n - from).collect();
    let text = window.join(" ");
    let draft = Draft::new(&citing, &text, EvidenceLabel::Supports);
    let draft = draft.choosing(&window, &gold).titled(&reference.title);
    maker.add(SourceName::Clscisumm, &group, &draft);
    let said = stems(&citing);
    let mut places: Vec<usize> = (0..all.len().saturating_sub(4))
        .filter(|at| chosen.iter().all(|n| (at + 1).abs_diff(*n) > MARGIN))
        .collect();
    maker.random.shuffle(&mut places);
    let texts = places.iter().take(12).map(|at| {
        all[*at..at + 4].iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ")
    });
    let covered = |text: &str| coverage(&said, &stems(text));
    if let Some(text) = texts.max_by(|a, b| covered(a).total_cmp(&covered(b))) {
        let draft = Draft::new(&citing, &text, EvidenceLabel::Neither);
        maker.add(SourceName::Clscisumm, &group, &draft.titled(&reference.title));
    }
}
