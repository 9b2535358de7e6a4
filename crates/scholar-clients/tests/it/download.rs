//! Downloads from a server on this machine that breaks off, lies, or is not there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use scholar_clients::download::{
    DownloadConfig, DownloadError, Downloader, Event, FileState, Installed, Plan, PlannedFile,
    PlannedSource, Pulled, checked, installed, verify,
};
use scholar_clients::{HttpClient, Url};

const DIGEST_OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A hub with one body for all files that breaks off after some bytes, once for every entry of `cuts`.
#[derive(Default)]
struct Hub {
    body: Vec<u8>,
    cuts: Mutex<Vec<usize>>,
    missing: Vec<&'static str>,
    requests: Mutex<Vec<(String, Option<String>)>>,
}

async fn answer(State(hub): State<Arc<Hub>>, uri: Uri, headers: HeaderMap) -> Response {
    let range = headers.get("range").and_then(|value| value.to_str().ok()).map(str::to_owned);
    hub.requests.lock().push((uri.path().to_owned(), range.clone()));
    if hub.missing.iter().any(|name| uri.path().ends_with(name)) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let start =
        range.and_then(|r| r.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let from = start.unwrap_or(0).min(hub.body.len());
    let rest = hub.body[from..].to_vec();
    let cut = hub.cuts.lock().pop().unwrap_or(rest.len()).min(rest.len());
    let length = rest.len();
    let pieces = futures::stream::iter([Ok(rest[..cut].to_vec())]);
    let body = if cut < length {
        let broken = futures::StreamExt::chain(
            pieces,
            futures::stream::once(async {
                tokio::task::yield_now().await;
                Err(std::io::Error::other("cut on purpose"))
            }),
        );
        axum::body::Body::from_stream(broken)
    } else {
        axum::body::Body::from_stream(pieces)
    };
    let status = if start.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    Response::builder()
        .status(status)
        .header("content-length", length)
        .header("etag", "\"v1\"")
        .header(
            "content-range",
            format!("bytes {from}-{}/{}", hub.body.len().saturating_sub(1), hub.body.len()),
        )
        .body(body)
        .expect("a valid answer")
}

async fn serve(hub: Hub) -> (Arc<Hub>, Url) {
    let hub = Arc::new(hub);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&hub));
    tokio::spawn(async move { axum::serve(listener, router).await.expect("served") });
    (hub, Url::parse(&url).expect("an address"))
}

async fn dead_address() -> Url {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    Url::parse(&url).expect("an address")
}

fn downloader(models: &Path, hub: Url) -> Downloader {
    let config =
        DownloadConfig { pause: Duration::from_millis(1), ..DownloadConfig::new(models, hub) };
    Downloader::new(HttpClient::new().expect("a client"), config)
}

fn file(path: &str, body: &[u8], sha256: Option<&str>) -> PlannedFile {
    let size = Some(u64::try_from(body.len()).expect("small"));
    PlannedFile { path: path.to_owned(), size, sha256: sha256.map(str::to_owned), optional: false }
}

fn plan(files: Vec<PlannedFile>, sources: Vec<PlannedSource>) -> Plan {
    Plan { name: "tiny".to_owned(), files, sources, note: None }
}

fn hub_source() -> PlannedSource {
    PlannedSource::Hub { repo: "owner/tiny".to_owned(), revision: "main".to_owned() }
}

fn local(path: &Path) -> PlannedSource {
    PlannedSource::Local { path: path.to_owned() }
}

async fn pull(downloader: &Downloader, plan: &Plan) -> Result<Pulled, DownloadError> {
    downloader.pull(plan, &|_| {}).await
}

/// A folder outside the models folder that holds `a/weights.bin` with `abc`.
fn originals(root: &Path) -> PathBuf {
    let folder = root.join("originals");
    fs_err::create_dir_all(folder.join("a")).expect("made");
    fs_err::write(folder.join("a/weights.bin"), b"abc").expect("written");
    folder
}

