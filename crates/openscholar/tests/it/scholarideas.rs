//! Reviews of research ideas, measured from one command: dataset, judge, links, pairs, comparison, curation.

use scholar_testing::{Behaviour, ScriptedLmServer, StandIn};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::program::Program;

const RUBRICS: [&str; 2] = [
    "The plan uses only one dataset of news.",
    "The question of the plan is important for the field.",
];

/// A judge that grades, compares and curates.
struct Judge {
    server: ScriptedLmServer,
    _runtime: Runtime,
}

impl Judge {
    fn new() -> Self {
        let runtime = Runtime::new().expect("threads");
        let server = runtime.block_on(ScriptedLmServer::start());
        server.respond_with(|request| Behaviour::Text(said(&request.to_string())));
        Self { server, _runtime: runtime }
    }

    fn options(&self) -> Vec<String> {
        ["--base-url", &self.server.base_url(), "--model", "m"].map(str::to_owned).to_vec()
    }
}

fn said(asked: &str) -> String {
    let verdict = |winner: &str| json!({"rationale": "because", "winner": winner});
    if asked.contains("review_A") {
        // Ours names the dataset, wherever it stands.
        let best = if asked.find("one dataset") < asked.find("nothing at all") { "A" } else { "B" };
        return json!({"evidence_support": verdict(best), "actionability": verdict("A"), "depth": verdict("Tie")})
            .to_string();
    }
    if asked.contains("had before they began") || asked.contains("back into the research plans") {
        return "# Research Plan: X\n\n## Problem\nWhy.\n\n## Method\nHow.\n\n## Experiment Design\nWhat.".to_owned();
    }
    if asked.contains("pick sentences") {
        return "- Only one baseline is planned for comparison.".to_owned();
    }
    if asked.contains("statements about a research plan") {
        return json!({"statement": "Only one baseline is planned.", "type": "weakness", "axis": "soundness", "severity": "major"})
            .to_string();
    }
    for (module, part) in [("soundness", "Method"), ("contribution", "Dimension")] {
        if asked.contains(&format!("Review the {module} of this plan")) {
            return format!(
                "## {part}: news\n\nIt has one dataset of news alone [(Li, 2020-01)](https://a.example/{module})."
            );
        }
    }
    let makes =
        asked.contains("one dataset of news alone") && asked.contains("uses only one dataset");
    format!("It says so or not. [RESULT] {}", if makes { 5 } else { 1 })
}

/// Two ideas with two rubrics each, and reports of two systems.
fn home() -> Program {
    let program = Program::new();
    let put = |name: &str, text: &str| {
        let path = program.path(name);
        fs_err::create_dir_all(path.parent().expect("in the home")).expect("made");
        fs_err::write(path, text).expect("written");
    };
    for id in ["ai_1", "ai_2"] {
        let rubric = |statement: &str| {
            json!({"statement": statement, "type": "weakness", "axis": "soundness", "severity": "major"}).to_string()
        };
        put(&format!("ideas/{id}/{id}.txt"), "# Research Plan: News\n\n## Problem\nWhy.");
        put(&format!("ideas/{id}/{id}.jsonl"), &RUBRICS.map(rubric).join("\n"));
        put(&format!("ideas/{id}/cutoff.txt"), "2024-09-24");
        put(
            &format!("ours/{id}/report.md"),
            "The plan has one dataset of news alone [(Li, 2020-01)](https://a.example/1).",
        );
        put(&format!("ours/{id}/evidence.txt"), "https://a.example/1\n");
        put(&format!("theirs/{id}.md"), "It says nothing at all, see https://a.example/2.");
    }
    program
}

