//! Ctrl-C, kill, and two processes at once: what was done is kept, and the next run goes on from there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStderr, Command};
use std::sync::mpsc::{Receiver, channel};

use parking_lot::Mutex;
use scholar_testing::{Behaviour, PATIENCE};
use serde_json::Value;

use crate::generative::{ask, assert_answer};
use crate::model::Model;
use crate::program::{Program, QUESTION, STORE, many_papers, text};

pub(crate) fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(Command::new("/bin/sh").args(["-c", &kill]).status().expect("a shell").success());
}

/// Reads lines of stderr up to one that contains `words`.
pub(crate) fn wait_for(stderr: &mut BufReader<ChildStderr>, words: &str) {
    let mut seen = String::new();
    while !seen.contains(words) {
        let n = stderr.read_line(&mut seen).expect("readable");
        assert!(n > 0, "it ended without saying {words:?}:\n{seen}");
    }
}

/// A model that falls silent in the first call for `purpose`, and tells when it does.
pub(crate) fn silent_once(purpose: &'static str) -> (Model, Receiver<()>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let model = Model::with(move |called, before| {
        let now = called == purpose && before == 0;
        if now {
            tell.lock().send(()).expect("the test listens");
        }
        now.then_some(Behaviour::HangAfter("Exposure bias".to_owned()))
    });
    (model, told)
}

/// The parts of an answer that do not depend on when it was made.
fn lasting(document: &Value) -> [&Value; 5] {
    ["mode", "abstained", "sentences", "references", "usage"].map(|key| &document[key])
}

fn resumes_with_the_same_answer(signal_name: &str, status: &str, code: Option<i32>) {
    let whole = Model::honest();
    let expected = Program::with_papers().json(0, &ask(&whole.base_url()));
    for purpose in ["draft", "edit_with_retrieval"] {
        let program = Program::with_papers();
        let (model, told) = silent_once(purpose);
        let child = program.start(&ask(&model.base_url()));
        told.recv_timeout(PATIENCE).expect("the call comes");
        signal(&child, signal_name);
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), code, "{}", String::from_utf8_lossy(&output.stderr));
        let run = program.runs().pop().expect("a run");
        if code.is_some() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.contains(&format!("openscholar ask --resume {run}")), "{stderr}");
        }
        assert_eq!(program.run_json(&run, "run.json")["status"], status);

        let resumed = program.json(0, &["ask", "--resume", &run]);
        assert_answer(&resumed);
        assert_eq!(lasting(&resumed), lasting(&expected), "after {purpose}");
        let mut calls = whole.purposes();
        let cut = calls.iter().position(|call| *call == purpose).expect("called");
        calls.insert(cut, purpose);
        assert_eq!(model.purposes(), calls, "only the call that was cut off is made again");
        assert_eq!(program.json(0, &["runs", "replay", "last"])["identical"], true);
        assert_ne!(resumed["run"], *run);
    }
}

#[test]
fn an_interrupted_answer_is_resumed() {
    resumes_with_the_same_answer("INT", "interrupted", Some(130));
}

#[test]
fn a_terminated_answer_is_resumed() {
    resumes_with_the_same_answer("TERM", "interrupted", Some(143));
}

/// Where this test was started to outlive its terminal, so was the program: nothing to be tried.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_whose_terminal_is_gone_is_resumed() {
    let status = fs_err::read_to_string("/proc/self/status").expect("there");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let hangup = u64::from_str_radix(ignored.trim(), 16).expect("a number") & 1;
    if hangup == 0 {
        resumes_with_the_same_answer("HUP", "interrupted", Some(129));
    }
}

#[test]
fn a_killed_answer_is_resumed() {
    resumes_with_the_same_answer("KILL", "running", None);
}

#[test]
fn a_journal_cut_in_the_middle_of_a_line_is_resumed() {
    let program = Program::with_papers();
    let (model, told) = silent_once("feedback");
    let child = program.start(&ask(&model.base_url()));
    told.recv_timeout(PATIENCE).expect("the call comes");
    signal(&child, "KILL");
    child.wait_with_output().expect("ends");
    let run = program.runs().pop().expect("a run");
    let path = program.data("runs").join(&run).join("journal.jsonl");
    let journal = fs_err::read(&path).expect("there");
    // Also in the middle of a character, and before the first line's end.
    for (cut, more) in [(journal.len() - 7, &b"\xe2"[..]), (9, b""), (0, b"")] {
        fs_err::write(&path, [&journal[..cut], more].concat()).expect("written");
        assert_answer(&program.json(0, &["ask", "--resume", &run]));
    }
    let lines: Vec<&[u8]> = journal.split(|byte| *byte == b'\n').collect();
    let damaged = [lines[0], b"{\"entry\": 7}", lines[1], b""].join(&b'\n');
    fs_err::write(&path, damaged).expect("written");
    program.fails(1, &["ask", "--resume", &run], &["journal.jsonl", "line 2", "hint:"]);
    fs_err::remove_file(&path).expect("removed");
    assert_answer(&program.json(0, &["ask", "--resume", &run]));
}

#[test]
fn resuming_what_does_not_exist_or_with_other_settings_is_refused() {
    let program = Program::with_papers();
    program.fails(1, &["ask", "--resume", "nope"], &["there is no run \"nope\"", "runs list"]);
    program.fails(2, &["ask", "--resume", "last", "--top-n", "3"], &["--top-n", "cannot be used"]);
}

