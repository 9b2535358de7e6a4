//! Training from the command line: what is wrong is said before anything is fetched.

use std::io::BufReader;

use crate::program::{Program, copy, models};
use crate::stopped::{signal, wait_for};

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
    assert!(small.contains("group_size = 8"), "small is the default: {small}");
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

/// Stopped by the system, a training keeps a checkpoint, and the same command ends with the weights of one that ran through.
#[test]
fn a_terminated_training_goes_on_from_its_checkpoint() {
    let program = Program::new();
    program.configure();
    let words = |name: &str| program.path(name).to_string_lossy().into_owned();
    let [init, rows, settings] = ["init", "rows.jsonl", "train.toml"].map(words);
    copy(&models().join("golden/tiny-bert-cross"), &program.path("init"));
    let tokenizer = models().join("golden/tiny-bert-encoder/tokenizer.json");
    fs_err::copy(tokenizer, program.path("init/tokenizer.json")).expect("copied");
    let row = |n: usize| {
        format!(
            "{{\"query\":\"what is {n}\",\"pos\":[\"{n} is a number\"],\"neg\":[\"sleep helps\"]}}\n"
        )
    };
    fs_err::write(&rows, (0..400).map(row).collect::<String>()).expect("written");
    let rarely = "checkpoint_every = 100000\nevaluate_every = 100000\n";
    fs_err::write(&settings, format!("max_tokens = 48\nepochs = 100\n{rarely}")).expect("written");
    let weights = |name: &str, stopped: bool| {
        let out = words(name);
        let args = ["train", "reranker", "--settings", &settings, "--init", &init, "--rows", &rows];
        let args = [&args[..], &["--max-steps", "4000", "--out", &out]].concat();
        if stopped {
            let mut child = program.start(&args);
            wait_for(&mut BufReader::new(child.stderr.take().expect("piped")), "step 0:");
            signal(&child, "TERM");
            assert_eq!(child.wait().expect("ends").code(), Some(143));
            assert!(program.path(name).join("checkpoint.safetensors").is_file());
        }
        program.succeeds(&args);
        let log = fs_err::read_to_string(program.path(name).join("steps.csv")).expect("a log");
        assert_eq!(log.lines().count(), 4001, "every step once, below the names of the columns");
        fs_err::read(program.path(name).join("best/model.safetensors")).expect("weights")
    };
    assert!(weights("stopped", true) == weights("through", false), "the weights differ");
}
