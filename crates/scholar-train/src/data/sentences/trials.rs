//! Evidence Inference: the sentences of a trial that decide what an intervention does to an outcome, among those beside them.

use std::collections::HashMap;

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::source::{PromptRow, Source};
use super::super::wording::{first_words, hash, key};
use super::labels::{label_role, labelled_sentences};
use super::structured::{FullText, read_full_texts};
use super::{LabelledSentence, Maker, SentenceRow, Use};

/// How a prompt is asked.
const FORMS: [&str; 6] = [
    "What is the effect of {i} compared with {c} on {o}?",
    "Does {i} improve {o} compared with {c}?",
    "How does {i} affect {o}?",
    "Is {i} better than {c} for {o}?",
    "Does {i} change {o}?",
    "Which effect does {i} have on {o} in comparison with {c}?",
];

/// Longer descriptions make no question.
const MAX_WORDS: usize = 14;

/// Sentences of a section before and after those that decide.
const BESIDE: usize = 7;

/// One trial of so many is for measuring.
const TEST_EVERY: u64 = 8;

pub(super) fn comparisons(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    let trials: HashMap<String, FullText> =
        read_full_texts(source, 1)?.into_iter().map(|paper| (paper.id.clone(), paper)).collect();
    for prompt in read_rows(&source.files[0], bad, |_: &PromptRow| Ok(()))?.values() {
        let parts = [&prompt.intervention, &prompt.comparator, &prompt.outcome];
        let is_short = |part: &&String| (1..=MAX_WORDS).contains(&part.split_whitespace().count());
        let (true, Some(trial)) = (parts.iter().all(is_short), trials.get(&prompt.pmcid)) else {
            continue;
        };
        let evidence: Vec<String> = prompt.prose(6).iter().map(|text| key(text)).collect();
        let question = FORMS[maker.random.below(FORMS.len())]
            .replace("{i}", prompt.intervention.trim())
            .replace("{c}", prompt.comparator.trim())
            .replace("{o}", prompt.outcome.trim());
        let is_test = hash([prompt.pmcid.as_str()]).is_multiple_of(TEST_EVERY);
        let r#use = if is_test { Use::Test } else { Use::Train };
        let mut summary = labelled_sentences(&trial.summary);
        if mark(&mut summary, &evidence) {
            // Conclusions say it again, and nobody marked them.
            for one in summary.iter_mut().filter(|one| one.answers == Some(false)) {
                if label_role(&one.section)
                    .is_some_and(|role| role == scholar_core::SentenceRole::Conclusion)
                {
                    one.answers = None;
                }
            }
            maker.add(r#use, row(&question, trial, summary, true));
        }
        for section in &trial.sections {
            let heading = section.title.clone().unwrap_or_default();
            let mut all: Vec<LabelledSentence> = sentences(&section.text)
                .into_iter()
                .map(|text| LabelledSentence {
                    section: heading.clone(),
                    ..LabelledSentence::new(text)
                })
                .collect();
            if mark(&mut all, &evidence) {
                maker.add(r#use, row(&question, trial, around(all), false));
            }
        }
    }
    Ok(())
}

/// Says of each sentence whether the evidence has it; whether any is so.
fn mark(all: &mut [LabelledSentence], evidence: &[String]) -> bool {
    let mut any = false;
    for one in all {
        let text = key(&one.text);
        let long = text.split(' ').count() >= 6;
        let is_marked = long
            && evidence
                .iter()
                .any(|marked| marked.contains(&text) || text.contains(marked.as_str()));
        one.answers = Some(is_marked);
        any |= is_marked;
    }
    any
}

/// The sentences from a few before the first marked one to a few after it.
fn around(all: Vec<LabelledSentence>) -> Vec<LabelledSentence> {
    let at = all.iter().position(|one| one.answers == Some(true)).unwrap_or_default();
    let from = at.saturating_sub(BESIDE);
    all.into_iter().skip(from).take(at - from + 1 + BESIDE).collect()
}

fn row(
    question: &str,
    trial: &FullText,
    sentences: Vec<LabelledSentence>,
    in_abstract: bool,
) -> SentenceRow {
    SentenceRow {
        question: question.to_owned(),
        paper: trial.id.clone(),
        title: first_words(&trial.title, usize::MAX),
        in_abstract,
        whole: in_abstract,
        sentences,
        source: "evinf".to_owned(),
    }
}
