use std::sync::Arc;

use scholar_core::{CharSpan, PaperMeta, Passage, PassageId, PassageKind, PortErrorKind};
use scholar_testing::{MemoryRetriever, ScriptedGenerator};

use super::super::Document;
use super::*;
use crate::data::source::SourceName;

const TOPICS: [&str; 10] =
    ["salt", "tea", "sleep", "noise", "light", "exercise", "sugar", "coffee", "stress", "music"];

fn plan() -> Plan {
    let mut documents: Vec<Document> = TOPICS
        .iter()
        .map(|topic| Document {
            paper: (*topic).to_owned(),
            title: format!("{topic} and the heart"),
            text: format!("{topic}ing, {topic}able, {topic}work and {topic}ology: blood pressure."),
        })
        .collect();
    // A second record of the paper that answers, and a printing of it by others.
    documents.push(Document { paper: "salt".to_owned(), ..documents[1].clone() });
    documents.push(Document { paper: "copy".to_owned(), ..documents[0].clone() });
    let prompt = Prompt {
        source: SourceName::Scifact,
        kind: "claim",
        query: "salt changes blood pressure of the heart".to_owned(),
        pool: 0,
        positives: vec![0],
        related: vec![0, 2],
        form: Form::Whole,
        labelled: true,
    };
    let pool = Pool { name: "hearts".to_owned(), documents };
    Plan { pools: vec![pool], prompts: vec![prompt], ledger: Ledger::default() }
}

fn retriever(plan: &Plan) -> MemoryRetriever {
    let documents = plan.pools[0].documents.iter().enumerate();
    MemoryRetriever::new(documents.map(|(number, document)| {
        let id = PaperId::Local(document_name(number));
        let passage = Passage {
            id: PassageId { paper: id.clone(), ordinal: 0 },
            title: document.title.clone(),
            section: String::new(),
            kind: PassageKind::Abstract,
            span: CharSpan::new(0, document.text.chars().count()),
            text: document.text.clone(),
            places: Vec::new(),
        };
        (passage, Arc::new(PaperMeta::new(id, document.title.clone())))
    }))
}

fn rules() -> MiningRules {
    MiningRules { at_least: 3, negatives: 6, hardest: 2, ..MiningRules::paper() }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("fakes answer at once"),
    }
}

#[test]
fn negatives_are_hits_that_cannot_answer() {
    let plan = plan();
    let searched = retriever(&plan);
    let mut steps = Vec::new();
    let mined = wait(mine(&plan, 0, &searched, &rules(), Grader::Rules, &mut |n| steps.push(n)));
    let (rows, ledger) = mined.expect("mined");
    let [(group, row)] = &rows[..] else { panic!("one group, not {}", rows.len()) };
    assert_eq!(group, "salt");
    assert_eq!(row.pos, [plan.pools[0].documents[0].passage(Form::Whole)]);
    assert_eq!(row.neg.len(), 6);
    assert!(row.neg.iter().all(|text| !text.starts_with("salt") && !text.starts_with("sleep")));
    assert!(ledger.removed()["scifact"]["label 3"] >= 2, "{:?}", ledger.removed());
    assert_eq!(steps, [1]);
    assert_eq!(searched.requests()[0].top_k, 50);
    let again = wait(mine(&plan, 0, &retriever(&plan), &rules(), Grader::Rules, &mut |_| {}));
    assert_eq!(again.expect("mined").0, rows, "the same every time");
}

#[test]
fn a_model_may_doubt_what_rules_let_pass() {
    let plan = plan();
    let searched = retriever(&plan);
    let answers = [0.0, 0.0, 0.0, -0.1, -3.0].map(|p: f32| p - 3.0);
    let model = (0..9).fold(ScriptedGenerator::new("m"), |model, _| {
        model.choice("label training data", &answers)
    });
    let mined = wait(mine(&plan, 0, &searched, &rules(), Grader::Model(&model), &mut |_| {}));
    let (rows, ledger) = mined.expect("mined");
    // Ties go to the higher grade: everything is graded 3, nothing is a negative.
    assert!(rows.is_empty());
    assert_eq!(ledger.removed()["scifact"]["too few negatives"], 1);
    assert!(ledger.removed()["scifact"]["graded 3 or more by the model"] >= 6);
}

#[test]
fn groups_without_enough_negatives_and_failing_searches_are_told() {
    let plan = plan();
    let strict = MiningRules { at_least: 40, ..rules() };
    let mined = wait(mine(&plan, 0, &retriever(&plan), &strict, Grader::Rules, &mut |_| {}));
    let (rows, ledger) = mined.expect("mined");
    assert!(rows.is_empty());
    let error = finish(rows, ledger, &Settings::paper()).expect_err("nothing is left");
    assert!(
        error.to_string().contains("label 3") || error.to_string().contains("too few"),
        "{error}"
    );
    let broken = retriever(&plan).failing(PortErrorKind::Unavailable, "disk gone");
    let error = wait(mine(&plan, 0, &broken, &rules(), Grader::Rules, &mut |_| {}));
    let text = error.expect_err("no search").to_string();
    assert!(text.contains("salt changes"), "{text}");
}

#[test]
fn queries_that_repeat_are_left_out_once() {
    let plan = plan();
    let mined = wait(mine(&plan, 0, &retriever(&plan), &rules(), Grader::Rules, &mut |_| {}));
    let (rows, ledger) = mined.expect("mined");
    let twice = vec![rows[0].clone(), rows[0].clone()];
    let settings = Settings { dev_fraction: 0.0, ..Settings::paper() };
    let made = finish(twice, ledger, &settings).expect("one is left");
    assert_eq!(made.train.len(), 1);
    assert_eq!(made.ledger.removed()["scifact"]["near-duplicate query"], 1);
    assert_eq!(made.ledger.kept()["scifact"]["claim"], 1);
}

#[test]
fn the_corpus_is_one_document_a_line() {
    let text = corpus(&plan().pools[0]);
    assert_eq!(text.lines().count(), 12);
    let first: serde_json::Value =
        serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["_id"], document_name(0));
    assert_eq!(number(&PaperId::Local(document_name(41))), Some(41));
}

#[test]
fn held_out_queries_are_judged_as_beir_has_it() {
    let mut plan = plan();
    let hidden = Prompt {
        query: "coffee and the heart".to_owned(),
        form: Form::Text,
        ..plan.prompts[0].clone()
    };
    plan.prompts.push(hidden);
    let row = |query: &str| RerankRow {
        query: query.to_owned(),
        pos: vec!["right".to_owned()],
        neg: vec!["wrong".to_owned()],
        pos_scores: Vec::new(),
        neg_scores: Vec::new(),
        source: None,
    };
    assert_eq!(judged(&plan, 0, &[row("something else")], 9), None);
    assert_eq!(judged(&plan, 0, &[row("coffee and the heart")], 9), None, "its title is the query");
    let (queries, grades) = judged(&plan, 0, &[row(&plan.prompts[0].query)], 9).expect("one");
    assert_eq!(queries.lines().count(), 1);
    assert_eq!(grades, "query-id\tcorpus-id\tscore\nquery-0\tdocument-0\t1\n");
    assert_eq!(judged(&plan, 1, &[row(&plan.prompts[0].query)], 9), None, "of another pool");
}
