//! `openscholar serve` over the real run path: the same runs as those of the command line, through restarts too.

mod reviews;

use scholar_testing::http::{HttpReply, get, post};
use scholar_testing::{PATIENCE, until};
use serde_json::{Value, json};

use crate::program::{Program, QUESTION, STORE};
use crate::serve::Serving;
use crate::stopped::silent_once;

pub(crate) fn serve(program: &Program) -> Serving {
    Serving::of(program, &["serve", "--listen", "127.0.0.1:0"])
}

pub(crate) fn submit(serving: &Serving, request: &Value) -> String {
    let reply = post(serving.address, "/v1/ask", &request.to_string());
    assert_eq!(reply.status, 202, "{}", reply.body);
    reply.json()["run"].as_str().expect("a name").to_owned()
}

/// The run when it is over.
pub(crate) fn over(serving: &Serving, run: &str) -> Value {
    until("the end of the run", || {
        let reply = get(serving.address, &format!("/v1/runs/{run}?wait=50"));
        assert_eq!(reply.status, 200, "{}", reply.body);
        let reply = reply.json();
        let is_over = !["queued", "running"].contains(&reply["state"].as_str().expect("a state"));
        is_over.then_some(reply)
    })
}

pub(crate) fn page(serving: &Serving, path: &str) -> HttpReply {
    let reply = get(serving.address, path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    reply
}

/// Lets the server write with `model`.
pub(crate) fn written_by(program: &Program, base_url: &str) {
    let path = program.path(".config/openscholar/config.toml");
    let config = fs_err::read_to_string(&path).expect("configured");
    fs_err::write(&path, format!("{config}base_url = {base_url:?}\n")).expect("written");
}

#[test]
fn a_question_of_the_page_leaves_the_run_that_the_command_line_leaves() {
    let program = Program::with_papers();
    let expected = program.json(0, &["ask", QUESTION, "--mode", "evidence"]);
    let serving = serve(&program);
    let front = page(&serving, "/").body;
    assert!(front.contains("40 papers") && front.contains(STORE), "{front}");
    let run = submit(&serving, &json!({"question": QUESTION, "mode": "evidence"}));
    let reply = over(&serving, &run);
    assert_eq!(reply["state"], "done", "{reply}");
    for part in ["sentences", "references", "mode", "abstained"] {
        assert_eq!(reply["answer"][part], expected[part], "{part}");
    }
    let shown = page(&serving, &format!("/runs/{run}")).body;
    let quoted = expected["sentences"][0]["quotes"][0]["text"].as_str().expect("a quotation");
    assert!(shown.contains("<mark>") && shown.contains("popovertarget="), "{shown}");
    let plain = page(&serving, &format!("/runs/{run}/parts/0/plain")).body;
    assert!(!plain.is_empty() && !plain.contains('<'), "{plain}");
    assert!(page(&serving, &format!("/runs/{run}/export/bibtex")).body.starts_with('@'));
    let events = page(&serving, &format!("/v1/runs/{run}/events")).body;
    assert!(events.contains("\"event\":\"ranked\"") && events.contains("event: end"), "{events}");
    let listed = page(&serving, "/runs").body;
    let runs = program.runs();
    assert_eq!(runs.len(), 2, "the terminal's run is there, too");
    for one in runs {
        assert!(listed.contains(&format!("href=\"/runs/{one}\"")), "{one}: {listed}");
    }
    serving.ends_with_0("TERM");
    assert!(program.runs().contains(&run));
    assert!(
        program
            .json(0, &["runs", "show", &run])
            .to_string()
            .contains(quoted.split(' ').next().expect("a word"))
    );
    assert_eq!(program.json(0, &["runs", "replay", &run])["identical"], true);
    program.succeeds(&["runs", "verify", &run]);
}

#[test]
fn a_server_killed_in_mid_answer_goes_on_with_the_same_run() {
    let program = Program::with_papers();
    let (model, told) = silent_once("draft");
    written_by(&program, &model.base_url());
    let serving = serve(&program);
    let request = json!({"question": QUESTION, "mode": "single-pass"});
    let run = submit(&serving, &request);
    told.recv_timeout(PATIENCE).expect("the call comes");
    serving.kill();
    let serving = serve(&program);
    let reply = over(&serving, &run);
    assert_eq!(reply["state"], "done", "{reply}");
    serving.ends_with_0("INT");
    assert_eq!(program.runs(), [run.as_str()], "one run, and not a second one");
    assert_eq!(reply["answer"]["mode"], "single_pass");
    // Nothing that was answered before the end was asked again.
    let calls = model.purposes();
    let drafts = calls.iter().filter(|call| **call == "draft").count();
    assert_eq!(drafts, 2, "{calls:?}");
    let first = calls.first().expect("a call");
    assert_eq!(calls.iter().filter(|call| *call == first).count(), 1, "{calls:?}");
    assert_eq!(program.json(0, &["runs", "replay", &run])["identical"], true);
}

#[test]
fn one_server_uses_a_home_at_a_time_and_others_need_tokens() {
    let program = Program::with_papers();
    let serving = serve(&program);
    program.fails(1, &["serve", "--listen", "127.0.0.1:0"], &["another openscholar serve uses"]);
    let open = ["serve", "--listen", "0.0.0.0:0"];
    program.fails(1, &open, &["other machines can reach", "--token-file", "--insecure"]);
    serving.ends_with_0("TERM");
    serve(&program).ends_with_0("TERM");
}

#[test]
fn the_documented_example_in_python_prints_an_answer() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let text = fs_err::read_to_string(path).expect("there");
    let (_, after) = text.split_once("```python\n").expect("an example");
    let (example, _) = after.split_once("```").expect("a closed block");
    let program = Program::with_papers();
    let serving = serve(&program);
    let example = example
        .replace("127.0.0.1:5006", &serving.address.to_string())
        .replace("How can hallucinations of language models be detected?", QUESTION);
    let output = std::process::Command::new("python3").args(["-c", &example]).output();
    let output = output.expect("the checks need python3");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.lines().any(|line| line.ends_with("[1]")), "{printed}");
    serving.ends_with_0("TERM");
}

