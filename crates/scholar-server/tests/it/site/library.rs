//! Papers, files that are sent, runs looked at again, and the state, as browsers and programs get them.

use std::sync::Arc;

use scholar_server::Access;
use scholar_testing::hostile;
use scholar_testing::http::{HttpReply, get, post};
use scholar_testing::until;

use super::pages::foreign;
use super::{ANN, BEN, FakeBackend, Running, folder, form, named, send};

/// An identifier in an address.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// Address of the first paper, and of its first passage in an address.
fn first(backend: &FakeBackend) -> (String, String) {
    let view = backend.first();
    let paper = format!("/papers/forty/{}", encoded(&view.paper.meta.id.to_string()));
    (paper, encoded(&view.passages[0].id.to_string()))
}

#[test]
fn a_paper_is_opened_at_a_quotation_and_its_pages_are_looked_at() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let (paper, passage) = first(&backend);
    let page = get(site.address, &paper);
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(!page.body.contains("<mark") && page.body.contains("/pages/1\""), "{}", page.body);
    let text = backend.first().passages[0].text.clone();
    let words: String = text.chars().skip(3).take(20).collect();
    let query = format!("passage={passage}&start=3&end=23");
    let page = get(site.address, &format!("{paper}?{query}")).body;
    assert_eq!(page.matches("<mark").count(), 1, "{page}");
    let after = page.split("id=\"quotation\"").nth(1).expect("the mark");
    assert!(after.contains(&words[..8]), "{after:.200}");
    for part in ["id=\"references\"", "Another work. 2019.", "id=\"cited-by\"", "id=\"quoted-in\""]
    {
        assert!(page.contains(part), "{part}");
    }
    // A quotation that is not there is said, and the paper shown all the same.
    let other = get(site.address, &format!("{paper}?passage={passage}&start=3&end=999999"));
    assert!(other.status == 200 && other.body.contains("is not marked"), "{}", other.body);

    let led = get(site.address, &format!("{paper}/pdf?{query}"));
    let at = led.header("location").expect("the page").to_owned();
    assert_eq!((led.status, at.as_str()), (303, format!("{paper}/pages/2?{query}").as_str()));
    let page = get(site.address, &at).body;
    let drawing = format!("{paper}/pages/2/drawing.svg?{}", query.replace('&', "&amp;"));
    assert!(page.contains(&drawing), "{page}");
    assert!(page.contains("with the quotation marked") && page.contains("width=\"816\""), "{page}");
    let drawn = get(site.address, &format!("{paper}/pages/2/drawing.svg?{query}"));
    assert_eq!(drawn.header("content-type"), Some("image/svg+xml"));
    assert!(drawn.body.contains("<rect/>"));
    assert!(drawn.header("content-security-policy").is_some());
    let page = get(site.address, &format!("{paper}/pages/3?{query}")).body;
    assert!(page.contains("stands on another page") && page.contains("/pages/2?"), "{page}");
    for path in [
        format!("{paper}/pages/9"),
        format!("{paper}/pages/9/drawing.svg"),
        "/papers/forty/doi%3A10.1%2Fnone".to_owned(),
        "/papers/forty/nonsense".to_owned(),
        "/papers/..%2F..%2Fetc/doi%3A10.1%2Fnone".to_owned(),
        format!("{paper}/pdf?passage=nonsense"),
    ] {
        assert_eq!(get(site.address, &path).status, 404, "{path}");
    }
    assert_eq!(get(site.address, &format!("{paper}/pages/x")).status, 400);
    site.join();
}

