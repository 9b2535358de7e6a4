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
fn whole_sentences_of_a_cut_reply_are_read() {
    let reply = r#"{"sentences": [{"text": "A b.", "evidence": [1, 2]}, {"text": "C"#;
    let written = read(reply);
    assert_eq!(written.len(), 1);
    assert_eq!(
        (written[0].text.as_str(), written[0].evidence.as_slice()),
        ("A b.", [1, 2].as_slice())
    );
    assert!(read("no JSON").is_empty());
}
