use std::sync::Arc;

use scholar_core::{
    Answer, AnswerMode, AnswerSentence, Explanation, PaperId, Passage, PassageKind, Ranked,
    RerankScore, RetrievalScore, Retrieved, Support, Verdict,
};
use scholar_testing::MemoryRetriever;

use super::super::file::{ProofDatastore, ProofRecord};
use super::*;
use crate::event::Event;
use crate::evidence::{Evidence, EvidenceNumber};

const TEXT: &str = "Naïve cells grow. They die late [1].";

fn passage(text: &str, title: &str, ordinal: u32) -> (Passage, Arc<PaperMeta>) {
    let id = PaperId::Pmid(1);
    let passage = Passage {
        id: PassageId { paper: id.clone(), ordinal },
        title: title.to_owned(),
        section: String::new(),
        kind: PassageKind::Abstract,
        text: text.to_owned(),
        span: CharSpan::new(0, text.chars().count()),
        places: Vec::new(),
    };
    (passage, Arc::new(PaperMeta::new(id, title)))
}

fn store(text: &str, title: &str) -> MemoryRetriever {
    MemoryRetriever::new([passage(text, title, 0)])
}

fn quote(start: usize, end: usize, text: &str) -> Quote {
    Quote {
        reference: Citation(1),
        passage_id: "pmid:1#0".parse().expect("an identifier"),
        start,
        end,
        text: text.to_owned(),
        places: Vec::new(),
    }
}

fn sentence(text: &str, quote: Quote, verbatim: bool) -> AnswerSentence {
    AnswerSentence {
        text: text.to_owned(),
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
        verbatim,
        role: None,
        follows: Vec::new(),
        study: Vec::new(),
    }
}

fn answer() -> Answer {
    Answer {
        question: "Do cells grow?".to_owned(),
        mode: AnswerMode::Evidence,
        abstained: false,
        sentences: vec![
            sentence("Cells grow.", quote(0, 17, "Naïve cells grow."), false),
            sentence("They die late.", quote(18, 36, "They die late [1]."), true),
        ],
        references: vec![reference_of(Citation(1), &PaperMeta::new(PaperId::Pmid(1), "Cells"))],
        sections: Vec::new(),
        table: None,
        missing: Vec::new(),
        outline: None,
        tree: None,
    }
}

/// The proof of [`answer`], from a run that showed [`TEXT`].
fn proof() -> ProofFile {
    let (passage, paper) = passage(TEXT, "Cells", 0);
    let retrieved = Retrieved {
        passage,
        paper,
        score: RetrievalScore::new(1.0).expect("finite"),
        explanation: Explanation::new(1.0, "given"),
        found_by: Vec::new(),
    };
    let score = RerankScore::new(1.0).expect("finite");
    let ranked = Ranked { retrieved, score, explanation: Explanation::new(1.0, "given") };
    let evidence = vec![Evidence { number: EvidenceNumber(0), ranked }];
    let trace = [Event::Ranked { reranker: "none".to_owned(), evidence }];
    let record = ProofRecord {
        run: "a-run".to_owned(),
        version: "0".to_owned(),
        datastore: Some(ProofDatastore { name: "papers".to_owned(), commit: 7 }),
        recorded: serde_json::Value::Null,
        answer: String::new(),
        settings: String::new(),
        files: BTreeMap::new(),
    };
    ProofFile::of(&answer(), &trace, record).expect("serialises")
}

async fn checked(proof: &ProofFile, store: &MemoryRetriever, same_commit: bool) -> ProofReport {
    let sources = Sources { passages: store, same_commit };
    verify_proof(proof, Some(sources)).await.expect("checked")
}

/// What is wrong, by the names that programs read.
fn names(report: &ProofReport) -> Vec<String> {
    let name = |problem| {
        serde_json::to_value(problem).expect("serialises")["problem"].as_str().map(str::to_owned)
    };
    report.problems.iter().filter_map(name).collect()
}

#[tokio::test]
async fn an_untouched_proof_holds_with_and_without_its_sources() {
    let json = serde_json::to_string(&proof()).expect("serialises");
    let read: ProofFile = serde_json::from_str(&json).expect("readable");
    assert_eq!((read.passages.len(), read.answer()), (1, Some(answer())));
    let report = checked(&read, &store(TEXT, "Cells"), true).await;
    assert!(report.holds() && report.remarks.is_empty(), "{report:?}");
    let counts = (report.sentences, report.quotes, report.quotes_hold, report.quotes_compared);
    assert_eq!((counts, report.references), ((2, 2, 2, 2), 1));

    let alone = verify_proof(&read, None).await.expect("checked");
    assert!(alone.holds(), "{alone:?}");
    assert_eq!((alone.quotes_hold, alone.quotes_compared), (2, 0));
    assert!(matches!(alone.remarks.as_slice(), [ProofRemark::ReferenceUnchecked { .. }]));
}

#[tokio::test]
async fn what_changed_in_the_source_is_said_with_both_texts() {
    let proof = proof();
    // The quoted words are still there: no failure, unless the datastore is at the very commit.
    let longer = store("Naïve cells grow. They die late [1]. Later.", "Cells");
    let report = checked(&proof, &longer, false).await;
    assert!(report.holds(), "{report:?}");
    let [ProofRemark::SourceChanged { embedded, stored, .. }] = report.remarks.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!((embedded.as_str(), stored.is_some()), (TEXT, true));
    let same = checked(&proof, &longer, true).await;
    assert_eq!(names(&same), ["passage_contradicted"]);

    let cut_anew = MemoryRetriever::new([
        passage("Naïve cells grow.", "Cells", 0),
        passage("They die late [1].", "Cells", 1),
    ]);
    let report = checked(&proof, &cut_anew, false).await;
    assert!(report.holds() && report.remarks.len() == 2, "{report:?}");

    let other = store("Naive cells grow. They die late [1].", "Cells");
    assert_eq!(names(&checked(&proof, &other, false).await), ["quote_not_in_source"]);
    let renamed = store(TEXT, "Other cells");
    assert_eq!(names(&checked(&proof, &renamed, false).await), ["reference_differs"]);
    let empty = MemoryRetriever::new([]);
    assert_eq!(names(&checked(&proof, &empty, false).await), ["passage_missing"]);
}

