//! Papers: what an abstract concludes beside the rest of it, single results beside their neighbourhood, and titles
//! that state a finding.
//!
//! Supported: the conclusion beside the abstract, with the sentence itself in a third of the rows and without it in
//! the others; a result beside a window that has it. Contradicted: the opposite of such a statement, or one with
//! another number, beside the same text. Undecided: a statement beside another paper on the topic, and a result
//! beside its own abstract where no other sentence has half of its content.

use std::ops::Range;

use super::super::abstracts::{parts, sentences};
use super::super::error::DataError;
use super::super::nearest::Nearest;
use super::super::rows::EvidenceLabel;
use super::super::source::{PaperText, Source, SourceName, keep_commercial, read_papers};
use super::super::statement::{bare, opposite, other_number, states_finding};
use super::super::wording::{coverage, stems};
use super::{Draft, Maker};

/// Shorter abstracts have nothing to conclude from.
const MIN_ABSTRACT_WORDS: usize = 60;

/// Abstracts of each collection without labelled conclusions: their last sentence is a weaker one.
const UNLABELLED_PAPERS: usize = 1_500;

const WORDS: std::ops::RangeInclusive<usize> = 8..=45;

const NO_FINDING: [&str; 9] = [
    "registration",
    "clinicaltrials",
    "ISRCTN",
    "NCT0",
    "further research",
    "further stud",
    "will be",
    "should be",
    "http",
];

pub(super) fn papers(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let mut papers = read_papers(&source.files[0], maker.settings.max_rejected_fraction)?;
    let name = source.name;
    papers.retain(|paper| paper.text.split_whitespace().count() >= MIN_ABSTRACT_WORDS);
    keep_commercial(name, &mut papers, &mut maker.ledger);
    papers.retain(|paper| {
        let is_measured =
            maker.evaluation.paper(&paper.title) || maker.evaluation.passage(&paper.text);
        if is_measured {
            maker.ledger.reject(name.name(), "evaluation: judged paper", &paper.title);
        }
        !is_measured
    });
    maker.random.shuffle(&mut papers);
    papers.truncate(maker.settings.max_papers);
    if name != SourceName::Pmc {
        papers.truncate(UNLABELLED_PAPERS);
    }
    let texts: Vec<String> =
        papers.iter().map(|paper| format!("{} {}", paper.title, paper.text)).collect();
    let nearest = Nearest::of(texts.iter().map(String::as_str));
    for n in 0..papers.len() {
        concluded(name, n, &papers, &nearest, maker);
    }
    if matches!(name, SourceName::Pmc | SourceName::Openalex) {
        let titled: Vec<(String, String, String)> = papers
            .into_iter()
            .map(|paper| (format!("{} {}", name.name(), paper.id), paper.title, paper.text))
            .collect();
        stated_titles(name, &titled, maker);
    }
    Ok(())
}

fn concluded(
    name: SourceName,
    n: usize,
    papers: &[PaperText],
    nearest: &Nearest,
    maker: &mut Maker<'_>,
) {
    let paper = &papers[n];
    let group = format!("{} {}", name.name(), paper.id);
    let all = sentences(&paper.text);
    let labelled = parts(&paper.labelled)
        .into_iter()
        .rev()
        .find(super::super::abstracts::AbstractSection::concludes);
    let last = match labelled {
        Some(part) => sentences(&part.text),
        None => all.last().cloned().into_iter().collect(),
    };
    let Some(conclusion) = last.iter().find(|text| is_finding(text)) else { return };
    let rest: Vec<String> = all.iter().filter(|text| !last.contains(text)).cloned().collect();
    if all.len() < 5 || rest.is_empty() {
        return;
    }
    let statement = bare(conclusion);
    let shown = if maker.chance(0.35) { &all } else { &rest };
    let long = maker.between(4, 9).min(shown.len());
    let evidence = shown[shown.len() - long..].join(" ");
    let other = opposite(&statement, &mut maker.random);
    let contradicts = other.is_some() && maker.chance(0.55);
    if let Some(other) = other.as_deref().filter(|_| contradicts) {
        let draft = Draft::new(other, &evidence, EvidenceLabel::Contradicts);
        maker.add(name, &group, &draft.titled(&paper.title));
    }
    if !contradicts || maker.chance(0.5) {
        let draft = Draft::new(&statement, &evidence, EvidenceLabel::Supports);
        maker.add(name, &group, &draft.titled(&paper.title));
    }
    let topical = nearest.find(&format!("{statement} {}", paper.title), 2, |at| at != n);
    if !topical.is_empty() {
        let neighbour = &papers[topical[maker.random.below(topical.len())]];
        let theirs = sentences(&neighbour.text);
        let from = maker.random.below(theirs.len().saturating_sub(6).max(1));
        let window = theirs[from..theirs.len().min(from + 8)].join(" ");
        // Opposites stand beside texts that decide nothing, too: `not` alone must not mean contradiction.
        let said = other.as_deref().filter(|_| maker.chance(0.35)).unwrap_or(&statement);
        maker.add(name, &group, &Draft::new(said, &window, EvidenceLabel::Neither));
    }
    if maker.chance(0.5) {
        single_result(name, &group, paper, &all, maker);
    }
}

