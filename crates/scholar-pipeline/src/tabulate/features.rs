//! What is known of a candidate beside its rule: where it stands, how it reads, what the title and the rest of the paper say.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::content_stems;

use super::rules::Candidate;
use super::sheet::Line;
use crate::modes::evidence::pattern::pattern;

static CONTROL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:placebo|controls?|usual|standard|conventional|routine|sham|no|without|alone|vehicle|saline|untreated|wait(?:ing)?[- ]list|baseline)\b",
    )
});
static PEOPLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:patients?|participants?|subjects?|adults?|women|men|children|infants?|individuals?|volunteers?|students?|people|persons|males|females|groups?|arms?|study|studies|trials?|results?|data|analys[ie]s|effects?|differences?)\b",
    )
});
static DOSE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b\d[\d.,]*\s?(?:[µμ]g|mcg|mg|g|ml|IU|U|mmol|%|Hz|W|Gy|J)\b"));
static MEASURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:rate|rates|score|scores|level|levels|pressure|volume|time|duration|mortality|survival|incidence|prevalence|concentrations?|quality|pain|risk|weight|index|response|function|density|percentage|proportion|number|frequency|adherence|cost|cure|failure|symptoms?|severity|events?|intake|glucose|cholesterol|performance)\b",
    )
});

static VERB: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:is|are|was|were|be|been|has|have|had|did|received|showed|found|reported|observed|assessed|measured|compared|whether|we|our|they|it|this|that|these)\b",
    )
});

/// What all candidates of a paper are compared with.
pub struct Surroundings {
    title: BTreeSet<String>,
    lines: Vec<(bool, BTreeSet<String>)>,
}

impl Surroundings {
    /// Of the paper that `lines` are of.
    pub fn of(lines: &[Line<'_>]) -> Self {
        let title = lines.first().map(|line| stems(&line.passage.title)).unwrap_or_default();
        let lines = lines.iter().map(|line| (line.in_abstract, stems(line.text()))).collect();
        Self { title, lines }
    }

    /// Named values of `candidate`, whose words are `text`, that stands in `line`. Most are 0 or 1, shares lie in `[0, 1]`.
    ///
    /// `repeated` is how many other candidates of the property have the same stems.
    pub fn features(
        &self,
        candidate: &Candidate,
        line: &Line<'_>,
        text: &str,
        repeated: usize,
    ) -> Vec<(String, f32)> {
        let own = stems(text);
        let words = text.split_whitespace().count();
        let in_abstract = self.share_of_lines(&own, true);
        let in_body = self.share_of_lines(&own, false);
        let length = match words {
            0 | 1 => "1 word",
            2 | 3 => "2 words",
            4..=6 => "4 words",
            7..=10 => "7 words",
            _ => "11 words",
        };
        let from = if candidate.from_title { "title rule" } else { "rule" };
        let place = if line.in_abstract { "in the abstract" } else { "in the body" };
        let yes = |holds: bool| if holds { 1.0 } else { 0.0 };
        let first = text.chars().next();
        vec![
            (format!("{from} {}", candidate.rule), 1.0),
            (format!("zone {:?}", line.zone), 1.0),
            (format!("{from} {} {place}", candidate.rule), 1.0),
            (length.to_owned(), 1.0),
            ("worth".to_owned(), candidate.score),
            ("in title".to_owned(), share(&own, &self.title)),
            ("of title".to_owned(), share(&self.title, &own)),
            ("repeated".to_owned(), count(repeated).ln_1p()),
            ("in abstract".to_owned(), in_abstract),
            ("in body".to_owned(), in_body),
            ("abstract".to_owned(), yes(line.in_abstract)),
            ("control".to_owned(), yes(CONTROL.is_match(text))),
            ("placebo".to_owned(), yes(text.to_lowercase().contains("placebo"))),
            ("people".to_owned(), yes(PEOPLE.is_match(text))),
            ("dose".to_owned(), yes(DOSE.is_match(text))),
            ("measure".to_owned(), yes(MEASURE.is_match(text))),
            ("abbreviated".to_owned(), yes(text.ends_with(')'))),
            ("digits".to_owned(), yes(text.contains(|c: char| c.is_ascii_digit()))),
            ("number first".to_owned(), yes(first.is_some_and(|c| c.is_ascii_digit()))),
            ("comma".to_owned(), yes(text.contains(','))),
            ("and".to_owned(), yes(text.contains(" and ") || text.contains(" or "))),
            ("no content".to_owned(), yes(own.is_empty())),
            ("relative position".to_owned(), count(line.nth) / count(self.lines.len().max(1))),
            ("early".to_owned(), yes(line.nth < 4)),
            ("capital".to_owned(), yes(first.is_some_and(char::is_uppercase))),
            ("verb".to_owned(), yes(VERB.is_match(text))),
        ]
    }

    /// Logarithm of one and the number of lines, of the abstract or the body, that have all of `own`.
    fn share_of_lines(&self, own: &BTreeSet<String>, in_abstract: bool) -> f32 {
        if own.is_empty() {
            return 0.0;
        }
        let lines = self.lines.iter().filter(|(inside, _)| *inside == in_abstract);
        count(lines.filter(|(_, stems)| own.is_subset(stems)).count()).ln_1p()
    }
}

/// Different stems of the words that are no stop words.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    content_stems(text).into_iter().collect()
}

/// Share of `own` that `of` has, in `[0, 1]`; 0 of nothing.
pub(super) fn share(own: &BTreeSet<String>, of: &BTreeSet<String>) -> f32 {
    if own.is_empty() {
        return 0.0;
    }
    count(own.intersection(of).count()) / count(own.len())
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and sentences")]
fn count(n: usize) -> f32 {
    n as f32
}
