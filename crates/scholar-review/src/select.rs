//! Which passages of a paper are read: those of its methods and results.

use scholar_core::{PassageKind, Retrieved};

/// What a section is about, by its heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What was done and with what.
    Method,
    /// What came out.
    Result,
}

/// Words of headings of sections on methods and materials. Source: released code, with British spellings.
const METHOD: &[&str] = &[
    "method",
    "methodology",
    "task",
    "baseline",
    "approach",
    "procedure",
    "protocol",
    "technique",
    "design",
    "framework",
    "implementation",
    "algorithm",
    "process",
    "workflow",
    "strategy",
    "preparation",
    "synthesis",
    "fabrication",
    "construction",
    "setup",
    "apparatus",
    "equipment",
    "instrumentation",
    "system",
    "configuration",
    "experimental",
    "experiment",
    "sample",
    "specimen",
    "material",
    "device",
    "platform",
    "facility",
    "laboratory",
    "condition",
    "parameter",
];
/// Words of headings of sections on outcomes. Source: as [`METHOD`].
const RESULT: &[&str] = &[
    "result",
    "results",
    "finding",
    "findings",
    "outcome",
    "observation",
    "data",
    "measurement",
    "performance",
    "evaluation",
    "validation",
    "testing",
    "characterization",
    "characterisation",
    "analysis",
    "assessment",
    "output",
    "response",
    "behavior",
    "behaviour",
    "effect",
    "impact",
];
/// Terms that are a part of too many other words: they count as a whole word or its plural only.
const WHOLE: &[&str] = &["data", "task", "system", "effect", "process", "output", "response"];
/// Headings of sections that say nothing of what the paper itself did.
const OTHERS: &[&str] = &[
    "introduction",
    "related work",
    "background",
    "literature review",
    "prior work",
    "previous work",
    "references",
    "bibliography",
    "acknowledg",
    "funding",
    "conflict of interest",
    "author contributions",
];

/// What a section with this heading is about; results where words of both stand in it, as in `Experimental results`.
pub(crate) fn part_of(heading: &str) -> Option<Part> {
    let heading = heading.to_lowercase();
    let words: Vec<&str> = heading.split(|c: char| !c.is_alphanumeric()).collect();
    let has = |terms: &[&str]| {
        terms.iter().any(|term| {
            if WHOLE.contains(term) {
                words.iter().any(|word| {
                    word == term
                        || word.strip_suffix("es") == Some(term)
                        || word.strip_suffix('s') == Some(term)
                })
            } else {
                heading.contains(term)
            }
        })
    };
    if has(RESULT) {
        Some(Part::Result)
    } else if has(METHOD) || heading.contains("strategies") {
        Some(Part::Method)
    } else {
        None
    }
}

/// Whether a heading begins with a number, Arabic or Roman.
pub(crate) fn is_numbered(heading: &str) -> bool {
    let first = heading.split_whitespace().next().unwrap_or_default();
    let first = first.trim_start_matches('§').trim_end_matches(['.', ')', ':']);
    let arabic = first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || c == '.');
    let roman = !first.is_empty() && first.chars().all(|c| "IVX".contains(c));
    arabic || (roman && heading.split_whitespace().count() > 1)
}

/// Places in `passages`, which are of one paper and best first, of at most `most` that are read, in the paper's order.
///
/// Half of them are of sections on methods and half on results, as far as there are; numbered sections come before others, and a
/// paper with neither gives all its body but introduction, related work and the like.
pub(crate) fn chosen(passages: &[Retrieved], most: usize, numbered_only: bool) -> Vec<usize> {
    let body: Vec<usize> =
        (0..passages.len()).filter(|at| passages[*at].passage.kind == PassageKind::Body).collect();
    let heading = |at: &usize| passages[*at].passage.section.as_str();
    let matched: Vec<usize> =
        body.iter().copied().filter(|at| part_of(heading(at)).is_some()).collect();
    let numbered: Vec<usize> =
        matched.iter().copied().filter(|at| is_numbered(heading(at))).collect();
    let from = if !numbered.is_empty() || numbered_only {
        numbered
    } else if !matched.is_empty() {
        matched
    } else {
        let other = |at: &usize| {
            let heading = heading(at).to_lowercase();
            OTHERS.iter().any(|word| heading.contains(word))
        };
        body.into_iter().filter(|at| !other(at)).collect()
    };
    let half =
        |part: Part| from.iter().copied().filter(move |at| part_of(heading(at)) == Some(part));
    let each = most.div_ceil(2);
    let mut chosen: Vec<usize> = half(Part::Method).take(each).collect();
    chosen.extend(half(Part::Result).take(each));
    let rest: Vec<usize> = from.iter().copied().filter(|at| !chosen.contains(at)).collect();
    chosen.extend(rest);
    chosen.truncate(most);
    chosen.sort_by_key(|at| passages[*at].passage.id.ordinal);
    chosen
}

#[cfg(test)]
mod tests;