#[tokio::test]
async fn a_broken_transfer_goes_on_where_it_was() {
    let models = tempfile::tempdir().expect("a folder");
    let body: Vec<u8> = (0..200_000u32).map(|n| u8::try_from(n % 251).expect("small")).collect();
    let (hub, url) =
        serve(Hub { body: body.clone(), cuts: Mutex::new(vec![50_000, 60_000]), ..Hub::default() })
            .await;
    let plan = plan(vec![file("a/weights.bin", &body, None)], vec![hub_source()]);
    let seen = Mutex::new(Vec::new());
    let on_event = |event: &Event<'_>| {
        if let Event::Bytes { done, .. } = event {
            seen.lock().push(*done);
        }
    };
    let pulled = downloader(models.path(), url).pull(&plan, &on_event).await.expect("pulled");
    assert_eq!(fs_err::read(pulled.dir.join("a/weights.bin")).expect("there"), body);
    assert!(pulled.notices.iter().any(|notice| notice.message.contains("unverified")));
    let requests = hub.requests.lock().clone();
    assert!(requests.iter().all(|(path, _)| path == "/owner/tiny/resolve/main/a/weights.bin"));
    let ranges: Vec<Option<String>> = requests.into_iter().map(|(_, range)| range).collect();
    assert_eq!(ranges, [None, Some("bytes=60000-".to_owned()), Some("bytes=110000-".to_owned())]);
    let seen = seen.lock().clone();
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]) && seen.last() == Some(&200_000));
    assert!(!models.path().join(".partial/tiny").exists(), "nothing unfinished is left");
}

#[tokio::test]
async fn a_new_run_uses_what_an_old_one_fetched() {
    let models = tempfile::tempdir().expect("a folder");
    let cuts = Mutex::new(vec![0, 0, 0, 1]);
    let (hub, url) = serve(Hub { body: b"abc".to_vec(), cuts, ..Hub::default() }).await;
    let plan = plan(vec![file("w", b"abc", Some(DIGEST_OF_ABC))], vec![hub_source()]);
    let downloader = downloader(models.path(), url);
    let error = pull(&downloader, &plan).await.expect_err("broke off four times");
    assert!(error.to_string().contains("did not come through"), "{error}");
    pull(&downloader, &plan).await.expect("the second run");
    assert_eq!(hub.requests.lock().last().expect("asked").1.as_deref(), Some("bytes=1-"));
}

#[tokio::test]
async fn wrong_absent_and_dead_sources_move_on_and_are_named() {
    let wrong = Hub { body: b"abd".to_vec(), ..Hub::default() };
    let short = Hub { body: b"ab".to_vec(), ..Hub::default() };
    let absent = Hub { missing: vec!["weights.bin"], ..Hub::default() };
    let cases = [
        (serve(wrong).await.1, "checksum"),
        (serve(short).await.1, "2 bytes instead of 3"),
        (serve(absent).await.1, "404"),
        (dead_address().await, "cannot be reached"),
    ];
    for (url, reason) in cases {
        let root = tempfile::tempdir().expect("a folder");
        let files = vec![file("a/weights.bin", b"abc", Some(DIGEST_OF_ABC))];
        let both = plan(files.clone(), vec![hub_source(), local(&originals(root.path()))]);
        let downloader = downloader(&root.path().join("models"), url);
        let pulled = pull(&downloader, &both).await.expect("the second source has it");
        assert!(pulled.source.contains("originals"));
        assert!(pulled.notices[0].message.contains(reason), "{:?}", pulled.notices);

        fs_err::remove_dir_all(&pulled.dir).expect("removed");
        let only = plan(files, vec![hub_source()]);
        let error = pull(&downloader, &only).await.expect_err("no source left");
        assert!(error.to_string().contains(reason) && error.hint().contains("--from"), "{error}");
        assert!(!pulled.dir.exists(), "nothing appears under the name");
    }
}

