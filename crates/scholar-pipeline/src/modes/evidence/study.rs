//! What a paper says of its study: design and size, in its own words, to stand in front of its findings.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::place::places_within;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{CharSpan, Citation, Passage, Quote, StudyDetail};

use super::pattern::pattern;

/// Longest design, in characters.
const LONGEST: usize = 90;

/// A study design in words.
pub(crate) const DESIGN_WORDS: &str = r"(?i)\b(?:(?:(?:double|single|triple|observer|assessor|investigator|evaluator)[- ](?:blind(?:ed)?|mask(?:ed)?)|(?:cluster|block|individually|non)?[- ]?randomi[sz]ed|un?controlled|controlled|placebo[- ]controlled|prospective|retrospective|open(?:[- ]label)?|pilot|feasibility|multi-?cent(?:er|re)|single[- ]cent(?:er|re)|parallel(?:[- ](?:group|arm))?|two-arm|three-arm|cross-?over|pragmatic|factorial|phase (?:[1-4]|I{1,3}V?)[ab]?|comparative|interventional|observational|longitudinal|population[- ]based|matched|community[- ]based)(?:, | and |, and | |-))*(?:clinical trial|controlled trial|trial|systematic review(?: and meta-analysis)?|meta-analysis|cohort study|case[- ]control study|cross-sectional (?:study|survey)|crossover study|pilot study|(?:randomi[sz]ed|controlled|observational|qualitative|longitudinal|intervention|feasibility) study)\b";

static DESIGN: LazyLock<Regex> = LazyLock::new(|| pattern(DESIGN_WORDS));

/// A number of people or of other units of a study.
pub(crate) const SIZE_WORDS: &str = r"(?i)\b(?:\d{1,3}(?:[,  ]\d{3})+|\d{2,}) (?:[\w-]+ ){0,4}?(?:patients|participants|subjects|adults|women|men|children|infants|neonates|newborns|adolescents|students|individuals|people|persons|volunteers|smokers|households|villages|schools|practices|pregnancies|couples|workers|veterans|residents|athletes|boys|girls|mothers|families|eyes|teeth|knees|cases)\b";

/// [`SIZE_WORDS`] and who else is counted: `7,216 men and women`.
static SIZE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"{SIZE_WORDS}(?: and (?:men|women|boys|girls|children|adolescents|controls)\b)?"
    ))
});

/// Words by which a paper says that those counted took part in it.
pub(crate) static TOOK_PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:randomi[sz]ed|randomly|enrolled|recruited|included|participated|assigned|allocated|completed|analy[sz]ed|studied|received|were (?:divided|treated|followed))\b",
    )
});

/// Words behind which a design is that of others, or a wish.
pub(crate) static OF_OTHERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:previous|prior|earlier|other|further|future|larger?|several|many|recent|needed|lack of|no|few|two|three|all|these|most|some)\s+(?:[\w-]+ ){0,2}$",
    )
});

/// Design and size as the paper's abstract states them; `citation` is the paper's number in the answer. Empty where it states
/// none.
pub(crate) fn study(abstracts: &Passage, citation: Citation) -> Vec<StudyDetail> {
    let text = abstracts.text.as_str();
    let designs = DESIGN.find_iter(text).filter(|found| {
        found.as_str().len() <= LONGEST
            && !OF_OTHERS.is_match(&text[..found.start()])
            && !found.as_str().eq_ignore_ascii_case("trial")
    });
    let design = designs.map(|found| found.range()).max_by_key(|range| {
        // The fullest statement, the first of equals.
        (range.len(), std::cmp::Reverse(range.start))
    });
    let size = SIZE.find_iter(text).find(|found| {
        let from = text[..found.start()].rfind(". ").map_or(0, |at| at + 2);
        let to = text[found.end()..].find(". ").map_or(text.len(), |at| found.end() + at);
        TOOK_PART.is_match(&text[from..to])
    });
    let size = size.filter(|_| design.is_some()).map(|found| found.range());
    let detail = |range: std::ops::Range<usize>| {
        let span = CharSpan::of_bytes(text, range.start, range.end);
        let quote = located(abstracts, span, text[range].to_owned(), citation);
        StudyDetail { text: single_spaced(&quote.text), quote }
    };
    design.into_iter().chain(size).map(detail).collect()
}

/// The characters `span` of `passage`, which are `text`, as a quotation from reference `number`.
pub(crate) fn located(passage: &Passage, span: CharSpan, text: String, number: Citation) -> Quote {
    Quote {
        reference: number,
        passage_id: passage.id.clone(),
        start: span.start,
        end: span.end,
        text,
        places: places_within(&passage.places, span.start, span.end),
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, PassageId, PassageKind};

    use super::*;

    fn of(text: &str) -> Vec<String> {
        let passage = Passage {
            id: PassageId { paper: PaperId::Pmid(1), ordinal: 0 },
            title: String::new(),
            section: String::new(),
            kind: PassageKind::Abstract,
            span: CharSpan::new(0, text.chars().count()),
            text: text.to_owned(),
            places: Vec::new(),
        };
        let found = study(&passage, Citation(1));
        for detail in &found {
            let span = CharSpan::new(detail.quote.start, detail.quote.end);
            assert_eq!(span.slice(text), Some(detail.quote.text.as_str()));
        }
        found.into_iter().map(|detail| detail.text).collect()
    }

    #[test]
    fn design_and_size_are_the_papers_own_words() {
        assert_eq!(
            of(
                "Background: Falls are common. Methods: A randomized, double-blind, placebo-controlled trial. \
                We randomly assigned 340 older adults to vitamin D or placebo."
            ),
            ["randomized, double-blind, placebo-controlled trial", "340 older adults"]
        );
        assert_eq!(
            of("In 41 patients with asthma, larger randomised controlled trials are needed."),
            Vec::<String>::new()
        );
        assert_eq!(
            of(
                "In this randomized trial, 7,216 men and women were studied. Between 2003 and June 2005, 316 eligible patients \
                were included in a second one."
            ),
            ["randomized trial", "7,216 men and women"]
        );
        assert_eq!(
            of("A randomized trial. Until June 2005, 316 eligible patients were included."),
            ["randomized trial", "316 eligible patients"],
            "a year is no part of the number"
        );
        assert!(of("We propose a new encoder.").is_empty());
    }
}
