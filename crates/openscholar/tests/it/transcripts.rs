//! Every command as a person meets it: its help, one success and one failure, each with exit code, stdout and stderr.
//!
//! The transcripts lie in `transcripts/`, one file for each command. Times, sizes, paths, names of runs and digests are
//! replaced, and in what measures this machine every number.
//!
//! Some commands have no success here. Those that listen until a signal comes (`serve`, `datastore serve`, `bench annotate serve`)
//! have tests of their own, `models pull` needs a network, and `bench fuzz` is in builds for
//! development only.

use std::path::Path;

use regex::Regex;
use serde_json::json;

use crate::annotate::write_study;
use crate::program::{Program, QUESTION, copy, corpus, encoder, many_papers, models, text};

/// What a command is called with, in words; `~` is the home folder. Empty: not shown.
struct Case {
    command: &'static str,
    success: &'static str,
    failure: &'static str,
}

const fn case(command: &'static str, success: &'static str, failure: &'static str) -> Case {
    Case { command, success, failure }
}

const PAPER: &str = "acl:2020.acl-main.326";

const CASES: [Case; 76] = [
    case("ask", "QUESTION --generator none", "--resume nothing"),
    case("search", "bias --top-k 2", "bias --datastore nowhere"),
    case("papers list", "--limit 2", "--datastore nowhere"),
    case("papers show", "PAPER", "doi:10.1/absent"),
    case("papers add", "~/one.jsonl --datastore added", "~/absent.pdf"),
    case("papers export", "PAPER --format ris", "doi:10.1/absent"),
    case("papers references", "PAPER", "doi:10.1/absent"),
    case("papers cited-by", "PAPER", "PAPER --save"),
    case("papers related", "PAPER --limit 2", "doi:10.1/absent"),
    case("papers graph", "PAPER", "doi:10.1/absent"),
    case("papers check", "", "--datastore nowhere"),
    case("papers duplicates", "--limit 1", "--datastore nowhere"),
    case("papers split", "PAPER", "doi:10.1/absent"),
    case("papers wanted", "--limit 1", "--format bibtex --json"),
    case("papers screen", "~/criteria.toml --rows 3", "~/absent.toml"),
    case("papers table", "PAPER --columns method --mode evidence", "PAPER --columns n,n"),
    case("papers remove", "doi:10.1000/many.0 --datastore added", "doi:10.1/absent"),
    case("datastore build", "built ~/one.jsonl", "built ~/absent.jsonl"),
    case("datastore merge", "merged second", "merged absent"),
    case("datastore export", "second ~/exported", "absent ~/exported"),
    case("datastore plan", "--papers 1000", "--papers many"),
    case("datastore list", "", "surplus"),
    case("datastore info", "papers", "nowhere"),
    case("datastore verify", "papers", "nowhere"),
    case("datastore repair", "second --to repaired", "nowhere --to repaired"),
    case("datastore serve", "", "nowhere"),
    case("serve", "", "--datastore nowhere"),
    case("datastore compact", "second", "second --bits 3"),
    case("datastore use", "papers", "nowhere"),
    case("datastore remove", "merged --yes", "nowhere --yes"),
    case("models list", "", "surplus"),
    case("models pull", "", "no-such-model"),
    case("models verify", "", "no-such-model"),
    case("models pack", "~/init ~/packed", "~/absent ~/packed"),
    case("runs list", "", "surplus"),
    case("runs show", "last", "nothing"),
    case("runs threads", "", "surplus"),
    case("runs thread", "last", "nothing"),
    case("runs explain", "last 1", "last 99"),
    case("runs replay", "last", "nothing"),
    case("runs verify", "last", "nothing"),
    case("runs sign", "last ~/key", "last ~/absent"),
    case("runs export", "last --format ris", "nothing --format ris"),
    case("runs diff", "last last", "last nothing"),
    case(
        "bench run",
        "multi --system evidence+gold --generator none --data DATA --out ~/bench",
        "nothing",
    ),
    case("bench score", "~/bench --judge lexical", "~/absent"),
    case("bench report", "~/bench", "~/absent"),
    case("bench convert", "~/Alpha-8B.jsonl --to rubric", "~/absent --to nothing"),
    case("bench retrieval", "~/small --systems bm25", "~/absent"),
    case("bench encoder", "--model ENCODER --passages 2", "--model no-such-model"),
    case("bench reranker", "--model ~/init --pairs 2", "--model no-such-model"),
    case("bench index", "papers --queries 5 --top-k 3", "nowhere"),
    case("bench search", "papers ~/small --limit 1", "nowhere ~/small"),
    case("bench formats", "~/formats", "~/absent"),
    case("bench ingest", "~/one.jsonl --dim 8", "~/absent.jsonl"),
    case("bench graph", "--papers 5", "nowhere"),
    case("bench expansion", "--cited ~/small", "--cited ~/absent"),
    case(
        "bench serve",
        "papers --clients 2 --requests 4 --streams 2 --rate 5 --seconds 1 --pages 8 --dawdle-seconds 0",
        "papers --clients 0",
    ),
    case(
        "bench annotate import",
        "~/Alpha-8B.jsonl ~/Beta-GPT.jsonl --limit 1",
        "~/absent ~/absent",
    ),
    case("bench annotate serve", "", "~/absent.jsonl --db ~/new.db"),
    case("bench annotate export", "--db ~/study.db", "--db ~/absent.db"),
    case("bench annotate summary", "--db ~/study.db", "--db ~/absent.db"),
    case("bench abstention", "~/small", "~/absent"),
    case("bench screening", "~/reviews --labels ~/reviews", "~/reviews --labels ~/absent"),
    case(
        "bench attribution",
        "~/judged --judge lexical --encoder ENCODER",
        "~/absent --judge lexical --encoder ENCODER",
    ),
    case("train presets", "reranker small", "reranker big"),
    case(
        "train data",
        "reranker --out ~/rows --data ~ --source starter --no-evaluation --max-papers 20",
        "reranker --out ~/rows --data ~/absent",
    ),
    case(
        "train decontaminate",
        "--evaluation ~/small ~/queries.jsonl",
        "--evaluation ~/absent ~/queries.jsonl",
    ),
    case(
        "train encoder",
        "--init ~/init --rows ~/texts.jsonl --settings ~/encoder.toml --max-steps 2 --out ~/encoder",
        "--init ~/init --rows ~/queries.jsonl --settings ~/encoder.toml --out ~/encoder",
    ),
    case(
        "train reranker",
        "--init ~/init --rows ~/queries.jsonl --settings ~/train.toml --max-steps 2 --out ~/reranker",
        "--init ~/init --rows ~/absent --settings ~/train.toml --out ~/reranker",
    ),
    case(
        "train attributor",
        "--init ~/init --rows ~/pairs.jsonl --settings ~/train.toml --max-steps 2 --out ~/judge",
        "--init ~/absent --rows ~/pairs.jsonl --settings ~/train.toml --out ~/judge",
    ),
    case(
        "train score-teacher",
        "~/queries.jsonl --teacher ~/init --out ~/scored.jsonl",
        "~/queries.jsonl --teacher ~/absent --out ~/scored.jsonl",
    ),
    case("train fit-weights", "~/judge/best --rows ~/pairs.jsonl", "~/absent"),
    case(
        "train export",
        "--to trl --rows ~/pairs.jsonl --out ~/trl",
        "--to trl --rows ~/queries.jsonl --out ~/trl",
    ),
    case("doctor", "--offline", "surplus"),
    case("completions", "bash", "tcsh"),
];

