//! `openscholar serve` among people who mean no good: files that unpack without end, keys that must stay here, full disks, and
//! questions that are asked while the server is killed.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use scholar_testing::http::{HttpReply, finish, get, post};
use scholar_testing::until;
use serde_json::{Value, json};

use crate::program::{Program, QUESTION, STORE};
use crate::serve::Serving;
use crate::site::{over, serve, submit};

const KEYS: [&str; 4] =
    ["sk-secret-of-the-model", "s2-secret-key", "url-secret-word", "openalex-secret"];

/// Sends files to a datastore, as a page does.
fn upload(serving: &Serving, files: &[(&str, &[u8])]) -> HttpReply {
    let mut body = Vec::new();
    for (name, content) in files {
        let head = format!(
            "--limit\r\ncontent-disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--limit--\r\n");
    let head = format!(
        "POST /v1/papers/{STORE} HTTP/1.1\r\nhost: {0}\r\norigin: http://{0}\r\nconnection: close\r\ncontent-type: multipart/form-data; boundary=limit\r\ncontent-length: {1}\r\n\r\n",
        serving.address,
        body.len()
    );
    let mut stream = TcpStream::connect(serving.address).expect("listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
    stream.write_all(&[head.as_bytes(), &body].concat()).expect("taken");
    finish(stream)
}

#[test]
fn files_that_unpack_without_end_cost_themselves_alone() {
    let program = Program::with_papers();
    let serving = serve(&program);
    let entities: String = (1..10)
        .map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10)))
        .collect();
    let bomb = format!(
        "<!DOCTYPE article [<!ENTITY e0 \"lol\">{entities}]><article><front><article-meta><title-group><article-title>&e9;</article-title></title-group></article-meta></front><body><p>&e9;</p></body></article>"
    );
    let outside = "<!DOCTYPE article [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><article><front><article-meta><title-group><article-title>A title &x; of words</article-title></title-group></article-meta></front><body><p>Words &x; and words.</p></body></article>";
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let good = b"# Retrieval of passages\n\n## Abstract\n\nDense retrieval of passages is compared with sparse retrieval on ten collections.\n";
    let sent = upload(
        &serving,
        &[
            ("bomb.xml", bomb.as_bytes()),
            ("outside.xml", outside.as_bytes()),
            ("deep.xml", deep.as_bytes()),
            ("../../../../.bashrc.md", good),
        ],
    );
    assert_eq!(sent.status, 202, "{}", sent.body);
    let id = sent.json()["id"].as_str().expect("a name").to_owned();
    let over = until("the files", || {
        let reply = get(serving.address, &format!("/v1/additions/{id}")).json();
        (reply["is_over"] == true).then_some(reply)
    });
    assert_eq!(over["failed"], Value::Null, "{over}");
    let done = over["done"].as_array().expect("files");
    assert_eq!(done.len(), 4, "{over}");
    assert_eq!(done[3]["papers"].as_array().map(Vec::len), Some(1), "{over}");
    assert!(!over.to_string().contains("root:"), "{over}");
    assert!(!over.to_string().contains(&program.path("").to_string_lossy().into_owned()), "{over}");
    assert!(!program.path(".bashrc.md").exists());
    // What is an archive is not taken in at all.
    for name in ["papers.zip", "papers.gz", "papers.jsonl.zst", "papers.docx"] {
        assert_eq!(upload(&serving, &[(name, b"PK\x03\x04")]).status, 400, "{name}");
    }
    assert_eq!(get(serving.address, "/health").status, 200);
    serving.ends_with_0("TERM");
}

#[test]
fn keys_never_reach_a_page() {
    let program = Program::with_papers();
    let [model, s2, address, openalex] = KEYS;
    for (name, text) in [
        ("model.key", model.to_owned()),
        ("sources.keys", format!("S2_API_KEY={s2}\nOPENALEX_API_KEY={openalex}\n")),
    ] {
        let path = program.path(name);
        fs_err::write(&path, text).expect("written");
        let only_mine = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs_err::set_permissions(&path, only_mine).expect("allowed");
    }
    let path = program.path(".config/openscholar/config.toml");
    let config = fs_err::read_to_string(&path).expect("configured");
    let more = format!(
        "key_file = {:?}\nbase_url = \"http://me:{address}@127.0.0.1:1/v1?key={address}\"\n[sources]\nkey_file = {:?}\n",
        program.path("model.key"),
        program.path("sources.keys"),
    );
    fs_err::write(&path, config + &more).expect("written");
    let serving = serve(&program);
    // The server of the model is away: what is said of it may not say too much.
    let run = submit(&serving, &json!({"question": QUESTION, "mode": "single-pass"}));
    let failed = over(&serving, &run);
    assert_eq!(failed["state"], "failed", "{failed}");
    let document = get(serving.address, "/openapi.json").json();
    let routes = document["paths"].as_object().expect("paths").iter();
    let mut paths: Vec<String> = routes
        .filter(|(path, operations)| operations.get("get").is_some() && !path.contains('{'))
        .map(|(path, _)| path.clone())
        .collect();
    let run_of = |path: &str| path.replace("{run}", &run);
    paths.extend(
        [
            "/",
            "/runs",
            "/library",
            "/status",
            "/docs",
            "/compare",
            "/runs/{run}",
            "/v1/runs/{run}",
            "/v1/runs/{run}/events",
            "/v1/runs/{run}/explain",
            "/runs/{run}/export/json",
            "/runs/{run}/live",
            "/v1/status?providers=false",
        ]
        .map(run_of),
    );
    for path in paths {
        let reply = get(serving.address, &path);
        let all = format!("{:?} {}", reply.headers, reply.body);
        for key in KEYS {
            assert!(!all.contains(key), "{path} tells {key}: {all}");
        }
    }
    serving.ends_with_0("TERM");
}