#[test]
fn the_library_is_searched_and_pairs_are_settled() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let page = get(site.address, "/library").body;
    assert!(page.contains("of 40 papers") && page.contains("enctype=\"multipart/form-data\""));
    let page = get(site.address, "/library?datastore=forty&words=zzzz").body;
    assert!(page.contains("None of its 40 papers"), "{page}");
    let page = get(site.address, "/library?datastore=forty&words=&offset=38").body;
    assert!(page.contains("39–40 of 40") && page.contains("rel=\"prev\""), "{page}");
    let page = get(site.address, "/library?datastore=other").body;
    assert!(page.contains("There is no datastore other yet"), "{page}");
    let page = get(site.address, "/library/duplicates?datastore=forty").body;
    assert!(page.contains("Their years differ.") && page.contains("They are two"), "{page}");
    let settled = form(
        site.address,
        "/library/settle?datastore=forty",
        &[],
        "one=doi%3A10.1%2Fa&other=doi%3A10.1%2Fb&are=two",
    );
    assert_eq!(settled.status, 303);
    let wrong = form(
        site.address,
        "/library/settle?datastore=forty",
        &[],
        "one=x&other=doi%3A10.1%2Fb&are=two",
    );
    assert_eq!(wrong.status, 404);
    let expect = ("doi:10.1/a".to_owned(), "doi:10.1/b".to_owned(), false);
    assert_eq!(*backend.settled.lock(), [expect]);
    site.join();
}

/// A request with files in it.
fn upload(site: &Running, path: &str, headers: &[&str], files: &[(&str, &str)]) -> HttpReply {
    let part = |(name, content): &(&str, &str)| {
        let name = name.replace('"', "%22");
        format!(
            "--limit\r\ncontent-disposition: form-data; name=\"files\"; filename=\"{name}\"\r\ncontent-type: application/pdf\r\n\r\n{content}\r\n"
        )
    };
    let body = files.iter().map(part).collect::<String>() + "--limit--\r\n";
    let origin = format!("origin: http://{}", site.address);
    let mut all = vec!["content-type: multipart/form-data; boundary=limit", origin.as_str()];
    all.extend(headers);
    send(site.address, "POST", path, &all, &body)
}

#[test]
fn files_are_taken_in_added_one_after_the_other_and_told() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    *backend.incoming.lock() = Some(folder.path().join("incoming"));
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let files = [
        ("../../../etc/a.pdf", "one"),
        ("C:\\x\\A.PDF", "two"),
        ("<img src=x onerror=alert(1)>.bib", "three"),
        ("d.pdf", "broken"),
    ];
    let sent = upload(&site, "/library/add?datastore=library", &[], &files);
    assert_eq!(sent.status, 303, "{}", sent.body);
    let at = sent.header("location").expect("a page").to_owned();
    let page = until("the papers", || {
        let page = get(site.address, &at).body;
        if page.contains("Papers added") {
            return Some(page);
        }
        assert!(page.contains("http-equiv=\"refresh\"") && page.contains("data-refresh"), "{page}");
        None
    });
    assert!(page.contains("4 of 4 files, 3 papers"), "{page}");
    assert!(page.contains("gave no paper.") && page.contains("It breaks the reader."), "{page}");
    assert!(page.contains("joined with arxiv:1 by the bytes of a file"), "{page}");
    assert!(!page.contains("<img") && !page.contains("data-refresh"), "{page}");
    // Each lies in the folder, and the one that gave nothing is gone.
    let added = backend.added.lock().clone();
    let names: Vec<String> = added
        .iter()
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["a.pdf", "A (2).pdf", "_img src_x onerror_alert(1)_.bib", "d.pdf"]);
    for path in &added {
        let inside = path.strip_prefix(folder.path().join("incoming")).expect("inside");
        assert_eq!(inside.components().count(), 2, "{}", path.display());
        assert_eq!(path.is_file(), !path.ends_with("d.pdf"));
    }
    let told = upload(&site, "/v1/papers/library", &[], &[("a.ris", "x"), ("b.ris", "fatal")]);
    assert_eq!(told.status, 202, "{}", told.body);
    let id = told.json()["id"].as_str().expect("a name").to_owned();
    let over = until("the files", || {
        let reply = get(site.address, &format!("/v1/additions/{id}")).json();
        (reply["is_over"] == true).then_some(reply)
    });
    assert_eq!(
        (&over["failed"], &over["done"][0]["name"]),
        (&"the disk is full".into(), &"a.ris".into())
    );
    assert_eq!(get(site.address, "/library/additions/none").status, 404);
    site.join();
}

