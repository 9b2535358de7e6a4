//! File systems that are full or cannot be written, made for the test in a mount namespace of its own.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::program::{Program, STORE, many_papers, text};

/// Runs `script` where mounts are the test's own; `$0` is the program, `$1` the home folder, then `more`. `None` where the
/// system gives no such namespace to an ordinary process.
fn with_mounts(program: &Program, script: &str, more: &[&str]) -> Option<Output> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").arg("-rm");
        command.env("OPENSCHOLAR_LOCAL_PORTS", "none");
        command
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        let _ignored = writeln!(std::io::stderr(), "skipped: no mount namespaces here");
        return None;
    }
    let mut command = unshare();
    command.args(["/bin/sh", "-ec", script, env!("CARGO_BIN_EXE_openscholar")]);
    command.arg(program.path("")).args(more);
    Some(command.output().expect("a shell"))
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = fs_err::read_dir(folder).expect("readable").map(|entry| entry.expect("entry"));
    let sizes = entries.map(|entry| {
        // A small file takes a page.
        let metadata = entry.metadata().expect("readable");
        if metadata.is_dir() { 4096 + bytes_in(&entry.path()) } else { metadata.len() + 4096 }
    });
    sizes.sum()
}

#[test]
fn a_full_file_system_keeps_the_last_commit_and_more_room_is_enough_to_go_on() {
    let script = r#"
        mkdir "$1/small"
        mount -t tmpfs -o size="$2" none "$1/small"
        cp -a "$1/.config" "$1/.local" "$1/small/"
        export HOME="$1/small"
        code=0
        "$0" papers add "$3" >&2 || code=$?
        echo "code $code"
        "$0" datastore verify papers >&2
        "$0" search hallucination >&2
        "$0" --json datastore info papers
        mount -o remount,size=64m "$1/small"
        "$0" papers add "$3" >&2
        "$0" datastore verify papers >&2
        "$0" --json datastore info papers
    "#;
    let mut refused = 0;
    for room in [0, 40 << 10, 200 << 10, 400 << 10, 900 << 10] {
        let program = Program::with_papers();
        let file = program.path("many.jsonl");
        fs_err::write(&file, many_papers(300)).expect("written");
        let used = bytes_in(&program.path(".local")) + bytes_in(&program.path(".config"));
        let size = (used + 64 * 1024 + room).to_string();
        let Some(output) = with_mounts(&program, script, &[&size, &file.to_string_lossy()]) else {
            return;
        };
        let (code, stdout, stderr) = text(&output);
        assert_eq!(code, 0, "{room}: {stderr}\n{stdout}");
        let (first, documents) = stdout.split_once('\n').expect("a line");
        let infos: Vec<serde_json::Value> = serde_json::Deserializer::from_str(documents)
            .into_iter()
            .map(|document| document.expect("JSON"))
            .collect();
        let papers = |at: usize| infos[at]["info"]["papers"].as_u64().expect("a number");
        if first == "code 1" {
            refused += 1;
            assert!(stderr.contains("hint: free"), "{room}: {stderr}");
            assert_eq!(papers(0), 40, "{room}: the last commit");
        } else {
            assert_eq!((first, papers(0)), ("code 0", 340), "{room}: {stderr}");
        }
        assert_eq!(papers(1), 340, "{room}: with more room");
        assert!(!stderr.contains("panicked"), "{room}: {stderr}");
    }
    assert!(refused >= 2, "the disk was full in {refused} cases");
}

#[test]
fn a_datastore_that_cannot_be_written_is_read() {
    let program = Program::with_papers();
    let file = program.path("few.jsonl");
    fs_err::write(&file, many_papers(3)).expect("written");
    let file = file.to_string_lossy();
    let script = r#"
        mount --bind "$1" "$1"
        mount -o remount,bind,ro "$1"
        export HOME="$1"
        shift
        exec "$0" "$@"
    "#;
    for args in [
        &["search", "exposure bias"][..],
        &["datastore", "info", STORE],
        &["datastore", "verify", STORE, "--deep"],
        &["papers", "list"],
        &["papers", "cited-by", "acl:2020.acl-main.326"],
    ] {
        let Some(output) = with_mounts(&program, script, args) else { return };
        let (code, stdout, stderr) = text(&output);
        assert_eq!(code, 0, "{args:?}\n{stderr}");
        assert!(!stdout.is_empty(), "{args:?}");
    }
    for args in [&["papers", "add", &*file][..], &["papers", "remove", "acl:2020.acl-main.326"]] {
        let Some(output) = with_mounts(&program, script, args) else { return };
        let (code, _, stderr) = text(&output);
        assert_eq!(code, 1, "{args:?}\n{stderr}");
        for words in ["datastores/papers", "Read-only file system", "hint:"] {
            assert!(stderr.contains(words), "{args:?}: {words:?} is missing in\n{stderr}");
        }
    }
    program.succeeds(&["datastore", "verify", STORE]);
}
