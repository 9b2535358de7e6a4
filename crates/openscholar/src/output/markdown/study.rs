//! What stands in front of a quoted finding: who found it, in what kind of study.

use scholar_core::{Answer, AnswerSentence, Reference};

/// `Li et al. (2021), randomised controlled trial, 124 adults:`, in front of the first sentence of a paper in its part;
/// `None` for sentences that are not quoted in a digest.
pub(crate) fn lead(answer: &Answer, sentence: &AnswerSentence) -> Option<String> {
    let cited =
        sentence.citations.first().filter(|_| sentence.verbatim && sentence.role.is_some())?;
    let paper = answer.references.iter().find(|paper| paper.number == *cited)?;
    let details: String = sentence.study.iter().map(|one| format!(", {}", one.text)).collect();
    sentence.paragraph_start.then(|| format!("{}{details}:", named(paper)))
}

/// `Li et al. (2021)`.
pub(super) fn named(paper: &Reference) -> String {
    let family = |name: &String| name.split_whitespace().last().unwrap_or_default().to_owned();
    let who = match paper.authors.as_slice() {
        [] => paper.title.split_whitespace().take(4).collect::<Vec<_>>().join(" "),
        [one] => family(one),
        [one, two] => format!("{} and {}", family(one), family(two)),
        [one, ..] => format!("{} et al.", family(one)),
    };
    let year = paper.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    format!("{who} ({year})")
}
