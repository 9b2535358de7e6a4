//! Evidence Inference: what a trial found about an outcome, put into words, beside the sentences that say it.
//!
//! The three possible findings exclude each other, so a statement of another finding is a contradiction. A statement
//! is undecided beside the evidence of another outcome of the same trial, where the two share no content stem.

use std::collections::{BTreeSet, HashMap};

use scholar_core::text::normalise::{capitalised, lower_first};

use super::super::abstracts::sentences;
use super::super::error::DataError;
use super::super::rows::EvidenceLabel;
use super::super::source::{PaperText, PromptRow, Source, SourceName, Trials};
use super::super::wording::{first_words, stems};
use super::{Draft, Maker};

/// A finding as annotators call it, and how it is said.
const FINDINGS: [(&str, [&str; 3]); 3] = [
    (
        "significantly increased",
        [
            "{i} significantly increased {o} compared with {c}.",
            "{o} was higher with {i} than with {c}.",
            "{i} increases {o}.",
        ],
    ),
    (
        "significantly decreased",
        [
            "{i} significantly decreased {o} compared with {c}.",
            "{o} was lower with {i} than with {c}.",
            "{i} reduces {o}.",
        ],
    ),
    (
        "no significant difference",
        [
            "There was no significant difference in {o} between {i} and {c}.",
            "{i} did not change {o} compared with {c}.",
            "{i} and {c} did not differ in {o}.",
        ],
    ),
];

/// Longer descriptions make no sentence.
const MAX_WORDS: usize = 14;

pub(super) fn comparisons(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let bad = maker.settings.max_rejected_fraction;
    let Trials { prompts, articles } = Trials::read(source, bad, &mut maker.ledger)?;
    let mut by_trial: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, prompt) in prompts.iter().enumerate() {
        by_trial.entry(&prompt.pmcid).or_default().push(n);
    }
    for prompt in &prompts {
        let Some(found) = finding(prompt) else { continue };
        let prose = prompt.prose(8);
        let asked = stems(&format!("{} {}", prompt.intervention, prompt.outcome));
        let speaking: Vec<&String> =
            prose.iter().filter(|text| !asked.is_disjoint(&stems(text))).collect();
        if speaking.is_empty() {
            continue;
        }
        let chosen = speaking[maker.random.below(speaking.len())];
        let evidence = window(chosen, articles.get(&prompt.pmcid), maker);
        let group = format!("evinf {}", prompt.pmcid);
        let chance = maker.random.unit();
        if chance < 0.62 {
            let said = statement(prompt, found, maker);
            let draft = Draft::new(&said, &evidence, EvidenceLabel::Supports);
            maker.add(SourceName::Evinf, &group, &draft);
        }
        if chance > 0.42 {
            let other = (found + 1 + maker.random.below(2)) % FINDINGS.len();
            let said = statement(prompt, other, maker);
            let draft = Draft::new(&said, &evidence, EvidenceLabel::Contradicts);
            maker.add(SourceName::Evinf, &group, &draft);
        }
        let beside = by_trial.get(prompt.pmcid.as_str()).map_or(&[][..], Vec::as_slice);
        undecided(prompt, beside, &prompts, &group, maker);
    }
    Ok(())
}

/// The finding all annotators agree on, if the prompt can be said in a sentence.
fn finding(prompt: &PromptRow) -> Option<usize> {
    let labels: BTreeSet<&str> =
        prompt.annotations.iter().map(|annotation| annotation.label.as_str()).collect();
    let [label] = labels.into_iter().collect::<Vec<_>>()[..] else { return None };
    let parts = [&prompt.intervention, &prompt.comparator, &prompt.outcome];
    let short = parts.iter().all(|part| (1..=MAX_WORDS).contains(&part.split_whitespace().count()));
    FINDINGS.iter().position(|(name, _)| *name == label).filter(|_| short)
}

fn statement(prompt: &PromptRow, finding: usize, maker: &mut Maker<'_>) -> String {
    let (_, forms) = FINDINGS[finding];
    let text = forms[maker.random.below(forms.len())]
        .replace("{i}", &inside(&prompt.intervention))
        .replace("{c}", &inside(&prompt.comparator))
        .replace("{o}", &inside(&prompt.outcome));
    capitalised(&text)
}

/// As it stands inside a sentence: no capital, unless the word is an abbreviation or a name with one inside.
fn inside(text: &str) -> String {
    let text = first_words(text, usize::MAX);
    let text = text.trim_end_matches(['.', ',', ';', ' ']);
    let first = text.split(' ').next().unwrap_or_default();
    if first.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit()) {
        return text.to_owned();
    }
    lower_first(text)
}

/// The evidence with up to two sentences on each side, where the full text is there and has it.
fn window(evidence: &str, trial: Option<&PaperText>, maker: &mut Maker<'_>) -> String {
    let evidence = first_words(evidence, usize::MAX);
    let Some(trial) = trial.filter(|_| maker.chance(0.7)) else { return evidence };
    let texts = trial.sections.iter().chain([&trial.text]);
    let Some(section) = texts.into_iter().find(|text| text.contains(&evidence)) else {
        return evidence;
    };
    let all = sentences(section);
    let start: String = evidence.chars().take(60).collect();
    let Some(at) = all.iter().position(|text| text.contains(&start)) else { return evidence };
    let from = at.saturating_sub(maker.between(0, 2));
    let to = (at + 1 + maker.between(0, 2)).min(all.len());
    let window = all[from..to].join(" ");
    if window.contains(&evidence) { window } else { evidence }
}

fn undecided(
    prompt: &PromptRow,
    beside: &[usize],
    prompts: &[PromptRow],
    group: &str,
    maker: &mut Maker<'_>,
) {
    let outcome = stems(&prompt.outcome);
    let others: Vec<&PromptRow> = beside
        .iter()
        .map(|n| &prompts[*n])
        .filter(|other| outcome.is_disjoint(&stems(&other.outcome)))
        .collect();
    if others.is_empty() || !maker.chance(0.5) {
        return;
    }
    let other = others[maker.random.below(others.len())];
    let Some(text) = other.prose(8).into_iter().next() else { return };
    if outcome.is_disjoint(&stems(&text)) {
        let any = maker.random.below(FINDINGS.len());
        let said = statement(prompt, any, maker);
        let draft = Draft::new(&said, &text, EvidenceLabel::Neither);
        maker.add(SourceName::Evinf, group, &draft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_inside_a_sentence_keep_their_abbreviations() {
        assert_eq!(inside("Low-dose  aspirin."), "low-dose aspirin");
        assert_eq!(inside("LMWH therapy"), "LMWH therapy");
        assert_eq!(inside("Il-6 levels"), "Il-6 levels");
        assert_eq!(inside(""), "");
    }
}
