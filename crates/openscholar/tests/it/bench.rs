//! The benchmark from one command: asked, continued, scored, reported.

use std::path::Path;

use scholar_testing::standin::world::world;
use scholar_testing::{Behaviour, StandIn};
use serde_json::Value;

use crate::model::{Model, dead_address};
use crate::program::{Program, text};
use crate::stopped::signal;

/// Excerpts of the benchmark's files.
fn data() -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../scholar-bench/tests/data/scholarqabench");
    path.to_string_lossy().into_owned()
}

/// A model that finds every claim true.
fn believer() -> Model {
    Model::with(|_, _| Some(Behaviour::Text("[Response_Start]true[Response_End]".to_owned())))
}

fn home() -> Program {
    let program = Program::new();
    program.configure();
    program
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs_err::read_to_string(path).expect("there");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn metric<'a>(scores: &'a Value, name: &str) -> &'a Value {
    let metrics = scores["metrics"].as_array().expect("metrics");
    metrics.iter().find(|metric| metric["metric"] == name).unwrap_or_else(|| panic!("{scores:#}"))
}

#[test]
fn claims_over_their_own_paragraph_from_the_first_to_the_report() {
    let program = home();
    let model = believer();
    let (data, url) = (data(), model.base_url());
    let run = program.path("gold").to_string_lossy().into_owned();
    let args = [
        "bench",
        "run",
        "scifact",
        "--system",
        "gold-context",
        "--data",
        &data,
        "--out",
        &run,
        "--base-url",
        &url,
    ];
    let manifest = program.json(0, &args);
    assert_eq!((&manifest["state"], &manifest["counts"]["answered"]), (&"done".into(), &6.into()));
    assert_eq!(manifest["config"]["task"], "claim_gold");
    let predictions = lines(&program.path("gold/predictions.jsonl"));
    assert_eq!(predictions.len(), 6);
    assert!(predictions.iter().all(|one| one["output"] == "true" && one["ctxs"][0]["text"] != ""));
    let calls = model.purposes().len();
    program.json(0, &args);
    assert_eq!(model.purposes().len(), calls, "a finished run asks nobody");

    let scores = program.json(0, &["bench", "score", &run, "--judge", "lexical"]);
    let true_ones = predictions.iter().filter(|one| one["answer"] == "true").count();
    let accuracy = metric(&scores, "accuracy (label)");
    let expected = f64::from(u32::try_from(true_ones).expect("few")) / 6.0;
    assert!((accuracy["estimate"]["mean"].as_f64().expect("a mean") - expected).abs() < 1e-9);
    assert_eq!(metric(&scores, "citation recall (corrected)")["judge"]["name"], "lexical/1");
    program.succeeds(&["bench", "score", &run, "--judge", "none", "--citations", "upstream"]);

    let out = program.path("report").to_string_lossy().into_owned();
    let report = program.json(0, &["bench", "report", &run, "--out", &out]);
    assert_eq!(report["schema"], "openscholar.bench-report/1");
    assert!(
        !report.to_string().contains(&*program.path("").to_string_lossy())
            || report["runs"][0]["manifest"]["data"].is_null()
    );
    for file in
        ["scholarqabench.md", "scholarqabench.html", "scholarqabench.csv", "items/gold/index.html"]
    {
        assert!(program.path("report").join(file).is_file(), "{file}");
    }
    let markdown = fs_err::read_to_string(program.path("report/scholarqabench.md")).expect("there");
    assert!(markdown.contains("OS-8B †") && markdown.contains("76 †"), "{markdown}");
}

#[test]
fn a_budget_keeps_what_was_answered_and_the_same_command_goes_on() {
    let program = home();
    let model = believer();
    let (data, url) = (data(), model.base_url());
    let run = program.path("run").to_string_lossy().into_owned();
    let args = [
        "bench",
        "run",
        "scifact",
        "--system",
        "no-retrieval",
        "--data",
        &data,
        "--out",
        &run,
        "--base-url",
        &url,
        "--parallel",
        "1",
    ];
    let cut = program.json(4, &[&args[..], &["--max-calls", "2"]].concat());
    assert_eq!(cut["state"], "out_of_budget");
    assert!(cut["ended_by"].as_str().expect("why").contains("2 model calls"), "{cut:#}");
    assert_eq!((&cut["counts"]["answered"], &cut["counts"]["cut"]), (&2.into(), &1.into()));
    let scores = program.json(0, &["bench", "score", &run, "--judge", "none"]);
    assert_eq!(metric(&scores, "accuracy (label)")["n"], 2);
    assert!(scores["warnings"].to_string().contains("have no answer"), "{scores:#}");
    let whole = program.json(0, &args);
    assert_eq!((&whole["state"], &whole["counts"]["answered"]), (&"done".into(), &6.into()));
    // One of the six repeats a claim and is answered once.
    assert_eq!(model.purposes().len(), 5);
    let says = ["contains a run with a different", "--out"];
    program.fails(1, &[&args[..], &["--seed", "9"]].concat(), &says);
}

