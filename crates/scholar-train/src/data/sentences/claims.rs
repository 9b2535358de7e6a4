//! SciFact: the sentences of an abstract that decide a claim answer whether it is true.

use std::collections::HashMap;

use super::super::abstracts::sentences;
use super::super::attribution::claims::AbstractRow;
use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::nearest::Nearest;
use super::super::source::{ClaimRow, Source};
use super::{LabelledSentence, Maker, SentenceRow, Use};

/// The development claims lie beside the training claims.
const DEV_FILE: &str = "claimcheck_scifact_dev.jsonl";

/// How a claim is asked.
const FORMS: [&str; 3] = ["{}", "Is it true that {}?", "What is the evidence that {}?"];

pub(super) fn scifact(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    let abstracts: Vec<AbstractRow> =
        read_rows(&source.files[1], bad, |_: &AbstractRow| Ok(()))?.values().collect();
    let place: HashMap<&str, usize> =
        abstracts.iter().enumerate().map(|(n, row)| (row.id.as_str(), n)).collect();
    let texts: Vec<String> =
        abstracts.iter().map(|row| format!("{} {}", row.title, row.text)).collect();
    let nearest = Nearest::of(texts.iter().map(String::as_str));
    let dev = source.files[0].with_file_name(DEV_FILE);
    let mut files = vec![(Use::Train, source.files[0].clone())];
    if dev.is_file() {
        files.push((Use::Test, dev));
    }
    for (r#use, file) in files {
        for claim in read_rows(&file, bad, |_: &ClaimRow| Ok(()))?.values() {
            let question = asked(&claim.claim, maker);
            for (id, evidence) in &claim.evidence {
                let Some(row) = place.get(id.as_str()).map(|n| &abstracts[*n]) else { continue };
                let gold: Vec<usize> =
                    evidence.iter().flat_map(|set| set.sentences.iter().copied()).collect();
                let all = sentences(&row.text);
                // Sentences were numbered by another splitter; where ours finds fewer, the numbers mean something else.
                if gold.iter().any(|n| *n >= all.len()) {
                    continue;
                }
                let labelled = all.into_iter().enumerate().map(|(n, text)| LabelledSentence {
                    answers: Some(gold.contains(&n)),
                    ..LabelledSentence::new(text)
                });
                add(r#use, [&question, "scifact"], row, labelled.collect(), maker);
            }
            if claim.evidence.is_empty() {
                continue;
            }
            let known: Vec<String> = claim.cited_doc_ids.iter().map(u64::to_string).collect();
            let others = nearest.find(&claim.claim, 12, |n| !known.contains(&abstracts[n].id));
            if let Some(n) = others.get(4 + maker.random.below(8)) {
                let row = &abstracts[*n];
                let labelled = sentences(&row.text).into_iter().map(|text| LabelledSentence {
                    answers: Some(false),
                    ..LabelledSentence::new(text)
                });
                let source = "scifact, other paper";
                add(r#use, [&question, source], row, labelled.collect(), maker);
            }
        }
    }
    Ok(())
}

fn asked(claim: &str, maker: &mut Maker<'_>) -> String {
    let form = FORMS[maker.random.below(FORMS.len())];
    form.replace("{}", claim.trim().trim_end_matches('.'))
}

fn add(
    r#use: Use,
    [question, source]: [&str; 2],
    paper: &AbstractRow,
    sentences: Vec<LabelledSentence>,
    maker: &mut Maker<'_>,
) {
    let row = SentenceRow {
        question: question.to_owned(),
        paper: format!("scifact {}", paper.id),
        title: paper.title.clone(),
        in_abstract: true,
        whole: true,
        sentences,
        source: source.to_owned(),
    };
    maker.add(r#use, row);
}
