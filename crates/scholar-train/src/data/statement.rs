//! Statements: a sentence without its ornaments, and the opposite of one.
//!
//! An opposite is a contradiction of whatever supports the sentence, and only made where that is sound: one word of
//! direction is exchanged (`increased` for `decreased`), or the sentence's only verb form of being is negated. Wishes,
//! plans, questions, hedged clauses and what follows `to` are left alone, and so are sentences that negate already.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::random::SplitMix64;
use scholar_core::text::normalise::capitalised;

/// Words that say the opposite of each other, in either order.
#[rustfmt::skip]
const OPPOSITES: &[(&str, &str)] = &[
    ("increased", "decreased"), ("increases", "decreases"), ("higher", "lower"), ("greater", "smaller"),
    ("improved", "worsened"), ("improves", "worsens"), ("reduced", "increased"), ("reduces", "increases"),
    ("reduction", "increase"), ("promotes", "inhibits"), ("promoted", "inhibited"), ("enhances", "impairs"),
    ("enhanced", "impaired"), ("induces", "suppresses"), ("induced", "suppressed"), ("activates", "inhibits"),
    ("upregulated", "downregulated"), ("up-regulated", "down-regulated"), ("upregulates", "downregulates"),
    ("elevated", "reduced"), ("lowers", "raises"), ("positively", "negatively"), ("essential", "dispensable"),
    ("superior", "inferior"), ("longer", "shorter"), ("faster", "slower"), ("gain", "loss"),
    ("accelerates", "slows"), ("activation", "inhibition"), ("sufficient", "insufficient"),
    ("more effective", "less effective"), ("more likely", "less likely"), ("more common", "less common"),
    ("more frequent", "less frequent"), ("more severe", "less severe"), ("safe", "unsafe"),
];

/// Verbs of findings: third person, and the form after `does not`.
#[rustfmt::skip]
const VERBS: &[(&str, &str)] = &[
    ("inhibits", "inhibit"), ("promotes", "promote"), ("induces", "induce"), ("regulates", "regulate"),
    ("mediates", "mediate"), ("reduces", "reduce"), ("increases", "increase"), ("decreases", "decrease"),
    ("improves", "improve"), ("enhances", "enhance"), ("suppresses", "suppress"), ("causes", "cause"),
    ("prevents", "prevent"), ("activates", "activate"), ("controls", "control"), ("protects", "protect"),
    ("predicts", "predict"), ("contributes", "contribute"), ("requires", "require"), ("drives", "drive"),
    ("impairs", "impair"), ("modulates", "modulate"), ("affects", "affect"), ("leads", "lead"),
    ("plays", "play"), ("restores", "restore"), ("blocks", "block"), ("triggers", "trigger"),
    ("correlates", "correlate"), ("delays", "delay"), ("lowers", "lower"), ("influences", "influence"),
    ("stimulates", "stimulate"), ("attenuates", "attenuate"), ("supports", "support"),
    ("maintains", "maintain"), ("limits", "limit"), ("binds", "bind"),
];

/// Verb forms that a following `not` negates, and phrases with their negations.
#[rustfmt::skip]
const NEGATIONS: &[(&str, &str)] = &[
    (" is ", " is not "), (" are ", " are not "), (" was ", " was not "), (" were ", " were not "),
    (" can ", " cannot "), (" has no ", " has an "), (" had no ", " had an "),
    (" no significant ", " a significant "),
];

struct Patterns {
    direction: Regex,
    verb: Regex,
    unsure: Regex,
    clause: Regex,
    negated: Regex,
    opening: Regex,
    aside: Regex,
    number: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| patterns().ok());