#[test]
fn a_terminated_run_keeps_its_answers_and_the_same_command_goes_on() {
    let program = home();
    let (tell, told) = std::sync::mpsc::channel();
    let tell = parking_lot::Mutex::new(tell);
    let calls = std::sync::atomic::AtomicUsize::new(0);
    // Its third call is never answered to the end; all others are.
    let model = Model::with(move |_, _| {
        let before = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Some(if before == 2 {
            tell.lock().send(()).expect("the test listens");
            Behaviour::HangAfter("[Response_Start]tr".to_owned())
        } else {
            Behaviour::Text("[Response_Start]true[Response_End]".to_owned())
        })
    });
    let (data, url) = (data(), model.base_url());
    let out = program.path("run").to_string_lossy().into_owned();
    let args = ["bench", "run", "scifact", "--system", "no-retrieval", "--parallel", "1"];
    let args = [&args[..], &["--data", &data, "--out", &out, "--base-url", &url]].concat();
    let child = program.start(&args);
    told.recv_timeout(std::time::Duration::from_secs(60)).expect("the third call comes");
    signal(&child, "TERM");
    let (code, _, stderr) = text(&child.wait_with_output().expect("ends"));
    assert_eq!(code, 143, "{stderr}");
    let kept = lines(&program.path("run/predictions.jsonl")).len();
    let whole = program.json(0, &args);
    assert_eq!((&whole["state"], &whole["counts"]["answered"]), (&"done".into(), &6.into()));
    assert!(kept >= 2, "two answers were given before: {kept}");
    // Five different claims, and the one that was cut off again.
    assert_eq!(model.purposes().len(), 6);
}

#[test]
fn a_torn_journal_goes_on() {
    let program = home();
    let model = believer();
    let (data, url) = (data(), model.base_url());
    let run = program.path("run").to_string_lossy().into_owned();
    let args = [
        "bench",
        "run",
        "scifact",
        "--system",
        "gold-context",
        "--data",
        &data,
        "--out",
        &run,
        "--base-url",
        &url,
        "--limit",
        "3",
    ];
    program.json(0, &args);
    let journal = program.path("run/predictions.jsonl");
    let whole = fs_err::read_to_string(&journal).expect("there");
    fs_err::write(&journal, &whole[..whole.len() - 40]).expect("written");
    let again = program.json(0, &args);
    assert_eq!(again["counts"]["answered"], 3);
    assert_eq!(model.purposes().len(), 4, "the torn item alone is asked again");
}

#[test]
fn a_dead_server_ends_a_run_and_a_dead_judge_keeps_the_scores() {
    let program = home();
    let dead = dead_address();
    let data = data();
    let run = program.path("run").to_string_lossy().into_owned();
    let args = [
        "bench",
        "run",
        "scifact",
        "--system",
        "gold-context",
        "--data",
        &data,
        "--out",
        &run,
        "--base-url",
        &dead,
    ];
    let ended = program.json(3, &args);
    assert_eq!(ended["state"], "gave_up");
    assert!(
        ended["ended_by"].as_str().expect("why").contains("no language model server"),
        "{ended:#}"
    );
    let model = believer();
    let url = model.base_url();
    let mut alive = args;
    alive[10] = &url;
    assert_eq!(program.json(0, &alive)["state"], "done");
    // Nothing is cited in this task variant: give the judge something to be asked about.
    let cited = program.path("cited.jsonl");
    let rows: String = lines(&program.path("run/predictions.jsonl"))
        .into_iter()
        .filter(|row| row["status"] == "answered")
        .map(|mut row| {
            row["output"] = "true [0]".into();
            row.to_string() + "\n"
        })
        .collect();
    fs_err::write(&cited, rows).expect("written");
    let file = cited.to_string_lossy().into_owned();
    let judged = program.json(
        3,
        &[
            "bench",
            "score",
            &file,
            "--task",
            "scifact",
            "--data",
            &data,
            "--judge",
            "lm",
            "--base-url",
            &dead,
        ],
    );
    assert!(judged["incomplete"].as_str().expect("why").contains("no language model server"));
    assert_eq!(metric(&judged, "accuracy (label)")["n"], 6, "what needs no judge is there");
    assert_eq!(metric(&judged, "citation recall (corrected)")["n"], 0);
}