/// Claims with evidence, and a citing sentence with the sentence it cites, as `bench attribution` reads them.
const CLAIM_SETS: [(&str, &str); 8] = [
    (
        "claims/claimcheck_scifact_train",
        r#"{"id":1,"claim":"Sleep strengthens memory.","evidence":{"1":[{"sentences":[0],"label":"SUPPORT"}]},"cited_doc_ids":[1]}"#,
    ),
    (
        "claims/claimcheck_scifact_dev",
        r#"{"id":2,"claim":"Tea lowers blood pressure.","evidence":{"2":[{"sentences":[1],"label":"CONTRADICT"}]},"cited_doc_ids":[2]}"#,
    ),
    (
        "claims/claimcheck_citint_train",
        r#"{"id":3,"claim":"Exercise helps people who cannot sleep [<|cit|>].","evidence":{"3":[{"sentences":[0],"label":"SUPPORT"}]},"cited_doc_ids":[3]}"#,
    ),
    (
        "claims/claimcheck_citint_dev",
        r#"{"id":4,"claim":"Exercise harms people who cannot sleep [<|cit|>].","evidence":{},"cited_doc_ids":[3]}"#,
    ),
    (
        "claims/citint_corpus",
        r#"{"doc_id":3,"title":"","abstract":["Exercise improved the sleep of older adults.","It was safe."]}"#,
    ),
    (
        "retrieval/scifact_test300/corpus",
        concat!(
            r#"{"_id":"1","title":"Sleep","text":"Sleep strengthened the memory of students. They learned words."}"#,
            "\n",
            r#"{"_id":"2","title":"Tea","text":"Adults drank tea. Their blood pressure did not change."}"#,
        ),
    ),
    (
        "attribution/attribution_clscisumm_gold",
        r#"{"reference":"A00-1","citation_text":"Others parse with a chart.","reference_sids":["2"]}"#,
    ),
    (
        "attribution/attribution_clscisumm_reference_papers",
        r#"{"id":"A00-1","abstract":[["1","Parsing is hard."]],"sections":[{"sentences":[["2","We parse with a chart."]]}]}"#,
    ),
];

