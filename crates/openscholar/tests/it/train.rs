//! Training from the command line: what is wrong is said before anything is fetched.

use crate::program::Program;

#[test]
fn presets_are_printed_as_config_files() {
    let program = Program::new();
    for task in ["encoder", "reranker", "attributor"] {
        for preset in ["paper", "small"] {
            let text = program.succeeds(&["train", "presets", task, preset]);
            assert!(text.contains(&format!("task = \"{task}\"")), "{text}");
            assert!(text.contains("learning_rate = "), "{text}");
        }
    }
    let small = program.succeeds(&["train", "presets", "reranker"]);
    assert!(small.contains("group = 8"), "small is the default: {small}");
    program.fails(1, &["train", "presets", "reranker", "big"], &["neither paper nor small"]);
}

#[test]
fn wrong_settings_end_before_a_model_is_fetched() {
    let program = Program::new();
    let out = program.path("out").to_string_lossy().into_owned();
    let file = program.path("train.toml");
    let settings = file.to_string_lossy().into_owned();
    let train = |more: &[&str], says: &[&str]| {
        let args = [&["train", "reranker", "--out", &out], more].concat();
        program.fails(1, &args, says);
        assert!(!program.data("models").exists(), "{more:?} fetched a model");
    };
    train(&[], &["rows", "name a file"]);
    train(&["--rows", "nowhere.jsonl"], &["there is no file", "nowhere.jsonl"]);
    train(&["--preset", "huge"], &["neither paper nor small"]);
    let collections = ["--rows", &settings, "--collections", "no-such-folder"];
    fs_err::write(&file, "").expect("written");
    train(&collections, &["there is no folder no-such-folder", "qrels.tsv"]);
    for (text, says) in [
        ("learning_rte = 1e-4", "learning_rte"),
        ("batch = 0\nrows = [\"r\"]", "batch"),
        ("task = \"encoder\"", "another task"),
        ("batch = [", "train.toml"),
    ] {
        fs_err::write(&file, text).expect("written");
        train(&["--settings", &settings], &[says]);
    }
}

#[test]
fn folders_that_are_no_model_are_refused() {
    let program = Program::new();
    let folder = program.path("model");
    fs_err::create_dir_all(&folder).expect("created");
    let rows = program.path("rows.jsonl");
    let row = "{\"query\":\"q\",\"pos\":[\"a\"],\"neg\":[\"b\"]}\n";
    fs_err::write(&rows, row.repeat(40)).expect("written");
    let words = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let (out, folder, rows) = (words(&program.path("out")), words(&folder), words(&rows));
    let args = ["train", "reranker", "--out", &out, "--init", &folder, "--rows", &rows];
    program.fails(1, &args, &["config.json"]);
    fs_err::write(program.path("model/config.json"), "{\"model_type\":\"gpt2\"}").expect("written");
    program.fails(1, &args, &["architecture", "BERT shapes"]);
}
