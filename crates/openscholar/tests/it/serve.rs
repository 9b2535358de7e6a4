//! The search service through the program: the documented examples, and a graceful end.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Child;

use scholar_testing::http::{get, post};
use serde_json::Value;

use crate::program::{Program, STORE, many_papers};
use crate::stopped::signal;

/// The program, serving; killed when the test is over.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Kept open: what the program prints at its end has somewhere to go.
    _stdout: BufReader<std::process::ChildStdout>,
}

impl Serving {
    pub(crate) fn start(program: &Program, options: &[&str]) -> Self {
        let loopback: &[&str] = match options.contains(&"--listen") {
            true => &[],
            false => &["--listen", "127.0.0.1:0"],
        };
        Self::of(program, &[&["datastore", "serve", STORE], loopback, options].concat())
    }

    /// Any command that prints the address it serves on.
    pub(crate) fn of(program: &Program, args: &[&str]) -> Self {
        let mut child = program.start(args);
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("readable");
        let address = line.trim().rsplit("http://").next().and_then(|text| text.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
        Self { child, address, _stdout: stdout }
    }

    /// Kills it, without any chance to end in order.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        let _reaped = self.child.wait();
    }

    pub(crate) fn ends_with_0(mut self, name: &str) {
        signal(&self.child, name);
        assert_eq!(self.child.wait().expect("ends").code(), Some(0), "after {name}");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Every example request of docs/api.md with the reply shown for it, if one is.
fn examples() -> Vec<(String, Option<String>, Option<Value>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let text = fs_err::read_to_string(path).expect("there");
    let mut examples = Vec::new();
    for part in text.split("```sh\n").skip(1) {
        let (command, after) = part.split_once("\n```\n").expect("a closed block");
        let (target, body) = match command.split_once(" -d '") {
            Some((target, body)) => (target, Some(body.trim_end_matches('\'').to_owned())),
            None => (command, None),
        };
        let (_, route) = target.split_once("http://127.0.0.1:5005").expect("the default address");
        let reply = after.trim_start().strip_prefix("```json\n").map(|reply| {
            let reply = reply.split("\n```").next().expect("a closed block");
            serde_json::from_str(reply).unwrap_or_else(|error| panic!("{error}: {reply}"))
        });
        examples.push((route.to_owned(), body, reply));
    }
    examples
}

/// Asserts that two documents have the same fields with values of the same kinds; a field that is `…` or an empty list
/// in `shown` may hold anything of its kind, and papers may have more fields, which the text lists.
fn same_shape(shown: &Value, got: &Value, at: &str) {
    match (shown, got) {
        (Value::Object(shown), Value::Object(got)) => {
            for (key, value) in shown {
                let Some(other) = got.get(key) else { panic!("{at} has no {key:?}") };
                same_shape(value, other, &format!("{at}.{key}"));
            }
            for key in got.keys().filter(|key| !shown.contains_key(*key)) {
                assert!(at.ends_with(".paper"), "{at}.{key} is not shown");
            }
        }
        (Value::Array(shown), Value::Array(got)) => {
            assert!(!got.is_empty(), "{at} is empty");
            for (shown, got) in shown.iter().zip(got) {
                same_shape(shown, got, &format!("{at}[]"));
            }
        }
        (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_))
        | (Value::Bool(_), Value::Bool(_)) => {}
        _ => panic!("{at}: {shown} is shown, {got} came"),
    }
}

#[test]
fn the_documented_examples_are_answered_as_shown() {
    let program = Program::with_papers();
    let serving = Serving::start(&program, &[]);
    let examples = examples();
    assert!(examples.len() >= 5, "docs/api.md shows the routes");
    for (route, body, shown) in examples {
        let reply = match &body {
            Some(body) => post(serving.address, &route, body),
            None => get(serving.address, &route),
        };
        let reply = reply.json();
        if let Some(shown) = shown {
            same_shape(&shown, &reply, &route);
        }
    }
    serving.ends_with_0("TERM");
}

#[test]
fn the_service_finds_what_the_command_finds_and_sees_new_papers() {
    let program = Program::with_papers();
    let log = program.path("queries.jsonl");
    let serving = Serving::start(&program, &["--log-queries", &log.to_string_lossy()]);
    let query = "exposure bias and hallucination";
    let body = serde_json::json!({"query": query, "top_k": 5}).to_string();
    let served = post(serving.address, "/v1/search", &body).json();
    let printed = program.json(0, &["search", query, "--top-k", "5"]);
    let ids = |hits: &Value| -> Vec<Value> {
        hits.as_array().expect("hits").iter().map(|hit| hit["passage"]["id"].clone()).collect()
    };
    assert_eq!(ids(&served["results"][0]["hits"]), ids(&printed["hits"]));

    let file = program.path("few.jsonl");
    fs_err::write(&file, many_papers(3)).expect("written");
    program.succeeds(&["papers", "add", &file.to_string_lossy()]);
    assert_eq!(get(serving.address, "/health").json()["papers"], 43);
    serving.ends_with_0("INT");
    let logged = fs_err::read_to_string(&log).expect("written");
    assert_eq!(logged.lines().count(), 1);
    assert!(logged.contains(query), "{logged}");
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let program = Program::with_papers();
    program.fails(1, &["datastore", "serve", STORE, "--queue", "0"], &["--queue", "at least 1"]);
    program.fails(2, &["datastore", "serve", STORE, "--listen", "somewhere"], &["--listen"]);
    program.fails(1, &["datastore", "serve", "nope", "--listen", "127.0.0.1:0"], &["nope"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let serve = ["datastore", "serve", STORE, "--listen", &address];
    program.fails(1, &serve, &["cannot listen on", "hint: choose another port"]);
}
