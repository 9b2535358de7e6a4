use super::*;

const SOURCES: [&str; 2] = [
    "We show that retrieval augmentation reduces hallucination by 40% on open-domain questions.",
    "Noisy passages increase hallucination when the retriever returns irrelevant documents.",
];

#[test]
fn what_the_sources_say_passes() {
    for text in [
        "Retrieval augmentation reduces hallucination by 40%, while noisy passages increase hallucination.",
        "Irrelevant documents increase hallucination, and retrieval augmentation reduces hallucination.",
    ] {
        assert_eq!(gates(text, &SOURCES), Ok(()), "{text}");
    }
}

#[test]
fn everything_else_is_dropped() {
    let check =
        |text: &str, expect: Dropped| assert_eq!(gates(text, &SOURCES), Err(expect), "{text}");
    check("reduces hallucination by 40% on questions in the open domain", Dropped::Form);
    check("Retrieval augmentation reduces hallucination of chatbots by 40%.", Dropped::Words);
    check(
        "Retrieval augmentation reduces hallucination by 45% on open-domain questions.",
        Dropped::Numbers,
    );
    check("Retrieval augmentation reduces noisy passages of irrelevant documents.", Dropped::Mixed);
    check("Retrieval augmentation does not reduce hallucination on questions.", Dropped::Negation);
}

#[test]
fn copies_are_known_even_when_shortened_a_little() {
    assert!(is_copy(SOURCES[0], SOURCES[0]));
    assert!(is_copy(
        "Retrieval augmentation reduces hallucination by 40% on open-domain questions.",
        SOURCES[0]
    ));
    assert!(!is_copy("Retrieval augmentation reduces hallucination.", SOURCES[0]));
}

#[test]
fn a_sentence_joined_by_code_passes_the_gates_and_is_no_copy() {
    let claims = SOURCES.map(condensed);
    assert!(claims.iter().all(|claim| stands_alone(claim)), "{claims:?}");
    let text = joined(&claims[0], &claims[1], &lower_words(SOURCES));
    assert_eq!(gates(&text, &SOURCES), Ok(()), "{text}");
    assert!(SOURCES.iter().all(|source| !is_copy(&text, source)));
    assert!(text.starts_with("Retrieval augmentation reduces hallucination by 40%"), "{text}");
}

#[test]
fn the_models_choice_comes_first_and_each_finding_once() {
    let sources = [1, 2, 3].map(|number| Source {
        number,
        at: number,
        citation: Citation(number),
        text: String::new(),
        claim: String::new(),
    });
    let order: Vec<(usize, bool)> = chosen(&sources, &[3, 3, 9, 1])
        .into_iter()
        .map(|(source, by_model)| (source.number, by_model))
        .collect();
    assert_eq!(order, [(3, true), (1, true), (2, false)]);
}
