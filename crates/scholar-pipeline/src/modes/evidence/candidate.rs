//! Sentences of the evidence that may be shown, each with its exact place.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::{capitalised, single_spaced};
use scholar_core::text::sentences::sentences;
use scholar_core::{CharSpan, Passage, PassageKind};

use super::config::SentenceRules;
use super::filter::{self, Reject};
use super::informative::{Label, Place, informativeness};
use super::pattern::pattern;
use super::question::Reading;
use super::terms::stem_set;

/// A sentence that may be shown.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Index of its passage in the evidence.
    pub(crate) passage: usize,
    /// Its characters in the passage's text.
    pub(crate) span: CharSpan,
    /// The exact characters.
    pub(crate) quote: String,
    /// The quote without the source's own citation markers, single-spaced.
    pub(crate) text: String,
    /// Its folded stems.
    pub(crate) stems: BTreeSet<String>,
    /// How much it says, in `[0, 1]`.
    pub(crate) informative: f32,
    /// The source itself cites others for it.
    pub(crate) cites: bool,
    /// Where it stands, for a classifier.
    pub(crate) context: Context,
}

/// The neighbourhood of a sentence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    /// The sentence before it in its passage, single-spaced.
    pub(crate) before: Option<String>,
    /// The one after it.
    pub(crate) after: Option<String>,
    /// Heading of its section, or the label in front of it in a structured abstract.
    pub(crate) section: String,
    /// Its number among the sentences of the passage, from 0.
    pub(crate) nth: usize,
    /// Number of sentences of the passage.
    pub(crate) of: usize,
    /// Whether the passage is the paper's abstract.
    pub(crate) in_abstract: bool,
}

/// The candidates of `passage`, which is number `at` of the evidence. `opens` says that its text does not begin inside a
/// sentence.
pub(crate) fn candidates(
    passage: &Passage,
    at: usize,
    opens: bool,
    rules: &SentenceRules,
    reading: &Reading,
) -> Vec<Candidate> {
    if !passage.kind.is_prose() || is_back_matter(&passage.section) {
        return Vec::new();
    }
    let text = passage.text.as_str();
    let cased = has_capitals(text);
    let ranges = sentences(text);
    let mut label = Label::of_heading(&passage.section);
    let mut section = passage.section.clone();
    let mut found: Vec<Candidate> = Vec::new();
    // The sentence before, if it can explain this one: whole, and not itself in need of explanation.
    let mut explains: Option<Range<usize>> = None;
    for (nth, whole) in ranges.iter().enumerate() {
        let range = match Label::at_start(&text[whole.clone()]) {
            Some((named, skip)) => {
                label = named;
                let words = &text[whole.start..whole.start + skip];
                section = words.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
                whole.start + skip..whole.end
            }
            None => whole.start + enumerator(&text[whole.clone()])..whole.end,
        };
        let before = explains.take();
        if nth == 0 && !opens {
            continue;
        }
        let lead = lead(&text[range.clone()]);
        let led = range.start + lead.end..range.end;
        let sentence = if lead.end > 0 || !cased {
            capitalised(&text[led.clone()])
        } else {
            text[range.clone()].to_owned()
        };
        let place = Place {
            label,
            in_abstract: passage.kind == PassageKind::Abstract,
            position: nth as f32 / ranges.len().max(2) as f32,
            leans: lead.leans,
        };
        let range = match filter::reject(&sentence, rules, reading) {
            None => {
                explains = Some(led.clone());
                let named = before.filter(|_| speaks_of_own_method(&sentence));
                let named = named.filter(|before| introduces(&text[before.clone()]));
                named.and_then(|before| join(text, &before, &range, rules)).unwrap_or(led)
            }
            Some(Reject::Anaphora) => {
                let Some(joined) = before.and_then(|before| join(text, &before, &range, rules))
                else {
                    continue;
                };
                joined
            }
            // `We propose a two-stage approach.` says nothing alone, but what `First, it …` is about.
            Some(Reject::Length) if introduces(&sentence) => {
                explains = Some(led);
                continue;
            }
            Some(_) => continue,
        };
        let neighbour = |other: Option<usize>| {
            let range = ranges.get(other?)?;
            Some(single_spaced(&strip_foreign_markers(&text[range.clone()])))
        };
        let context = Context {
            before: neighbour(nth.checked_sub(1)),
            after: neighbour(Some(nth + 1)),
            section: section.clone(),
            nth,
            of: ranges.len(),
            in_abstract: passage.kind == PassageKind::Abstract,
        };
        let sentence = candidate(text, range, at, place, reading);
        found.push(Candidate { context, ..sentence });
    }
    found
}

