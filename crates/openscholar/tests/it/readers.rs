//! Rerankers and judges chosen by folder, and models packed for shipping.

use crate::program::{Program, QUESTION, copy, models};

fn golden(model: &str) -> String {
    models().join("golden").join(model).to_string_lossy().into_owned()
}

#[test]
fn a_folder_reranks_alone_or_beside_the_search() {
    let program = Program::with_papers();
    let folder = program.path("cross");
    copy(&models().join("golden/tiny-bert-cross"), &folder);
    let folder = folder.to_string_lossy().into_owned();
    let search = ["search", "hallucinations in translation", "--reranker", &folder, "-k", "5"];
    let hits = program.json(0, &search)["hits"].clone();
    let scores: Vec<f64> = hits
        .as_array()
        .expect("hits")
        .iter()
        .map(|hit| hit["rerank_score"].as_f64().expect("a score"))
        .collect();
    assert!(scores.len() == 5 && scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    let details = |hits: &serde_json::Value| {
        hits[0]["rerank_explanation"]["details"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(details(&hits), 0, "the logit alone");
    let weights = r#"{"depth": 3, "retrieval": 1, "logit": 0.5, "title": 0.2, "pairs": 0.2}"#;
    fs_err::write(program.path("cross/reading.json"), weights).expect("written");
    let hits = program.json(0, &search)["hits"].clone();
    assert_eq!(details(&hits), 4, "retriever, logit, title, neighbours");
    fs_err::write(program.path("cross/reading.json"), "{}").expect("written");
    program.fails(1, &search, &["reading.json", "hint:"]);
    program.fails(1, &["search", "x", "--reranker", "nobody"], &["no model is called `nobody`"]);
    let judge = golden("tiny-bert-attributor");
    program.fails(1, &["search", "x", "--reranker", &judge], &["3 logits as a reranker"]);
}

#[test]
fn a_folder_without_a_classifier_reads_apart_as_its_weights_say() {
    let program = Program::with_papers();
    let folder = program.path("apart");
    copy(&models().join("golden/tiny-bert-encoder"), &folder);
    let folder = folder.to_string_lossy().into_owned();
    let search = ["search", "hallucinations in translation", "--reranker", &folder, "-k", "5"];
    let details = || {
        let hits = program.json(0, &search)["hits"].clone();
        hits[0]["rerank_explanation"]["details"].clone()
    };
    assert_eq!(details().as_array().map_or(0, Vec::len), 6);
    let weights = r#"{"depth": 9, "retrieval": 0, "tokens": 1, "likeness": 0, "feedback": 0, "title": 0, "pairs": 0}"#;
    fs_err::write(program.path("apart/reading.json"), weights).expect("written");
    let values = details();
    let value = |at: usize| values[at]["value"].as_f64().expect("a number");
    assert!(value(1) > 0.0 && (2..6).all(|at| value(at) == 0.0), "{values}");
    fs_err::write(program.path("apart/reading.json"), r#"{"depth": 9, "logit": 1}"#)
        .expect("written");
    program.fails(1, &search, &["reading.json", "hint:"]);
}

#[test]
fn a_folder_judges_and_its_name_stands_beside_the_verdicts() {
    let program = Program::with_papers();
    for (model, name) in
        [("tiny-bert-attributor", "tiny-bert-attributor/7 ("), ("tiny-t5", "tiny-t5/1 (")]
    {
        let folder = golden(model);
        program.json(0, &["ask", QUESTION, "--generator", "none", "--judge", &folder]);
        let run = program.runs().pop().expect("a run");
        let judge = program.run_json(&run, "run.json")["models"]["judge"].clone();
        assert!(judge.as_str().is_some_and(|judge| judge.starts_with(name)), "{judge}");
        let replayed = program.succeeds(&["runs", "replay", &run]);
        assert!(!replayed.is_empty());
    }
    let ask = |judge: &str, says: &[&str]| {
        program.fails(1, &["ask", QUESTION, "--generator", "none", "--judge", judge], says);
    };
    ask("nobody", &["there is no judge \"nobody\"", "hint:"]);
    ask("all-MiniLM-L6-v2", &["there is no judge"]);
    ask(&golden("tiny-bert-cross"), &["supports, contradicts and neither"]);
    ask("/no/such/judge", &["there is no model folder /no/such/judge"]);
}

#[test]
fn a_packed_model_is_a_model() {
    let program = Program::with_papers();
    let (from, to) = (golden("tiny-bert-cross"), program.path("packed"));
    let to = to.to_string_lossy().into_owned();
    let report = program.json(0, &["models", "pack", &from, &to]);
    assert!(report["packed"].as_u64().is_some_and(|packed| packed >= 7), "{report}");
    let search = |folder: &str| {
        program.json(0, &["search", "translation", "--reranker", folder])["hits"][0]["rerank_score"]
            .as_f64()
            .expect("a score")
    };
    assert!((search(&from) - search(&to)).abs() < 0.1);
    program.fails(1, &["models", "pack", "/no/such/model", &to], &["/no/such/model", "hint:"]);
}