/// A review with its criteria, for `papers screen` and as a collection for `bench screening`.
const REVIEW: [(&str, &str); 6] = [
    (
        "criteria.toml",
        "title = \"Hallucinations in machine translation\"\n[[criterion]]\nid = \"topic\"\ntext = \"The paper is about hallucinations\"\n",
    ),
    (
        "reviews/corpus.jsonl",
        concat!(
            r#"{"_id": "a", "title": "Sleep in patients", "text": "We treated 40 patients. Sleep improved."}"#,
            "\n",
            r#"{"_id": "b", "title": "Sleep in mice", "text": "Mice were kept awake. Memory suffered."}"#,
            "\n",
        ),
    ),
    ("reviews/queries.jsonl", "{\"_id\": \"r\", \"text\": \"sleep in patients\"}\n"),
    ("reviews/qrels.tsv", "query-id\tcorpus-id\tscore\nr\ta\t1\nr\tb\t0\n"),
    (
        "reviews/criteria-r.toml",
        "title = \"Sleep\"\n[[criterion]]\nid = \"human\"\ntext = \"The study provides data on humans\"\n",
    ),
    (
        "reviews/screening-pairs.jsonl",
        concat!(
            r#"{"topic": "r", "paper": "a", "criterion_id": "human", "criterion": "The study provides data on humans", "kind": "include", "label": "met", "quote": "40 patients"}"#,
            "\n",
            r#"{"topic": "r", "paper": "b", "criterion_id": "human", "criterion": "The study provides data on humans", "kind": "include", "label": "not_met", "quote": "Mice"}"#,
            "\n",
        ),
    ),
];

/// A home with papers, a second datastore, a run, files to read, a collection of two documents and a study.
fn home() -> Program {
    let program = Program::with_papers();
    // First: its comparisons lie where the pairs of the trainings belong.
    write_study(&program);
    let write = |name: &str, text: &str| {
        let path = program.path(name);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs_err::write(path, text).expect("written");
    };
    write("one.jsonl", &many_papers(1));
    write(
        "formats/list.bib",
        "@article{a, title = {A title}, author = {Doe, Jane}, year = {2020}, doi = {10.5555/a}}\n",
    );
    let documents = [("d1", "Exposure bias in translation"), ("d2", "Sleep and memory")];
    let corpus: String = documents
        .iter()
        .map(|(id, text)| {
            format!("{{\"_id\": \"{id}\", \"title\": \"{text}\", \"text\": \"{text}.\"}}\n")
        })
        .collect();
    write("small/corpus.jsonl", &corpus);
    write(
        "small/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"exposure bias\"}\n{\"_id\": \"q2\", \"text\": \"memory and sleep\"}\n",
    );
    write("small/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n");
    for (name, text) in REVIEW {
        write(name, text);
    }
    for (name, rows) in CLAIM_SETS {
        write(&format!("judged/{name}.jsonl"), rows);
    }
    training(&program);
    write("key", &signing_key());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs_err::set_permissions(program.path("key"), mode).expect("its owner's alone");
    let papers = program.path("one.jsonl").to_string_lossy().into_owned();
    program.succeeds(&["datastore", "build", "second", &papers]);
    program.succeeds(&["ask", QUESTION, "--generator", "none"]);
    program
}

