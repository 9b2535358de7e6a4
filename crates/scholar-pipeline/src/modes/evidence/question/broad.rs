//! Whether a question wants a survey.

use std::sync::LazyLock;

use regex::RegexSet;

use super::super::pattern::patterns;
use super::Kind;

/// Whether a question asks for an overview of many papers rather than for what one of them finds: `What are the open challenges
/// of X?`, `Describe what is known about X.` Side effects have an answer of their own.
pub(super) fn asks_broadly(question: &str, kind: Kind, asks_harm: bool) -> bool {
    static BROAD: LazyLock<RegexSet> = LazyLock::new(|| {
        patterns(&[
            // More than one thing is asked for.
            r"(?i)^what are\b|^(?:what|which) (?:[\w-]+ ){0,3}(?:methods|approaches|techniques|strategies|algorithms|challenges|mechanisms|factors|tools|alternatives|applications|datasets|benchmarks|corpora)\b",
            r"(?i)\b(?:what|which) (?:are )?(?:some of |the |most |important |open |main |major |key |current |currently |remaining |leading |existing |common |latest |recent |different |various |typical |popular |available |principal |proposed |biggest )+(?:[\w-]+ ){0,2}?(?:approach(?:es)?|methods?|techniques?|strateg(?:y|ies)|algorithms?|challenges|limitations|problems|questions|issues|obstacles|applications|directions|trends|paradigms|treatments?|interventions|options|therapies)\b",
            r"(?i)^how (?:can|could) .+ be (?:\w+ly )?\w+(?:ed|en|t)\b|^how (?:are|is) [^,?]+ \w+ed\b",
            r"(?i)^how (?:good|capable|reliable) (?:are|is)\b|\b(?:techniques|methods|approaches|models|algorithms|tools) (?:such as|like)\b",
            // What it is, and more of it.
            r"(?i)^what (?:is|are) [^,?]+,? and (?:how|what|when|where|why)\b",
            // An overview by name.
            r"(?i)\b(?:what is (?:already |currently )?known (?:about|on|of)|overview of|survey of|state of the art|summari[sz]e (?:the|what|research|work|current|recent)|the literature (?:on|about))\b",
            r"(?i)^(?:(?:can|could) you |please )?(?:describe|discuss|explain|outline|review|survey|summari[sz]e)\b",
            r"(?i)\bwhat (?:does|do) (?:the )?(?:\w+ )?(?:evidence|literature|studies|trials|research) (?:say|show|tell)\b",
            r"(?i)\bhas there been (?:any )?(?:work|research)\b|^(?:has|have) (?:anyone|anybody|people)\b|\bare there (?:any )?(?:related |existing )?(?:works?|papers|studies|methods|datasets)\b|^find (?:\w+ )?papers\b",
        ])
    });
    !asks_harm && (kind == Kind::ProsAndCons || BROAD.is_match(question))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_is_for_questions_that_many_papers_answer() {
        for broad in [
            "What are the most important open challenges in federated learning?",
            "Describe what is known about code-switching.",
            "Give an overview of event extraction.",
            "How can retrieval be used to update a model?",
            "How can hallucinations be detected?",
            "What does trial evidence say about text messages?",
            "Which are the main approaches to translation of speech?",
            "Which datasets exist for event extraction?",
            "What is argument mining, and how far has it come?",
            "Has there been any research on the order of training data?",
        ] {
            assert!(asks_broadly(broad, Kind::General, false), "{broad}");
        }
        for narrow in [
            "Does acupuncture reduce pain?",
            "How many languages can a model recall facts in?",
            "Which breathing machine setting lets patients sleep better at night?",
            "What is stance detection?",
            "How should gaps be filled, and do the different methods lead to different conclusions?",
        ] {
            assert!(!asks_broadly(narrow, Kind::General, false), "{narrow}");
        }
        let harm = "What are the side effects of interferon?";
        assert!(!asks_broadly(harm, Kind::Effect, true));
    }
}
