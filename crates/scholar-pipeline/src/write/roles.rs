//! What each sentence of an answer does: a finding, a synthesis, framing or a gap.
//!
//! The model marks its sentences; code has the last word, because a mark is no excuse: what cites is a finding and must
//! pass, what states a fact is not framing, what says that nothing is reported is a gap and is searched for.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::AnswerRole;
use scholar_core::text::words::content_stems;

use crate::proof::draft::makes_claim;

/// The role of a sentence, whose mark, if it has one, is `marked`.
pub(crate) fn role_of(marked: Option<AnswerRole>, text: &str, cites: bool) -> AnswerRole {
    if cites {
        return AnswerRole::Finding;
    }
    if says_nothing_is_reported(text) {
        return AnswerRole::Gap;
    }
    match marked {
        Some(AnswerRole::Gap) => AnswerRole::Gap,
        Some(AnswerRole::Synthesis) => AnswerRole::Synthesis,
        Some(AnswerRole::Framing) if states_a_fact(text) => AnswerRole::Finding,
        Some(AnswerRole::Framing) => AnswerRole::Framing,
        Some(AnswerRole::Finding) | None if !makes_claim(text) => AnswerRole::Framing,
        Some(AnswerRole::Finding) => AnswerRole::Finding,
        None if concludes(text) => AnswerRole::Synthesis,
        None => AnswerRole::Finding,
    }
}

static GAP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)
        \b(?:no|none\ of\ the|neither\ of\ the|few\ if\ any)\b [^.;]{0,60}
            \b(?:stud(?:y|ies)|trials?|papers?|references?|passages?|evidence|data|comparisons?|sources?|results?) \b [^.;]{0,80}
            \b(?:report|compar|examin|test|address|measur|assess|evaluat|investigat|available|found\ on|describ|mention|provid|quantif)
        | \b(?:stud(?:y|ies)|trials?|papers?|references?|passages?|sources?|reports?|evidence|literature)\b [^.;]{0,40}
            \b(?:do(?:es)?|did|have|has|was|were|is|are)\ not\ (?:been\ )?
            (?:report|compar|examin|test|address|measur|assess|evaluat|investigat|describ|mention|provid|quantif|state|say|cover)
        | \b(?:is|are|was|were|remains?|has\ been|have\ been)\ (?:not|un|never)\ ?(?:been\ )?(?:reported|studied|examined|addressed|tested|investigated|compared|known|explored)\b
        | \bremains?\ (?:unknown|unclear|unstudied|untested|unexplored|open)\b
        | \b(?:evidence|data)\ (?:is|are)\ (?:lacking|missing|absent)\b",
    )
});

/// Whether `text` says that something is not reported, studied or known.
pub fn says_nothing_is_reported(text: &str) -> bool {
    GAP.is_match(text)
}

static CONCLUSION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:taken together|together|overall|thus|hence|therefore|in sum|in summary|in short|on balance|collectively|consequently|these (?:findings|results|studies|differences|gains|effects)|this (?:suggests|implies|means|pattern)|so\b|across (?:the|these|all) )",
    )
});

/// Whether `text` begins as conclusions do.
fn concludes(text: &str) -> bool {
    CONCLUSION.is_match(text)
}

static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:improv|reduc|increas|decreas|outperform|underperform|lower|higher|better|worse|effective|associat|caus|predict|achiev|demonstrat|prevent|doubl|halv|superior|inferior|mitigat)\w*",
    )
});

/// Whether a sentence that is said to lead over states what a reader would want a source for: a number, a name, a result.
pub(crate) fn states_a_fact(text: &str) -> bool {
    let number = text.contains(|c: char| c.is_ascii_digit());
    makes_claim(text) && (number || RESULT.is_match(text) || !names(text).is_empty())
}

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9-]*|[a-z]+[A-Z][A-Za-z0-9-]*)\b")
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+(?:[.,]\d+)*"));

/// Abbreviations and names with capitals inside, as they are written.
fn names(text: &str) -> Vec<&str> {
    NAME.find_iter(text).map(|found| found.as_str()).collect()
}

/// Whether a synthesis adds nothing that can be told by its form: every number and name of it is in a sentence that it
/// follows from, or in the question.
pub fn follows_from(text: &str, base: &[&str], question: &str) -> bool {
    if base.is_empty() {
        return false;
    }
    let known = |needle: &str| base.iter().chain([&question]).any(|text| text.contains(needle));
    let numbers = NUMBER.find_iter(text).map(|found| found.as_str());
    numbers.chain(names(text)).all(known)
}

/// Fewest content stems that a conclusion shares with a finding it is taken to follow from. Ours.
const SHARED_STEMS: usize = 2;
/// Most findings that an unnamed conclusion is taken to follow from. Ours.
const MOST_FOLLOWED: usize = 5;