/// A private key in OpenSSH's form.
fn signing_key() -> String {
    let pair = ssh_key::private::Ed25519Keypair::from_seed(&[7; 32]);
    let text = ssh_key::PrivateKey::from(pair).to_openssh(ssh_key::LineEnding::LF);
    text.expect("encodes").to_string()
}

/// A tiny model to start from, rows of each kind, and papers to make rows of.
fn training(program: &Program) {
    copy(&models().join("golden/tiny-bert-cross"), &program.path("init"));
    let tokenizer = models().join("golden/tiny-bert-encoder/tokenizer.json");
    fs_err::copy(tokenizer, program.path("init/tokenizer.json")).expect("copied");
    fs_err::create_dir_all(program.path("starter")).expect("made");
    fs_err::copy(corpus(), program.path("starter/papers.jsonl")).expect("copied");
    fs_err::write(program.path("train.toml"), "max_tokens = 48\n").expect("written");
    let windows = "max_tokens = 48\nwindow = 32\n";
    fs_err::write(program.path("encoder.toml"), windows).expect("written");
    let rows = |name: &str, row: fn(usize) -> serde_json::Value| {
        let rows: String = (0..60).map(|n| format!("{}\n", row(n))).collect();
        fs_err::write(program.path(name), rows).expect("written");
    };
    rows(
        "queries.jsonl",
        |n| json!({"query": format!("what is {n}"), "pos": [format!("{n} is a number")], "neg": ["sleep helps"]}),
    );
    rows("pairs.jsonl", |n| {
        let (evidence, label) = [("sleep helps", "neither"), ("it is a number", "supports")][n % 2];
        json!({"sentence": format!("{n} is a number"), "evidence": evidence, "label": label})
    });
    rows("texts.jsonl", |n| {
        let text = format!("Number {n} is larger than its predecessor. ").repeat(12);
        json!({"id": n.to_string(), "text": text})
    });
}

/// The arguments of `line` behind those of `command`.
fn arguments(program: &Program, command: &str, line: &str) -> Vec<String> {
    let home = program.path("").to_string_lossy().trim_end_matches('/').to_owned();
    let data = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../scholar-bench/tests/data/scholarqabench")
        .to_string_lossy()
        .into_owned();
    let word = |word: &str| match word {
        "QUESTION" => QUESTION.to_owned(),
        "PAPER" => PAPER.to_owned(),
        "DATA" => data.clone(),
        "ENCODER" => encoder().to_string_lossy().into_owned(),
        _ => word.replace('~', &home),
    };
    command.split(' ').chain(line.split_whitespace()).map(word).collect()
}

