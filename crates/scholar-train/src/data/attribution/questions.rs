//! Questions with answers: `BioASQ`'s ideal answers beside the snippets they were written from, PubMedQA's conclusions
//! beside the abstract without them.
//!
//! An answer's sentence is supported by a document's snippets only where these have at least half of its content
//! stems, and undecided beside a similar question's document only where that has fewer.

use std::collections::BTreeMap;

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::nearest::Nearest;
use super::super::rows::EvidenceLabel;
use super::super::source::{BioAsqRow, PubMedQaRow, Source, SourceName};
use super::super::statement::{bare, opposite};
use super::super::wording::{coverage, first_words, stems};
use super::{Draft, Maker};

const HALF: f64 = 0.5;

pub(super) fn bioasq(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let rows: Vec<BioAsqRow> =
        read_rows(&source.files[0], maker.settings.max_rejected_fraction, |_: &BioAsqRow| Ok(()))?
            .values()
            .collect();
    let evidence: Vec<BTreeMap<&str, String>> = rows.iter().map(by_document).collect();
    let texts: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {}", row.body, row.ideal_answer.first().map_or("", String::as_str)))
        .collect();
    let nearest = Nearest::of(texts.iter().map(String::as_str));
    for (n, row) in rows.iter().enumerate() {
        let Some(answer) = row.ideal_answer.first() else { continue };
        for sentence in sentences(answer).iter().filter(|text| is_statement(text)).take(2) {
            let group = format!("bioasq {n}");
            answered(without_yes(sentence), &group, &evidence[n], maker);
            let asked = format!("{} {sentence}", row.body);
            let other = nearest.find(&asked, 3, |other| {
                other != n
                    && evidence[n].keys().all(|document| !evidence[other].contains_key(document))
            });
            let statement = without_yes(sentence);
            let said = stems(statement);
            let undecided = other.into_iter().find_map(|other| {
                let best = best_of(&said, &evidence[other])?;
                (coverage(&said, &stems(best)) < HALF).then_some(best)
            });
            if let Some(text) = undecided {
                let draft = Draft::new(statement, text, EvidenceLabel::Neither);
                maker.add(SourceName::Bioasq, &group, &draft);
            }
        }
    }
    Ok(())
}

fn answered(
    statement: &str,
    group: &str,
    evidence: &BTreeMap<&str, String>,
    maker: &mut Maker<'_>,
) {
    let said = stems(statement);
    let Some(best) = best_of(&said, evidence) else { return };
    if coverage(&said, &stems(best)) < HALF {
        return;
    }
    maker.add(SourceName::Bioasq, group, &Draft::new(statement, best, EvidenceLabel::Supports));
    if let Some(other) = opposite(statement, &mut maker.random) {
        let draft = Draft::new(&other, best, EvidenceLabel::Contradicts);
        maker.add(SourceName::Bioasq, group, &draft);
    }
}

fn best_of<'a>(
    said: &std::collections::BTreeSet<String>,
    evidence: &'a BTreeMap<&str, String>,
) -> Option<&'a str> {
    let covered = |text: &str| coverage(said, &stems(text));
    let best = evidence.values().max_by(|a, b| covered(a).total_cmp(&covered(b)))?;
    Some(best)
}

fn by_document(row: &BioAsqRow) -> BTreeMap<&str, String> {
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for snippet in &row.snippets {
        let text = first_words(&snippet.text, usize::MAX);
        let seen = texts.entry(&snippet.document).or_default();
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    texts.into_iter().map(|(document, texts)| (document, texts.join(" "))).collect()
}

fn is_statement(sentence: &str) -> bool {
    (6..=50).contains(&sentence.split_whitespace().count()) && !sentence.contains('?')
}

/// The statement behind `Yes,` and `No,`.
fn without_yes(sentence: &str) -> &str {
    for word in ["Yes", "No", "yes", "no", "YES", "NO"] {
        if let Some(rest) = sentence.strip_prefix(word)
            && rest.starts_with([',', '.', ';', ':'])
        {
            return rest.trim_start_matches([',', '.', ';', ':', ' ']);
        }
    }
    sentence
}

pub(super) fn pubmedqa(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let rows = read_rows(
        &source.files[0],
        maker.settings.max_rejected_fraction,
        |_: &PubMedQaRow| Ok(()),
    )?;
    for row in rows.values() {
        if let Some(conflict) = maker.evaluation.query(&row.question) {
            maker.ledger.reject(SourceName::Pubmedqa.name(), conflict.rule(), &row.question);
            continue;
        }
        let Some(first) = sentences(&row.long_answer).into_iter().next() else { continue };
        let evidence = row.contexts[row.contexts.len().saturating_sub(2)..].join(" ");
        let (statement, group) = (bare(&first), format!("pubmedqa {}", row.pmid));
        let draft = Draft::new(&statement, &evidence, EvidenceLabel::Supports);
        maker.add(SourceName::Pubmedqa, &group, &draft);
        if let Some(other) = opposite(&statement, &mut maker.random) {
            let draft = Draft::new(&other, &evidence, EvidenceLabel::Contradicts);
            maker.add(SourceName::Pubmedqa, &group, &draft);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_statements() {
        assert_eq!(without_yes("Yes, aspirin helps."), "aspirin helps.");
        assert_eq!(without_yes("Noonan syndrome is rare."), "Noonan syndrome is rare.");
        assert!(!is_statement("Yes."));
    }
}
