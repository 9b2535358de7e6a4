//! A finding in fewer words, and two of them as one sentence: by rules whose result says nothing its sources do not say.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::normalise::capitalised;
use scholar_core::text::sentences::sentences;
use scholar_core::text::words::words;

use super::informative::Side;
use super::pattern::pattern;

/// Fewest words of what remains.
const FEWEST_WORDS: usize = 6;
/// Most words of a finding that is joined to another.
const MOST_WORDS: usize = 32;

/// The sentence without what leads up to its claim: `Moreover, our results show that X` is `X`. Verbs that hedge stay, so that
/// the claim does not become stronger.
pub(crate) fn condensed(sentence: &str) -> String {
    static OPENER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:in (?:conclusion|summary|addition|particular|short|general|fact|this (?:paper|work|study))|to (?:conclude|summari[sz]e|sum up)|overall|moreover|furthermore|additionally|finally|interestingly|notably|importantly|surprisingly|also|besides|taken together|together|specifically|specially|here|first|second|lastly),? ",
        )
    });
    static REPORT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:we|(?:our|the|these|this) (?:[\w-]+ ){0,4}?(?:results?|findings?|experiments?|analys[ei]s|study|data|evaluations?|review|trial|meta-analysis|evidence|work|paper)(?: (?:of|on|across|with|from) [^,]{1,60}?)?|(?:extensive |comprehensive )?(?:experiments?|experimental results|results)(?: (?:on|across|with) [^,]{1,60}?)?)(?: \w+ly| also| further| then)* (?:show|find|found|demonstrate|confirm|reveal|observe|conclude)(?:s|d|ed)? that,? ",
        )
    });
    static STATISTICS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\s*[\[(](?:p|n|r|t|f|z|95|interaction|CI|OR|RR|HR|SMD|mean|adjusted)\b[^()\[\]]*[\])]",
        )
    });
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^[Ww]e (?:propose|introduce|present|develop|design) ([A-Z][\w-]*[A-Z\d][\w-]*(?: \([^()]{2,60}\))?), (an? )",
        )
    });
    static PROPOSED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^[Ww]e (?:first |then |also |further )?(propose|introduce|present|develop|design) (an? )",
        )
    });
    let bare = OPENER.replace(sentence, "");
    let bare = REPORT.replace(&bare, "");
    let bare = STATISTICS.replace_all(&bare, "");
    // An apposition says `is`; what `we` propose, one paper proposes.
    let bare = NAMED.replace(&bare, "$1 is $2");
    let bare = PROPOSED.replace(&bare, "One paper ${1}s $2");
    let n_words = bare.split_whitespace().count();
    if n_words < FEWEST_WORDS { sentence.to_owned() } else { capitalised(bare.trim()) }
}

/// Whether a finding can be understood away from its paper: one sentence, neither long nor about `we` or `this`.
pub(crate) fn stands_alone(finding: &str) -> bool {
    static OWN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:we|our|ours|us|this (?:paper|study|work|trial|article)|the (?:present|current) (?:study|work|paper|trial)|the (?:proposed|authors)|the (?:method|approach|model|framework|system|intervention|program(?:me)?)|these|those|this|it|they|their|its)\b",
        )
    });
    let n_words = finding.split_whitespace().count();
    (FEWEST_WORDS..=MOST_WORDS).contains(&n_words)
        && finding.ends_with('.')
        && !finding.contains([';', ':'])
        && sentences(finding).len() == 1
        && !OWN.is_match(finding)
}

/// Two findings as one sentence. They are set against each other only where one reports an effect and the other none; `lower`
/// knows which words are written small inside a sentence.
pub(crate) fn joined(first: &str, second: &str, lower: &BTreeSet<String>) -> String {
    let opposed = matches!(
        (Side::of(first), Side::of(second)),
        (Some(Side::Effect), Some(Side::NoEffect)) | (Some(Side::NoEffect), Some(Side::Effect))
    );
    let joint = if opposed { ", whereas" } else { ", and" };
    format!("{}{joint} {}", first.trim_end_matches('.'), uncapitalised(second, lower))
}

fn uncapitalised(sentence: &str, lower: &BTreeSet<String>) -> String {
    let first = words(sentence).first().copied().unwrap_or_default();
    let small = first.to_lowercase();
    let plain = first.chars().skip(1).all(char::is_lowercase);
    if plain && lower.contains(&small) && sentence.starts_with(first) {
        format!("{small}{}", &sentence[first.len()..])
    } else {
        sentence.to_owned()
    }
}

/// Words that `texts` write small.
pub(crate) fn lower_words<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let all = texts.into_iter().flat_map(words);
    all.filter(|word| word.chars().all(char::is_lowercase)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_up_to_a_claim_goes_and_hedges_stay() {
        for (sentence, short) in [
            (
                "Moreover, our experimental results show that retrieval reduces hallucination in long dialogues.",
                "Retrieval reduces hallucination in long dialogues.",
            ),
            (
                "In conclusion, acupuncture reduced pain more than usual care did (p = 0.01).",
                "Acupuncture reduced pain more than usual care did.",
            ),
        ] {
            assert_eq!(condensed(sentence), short);
        }
        let hedged = "The findings suggest that singing improves the breathing of patients.";
        assert_eq!(condensed(hedged), hedged);
        assert_eq!(
            condensed("We propose a retriever that is trained on synthetic questions."),
            "One paper proposes a retriever that is trained on synthetic questions."
        );
        assert_eq!(
            condensed(
                "We introduce HaluMap, a framework that maps entailment between source and output."
            ),
            "HaluMap is a framework that maps entailment between source and output."
        );
    }

    #[test]
    fn findings_are_joined_and_opposed_only_where_they_differ() {
        let lower = lower_words(["the trial of vitamin supplementation was small"]);
        let (a, b, c) = (
            "Acupuncture reduced pain more than usual care did.",
            "Vitamin supplementation had no effect on pain in adults.",
            "HbA1c increased in all of the other groups.",
        );
        assert_eq!(
            joined(a, b, &lower),
            "Acupuncture reduced pain more than usual care did, whereas vitamin supplementation had no effect on pain in adults."
        );
        assert_eq!(
            joined(a, c, &lower),
            "Acupuncture reduced pain more than usual care did, and HbA1c increased in all of the other groups."
        );
        assert!(
            stands_alone(a)
                && !stands_alone("Our method reduced the errors of all models by half.")
        );
    }
}
