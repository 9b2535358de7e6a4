//! Pages and native interface over a program in memory.

mod annotate;
mod backend;
mod library;
mod pages;
mod programs;
mod reviews;
mod rude;
mod sheets;
mod shelf;
mod workbench;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use scholar_server::backend::Backend;
use scholar_server::{Access, Callers, JobsConfig, Server, ServerConfig, Site, SiteConfig};
use scholar_testing::MemoryRetriever;
use scholar_testing::http::{HttpReply, finish, post};
use scholar_testing::{PATIENCE, until};
use serde_json::{Value, json};
use tokio::sync::oneshot;

pub(crate) use backend::FakeBackend;

const ANN: &str = "0123456789abcdef-ann";
const BEN: &str = "0123456789abcdef-ben";

/// A site on a thread of its own.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(backend: &Arc<FakeBackend>, folder: &Path, access: Access) -> Self {
        Self::with(backend, folder, access, JobsConfig::local(1))
    }

    pub(crate) fn with(
        backend: &Arc<FakeBackend>,
        folder: &Path,
        access: Access,
        jobs: JobsConfig,
    ) -> Self {
        let database = folder.join("serve.db");
        Self::of(backend, SiteConfig { jobs, access, database, behind_tls: false, studies: None })
    }

    pub(crate) fn of(backend: &Arc<FakeBackend>, config: SiteConfig) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let backend: Arc<dyn Backend> = backend.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("threads");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
                tell.send(listener.local_addr().expect("an address")).expect("the test waits");
                let probe =
                    Arc::new(|| Ok(scholar_server::CollectionSize { papers: 40, passages: 40 }));
                let retriever = Arc::new(MemoryRetriever::corpus());
                let search = ServerConfig::local("forty", 2);
                let server = Server::start(retriever, search, probe, None);
                let site = Site::start(server, backend, config).expect("a database");
                let stop = async move {
                    let _dropped = stopped.await;
                };
                site.serve(listener, stop).await.expect("served");
            });
        });
        let address = told.recv().expect("it listens");
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    /// Ends it in good order.
    pub(crate) fn join(mut self) {
        let _gone = self.stop.take().map(|stop| stop.send(()));
        self.thread.take().expect("once").join().expect("no panic");
    }

    /// Asks a question; returns the name of its run.
    fn ask(&self, question: &str) -> String {
        let reply = post(self.address, "/v1/ask", &json!({ "question": question }).to_string());
        assert_eq!(reply.status, 202, "{}", reply.body);
        reply.json()["run"].as_str().expect("a name").to_owned()
    }

    /// The run when it is over.
    fn over(&self, run: &str) -> Value {
        self.over_for(&[], run)
    }

    /// The same, asked with these header lines.
    fn over_for(&self, headers: &[&str], run: &str) -> Value {
        until("the end of the run", || {
            let path = format!("/v1/runs/{run}?wait=50");
            let reply = send(self.address, "GET", &path, headers, "").json();
            let state = reply["state"].as_str().expect("a state");
            (!["queued", "running"].contains(&state)).then_some(reply)
        })
    }
}

/// A request with these header lines; form fields as the body of a POST.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
) -> HttpReply {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    let length = body.len();
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{lines}content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).expect("taken");
    finish(stream)
}

/// A form of a page of this server.
pub(crate) fn form(address: SocketAddr, path: &str, headers: &[&str], body: &str) -> HttpReply {
    let origin = format!("origin: http://{address}");
    let mut all = vec!["content-type: application/x-www-form-urlencoded", origin.as_str()];
    all.extend(headers);
    send(address, "POST", path, &all, body)
}

/// A stream of events, read as far as the test needs.
struct Stream {
    stream: TcpStream,
    text: String,
}

impl Stream {
    fn open(address: SocketAddr, path: &str, last: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(address).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n{last}\r\n").expect("taken");
        Self { stream, text: String::new() }
    }

