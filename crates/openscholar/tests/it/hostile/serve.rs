//! Clients of `datastore serve` that ask for too much, read too slowly or come from elsewhere.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use scholar_testing::http::post;

use crate::program::{Program, STORE};
use crate::serve::Serving;

/// Status and reply of a request that is sent as it is.
fn raw(serving: &Serving, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(serving.address).expect("listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
    let _refused = stream.write_all(request.as_bytes());
    let mut reply = String::new();
    let _reset = stream.read_to_string(&mut reply);
    let status = reply.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_default(), reply)
}

/// B5: the request that made a reply of 604 MB, and its neighbours.
#[test]
fn one_request_cannot_ask_for_more_than_a_reply_may_have() {
    let program = Program::with_papers();
    let serving = Serving::start(&program, &["--max-reply-passages", "1000"]);
    let queries = vec!["machine translation"; 256];
    let asked = |top_k: usize, explain: bool| {
        let body = serde_json::json!({"queries": queries, "top_k": top_k, "explain": explain});
        post(serving.address, "/v1/search", &body.to_string())
    };
    let reply = asked(1_000, true);
    let error = reply.json()["error"].clone();
    assert_eq!(reply.status, 400, "{error}");
    let says = "256 queries with 1000 passages each are 256000 passages, more than the 500 that one request";
    assert!(error["message"].as_str().is_some_and(|text| text.starts_with(says)), "{error}");
    let hint = error["hint"].as_str().expect("a hint");
    assert!(hint.starts_with("ask for at most 1 passages for each query"), "{hint}");
    assert_eq!((asked(1, true).status, asked(3, false).status), (200, 200));
    program.fails(
        1,
        &["datastore", "serve", STORE, "--max-reply-passages", "999"],
        &["1000 passages", "hint: pass --max-reply-passages 1000 or more"],
    );
}

/// W4: a page whose name was rebound to this machine, and a page that sends forms here.
#[test]
fn a_browser_is_not_led_here_by_other_pages() {
    let program = Program::with_papers();
    let serving = Serving::start(&program, &["--allowed-host", "search.example.org"]);
    let get = |lines: &str| {
        raw(&serving, &format!("GET /queue_size HTTP/1.1\r\nconnection: close\r\n{lines}\r\n")).0
    };
    let port = serving.address.port();
    for (lines, expect) in [
        (format!("host: localhost:{port}\r\n"), 200),
        (format!("host: [::1]:{port}\r\n"), 200),
        ("host: search.example.org\r\norigin: https://search.example.org\r\n".to_owned(), 200),
        (format!("host: rebound.example:{port}\r\n"), 421),
        ("host: localhost\r\norigin: https://rebound.example\r\n".to_owned(), 403),
        (String::new(), 400),
    ] {
        assert_eq!(get(&lines), expect, "{lines:?}");
    }
    let head = "POST /v1/search HTTP/1.1\r\nhost: localhost\r\n";
    let (status, reply) =
        raw(&serving, &format!("{head}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n"));
    assert_eq!(status, 400, "{reply}");
    // Not a byte of the body is sent.
    let (status, reply) = raw(&serving, &format!("{head}content-length: 999999999\r\n\r\n"));
    assert_eq!(status, 413, "{reply}");
    let serve = ["datastore", "serve", STORE, "--allowed-host", "https://search.example.org/"];
    program.fails(
        1,
        &serve,
        &["is not the name of a host", "hint: give a host name without scheme"],
    );
}

/// W4: an address that others reach.
#[test]
fn beyond_this_machine_a_server_needs_tokens_or_to_be_told() {
    let program = Program::with_papers();
    let open = ["datastore", "serve", STORE, "--listen", "0.0.0.0:0"];
    program.fails(
        1,
        &open,
        &[
            "other machines can reach 0.0.0.0:0",
            "hint: pass --token-file FILE",
            "--insecure",
            "127.0.0.1",
        ],
    );
    program.fails(
        1,
        &["bench", "annotate", "serve", "--db", "study.db", "--address", "[::]:0"],
        &["other machines can reach [::]:0", "hint: put a server with TLS in front", "--insecure"],
    );
    let file = program.path("tokens.txt");
    let path = file.to_string_lossy().into_owned();
    let with = [&open[..], &["--token-file", &path]].concat();
    program.fails(1, &with, &["cannot read the tokens in", "tokens.txt"]);
    fs_err::write(&file, "ada: 0123456789abcdef\n").expect("written");
    let allow = |mode| {
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("allowed");
    };
    allow(0o644);
    program.fails(1, &with, &["others can read the tokens in", "hint: run chmod 600"]);
    allow(0o600);
    let tokens = Serving::start(&program, &["--listen", "0.0.0.0:0", "--token-file", &path]);
    let ask = |serving: &Serving, path: &str, lines: &str| {
        let host = "host: 127.0.0.1\r\nconnection: close\r\n";
        raw(serving, &format!("GET {path} HTTP/1.1\r\n{host}{lines}\r\n")).0
    };
    assert_eq!(ask(&tokens, "/health", ""), 401);
    assert_eq!(ask(&tokens, "/health", "authorization: Bearer 0123456789abcdeF\r\n"), 401);
    assert_eq!(ask(&tokens, "/health", "authorization: Bearer 0123456789abcdef\r\n"), 200);
    assert_eq!(ask(&tokens, "/health/live", ""), 200);
    tokens.ends_with_0("TERM");
    fs_err::write(&file, "ada: short\n").expect("written");
    program.fails(
        1,
        &with,
        &["tokens.txt: line 1", "16 or more", "hint: write a line NAME: TOKEN"],
    );
    let told = Serving::start(&program, &["--listen", "0.0.0.0:0", "--insecure"]);
    assert_eq!(ask(&told, "/health", ""), 200);
    told.ends_with_0("TERM");
}