fn patterns() -> Result<Patterns, regex::Error> {
    let mut directions: Vec<&str> = OPPOSITES.iter().flat_map(|(a, b)| [*a, *b]).collect();
    directions.sort_unstable_by_key(|word| std::cmp::Reverse(word.len()));
    let verbs: Vec<&str> = VERBS.iter().map(|(verb, _)| *verb).collect();
    Ok(Patterns {
        direction: Regex::new(&format!(r"\b(?:{})\b", directions.join("|")))?,
        verb: Regex::new(&format!(r"\b(?:{})\b", verbs.join("|")))?,
        unsure: Regex::new(
            r"\b(?:should|must|needed|hope|warranted|recommend\w*|will be|would|opportunit\w+|aims?|whether|if|[Ww]e (?:also )?(?:describe|discuss|present|propose|evaluate|introduce|investigate|release|provide|explore|examine))\b",
        )?,
        clause: Regex::new(
            r"\b(?:that|which|who|whom|where|when|those|as|if|not|no|to|whether|may|might|could)\b[^,;]*$",
        )?,
        negated: Regex::new(r"\b(?:not|no|neither|nor|cannot|without)\b")?,
        opening: Regex::new(
            r"(?i)^(?:in conclusion|in summary|conclusions?|thus|therefore|hence|taken together|together|overall|however|moreover|furthermore|(?:these|our) (?:results|findings|data) (?:suggest|show|indicate|demonstrate) that|we (?:conclude|show|found|find|demonstrate|report) that|this study (?:shows|showed|demonstrates|suggests) that|it is concluded that)[\s,:]+",
        )?,
        aside: Regex::new(r"(?i)\s*\([^()]*(?:p\s*[<=>]|ci\b|95|n\s*=|\d)[^()]*\)")?,
        number: Regex::new(
            r"\b\d+(?:\.\d+)?(?:\s?%|\s+(?:patients|years|months|weeks|days|mg|fold|participants|times)\b)",
        )?,
    })
}

/// The sentence as somebody else would state it: without an opening such as `In conclusion,` and without asides of
/// numbers.
pub fn bare(sentence: &str) -> String {
    let Some(patterns) = PATTERNS.as_ref() else { return sentence.to_owned() };
    let text = patterns.aside.replace_all(sentence, "");
    let text = patterns.opening.replace(text.trim_start_matches([' ', ':', ';', ',']), "");
    capitalised(text.trim_matches([' ', ':', ';', ',']))
}

/// Whether a title states a finding: it has a verb of findings, and is no question and no enumeration.
pub fn states_finding(title: &str) -> bool {
    let words = title.split_whitespace().count();
    let Some(patterns) = PATTERNS.as_ref() else { return false };
    (5..=25).contains(&words) && !title.contains(['?', ':']) && patterns.verb.is_match(title)
}

/// A statement that cannot be true where `sentence` is; `None` where no sound one can be made.
pub fn opposite(sentence: &str, random: &mut SplitMix64) -> Option<String> {
    let patterns = PATTERNS.as_ref()?;
    if patterns.unsure.is_match(sentence) || sentence.contains('?') {
        return None;
    }
    let mut directions = exchanged(sentence, patterns);
    directions.extend(denied(sentence, patterns));
    let negations = negated(sentence, patterns);
    // Exchanged words are the harder contradictions; bare negations alone would teach to look for `not`.
    let choices = if negations.is_empty() || (!directions.is_empty() && random.unit() < 0.7) {
        directions
    } else {
        negations
    };
    (!choices.is_empty()).then(|| choices[random.below(choices.len())].clone())
}

fn exchanged(sentence: &str, patterns: &Patterns) -> Vec<String> {
    let mut out = Vec::new();
    for found in patterns.direction.find_iter(sentence) {
        if depends(&sentence[..found.start()], patterns) {
            continue;
        }
        for (a, b) in OPPOSITES {
            let other = if *a == found.as_str() { b } else { a };
            if *a == found.as_str() || *b == found.as_str() {
                out.push(format!(
                    "{}{other}{}",
                    &sentence[..found.start()],
                    &sentence[found.end()..]
                ));
            }
        }
    }
    out
}

fn denied(sentence: &str, patterns: &Patterns) -> Vec<String> {
    let mut out = Vec::new();
    for found in patterns.verb.find_iter(sentence) {
        let before = &sentence[..found.start()];
        let subject = before.split_whitespace().count();
        if subject == 0 || before.trim_end().ends_with(" and") || depends(before, patterns) {
            continue;
        }
        if let Some((_, plain)) = VERBS.iter().find(|(verb, _)| *verb == found.as_str()) {
            out.push(format!("{before}does not {plain}{}", &sentence[found.end()..]));
        }
    }
    out
}