    /// Everything up to `sign`.
    fn until(&mut self, sign: &str) -> &str {
        let mut bytes = [0; 4_096];
        while !self.text.contains(sign) {
            let n = self.stream.read(&mut bytes).expect("readable");
            assert!(n > 0, "{sign} never comes: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
        &self.text
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn named() -> Access {
    let text = format!("ann: {ANN} questions-per-hour=3 usd-per-day=0.5\nben: {BEN}\n");
    Access::Named(Callers::parse(&text).expect("callers"))
}

#[test]
fn a_question_is_answered_and_its_events_are_told_as_they_happen() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let run = site.ask("Why?");
    let mut stream = Stream::open(site.address, &format!("/v1/runs/{run}/events"), None);
    let text = stream.until("id: 1.3");
    assert!(text.contains("text/event-stream") && text.contains("\"event\":\"started\""), "{text}");
    assert!(!text.contains("event: end"));
    backend.open(1);
    let text = stream.until("event: end").to_owned();
    assert!(text.contains("id: 1.5") && stream.until("\"state\":\"done\"").len() >= text.len());
    let reply = site.over(&run);
    assert_eq!(reply["schema"], "openscholar.api-run/1");
    assert_eq!(reply["answer"]["sentences"][0]["citations"], json!([1]));
    // A client that was cut off goes on behind the last event it has; a run that is over tells it all again, as kept.
    let mut kept = Stream::open(site.address, &format!("/v1/runs/{run}/events"), Some("0.4"));
    let text = kept.until("event: end");
    assert!(text.contains("id: 0.5") && !text.contains("id: 0.4"), "{text}");
    let mut other = Stream::open(site.address, &format!("/v1/runs/{run}/events"), Some("1.4"));
    let text = other.until("event: end");
    assert!(text.contains("event: reset") && text.contains("id: 0.1"), "{text}");
    site.join();
}

#[test]
fn a_restart_goes_on_where_the_server_was_and_open_pages_begin_anew() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let (first, second) = (site.ask("First?"), site.ask("Second?"));
    let mut stream = Stream::open(site.address, &format!("/v1/runs/{first}/events"), None);
    stream.until("id: 1.3");
    // The stream ends without a state: its client comes back.
    site.join();
    assert!(stream.until("event: end").contains("{\"state\":null}"));
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let path = format!("/v1/runs/{first}/events");
    let mut again = Stream::open(site.address, &path, Some("1.3"));
    let text = again.until("id: 2.3");
    assert!(text.contains("event: reset") && text.contains("id: 2.1"), "{text}");
    backend.open(2);
    assert_eq!(site.over(&first)["state"], "done");
    assert_eq!(site.over(&second)["state"], "done");
    let answered = backend.answered.lock().clone();
    let expect = [("First?", false), ("First?", true), ("Second?", false)];
    assert_eq!(answered, expect.map(|(question, resume)| (question.to_owned(), resume)));
    site.join();
}

#[test]
fn a_question_that_waits_or_is_under_way_can_be_given_up_and_taken_up_again() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let (running, waiting) = (site.ask("Running?"), site.ask("Waiting?"));
    let mut stream = Stream::open(site.address, &format!("/v1/runs/{waiting}/events"), None);
    stream.until("event: queued\ndata: {\"ahead\":0}");
    let told = |path: &str| post(site.address, path, "").json()["done"].clone();
    assert_eq!(told(&format!("/v1/runs/{waiting}/cancel")), true);
    assert!(stream.until("event: end").contains("cancelled"));
    assert_eq!(*backend.released.lock(), [waiting.as_str()]);
    assert_eq!(told(&format!("/v1/runs/{running}/cancel")), true);
    assert_eq!(site.over(&running)["state"], "cancelled");
    assert_eq!(told(&format!("/v1/runs/{running}/cancel")), false);
    backend.open(1);
    assert_eq!(told(&format!("/v1/runs/{running}/resume")), true);
    assert_eq!(site.over(&running)["state"], "done");
    assert_eq!(backend.answered.lock().last(), Some(&("Running?".to_owned(), true)));
    assert_eq!(told(&format!("/v1/runs/{running}/resume")), false, "it is done");
    site.join();
}

#[test]
fn a_failure_or_a_panic_is_its_runs_own() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    backend.open(3);
    let panicked = site.over(&site.ask("panic?"));
    assert_eq!(panicked["state"], "failed");
    let failed = site.over(&site.ask("fail?"));
    assert_eq!(
        (&failed["state"], &failed["error"]),
        (&json!("failed"), &json!("the server is away"))
    );
    assert_eq!(site.over(&site.ask("Fine?"))["state"], "done");
    site.join();
}

