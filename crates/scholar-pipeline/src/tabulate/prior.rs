//! Scores of properties without weights: the worth of the rule, and what little is known beside it.

use std::sync::LazyLock;

use regex::Regex;

use super::column::Property;
use super::rules::Candidate;
use super::sheet::Line;
use crate::modes::evidence::pattern::pattern;

/// Says who they are, beyond that they are people.
static DESCRIBED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:with|aged|undergoing|who|suffering|having|between|admitted|healthy|from)\b")
});

/// A sentence that announces limitations and names none.
static ANNOUNCES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b(?:several|some|a number of|a few|certain|potential|two|three|four|the following|many|important) (?:\w+ ){0,2}(?:limitations|shortcomings|weaknesses)\b|\blimitations (?:of|to|in) (?:this|our|the) (?:\w+ )?(?:study|trial|work|research|analysis)\b.{0,60}(?:discussed|considered|mentioned|noted|acknowledged|addressed|recogni[sz]ed))",
    )
});

/// The score in `[0, 1]`.
pub(super) fn score(candidate: &Candidate, text: &str, features: &[(String, f32)]) -> f32 {
    let of = |name: &str| features.iter().find(|(known, _)| known == name).map_or(0.0, |one| one.1);
    let worth = candidate.score;
    let score = match candidate.property {
        Property::Effect => 0.6 * worth + 0.25 * of("of title") + 0.25 * of("abstract"),
        Property::Population => {
            let described = if DESCRIBED.is_match(text) { 0.1 } else { 0.0 };
            0.8 * worth + described + 0.1 * of("in title")
        }
        Property::SampleSize => 0.9 * worth + 0.1 * of("abstract"),
        Property::Design => {
            // The fuller statement of two.
            let words = (of("4 words") + of("7 words") + of("11 words")).min(1.0);
            0.9 * worth + 0.05 * words + 0.05 * of("abstract")
        }
        _ => worth,
    };
    score.clamp(0.0, 1.0)
}

/// The candidate; where its sentence only announces, that of the next sentence of the passage.
pub(super) fn moved(candidate: Candidate, lines: &[Line<'_>]) -> Candidate {
    let line = &lines[candidate.line];
    if candidate.property != Property::Limitation || !ANNOUNCES.is_match(line.text()) {
        return candidate;
    }
    let next = lines.get(candidate.line + 1).filter(|next| next.passage.id == line.passage.id);
    match next {
        Some(next) => Candidate { line: candidate.line + 1, span: next.range.clone(), ..candidate },
        None => candidate,
    }
}