#[tokio::test]
async fn optional_files_may_be_absent() {
    let models = tempfile::tempdir().expect("a folder");
    let (_, url) =
        serve(Hub { body: b"abc".to_vec(), missing: vec!["tokenizer.json"], ..Hub::default() })
            .await;
    let optional =
        PlannedFile { path: "tokenizer.json".to_owned(), size: None, sha256: None, optional: true };
    let plan = plan(vec![file("w", b"abc", Some(DIGEST_OF_ABC)), optional], vec![hub_source()]);
    let pulled = pull(&downloader(models.path(), url), &plan).await.expect("pulled");
    assert!(!pulled.dir.join("tokenizer.json").exists());
}

#[tokio::test]
async fn two_at_once_fetch_once() {
    let models = tempfile::tempdir().expect("a folder");
    let (hub, url) = serve(Hub { body: b"abc".to_vec(), ..Hub::default() }).await;
    let plan = plan(vec![file("w", b"abc", Some(DIGEST_OF_ABC))], vec![hub_source()]);
    let (one, two) = (downloader(models.path(), url.clone()), downloader(models.path(), url));
    let (one, two) = tokio::join!(pull(&one, &plan), pull(&two, &plan));
    let (one, two) = (one.expect("first"), two.expect("second"));
    assert_eq!([one.already_there, two.already_there].iter().filter(|there| **there).count(), 1);
    assert_eq!(hub.requests.lock().len(), 1);
}

#[tokio::test]
async fn damage_is_found_and_repaired() {
    let root = tempfile::tempdir().expect("a folder");
    let models = root.path().join("models");
    let files = vec![file("a/weights.bin", b"abc", Some(DIGEST_OF_ABC))];
    let plan = plan(files, vec![local(&originals(root.path()))]);
    assert_eq!(installed(&models, &plan), Installed::Missing);
    let downloader = downloader(&models, dead_address().await);
    let pulled = pull(&downloader, &plan).await.expect("pulled");
    let weights = pulled.dir.join("a/weights.bin");
    let state = || async { verify(&models, &plan, &|_| {}).await.expect("read").remove(0).1 };
    assert_eq!(state().await, FileState::Verified);
    assert!(pull(&downloader, &plan).await.expect("there").already_there);

    fs_err::write(&weights, b"abd").expect("written");
    assert!(matches!(state().await, FileState::Differs { .. }));
    fs_err::write(&weights, b"a").expect("written");
    assert!(
        matches!(installed(&models, &plan), Installed::Damaged { problems } if problems[0].contains("1 bytes instead of 3"))
    );
    let repaired = pull(&downloader, &plan).await.expect("repaired");
    assert!(!repaired.already_there);
    assert_eq!(state().await, FileState::Verified);
}

#[tokio::test]
async fn local_paths_are_checked_like_any_source() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = originals(root.path());
    let models = root.path().join("models");
    let downloader = downloader(&models, dead_address().await);
    let good = file("model.gguf", b"abc", Some(DIGEST_OF_ABC));
    let check = async |files: Vec<PlannedFile>, path: PathBuf, expect: &str| {
        let error = pull(&downloader, &plan(files, vec![local(&path)])).await.expect_err(expect);
        assert!(error.to_string().contains(expect), "{error}");
    };
    let weights = folder.join("a/weights.bin");
    check(vec![good.clone()], root.path().join("nowhere"), "no such file").await;
    check(vec![good.clone()], folder.clone(), "it has no model.gguf").await;
    check(vec![good.clone(), file("x", b"", None)], weights.clone(), "the model has 2").await;
    check(vec![file("model.gguf", b"abcd", None)], weights.clone(), "cut short").await;
    let pulled =
        pull(&downloader, &plan(vec![good], vec![local(&weights)])).await.expect("one file");
    assert_eq!(fs_err::read(pulled.dir.join("model.gguf")).expect("there"), b"abc");
}