fn single_result(
    name: SourceName,
    group: &str,
    paper: &PaperText,
    all: &[String],
    maker: &mut Maker<'_>,
) {
    let last = all.len() - 1;
    let results: Vec<usize> =
        (2..last).filter(|n| is_finding(&all[*n]) && reports(&all[*n])).collect();
    if results.is_empty() {
        return;
    }
    let at = results[maker.random.below(results.len())];
    let statement = bare(&all[at]);
    let Range { start, end } = around(at, all.len(), maker);
    let window = &all[start..end];
    let text = window.join(" ");
    let chance = maker.random.unit();
    if chance < 0.3 {
        let gold = [at - start];
        let draft = Draft::new(&statement, &text, EvidenceLabel::Supports);
        maker.add(name, group, &draft.choosing(window, &gold).titled(&paper.title));
    } else if chance < 0.65 {
        let changed = if maker.chance(0.4) {
            other_number(&statement, &mut maker.random)
        } else {
            opposite(&statement, &mut maker.random)
        };
        if let Some(changed) = changed {
            let draft = Draft::new(&changed, &text, EvidenceLabel::Contradicts);
            maker.add(name, group, &draft.titled(&paper.title));
        }
    } else {
        let said = stems(&statement);
        let others: Vec<String> =
            all[start..end].iter().filter(|text| **text != all[at]).cloned().collect();
        if others.iter().all(|text| coverage(&said, &stems(text)) < 0.45) {
            let text = others.join(" ");
            let draft = Draft::new(&statement, &text, EvidenceLabel::Neither);
            maker.add(name, group, &draft.titled(&paper.title));
        }
    }
}

fn around(at: usize, len: usize, maker: &mut Maker<'_>) -> Range<usize> {
    let start = at.saturating_sub(maker.between(1, 3));
    start..(at + 1 + maker.between(1, 3)).min(len)
}

fn is_finding(sentence: &str) -> bool {
    WORDS.contains(&sentence.split_whitespace().count())
        && !NO_FINDING.iter().any(|phrase| sentence.contains(phrase))
        && !sentence.contains('?')
}

fn reports(sentence: &str) -> bool {
    sentence.contains(|c: char| c.is_ascii_digit())
        || ["significant", "higher", "lower", "increas", "decreas", "associated", "reduc"]
            .iter()
            .any(|word| sentence.contains(word))
}

/// `(group, title, abstract)`: titles that state a finding, beside their abstract and beside others on the topic.
pub(super) fn stated_titles(
    name: SourceName,
    papers: &[(String, String, String)],
    maker: &mut Maker<'_>,
) {
    let nearest = Nearest::of(papers.iter().map(|(_, _, text)| text.as_str()));
    for (n, (group, title, text)) in papers.iter().enumerate() {
        let title = title.trim_end_matches('.');
        if !states_finding(title) || text.split_whitespace().count() < MIN_ABSTRACT_WORDS {
            continue;
        }
        let all = sentences(text);
        let evidence =
            if maker.chance(0.6) { text.clone() } else { all[all.len() / 2..].join(" ") };
        let other = opposite(title, &mut maker.random);
        if other.is_none() || maker.chance(0.62) {
            maker.add(name, group, &Draft::new(title, &evidence, EvidenceLabel::Supports));
        }
        if let Some(other) = other.as_deref().filter(|_| maker.chance(0.7)) {
            maker.add(name, group, &Draft::new(other, &evidence, EvidenceLabel::Contradicts));
        }
        let topical = nearest.find(title, 3, |at| at != n);
        if !topical.is_empty() {
            let (_, _, theirs) = &papers[topical[maker.random.below(topical.len())]];
            let said = other.as_deref().filter(|_| maker.chance(0.3)).unwrap_or(title);
            maker.add(name, group, &Draft::new(said, theirs, EvidenceLabel::Neither));
        }
    }
}
