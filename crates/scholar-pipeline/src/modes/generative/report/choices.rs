//! Quotations by choice: a model that runs in this process can reply with nothing but sentences of the passages it is shown.
//!
//! A small model that is asked to copy writes in its own words, and what it writes is then not found. Held to the sentences it
//! quotes, and where the first words leave one sentence only, the rest of it costs next to nothing. An outline it may go on writing
//! until it is cut, the same numbers over and over; held to a form it ends. Source: ours.

use scholar_core::text::normalise::single_spaced;
use scholar_core::text::sentences::sentence_texts;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::evidence::EvidenceNumber;

/// Fewest words of a sentence worth quoting. Ours.
const SHORTEST: usize = 6;
/// Quotations of a reply: a small model goes on until it is stopped. Ours.
const MOST: usize = 8;
/// Parts of an outline; the prompt names as many.
const MOST_PARTS: usize = 5;
/// Characters of a heading. Ours.
const LONGEST_HEADING: usize = 80;
/// Characters of a search. Ours.
const LONGEST_SEARCH: usize = 160;

/// Words that stand in a shown passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quotation {
    pub(super) number: EvidenceNumber,
    pub(super) text: String,
}

/// What a reply may be: numbers of the passages in `shown`, each with a sentence of its text.
///
/// `None` where no passage has a sentence worth quoting.
pub(super) fn schema<T: AsRef<str>>(shown: &[(EvidenceNumber, T)]) -> Option<Value> {
    let of_passage = |(number, text): &(EvidenceNumber, T)| {
        let text = single_spaced(text.as_ref());
        let mut sentences = sentence_texts(&text);
        sentences.retain(|sentence| sentence.split(' ').count() >= SHORTEST);
        sentences.sort_unstable();
        sentences.dedup();
        (!sentences.is_empty()).then(|| {
            json!({
                "type": "object", "required": ["reference", "sentence"], "additionalProperties": false,
                "properties": {"reference": {"const": number.0}, "sentence": {"enum": sentences}},
            })
        })
    };
    let passages: Vec<Value> = shown.iter().filter_map(of_passage).collect();
    (!passages.is_empty()).then(|| {
        json!({
            "type": "object", "required": ["quotations"], "additionalProperties": false,
            "properties": {
                "quotations": {"type": "array", "items": {"anyOf": passages}, "maxItems": MOST},
            },
        })
    })
}

/// The quotations of a reply, each once; of one that was cut those that are whole.
pub(super) fn chosen(reply: &str) -> Vec<Quotation> {
    #[derive(Deserialize)]
    struct Reply {
        quotations: Vec<Choice>,
    }
    #[derive(Deserialize)]
    struct Choice {
        reference: usize,
        sentence: String,
    }
    let whole = serde_json::from_str::<Reply>(reply).or_else(|error| match reply.rfind("\"}") {
        Some(end) => serde_json::from_str(&format!("{}\"}}]}}", &reply[..end])),
        None => Err(error),
    });
    let choices = whole.map(|reply| reply.quotations).unwrap_or_default();
    let mut found: Vec<Quotation> = Vec::new();
    for Choice { reference, sentence } in choices {
        let one = Quotation { number: EvidenceNumber(reference), text: single_spaced(&sentence) };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// What an outline over `count` quotations may be; with `searches`, a part may have a search.
pub(super) fn outline_schema(count: usize, searches: bool) -> Value {
    let numbers: Vec<usize> = (1..=count).collect();
    let mut part = json!({
        "type": "object", "required": ["heading", "quotations"], "additionalProperties": false,
        "properties": {
            "heading": {"type": "string", "minLength": 1, "maxLength": LONGEST_HEADING},
            "quotations": {"type": "array", "items": {"enum": numbers}, "maxItems": count},
        },
    });
    if searches {
        part["properties"]["search"] = json!({"type": "string", "maxLength": LONGEST_SEARCH});
    }
    json!({
        "type": "object", "required": ["parts"], "additionalProperties": false,
        "properties": {"parts": {"type": "array", "items": part, "maxItems": MOST_PARTS}},
    })
}

/// A part as a model gives it: quotations by number, from 1.
#[derive(Debug, Deserialize)]
pub(super) struct ChosenPart {
    pub(super) heading: String,
    pub(super) quotations: Vec<usize>,
    pub(super) search: Option<String>,
}

/// The parts of a reply that follows [`outline_schema`].
///
/// # Errors
/// When it is cut.
pub(super) fn outline(reply: &str) -> Result<Vec<ChosenPart>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Reply {
        parts: Vec<ChosenPart>,
    }
    serde_json::from_str::<Reply>(reply).map(|reply| reply.parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_can_only_be_sentences_of_its_passages() {
        let text = "Cells  grow in the dark for seven days. Short one. \"They\" die in the light of the sun [4].";
        let schema = schema(&[(EvidenceNumber(3), text), (EvidenceNumber(5), "Too short.")]);
        let items = &schema.expect("a passage with sentences")["properties"]["quotations"]["items"];
        let passages = items["anyOf"].as_array().expect("passages");
        assert_eq!(passages.len(), 1, "{items}");
        assert_eq!(passages[0]["properties"]["reference"], json!({"const": 3}));
        let sentences = json!([
            "\"They\" die in the light of the sun [4].",
            "Cells grow in the dark for seven days."
        ]);
        assert_eq!(passages[0]["properties"]["sentence"]["enum"], sentences);
        assert_eq!(super::schema(&[(EvidenceNumber(0), "Too short.")]), None);
    }

    #[test]
    fn an_outline_has_a_few_parts_with_known_quotations() {
        let of_part = |searches: bool| {
            let schema = outline_schema(2, searches);
            assert_eq!(schema["properties"]["parts"]["maxItems"], 5);
            schema["properties"]["parts"]["items"]["properties"].clone()
        };
        assert_eq!(of_part(false)["quotations"]["items"], json!({"enum": [1, 2]}));
        assert_eq!(
            (of_part(false).get("search"), &of_part(true)["search"]["type"]),
            (None, &json!("string"))
        );
        let reply =
            r#"{"parts": [{"heading": "Growth", "quotations": [2], "search": "cell death"}]}"#;
        let parts = outline(reply).expect("a whole reply");
        assert_eq!((parts[0].heading.as_str(), &parts[0].quotations[..]), ("Growth", &[2][..]));
        assert_eq!(parts[0].search.as_deref(), Some("cell death"));
        assert!(outline(&reply[..40]).is_err());
    }

    #[test]
    fn replies_are_read_whole_or_cut() {
        let reply = r#"{"quotations": [{"reference": 3, "sentence": "\"They\" die."}, {"reference": 5, "sentence": "Cells"#;
        let both = format!("{reply} grow.\"}}]}}");
        let seen = |reply: &str| -> Vec<(usize, String)> {
            chosen(reply).into_iter().map(|one| (one.number.0, one.text)).collect()
        };
        let (first, second) = ((3, "\"They\" die.".to_owned()), (5, "Cells grow.".to_owned()));
        assert_eq!(seen(&both), [first.clone(), second]);
        assert_eq!(seen(reply), [first]);
        let again = both.replace("]}", r#", {"reference": 5, "sentence": "Cells grow."}]}"#);
        assert_eq!(seen(&again), seen(&both));
        for reply in [r#"{"quotations": []}"#, r#"{"quotations": [{"refer"#, "no", ""] {
            assert_eq!(seen(reply), [], "{reply}");
        }
    }
}
