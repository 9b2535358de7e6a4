use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    text: String,
    sentences: Vec<String>,
}

#[test]
fn the_published_parameters_are_all_there() {
    assert_eq!(parameters::Parameters::english().counts(), [156, 37, 39, 20_366]);
}

#[test]
fn sentences_are_those_of_nltk() {
    let golden = include_str!("../../../tests/golden/punkt_sentences.json");
    let cases: Vec<Case> = serde_json::from_str(golden).expect("golden file");
    assert!(cases.len() > 250);
    for Case { text, sentences: expected } in cases {
        assert_eq!(sentences(&text), expected, "{text:?}");
    }
}

#[test]
fn what_answers_look_like() {
    let check = |text: &str, expected: &[&str]| assert_eq!(sentences(text), expected, "{text:?}");
    check(
        "Results by Smith et al. (2020) show gains. See Fig. 3 for details. It works [1][2].",
        &[
            "Results by Smith et al.",
            "(2020) show gains.",
            "See Fig.",
            "3 for details.",
            "It works [1][2].",
        ],
    );
    check(
        "Parametric knowledge is stored. [0] However, it is limited. [4]",
        &["Parametric knowledge is stored.", "[0] However, it is limited.", "[4]"],
    );
    check("**Bold.** Next [1]. - bullet", &["**Bold.", "** Next [1].", "- bullet"]);
    check(
        "\"Is it true?\" he asked. (Yes.) “Quoted.” Next one!",
        &["\"Is it true?\"", "he asked.", "(Yes.)", "“Quoted.” Next one!"],
    );
    check("", &[]);
}

#[test]
fn long_and_hostile_texts_end() {
    for text in
        ["!".repeat(300_000), ". ".repeat(150_000), "a.b!".repeat(80_000), "-".repeat(300_000)]
    {
        let total: usize = sentences(&text).iter().map(|sentence| sentence.len()).sum();
        assert!(total <= text.len());
    }
}
