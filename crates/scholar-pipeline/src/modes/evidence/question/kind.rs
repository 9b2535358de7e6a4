//! What kind of answer a question wants.

use std::sync::LazyLock;

use regex::Regex;

use super::super::pattern::pattern;

/// The kind of a question; of several that fit, the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `How many …?`, `What is the prevalence of …?`
    Quantity,
    /// `What are the advantages and disadvantages of X?`
    ProsAndCons,
    /// `How does X compare with Y?`
    Comparison,
    /// `Does X improve Y in P?`, `How effective is X?`
    Effect,
    /// `What is X?`
    Definition,
    /// `What limits X?`, `Where does X fail?`
    Limits,
    /// `Why …?`, `What causes …?`
    Causes,
    /// `Which datasets …?`
    Data,
    /// `Which methods …?`, `How can X be detected?`
    Methods,
    /// Anything else.
    General,
}

impl Kind {
    /// In the order in which they are tried.
    const PATTERNS: [(Self, &'static str); 12] = [
        (
            Self::ProsAndCons,
            r"\b(?:advantages?|benefits|strengths|pros|merits)\b.*\b(?:disadvantages?|limitations|weaknesses|challenges|risks|harms|cons|drawbacks|pitfalls)\b",
        ),
        (
            Self::Quantity,
            r"^how (?:many|much|often|common|frequent(?:ly)?|prevalent|large|long|old|high|accurate(?:ly)?)\b|\b(?:prevalence|incidence|proportion|percentage|what (?:share|rate|number|fraction)|how many)\b",
        ),
        (
            Self::Comparison,
            r"\b(?:compar(?:e|es|ed|ing|ison)\b|versus\b|vs\b|differences? between|rather than|(?:better|worse|safer|faster|more \w+) than|or .* better|superior to|(?:over|against) (?:conventional|standard|usual))",
        ),
        (
            Self::Effect,
            r"\b(?:effect|effects|impact|influence|efficacy|effectiveness) of\b|^how (?:effective|well|safe|useful|beneficial)\b|\b(?:side effects?|adverse)\b|^how (?:does|do|did) .*\b(?:affect|influence|impact|change)\b",
        ),
        // `What are the challenges of X?` asks for challenges, not what they are.
        (
            Self::Limits,
            r"^what are (?:the |some )?(?:[\w-]+ ){0,4}?(?:challenges|limitations|limits|problems|issues|difficulties|drawbacks|obstacles|weaknesses|shortcomings)\b",
        ),
        (
            Self::Data,
            r"^what are (?:the |some )?(?:[\w-]+ ){0,4}?(?:datasets|data sets|corpora|benchmarks|treebanks)\b",
        ),
        (
            Self::Methods,
            r"^what are (?:the |some )?(?:[\w-]+ ){0,4}?(?:approaches|methods|techniques|algorithms|ways|strategies|interventions|treatments|therapies)\b",
        ),
        (
            Self::Definition,
            r"^(?:what (?:is|are|was) (?:an? |the )?(?:[\w-]+ ?){1,5}(?:\?|$| and (?:where|how|why|when|what)\b)|define\b|definition of\b|what does .* mean\b|what is meant by\b)",
        ),
        (
            Self::Limits,
            r"^what (?:problems|issues|difficulties)\b|\b(?:limits?|limitations?|challenges|open (?:problems?|questions?|issues?)|obstacles|barriers|drawbacks|weaknesses|shortcomings|fails?|failures|failure (?:modes?|cases?)|struggle)\b",
        ),
        (
            Self::Causes,
            r"^why\b|\b(?:causes?|caused|reasons?|risk factors?|mechanisms?|due to|explains?|predictors?)\b",
        ),
        (
            Self::Data,
            r"\b(?:datasets?|data sets?|corpora|corpus|benchmarks?|treebanks?|shared tasks?)\b|(?:^|\s)resources?\b",
        ),
        (
            Self::Methods,
            r"^(?:how (?:can|could|to|should|are|is|do|does|have|has)|which|what) ?.*\b(?:methods?|approach(?:es)?|techniques?|algorithms?|ways?|strateg(?:y|ies)|interventions?|treatments?|models?|systems?|tools?|programmes?|helps?|drugs?|therap(?:y|ies)|prevented|reduced|improved|detected|measured|evaluated|handled|mitigated|made|built|trained|generated|extracted|controlled|defended|treated|work)\b|^how (?:can|could|to|should)\b",
        ),
    ];

    /// The kind of `question`. `asks_effect`: it wants a yes or no about an effect.
    pub(crate) fn of(question: &str, asks_effect: bool) -> Self {
        static COMPILED: LazyLock<Vec<(Kind, Regex)>> = LazyLock::new(|| {
            let compiled = |(kind, text): (Kind, &str)| (kind, pattern(&format!("(?i){text}")));
            Kind::PATTERNS.into_iter().map(compiled).collect()
        });
        let question = question.trim();
        let found = COMPILED.iter().find(|(_, asked)| asked.is_match(question));
        match found.map(|(kind, _)| *kind) {
            // `Does X work better than Y?` is asked to be compared; a plain yes or no is an effect.
            Some(kind @ (Self::Comparison | Self::ProsAndCons | Self::Quantity)) => kind,
            _ if asks_effect => Self::Effect,
            Some(kind) => kind,
            None => Self::General,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_wording() {
        for (question, kind) in [
            ("What is retrieval-augmented generation and where does it fail?", Kind::Definition),
            ("What is stance detection?", Kind::Definition),
            ("What are adapters?", Kind::Definition),
            ("What are the open challenges in federated learning?", Kind::Limits),
            ("What are existing methods for parsing?", Kind::Methods),
            ("What are common datasets for parsing?", Kind::Data),
            ("How many annotators do emotion corpora report?", Kind::Quantity),
            ("What are the pros and cons of LLMs as judges?", Kind::ProsAndCons),
            ("How do adapters compare with full fine-tuning?", Kind::Comparison),
            ("What is the effect of probiotics on cholesterol?", Kind::Effect),
            ("Does chain-of-thought prompting help small language models?", Kind::Effect),
            ("What limits the reasoning of language models?", Kind::Limits),
            ("Where does retrieval fail?", Kind::Limits),
            ("Can failure-free survival stand in for death in heart failure?", Kind::General),
            ("Why do language models hallucinate?", Kind::Causes),
            ("What datasets exist for verifying scientific claims?", Kind::Data),
            ("Which methods control the length of summaries?", Kind::Methods),
            ("How can hallucinations be detected?", Kind::Methods),
            ("Acupuncture for migraine", Kind::General),
        ] {
            let asks = question.starts_with("Does");
            assert_eq!(Kind::of(question, asks), kind, "{question}");
        }
    }
}
