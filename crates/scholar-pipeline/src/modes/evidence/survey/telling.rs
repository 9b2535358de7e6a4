//! What a sentence tells within a survey.

use std::sync::LazyLock;

use regex::Regex;

use super::super::informative::{
    Role, Side, is_guess, is_motivation, is_praise, is_procedure, is_promise, offers_data,
    says_what_came_of_it, says_what_was_done, tells_which_problem,
};
use super::super::pattern::pattern;
use super::super::question::Reading;
use super::super::score::Scored;
use super::super::terms::stem_set;
use super::facets::Tells;
use super::named::Named;

/// Least share of the question's topic in a sentence that is not of an abstract: a text speaks of much else.
const OWN_TOPIC: f32 = 0.4;
/// Probability that a reader takes such a sentence for an answer from which it is quoted. Ours.
const ANSWERS: f32 = 0.3;
/// Probability, by the sentence classifier, of being a result or a conclusion from which a sentence is taken for a finding. Ours.
const FINDING: f32 = 0.4;
/// The same of being method, from which it is not taken for a problem.
const METHOD: f32 = 0.5;
/// Least share of a name's weight that the subject of its definition has: `simultaneous translation` of `simultaneous machine
/// translation`.
const OF_NAME: f32 = 0.65;
/// Most words of a subject that is read as the name: its own and an abbreviation.
const LONGEST_SUBJECT: usize = 6;

/// Whether a sentence tells what a facet is about. `for_and_against`: the question asks for both, so that no effect is against.
pub(super) fn tells(scored: &Scored, what: &Tells, for_and_against: bool) -> bool {
    let text = scored.candidate.text.as_str();
    if is_promise(text)
        || text.contains("insights")
        || is_guess(text)
        || is_praise(text)
        || says_what_was_done(text)
    {
        return false;
    }
    let in_abstract = scored.candidate.context.in_abstract;
    let is_answer = scored.signs.own_topic >= OWN_TOPIC && scored.probability >= ANSWERS;
    if !in_abstract && (!is_answer || scored.candidate.cites) {
        return false;
    }
    let role = scored.judged.map(|judged| judged.role);
    let is_finding = role.is_none_or(|role| role.finding() >= FINDING);
    let is_method = role.is_some_and(|role| role.method >= METHOD);
    let is_against = for_and_against && finds_nothing(text);
    match what {
        Tells::Limits => is_against && is_finding || !is_method && tells_limit_of_it(text),
        Tells::Approaches => {
            in_abstract
                && Role::of(text) == Role::Approach
                && !offers_data(text)
                && !offers_overview(text)
        }
        Tells::Findings => {
            is_finding
                && !is_against
                && !text.contains(" whether ")
                && (!for_and_against || is_good(text))
                && says_what_came_of_it(text)
                && !is_motivation(text)
                && !is_procedure(text)
                && Role::of(text) == Role::Result
        }
        Tells::Data => in_abstract && offers_data(text),
        // Its sentence may be any paper's background: see `introduces`.
        Tells::WhatItIs(_) | Tells::Rest => false,
    }
}

/// What a paper hopes for, or calls itself.
pub(super) fn is_talk(text: &str) -> bool {
    static TALK: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?i)\binsights?\b|\bwill attract\b|\bnew line of\b|\bthis paper investigates\b")
    });
    is_promise(text) || TALK.is_match(text)
}

/// Whether a study reports no effect, and nothing else in the same sentence.
fn finds_nothing(text: &str) -> bool {
    const TURNS: [&str; 8] = [
        " whereas ",
        " but ",
        " although ",
        " while ",
        " with no ",
        "Although ",
        "Even though ",
        ". ",
    ];
    static NOTHING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\bcould not (?:show|find|demonstrate|detect)\b|\b(?:found|find|is|was) (?:little|no) evidence\b",
        )
    });
    let none = Side::of(text) == Some(Side::NoEffect) || NOTHING.is_match(text);
    none && !TURNS.iter().any(|turn| text.contains(turn))
}

/// Whether what was found speaks for something.
fn is_good(text: &str) -> bool {
    static GOOD: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:improv\w+|reduc\w+|effective\w*|benefi\w+|enhanc\w+|outperform\w*|better|higher|lower|fewer|gains?|boost\w*|advantage\w*|superior|faster|cheaper|competitive|comparable|efficien\w+|robust\w*|well tolerated|correlat\w+ well|as (?:good|well) as|on par)\b",
        )
    });
    GOOD.is_match(text) && !text.contains(" future ")
}

/// A problem of the subject: neither of the study, `there are limitations to the present study`, nor praise of one's own work,
/// `for the challenging task`. What others did so far is none unless it is said to fall short.
fn tells_limit_of_it(text: &str) -> bool {
    static FALLS_SHORT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:challenges?|(?:is|are|be|remains?|particularly|more|very|highly|especially) (?:\w+ )?challenging|challenging (?:to|for|because|since|due)|limit(?:s|ed|ations?)?|fail(?:s|ed|ures?)?|struggl\w+|difficult\w*|lack(?:s|ing)?|suffer(?:s|ed)?|hinder\w*|insufficient\w*|unreliable|cannot|unable|costly|expensive|laborious|time-consuming|drawbacks?|neglect\w*|overlook\w*|ignor(?:e|es|ed|ing)|scarc\w+|sparsity|bottleneck|vulnerab\w+|sensitive to|degrad\w+|poor(?:ly)?|inconsisten\w+|under-?(?:explored|studied)|remains? (?:an? )?(?:open|unclear|unknown|largely)|(?:mainly|only|solely|typically|largely|mostly) (?:focus\w*|consider\w*|rel(?:y|ies)))\b",
        )
    });
    static OF_OTHERS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\blimitations? (?:of|to|in|for) (?:this|the present|the current|our)\b|\b(?:this|our|the present) (?:study|trial|work) (?:has|had|is|was)\b.*\blimit|\b(?:can|is|are) still\b",
        )
    });
    tells_which_problem(text)
        && Role::of(text) == Role::Limit
        && FALLS_SHORT.is_match(text)
        && !OF_OTHERS.is_match(text)
}

