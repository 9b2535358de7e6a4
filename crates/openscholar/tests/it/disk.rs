//! Disks that are full and folders that cannot be written: the error names the place, and what was there stays.

use crate::generative::{ask, assert_answer};
use crate::model::Model;
use crate::program::{Program, QUESTION, STORE, corpus, many_papers, text};

/// Blocks of 512 bytes: enough for lock files and settings, too little for an index or a journal.
const FEW: u32 = 16;

#[test]
fn a_full_disk_keeps_the_last_commit_and_the_next_run_goes_on() {
    let program = Program::with_papers();
    let file = program.path("many.jsonl");
    fs_err::write(&file, many_papers(300)).expect("written");
    let file = file.to_string_lossy();
    let before = program.json(0, &["datastore", "info", STORE]);
    let add = ["papers", "add", &file];
    let (code, _, stderr) = text(&program.run_with_small_files(FEW, &add));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(&*program.data("datastores").to_string_lossy()), "{stderr}");
    assert!(stderr.contains("hint: free some disk space") && stderr.contains("safe"), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");

    assert_eq!(
        program.json(0, &["datastore", "info", STORE])["info"]["papers"],
        before["info"]["papers"]
    );
    program.succeeds(&["datastore", "verify", STORE]);
    assert!(!program.succeeds(&["search", "hallucination"]).is_empty());
    program.succeeds(&add);
    program.succeeds(&["datastore", "verify", STORE]);
    assert_eq!(program.json(0, &["datastore", "info", STORE])["info"]["papers"], 340);
}

#[test]
fn a_new_datastore_on_a_full_disk_can_be_built_later() {
    let program = Program::new();
    program.configure();
    let papers = corpus().to_string_lossy().into_owned();
    let build = ["datastore", "build", STORE, &papers];
    for blocks in [0, 1, 4, FEW] {
        let (code, _, stderr) = text(&program.run_with_small_files(blocks, &build));
        assert_eq!(code, 1, "{blocks} blocks: {stderr}");
        assert!(stderr.contains("error:") && stderr.contains("hint:"), "{blocks} blocks: {stderr}");
        assert!(!stderr.contains("panicked"), "{blocks} blocks: {stderr}");
    }
    program.succeeds(&build);
    program.succeeds(&["datastore", "verify", STORE]);
}

#[test]
fn a_run_folder_that_cannot_be_written_does_not_cost_the_answer() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    let args = [&["--json"], &ask(&url)[..]].concat();
    let (code, stdout, stderr) = text(&program.run_with_small_files(FEW, &args));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("cannot write in") && stderr.contains("runs/"), "{stderr}");
    assert!(
        stderr.contains("hint: free some space") && stderr.contains("the answer is complete"),
        "{stderr}"
    );
    let mut documents = serde_json::Deserializer::from_str(&stdout).into_iter();
    let document: serde_json::Value = documents.next().expect("printed").expect("JSON");
    assert_answer(&document);
    let notices = document["notices"].to_string();
    assert!(notices.contains("judged by word overlap instead of"), "{notices}");
    program.succeeds(&ask(&url));
}

#[test]
fn an_output_file_that_cannot_be_written_does_not_cost_the_answer() {
    let program = Program::with_papers();
    let ask = |output: &str| {
        let args = ["ask", QUESTION, "--generator", "none", "--output", output];
        text(&program.run(&args))
    };
    let mut hopeless = vec!["/nonexistent/answer.md", "/proc/answer.md"];
    if std::path::Path::new("/dev/full").exists() {
        hopeless.push("/dev/full");
    }
    for output in hopeless {
        let (code, stdout, stderr) = ask(output);
        assert_eq!(code, 1, "{stderr}");
        assert!(stdout.contains("allucination"), "the answer is printed all the same\n{stdout}");
        assert!(stderr.contains(output) && stderr.contains("openscholar runs show"), "{stderr}");
    }
    let (code, _, stderr) = ask("/dev/null");
    assert_eq!(code, 0, "{stderr}");
    let path = program.path("answer.md");
    let (code, stdout, _) = ask(&path.to_string_lossy());
    assert_eq!(code, 0);
    let written = fs_err::read_to_string(&path).expect("written");
    let body = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(body(&written), body(&stdout));
}

/// Tests may run as root, whom permissions do not bind: below a regular file nobody can write.
#[test]
fn a_home_that_cannot_be_written_is_named() {
    let program = Program::new();
    let file = program.path("file");
    fs_err::write(&file, "x").expect("written");
    let home = file.join("home").to_string_lossy().into_owned();
    let papers = corpus().to_string_lossy().into_owned();
    let encoder = crate::program::encoder().to_string_lossy().into_owned();
    let build = ["--home", &home, "datastore", "build", "x", &papers, "--encoder", &encoder];
    program.fails(1, &build, &[&home, "--home DIR"]);
    program.fails(1, &["--home", &home, "models", "pull"], &[&home, "--home DIR"]);

    // A home that is whole but for its runs folder, which is a file.
    let program = Program::with_papers();
    fs_err::write(program.data("runs"), "x").expect("written");
    let model = Model::honest();
    let runs = program.data("runs").to_string_lossy().into_owned();
    program.fails(1, &ask(&model.base_url()), &["cannot write in", &runs, "hint:"]);
    assert!(model.purposes().is_empty(), "found out before anything was spent");
}
