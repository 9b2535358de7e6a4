//! `review`: a whole run against a scripted model, its run folder, and ideas that are none.

use scholar_core::text::sentences::sentence_texts;
use scholar_testing::{Behaviour, ScriptedLmServer, pdf};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::program::{Program, text};

mod real;
mod sources;
mod stopped;

pub(crate) const IDEA: &str = "# Research Plan: Retrieval against hallucination\n\n## Problem\nNeural machine translation \
hallucinates, and it is unknown whether retrieved passages help.\n\n## Method\nWe detect hallucinations in translation with \
model probabilities, and retrieve passages with dense passage retrieval.\n";

/// Keys of the papers of a prompt, with a sentence of each.
fn papers(prompt: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in prompt.lines() {
        if let Some((key, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            found.push((key.to_owned(), String::new()));
        } else if let Some(words) =
            line.strip_prefix("(Abstract) ").or(line.strip_prefix("Results: "))
            && let Some((_, sentence)) = found.last_mut().filter(|(_, known)| known.is_empty())
        {
            let first = sentence_texts(words).into_iter().find(|one| one.len() > 60);
            first.unwrap_or(words).clone_into(sentence);
        }
    }
    found
}

pub(crate) fn reply(request: &Value) -> Behaviour {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let prompt = messages.last().map(|one| one["content"].as_str().unwrap_or_default().to_owned());
    let prompt = prompt.unwrap_or_default();
    let papers = papers(&prompt);
    let each = |of: &dyn Fn(&str, &str) -> Value| json!({"papers": papers.iter().map(|(key, words)| of(key, words)).collect::<Vec<_>>()});
    let (key, words) = papers.first().cloned().unwrap_or_default();
    let value = if prompt.contains("List the methods it relies on") {
        json!({"methods": [{"text": "Detect hallucinations with model probabilities.", "query": "hallucination in translation"}]})
    } else if prompt.contains("which methods of it are related") {
        each(&|key, words| json!({"key": key, "method": words, "results": words, "context": ""}))
    } else if prompt.contains("Judge whether the literature supports") {
        json!({"support": format!("{words} [{key}] [link](https://evil.example/x)"), "contradictions": "",
            "suggested_action": "Repeat the runs.", "score": 6})
    } else if prompt.contains("Sum them up") {
        json!({"strengths": ["Detection rests on earlier work [S1]."], "weaknesses": [], "suggestions": []})
    } else if prompt.contains("Along which dimensions") {
        json!({"dimensions": [{"name": "method", "statements": [{"text": "Retrieval reduces hallucination.",
            "queries": ["hallucination in translation"]}]}]})
    } else if prompt.contains("How near is the contribution") {
        each(&|key, _| json!({"key": key, "score": 4, "rationale": "near"}))
    } else if prompt.contains("your part is the plan itself") {
        json!({"points": [
            {"kind": "baseline", "weight": "major", "quotes": ["retrieve passages with dense passage retrieval"],
             "matter": "No other retriever is compared.", "action": "Add BM25."},
            {"kind": "data", "weight": "minor", "quotes": [], "matter": "The language pairs are not named.", "action": ""},
        ]})
    } else if prompt.contains("Compare the plan below") {
        each(
            &|key, _| json!({"key": key, "overall": "near", "dimensions": {"D1": {"comparison": "c", "score": 0}}}),
        )
    } else {
        json!({"dimensions": {"D1": {"strengths": "", "weaknesses": format!("{words} [{key}]"), "suggestions": ""}}})
    };
    Behaviour::Text(value.to_string())
}

pub(crate) struct Model {
    server: ScriptedLmServer,
    _runtime: Runtime,
}

impl Model {
    pub(crate) fn base_url(&self) -> String {
        self.server.base_url()
    }
}

pub(crate) fn model(respond: impl Fn(&Value) -> Behaviour + Send + Sync + 'static) -> Model {
    let runtime = Runtime::new().expect("threads");
    let server = runtime.block_on(ScriptedLmServer::start());
    server.respond_with(respond);
    Model { server, _runtime: runtime }
}

fn with_idea(text: &str) -> (Program, String) {
    let program = Program::with_papers();
    let path = program.path("idea.md");
    fs_err::write(&path, text).expect("an idea");
    (program, path.to_str().expect("UTF-8").to_owned())
}

#[test]
fn a_review_is_written_stored_verified_and_replayed() {
    let model = model(reply);
    let (program, idea) = with_idea(IDEA);
    let url = model.server.base_url();
    let args = ["review", &idea, "--mode", "generative", "--base-url", &url, "--judge", "lexical"];
    let document = program.json(0, &[&args[..], &["--cutoff", "2024-01-01"]].concat());
    assert_eq!(document["schema"], "openscholar.review/1");
    assert_eq!(document["idea"]["title"], "Retrieval against hallucination");
    assert!(!document["references"].as_array().expect("references").is_empty());
    assert!(!document.to_string().contains("evil.example"));
    assert!(document["removed_links"].as_u64().is_some_and(|n| n > 0));
    let review = &document["soundness"]["done"]["reviews"][0];
    assert_eq!((&review["state"], &review["method"]["id"]), (&json!("ok"), &json!("M1")));
    assert!(!review["support"].as_array().expect("sentences").is_empty(), "{review}");
    let point = &document["appraisal"]["done"]["points"][0];
    assert_eq!((&point["kind"], &point["id"]), (&json!("baseline"), &json!("A1")));
    assert_eq!(point["quotes"][0]["text"], "retrieve passages with dense passage retrieval");
    let run = program.runs().pop().expect("a run");
    assert_eq!(program.run_json(&run, "run.json")["verb"], "review");
    assert_eq!(program.run_json(&run, "review.json"), document);
    let verified = program.succeeds(&["runs", "verify", "last"]);
    assert!(verified.contains("everything holds"), "{verified}");
    program.succeeds(&["runs", "replay", "last"]);
    let replayed = program.json(0, &["runs", "replay", "last"]);
    assert!(replayed["files"].to_string().contains("review.json"), "{}", replayed["files"]);
    assert!(program.succeeds(&["runs", "explain", "last", "1"]).contains("cited for: "));
    is_a_report_that_judges_read(&program, &run);
    leaves_the_files_of_the_source(&program, &run, &document);
    counts_what_presets_would_ask(&program, &run, &document);
    let shown = program.succeeds(&args);
    let sections = [
        "## The plan itself",
        "### Major weaknesses",
        "**Baseline:** No other retriever is compared.",
        "**The plan:** “retrieve passages with dense passage retrieval”",
        "**The plan:** says nothing of it.",
        "### Method M1",
        "**Support:**",
        "## What exists already",
        "## References",
    ];
    assert!(sections.iter().all(|one| shown.contains(one)), "{shown}");
    let html = program.succeeds(&[&args[..], &["--format", "html"]].concat());
    assert!(html.starts_with("<!DOCTYPE html>") && !html.contains("evil.example"));
    assert!(html.contains("The plan itself") && html.contains("No other retriever is compared"));
    let none = program.json(0, &[&args[..], &["--points", "0"]].concat());
    assert!(none.get("appraisal").is_none(), "{none}");
    // A review that was changed afterwards is found out.
    let path = program.data("runs").join(&run).join("review.json");
    let changed = fs_err::read_to_string(&path).expect("a review").replace("\"M1\"", "\"M9\"");
    fs_err::write(&path, changed).expect("changed");
    program.fails(1, &["runs", "verify", &run], &[]);
    let (_, told, _) = text(&program.run(&["runs", "verify", &run]));
    assert!(told.contains("review.json") && told.contains("M9"), "{told}");
}

/// The files that the released code leaves, under its names and in its shapes.
fn leaves_the_files_of_the_source(program: &Program, run: &str, review: &Value) {
    let file = |name: &str| program.run_json(run, name);
    let method = "Detect hallucinations with model probabilities.";
    assert_eq!(file("soundness/methods.json")["clean_methods"], json!([method]));
    let queries = file("soundness/queries.json");
    assert_eq!(queries["queries"][method], "hallucination in translation");
    assert_eq!(queries["settings"].as_str().map(str::len), Some(64));
    let read = file("soundness/snippet_references.json");
    let evidence = &review["soundness"]["done"]["reviews"][0]["evidence"];
    assert_eq!(read[method].as_array().map(Vec::len), evidence.as_array().map(Vec::len));
    let meta = file("soundness/meta_review.json");
    assert_eq!(meta["analysis"][method]["soundness_score"], 6.0);
    let support = meta["analysis"][method]["support"].as_str().expect("a text");
    let link = review["references"][0]["url"].as_str().expect("an address");
    assert!(support.contains(&format!(")]({link})")), "{support}");
    let queries = file("contribution/contribution_queries.json");
    assert_eq!(
        queries["queries"]["Retrieval reduces hallucination."][0],
        "hallucination in translation"
    );
    let final_papers = file("contribution/final_contribution_papers.json");
    assert_eq!(final_papers["papers"][0]["relevance_score"], 4);
    let compared = file("contribution/pairwise_comparisons.json");
    let along = &compared["comparisons"][0]["comparison"]["dimension_comparisons"]["method"];
    assert_eq!(along["score"], 0);
    let folder = program.data("runs").join(run);
    let text = |name: &str| fs_err::read_to_string(folder.join(name)).expect("there");
    assert!(text("soundness/tldr_soundness.md").contains("## Strengths"));
    assert!(text("soundness/meta_review.md").contains("### Support"));
    assert!(text("contribution/contribution_citation_checked.md").contains("## References"));
    assert_eq!(text("soundness/research_plan.txt"), IDEA.trim());
    let first: Value = serde_json::from_str(
        text("soundness/soundness_costs.jsonl").lines().next().expect("a line"),
    )
    .expect("JSON");
    assert_eq!(first["step"], "methods");
    assert!(first["input_tokens"].as_u64().is_some_and(|n| n > 0), "{first}");
}

/// Prompts rendered over the same evidence: `lean` comes to what the run took, `paper` to more.
fn counts_what_presets_would_ask(program: &Program, run: &str, review: &Value) {
    let dry = |preset: &str| program.json(0, &["review", "--dry-run", run, "--preset", preset]);
    let (lean, paper) = (dry("lean"), dry("paper"));
    let calls = |report: &Value| report["total"]["calls"].as_u64().expect("a number");
    let kinds = |report: &Value| -> Vec<String> {
        let all = report["kinds"].as_array().expect("a list");
        all.iter().map(|one| one["kind"].as_str().expect("a name").to_owned()).collect()
    };
    let of = |report: &Value, kind: &str| {
        let all = report["kinds"].as_array().expect("a list");
        let one = all.iter().find(|one| one["kind"] == kind);
        one.map_or(0, |one| one["estimate"]["calls"].as_u64().expect("a number"))
    };
    assert!(kinds(&lean).contains(&"appraisal".to_owned()), "{lean}");
    assert!(!kinds(&paper).contains(&"appraisal".to_owned()), "{paper}");
    // The run was judged without a model.
    let judged = of(&lean, "judge");
    assert_eq!(Some(calls(&lean) - judged), review["usage"]["calls"].as_u64(), "{lean}");
    assert!(judged > 0 && calls(&paper) > 2 * calls(&lean), "{lean} {paper}");
    assert!(of(&paper, "query") > 0 && of(&lean, "query") == 0);
    assert!(paper["total"]["prompt_tokens"].as_u64() > lean["total"]["prompt_tokens"].as_u64());
    let table = program.succeeds(&["review", "--dry-run", run]);
    assert!(table.contains("| compare |") && table.contains("| all |"), "{table}");
}

/// The run as a report for `bench scholarideas`, told apart by the idea's text.
fn is_a_report_that_judges_read(program: &Program, run: &str) {
    let rubric =
        json!({"statement": "s", "type": "weakness", "axis": "soundness", "severity": "major"})
            .to_string();
    for (id, text) in [("ai_1", "# Another plan\n"), ("ai_2", IDEA)] {
        let folder = program.path("ideas").join(id);
        fs_err::create_dir_all(&folder).expect("made");
        fs_err::write(folder.join(format!("{id}.txt")), text).expect("an idea");
        fs_err::write(folder.join(format!("{id}.jsonl")), &rubric).expect("a rubric");
        fs_err::write(folder.join("cutoff.txt"), "2024-01-01").expect("a date");
    }
    let at = |name: &str| program.path(name).to_string_lossy().into_owned();
    let (ideas, out) = (at("ideas"), at("reports"));
    let args = ["bench", "scholarideas", "reports", &ideas, run, "--out", &out];
    let told = program.json(0, &args);
    assert_eq!(
        (&told["reports"][0]["id"], &told["reports"][0]["run"]),
        (&json!("ai_2"), &json!(run))
    );
    let report = fs_err::read_to_string(program.path("reports/ai_2/report.md")).expect("written");
    let review = program.run_json(run, "review.json");
    let reference = &review["references"][0];
    assert!(report.contains(reference["title"].as_str().expect("a title")), "{report}");
    assert!(
        report.contains(
            "## Major weaknesses of the plan\n\nNo other retriever is compared. Add BM25."
        ),
        "{report}"
    );
    let link = reference["url"].as_str().expect("the stored papers have addresses");
    assert!(report.contains(&format!(")]({link})")), "{report}");
    for tells in [run, "characters ", " calls", "> “"] {
        assert!(!report.contains(tells), "{tells}: {report}");
    }
    let links = program.json(0, &["bench", "scholarideas", "invalidity", &out]);
    assert_eq!(links["links"]["hits"], 0, "every link is of the evidence: {links}");
    assert!(links["links"]["n"].as_u64().is_some_and(|n| n > 0));
    let twice = [&args[..5], &[run], &args[5..]].concat();
    program.fails(1, &twice, &["both review ai_2"]);
    let only = [&args[..], &["--ideas", "ai_1"]].concat();
    program.fails(1, &only, &["reviews no idea that is meant"]);
}

#[test]
fn what_fails_is_listed_and_the_run_resumes() {
    let broken = model(|_| Behaviour::Status(400, "{\"error\": {\"message\": \"no\"}}".to_owned()));
    let (program, idea) = with_idea(IDEA);
    let url = broken.server.base_url();
    let args = ["review", &idea, "--mode", "generative", "--base-url", &url, "--judge", "lexical"];
    let said = program.fails(1, &args, &["review --resume"]);
    let run = program.runs().pop().expect("a run");
    assert!(said.contains(&run), "{said}");
    assert_eq!(program.run_json(&run, "run.json")["status"], "failed");
    program.fails(1, &["ask", "--resume", &run], &["is a review", "review --resume"]);
    broken.server.respond_with(reply);
    let document = program.json(0, &["review", "--resume", &run]);
    assert_eq!(document["failures"], json!([]));
    program.fails(
        1,
        &["review", "--resume", document["run"].as_str().expect("a name")],
        &["is done"],
    );
}

#[test]
fn ideas_that_are_none_are_named() {
    let (program, idea) = with_idea(IDEA);
    let file = |name: &str, bytes: &[u8]| {
        let path = program.path(name);
        fs_err::write(&path, bytes).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let german = "Wir untersuchen, ob kleine Sprachmodelle Belege ebenso gut prüfen können wie große Modelle, \
und vergleichen beide mit Urteilen von Fachleuten aus vier Gebieten der Forschung.";
    for (path, said) in [
        (file("empty.md", b" \n"), "the idea is empty"),
        (file("long.txt", "many words ".repeat(9_100).as_bytes()), "more than the 20000 accepted"),
        (file("binary.txt", b"some words \x00\x01 here"), "looks like binary data"),
        (file("latin1.txt", b"caf\xe9"), "not UTF-8"),
        (file("german.txt", german.as_bytes()), "does not look like English"),
        (file("short.txt", b"Adapters for retrieval."), "fewer than the 12"),
        (file("scanned.pdf", &pdf::pdf(&[Vec::new()])), "pictures of pages and no text"),
        (file("broken.docx", b"PK\x03\x04 and no more"), "cannot read"),
        (program.path("none.md").to_str().expect("UTF-8").to_owned(), "none.md"),
    ] {
        program.fails(1, &["review", &path, "--generator", "none"], &[said, "error"]);
    }
    let none = ["--generator", "none"];
    let with = |more: &[&'static str]| -> Vec<String> {
        ["review", &idea].iter().chain(&none).chain(more).map(|&one| one.to_owned()).collect()
    };
    for (code, more, said) in [
        (1, &["--cutoff", "2999-01-01"][..], "is in the future"),
        (4, &["--cutoff", "1950-01-01"][..], "leaves 0 of"),
        (1, &["--preset", "report"][..], "the presets are lean, paper and upstream"),
        (1, &["--mode", "generative"][..], "needs a language model"),
        (1, &["--mode", "evidence", "--points", "3"][..], "--points takes a language model"),
        (1, &["--format", "docx"][..], "cannot be printed"),
    ] {
        let args = with(more);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        program.fails(code, &args, &[said]);
    }
}
