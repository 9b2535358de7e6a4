//! Columns that are questions: the sentence that answers, or the quantity in it.
//!
//! 1. Sentences that share words with the question are candidates, the rarest words first, at most [`MOST_READ`].
//! 2. The sentence classifier says how probably each answers; without it, or its encoder, the share of the question's words
//!    counts.
//! 3. Below the threshold the cell is absent. A question for a quantity gets the first one of the sentence, any other the
//!    sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use scholar_core::text::words::content_stems;
use scholar_core::{EmbeddedText, Encoder, PortError, SentenceClassifier, SentenceInContext, Side};

use super::cell::Cell;
use super::sheet::Line;
use crate::modes::evidence::pattern::pattern;

/// The small models that may help; all are optional.
#[derive(Clone, Default)]
pub struct CellModels {
    /// Reads sentences and questions.
    pub encoder: Option<Arc<dyn Encoder>>,
    /// Tells which sentences answer a question, from the encoder's vectors.
    pub classifier: Option<Arc<dyn SentenceClassifier>>,
}

/// Sentences that models read for one question. Ours: reading all of a full text takes seconds.
const MOST_READ: usize = 40;
/// Probability of the classifier from which a sentence answers. Ours.
const ANSWERS: f32 = 0.4;
/// Share of the question's words, weighted by rarity, from which a sentence answers where no model reads it. Ours.
const SHARES: f32 = 0.6;

static ASKS_QUANTITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:how (?:many|much|long|old|often|large|big)|(?:what|which) (?:\w+ ){0,3}(?:dose|dosage|amount|number|percentage|proportion|rate|age|duration|size|concentration|score|year|cost|price)|^(?:dose|number|duration|age|size|percentage|proportion|rate|year)\b)",
    )
});

static QUANTITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:[<>≤≥±~]\s*)?\b\d[\d,]*(?:\.\d+)?(?:\s?(?:–|-|to|±)\s?\d[\d,]*(?:\.\d+)?)?(?:\s?(?:%|‰|[µμ]g|mg|kg|g|ml|mL|l|IU|U|mmol|mol|mm|cm|m|km|Hz|kHz|days?|weeks?|months?|years?|hours?|minutes?|min|h|points?|patients|participants|subjects|women|men|children|adults|sentences|words|tokens|examples|USD|dollars)\b(?:/(?:kg|day|d|ml|l|L|h|m2|week))*|\s?%)?",
    )
});