#[tokio::test]
async fn this_machines_own_failures_end_at_once() {
    let root = tempfile::tempdir().expect("a folder");
    let blocked = root.path().join("models");
    fs_err::write(&blocked, b"a file where the folder should be").expect("written");
    let plan = plan(vec![file("w", b"abc", None)], vec![hub_source()]);
    let error =
        pull(&downloader(&blocked, dead_address().await), &plan).await.expect_err("blocked");
    assert!(
        matches!(error, DownloadError::Local { .. }) && error.hint().contains("--home"),
        "{error}"
    );

    let huge =
        Plan { files: vec![PlannedFile { size: Some(1 << 60), ..plan.files[0].clone() }], ..plan };
    let error = pull(&downloader(&root.path().join("m"), dead_address().await), &huge)
        .await
        .expect_err("too large");
    assert!(
        matches!(error, DownloadError::NoSpace { .. }) && error.hint().contains("MiB"),
        "{error}"
    );
}

/// A hub may send a download to another host, which must not see the key.
#[tokio::test]
async fn a_hubs_key_stays_with_the_hub() {
    let keys = Arc::new(Mutex::new(Vec::new()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let store = format!("http://{}/", listener.local_addr().expect("bound"));
    let seen = Arc::clone(&keys);
    let bytes = axum::Router::new().fallback(async move |headers: HeaderMap| {
        seen.lock().push(("store", headers.contains_key("authorization")));
        "abc"
    });
    tokio::spawn(async move { axum::serve(listener, bytes).await.expect("served") });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let hub = format!("http://{}/", listener.local_addr().expect("bound"));
    let seen = Arc::clone(&keys);
    let asked = axum::Router::new().fallback(async move |headers: HeaderMap| {
        seen.lock().push(("hub", headers.contains_key("authorization")));
        axum::response::Redirect::temporary(&store)
    });
    tokio::spawn(async move { axum::serve(listener, asked).await.expect("served") });

    let models = tempfile::tempdir().expect("a folder");
    let mut config = DownloadConfig::new(models.path(), Url::parse(&hub).expect("an address"));
    config.hub_token = Some("hf-very-secret".to_owned().into());
    let downloader = Downloader::new(HttpClient::new().expect("a client"), config);
    let plan = plan(vec![file("w", b"abc", Some(DIGEST_OF_ABC))], vec![hub_source()]);
    pull(&downloader, &plan).await.expect("pulled");
    assert_eq!(*keys.lock(), [("hub", true), ("store", false)]);
}

#[tokio::test]
async fn what_changed_since_it_was_checked_is_read_again() {
    let root = tempfile::tempdir().expect("a folder");
    let models = root.path().join("models");
    let files = vec![file("a/weights.bin", b"abc", Some(DIGEST_OF_ABC))];
    let plan = plan(files, vec![local(&originals(root.path()))]);
    let look = || async { checked(&models, &plan).await.expect("read") };
    assert_eq!(look().await, Installed::Missing);
    let pulled = pull(&downloader(&models, dead_address().await), &plan).await.expect("pulled");
    assert!(matches!(look().await, Installed::Complete { .. }));

    let (weights, record) =
        (pulled.dir.join("a/weights.bin"), pulled.dir.join("openscholar-model.json"));
    let checked_at = fs_err::metadata(&weights).and_then(|meta| meta.modified()).expect("a time");
    let write = |bytes: &[u8], changed| {
        fs_err::write(&weights, bytes).expect("written");
        let file = fs_err::OpenOptions::new().write(true).open(&weights).expect("opens");
        file.file().set_modified(changed).expect("set");
    };
    write(b"abd", checked_at + Duration::from_secs(1));
    let Installed::Damaged { problems } = look().await else { panic!("another digest") };
    assert!(problems[0].contains("checksum of a/weights.bin"), "{problems:?}");
    // Not read where nothing tells of a change: that is what `verify` is for.
    write(b"abd", checked_at);
    assert!(matches!(look().await, Installed::Complete { .. }));
    let states = verify(&models, &plan, &|_| {}).await.expect("read");
    assert!(matches!(states[0].1, FileState::Differs { .. }));
    // Files that were put there by hand, or by an earlier version, are read once.
    fs_err::remove_file(&record).expect("there");
    assert!(matches!(look().await, Installed::Damaged { .. }));
    write(b"abc", checked_at);
    assert!(matches!(look().await, Installed::Complete { .. }));
    assert!(fs_err::read_to_string(&record).expect("noted").contains(DIGEST_OF_ABC));
}
