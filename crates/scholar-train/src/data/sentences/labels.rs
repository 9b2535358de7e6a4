//! Roles by label and by wording.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::SentenceRole;
use scholar_models::sentence_heads::wording::Heading;

use super::super::abstracts::{parts, sentences};
use super::LabelledSentence;

/// Wording of aims, which stand below `Background` as often as below a label of their own.
static AIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b(aims?|objectives?|purpose|goal)\b .* \b(was|were|is|are|of\ this)\b
        | \bwe\ (therefore\ |thus\ |here\ )?(aim(ed)?|sought|seek|hypothesi[sz]ed?|set\ out)\b
        | ^to\ (assess|evaluate|determine|investigate|compare|examine|test|explore|study|describe)\b
        | \bthis\ (study|trial|paper|article|review|work)\ (was\ designed|aim|sought|seeks|investigat|examin|evaluat|assess|explor|compar)",
    )
    .ok()
});

/// The role that a label of a structured abstract, or a heading, gives; `None` for several or none.
pub fn label_role(label: &str) -> Option<SentenceRole> {
    match Heading::of(label) {
        Heading::Role(role) => Some(role),
        Heading::None | Heading::Other => None,
    }
}

/// The role of a sentence below a label: aims among the background are purposes.
pub(super) fn role_below(label: &str, sentence: &str) -> Option<SentenceRole> {
    let role = label_role(label)?;
    let is_aim = || AIM.as_ref().is_some_and(|aim| aim.is_match(sentence));
    Some(match role {
        SentenceRole::Background if is_aim() => SentenceRole::Purpose,
        role => role,
    })
}

/// An abstract as sentences with their labels and roles; labels are taken off the text.
pub(super) fn labelled_sentences(text: &str) -> Vec<LabelledSentence> {
    let mut out = Vec::new();
    for part in parts(text) {
        for text in sentences(&part.text) {
            let role = role_below(&part.label, &text);
            let section = part.label.clone();
            out.push(LabelledSentence { section, role, ..LabelledSentence::new(text) });
        }
    }
    out
}

/// Wording that gives a role in abstracts without labels; the first that matches alone counts.
const CUES: &[(SentenceRole, &str)] = &[
    (
        SentenceRole::Purpose,
        r"(?xi) ^(in\ this\ (paper|work|article|study),?\ |here,?\ |to\ address\ this[^,]*,\ |therefore,\ |thus,\ )?
        (we|this\ (paper|work|article|study|survey))\ (also\ |first\ |then\ )?
        (proposes?|presents?|introduces?|describes?|investigates?|study|studies|explores?|address(es)?|aims?|develops?|examines?|tackles?|releases?|reports?\ on|reviews?|surveys?|seeks?|provides?\ an?\ (overview|survey|novel|new))\b",
    ),
    (
        SentenceRole::Result,
        r"(?xi) ^(our\ |the\ |extensive\ |empirical\ |experimental\ |these\ )*(experiments?|experimental\ results|results|evaluations?|empirical\ results)\b.*\b(shows?|demonstrates?|indicates?|reveals?|confirms?|proves?)\b
        | \bwe\ (also\ )?(find|found|show|observe|observed|demonstrate)\ that\b
        | \boutperform(s|ed|ing)?\b | \bachiev(es?|ed)\b.*\d
        | \bimprov(es?|ed|ements?)\b.*\bby\b.*\d | \bstate-of-the-art\ (results|performance)\b",
    ),
    (
        SentenceRole::Conclusion,
        r"(?xi) ^(these|our|the|this)\ (results|findings|study|work|analysis|analyses)\ (suggests?|impl(y|ies)|highlights?|underscores?|opens?|paves?)\b
        | ^(in\ conclusion|overall|we\ conclude|we\ hope|we\ argue|taken\ together)\b",
    ),
    (
        SentenceRole::Method,
        r"(?xi) ^(we|our\ (model|method|approach|system|framework|architecture|algorithm))\ (first\ |then\ |also\ )?
        (trains?|uses?|employs?|appl(y|ies)|fine-?tunes?|constructs?|collects?|annotates?|builds?|evaluates?|compares?|conducts?|formulates?|leverages?|incorporates?|combines?|consists?|is\ based|learns?|perform|test|experiment)\b
        | ^(specifically|in\ particular|concretely|more\ specifically|to\ this\ end|to\ do\ so),",
    ),
];

static CUE_PATTERNS: LazyLock<Vec<(SentenceRole, Regex)>> = LazyLock::new(|| {
    CUES.iter()
        .filter_map(|(role, pattern)| Regex::new(pattern).ok().map(|pattern| (*role, pattern)))
        .collect()
});

/// The role that the wording of sentence number `nth` of an abstract without labels gives.
///
/// `None` where no wording or that of two roles is found. The first two sentences are background where they speak of no paper and nobody.
pub fn cue_role(sentence: &str, nth: usize) -> Option<SentenceRole> {
    let mut found = CUE_PATTERNS.iter().filter(|(_, pattern)| pattern.is_match(sentence));
    match (found.next(), found.next()) {
        (Some((role, _)), None) => Some(*role),
        (Some(_), Some(_)) => None,
        (None, _) => {
            let lower = sentence.to_lowercase();
            let own =
                ["we ", "our ", "this paper", "this work", "this study", "this article", "here,"];
            let speaks = own.iter().any(|word| lower.contains(word));
            (nth < 2 && !speaks).then_some(SentenceRole::Background)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wording_and_labels_give_roles() {
        assert_eq!(CUE_PATTERNS.len(), CUES.len());
        for (text, nth, role) in [
            ("In this paper, we propose a parser.", 3, Some(SentenceRole::Purpose)),
            ("Experiments on two corpora show large gains.", 5, Some(SentenceRole::Result)),
            ("Our method outperforms all baselines.", 5, Some(SentenceRole::Result)),
            ("We use a tagger.", 4, Some(SentenceRole::Method)),
            ("These findings suggest that tags help.", 6, Some(SentenceRole::Conclusion)),
            ("Parsing is hard.", 0, Some(SentenceRole::Background)),
            ("Parsing is hard.", 4, None),
            ("We propose a parser that outperforms others.", 2, None),
        ] {
            assert_eq!(cue_role(text, nth), role, "{text}");
        }
        let below = role_below("background", "The aim of this study was to count cells.");
        assert_eq!(below, Some(SentenceRole::Purpose));
        assert_eq!(role_below("results", "We aimed well."), Some(SentenceRole::Result));
        let found =
            labelled_sentences("BackgroundTea is old. We aimed to test it.ResultsIt works.");
        let roles: Vec<_> = found.iter().map(|one| one.role).collect();
        let wanted = [SentenceRole::Background, SentenceRole::Purpose, SentenceRole::Result];
        assert_eq!(roles, wanted.map(Some));
        assert!(found.iter().all(|one| !one.text.contains("Background")));
    }
}
