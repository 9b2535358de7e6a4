//! `BioASQ` and PubMedQA: questions whose answers people marked in abstracts.
//!
//! `BioASQ` has snippets, not abstracts. What is known of a paper is put together from the snippets of all questions; a
//! sentence of it answers if one of the question's own snippets has it, and does not if only others do. Snippets of a
//! whole abstract mark nothing, and only show the other sentences. The tenth year is for measuring.

use std::collections::{BTreeMap, BTreeSet};

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::lines::read_rows;
use super::super::nearest::Nearest;
use super::super::source::{BioAsqRow, PubMedQaRow, SnippetRow, Source};
use super::super::wording::{first_words, key};
use super::labels::role_below;
use super::{LabelledSentence, Maker, SentenceRow, Use};

/// A snippet of more sentences marks nothing.
const MARKING_SENTENCES: usize = 4;

/// Batches of the year that is measured on.
const TEST_BATCHES: &str = "10B";

/// Papers of a question with marked sentences at most: more would outweigh the negatives.
const MARKED_PAPERS: usize = 6;

/// Candidates for papers that do not answer; the first of them may.
const CANDIDATES: usize = 60;
const DOUBTFUL: usize = 8;

/// Papers that do not answer, for each question: half of them from the best of these candidates.
const OTHER_PAPERS: usize = 6;
const NEAR: usize = 20;

/// What the snippets of all questions show of a paper.
#[derive(Debug, Default)]
struct Known {
    title: String,
    /// Sentences by where their snippet begins and their number in it.
    sentences: BTreeMap<(u64, usize), String>,
}

pub(super) fn bioasq(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    let questions: Vec<BioAsqRow> =
        read_rows(&source.files[0], bad, |_: &BioAsqRow| Ok(()))?.values().collect();
    let mut papers: BTreeMap<&str, Known> = BTreeMap::new();
    for snippet in questions.iter().flat_map(|question| &question.snippets) {
        learn(papers.entry(&snippet.document).or_default(), snippet);
    }
    let names: Vec<&str> = papers.keys().copied().collect();
    let texts: Vec<String> = papers
        .values()
        .map(|known| {
            let body: Vec<&str> = known.sentences.values().map(String::as_str).collect();
            format!("{} {}", known.title, body.join(" "))
        })
        .collect();
    let nearest = Nearest::of(texts.iter().map(String::as_str));
    for question in &questions {
        let r#use =
            if question.source_file.starts_with(TEST_BATCHES) { Use::Test } else { Use::Train };
        let mut marked: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for snippet in question.snippets.iter().filter(|snippet| in_abstract(snippet)) {
            let split = sentences(&snippet.text);
            if split.len() <= MARKING_SENTENCES {
                let keys = split.iter().map(|sentence| key(sentence));
                marked.entry(&snippet.document).or_default().extend(keys);
            }
        }
        let mut chosen: Vec<(&&str, &BTreeSet<String>)> = marked.iter().collect();
        maker.random.shuffle(&mut chosen);
        for (paper, keys) in chosen.into_iter().take(MARKED_PAPERS) {
            let labelled = labelled(&papers[paper], |text| Some(keys.contains(&key(text))));
            let row = row(question, paper, &papers[paper], labelled, "bioasq");
            maker.add(r#use, row);
        }
        let shown: BTreeSet<&str> = question
            .documents
            .iter()
            .map(String::as_str)
            .chain(question.snippets.iter().map(|snippet| snippet.document.as_str()))
            .collect();
        let others = nearest.find(&question.body, CANDIDATES, |n| {
            !shown.contains(names[n]) && papers[names[n]].sentences.len() > 1
        });
        let others = others.get(DOUBTFUL..).unwrap_or_default();
        let (near, far) = others.split_at(others.len().min(NEAR));
        for candidates in [near, far] {
            let mut candidates = candidates.to_vec();
            maker.random.shuffle(&mut candidates);
            for n in candidates.into_iter().take(OTHER_PAPERS / 2) {
                let labelled = labelled(&papers[names[n]], |_| Some(false));
                let source = "bioasq, other paper";
                maker.add(r#use, row(question, names[n], &papers[names[n]], labelled, source));
            }
        }
    }
    Ok(())
}

fn in_abstract(snippet: &SnippetRow) -> bool {
    snippet.begin_section.contains("abstract")
}

fn learn(known: &mut Known, snippet: &SnippetRow) {
    if !in_abstract(snippet) {
        if known.title.is_empty() {
            known.title = first_words(&snippet.text, usize::MAX);
        }
        return;
    }
    for (n, text) in sentences(&snippet.text).into_iter().enumerate() {
        let same = key(&text);
        if !known.sentences.values().any(|seen| key(seen) == same) {
            known.sentences.insert((snippet.offset_in_begin_section, n), text);
        }
    }
}

fn labelled(known: &Known, answers: impl Fn(&str) -> Option<bool>) -> Vec<LabelledSentence> {
    let mut before = None;
    let mut out = Vec::new();
    for ((begin, _), text) in &known.sentences {
        let apart = before.is_some_and(|before| before != *begin);
        before = Some(*begin);
        out.push(LabelledSentence {
            apart,
            answers: answers(text),
            ..LabelledSentence::new(text.clone())
        });
    }
    out
}

fn row(
    question: &BioAsqRow,
    paper: &str,
    known: &Known,
    sentences: Vec<LabelledSentence>,
    source: &str,
) -> SentenceRow {
    SentenceRow {
        question: question.body.trim().to_owned(),
        paper: paper.to_owned(),
        title: known.title.clone(),
        in_abstract: true,
        whole: false,
        sentences,
        source: source.to_owned(),
    }
}

/// The conclusion answers the question of the title; background, aims and methods do not; of results nobody knows. Rows
/// that an evaluation set has are for measuring.
pub(super) fn pubmedqa(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    for paper in read_rows(&source.files[0], bad, |_: &PubMedQaRow| Ok(()))?.values() {
        let mut all = Vec::new();
        for (n, context) in paper.contexts.iter().enumerate() {
            let label = paper.labels.get(n).cloned().unwrap_or_default();
            for text in sentences(context) {
                let role = role_below(&label, &text);
                let answers = role.filter(|role| {
                    use scholar_core::SentenceRole::{Background, Method, Purpose};
                    matches!(role, Background | Method | Purpose)
                });
                all.push(LabelledSentence {
                    section: label.to_lowercase(),
                    role,
                    answers: answers.map(|_| false),
                    ..LabelledSentence::new(text)
                });
            }
        }
        all.extend(sentences(&paper.long_answer).into_iter().map(|text| LabelledSentence {
            section: "conclusions".to_owned(),
            role: Some(scholar_core::SentenceRole::Conclusion),
            answers: Some(true),
            ..LabelledSentence::new(text)
        }));
        let is_measured = maker.evaluation.query(&paper.question).is_some();
        let row = SentenceRow {
            question: paper.question.clone(),
            paper: format!("pubmed {}", paper.pmid),
            // The question is the title.
            title: String::new(),
            in_abstract: true,
            whole: true,
            sentences: all,
            source: "pubmedqa".to_owned(),
        };
        maker.add(if is_measured { Use::Test } else { Use::Train }, row);
    }
    Ok(())
}
