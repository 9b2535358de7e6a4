//! What the previous version left in a home opens in this one.

use std::path::Path;

use scholar_core::text::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::program::{Program, copy, encoder, models, text};

/// A copy of the stored home and the options that name it.
fn former() -> (Program, String) {
    let program = Program::new();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat/home");
    copy(&stored, &program.path("former"));
    let config = program.path("former/config.toml");
    let settings = fs_err::read_to_string(&config).expect("stored");
    let here = encoder().to_string_lossy().into_owned();
    let settings = settings.replace("/tmp/openscholar/tiny-bert-encoder", &here);
    assert!(settings.contains(&here), "{settings}");
    fs_err::write(&config, settings).expect("written");
    name_encoder(&program.path("former/datastores/papers/datastore.json"), &here);
    let home = program.path("former").to_string_lossy().into_owned();
    (program, home)
}

/// Names the encoder of a datastore by the path that it has here, and seals the file again: nothing of a test lies outside of
/// its own folder.
fn name_encoder(descriptor: &Path, here: &str) {
    let stored = fs_err::read_to_string(descriptor).expect("stored");
    let mut document: Value = serde_json::from_str(&stored).expect("JSON");
    document["encoder"]["name"] = here.into();
    document.as_object_mut().expect("an object").remove("check").expect("it is the last field");
    let mut check = hex(&Sha256::digest(document.to_string()));
    check.truncate(16);
    document["check"] = check.into();
    fs_err::write(descriptor, document.to_string()).expect("written");
}

#[test]
fn settings_and_datastore_of_the_previous_version_are_read_and_added_to() {
    let (program, home) = former();
    let run = |args: &[&str]| program.succeeds(&[&["--home", &home], args].concat());
    assert!(run(&["datastore", "verify", "papers"]).contains("papers is whole"));
    assert!(run(&["search", "exposure bias"]).contains("Exposure Bias"));
    assert_eq!(run(&["papers", "list", "--json"]).matches("acl:").count(), 5);
    let more = program.path("one.jsonl");
    fs_err::write(&more, crate::program::many_papers(1)).expect("written");
    run(&["papers", "add", &more.to_string_lossy()]);
    run(&["datastore", "compact", "papers"]);
    assert!(run(&["datastore", "verify", "papers"]).contains("6 passages"));
    let question = "How does exposure bias cause hallucinations?";
    assert!(run(&["ask", question, "--generator", "none"]).contains("[1]"));
}

#[test]
fn runs_of_the_previous_version_are_shown_and_verified_but_not_bound() {
    let (program, home) = former();
    let run = |args: &[&str]| text(&program.run(&[&["--home", &home], args].concat()));
    let runs = fs_err::read_dir(program.path("former/runs")).expect("stored");
    let mut seen = 0;
    for folder in runs {
        let name = folder.expect("readable").file_name().to_string_lossy().into_owned();
        let (code, shown, stderr) = run(&["runs", "show", &name]);
        assert!(code == 0 && shown.contains("## References"), "{name}: {shown}{stderr}");
        let (code, verified, stderr) = run(&["runs", "verify", &name]);
        assert_eq!(code, 0, "{name}: {stderr}");
        for says in ["quotations are exact", "not bound", "unsigned", "everything holds"] {
            assert!(verified.contains(says), "{name}: {verified}");
        }
        let (code, explained, stderr) = run(&["runs", "explain", &name, "1"]);
        assert!(code == 0 && explained.contains("cited for"), "{name}: {explained}{stderr}");
        // Prompts and ranking changed: replaying it says so and changes nothing.
        let (code, _, stderr) = run(&["runs", "replay", &name]);
        assert!(code == 1 && stderr.contains("another version"), "{name}: {stderr}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn training_settings_of_the_previous_version_are_read() {
    let (program, home) = former();
    let rows = program.path("rows.jsonl").to_string_lossy().into_owned();
    let init = models().join("golden/tiny-bert-cross").to_string_lossy().into_owned();
    for (task, row) in [
        ("reranker", r#"{"query":"q","pos":["a"],"neg":["b"]}"#),
        ("attributor", r#"{"sentence":"a","evidence":"a","label":"supports"}"#),
    ] {
        fs_err::write(&rows, format!("{row}\n").repeat(40)).expect("written");
        let settings = format!("{home}/train-{task}.toml");
        let out = program.path(task).to_string_lossy().into_owned();
        let train = ["train", task, "--settings", &settings, "--init", &init, "--rows", &rows];
        // Every key was understood when the shapes of the tiny model are what is refused.
        program.fails(
            1,
            &[&train[..], &["--out", &out]].concat(),
            &["max_tokens", "the model's 48"],
        );
    }
}