#[test]
fn evidence_answers_a_frozen_set_and_ablations_are_compared() {
    let program = Program::with_papers();
    let data = data();
    let path = |name: &str| program.path(name).to_string_lossy().into_owned();
    let (whole, less, sets) = (path("whole"), path("less"), path("sets.jsonl"));
    let base = [
        "bench",
        "run",
        "multi",
        "--system",
        "evidence",
        "--data",
        &data,
        "--generator",
        "none",
        "--before",
        "none",
    ];
    let manifest =
        program.json(0, &[&base[..], &["--out", &whole, "--save-retrieved", &sets]].concat());
    assert_eq!(manifest["counts"]["items"], 3);
    assert_eq!(manifest["datastore"], "papers");
    assert_eq!(lines(&program.path("sets.jsonl")).len(), 3);
    let frozen = ["--retrieved", &sets, "--no-rerank", "--no-feedback"];
    program.json(0, &[&base[..], &["--out", &less], &frozen].concat());
    for run in [&whole, &less] {
        program.json(0, &["bench", "score", run, "--judge", "lexical"]);
    }
    let report = program.succeeds(&["bench", "report", &whole, &less]);
    assert!(report.contains("Parts taken out of evidence"), "{report}");
    assert!(report.contains("no rerank, no feedback"), "{report}");
    let cut = path("cut.jsonl");
    let first = fs_err::read_to_string(program.path("sets.jsonl")).expect("there");
    fs_err::write(program.path("cut.jsonl"), first.lines().next().expect("one")).expect("written");
    let says = ["none for 2 of 3 items", "--save-retrieved"];
    program.fails(1, &[&base[..], &["--out", &path("x"), "--retrieved", &cut]].concat(), &says);
    // A strict day before every paper leaves no evidence, and says so item by item.
    let mut past = base;
    past[10] = "1900-01-01";
    let old = program.json(0, &[&past[..], &["--out", &path("old")]].concat());
    assert_eq!(old["counts"]["abstained"], 3);
}

