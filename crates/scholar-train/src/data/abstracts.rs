//! Abstracts: their labelled parts, also where the labels are glued to the text, and their sentences.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::sentences::sentence_texts;

/// A part of an abstract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbstractSection {
    /// Its label in lower case, empty where there is none.
    pub label: String,
    /// The abstract, as one string.
    pub text: String,
}

impl AbstractSection {
    /// Whether it says what was concluded.
    pub fn concludes(&self) -> bool {
        ["conclusion", "interpretation", "discussion"]
            .iter()
            .any(|label| self.label.starts_with(label))
    }

    /// Whether it says where the trial is registered or who paid.
    fn is_administrative(&self) -> bool {
        self.label.starts_with("trial") || self.label.starts_with("funding")
    }
}

/// Labels, longest first where one begins another.
const LABELS: &str = "Background|Introduction|Objectives?|Aims?|Purpose|Methods and [Ff]indings|\
    Methods?/[Dd]esign|Methodology/Principal [Ff]indings|Methods?|Design|Setting|Participants|Patients|\
    Interventions?|Main outcome measures?|Measurements|Results?|Principal [Ff]indings|Findings|\
    Conclusions?/[Ss]ignificance|Conclusions?|Discussion|Interpretation|Trial [Rr]egistration|Context|\
    Significance|Rationale|Hypothesis|Study [Dd]esign|Funding";

static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A label stands at the start, after a stop, or alone before a colon, and a capital follows it.
    Regex::new(&format!(
        r#"(?P<before>^|[.?!)\]]\s*|[a-z0-9%] )(?P<label>{LABELS})(?:\s*[:.]\s*|\s+)?(?P<next>[A-Z0-9“"(])"#
    ))
    .ok()
});

/// The labelled parts of an abstract, without registration and funding; of an abstract without labels one part.
pub fn parts(text: &str) -> Vec<AbstractSection> {
    let text = super::wording::first_words(text, usize::MAX);
    let mut parts = Vec::new();
    let (mut label, mut from) = (String::new(), 0);
    let found = LABEL.iter().flat_map(|pattern| pattern.captures_iter(&text));
    for found in found {
        let (Some(name), Some(next), Some(before)) =
            (found.name("label"), found.name("next"), found.name("before"))
        else {
            continue;
        };
        let end = before.end();
        push(&mut parts, &label, text.get(from..end).unwrap_or_default());
        label = name.as_str().to_lowercase();
        from = next.start();
    }
    push(&mut parts, &label, text.get(from..).unwrap_or_default());
    parts.retain(|part| !part.is_administrative());
    parts
}

fn push(parts: &mut Vec<AbstractSection>, label: &str, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        parts.push(AbstractSection { label: label.to_owned(), text: text.to_owned() });
    }
}

/// The text of an abstract without its labels.
pub fn flat(text: &str) -> String {
    let texts: Vec<String> = parts(text).into_iter().map(|part| part.text).collect();
    texts.join(" ")
}

/// The sentences of a text.
pub fn sentences(text: &str) -> Vec<String> {
    sentence_texts(text)
        .into_iter()
        .map(|sentence| super::wording::first_words(sentence, usize::MAX))
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glued_labels_are_parted() {
        let text = "BackgroundThere are concerns about salt.MethodsWe gave 12 adults salt daily.\
                    ResultsPressure rose by 4 mmHg (p = 0.01).ConclusionSalt raises pressure.\
                    Trial RegistrationISRCTN123";
        let parts = parts(text);
        let labels: Vec<&str> = parts.iter().map(|part| part.label.as_str()).collect();
        assert_eq!(labels, ["background", "methods", "results", "conclusion"]);
        assert_eq!(parts[3].text, "Salt raises pressure.");
        assert!(parts[3].concludes() && !parts[0].concludes());
        assert!(flat(text).starts_with("There are concerns about salt. We gave"));
    }

    #[test]
    fn plain_abstracts_are_one_part() {
        let text = "We study salt. Results of tests are good. Methods matter.";
        assert_eq!(parts(text).len(), 1);
        assert_eq!(flat(text), text);
        assert_eq!(sentences(text).len(), 3);
        assert!(parts(" ").is_empty());
    }

    #[test]
    fn labels_with_colons_are_labels() {
        let parts = parts("OBJECTIVE To test. Methods: We tested. Conclusions: It works.");
        assert_eq!(parts.last().map(|part| part.label.as_str()), Some("conclusions"));
    }
}