/// Every file is limited to what a full disk leaves: nothing can be kept, and that is told.
#[test]
fn on_a_full_disk_questions_are_refused_and_the_server_goes_on() {
    let program = Program::with_papers();
    let mut shell = std::process::Command::new("/bin/sh");
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    shell.env_clear().env("HOME", program.path("")).env("OPENSCHOLAR_LOCAL_PORTS", "none");
    // The database and the lock are there already.
    let serving = serve(&program);
    serving.ends_with_0("TERM");
    shell.args([
        "-c",
        script,
        env!("CARGO_BIN_EXE_openscholar"),
        "serve",
        "--listen",
        "127.0.0.1:0",
    ]);
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = shell.spawn().expect("a shell");
    let mut line = Vec::new();
    let mut stdout = child.stdout.take().expect("piped");
    let mut byte = [0];
    while stdout.read(&mut byte).is_ok_and(|n| n == 1) && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    let line = String::from_utf8(line).expect("text");
    let address = line.rsplit("http://").next().and_then(|text| text.parse().ok());
    let Some(address) = address else {
        // Not even the database can be opened: then that is said at the start.
        let mut said = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
        assert_eq!(child.wait().expect("ends").code(), Some(1), "{said}");
        assert!(said.contains("hint:"), "{said}");
        return;
    };
    let refused = post(address, "/v1/ask", &json!({"question": QUESTION}).to_string());
    assert!([400, 500, 503].contains(&refused.status), "{refused:?}");
    assert!(!refused.body.contains(&*program.path("").to_string_lossy()), "{refused:?}");
    let search = json!({"query": "translation", "top_k": 1}).to_string();
    assert_eq!(post(address, "/v1/search", &search).status, 200, "reading goes on");
    assert_eq!(get(address, "/").status, 200);
    child.kill().expect("it runs");
    child.wait().expect("ends");
}

#[test]
fn questions_survive_kills_at_any_time_and_each_is_answered_once() {
    let program = Program::with_papers();
    let mut taken = BTreeSet::new();
    for round in 0..4 {
        let serving = serve(&program);
        for n in 0..3 {
            let question = format!("{} ({round}.{n})", QUESTION.trim_end_matches('?'));
            taken.insert(submit(&serving, &json!({"question": question, "mode": "evidence"})));
        }
        // In the middle of something else each time.
        for _ in 0..round * 8 {
            get(serving.address, "/v1/runs");
        }
        serving.kill();
    }
    assert_eq!(taken.len(), 12, "no name is given twice");
    let serving = serve(&program);
    for run in &taken {
        let reply = over(&serving, run);
        assert_eq!(reply["state"], "done", "{reply}");
    }
    serving.ends_with_0("TERM");
    let kept: BTreeSet<String> = program.runs().into_iter().collect();
    assert_eq!(kept, taken, "none is lost, and none is there twice");
    for run in &taken {
        assert_eq!(program.json(0, &["runs", "replay", run])["identical"], true);
    }
}

#[test]
fn a_stream_ends_in_order_when_the_server_is_stopped() {
    let program = Program::with_papers();
    let (model, told) = crate::stopped::silent_once("draft");
    let path = program.path(".config/openscholar/config.toml");
    let config = fs_err::read_to_string(&path).expect("configured");
    fs_err::write(&path, format!("{config}base_url = {:?}\n", model.base_url())).expect("written");
    let serving = serve(&program);
    let run = submit(&serving, &json!({"question": QUESTION, "mode": "single-pass"}));
    told.recv_timeout(Duration::from_secs(60)).expect("the call comes");
    let mut stream = TcpStream::connect(serving.address).expect("listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout can be set");
    let host = serving.address;
    write!(stream, "GET /v1/runs/{run}/events HTTP/1.1\r\nhost: {host}\r\n\r\n").expect("taken");
    let mut seen = [0; 512];
    let _first = stream.read(&mut seen).expect("events");
    serving.ends_with_0("TERM");
    let mut rest = String::new();
    let _reset = stream.read_to_string(&mut rest);
    assert!(rest.contains("event: end\ndata: {\"state\":null}"), "{rest}");
    assert!(rest.ends_with("0\r\n\r\n"), "whole: {rest}");
}

#[test]
fn an_address_of_the_next_internet_is_served_as_well() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no IPv6");
        return;
    }
    let program = Program::with_papers();
    let serving = Serving::of(&program, &["serve", "--listen", "[::1]:0"]);
    assert!(serving.address.is_ipv6());
    assert!(get(serving.address, "/").body.contains(STORE));
    serving.ends_with_0("TERM");
}