/// The findings that a conclusion which names none follows from: those that share most words with it, ascending.
pub fn nearest(text: &str, findings: &[(usize, &str)]) -> Vec<usize> {
    let stems = content_stems(text);
    let shared = |finding: &str| {
        let own = content_stems(finding);
        stems.iter().filter(|stem| own.contains(stem)).count()
    };
    let mut scored: Vec<(usize, usize)> =
        findings.iter().map(|(at, finding)| (shared(finding), *at)).collect();
    scored.retain(|(shared, _)| *shared >= SHARED_STEMS);
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut nearest: Vec<usize> =
        scored.into_iter().take(MOST_FOLLOWED).map(|(_, at)| at).collect();
    nearest.sort_unstable();
    nearest
}

/// What a gap is about, as a search query: its words without those that say that nothing is reported.
pub fn subject_of_gap(text: &str) -> String {
    static SAYING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:no|none|neither|not|never|of|the|these|this|cited|available|stud(?:y|ies)|trials?|papers?|references?|passages?|sources?|evidence|literature|data|reports?|reported|compared?|examined?|tested|tests?|address(?:es|ed)?|measured?|assess(?:es|ed)?|evaluated?|investigated?|describes?d?|mentions?|provides?d?|quantif(?:y|ies|ied)|is|are|was|were|do|does|did|has|have|been|remains?|unknown|unclear|unstudied|lacking|here|directly|whether|any)\b",
        )
    });
    SAYING.replace_all(text, " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

#[cfg(test)]
mod tests {
    use super::*;
    use AnswerRole::{Finding, Framing, Gap, Synthesis};

    #[test]
    fn marks_are_believed_as_far_as_the_sentence_allows() {
        let check = |marked, text: &str, cites, expected| {
            assert_eq!(role_of(marked, text, cites), expected, "{text}");
        };
        let result = "Retrieval improves factual accuracy of language models by 12 points.";
        check(Some(Framing), result, true, Finding);
        check(Some(Framing), result, false, Finding);
        check(
            Some(Framing),
            "Two questions arise about the design of such systems.",
            false,
            Framing,
        );
        check(Some(Framing), "SelfCheckGPT samples several answers of the model.", false, Finding);
        check(Some(Synthesis), "Sampling therefore helps where memory is thin.", false, Synthesis);
        check(Some(Synthesis), "No study compared both methods on translation.", false, Gap);
        check(Some(Finding), "Adverse effects were not reported.", false, Gap);
        check(Some(Finding), "Adverse effects were not reported by the trial.", true, Finding);
        check(Some(Finding), "However, this is open.", false, Framing);
        check(None, result, false, Finding);
        check(None, "Taken together, larger models gain less from retrieval.", false, Synthesis);
        check(None, "The passages do not report effects on mortality in children.", false, Gap);
        check(None, "In summary, evidence grows.", false, Framing);
        check(None, "Whether this holds for speech remains unknown.", false, Gap);
    }

    /// Sentences of answers on which readers found a citation forced: nothing is to be looked for them.
    #[test]
    fn sentences_that_lead_over_are_not_given_citations() {
        for text in [
            "The second difficulty lies in unusual outputs.",
            "Automatic benchmarks are the basis of most evaluation.",
            "Success also depends on the smokers and their surroundings.",
        ] {
            assert_eq!(role_of(Some(Framing), text, false), Framing, "{text}");
            assert_eq!(role_of(Some(Synthesis), text, false), Synthesis, "{text}");
        }
        // It rests on two findings before it.
        let contrast = "By contrast, two trials that compared active interventions found no difference between them.";
        assert_eq!(role_of(Some(Synthesis), contrast, false), Synthesis);
    }

    #[test]
    fn a_synthesis_adds_no_number_and_no_name() {
        let base = ["BERT lost 3.1 points.", "The gain was 12 % on SQuAD."];
        let check = |text: &str, expected| {
            assert_eq!(follows_from(text, &base, "Does RAG help?"), expected, "{text}");
        };
        check("RAG gains more than the 3.1 points that BERT lost.", true);
        check("RAG gains 13 %.", false);
        check("T5 gains as well.", false);
        check("Gains outweigh losses.", true);
        assert!(!follows_from("Gains outweigh losses.", &[], ""));
    }

    #[test]
    fn an_unnamed_conclusion_follows_from_its_neighbours() {
        let findings = [
            (1, "Sampling finds hallucinations."),
            (4, "Paris is large."),
            (6, "Sampling costs time and finds hallucinations late."),
        ];
        assert_eq!(nearest("Overall, sampling finds most hallucinations late.", &findings), [1, 6]);
        let gap = "No study reported adverse effects of aspirin in children.";
        assert_eq!(subject_of_gap(gap), "adverse effects aspirin in children.");
    }
}
