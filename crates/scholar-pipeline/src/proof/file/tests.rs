use std::sync::Arc;

use scholar_core::{AnswerMode, AnswerSentence, Citation, PaperId, Passage, PassageKind, Verdict};
use scholar_testing::MemoryRetriever;

use super::*;

const TEXT: &str = "Naïve cells grow. They die late [1].";

fn store(text: &str, title: &str) -> MemoryRetriever {
    let id = PaperId::Pmid(1);
    let passage = Passage {
        id: PassageId { paper: id.clone(), ordinal: 0 },
        title: title.to_owned(),
        section: String::new(),
        kind: PassageKind::Abstract,
        text: text.to_owned(),
        span: CharSpan::new(0, text.chars().count()),
        places: Vec::new(),
    };
    MemoryRetriever::new([(passage, Arc::new(PaperMeta::new(id, title)))])
}

fn answer() -> Answer {
    let quote = Quote {
        reference: Citation(1),
        passage_id: "pmid:1#0".parse().expect("an identifier"),
        start: 0,
        end: 17,
        text: "Naïve cells grow.".to_owned(),
        places: Vec::new(),
    };
    Answer {
        question: "Do cells grow?".to_owned(),
        mode: AnswerMode::Evidence,
        abstained: false,
        sentences: vec![AnswerSentence {
            text: "Cells grow.".to_owned(),
            heading: None,
            paragraph_start: true,
            citations: vec![Citation(1)],
            support: Some(Support {
                verdict: Verdict::Supported,
                score: 0.9,
                judge: "lexical/1".to_owned(),
            }),
            quotes: vec![quote],
            gates: vec![Gate::L0, Gate::L1, Gate::L2],
            verbatim: false,
        }],
        references: vec![reference_of(Citation(1), &PaperMeta::new(PaperId::Pmid(1), "Cells"))],
    }
}

async fn proof() -> ProofFile {
    ProofFile::of(&answer(), &store(TEXT, "Cells")).await.expect("the store answers")
}

#[tokio::test]
async fn an_untouched_proof_holds_after_a_round_trip() {
    let json = serde_json::to_string(&proof().await).expect("serialisable");
    let read: ProofFile = serde_json::from_str(&json).expect("readable");
    assert_eq!(read.passages.len(), 1);
    let report = verify_proof(&read, &store(TEXT, "Cells")).await.expect("checked");
    assert!(report.holds(), "{report:?}");
    assert_eq!(
        (report.sentences, report.quotes, report.quotes_hold, report.references),
        (1, 1, 1, 1)
    );
}

#[tokio::test]
async fn everything_that_changed_is_named() {
    let check = async |proof: ProofFile, store: MemoryRetriever, expect: &[&str]| {
        let report = verify_proof(&proof, &store).await.expect("checked");
        let found: Vec<String> = report
            .problems
            .iter()
            .map(|problem| {
                serde_json::to_value(problem).expect("serialisable")["problem"].to_string()
            })
            .collect();
        let found: Vec<&str> = found.iter().map(|name| name.trim_matches('"')).collect();
        assert_eq!(found, expect);
        assert!(!report.holds());
    };
    check(
        proof().await,
        store("Naive cells grow. They die late [1].", "Cells"),
        &["passage_changed", "quote_differs"],
    )
    .await;
    check(proof().await, store("Naïve cells grow. Later.", "Cells"), &["passage_changed"]).await;
    check(proof().await, store(TEXT, "Other cells"), &["reference_differs"]).await;
    check(proof().await, MemoryRetriever::new([]), &["passage_missing", "reference_unchecked"])
        .await;

    let mut shifted = proof().await;
    shifted.sentences[0].quotes[0].end = 18;
    check(shifted, store(TEXT, "Cells"), &["quote_differs"]).await;
    let mut far = proof().await;
    far.sentences[0].quotes[0].start = 900;
    check(far, store(TEXT, "Cells"), &["quote_differs"]).await;
    let mut misnumbered = proof().await;
    misnumbered.sentences[0].quotes[0].reference = Citation(2);
    check(misnumbered, store(TEXT, "Cells"), &["quote_of_other_paper"]).await;
    let mut unfounded = proof().await;
    unfounded.sentences[0].quotes.clear();
    unfounded.passages.clear();
    check(
        unfounded,
        store(TEXT, "Cells"),
        &["gate_unfounded", "gate_unfounded", "reference_unchecked"],
    )
    .await;
}

#[tokio::test]
async fn another_schema_is_refused() {
    let mut other = proof().await;
    other.schema = "openscholar.proof/9".to_owned();
    let error = verify_proof(&other, &store(TEXT, "Cells")).await.expect_err("unknown schema");
    assert_eq!(error.kind(), PortErrorKind::Rejected);
}
