//! Claims that people labelled: SciFact and citation integrity.
//!
//! SciFact: a claim beside the whole abstract (as it is evaluated), beside a window around the sentences that decide,
//! beside those alone; beside windows of an abstract that does not decide; and beside uncited abstracts on the topic.
//! A claim's label holds for every window that contains all of one set of deciding sentences. Citation integrity: a
//! claim beside the sentences of the cited paper that the set gives, and beside those of another paper on the topic.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::evaluation::without_markers;
use super::super::lines::read_rows;
use super::super::nearest::Nearest;
use super::super::rows::EvidenceLabel;
use super::super::source::{CitedRow, ClaimRow, Source, SourceName};
use super::super::wording::{coverage, jaccard, stems};
use super::{Draft, Maker};

#[derive(Deserialize)]
pub(in crate::data) struct AbstractRow {
    #[serde(rename = "_id")]
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub text: String,
}

fn label_of(claim: &ClaimRow, id: &str) -> EvidenceLabel {
    let rows = claim.evidence.get(id).and_then(|rows| rows.first());
    match rows.map(|row| row.label.as_str()) {
        Some("SUPPORT") => EvidenceLabel::Supports,
        Some("CONTRADICT" | "REFUTE") => EvidenceLabel::Contradicts,
        _ => EvidenceLabel::Neither,
    }
}

pub(super) fn scifact(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    let claims = read_rows(&source.files[0], bad, |_: &ClaimRow| Ok(()))?;
    let abstracts: Vec<AbstractRow> =
        read_rows(&source.files[1], bad, |_: &AbstractRow| Ok(()))?.values().collect();
    let place: HashMap<&str, usize> =
        abstracts.iter().enumerate().map(|(n, row)| (row.id.as_str(), n)).collect();
    let texts: Vec<String> =
        abstracts.iter().map(|row| format!("{} {}", row.title, row.text)).collect();
    let nearest = Nearest::of(texts.iter().map(String::as_str));
    for claim in claims.values() {
        let cited: Vec<String> = claim.cited_doc_ids.iter().map(u64::to_string).collect();
        let group = format!("scifact {}", cited.iter().min().map_or("", String::as_str));
        for id in &cited {
            if let Some(row) = place.get(id.as_str()).map(|n| &abstracts[*n]) {
                beside_cited(&claim, id, row, &group, maker);
            }
        }
        let known: BTreeSet<usize> =
            cited.iter().filter_map(|id| place.get(id.as_str()).copied()).collect();
        let wanted = if claim.evidence.is_empty() { 1 } else { 2 };
        for n in nearest.find(&claim.claim, wanted, |n| !known.contains(&n)) {
            let row = &abstracts[n];
            let draft = Draft::new(&claim.claim, &row.text, EvidenceLabel::Neither);
            maker.add(SourceName::Scifact, &group, &draft.titled(&row.title));
        }
    }
    findings_of(&abstracts, maker);
    Ok(())
}