#[test]
fn files_that_are_too_much_or_of_no_use_are_refused_and_leave_nothing() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let incoming = folder.path().join("incoming");
    *backend.incoming.lock() = Some(incoming.clone());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let to = "/library/add?datastore=library";
    let sent = upload(&site, to, &[], &[("a.pdf", "one"), ("run.sh", "x")]);
    assert_eq!(sent.status, 400);
    assert!(sent.body.contains("no document and no list") && sent.body.contains("run.sh"));
    assert_eq!(upload(&site, to, &[], &[]).status, 400, "no file");
    for to in ["/library/add?datastore=elsewhere", "/v1/papers/elsewhere"] {
        let sent = upload(&site, to, &[], &[("a.pdf", "one")]);
        assert_eq!(sent.status, 404, "before anything is taken: {}", sent.body);
    }
    assert_eq!(upload(&site, to, &[], &[("", "")]).status, 400, "none was chosen");
    let many: Vec<(String, &str)> = (0..201).map(|at| (format!("{at}.txt"), "x")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    assert_eq!(upload(&site, to, &[], &many).status, 400);
    // A gigabyte is refused before any of it is read.
    let head = format!(
        "POST {to} HTTP/1.1\r\nhost: {0}\r\norigin: http://{0}\r\ncontent-type: multipart/form-data; boundary=limit\r\ncontent-length: 1000000000\r\n\r\n",
        site.address
    );
    let mut stream = std::net::TcpStream::connect(site.address).expect("somebody listens");
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("taken");
    assert_eq!(scholar_testing::http::finish(stream).status, 413);
    // A body that is cut off, and one that is none.
    let kind = "content-type: multipart/form-data; boundary=limit";
    let origin = format!("origin: http://{}", site.address);
    let cut = send(site.address, "POST", to, &[kind, &origin], "--limit\r\ncontent-dispo");
    assert_eq!(cut.status, 400, "{}", cut.body);
    // Pages of others cannot send files.
    let evil =
        send(site.address, "POST", to, &[kind, "origin: http://evil.example"], "--limit--\r\n");
    assert_eq!(evil.status, 403);
    assert_eq!(send(site.address, "POST", to, &[kind], "--limit--\r\n").status, 403);
    // The server removes them on a thread of its own, and may do so after it has answered.
    until("nothing to be left of them", || {
        (fs_err::read_dir(&incoming).map_or(0, Iterator::count) == 0).then_some(())
    });
    assert!(backend.added.lock().is_empty());
    site.join();
}

#[test]
fn what_became_of_files_is_known_after_a_restart_and_the_rest_is_added_then() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let incoming = folder.path().join("incoming");
    *backend.incoming.lock() = Some(incoming.clone());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let to = "/library/add?datastore=library";
    let files = [("a.pdf", "one"), ("b.pdf", "ends the program"), ("c.pdf", "three")];
    let sent = upload(&site, to, &[], &files);
    let at = sent.header("location").expect("a page").to_owned();
    until("the second file", || (backend.added.lock().len() >= 2).then_some(()));
    let page = get(site.address, &at).body;
    assert!(page.contains("1 of 3 files") && page.contains("data-refresh"), "{page}");
    site.join();
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let page = until("the papers", || {
        let page = get(site.address, &at).body;
        page.contains("Papers added").then_some(page)
    });
    assert!(page.contains("3 of 3 files, 3 papers"), "{page}");
    let added = backend.added.lock().clone();
    let times = |name: &str| added.iter().filter(|path| path.ends_with(name)).count();
    assert_eq!([times("a.pdf"), times("b.pdf"), times("c.pdf")], [1, 2, 1]);
    assert!(added.iter().all(|path| path.is_file()));
    let library = get(site.address, "/library").body;
    assert!(library.contains("Files that were sent") && library.contains(&at), "{library}");
    assert!(library.contains("a.pdf, b.pdf, c.pdf"), "{library}");
    site.join();
}