fn candidate(
    text: &str,
    range: Range<usize>,
    passage: usize,
    place: Place,
    reading: &Reading,
) -> Candidate {
    let quote = text[range.clone()].to_owned();
    let shown = single_spaced(&strip_foreign_markers(&quote));
    // Small only where a lead was left out, and where a name such as `mRNA` begins the sentence.
    let shown = if filter::begins_sentence(&shown) { shown } else { capitalised(&shown) };
    let cites = shown.len() < single_spaced(&quote).len();
    Candidate {
        passage,
        span: CharSpan::of_bytes(text, range.start, range.end),
        stems: stem_set(&shown),
        informative: informativeness(&shown, place, cites, reading),
        text: shown,
        quote,
        cites,
        context: Context::default(),
    }
}

/// Texts stored in small letters alone, as some collections are, do not show where a sentence begins.
pub(crate) fn has_capitals(text: &str) -> bool {
    text.chars().any(char::is_uppercase)
}

/// Bytes of `3)` or `(ii)` at the start of a sentence.
fn enumerator(sentence: &str) -> usize {
    static MARK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])\)\s+"));
    MARK.find(sentence).map_or(0, |mark| mark.end())
}

/// What stands before a sentence's own words.
struct Lead {
    /// Bytes up to them.
    end: usize,
    /// Whether it ties the sentence to the one before.
    leans: bool,
}

/// `Moreover, `, `To address this issue, ` before `we`, `In this paper, ` before `we`: they lean on what is not shown.
fn lead(sentence: &str) -> Lead {
    static TIE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?i:moreover|furthermore|in addition|additionally|besides|also|finally|lastly|further|specifically|specially|in particular|notably|importantly|interestingly|however|nevertheless|thus|therefore|hence|consequently|as a result|accordingly),\s+",
        )
    });
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^(?i:in conclusion|in summary|to conclude|to sum up|overall|in short),\s+")
    });
    static PURPOSE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?i:in this (?:paper|work|study|article)|here|(?:to (?:this|that) end|to (?:address|tackle|overcome|mitigate|alleviate|solve|resolve|remedy|bridge|fill|cope with|deal with|combat) (?:this|these|those|that|the|such|it|them)\b[^,.;]{0,60}|to \w+ (?:this|these|those|that|such|it|them)\b[^,.;]{0,60}|motivated by (?:this|these)[^,.;]{0,40}|based on (?:this|these|our)[^,.;]{0,40}|inspired by (?:this|these)[^,.;]{0,40}|towards? this (?:end|goal))),\s*(we\s)",
        )
    });
    let tie = TIE.find(sentence).map_or(0, |found| found.end());
    let rest = &sentence[tie..];
    let frame = PURPOSE
        .captures(rest)
        .and_then(|found| found.get(1))
        .map(|we| we.start())
        .or_else(|| FRAME.find(rest).map(|found| found.end()))
        .unwrap_or(0);
    Lead { end: tie + frame, leans: tie > 0 }
}

/// `Our method …`: says little without the sentence that introduces the method.
fn speaks_of_own_method(sentence: &str) -> bool {
    static OWN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:our (?:\w+ )?|the proposed )(?:method|approach|model|framework|system|technique|strategy|algorithm)s?\b",
        )
    });
    OWN.is_match(sentence)
}

fn introduces(sentence: &str) -> bool {
    static INTRODUCES: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:we|this (?:paper|work)) (?:\w+ )?(?:propose|introduce|present|develop)s?\b",
        )
    });
    INTRODUCES.is_match(sentence)
}

/// Both sentences as one stretch, if that is not too long.
fn join(
    text: &str,
    before: &Range<usize>,
    range: &Range<usize>,
    rules: &SentenceRules,
) -> Option<Range<usize>> {
    let joined = before.start..range.end;
    let n_words = text[joined.clone()].split_whitespace().count();
    (n_words <= rules.max_joined_words).then_some(joined)
}