#[test]
fn predictions_of_others_are_taken_in_and_given_out() {
    let program = home();
    let data = data();
    let path = |name: &str| program.path(name).to_string_lossy().into_owned();
    let write = |name: &str, text: &str| fs_err::write(program.path(name), text).expect("written");
    let bio =
        fs_err::read_to_string(Path::new(&data).join("scholarqabench_bio.jsonl")).expect("there");
    let rows: Vec<Value> = bio
        .lines()
        .map(|line| {
            let item: Value = serde_json::from_str(line).expect("JSON");
            serde_json::json!({"input": item["input"], "output": "It does [0].", "ctxs": [{"title": "T", "text": "It does."}]})
        })
        .collect();
    write("theirs.json", &Value::Array(rows.clone()).to_string());
    let (run, system) = (path("theirs"), format!("predictions:{}", path("theirs.json")));
    let args = ["bench", "run", "bio", "--system", &system, "--data", &data, "--out", &run];
    let manifest = program.json(0, &args);
    assert_eq!(
        (&manifest["system"], &manifest["counts"]["answered"]),
        (&"predictions".into(), &4.into())
    );
    let rubric = program.succeeds(&["bench", "convert", &run, "--to", "rubric"]);
    let first: Value = serde_json::from_str(rubric.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["answer_text"], "It does [0].\n\nReferences:\n[0] T It does.");

    write("twice.json", &Value::Array([&rows[..1], &rows[..1]].concat()).to_string());
    let twice = path("twice.json");
    let score = |file: &str| {
        vec!["bench", "score", file, "--task", "bio", "--data", &data]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let fails = |args: Vec<String>, says: &[&str]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        program.fails(1, &args, says);
    };
    fails(score(&twice), &["record 2 has the id", "record 1"]);
    write("unknown.jsonl", "{\"input\": \"Who?\", \"output\": \"x\"}\n");
    fails(score(&path("unknown.jsonl")), &["1 of 1 predictions", "\"Who?\"", "--skip-unknown"]);
    write("broken.jsonl", "{\"input\": \"Who?\"}\n");
    fails(score(&path("broken.jsonl")), &["line 1: the field `output` is missing"]);
    fails(vec!["bench".into(), "score".into(), twice.clone()], &["--task"]);
    write(
        "empty.jsonl",
        &rows
            .iter()
            .map(|row| {
                let mut row = row.clone();
                row["output"] = "".into();
                row.to_string() + "\n"
            })
            .collect::<String>(),
    );
    let scores = program
        .json(0, &["bench", "score", &path("empty.jsonl"), "--task", "bio", "--data", &data]);
    assert_eq!(metric(&scores, "citation recall (corrected)")["n"], 0, "no sentence, no score");
    assert_eq!(metric(&scores, "words")["uniform"], "all_zero");
    assert!(scores["warnings"].to_string().contains("all 4 values are 0"));
    let huge = format!(
        "{{\"input\": {}, \"output\": \"{}\"}}\n",
        rows[0]["input"],
        "word ".repeat(210_000)
    );
    write("huge.jsonl", &huge);
    let output = program.run(&[
        "--json",
        "bench",
        "score",
        &path("huge.jsonl"),
        "--task",
        "bio",
        "--data",
        &data,
    ]);
    let (code, stdout, stderr) = text(&output);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("1050000 characters"), "{stderr}");
    let scores: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(metric(&scores, "abstained")["n"], 0);
}

#[test]
fn what_does_not_fit_is_said_before_anything_is_asked() {
    let program = home();
    let data = data();
    let run = program.path("run").to_string_lossy().into_owned();
    let check = |task: &str, system: &str, extra: &[&str], says: &[&str]| {
        let args = ["bench", "run", task, "--system", system, "--data", &data, "--out", &run];
        program.fails(1, &[&args[..], extra].concat(), says);
    };
    check("sciFact", "evidence", &[], &["there is no task \"sciFact\"", "scifact"]);
    check("scifact", "best", &[], &["there is no system \"best\"", "gold-context"]);
    check("scifact", "evidence", &[], &["no label"]);
    check("bio", "gold-context", &[], &["no passages of its own"]);
    check("qasa", "gold-context", &[], &["qasa_test.jsonl", "QASA release"]);
    check("bio", "model-alone", &["--generator", "none"], &["asks the model of a server"]);
    check(
        "bio",
        "evidence",
        &["--before", "May", "--generator", "none"],
        &["is not a date (YYYY-MM-DD)"],
    );
    assert!(!program.path("run").exists(), "nothing was begun");
    program.fails(1, &["bench", "report", &data], &["is not a run folder", "bench run"]);
}

#[cfg(feature = "self-test")]
#[test]
fn broken_inputs_break_no_reader() {
    let program = home();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scholar-formats/tests/data");
    let samples = samples.to_string_lossy().into_owned();
    let report = program.json(0, &["bench", "fuzz", &samples, "--inputs", "12"]);
    let readers = report["readers"].as_array().expect("a list");
    let named = |name: &str| readers.iter().any(|reader| reader["reader"] == name);
    for name in ["PDF", "BibTeX", "rows of papers", "Semantic Scholar: batch", "Zotero: items"] {
        assert!(named(name), "{name}: {readers:#?}");
    }
    for reader in readers {
        let of = |field: &str| reader[field].as_u64().expect("a number");
        assert_eq!((of("inputs"), &reader["failures"]), (12, &serde_json::json!([])), "{reader}");
    }
    let read: u64 = readers.iter().filter_map(|reader| reader["readable"].as_u64()).sum();
    assert!(read > 0, "some damage is where nothing stands");
    program.fails(1, &["bench", "fuzz", "/no/such/samples"], &["/no/such/samples"]);
}

