//! Model files that are missing, cut short or garbage: the error names the file and how to get it again.

use std::path::{Path, PathBuf};

use sha2::Digest as _;

use crate::model::dead_address;
use crate::program::{Program, QUESTION, copy, corpus, models, text};

/// A home with this tiny model in a folder of its own.
fn with_model(model: &str) -> (Program, PathBuf) {
    let program = Program::new();
    let folder = program.path("model");
    copy(&models().join("golden").join(model), &folder);
    (program, folder)
}

fn build(program: &Program, folder: &Path, code: i32, says: &[&str]) {
    let (folder, papers) = (folder.to_string_lossy(), corpus());
    let args = ["datastore", "build", "x", &papers.to_string_lossy(), "--encoder", &folder];
    program.fails(code, &args, says);
}

fn change(path: &Path, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let bytes = fs_err::read(path).expect("readable");
    fs_err::write(path, change(bytes)).expect("written");
}

#[test]
fn damaged_encoders_are_named_with_the_way_to_get_them_again() {
    for (model, file) in [
        ("tiny-mpnet-encoder", "model.safetensors"),
        ("tiny-bert-encoder", "pytorch_model.bin"),
        ("tiny-bert-encoder", "tokenizer.json"),
        ("tiny-bert-encoder", "config.json"),
    ] {
        let (program, folder) = with_model(model);
        change(&folder.join(file), |bytes| bytes[..bytes.len() / 2].to_vec());
        build(&program, &folder, 1, &[file, "models verify", "models pull"]);
        fs_err::write(folder.join(file), "\u{0}garbage").expect("written");
        build(&program, &folder, 1, &[file, "models verify", "models pull"]);
        fs_err::remove_file(folder.join(file)).expect("removed");
        build(&program, &folder, 1, &[file, "models pull"]);
        assert!(!program.data("datastores/x").exists(), "nothing was begun");
        copy(&models().join("golden").join(model), &folder);
        build(&program, &folder, 0, &[]);
    }
}

/// A datastore keeps how its encoder reads texts: additions and searches read them the same way, or are refused.
#[test]
fn how_texts_are_prepared_is_kept_with_the_datastore() {
    let program = Program::new();
    program.configure();
    let papers = corpus().to_string_lossy().into_owned();
    let build = ["datastore", "build", "papers", &papers, "--lowercase", "--normalize-text"];
    program.succeeds(&build);
    program.succeeds(&["datastore", "build", "plain", &papers]);
    let encoder = |name: &str| {
        let text =
            fs_err::read_to_string(program.data("datastores").join(name).join("datastore.json"));
        let descriptor: serde_json::Value =
            serde_json::from_str(&text.expect("there")).expect("JSON");
        descriptor["encoder"].clone()
    };
    let preparation = serde_json::json!({"lowercase": true, "normalize_text": true});
    assert_eq!(encoder("papers")["preparation"], preparation);
    assert!(encoder("plain").get("preparation").is_none(), "as before there was a choice");
    assert_ne!(encoder("papers")["fingerprint"], encoder("plain")["fingerprint"]);
    program.succeeds(&["datastore", "verify", "papers", "--deep"]);
    program.succeeds(&["papers", "add", &papers]);
    assert!(!program.succeeds(&["search", "exposure bias"]).is_empty());
    program.fails(1, &["datastore", "build", "plain", &papers, "--lowercase"], &["plain", "hint:"]);
    program.fails(
        1,
        &["datastore", "build", "plain", &papers, "--encoder-tokens", "16"],
        &["hint:"],
    );
}

#[test]
fn a_folder_that_is_none_is_named() {
    let program = Program::new();
    build(&program, Path::new("/no/such/model"), 1, &["there is no model folder /no/such/model"]);
}

#[test]
fn a_cut_gguf_file_is_named() {
    let program = Program::with_papers();
    let path = program.path("tiny.gguf");
    let whole = fs_err::read(models().join("gguf/golden/tiny-llama-f32.gguf")).expect("there");
    for keep in [0, 3, 100, whole.len() / 2, whole.len() - 1] {
        fs_err::write(&path, &whole[..keep]).expect("written");
        let path = path.to_string_lossy();
        let args = ["ask", QUESTION, "--generator", "embedded", "--model", &path];
        program.fails(1, &args, &[&path, "openscholar models verify"]);
    }
    fs_err::remove_file(&path).expect("removed");
    let path = path.to_string_lossy();
    let args = ["ask", QUESTION, "--generator", "embedded", "--model", &path];
    program.fails(1, &args, &[&path, "openscholar models pull"]);
    assert!(program.runs().is_empty(), "no run was begun");
}

/// A catalog entry for the tiny encoder, of which nobody but a hub has the files.
fn catalog(program: &Program) {
    let entries: String = ["config.json", "pytorch_model.bin", "tokenizer.json"]
        .iter()
        .map(|name| {
            let bytes =
                fs_err::read(models().join("golden/tiny-bert-encoder").join(name)).expect("there");
            let digest = scholar_core::text::hex(&sha2::Sha256::digest(&bytes));
            format!("{{ path = \"{name}\", size = {}, sha256 = \"{digest}\" }},", bytes.len())
        })
        .collect();
    let text = format!(
        "[[model]]\nname = \"tiny\"\npurpose = \"encoder\"\nsummary = \"for tests\"\narchitecture = \"bert\"\n\
         dim = 32\nmax_tokens = 48\nlicence = \"CC0\"\nfiles = [{entries}]\n\
         [[model.source]]\nkind = \"hub\"\nrepo = \"tests/tiny\"\nrevision = \"main\"\n"
    );
    let path = program.path(".config/openscholar/models.toml");
    fs_err::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs_err::write(path, text).expect("written");
}

#[test]
fn a_hub_that_is_dead_a_folder_that_is_whole_and_a_file_that_is_not() {
    let program = Program::new();
    catalog(&program);
    let hub = dead_address();
    let output = Program::command(&program.path(""))
        .env("HF_ENDPOINT", &hub)
        .args(["models", "pull", "tiny"])
        .output()
        .expect("starts");
    let (code, _, stderr) = text(&output);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("cannot download tiny") && stderr.contains("hint:"), "{stderr}");

    let golden = models().join("golden/tiny-bert-encoder").to_string_lossy().into_owned();
    // The weights are larger than the allowed file: nothing half-done is taken for the model.
    let pull = ["models", "pull", "tiny", "--from", &golden];
    let (code, _, stderr) = text(&program.run_with_small_files(64, &pull));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("no room for the model") && stderr.contains("hint: free"), "{stderr}");
    assert!(!program.data("models/tiny/pytorch_model.bin").exists());
    program.succeeds(&pull);
    assert_eq!(
        program.json(0, &["models", "verify", "tiny"])["models"][0]["problems"],
        serde_json::json!([])
    );

    let weights = program.data("models/tiny/pytorch_model.bin");
    change(&weights, |mut bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    });
    let report = program.json(1, &["models", "verify", "tiny"]);
    let problem = report["models"][0]["problems"][0].as_str().expect("a problem").to_owned();
    assert!(
        problem.contains("pytorch_model.bin") && problem.contains("models pull tiny"),
        "{problem}"
    );
}

#[test]
fn a_catalog_that_is_none_is_named_with_the_line() {
    let program = Program::new();
    catalog(&program);
    let path = program.path(".config/openscholar/models.toml");
    change(&path, |bytes| [&bytes[..], b"\nlicense = 3\n"].concat());
    program.fails(1, &["models", "list"], &["models.toml", "license"]);
}