/// Replaces what differs from run to run and from machine to machine.
fn redacted(program: &Program, command: &str, said: &str) -> String {
    let home = program.path("").to_string_lossy().trim_end_matches('/').to_owned();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = repository.parent().expect("a crate lies in a folder").to_string_lossy();
    let scholar_models = repository.join("../scholar-models/tests");
    let mut said = said
        .replace(&home, "~")
        .replace(&*scholar_models.to_string_lossy(), "MODELS")
        .replace(&*encoder().to_string_lossy(), "ENCODER")
        .replace(&*corpus().to_string_lossy(), "CORPUS")
        .replace(&*crates, "CRATES");
    let replace = |said: &mut String, pattern: &str, by: &str| {
        let pattern = Regex::new(pattern).expect("a pattern");
        *said = pattern.replace_all(said, by).into_owned();
    };
    replace(&mut said, r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME");
    replace(&mut said, r"\b\d{8}-\d{6}-[0-9a-f]{4}(-\d+)?\b", "RUN");
    replace(&mut said, r"\b[0-9a-f]{16,64}\b", "DIGEST");
    replace(&mut said, r"commit [0-9a-f]{12}\b", "commit COMMIT");
    // What this kind of CPU has instructions for, and which of the first steps is best on it.
    replace(&mut said, r"(?m)(^\| ours, \w+ (f32|bf16|int8) .*\n)+", "| ours, KERNELS | …\n");
    replace(&mut said, r"(?m)^not measured: precision .*\n", "");
    replace(&mut said, r"(\w+ )?(f32|bf16|int8) products", "KERNELS");
    replace(&mut said, r"\((avx\w+|portable) (f32|bf16|int8)\)", "(KERNELS)");
    replace(&mut said, r", the best so far|best -?[\d.]+ after step \d+", "");
    // Scores, whose last digits depend on the kind of CPU.
    replace(&mut said, r"-?\b\d+\.\d{2,}\b", "N");
    replace(&mut said, r"Machine: .*?commit \w+", "Machine: HERE");
    replace(&mut said, r"\d+(\.\d+)? ?(ms|s|kB|MB|GB|bytes|passages/s|/s|h)\b", "N $2");
    if command.starts_with("bench") && command != "bench run" {
        replace(&mut said, r"\d+(\.\d+)?", "N");
    }
    said
}

/// Tables are as wide as what was replaced in them: a path, a time.
fn without_widths(said: &str) -> String {
    let rules = Regex::new("[─═]{4,}").expect("a pattern").replace_all(said, "────");
    let gaps = Regex::new(r"(?m)(\S)   +").expect("a pattern").replace_all(&rules, "$1   ");
    Regex::new(r"(?m) +$").expect("a pattern").replace_all(&gaps, "").into_owned()
}

fn transcript(program: &Program, command: &str, line: &str) -> String {
    let arguments = arguments(program, command, line);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (code, mut stdout, stderr) = text(&program.run(&arguments));
    if command == "doctor" && code == 0 {
        // What it finds is this machine's.
        let what = |line: &str| {
            let what = line.trim_start_matches("ok").trim_start().split(": ").next();
            what.unwrap_or_default().to_owned() + "\n"
        };
        stdout = stdout.lines().filter(|line| !line.starts_with("      ")).map(what).collect();
    } else if command == "completions" && code == 0 {
        stdout = format!("{}\n…\n", stdout.lines().next().unwrap_or_default());
    }
    let [mut stdout, stderr] = [stdout, stderr].map(|said| redacted(program, command, &said));
    if line != "--help" {
        stdout = without_widths(&stdout);
    }
    let shown = format!("{command} {line}");
    format!(
        "$ openscholar {}\nexit code {code}\n--- stdout\n{stdout}--- stderr\n{stderr}",
        shown.trim()
    )
}

/// The names of all verbs, as the program's own help lists them.
fn verbs(program: &Program, path: &str, found: &mut Vec<String>) {
    let mut args: Vec<&str> = path.split_whitespace().collect();
    args.push("-h");
    let help = program.succeeds(&args);
    let Some((_, listed)) = help.split_once("Commands:\n") else { return };
    let listed = listed.lines().take_while(|line| line.starts_with("  "));
    // Continued descriptions stand further in.
    let named = listed.filter(|line| !line.starts_with("   "));
    for name in named.filter_map(|line| line.split_whitespace().next()) {
        if name != "help" {
            let verb = format!("{path} {name}").trim().to_owned();
            found.push(verb.clone());
            verbs(program, &verb, found);
        }
    }
}

#[test]
fn commands_say_what_their_transcripts_say() {
    let program = home();
    let mut all = Vec::new();
    verbs(&program, "", &mut all);
    let unknown: Vec<&str> = CASES
        .iter()
        .map(|case| case.command)
        .filter(|command| !all.iter().any(|verb| verb == command))
        .collect();
    assert!(unknown.is_empty(), "no such commands: {unknown:?}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("transcripts");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // All of them are compared before one fails the test.
    let mut changed = Vec::new();
    let mut compare = |command: &str, said: String| {
        let same = || insta::assert_snapshot!(command.replace(' ', "-"), said);
        if std::panic::catch_unwind(same).is_err() {
            changed.push(command.to_owned());
        }
    };
    settings.bind(|| {
        // In the order of the cases: later ones use what earlier ones made.
        for Case { command, success, failure } in CASES {
            let mut said = vec![transcript(&program, command, "--help")];
            let takes_nothing = ["datastore list", "models list", "models verify", "runs list"];
            if !success.is_empty() || takes_nothing.contains(&command) {
                said.push(transcript(&program, command, success));
            }
            said.push(transcript(&program, command, failure));
            compare(command, said.join("\n"));
        }
        for command in all.iter().filter(|verb| CASES.iter().all(|case| case.command != *verb)) {
            let said = transcript(&program, command, "--help");
            compare(command, said);
        }
    });
    assert!(changed.is_empty(), "other than their transcripts: {changed:?}");
}
