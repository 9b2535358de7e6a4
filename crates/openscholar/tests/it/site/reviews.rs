//! Reviews and explored answers over the real run path: forms, files, restarts and exports.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::mpsc::channel;

use parking_lot::Mutex;
use scholar_testing::http::{HttpReply, finish, get, post};
use scholar_testing::{Behaviour, PATIENCE, exploration, pdf};
use serde_json::{Value, json};

use super::{over, page, serve};
use crate::program::{Program, QUESTION};
use crate::review::{IDEA, model, reply};
use crate::serve::Serving;

/// A POST of the form of ideas, with the bytes of a file.
fn sent(serving: &Serving, path: &str, fields: &[(&str, &str)], file: (&str, &[u8])) -> HttpReply {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part = format!(
            "--limit\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    let (name, bytes) = file;
    let head = format!(
        "--limit\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--limit--\r\n");
    let address = serving.address;
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\nconnection: close\r\n\
         content-type: multipart/form-data; boundary=limit\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("taken");
    // A server may refuse a body before it has read it.
    let _refused = stream.write_all(&body);
    finish(stream)
}

fn review(serving: &Serving, run: &str) -> Value {
    over(serving, run);
    get(serving.address, &format!("/v1/reviews/{run}")).json()
}

/// What of a review does not depend on when it was made.
fn lasting(review: &Value) -> Vec<&Value> {
    let keys = ["idea", "mode", "soundness", "contribution", "references", "failures", "left_out"];
    keys.iter().map(|key| &review[*key]).collect()
}

#[test]
fn a_review_of_the_page_is_the_review_of_the_command_line() {
    let program = Program::with_papers();
    let path = program.path("idea.md");
    // What is claimed is drawn.
    let idea = format!(
        "{IDEA}\nWe propose a novel detector of hallucinations in neural machine translation.\n"
    );
    fs_err::write(&path, &idea).expect("an idea");
    let file = path.to_str().expect("UTF-8");
    let expected = program.json(0, &["review", file, "--mode", "evidence"]);
    let serving = serve(&program);
    let fields = [("idea", idea.as_str()), ("mode", "evidence")];
    let asked = sent(&serving, "/review", &fields, ("", b""));
    let address = asked.header("location").unwrap_or_else(|| panic!("{}", asked.body)).to_owned();
    let run = address.trim_start_matches("/runs/").to_owned();
    let reply = review(&serving, &run);
    assert_eq!(reply["state"], "done", "{reply}");
    assert_eq!(lasting(&reply["review"]), lasting(&expected));
    let shown = page(&serving, &address).body;
    for part in [
        "Review: Retrieval against hallucination",
        "At a glance",
        "Method M1",
        "popovertarget=\"c",
        "<mark>",
        "drawing.svg\" alt=",
        "What is quoted",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let drawn = page(&serving, &format!("{address}/drawing.svg")).body;
    assert!(drawn.starts_with("<svg") && drawn.contains("What is near"), "{drawn:.300}");
    let html = page(&serving, &format!("{address}/export/html")).body;
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("At a glance"));
    assert!(page(&serving, &format!("{address}/export/latex")).body.contains("\\section"));
    let markdown = page(&serving, &format!("{address}/export/markdown")).body;
    assert!(markdown.contains("## At a glance"), "{markdown}");
    assert!(
        page(&serving, &format!("{address}/export/json")).body.contains("openscholar.review/1")
    );
    assert!(page(&serving, &format!("{address}/export/plain")).body.contains("Method M1"));
    assert!(page(&serving, &format!("{address}/export/ris")).body.starts_with("TY"));
    let part = page(&serving, &format!("{address}/parts/0/plain")).body;
    assert!(part.starts_with("At a glance") && !part.contains('<'), "{part}");
    let listed = page(&serving, "/runs").body;
    // Beside the list, the server's own runs are at the side.
    let titled = listed.matches("Retrieval against hallucination</a></th>").count();
    assert_eq!(titled, 2, "{listed}");
    assert_eq!(listed.matches("<td>review</td>").count(), 2, "the terminal's is there, too");
    let events = page(&serving, &format!("/v1/runs/{run}/events")).body;
    assert!(events.contains("\"event\":\"searched\"") && events.contains("event: end"), "{events}");
    serving.ends_with_0("TERM");
    program.succeeds(&["runs", "verify", &run]);
    assert_eq!(program.json(0, &["runs", "replay", &run])["identical"], true);
}

#[test]
fn ideas_are_read_from_files_and_those_that_are_none_are_named() {
    let program = Program::with_papers();
    let serving = serve(&program);
    let plan = "We detect hallucinations of neural machine translation with model probabilities and retrieved passages";
    let lines = vec![(72, 700, 8, plan)];
    let read = sent(&serving, "/review/estimate", &[], ("plan.pdf", &pdf::pdf(&[lines])));
    assert_eq!(read.status, 200, "{}", read.body);
    assert!(read.body.contains("We detect hallucinations") && read.body.contains("costs nothing"));
    let scanned = pdf::pdf(&[Vec::new()]);
    let long = "many words ".repeat(9_100);
    for (name, bytes, said) in [
        ("scanned.pdf", &scanned[..], "pictures of pages and no text"),
        ("broken.docx", b"PK\x03\x04 and no more", "annot read"),
        ("latin1.txt", b"caf\xe9", "not UTF-8"),
        ("binary.txt", b"some words \x00\x01 here", "binary data"),
        ("short.txt", b"Adapters for retrieval.", "fewer than the 12"),
        ("long.txt", long.as_bytes(), "more than the 20000"),
    ] {
        let refused = sent(&serving, "/review", &[("idea", "")], (name, bytes));
        assert_eq!(refused.status, 400, "{name}: {}", refused.body);
        assert!(refused.body.contains(said), "{name}: {}", refused.body);
    }
    let name = "<img src=x onerror=alert(1)>.pdf";
    let refused = sent(&serving, "/review", &[], (name, &scanned));
    assert!(
        !refused.body.contains("<img src=x") && refused.body.contains("&lt;img"),
        "{}",
        refused.body
    );
    let future = [("idea", IDEA), ("cutoff", "2999-01-01")];
    let refused = sent(&serving, "/review", &future, ("", b""));
    assert!(refused.status == 400 && refused.body.contains("is in the future"), "{}", refused.body);
    assert!(refused.body.contains("Retrieval against hallucination"), "what was typed is kept");
    let zipped = [&b"PK\x03\x04"[..], &vec![0; 21_500_000]].concat();
    let refused = sent(&serving, "/review", &[], ("large.docx", &zipped));
    assert_eq!(refused.status, 413, "{}", refused.body);
    assert!(program.runs().is_empty(), "nothing of that began");
    // What only the papers tell: a run that failed says so on its page, with the next step.
    let early = json!({"idea": IDEA, "cutoff": "1950-01-01"}).to_string();
    let run = post(serving.address, "/v1/reviews", &early).json()["run"]
        .as_str()
        .expect("a run")
        .to_owned();
    let failed = over(&serving, &run);
    assert_eq!(failed["state"], "failed", "{failed}");
    let shown = page(&serving, &format!("/runs/{run}")).body;
    assert!(
        shown.contains("This review could not be written") && shown.contains("What you can do")
    );
    serving.ends_with_0("TERM");
}

#[test]
fn a_server_killed_in_mid_review_goes_on_with_the_same_run() {
    let (tell, told) = channel();
    let tell = Mutex::new(Some(tell));
    let silent = model(move |request: &Value| {
        let is_it =
            request["messages"].to_string().contains("Judge whether the literature supports");
        match is_it.then(|| tell.lock().take()).flatten() {
            Some(tell) => {
                tell.send(()).expect("the test listens");
                Behaviour::Hang
            }
            None => reply(request),
        }
    });
    let program = Program::with_papers();
    let path = program.path(".config/openscholar/config.toml");
    let config = fs_err::read_to_string(&path).expect("configured");
    let url = silent.base_url();
    fs_err::write(&path, format!("judge = \"lexical\"\n{config}base_url = {url:?}\n"))
        .expect("written");
    let serving = serve(&program);
    let request = json!({"idea": IDEA, "mode": "generative"}).to_string();
    let asked = post(serving.address, "/v1/reviews", &request);
    assert_eq!(asked.status, 202, "{}", asked.body);
    let run = asked.json()["run"].as_str().expect("a name").to_owned();
    told.recv_timeout(PATIENCE).expect("the call comes");
    serving.kill();
    let serving = serve(&program);
    let whole = review(&serving, &run);
    assert_eq!(whole["state"], "done", "{whole}");
    assert_eq!(whole["review"]["failures"], json!([]));
    assert_eq!(whole["review"]["soundness"]["done"]["reviews"][0]["state"], "ok");
    let shown = page(&serving, &format!("/runs/{run}")).body;
    assert!(shown.contains("The plan itself") && shown.contains("No other retriever is compared"));
    assert!(!shown.contains("evil.example"), "a link that a model made up");
    serving.ends_with_0("INT");
    assert_eq!(program.runs(), [run.as_str()], "one run, and not a second one");
    assert_eq!(program.json(0, &["runs", "replay", &run])["identical"], true);
}

#[test]
fn an_explored_answer_shows_its_outline_and_tree() {
    let program = Program::with_papers();
    program.succeeds(&["ask", QUESTION, "--generator", "none"]);
    let run = program.runs().pop().expect("a run");
    let path = program.data("runs").join(&run).join("answer.json");
    let text = fs_err::read_to_string(&path).expect("an answer");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let answer = exploration::sample();
    document["outline"] = json!(answer.outline);
    document["tree"] = json!(answer.tree);
    fs_err::write(&path, document.to_string()).expect("the answer can be changed");
    let serving = serve(&program);
    let shown = page(&serving, &format!("/runs/{run}")).body;
    for part in [
        "How it was explored",
        "Tree of retrievals",
        "Agreement of HOMA",
        "expanded over citations",
        "<span class=\"sign\">discarded</span>",
        "Discarded: ",
        "Kept: ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let drawn = page(&serving, &format!("/runs/{run}/drawing.svg")).body;
    let by_program = program.path("tree.svg");
    program.succeeds(&["runs", "explain", &run, "--svg", by_program.to_str().expect("UTF-8")]);
    assert_eq!(drawn, fs_err::read_to_string(by_program).expect("drawn"), "the same drawing");
    serving.ends_with_0("TERM");
}