#[test]
fn two_answers_at_once_have_two_runs() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    let args = [&["--json"], &ask(&url)[..]].concat();
    let children = [program.start(&args), program.start(&args)];
    let documents = children.map(|child| {
        let (code, stdout, stderr) = text(&child.wait_with_output().expect("ends"));
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str::<Value>(&stdout).expect("JSON")
    });
    assert_ne!(documents[0]["run"], documents[1]["run"]);
    assert_eq!(documents[0]["sentences"], documents[1]["sentences"]);
    for run in program.runs() {
        assert_eq!(program.json(0, &["runs", "replay", &run])["identical"], true);
    }
}

/// A pipe with papers that never ends, and the process that adds them: it has the lock and is at work.
struct Adding {
    child: Child,
    pipe: fs_err::File,
    papers: String,
    written: usize,
    stderr: BufReader<ChildStderr>,
}

impl Adding {
    /// More than any pipe and reader hold: when this is gone, papers are being added.
    const AHEAD: usize = 600 << 10;

    fn start(program: &Program) -> Self {
        let path = program.path("pipe");
        let mkfifo = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(mkfifo.success());
        // Open for both, so that neither side waits for the other.
        let mut pipe =
            fs_err::OpenOptions::new().read(true).write(true).open(&path).expect("opens");
        let mut child = program.start(&["papers", "add", &path.to_string_lossy()]);
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let papers = many_papers(2_000);
        let written = papers[..Self::AHEAD].rfind('\n').expect("lines") + 1;
        pipe.write_all(&papers.as_bytes()[..written]).expect("read by the program");
        Self { child, pipe, papers, written, stderr }
    }

    /// Feeds the rest until the process ends.
    fn feed_to_the_end(self) -> Option<i32> {
        let Self { mut child, mut pipe, papers, written, stderr } = self;
        let feeder = std::thread::spawn(move || {
            // With its reader gone the rest has nowhere to go, and the pipe's own read side keeps it open.
            let _ended = pipe.write_all(&papers.as_bytes()[written..]);
        });
        let status = child.wait().expect("ends");
        drop((feeder, stderr));
        status.code()
    }
}

#[test]
fn adding_that_is_interrupted_keeps_what_was_added() {
    adding_is_stopped("INT", 130);
}

#[test]
fn adding_that_is_terminated_keeps_what_was_added() {
    adding_is_stopped("TERM", 143);
}

fn adding_is_stopped(signal_name: &str, code: i32) {
    let program = Program::with_papers();
    let mut adding = Adding::start(&program);
    signal(&adding.child, signal_name);
    wait_for(&mut adding.stderr, "stopping");
    assert_eq!(adding.feed_to_the_end(), Some(code));
    program.succeeds(&["datastore", "verify", STORE]);
    let kept = program.json(0, &["datastore", "info", STORE])["info"]["papers"].as_u64();
    assert!(kept > Some(40) && kept < Some(2_040), "{kept:?}");
    goes_on(&program, kept.expect("a number") - 40);
}

#[test]
fn adding_that_is_killed_keeps_the_last_commit() {
    let program = Program::with_papers();
    let mut adding = Adding::start(&program);
    adding.child.kill().expect("killed");
    adding.child.wait().expect("ends");
    program.succeeds(&["datastore", "verify", STORE]);
    assert!(!program.succeeds(&["search", "hallucination"]).is_empty());
    let kept = program.json(0, &["datastore", "info", STORE])["info"]["papers"].as_u64();
    goes_on(&program, kept.expect("a number") - 40);
}

/// The same papers again: those that are there are skipped, the others come.
fn goes_on(program: &Program, unchanged: u64) {
    let file = program.path("many.jsonl");
    let n = unchanged + 20;
    let papers = many_papers(usize::try_from(n).expect("few"));
    fs_err::write(&file, papers).expect("written");
    let output = program.run(&["papers", "add", &file.to_string_lossy()]);
    let (code, _, stderr) = text(&output);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains(&format!("20 papers added, {unchanged} unchanged")), "{stderr}");
    program.succeeds(&["datastore", "verify", STORE]);
    assert_eq!(program.json(0, &["datastore", "info", STORE])["info"]["papers"], n + 40);
}

#[test]
fn a_second_writer_hears_who_is_writing_and_readers_read_on() {
    let program = Program::with_papers();
    let mut adding = Adding::start(&program);
    let holder = format!("process {}", adding.child.id());
    let file = program.path("few.jsonl");
    fs_err::write(&file, many_papers(3)).expect("written");
    let file = file.to_string_lossy();
    program.fails(1, &["papers", "add", &file], &["is being written by", &holder, "hint: wait"]);
    program.fails(1, &["papers", "remove", "acl:2020.acl-main.326"], &[&holder]);
    assert!(program.succeeds(&["search", "exposure bias"]).contains("Exposure Bias"));
    program.succeeds(&["ask", QUESTION, "--generator", "none"]);
    assert_eq!(program.json(0, &["datastore", "info", STORE])["info"]["papers"], 40);
    adding.child.kill().expect("killed");
    adding.child.wait().expect("ends");
    program.succeeds(&["papers", "add", &file]);
}