#[test]
fn a_folder_that_is_no_collection_is_told_however_it_is_named() {
    let program = Program::new();
    program.configure();
    fs_err::create_dir_all(program.path("facts_test9")).expect("made");
    let whole = program.path("facts_test9").to_string_lossy().into_owned();
    for (folder, says) in [
        ("facts_test9", "facts_test9 has no corpus.jsonl"),
        ("./facts_test9", "facts_test9 has no corpus.jsonl"),
        (whole.as_str(), "facts_test9 has no corpus.jsonl"),
        (".", ". has no corpus.jsonl"),
        ("absent_test9", "absent_test9 is not a folder"),
    ] {
        let mut command = Program::command(&program.path(""));
        command.current_dir(program.path("")).args(["bench", "retrieval", folder]);
        let (code, _, stderr) = text(&command.output().expect("the program starts"));
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains(says) && stderr.contains("queries.jsonl"), "{folder}: {stderr}");
    }
}

#[test]
fn a_server_grades_beside_another_judge_and_compares_runs() {
    let program = home();
    let data = data();
    // Three answers are graded in three aspects; then the answer that is read first is always the better one.
    const GRADES: usize = 9;
    let model = Model::with(|_, nth| {
        let first = r#"{"reason": "r", "better": "1"}"#;
        Some(Behaviour::Text(if nth < GRADES { "Good. [RESULT] 4" } else { first }.to_owned()))
    });
    let url = model.base_url();
    let path = |name: &str| program.path(name).to_string_lossy().into_owned();
    let (a, b) = (path("a"), path("b"));
    for (run, more) in [(&a, &[][..]), (&b, &["--top-n", "1"][..])] {
        let args = ["bench", "run", "multi", "--system", "evidence+gold", "--generator", "none"];
        program.json(0, &[&args[..], &["--data", &data, "--out", run], more].concat());
    }
    let rubrics = format!("{data}/rubrics.json");
    let grading = ["bench", "score", &a, "--judge", "lexical", "--grade", "--rubrics", &rubrics];
    let scores = program.json(0, &[&grading[..], &["--base-url", &url, "--against", &b]].concat());
    assert_eq!(metric(&scores, "coverage")["n"], 3);
    assert_ne!(metric(&scores, "coverage")["judge"]["name"], "lexical/1");
    assert_eq!(metric(&scores, "citation recall (corrected)")["judge"]["name"], "lexical/1");
    let report = program.succeeds(&["bench", "report", &a, &b]);
    for part in ["all 3 pairs are ties", "changed with the order", "6 of 6 verdicts"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    for (args, says) in [
        (&["--against", &b][..], "--against needs a model"),
        (&["--labels", &data, "--judge", "none"], "--judge none names none"),
        (&["--base-url", &url], "names a server that nothing here uses"),
    ] {
        program.fails(1, &[&["bench", "score", &a][..], args].concat(), &[says]);
    }
}

/// Lists a paper of the stand-in's library and one that nobody wrote, and cites both.
fn inventor() -> Model {
    let known = world().papers.iter().find(|work| work.summary.is_some()).expect("one");
    let title = known.title.clone();
    Model::with(move |_, _| {
        let text = format!(
            "[Response_Start]What was found about it is told at length in one of the papers below [1]. \
             The opposite was found in another paper that is said to be among them [2].\n\n\
             References:\n[1] {title}\n[2] A Study That Nobody Ever Made of Anything[Response_End]"
        );
        Some(Behaviour::Text(text))
    })
}

#[test]
fn papers_that_a_model_alone_lists_are_looked_up_once() {
    let program = home();
    let model = inventor();
    let (data, url) = (data(), model.base_url());
    let run = program.path("alone").to_string_lossy().into_owned();
    let args = ["bench", "run", "bio", "--system", "no-retrieval", "--data", &data, "--limit", "1"];
    program.json(0, &[&args[..], &["--out", &run, "--base-url", &url]].concat());

    // Nobody to ask.
    let score = ["--json", "bench", "score", &run, "--judge", "lexical"];
    let scores = program.json(0, &score[1..]);
    let recall = metric(&scores, "citation recall (corrected)");
    assert!(
        recall["estimate"].is_null() && recall["left_out"].to_string().contains("not looked up")
    );
    assert!(scores["warnings"].to_string().contains("--sources"), "{scores:#}");

    let server = StandIn::start().expect("a loopback port");
    let scored = |program: &Program| -> Value {
        let mut command = Program::command(&program.path(""));
        command.envs(server.settings()).args(score).args(["--sources", "s2"]);
        let (code, stdout, stderr) = text(&command.output().expect("the program starts"));
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).expect("JSON")
    };
    let scores = scored(&program);
    let totals = &scores["hallucination"]["totals"];
    assert_eq!(
        (&totals["listed"], &totals["found"], &totals["with_abstract"]),
        (&2.into(), &1.into(), &1.into())
    );
    assert_eq!(totals["looked_up_in"], "s2");
    assert_eq!(metric(&scores, "citation recall (corrected)")["n"], 1);
    let verdicts = scores["verdicts"].as_object().expect("by item").values().next().expect("one");
    assert_eq!((&verdicts["sentences"], &verdicts["out_of_range"]), (&2.into(), &1.into()));

    // What was found stands in the run's folder: nobody is asked again, cache or not.
    assert!(program.path("alone/titles-s2.jsonl").is_file());
    let asked = server.log().len();
    assert_eq!(scored(&program)["hallucination"], scores["hallucination"]);
    assert_eq!(server.log().len(), asked);
}