fn beside_cited(claim: &ClaimRow, id: &str, row: &AbstractRow, group: &str, maker: &mut Maker<'_>) {
    let label = label_of(claim, id);
    let all = sentences(&row.text);
    let sets: Vec<&[usize]> = claim
        .evidence
        .get(id)
        .into_iter()
        .flatten()
        .map(|evidence| evidence.sentences.as_slice())
        // Sentences were numbered by another splitter; where ours finds fewer, the numbers mean something else.
        .filter(|set| !set.is_empty() && set.iter().all(|n| *n < all.len()))
        .collect();
    let mut gold: Vec<usize> = sets.iter().flat_map(|set| set.iter().copied()).collect();
    gold.sort_unstable();
    gold.dedup();
    let whole = Draft::new(&claim.claim, &row.text, label).titled(&row.title);
    let whole = if gold.is_empty() { whole } else { whole.choosing(&all, &gold) };
    maker.add(SourceName::Scifact, group, &whole);
    for set in sets.iter().take(2) {
        let (first, last) = (set.iter().min().copied(), set.iter().max().copied());
        let (Some(first), Some(last)) = (first, last) else { continue };
        let from = first.saturating_sub(maker.between(0, 2));
        let to = (last + 1 + maker.between(0, 2)).min(all.len());
        let window = all[from..to].join(" ");
        let draft = Draft::new(&claim.claim, &window, label).titled(&row.title);
        maker.add(SourceName::Scifact, group, &draft);
        let alone: Vec<&str> = set.iter().map(|n| all[*n].as_str()).collect();
        let alone = alone.join(" ");
        maker.add(SourceName::Scifact, group, &Draft::new(&claim.claim, &alone, label));
    }
    if label == EvidenceLabel::Neither {
        for _ in 0..2 {
            let long = maker.between(2, 5).min(all.len());
            let from = maker.random.below(all.len() - long + 1);
            let window = all[from..from + long].join(" ");
            let draft = Draft::new(&claim.claim, &window, label).titled(&row.title);
            maker.add(SourceName::Scifact, group, &draft);
        }
    }
}

/// Titles that state a finding, of abstracts that no evaluation claim cites.
fn findings_of(abstracts: &[AbstractRow], maker: &mut Maker<'_>) {
    let free: Vec<(String, String, String)> = abstracts
        .iter()
        .filter(|row| !maker.evaluation.is_judged("scifact", &row.id))
        .map(|row| (format!("scifact {}", row.id), row.title.clone(), row.text.clone()))
        .collect();
    super::conclusions::stated_titles(SourceName::Scifact, &free, maker);
}

pub(super) fn citation_integrity(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    let claims = read_rows(&source.files[0], bad, |_: &ClaimRow| Ok(()))?;
    let corpus = read_rows(&source.files[1], bad, |_: &CitedRow| Ok(()))?;
    let passages: HashMap<u64, Vec<String>> =
        corpus.values().map(|row| (row.doc_id, row.sentences)).collect();
    let pairs: Vec<(ClaimRow, u64)> = claims
        .values()
        .flat_map(|claim| {
            claim.cited_doc_ids.clone().into_iter().map(move |id| (claim.clone(), id))
        })
        .filter(|(_, id)| passages.contains_key(id))
        .collect();
    let texts: Vec<String> = pairs.iter().map(|(_, id)| passages[id].join(" ")).collect();
    let sets: Vec<BTreeSet<String>> = texts.iter().map(|text| stems(text)).collect();
    let nearest = Nearest::of(texts.iter().map(String::as_str));
    for (n, (claim, id)) in pairs.iter().enumerate() {
        let statement = without_markers(&claim.claim);
        let label = label_of(claim, &id.to_string());
        let all = &passages[id];
        // Claims of one citing paper stand beside each other, and their cited passages repeat.
        let group = format!("citint {}", n / 25);
        let gold: Vec<usize> = claim
            .evidence
            .get(&id.to_string())
            .into_iter()
            .flatten()
            .flat_map(|evidence| evidence.sentences.iter().copied())
            .filter(|n| *n < all.len())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let draft = Draft::new(&statement, &texts[n], label);
        let chooses = label != EvidenceLabel::Neither && all.len() > 1 && !gold.is_empty();
        let draft = if chooses { draft.choosing(all, &gold) } else { draft };
        maker.add(SourceName::Citint, &group, &draft);
        if maker.chance(0.35) {
            let apart = |other: usize| {
                other.abs_diff(n) > 4
                    && jaccard(&sets[other], &sets[n]) < 0.4
                    && coverage(&sets[other], &sets[n]) < 0.6
            };
            if let Some(other) = nearest.find(&statement, 1, apart).first() {
                let draft = Draft::new(&statement, &texts[*other], EvidenceLabel::Neither);
                maker.add(SourceName::Citint, &group, &draft);
            }
        }
    }
    Ok(())
}