fn negated(sentence: &str, patterns: &Patterns) -> Vec<String> {
    let mut out = Vec::new();
    for (plain, negative) in NEGATIONS {
        for (from, to) in [(plain, negative), (negative, plain)] {
            let mut places = sentence.match_indices(from);
            let (Some((at, _)), None) = (places.next(), places.next()) else { continue };
            let changed = sentence.replacen(from, to, 1);
            let rest = format!("{} {}", &sentence[..at], &sentence[at + from.len()..]);
            if !depends(&sentence[..at], patterns) && !patterns.negated.is_match(&rest) {
                out.push(changed);
            }
        }
    }
    out
}

/// Whether what follows stands in a dependent clause, an infinitive or a negation.
fn depends(before: &str, patterns: &Patterns) -> bool {
    let start = before.char_indices().rev().nth(40).map_or(0, |(at, _)| at);
    patterns.clause.is_match(&before[start..])
}

/// The sentence with one of its counts or shares changed to less than half or more than double.
pub fn other_number(sentence: &str, random: &mut SplitMix64) -> Option<String> {
    let patterns = PATTERNS.as_ref()?;
    let found: Vec<_> = patterns.number.find_iter(sentence).collect();
    let chosen = found.get(random.below(found.len()))?;
    let digits: String =
        chosen.as_str().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let value: f64 = digits.parse().ok()?;
    let factor = if random.unit() < 0.5 { 0.4 } else { 2.5 };
    let is_share = chosen.as_str().ends_with('%');
    let changed = if is_share && value * factor > 100.0 { value * 0.4 } else { value * factor };
    let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
    let changed = format!("{changed:.places$}");
    let rest = &sentence[chosen.start() + digits.len()..];
    (changed != digits).then(|| format!("{}{changed}{rest}", &sentence[..chosen.start()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opposites(sentence: &str) -> Vec<String> {
        let mut all: Vec<String> =
            (0..40).filter_map(|seed| opposite(sentence, &mut SplitMix64::new(seed))).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn direction_is_exchanged_or_denied() {
        assert_eq!(
            opposites("Aspirin reduces the risk of stroke."),
            [
                "Aspirin does not reduce the risk of stroke.",
                "Aspirin increases the risk of stroke."
            ]
        );
        assert_eq!(
            opposites("Mortality was higher in men."),
            ["Mortality was lower in men.", "Mortality was not higher in men."]
        );
        assert_eq!(
            opposites("There was no significant change."),
            ["There was a significant change."]
        );
    }

    #[test]
    fn what_is_not_asserted_has_no_opposite() {
        for sentence in [
            "Further trials should test higher doses.",
            "We propose a faster method.",
            "Does aspirin reduce strokes?",
            "Patients were asked whether pain was lower.",
            "The drug was not effective and was not tolerated.",
        ] {
            assert_eq!(opposites(sentence), Vec::<String>::new(), "{sentence}");
        }
    }

    #[test]
    fn ornaments_are_taken_off() {
        assert_eq!(
            bare("In conclusion, salt raised pressure (p = 0.01, n = 12)."),
            "Salt raised pressure."
        );
        assert_eq!(bare("These results suggest that tea helps (in mice)."), "Tea helps (in mice).");
        assert_eq!(bare(""), "");
    }

    #[test]
    fn numbers_change_by_more_than_half() {
        let mut random = SplitMix64::new(3);
        let changed = other_number("It rose in 40% of cases.", &mut random).expect("a number");
        assert!(
            changed == "It rose in 16% of cases." || changed == "It rose in 100% of cases.",
            "{changed}"
        );
        assert_eq!(other_number("IL-6 rose.", &mut random), None);
    }

    #[test]
    fn titles_of_findings_are_told_from_topics() {
        assert!(states_finding("Aspirin reduces the risk of stroke in men"));
        assert!(!states_finding("The risk of stroke in older men"));
        assert!(!states_finding("Does it help: what reduces the risk of stroke?"));
    }
}