#[tokio::test]
async fn everything_that_was_changed_in_the_proof_is_named() {
    let check = async |change: &dyn Fn(&mut ProofFile), expect: &[&str]| {
        let mut proof = proof();
        change(&mut proof);
        // Whoever changes a proof takes its digests anew.
        let ProofFile { sentences, references, digests, .. } = &mut proof;
        if let Some(digests) = digests {
            digests.references = digest(references).expect("serialises");
            digests.quotations = digest(&quoted(sentences)).expect("serialises");
            digests.verdicts = digest(&verdicts(sentences)).expect("serialises");
        }
        let report = checked(&proof, &store(TEXT, "Cells"), true).await;
        assert_eq!(names(&report), expect);
        let alone = verify_proof(&proof, None).await.expect("checked");
        let needs_source = ["passage_contradicted", "reference_differs"];
        assert_eq!(alone.holds(), needs_source.contains(&expect[0]), "{alone:?}");
    };
    check(&|proof| proof.sentences[0].quotes[0].end = 18, &["quote_differs"]).await;
    check(&|proof| proof.sentences[0].quotes[0].start = 900, &["quote_differs"]).await;
    check(&|proof| proof.sentences[0].quotes[0].text.clear(), &["quote_differs"]).await;
    check(
        &|proof| proof.sentences[0].quotes[0].reference = Citation(2),
        &["quote_of_other_paper", "citation_unquoted"],
    )
    .await;
    check(&|proof| proof.sentences[1].text = "They die soon.".to_owned(), &["not_verbatim"]).await;
    check(
        &|proof| proof.sentences[0].text = "They say “cells do not grow”.".to_owned(),
        &["quoted_words_missing"],
    )
    .await;
    check(
        &|proof| proof.sentences[0].citations.push(Citation(999)),
        &["citation_unknown", "citation_unquoted"],
    )
    .await;
    check(
        &|proof| proof.sentences[0].quotes.clear(),
        &["citation_unquoted", "gate_unfounded", "gate_unfounded"],
    )
    .await;
    check(&|proof| proof.sentences.swap(0, 1), &["sentence_misplaced", "sentence_misplaced"]).await;
    check(&|proof| proof.references[0].title = "Stars".to_owned(), &["reference_differs"]).await;
    check(
        &|proof| proof.references[0].number = Citation(3),
        &[
            "quote_of_other_paper",
            "citation_unknown",
            "quote_of_other_paper",
            "citation_unknown",
            "reference_misnumbered",
        ],
    )
    .await;
    check(&|proof| proof.passages.clear(), &["passage_not_embedded"]).await;
    let forged = |proof: &mut ProofFile| {
        let text = "Naïve cells shrink. They die late [1].";
        proof.passages[0].text = Some(text.to_owned());
        proof.passages[0].text_sha256 = sha256(text.as_bytes());
        proof.sentences[0].quotes[0] = quote(0, 19, "Naïve cells shrink.");
        proof.sentences[1].quotes[0] = quote(20, 38, "They die late [1].");
    };
    check(&forged, &["passage_contradicted"]).await;
}

#[tokio::test]
async fn digests_are_checked_and_not_believed() {
    for change in [
        |proof: &mut ProofFile| proof.references[0].year = Some(1999),
        |proof: &mut ProofFile| proof.sentences[0].quotes[0].places.clear(),
        |proof: &mut ProofFile| proof.sentences[0].support = None,
        |proof: &mut ProofFile| proof.digests = None,
    ] {
        let mut changed = proof();
        change(&mut changed);
        let report = verify_proof(&changed, None).await.expect("checked");
        assert_eq!(names(&report).is_empty(), changed == proof(), "{report:?}");
    }
    let mut passage = proof();
    passage.passages[0].text_sha256 = sha256(b"");
    let report = verify_proof(&passage, None).await.expect("checked");
    assert_eq!(names(&report), ["passage_changed"]);
}

/// A file of the version before, which has neither texts nor digests.
#[tokio::test]
async fn a_proof_that_is_not_bound_is_checked_against_its_sources() {
    let mut value = serde_json::to_value(proof()).expect("serialises");
    let all = value.as_object_mut().expect("an object");
    all.retain(|key, _| {
        ["question", "sentences", "references", "passages"].contains(&key.as_str())
    });
    all.insert("schema".to_owned(), UNBOUND_PROOF_SCHEMA.into());
    all["passages"][0].as_object_mut().expect("an object").retain(|key, _| key != "text");
    let old: ProofFile = serde_json::from_value(value).expect("readable");
    assert!(!old.is_bound() && old.answer().is_none());
    assert!(checked(&old, &store(TEXT, "Cells"), false).await.holds());
    let changed =
        checked(&old, &store("Naive cells grow. They die late [1].", "Cells"), false).await;
    assert_eq!(names(&changed), ["passage_changed", "quote_differs"]);
    assert_eq!(names(&checked(&old, &MemoryRetriever::new([]), false).await), ["passage_missing"]);
}

#[tokio::test]
async fn another_schema_is_refused() {
    let mut other = proof();
    other.schema = "openscholar.proof/9".to_owned();
    let error = verify_proof(&other, None).await.expect_err("unknown schema");
    assert_eq!(error.kind(), PortErrorKind::Rejected);
}
