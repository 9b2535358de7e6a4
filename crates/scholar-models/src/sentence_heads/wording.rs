//! What the wording of questions, sentences and headings tells: the features that need no vector.

use scholar_core::SentenceRole;
use scholar_core::text::words::{fold, words};

/// Words of headings and of labels in structured abstracts, with the role of what stands below them.
const HEADINGS: &[(&str, SentenceRole)] = &[
    ("aim", SentenceRole::Purpose),
    ("aims", SentenceRole::Purpose),
    ("background", SentenceRole::Background),
    ("conclusion", SentenceRole::Conclusion),
    ("conclusions", SentenceRole::Conclusion),
    ("context", SentenceRole::Background),
    ("data", SentenceRole::Method),
    ("design", SentenceRole::Method),
    ("discussion", SentenceRole::Conclusion),
    ("experimental", SentenceRole::Method),
    ("findings", SentenceRole::Result),
    ("goal", SentenceRole::Purpose),
    ("hypothesis", SentenceRole::Purpose),
    ("importance", SentenceRole::Background),
    ("interpretation", SentenceRole::Conclusion),
    ("intervention", SentenceRole::Method),
    ("interventions", SentenceRole::Method),
    ("introduction", SentenceRole::Background),
    ("measurements", SentenceRole::Method),
    ("method", SentenceRole::Method),
    ("methodology", SentenceRole::Method),
    ("methods", SentenceRole::Method),
    ("objective", SentenceRole::Purpose),
    ("objectives", SentenceRole::Purpose),
    ("outcome", SentenceRole::Method),
    ("outcomes", SentenceRole::Method),
    ("participants", SentenceRole::Method),
    ("patients", SentenceRole::Method),
    ("procedure", SentenceRole::Method),
    ("procedures", SentenceRole::Method),
    ("purpose", SentenceRole::Purpose),
    ("rationale", SentenceRole::Background),
    ("related", SentenceRole::Background),
    ("result", SentenceRole::Result),
    ("results", SentenceRole::Result),
    ("setting", SentenceRole::Method),
    ("significance", SentenceRole::Conclusion),
    ("subjects", SentenceRole::Method),
];

/// What a heading says of the sentences below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// There is none.
    None,
    /// One role.
    Role(SentenceRole),
    /// Several, or none that is known: `Results and discussion`, `Participants' views`.
    Other,
}

impl Heading {
    /// Number of different values.
    pub const COUNT: usize = 7;

    /// Reads a heading of a section, or a label of a structured abstract.
    pub fn of(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::None;
        }
        let mut found: Option<SentenceRole> = None;
        for word in words(text) {
            let word = fold(word);
            let Ok(place) = HEADINGS.binary_search_by_key(&word.as_str(), |(name, _)| *name) else {
                continue;
            };
            let role = HEADINGS[place].1;
            if found.is_some_and(|other| other != role) {
                return Self::Other;
            }
            found = Some(role);
        }
        found.map_or(Self::Other, Self::Role)
    }

    /// Its number, below [`Heading::COUNT`].
    pub fn index(self) -> usize {
        match self {
            Self::None => 0,
            Self::Other => 1,
            Self::Role(role) => {
                2 + match role {
                    SentenceRole::Background => 0,
                    SentenceRole::Purpose => 1,
                    SentenceRole::Method => 2,
                    SentenceRole::Result => 3,
                    SentenceRole::Conclusion => 4,
                }
            }
        }
    }
}

/// Number of [`sentence_cues`].
pub const SENTENCE_CUES: usize = 14;