#[test]
fn files_of_a_sender_who_left_are_gone() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let incoming = folder.path().join("incoming");
    *backend.incoming.lock() = Some(incoming.clone());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let mut stream = std::net::TcpStream::connect(site.address).expect("somebody listens");
    let head = format!(
        "POST /library/add?datastore=library HTTP/1.1\r\nhost: {0}\r\norigin: http://{0}\r\ncontent-type: multipart/form-data; boundary=limit\r\ncontent-length: 9000\r\n\r\n--limit\r\ncontent-disposition: form-data; name=\"files\"; filename=\"a.pdf\"\r\n\r\nbegins",
        site.address
    );
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("taken");
    let count = || fs_err::read_dir(&incoming).map_or(0, Iterator::count);
    until("the first bytes", || (count() > 0).then_some(()));
    assert!(get(site.address, "/library").body.contains("Files that are being sent"));
    drop(stream);
    until("them to be gone", || (count() == 0).then_some(()));
    let said = || get(site.address, "/library").body.contains("Files that were sent");
    until("the library to forget them", || (!said()).then_some(()));
    assert!(backend.added.lock().is_empty());
    site.join();
}

#[test]
fn runs_are_compared_verified_replayed_and_explained() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    backend.open(2);
    let (first, second) = (site.ask("Why?"), site.ask("How?"));
    site.over(&first);
    site.over(&second);
    let page = get(site.address, &format!("/runs/{first}")).body;
    assert!(page.contains(&format!("action=\"/runs/{first}/verify\"")), "{page}");
    let page = get(site.address, &format!("/compare?left={first}&right={second}")).body;
    assert!(page.contains("config.top_n: 5 → 10") && page.contains("selected"), "{page}");
    let page = get(site.address, &format!("/compare?left={first}&right={first}")).body;
    assert!(page.contains("The runs do not differ"), "{page}");
    assert_eq!(get(site.address, "/compare").status, 200);
    assert_eq!(get(site.address, &format!("/compare?left={first}&right=none")).status, 404);
    let verified = form(site.address, &format!("/runs/{first}/verify"), &[], "");
    assert!(verified.body.contains("Everything holds"), "{}", verified.body);
    let replayed = form(site.address, &format!("/runs/{first}/replay"), &[], "");
    assert!(replayed.body.contains("byte for byte"), "{}", replayed.body);
    let explained = get(site.address, &format!("/runs/{first}/explain")).body;
    assert!(explained.contains("cited for: A title"), "{explained}");
    let run = format!("/v1/runs/{first}");
    assert_eq!(post(site.address, &format!("{run}/verify"), "{}").json()["holds"], true);
    assert_eq!(post(site.address, &format!("{run}/replay"), "{}").json()["is_identical"], true);
    let reply = get(site.address, &format!("{run}/explain")).json();
    assert_eq!(reply["references"].as_array().map(Vec::len), Some(1));
    let reply = get(site.address, &format!("/v1/compare?left={first}&right={second}")).json();
    assert_eq!(reply["settings"][0], "config.top_n: 5 → 10");
    site.join();
}

#[test]
fn the_state_is_shown_and_its_paths_only_to_whoever_runs_the_server() {
    let (backend, own) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, own.path(), Access::Everybody);
    let page = get(site.address, "/status").body;
    for part in ["9.9.9", "1 of 3 checks", "data folder", "openscholar models pull mini", "forty"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("Crossref"), "nobody is asked unasked");
    assert!(form(site.address, "/status", &[], "").body.contains("Crossref"));
    assert_eq!(get(site.address, "/v1/status").json()["checks"].as_array().map(Vec::len), Some(3));
    site.join();
    let own = folder();
    let site = Running::start(&backend, own.path(), named());
    let token = format!("authorization: Bearer {ANN}");
    let page = send(site.address, "GET", "/status", &[&token], "").body;
    assert!(page.contains("cpu") && !page.contains("data folder"), "{page}");
    site.join();
}