fn is_back_matter(section: &str) -> bool {
    static BACK: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)acknowledg|reference|bibliograph|funding|competing|conflict|contribution|abbreviation|supplement|appendix|pre-publication|availability|ethic|consent|disclosure",
        )
    });
    BACK.is_match(section)
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, PassageId};

    use super::*;
    use crate::modes::evidence::config::EvidenceConfig;
    use crate::modes::evidence::terms::Abbreviations;

    fn of(text: &str, opens: bool) -> Vec<(String, String)> {
        of_kind(PassageKind::Body, text, opens)
    }

    fn of_kind(kind: PassageKind, text: &str, opens: bool) -> Vec<(String, String)> {
        let passage = Passage {
            id: PassageId { paper: PaperId::Pmid(1), ordinal: 0 },
            title: "T".to_owned(),
            section: "Results".to_owned(),
            kind,
            span: CharSpan::new(0, text.chars().count()),
            text: text.to_owned(),
            places: Vec::new(),
        };
        let reading = Reading::of("Does exercise help?", &Abbreviations::default());
        let rules = EvidenceConfig::digest().sentences;
        let found = candidates(&passage, 0, opens, &rules, &reading);
        for candidate in &found {
            assert_eq!(candidate.span.slice(text), Some(candidate.quote.as_str()));
        }
        found.into_iter().map(|candidate| (candidate.text, candidate.quote)).collect()
    }

    #[test]
    fn only_prose_is_quoted() {
        let caption =
            "Supervised exercise improved the walking distance of patients by fifty metres.";
        for kind in PassageKind::ALL {
            assert_eq!(of_kind(kind, caption, true).is_empty(), !kind.is_prose(), "{kind:?}");
        }
        let spliced = of(
            "Supervised exercise improved the walking distance of the patients by fifty metres. \
             The groups did not differ in their age Figure 2: Walking distance of the groups over time.",
            true,
        );
        assert_eq!(spliced.len(), 1, "{spliced:?}");
    }

    #[test]
    fn fragments_at_the_edges_go_and_markers_are_hidden_not_cut() {
        let text = "Training of the legs alone was not enough to help anybody much. \
                    Supervised exercise  improved walking distance by 50 m [3, 4] in naïve patients. \
                    Patients who were trained at home did not";
        let found = of(text, false);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].0,
            "Supervised exercise improved walking distance by 50 m in naïve patients."
        );
        assert!(found[0].1.contains("  improved") && found[0].1.contains("[3, 4]"));
        assert_eq!(of(text, true).len(), 2);
    }

    #[test]
    fn a_pointing_sentence_comes_with_the_one_before_or_not_at_all() {
        let found = of(
            "Supervised exercise improved the walking distance of patients by fifty metres. \
             This effect was still significant after twelve months without any supervision.",
            true,
        );
        assert_eq!(found.len(), 2);
        assert!(found[1].0.starts_with("Supervised") && found[1].0.ends_with("supervision."));
        let alone = of("This effect was still significant after twelve months of training.", true);
        assert!(alone.is_empty());
    }

    #[test]
    fn what_leans_on_the_sentence_before_is_left_out_of_the_quote() {
        let found = of(
            "Moreover, supervised exercise improved the walking distance of patients by 50 m. \
             To address these problems of the trials, we propose a programme that patients follow at home. \
             However, this was not enough to help the patients who had been ill for a decade.",
            true,
        );
        assert_eq!(
            found[0].0,
            "Supervised exercise improved the walking distance of patients by 50 m."
        );
        assert!(found[0].1.starts_with("supervised exercise"), "the stored characters");
        assert_eq!(found[1].0, "We propose a programme that patients follow at home.");
        assert!(found.iter().all(|(text, _)| !text.starts_with("This was")), "{found:?}");
        let found =
            of("To handle that, we propose a programme that patients follow at home.", true);
        assert_eq!(found[0].0, "We propose a programme that patients follow at home.");
    }

    #[test]
    fn a_short_sentence_that_introduces_comes_with_the_one_that_explains_it() {
        let found = of(
            "To address this issue, we propose a two-stage approach. \
             First, it finds false negatives by the memory of deep neural networks.",
            true,
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0.starts_with("We propose a two-stage approach. First, it finds"));
    }

    #[test]
    fn texts_without_capitals_have_sentences_too() {
        let text = "experiments show that the slipstream raises the lift of the wing by a tenth . \
                    at small angles of attack the theory agrees with what was measured in the tunnel .";
        let found = of(text, true);
        assert_eq!(found.len(), 2);
        assert!(found[0].0.starts_with("Experiments") && found[0].1.starts_with("experiments"));
    }

    #[test]
    fn labels_of_structured_abstracts_are_not_part_of_the_quote() {
        let found = of("RESULTS: Supervised exercise improved walking distance by 50 m.", true);
        assert_eq!(found[0].1, "Supervised exercise improved walking distance by 50 m.");
    }
}
