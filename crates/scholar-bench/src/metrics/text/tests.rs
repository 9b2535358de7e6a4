use std::collections::BTreeMap;

use serde::Deserialize;

use super::matching::{Labelled, MatchRule, label, matches};
use super::*;

#[derive(Deserialize)]
struct Golden {
    citations: Vec<Citations>,
    squad: Vec<Squad>,
    stems: BTreeMap<String, String>,
    rouge: Vec<RougeCase>,
}

#[derive(Deserialize)]
struct Citations {
    text: String,
    removed: String,
    numbers: Vec<usize>,
    first: Vec<usize>,
}

#[derive(Deserialize)]
struct Squad {
    output: String,
    reference: String,
    normal: String,
    em: bool,
    f1: f64,
}

#[derive(Deserialize)]
#[expect(non_snake_case, reason = "names of the rouge-score package")]
struct RougeCase {
    reference: String,
    output: String,
    rouge1: [f64; 3],
    rouge2: [f64; 3],
    rougeL: [f64; 3],
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../tests/golden/text_metrics.json"))
        .expect("golden file")
}

#[test]
fn citations_are_removed_and_read_as_upstream_does() {
    for case in golden().citations {
        let Citations { text, removed, numbers, first } = case;
        assert_eq!(citations::remove(&text), removed, "{text:?}");
        assert_eq!(citations::numbers(&text), numbers, "{text:?}");
        assert_eq!(citations::first_numbers(&text), first, "{text:?}");
    }
    let huge = format!("[{}] x", "9".repeat(400));
    assert_eq!(citations::numbers(&huge), [usize::MAX]);
}

#[test]
fn squad_normal_forms_exact_match_and_token_f1() {
    for case in golden().squad {
        let Squad { output, reference, normal, em, f1 } = case;
        assert_eq!(overlap::normalise(&output), normal, "{output:?}");
        assert_eq!(overlap::exact_match(&output, &reference), em, "{output:?}");
        assert!((overlap::token_f1(&output, &reference).f1 - f1).abs() < 1e-12, "{output:?}");
    }
    assert_eq!(
        overlap::normalise("The U.S.A.’s “best” a-b, an apple; the"),
        "usa’s “best” ab apple"
    );
}

#[test]
fn stems_are_those_of_the_published_rouge() {
    let stems = golden().stems;
    assert!(stems.len() > 1_400);
    for (word, stem) in stems {
        assert_eq!(porter::stem(&word), stem, "{word}");
    }
    assert_eq!(porter::stem("Größe"), "Größe");
}

#[test]
fn rouge_is_that_of_the_published_package() {
    for case in golden().rouge {
        let found = rouge::rouge(&case.output, &case.reference);
        let pairs = [
            (found.rouge_1, case.rouge1),
            (found.rouge_2, case.rouge2),
            (found.rouge_l, case.rougeL),
        ];
        for (found, [precision, recall, f1]) in pairs {
            assert!((found.precision - precision).abs() < 1e-9, "{}", case.output);
            assert!((found.recall - recall).abs() < 1e-9, "{}", case.output);
            assert!((found.f1 - f1).abs() < 1e-9, "{}", case.output);
        }
    }
    let tokens = rouge::tokens("State-of-the-art results (95.3%), naïve café_x GPT-4o's");
    assert_eq!(tokens.join(" "), "state of the art result 95 3 na ve caf x gpt 4o s");
}

#[test]
fn a_megabyte_against_a_megabyte_ends() {
    let words: Vec<String> = (0..40_000).map(|n| format!("w{}", n * 7919 % 5000)).collect();
    let output = words.join(" ");
    let reversed: Vec<&str> = words.iter().rev().map(String::as_str).collect();
    let found = rouge::rouge(&output, &reversed.join(" "));
    assert!((found.rouge_1.f1 - 1.0).abs() < 1e-12);
    assert!(found.rouge_l.f1 > 0.0 && found.rouge_l.f1 < 0.2);
}

#[test]
fn a_match_is_a_word_and_upstreams_is_a_substring() {
    let check = |output: &str, expected: &str, words: Option<bool>, substring: bool| {
        assert_eq!(matches(output, expected, MatchRule::Words), words, "{output:?}");
        assert_eq!(matches(output, expected, MatchRule::Substring), Some(substring), "{output:?}");
    };
    check("We do not know.", "no", Some(false), true);
    check("No [1].", "no", Some(true), true);
    check("untrue; true [2]", "true", Some(true), true);
    check("untrue", "True", Some(false), true);
    check("nonono no", "no", Some(true), true);
    check("anything", "[3]", None, true);
    check("the answer is (a) [2].", "(a)", Some(true), true);
    check("", "yes", Some(false), false);
    check("größer", "gr", Some(false), true);
}

#[test]
fn the_first_word_is_the_label() {
    let labels = ["yes", "no"];
    assert_eq!(label("[Response_Start]**Yes** [0]. Because", "yes", &labels), Labelled::Right);
    assert_eq!(label("1. no", "yes", &labels), Labelled::Wrong);
    assert_eq!(label("The answer is yes", "yes", &labels), Labelled::NoLabel);
    assert_eq!(label("", "yes", &labels), Labelled::NoLabel);
    assert_eq!(label("None", "no", &labels), Labelled::NoLabel);
}

#[test]
fn lengths_count_words_without_citations() {
    let found = lengths("One\u{1c}two [1][2, 3] three\u{a0}vier [3].");
    assert_eq!(found, Lengths { words: 4, chars: 19, citations: 4, cited: 3 });
    assert_eq!(lengths("").words, 0);
}