#[test]
fn what_others_asked_and_sent_is_theirs() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    *backend.incoming.lock() = Some(folder.path().join("incoming"));
    let site = Running::start(&backend, folder.path(), named());
    let (ann, ben) =
        (format!("authorization: Bearer {ANN}"), format!("authorization: Bearer {BEN}"));
    backend.open(1);
    let asked = form(site.address, "/ask", &[&ann], "question=Secret%3F");
    assert_eq!(asked.header("location"), Some("/runs/run-0"));
    let read = |path: &str, who: &str| send(site.address, "GET", path, &[who], "");
    until("the answer", || read("/runs/run-0", &ann).body.contains("How to read").then_some(()));
    let (paper, _) = first(&backend);
    assert!(read(&paper, &ann).body.contains("/runs/run-0\""));
    assert!(!read(&paper, &ben).body.contains("/runs/run-0\""), "not told to others");
    assert_eq!(read("/runs/run-0/explain", &ben).status, 404);
    assert_eq!(form(site.address, "/runs/run-0/verify", &[&ben], "").status, 404);
    assert_eq!(read("/compare?left=run-0&right=run-0", &ben).status, 404);
    let sent = upload(&site, "/library/add?datastore=library", &[&ann], &[("a.pdf", "x")]);
    let at = sent.header("location").expect("a page").to_owned();
    assert_eq!((read(&at, &ann).status, read(&at, &ben).status), (200, 404));
    assert_eq!(get(site.address, &paper).status, 303, "nobody reads without a token");
    assert_eq!(get(site.address, "/v1/papers?datastore=forty").status, 401);
    site.join();
}

#[test]
fn programs_get_papers_pages_and_marks() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let (paper, _) = first(&backend);
    let api = format!("/v1{paper}");
    let list = get(site.address, "/v1/papers?datastore=forty&limit=3").json();
    assert_eq!((&list["total"], list["papers"].as_array().map(Vec::len)), (&40.into(), Some(3)));
    let one = get(site.address, &api).json();
    assert_eq!((&one["has_pdf"], &one["references"][0]["stored"]), (&true.into(), &true.into()));
    assert!(one["sections"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{one}");
    assert!(!one.to_string().contains("sha256"), "where files lie is not told");
    let page = get(site.address, &format!("{api}/pages/1?words=any")).json();
    assert_eq!((&page["pages"], &page["marks"][0]["page"]), (&3.into(), &2.into()));
    let page = get(site.address, &format!("{api}/pages/1?words=nowhere")).json();
    assert_eq!(page["marks"].as_array().map(Vec::len), Some(0));
    let drawn = get(site.address, &format!("{api}/pages/2/drawing.svg?words=any"));
    assert!(drawn.body.contains("<rect/>"));
    let long = "x".repeat(4_001);
    assert_eq!(get(site.address, &format!("{api}/pages/2?words={long}")).status, 400);
    assert_eq!(get(site.address, "/v1/papers?datastore=none").status, 404);
    assert_eq!(get(site.address, "/v1/papers").status, 400);
    site.join();
}

#[test]
fn nothing_of_papers_files_or_runs_is_obeyed_on_these_pages() {
    for one in hostile::STRINGS {
        let words = one.text();
        let backend =
            Arc::new(FakeBackend { words: Some(words.clone()), ..FakeBackend::default() });
        let folder = folder();
        *backend.incoming.lock() = Some(folder.path().join("incoming"));
        let site = Running::start(&backend, folder.path(), Access::Everybody);
        backend.open(1);
        let run = site.ask("Why?");
        site.over(&run);
        let (paper, passage) = first(&backend);
        let query = format!("passage={passage}&start=0&end=4");
        let mut pages = Vec::new();
        for path in [
            format!("{paper}?{query}"),
            format!("{paper}/pages/2?{query}"),
            format!("{paper}/pages/1?{query}"),
            "/library".to_owned(),
            format!("/library?datastore=forty&words={}", encoded(&words)),
            format!("/library?datastore={}", encoded(&words)),
            "/library/duplicates?datastore=forty".to_owned(),
            format!("/compare?left={run}&right={run}"),
            format!("/compare?left={run}"),
            format!("/runs/{run}/explain"),
            "/status".to_owned(),
        ] {
            pages.push(get(site.address, &path));
        }
        pages.push(form(site.address, &format!("/runs/{run}/verify"), &[], ""));
        let name = format!("{}.pdf", words.replace(['\r', '\n', '"', '\\', '/', '\0'], "_"));
        let sent = upload(&site, "/library/add?datastore=library", &[], &[(&name, "x")]);
        match sent.header("location") {
            Some(at) => pages.extend([get(site.address, at), get(site.address, "/library")]),
            None => pages.push(sent),
        }
        for HttpReply { body, .. } in pages {
            assert!(hostile::obeyed(&body).is_empty(), "{body:?}");
            assert_eq!(foreign(&body), Vec::<String>::new());
        }
        site.join();
    }
}