/// `We introduce a comprehensive survey`, `we present and compare the performance`.
fn offers_overview(text: &str) -> bool {
    static OVERVIEW: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\bwe (?:\w+ )?(?:propose|introduce|present|develop)\b[^.]{0,60}\b(?:survey|review|overview|analysis|study|comparison|compare|metrics?|toolkit|tools)\b",
        )
    });
    OVERVIEW.is_match(text)
}

/// How plainly a sentence says what `name` is: 2 for a definition, 1 for what it does; `None` where its subject is
/// another, `laser acupuncture`.
pub(super) fn introduces(text: &str, name: &str, reading: &Reading) -> Option<u8> {
    static DEFINES: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^,? ?(?:\([^)]*\),? ?)?(?:(?:is|are) (?:an? |the |one of the )[^.]*?\b(?:that|which|of|aim\w*|where|whose|to|by|when)\b|(?:is|are) (?:defined|when)\b|refers? to\b|aims? to\b|means?\b|describes?\b|(?:seeks?|attempts?|tries) to\b|consists? of\b|involves?\b|\(?(?:i\.e\.,?|the (?:task|problem|process|tendency|ability|practice|act)))",
        )
    });
    static TELLS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^,? ?(?:\([^)]*\),? ?)?(?:enables?|allows?|provides?|leverag\w+|offers?|helps?|can|(?:start|generat|produc|requir|tak|us|combin|translat|extract|identifi|represent|learn|train|treat|includ)e?s)\b",
        )
    });
    static OWN_WORK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)\b(?:we|our)\b|\bthe proposed\b"));
    // `In the era of large models, hallucination …`
    static CLAUSE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^(?:As|Currently|For|In|Recently|Since|Within|With)\b[^,]{0,60}, ")
    });
    // `A major cause of death` says nothing of what it is.
    static EMPTY: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:is|are) (?:an? |the |one of the )(?:[\w-]+ ){0,3}(?:problem|cause|burden|concern|challenge|issue|factor)s?\b",
        )
    });
    let is_empty = EMPTY.is_match(text) || OWN_WORK.is_match(text);
    if is_empty || Role::of(text) == Role::Approach {
        return None;
    }
    let named = Named::one(name, reading);
    // The subject is the name, or most of it, and no more.
    let is_name = |words: &str| {
        let said = stem_set(words);
        let (n, share) = named.written(&said);
        share >= OF_NAME && said.len() <= n
    };
    let subject = CLAUSE.find(text).map_or(text, |clause| &text[clause.end()..]);
    let ends = subject.match_indices([' ', ',']).map(|(at, _)| at).take(LONGEST_SUBJECT);
    ends.filter(|end| is_name(&subject[..*end])).find_map(|end| {
        let rest = &subject[end..];
        let says = |marks: &Regex| marks.is_match(rest);
        says(&DEFINES).then_some(2).or_else(|| says(&TELLS).then_some(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::evidence::terms::Abbreviations;

    #[test]
    fn a_definition_has_the_name_for_its_subject() {
        let question = "What are the leading approaches to simultaneous machine translation?";
        let reading = Reading::of(question, &Abbreviations::default());
        let plain = |text: &str| introduces(text, "simultaneous machine translation", &reading);
        for definition in [
            "Simultaneous translation is a task in which translation begins before the end.",
            "In recent years, simultaneous machine translation (SiMT) aims to write early.",
        ] {
            assert_eq!(plain(definition), Some(2), "{definition}");
        }
        let does = "Simultaneous machine translation (SiMT) starts to output while it reads.";
        assert_eq!(plain(does), Some(1));
        for other in [
            "Multimodal simultaneous machine translation is a task with pictures.",
            "Machine translation is the task of translating.",
            "Simultaneous machine translation remains hard.",
            "Simultaneous machine translation is a major problem of interpreters.",
            "We propose simultaneous machine translation, a new task.",
        ] {
            assert_eq!(plain(other), None, "{other}");
        }
    }

    #[test]
    fn limits_are_those_of_the_subject() {
        assert!(tells_limit_of_it("Data scarcity hinders the progress of event extraction."));
        for other in [
            "There are several limitations to the present study.",
            "It reaches the best scores for the challenging event extraction task.",
            "Extraction finds nine of ten events.",
        ] {
            assert!(!tells_limit_of_it(other), "{other}");
        }
    }

    #[test]
    fn no_effect_is_against_unless_the_sentence_turns() {
        assert!(finds_nothing("Needles were not superior to sham needles."));
        assert!(finds_nothing("We could not show a difference between needles and sham needles."));
        assert!(!finds_nothing(
            "Pressure reduced pain, whereas no difference was seen in controls."
        ));
    }

    #[test]
    fn an_overview_is_no_approach() {
        assert!(offers_overview("We introduce a comprehensive systematic survey on switching."));
        assert!(!offers_overview("We introduce a copy mechanism for switching."));
    }
}