/// Plays every part of a tree of retrievals, told apart by what the prompts ask for.
fn explorer() -> Model {
    let model = Model::honest();
    model.server().respond_with(|request| {
        let prompt = request["messages"].to_string();
        let says = |part: &str| prompt.contains(part);
        let text = if says("Plan the answer to the question below") {
            "[Response_Start]1. (100%) Findings: what was found.[Response_End]"
        } else if says("Compare the answer with its outline and the question") {
            "(1) neural machine translation"
        } else if says("decide for each paper whether the answer should use it") {
            r#"{"papers":[],"relationships":[],"final_selection":[{"paper_index":1,"rank":1,"justification":"It fits."}],"discarded_items":[]}"#
        } else if says("Judgment: Yes") {
            "Judgment: Yes [0]. It was found [0]."
        } else if says("Judgment: True") {
            "Judgment: True [0]. It was found [0]."
        } else if says("F1 |") {
            "## Findings\nF1 | Hallucinations occur in neural machine translation. [0]\n## Short answer\nS F1 | They do."
        } else {
            "Hallucinations occur in neural machine translation [0]."
        };
        Behaviour::Text(text.to_owned())
    });
    model
}

#[test]
fn every_task_can_be_asked_of_scirag_and_its_parts_are_ablations() {
    let program = Program::with_papers();
    let model = explorer();
    let (data, url) = (data(), model.base_url());
    // Of QASA there is no excerpt here; `every_task_can_be_explored` asks it.
    let tasks = ["scifact", "pubmedqa", "cs", "multi", "bio", "neuro"];
    for task in tasks {
        let out = program.path(task).to_string_lossy().into_owned();
        let args = ["bench", "run", task, "--system", "scirag", "--data", &data, "--limit", "1"];
        let rest = ["--before", "none", "--base-url", &url, "--out", &out];
        let ran = program.run(&[&args[..], &rest, &["--json"]].concat());
        let manifest: Value = serde_json::from_slice(&ran.stdout).expect("a manifest");
        assert_eq!(manifest["counts"]["failed"], 0, "{task}: {manifest:#}");
        assert_eq!(manifest["config"]["mode"], "scirag", "{task}");
        let sampling = manifest["config"]["scirag"]["sampling"].as_object().expect("calls");
        assert!(sampling.values().all(|call| call["temperature"] == 0.0), "{task}");
    }
    let out = program.path("flat").to_string_lossy().into_owned();
    let args = ["bench", "run", "multi", "--system", "scirag", "--data", &data, "--limit", "1"];
    let rest = ["--before", "none", "--base-url", &url, "--out", &out];
    let less = ["--max-depth", "0", "--planner", "off", "--rerank", "dense", "--json"];
    let ran = program.run(&[&args[..], &rest, &less].concat());
    let manifest: Value = serde_json::from_slice(&ran.stdout).expect("a manifest");
    let ablation = &manifest["ablation"]["exploration"];
    assert_eq!((&ablation["no_planner"], &ablation["max_depth"]), (&true.into(), &0.into()));
    assert_eq!(ablation["rerank"], "dense");
    let wrong = ["bench", "run", "multi", "--system", "evidence", "--data", &data, "--out", "x"];
    program.fails(1, &[&wrong[..], &["--tree", "parallel"]].concat(), &["only scirag plans"]);
}