/// What a sentence's words tell, 1 for yes and 0 for no.
///
/// Whether it has a number, a share or test statistic, an exact p-value; words of direction, of finding, of aims,
/// of inference, of procedure, of contrast; speaks in the first person, of this paper, in the past; begins with a
/// reference to what stands before; asks.
pub fn sentence_cues(sentence: &str) -> [f32; SENTENCE_CUES] {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = words(&lower);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let stems =
        |list: &[&str]| words.iter().any(|word| list.iter().any(|start| word.starts_with(start)));
    let begins = |list: &[&str]| words.first().is_some_and(|word| list.contains(word));
    let contains = |list: &[&str]| list.iter().any(|part| lower.contains(part));
    [
        sentence.contains(|c: char| c.is_ascii_digit()),
        contains(&["%", " ci", "odds ratio", "hazard ratio", " hr ", " or ="]),
        contains(&["p <", "p<", "p =", "p=", "p value", "p-value", "significan"]),
        stems(&[
            "increas",
            "decreas",
            "reduc",
            "improv",
            "higher",
            "lower",
            "better",
            "worse",
            "greater",
            "fewer",
            "outperform",
            "exceed",
            "surpass",
            "differ",
        ]),
        contains(&[
            "show that",
            "shows that",
            "showed that",
            "found that",
            "find that",
            "demonstrate",
            "reveal",
            "observe",
            "achiev",
            "results show",
            "indicate that",
            "associated with",
        ]),
        stems(&[
            "aim", "objectiv", "purpos", "sought", "hypothes", "propos", "introduc", "present",
        ]),
        contains(&[
            "suggest",
            "conclu",
            "imply",
            "implication",
            "therefore",
            "should",
            "may be",
            "highlight",
            "we hope",
        ]),
        stems(&[
            "random", "recruit", "measur", "train", "collect", "annotat", "enrol", "assign",
            "analys", "analyz", "dataset", "corpus", "consist",
        ]),
        begins(&["however", "although", "despite", "while", "but", "yet", "whereas"]),
        has(&["we", "our"]),
        contains(&[
            "this paper",
            "this study",
            "this work",
            "this article",
            "this trial",
            "our study",
        ]),
        has(&["was", "were", "had", "did"]),
        begins(&["this", "these", "it", "they", "such", "here", "both"]),
        lower.trim_end().ends_with('?'),
    ]
    .map(|cue| f32::from(u8::from(cue)))
}

/// Number of [`question_cues`].
pub const QUESTION_CUES: usize = 6;

/// Whether the question wants yes or no, an amount, a reason, a way or a method, one of several things, an effect.
pub fn question_cues(question: &str) -> [f32; QUESTION_CUES] {
    let lower = question.to_lowercase();
    let words: Vec<&str> = words(&lower);
    let first = words.first().copied().unwrap_or_default();
    let contains = |list: &[&str]| list.iter().any(|part| lower.contains(part));
    let yes_no = [
        "is", "are", "was", "were", "do", "does", "did", "can", "could", "has", "have", "should",
        "will",
    ];
    let amounts = [
        "how many",
        "how much",
        "how often",
        "percentage",
        "proportion",
        "prevalence",
        "incidence",
        "rate of",
        "how large",
    ];
    [
        yes_no.contains(&first),
        contains(&amounts),
        contains(&["why", "reason", "cause"]),
        contains(&["how do", "how does", "how can", "how to", "method", "approach", "technique"]),
        ["what", "which", "who", "list", "name"].contains(&first),
        contains(&["effect", "affect", "improve", "reduce", "increase", "compared", "impact"]),
    ]
    .map(|cue| f32::from(u8::from(cue)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_sorted_and_read() {
        assert!(HEADINGS.is_sorted_by_key(|(word, _)| *word));
        for (text, expected) in [
            ("", Heading::None),
            ("METHODS", Heading::Role(SentenceRole::Method)),
            ("Study design and participants", Heading::Role(SentenceRole::Method)),
            ("Results and discussion", Heading::Other),
            ("Ethics", Heading::Other),
            ("4. Conclusions", Heading::Role(SentenceRole::Conclusion)),
        ] {
            assert_eq!(Heading::of(text), expected, "{text}");
            assert!(Heading::of(text).index() < Heading::COUNT);
        }
    }

    #[test]
    fn cues_are_found() {
        let cues = sentence_cues("However, we found that 12% of patients improved (p < 0.05).");
        assert!(cues[..5].iter().all(|cue| *cue > 0.5), "{cues:?}");
        assert!(cues[8] > 0.5 && cues[9] > 0.5 && cues[13] < 0.5, "{cues:?}");
        assert!(question_cues("Does tea improve sleep?")[0] > 0.5);
        assert!(question_cues("How many people sleep?")[1] > 0.5);
    }
}
