//! Prompts of claims and citing sentences whose answers people chose.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::attribution::claims::AbstractRow;
use super::super::error::DataError;
use super::super::evaluation::without_markers;
use super::super::lines::read_rows;
use super::super::source::{
    ACL_BEFORE_2016, CitedRow, ClaimRow, ReferencePaperRow, Source, SourceName, SummaryRow,
    is_cc_by_acl,
};
use super::super::wording::first_words;
use super::{Form, Planner, Prompt};

/// Longest claim or citing sentence in words.
const QUERY_WORDS: usize = 80;

/// Sentences of a cited paper in one passage.
const WINDOW: usize = 8;

/// How many titles of SciFact's abstracts become queries.
const TITLE_SHARE: f64 = 0.15;

/// Claims look for the abstracts that hold evidence on them; titles of abstracts that no claim of an evaluation set
/// cites look for their text.
pub(super) fn scifact(source: &Source, planner: &mut Planner<'_>) -> Result<(), DataError> {
    let bad = planner.settings.max_rejected_fraction;
    let claims = read_rows(&source.files[0], bad, |_: &ClaimRow| Ok(()))?;
    let abstracts: Vec<AbstractRow> =
        read_rows(&source.files[1], bad, |_: &AbstractRow| Ok(()))?.values().collect();
    let pool = planner.pool("scifact");
    let mut place: HashMap<String, usize> = HashMap::new();
    for row in &abstracts {
        let paper = format!("scifact {}", row.id);
        place.insert(row.id.clone(), planner.document(pool, &paper, &row.title, &row.text));
    }
    let mut used: BTreeSet<usize> = BTreeSet::new();
    for claim in claims.values() {
        let cited: Vec<usize> = claim
            .cited_doc_ids
            .iter()
            .filter_map(|id| place.get(&id.to_string()).copied())
            .collect();
        used.extend(&cited);
        planner.ask(Prompt {
            source: SourceName::Scifact,
            kind: "claim",
            query: first_words(&claim.claim, QUERY_WORDS),
            pool,
            // As the collection's own judgements have it: what is cited is relevant, whether it decides or not.
            related: cited.clone(),
            positives: cited,
            form: Form::Whole,
            labelled: true,
        });
    }
    for row in &abstracts {
        let Some(at) = place.get(&row.id).copied() else { continue };
        let is_free = !planner.evaluation.is_judged("scifact", &row.id) && !used.contains(&at);
        if is_free && planner.chance(TITLE_SHARE) {
            planner.ask(Prompt {
                source: SourceName::Scifact,
                kind: "title",
                query: row.title.clone(),
                pool,
                positives: vec![at],
                related: vec![at],
                form: Form::Text,
                labelled: false,
            });
        }
    }
    Ok(())
}

/// Claims of citing papers look for the sentences of the paper they cite, where these support them.
pub(super) fn citation_integrity(
    source: &Source,
    planner: &mut Planner<'_>,
) -> Result<(), DataError> {
    let bad = planner.settings.max_rejected_fraction;
    let claims = read_rows(&source.files[0], bad, |_: &ClaimRow| Ok(()))?;
    let passages: BTreeMap<u64, Vec<String>> =
        read_rows(&source.files[1], bad, |_: &CitedRow| Ok(()))?
            .values()
            .map(|row| (row.doc_id, row.sentences))
            .collect();
    let pool = planner.pool("citint");
    let mut place: HashMap<u64, usize> = HashMap::new();
    for claim in claims.values() {
        for id in &claim.cited_doc_ids {
            let Some(sentences) = passages.get(id) else { continue };
            let paper = format!("citint {id}");
            let at = *place
                .entry(*id)
                .or_insert_with(|| planner.document(pool, &paper, "", &sentences.join(" ")));
            let rows = claim.evidence.get(&id.to_string()).and_then(|rows| rows.first());
            if rows.is_none_or(|row| row.label != "SUPPORT") {
                continue;
            }
            let query = first_words(&without_markers(&claim.claim), QUERY_WORDS);
            let source = SourceName::Citint;
            planner.ask(Prompt::of_document(source, "citing sentence", query, pool, at));
        }
    }
    Ok(())
}

/// Citing sentences look for the part of the cited paper that people chose. Papers before 2016 are left out.
pub(super) fn summaries(source: &Source, planner: &mut Planner<'_>) -> Result<(), DataError> {
    let bad = planner.settings.max_rejected_fraction;
    let rows = read_rows(&source.files[0], bad, |_: &SummaryRow| Ok(()))?;
    let references = read_rows(&source.files[1], bad, |_: &ReferencePaperRow| Ok(()))?;
    // The texts are the papers', whatever the corpus's own licence allows.
    let (rows, others): (Vec<_>, Vec<_>) = rows.values().partition(SummaryRow::is_commercial);
    for row in others {
        let source = SourceName::Clscisumm.name();
        planner.plan.ledger.reject(source, ACL_BEFORE_2016, &row.citation_text);
    }
    if rows.is_empty() {
        return Ok(());
    }
    let pool = planner.pool("clscisumm");
    let mut windows: HashMap<String, Vec<(usize, BTreeSet<String>)>> = HashMap::new();
    for reference in references.values().filter(|reference| is_cc_by_acl(&reference.id)) {
        let (id, title) = (reference.id.clone(), reference.title.clone().unwrap_or_default());
        let all = reference.sentences();
        for (n, window) in all.chunks(WINDOW).enumerate() {
            let text: Vec<&str> = window.iter().map(|(_, text)| text.as_str()).collect();
            // Windows of one paper are each other's hardest negatives, so each counts as a record of its own.
            let record = format!("clscisumm {id} {n}");
            let at = planner.document(pool, &record, &title, &text.join(" "));
            let numbers = window.iter().map(|(number, _)| number.clone()).collect();
            windows.entry(id.clone()).or_default().push((at, numbers));
        }
    }
    for row in rows {
        let chosen: Vec<usize> = windows
            .get(&row.reference)
            .into_iter()
            .flatten()
            .filter(|(_, numbers)| row.reference_sids.iter().any(|sid| numbers.contains(sid)))
            .map(|(at, _)| *at)
            .collect();
        planner.ask(Prompt {
            source: SourceName::Clscisumm,
            kind: "citing sentence",
            query: first_words(&row.citation_text, QUERY_WORDS),
            pool,
            related: chosen.clone(),
            positives: chosen,
            form: Form::Whole,
            labelled: true,
        });
    }
    Ok(())
}
