//! Clients that are odd, many, in a hurry, or older than the web's habits.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use scholar_server::Access;
use scholar_testing::http::{finish, get, post, request};
use scholar_testing::{PATIENCE, until};
use serde_json::json;

use super::{FakeBackend, Running, Stream, folder, form, send};

/// Status and everything that comes back of a request that is sent as it is.
fn raw(site: &Running, text: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(site.address).expect("somebody listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    stream.write_all(text.as_bytes()).expect("taken");
    let mut reply = String::new();
    let _reset = stream.read_to_string(&mut reply);
    let status = reply.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_default(), reply)
}

#[test]
fn what_cannot_be_read_is_told_to_programs_in_json_and_to_people_on_a_page() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    for path in
        ["/v1/runs?limit=-1", "/v1/runs/%ff", "/v1/papers?words=x", "/v1/papers?offset=9e99&x=1"]
    {
        let reply = get(site.address, path);
        assert_eq!(reply.status, 400, "{path}: {}", reply.body);
        assert_eq!(reply.json()["error"]["code"], "bad_request", "{path}");
        assert!(reply.json()["error"]["message"].as_str().is_some_and(|text| text.len() > 10));
    }
    for path in ["/runs/%ff", "/library?offset=-1"] {
        let reply = get(site.address, path);
        assert_eq!(reply.status, 400, "{path}");
        assert!(reply.body.starts_with("<!DOCTYPE html>"), "{path}: {}", reply.body);
    }
    let no_form = post(site.address, "/ask", "{\"question\": \"<b>Why?</b>\"}");
    assert!(no_form.status == 400 && no_form.body.starts_with("<!DOCTYPE html>"), "{no_form:?}");
    site.join();
}

#[test]
fn every_version_of_the_protocol_and_every_method_gets_an_answer_of_its_own() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    // HTTP/1.0 knows no hosts and no kept connections.
    let (status, reply) = raw(&site, "GET / HTTP/1.0\r\n\r\n");
    assert!(status == 200 && reply.starts_with("HTTP/1.0 200"), "{reply}");
    assert!(reply.ends_with("</html>"), "and ends: {reply}");
    let (status, reply) = raw(
        &site,
        &format!("HEAD / HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", site.address),
    );
    let length = reply.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    assert_eq!(status, 200);
    assert!(length.is_some_and(|length| length != "0") && reply.ends_with("\r\n\r\n"), "{reply}");
    for method in ["OPTIONS", "PUT", "DELETE", "TRACE", "PATCH"] {
        let reply = request(site.address, method, "/v1/offer", "");
        assert_eq!((reply.status, reply.header("allow")), (405, Some("GET,HEAD")), "{method}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    let evil = format!("GET http://evil.example/ HTTP/1.1\r\nhost: {}\r\n", site.address);
    let (status, _) = raw(&site, &format!("{evil}connection: close\r\n\r\n"));
    assert_eq!(status, 421, "the name in front of the path counts");
    assert_eq!(raw(&site, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").0, 0, "nobody speaks that here");
    site.join();
}

#[test]
fn files_of_the_program_are_sent_once() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    for path in ["/style.css", "/app.js", "/icon.svg"] {
        let first = get(site.address, path);
        let tag = first.header("etag").expect("a name of this version").to_owned();
        let again = |known: &str| {
            send(site.address, "GET", path, &[&format!("if-none-match: {known}")], "")
        };
        for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let reply = again(&known);
            assert_eq!((reply.status, reply.body.as_str()), (304, ""), "{path} {known}");
            assert_eq!(reply.header("etag"), Some(tag.as_str()));
        }
        assert_eq!(again("\"x\"").body, first.body);
    }
    // A page is somebody's, and changes.
    let page = get(site.address, "/");
    assert_eq!((page.header("etag"), page.header("cache-control")), (None, Some("no-store")));
    site.join();
}

#[test]
fn a_question_that_many_take_up_at_once_is_answered_once() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let run = site.ask("Why?");
    Stream::open(site.address, &format!("/v1/runs/{run}/events"), None).until("id: 1.3");
    let told = |verb: &str| post(site.address, &format!("/v1/runs/{run}/{verb}"), "").json();
    assert_eq!(told("cancel")["done"], true);
    assert_eq!(site.over(&run)["state"], "cancelled");
    let taken: Vec<bool> = std::thread::scope(|scope| {
        let ask = || told("resume")["done"] == true;
        let clients: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        clients.into_iter().map(|client| client.join().expect("answered")).collect()
    });
    assert_eq!(taken.iter().filter(|done| **done).count(), 1, "{taken:?}");
    backend.open(16);
    assert_eq!(site.over(&run)["state"], "done");
    // Another question is behind whatever else would have been taken up.
    assert_eq!(site.over(&site.ask("And?"))["state"], "done");
    let whys = backend.answered.lock().iter().filter(|(question, _)| question == "Why?").count();
    assert_eq!(whys, 2, "begun, and taken up once");
    site.join();
}