/// A request with files in it, or its beginning.
fn files(serving: &Serving, names: &[String], is_whole: bool) -> std::net::TcpStream {
    let part = |name: &String| {
        format!(
            "--limit\r\ncontent-disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\nOn {name}\n\nWe studied what {name} does to the reading of papers, and found that it helps.\r\n"
        )
    };
    let body = names.iter().map(part).collect::<String>() + "--limit--\r\n";
    let length = body.len() + if is_whole { 0 } else { 1_000 };
    let mut stream = std::net::TcpStream::connect(serving.address).expect("it listens");
    let head = format!(
        "POST /v1/papers/{STORE} HTTP/1.1\r\nhost: {0}\r\norigin: http://{0}\r\nconnection: close\r\ncontent-type: multipart/form-data; boundary=limit\r\ncontent-length: {length}\r\n\r\n",
        serving.address
    );
    let body = if is_whole { body.as_str() } else { body.trim_end_matches("--limit--\r\n") };
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("taken");
    std::io::Write::write_all(&mut stream, body.as_bytes()).expect("taken");
    stream
}

#[test]
fn files_that_were_being_added_when_the_server_was_killed_are_added_or_said_to_be_lost() {
    let program = Program::with_papers();
    let serving = serve(&program);
    let names: Vec<String> = (0..6).map(|at| format!("topic {at}.txt")).collect();
    let sent = scholar_testing::http::finish(files(&serving, &names, true));
    assert_eq!(sent.status, 202, "{}", sent.body);
    let id = sent.json()["id"].as_str().expect("a name").to_owned();
    let told = |serving: &Serving| {
        let reply = get(serving.address, &format!("/v1/additions/{id}")).json();
        let done = reply["done"].as_array().expect("a list").clone();
        (done, reply["is_over"] == true)
    };
    until("the first file", || (!told(&serving).0.is_empty()).then_some(()));
    let incoming = || {
        let folders = fs_err::read_dir(program.data("incoming")).expect("there");
        folders.filter_map(Result::ok).filter(|entry| entry.path().is_dir()).count()
    };
    let before = incoming();
    let cut = files(&serving, &names[..1], false);
    until("its folder", || (incoming() > before).then_some(()));
    let (first, _) = told(&serving);
    serving.kill();
    drop(cut);
    let serving = serve(&program);
    let all = until("the files", || match told(&serving) {
        (all, true) => Some(all),
        (_, false) => None,
    });
    assert_eq!(all.len(), names.len());
    assert_eq!(all[..first.len()], first[..], "what was told stays told");
    for (file, name) in all.iter().zip(&names) {
        assert_eq!(file["name"], name.as_str());
        assert_eq!(file["papers"].as_array().map(Vec::len), Some(1), "{file}");
    }
    let library = page(&serving, &format!("/library?datastore={STORE}")).body;
    let all = scholar_testing::corpus::papers().len() + 6;
    assert!(library.contains(&format!("of {all} papers")), "each once: {library}");
    let said = "broke off";
    assert!(library.contains(said), "{library}");
    let lost = library.split("href=\"/library/additions/").skip(1).find(|rest| rest.contains(said));
    let lost = lost.and_then(|rest| rest.split('"').next()).expect("an address");
    let lost = page(&serving, &format!("/library/additions/{lost}")).body;
    assert!(lost.contains("Send them again") || lost.contains("send them again"), "{lost}");
    assert_eq!(incoming(), before, "nothing of what did not arrive is left");
    serving.ends_with_0("TERM");
}

#[test]
fn a_study_is_served_beside_everything_else() {
    let program = Program::with_papers();
    crate::annotate::write_study(&program);
    let db = program.path("study.db").to_string_lossy().into_owned();
    let address = "https://papers.example.org/annotate";
    let made = program.json(0, &["bench", "annotate", "create", "--db", &db, "--url", address]);
    let url = made["annotators"][0]["url"].as_str().expect("theirs").to_owned();
    let own = url.strip_prefix("https://papers.example.org").expect("below the address");
    let serving = Serving::of(&program, &["serve", "--listen", "127.0.0.1:0", "--study", &db]);
    assert!(page(&serving, "/").body.contains("href=\"/annotate\""));
    assert!(page(&serving, "/annotate").body.contains("1 of 6 judgements given"));
    let list = page(&serving, own).body;
    assert!(list.contains("topic 0") && list.contains("submitted"), "{list}");
    serving.ends_with_0("TERM");
    program.fails(1, &["serve", "--study", "none.db"], &["there is no study none.db", "create"]);
}