#[test]
fn callers_see_their_own_runs_and_stay_within_rate_and_budget() {
    let backend = Arc::new(FakeBackend { cost_usd: 0.3, ..FakeBackend::default() });
    let folder = folder();
    let site = Running::start(&backend, folder.path(), named());
    backend.open(9);
    let ann = format!("authorization: Bearer {ANN}");
    let ben = format!("authorization: Bearer {BEN}");
    let ask = |who: &str| {
        let body = json!({"question": "Why?"}).to_string();
        send(site.address, "POST", "/v1/ask", &[who, "content-type: application/json"], &body)
    };
    assert_eq!(post(site.address, "/v1/ask", "{}").status, 401);
    assert_eq!(ask("authorization: Bearer 0123456789abcdef-eve").status, 401);
    let over = |who: &str, run: &str| assert_eq!(site.over_for(&[who], run)["state"], "done");
    let run = ask(&ann).json()["run"].as_str().expect("a name").to_owned();
    over(&ann, &run);
    let see = |who: &str| send(site.address, "GET", &format!("/v1/runs/{run}"), &[who], "").status;
    assert_eq!((see(&ann), see(&ben)), (200, 404), "it is nobody else's business that it exists");
    let listed = send(site.address, "GET", "/v1/runs", &[&ben], "").json();
    assert_eq!(listed["runs"], json!([]));
    let second = ask(&ann).json()["run"].as_str().expect("a name").to_owned();
    over(&ann, &second);
    let refused = ask(&ann);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!("over_budget")));
    for _ in 0..4 {
        assert_eq!(ask(&ben).status, 202);
    }
    site.join();
}

#[test]
fn a_budget_is_not_spent_twice_by_questions_that_wait_nor_forgotten_by_those_that_fail() {
    let backend = Arc::new(FakeBackend { cost_usd: 0.6, ..FakeBackend::default() });
    let first = folder();
    let site = Running::with(&backend, first.path(), named(), JobsConfig::local(2));
    let (ann, ben) =
        (format!("authorization: Bearer {ANN}"), format!("authorization: Bearer {BEN}"));
    let ask = |site: &Running, who: &str, question: &str| {
        let body = json!({ "question": question }).to_string();
        send(site.address, "POST", "/v1/ask", &[who, "content-type: application/json"], &body)
    };
    let over = |site: &Running, run: &str| site.over_for(&[&ann], run);
    let run = |reply: HttpReply| reply.json()["run"].as_str().expect("a name").to_owned();
    let [one, two] = ["One?", "Two?"].map(|question| run(ask(&site, &ann, question)));
    ask(&site, &ben, "Three?");
    let under_way = || {
        let mut asked: Vec<_> = backend.answered.lock().iter().map(|(it, _)| it.clone()).collect();
        asked.sort();
        asked
    };
    until("two under way", || (under_way().len() == 2).then_some(()));
    assert_eq!(under_way(), ["One?", "Three?"], "of those with a budget one at a time");
    backend.open(2);
    assert_eq!(over(&site, &one)["state"], "done");
    let refused = over(&site, &two);
    assert_eq!(refused["state"], "failed");
    assert!(refused.to_string().contains("cost $0.60, of $0.50"), "{refused}");
    assert_eq!(under_way(), ["One?", "Three?"]);
    site.join();
    // Another day.
    let second = folder();
    let site = Running::start(&backend, second.path(), named());
    backend.open(1);
    let failing = run(ask(&site, &ann, "fail after a draft"));
    assert_eq!(over(&site, &failing)["state"], "failed");
    let refused = ask(&site, &ann, "Four?");
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.body.contains("cost $0.70"), "{}", refused.body);
    site.join();
}

#[test]
fn other_sites_can_neither_ask_nor_read() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let fields = "content-type: application/x-www-form-urlencoded";
    for (headers, expect) in [
        (&[fields][..], 403),
        (&[fields, "origin: https://evil.example"], 403),
        (&[fields, "sec-fetch-site: cross-site"], 403),
        (&["content-type: text/plain"], 403),
        (&["content-type: text/plain", "origin: null"], 403),
    ] {
        for path in ["/ask", "/v1/ask", "/runs/x/cancel"] {
            let reply = send(site.address, "POST", path, headers, "question=Why");
            assert_eq!(reply.status, expect, "{path} {headers:?}");
        }
    }
    // A page of another name that was made to lead here (DNS rebinding).
    let mut stream = TcpStream::connect(site.address).expect("somebody listens");
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n")
        .expect("taken");
    assert_eq!(finish(stream).status, 421);
    assert!(backend.answered.lock().is_empty());
    site.join();
}