fn run(program: &Program, args: &[&str], more: &[String]) -> Value {
    let at = |name: &str| program.path(name).to_string_lossy().into_owned();
    let mut all = vec!["bench".to_owned(), "scholarideas".to_owned()];
    // Paths are told by their names in the home.
    all.extend(args.iter().map(|arg| arg.strip_prefix('@').map_or_else(|| (*arg).to_owned(), at)));
    all.extend_from_slice(more);
    program.json(0, &all.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn reports_are_graded_paired_and_compared() {
    let (program, judge) = (home(), Judge::new());
    let options = judge.options();
    let counts = run(&program, &["verify", "@ideas"], &[]);
    assert_eq!(counts["fields"][1]["rubrics"], 4);
    assert!(counts["differences"].as_array().is_some_and(|list| !list.is_empty()));
    let data = program.path("ideas").to_string_lossy().into_owned();
    program.fails(
        1,
        &["bench", "scholarideas", "verify", &data, "--release"],
        &["differs from the release"],
    );
    let listed = run(&program, &["list", "@ideas", "--ideas", "ai_2"], &[]);
    assert_eq!(listed["ideas"][0]["id"], "ai_2");
    let dry = run(&program, &["dry", "@ideas", "@ours", "--against", "@theirs"], &[]);
    assert_eq!(dry["measurements"][0]["estimate"]["calls"], 4);
    assert_eq!(dry["measurements"][1]["estimate"]["calls"], 4);

    let ours = run(&program, &["coverage", "@ideas", "@ours", "--out", "@out"], &options);
    assert_eq!((&ours["missing"], &ours["incomplete"]), (&0.into(), &Value::Null));
    assert_eq!(ours["slices"][0]["slices"][0]["mean"]["mean"], 3.0);
    run(&program, &["coverage", "@ideas", "@theirs", "--out", "@out"], &options);
    let args = [
        "compare",
        "@out/coverage-ours.csv",
        "@out/coverage-theirs.csv",
        "--names",
        "ours,theirs",
        "--out",
        "@out",
    ];
    let compared = run(&program, &args, &[]);
    assert_eq!(compared["against"][0]["means"], json!([3.0, 1.0]));
    let text = fs_err::read_to_string(program.path("out/scholarideas.md")).expect("written");
    assert!(
        text.contains("| ScholarEval-Claude † |") && text.contains("reaches the paper's margin"),
        "{text}"
    );

    let pairs =
        run(&program, &["pairwise", "@ideas", "@ours", "@theirs", "--out", "@out"], &options);
    assert_eq!(pairs["rates"][0]["consistent"]["wins"], 2);
    assert_eq!(pairs["rates"][1]["consistent"]["ties"], 2, "the winner follows the position");
}

#[test]
fn a_baseline_is_written_once_and_graded_like_any_report() {
    let (program, judge) = (home(), Judge::new());
    let options = judge.options();
    // Ideas with one text and one cut-off are one question.
    fs_err::write(program.path("ideas/ai_2/ai_2.txt"), "# Research Plan: Blogs").expect("written");
    let args = ["baseline", "@ideas", "--out", "@plain", "--idea", "ai_1"];
    let first = run(&program, &args, &options);
    assert_eq!((&first["ideas"], &first["calls"]), (&1.into(), &2.into()), "{first:#}");
    let report = &first["reports"][0]["report"];
    assert_eq!(report["citations"], json!({"links": 2, "dated": 2, "late": 0}));
    assert_eq!(report["cutoff"], "2024-09-24");
    assert_eq!(first["usage"], report["usage"]);
    let text = fs_err::read_to_string(program.path("plain/ai_1/report.md")).expect("written");
    assert!(text.starts_with("# Soundness\n\n## Method: news\n"), "{text}");
    assert!(text.contains("\n# Contribution\n\n## Dimension: news\n"), "{text}");

    let asked = judge.server.requests().len();
    let all = run(&program, &["baseline", "@ideas", "--out", "@plain"], &options);
    assert_eq!((&all["ideas"], &all["calls"]), (&2.into(), &2.into()), "{all:#}");
    assert_eq!(judge.server.requests().len(), asked + 2, "what is done is not asked again");
    fs_err::remove_file(program.path("plain/ai_1/report.md")).expect("removed");
    let again = run(&program, &["baseline", "@ideas", "--out", "@plain"], &options);
    assert_eq!((&again["calls"], &again["usage"]), (&0.into(), &all["usage"]), "{again:#}");
    let same = fs_err::read_to_string(program.path("plain/ai_1/report.md")).expect("again");
    assert_eq!(same, text, "from the replies that were kept");

    let graded = run(&program, &["coverage", "@ideas", "@plain", "--out", "@out"], &options);
    assert_eq!(graded["slices"][0]["slices"][0]["mean"]["mean"], 3.0);
    let at = |name: &str| program.path(name).to_string_lossy().into_owned();
    let (ideas, plain) = (at("ideas"), at("plain"));
    let mut other = vec!["bench", "scholarideas", "baseline", &ideas, "--out", &plain];
    other.extend(options.iter().take(2).map(String::as_str));
    program.fails(1, &[&other[..], &["--model", "n"]].concat(), &["is by m or by other prompts"]);
}

#[test]
fn links_are_checked_offline_and_by_asking() {
    let program = home();
    let found = run(&program, &["invalidity", "@ours"], &[]);
    assert_eq!((&found["links"]["n"], &found["links"]["hits"]), (&2.into(), &0.into()));
    let theirs = program.path("theirs").to_string_lossy().into_owned();
    program.fails(
        1,
        &["bench", "scholarideas", "invalidity", &theirs],
        &["does not tell its evidence"],
    );

    let server = StandIn::start().expect("a port");
    let codes = ["200", "301", "403", "404", "410", "429", "500", "503", "no-head"];
    let links: Vec<String> =
        codes.iter().map(|code| server.base_url(&format!("/link/{code}"))).collect();
    fs_err::create_dir_all(program.path("asked/eco_1")).expect("made");
    fs_err::write(program.path("asked/eco_1/report.md"), links.join(" and ")).expect("written");
    let asked = program.path("asked").to_string_lossy().into_owned();
    let command = || {
        let mut command = Program::command(&program.path(""));
        command.args([
            "--json",
            "bench",
            "scholarideas",
            "invalidity",
            &asked,
            "--policy",
            "paper",
        ]);
        command.env("OPEN_ACCESS_BASE_URL", server.base_url("/link"));
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let found = command();
    assert_eq!(
        (&found["links"]["n"], &found["links"]["hits"]),
        (&9.into(), &4.into()),
        "{found:#}"
    );
    let requests = server.log().len();
    assert_eq!(command()["links"]["hits"], 4);
    assert_eq!(server.log().len(), requests, "what the log has is not asked again");
}

#[test]
fn papers_and_reviews_become_a_dataset() {
    let (program, judge) = (home(), Judge::new());
    let put = |name: &str, text: &str| {
        let path = program.path(name);
        fs_err::create_dir_all(path.parent().expect("in the home")).expect("made");
        fs_err::write(path, text).expect("written");
    };
    for id in ["eco_1", "eco_2", "eco_3"] {
        put(
            &format!("sources/{id}/paper.md"),
            "# Measuring X\n\n## Abstract\n\nWe measure X.\n\n## Results\n\nX is 3.\n",
        );
        put(&format!("sources/{id}/cutoff.txt"), "2024-01-01\n");
    }
    for id in ["eco_1", "eco_2"] {
        put(
            &format!("sources/{id}/reviews.txt"),
            "Only one baseline is planned for comparison. Typos.",
        );
    }
    let at = |name: &str| program.path(name).to_string_lossy().into_owned();
    let (sources, out) = (at("sources"), at("curated"));
    let mut args = vec!["bench", "scholarideas", "curate", &sources, &out, "--pause", "0"];
    let options = judge.options();
    args.extend(options.iter().map(String::as_str));
    let summary = program.json(1, &args);
    assert_eq!((&summary["processed"], &summary["failed"]), (&3.into(), &1.into()), "{summary:#}");
    assert!(summary["papers"][2]["failed"].as_str().is_some_and(|why| why.contains("reviews.txt")));
    assert_eq!(summary["papers"][0]["left_out"], json!(["Results"]));
    let counts = run(&program, &["list", "@curated"], &[]);
    assert_eq!(counts["ideas"].as_array().map(Vec::len), Some(2));
}