/// The answer that `lines` have to `question`; `None` is absent.
///
/// # Errors
/// When a model fails.
pub(super) fn answer(
    question: &str,
    lines: &[Line<'_>],
    models: &CellModels,
) -> Result<Option<Cell>, PortError> {
    let ranked = by_words(question, lines);
    let read: Vec<(&Line<'_>, f32)> = ranked.into_iter().take(MOST_READ).collect();
    let judged = match (&models.encoder, &models.classifier) {
        (Some(encoder), Some(classifier)) if !read.is_empty() => {
            let lines: Vec<&Line<'_>> = read.iter().map(|(line, _)| *line).collect();
            Some(answers(question, &lines, encoder.as_ref(), classifier.as_ref())?)
        }
        _ => None,
    };
    let asks_quantity = ASKS_QUANTITY.is_match(question);
    let mut best: Option<(f32, &Line<'_>)> = None;
    for (at, (line, share)) in read.iter().enumerate() {
        let (score, least) = match &judged {
            Some(judged) => (judged[at], ANSWERS),
            None => (*share, SHARES),
        };
        let has_quantity = !asks_quantity || quantity(line.text()).is_some();
        if score >= least && has_quantity && best.is_none_or(|(known, _)| score > known) {
            best = Some((score, line));
        }
    }
    Ok(best.and_then(|(score, line)| {
        let inner = if asks_quantity { quantity(line.text()) } else { None };
        let inner = inner.unwrap_or(0..line.text().len());
        let span = line.range.start + inner.start..line.range.start + inner.end;
        Cell::at(line.passage, span, line.range.clone(), score.clamp(0.0, 1.0))
    }))
}

/// The first quantity with a unit, else the first number.
fn quantity(sentence: &str) -> Option<Range<usize>> {
    let all: Vec<Range<usize>> = QUANTITY.find_iter(sentence).map(|found| found.range()).collect();
    let with_unit = all
        .iter()
        .find(|range| sentence[(*range).clone()].chars().any(|c| c.is_alphabetic() || c == '%'));
    with_unit.or(all.first()).cloned()
}

/// Lines that share a stem with the question, with the share of its stems that they have, weighted by rarity in the paper;
/// most first, ties by place.
fn by_words<'a, 'b>(question: &str, lines: &'b [Line<'a>]) -> Vec<(&'b Line<'a>, f32)> {
    let asked: BTreeSet<String> = content_stems(question).into_iter().collect();
    let own: Vec<BTreeSet<String>> =
        lines.iter().map(|line| content_stems(line.text()).into_iter().collect()).collect();
    let mut weights: BTreeMap<&str, f32> = BTreeMap::new();
    for stem in &asked {
        let count = own.iter().filter(|stems| stems.contains(stem)).count();
        weights.insert(stem, rarity(lines.len(), count));
    }
    let total: f32 = weights.values().sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let mut ranked: Vec<(&Line<'_>, f32)> = lines
        .iter()
        .zip(&own)
        .filter_map(|(line, stems)| {
            let shared: f32 = weights
                .iter()
                .filter(|(stem, _)| stems.contains(**stem))
                .map(|(_, weight)| weight)
                .sum();
            (shared > 0.0).then_some((line, shared / total))
        })
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.nth.cmp(&b.0.nth)));
    ranked
}

#[expect(clippy::cast_precision_loss, reason = "counts of sentences")]
fn rarity(lines: usize, count: usize) -> f32 {
    ((1.0 + lines as f32) / (0.5 + count as f32)).ln().max(0.1)
}

/// How probably each of `lines` answers `question`, in `[0, 1]`.
pub(super) fn answers(
    question: &str,
    lines: &[&Line<'_>],
    encoder: &dyn Encoder,
    classifier: &dyn SentenceClassifier,
) -> Result<Vec<f32>, PortError> {
    let asked = encoder.encode(Side::Query, &[question])?.unit_rows();
    let title = lines.first().map_or("", |line| line.passage.title.as_str());
    let texts: Vec<&str> = lines.iter().map(|line| line.text()).chain([title]).collect();
    let rows = encoder.encode(Side::Passage, &texts)?.unit_rows();
    let (Some(asked), Some(titled)) = (asked.first(), rows.get(lines.len())) else {
        return Ok(vec![0.0; lines.len()]);
    };
    let sentences: Vec<SentenceInContext<'_>> = lines
        .iter()
        .zip(&rows)
        .map(|(line, row)| SentenceInContext {
            sentence: EmbeddedText { text: line.text(), vector: row },
            before: None,
            after: None,
            title: (!title.is_empty()).then_some(EmbeddedText { text: title, vector: titled }),
            kind: line.passage.kind,
            section: &line.passage.section,
            nth: line.nth_in_passage,
            of: line.of_passage,
        })
        .collect();
    let scores = classifier.classify(EmbeddedText { text: question, vector: asked }, &sentences)?;
    Ok(scores.into_iter().map(|score| score.answers).collect())
}

#[cfg(test)]
mod tests {
    use super::super::sheet::lines;
    use super::super::sheet::tests::passage;
    use super::*;

    #[test]
    fn a_question_gets_the_quantity_or_the_sentence_or_nothing() {
        let passages = [passage(
            0,
            "Methods",
            "Participants were seen weekly. The aspirin dose was 100 mg/day in both groups. Blinding was kept by a pharmacist.",
        )];
        let lines = lines(&passages);
        let ask = |question: &str| {
            answer(question, &lines, &CellModels::default())
                .expect("no model fails")
                .map(|cell| cell.text)
        };
        assert_eq!(ask("Which dose of aspirin was given?").as_deref(), Some("100 mg/day"));
        assert_eq!(
            ask("Who kept the blinding?").as_deref(),
            Some("Blinding was kept by a pharmacist.")
        );
        assert_eq!(ask("Which camel won the race?"), None);
    }
}