#[test]
fn a_run_whose_folder_is_gone_says_so_and_nothing_tells_where_it_was() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    backend.open(1);
    let run = site.ask("Why?");
    assert_eq!(site.over(&run)["state"], "done");
    backend.runs.lock().clear();
    let reply = site.over(&run);
    assert_eq!(reply["state"], "failed");
    assert!(reply["error"].as_str().is_some_and(|why| why.contains("no longer")), "{reply}");
    assert!(get(site.address, &format!("/runs/{run}")).body.contains("no longer"));
    let none = post(
        site.address,
        "/v1/ask",
        &json!({"question": "And then?", "follows": "20200101-000000-aaaa"}).to_string(),
    );
    assert_eq!(
        (none.status, &none.json()["error"]["message"]),
        (404, &json!("there is no such run"))
    );
    site.join();
}

#[test]
fn hundreds_of_open_pages_leave_room_for_others_and_go_when_they_are_closed() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let run = site.ask("Why?");
    let path = format!("/runs/{run}/live?last=1.0");
    let mut pages: Vec<Stream> =
        (0..300).map(|_| Stream::open(site.address, &path, None)).collect();
    for page in &mut pages {
        page.until("id: 1.3");
    }
    let connections = || {
        let text = get(site.address, "/metrics").body;
        let line = text.lines().find_map(|line| line.strip_prefix("openscholar_connections "));
        line.and_then(|n| n.parse::<usize>().ok()).expect("a number")
    };
    assert!(connections() > 300);
    let search = json!({"query": "translation"}).to_string();
    assert_eq!(post(site.address, "/v1/search", &search).status, 200);
    assert_eq!(form(site.address, "/ask", &[], "question=And%3F").status, 303);
    backend.open(1);
    for page in &mut pages {
        page.until("event: end");
    }
    drop(pages);
    until("connections to end", || (connections() <= 1).then_some(()));
    site.join();
}

/// A body in pieces without a length, of which there is no end.
#[test]
fn bodies_without_end_are_cut_off_where_they_are_too_long() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let incoming = folder.path().join("incoming");
    *backend.incoming.lock() = Some(incoming.clone());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let piece = chunk(&" ".repeat(64 << 10));
    let form = "multipart/form-data; boundary=limit";
    let begins = |name: &str| {
        chunk(&format!(
            "--limit\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"a.pdf\"\r\n\r\n"
        ))
    };
    // MB that a client would send, of which the server takes less.
    for (path, kind, begins, mb) in [
        ("/v1/ask", "application/json", String::new(), 40),
        ("/v1/search", "application/json", String::new(), 40),
        ("/ask", "application/x-www-form-urlencoded", String::new(), 40),
        ("/review", form, begins("file"), 60),
        ("/library/add?datastore=library", form, begins("files"), 400),
        ("/v1/papers/library", form, begins("files"), 400),
    ] {
        let most = mb * 16;
        let mut stream = TcpStream::connect(site.address).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {0}\r\norigin: http://{0}\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n",
            site.address
        );
        stream.write_all((head + &begins).as_bytes()).expect("taken");
        let mut sent = 0;
        while sent < most && stream.write_all(piece.as_bytes()).is_ok() {
            sent += 1;
        }
        assert!(sent < most, "{path} reads whatever comes");
        let mut reply = Vec::new();
        let _reset = stream.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply);
        assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 4"), "{path}: {reply}");
    }
    let kept = || fs_err::read_dir(&incoming).map_or(0, Iterator::count);
    until("what was cut off to be removed", || (kept() == 0).then_some(()));
    assert!(backend.added.lock().is_empty());
    assert_eq!(
        finish(scholar_testing::http::begin(site.address, "GET", "/health", "")).status,
        200
    );
    site.join();
}
