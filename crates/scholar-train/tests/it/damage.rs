use std::path::Path;

use scholar_train::{Control, SaveDtype, Settings, Task, TrainError, train};

use crate::material::{model, rows, settings};

fn run(settings: &Settings, out: &Path) -> Result<scholar_train::Report, TrainError> {
    train(settings, out, None, &mut |_| Control::Continue)
}

fn short(folder: &Path) -> Settings {
    Settings { max_steps: 12, ..settings(folder, Task::Reranker) }
}

#[test]
fn checkpoints_of_other_trainings_are_refused_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let settings = short(folder.path());
    run(&settings, &out).expect("trains");
    let before = fs_err::read(out.join("checkpoint.safetensors")).expect("a checkpoint");
    let cases = [
        (Settings { init: model(folder.path(), 16), ..settings.clone() }, "architecture", "hidden"),
        (Settings { learning_rate: 1e-4, ..settings.clone() }, "training", "learning_rate was"),
        (
            Settings { rows: vec![rows(folder.path(), Task::Reranker, 170)], ..settings.clone() },
            "training",
            "rows",
        ),
    ];
    for (settings, kind, part) in cases {
        let error = run(&settings, &out).expect_err(part);
        let text = error.to_string();
        assert!(text.contains(kind) && text.contains(part), "{text}");
        assert!(error.hint().is_some());
    }
    let after = fs_err::read(out.join("checkpoint.safetensors")).expect("a checkpoint");
    assert!(before == after);
    let relaxed = Settings { checkpoint_every: 3, ..settings };
    assert_eq!(run(&relaxed, &out).expect("nothing left to do").steps, 12);
}

#[test]
fn a_cut_checkpoint_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let settings = short(folder.path());
    run(&settings, &out).expect("trains");
    let path = out.join("checkpoint.safetensors");
    let bytes = fs_err::read(&path).expect("a checkpoint");
    for kept in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        fs_err::write(&path, &bytes[..kept]).expect("written");
        let error = run(&settings, &out).expect_err("cut");
        assert!(matches!(error, TrainError::Damaged { .. }), "{kept}: {error}");
        assert!(error.to_string().contains("checkpoint.safetensors"), "{error}");
    }
}

#[test]
fn a_disk_that_takes_nothing_leaves_the_last_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let settings = short(folder.path());
    train(&settings, &out, None, &mut |event| match event {
        scholar_train::Event::Step(progress) if progress.step == 5 => Control::Stop,
        _ => Control::Continue,
    })
    .expect("stops");
    let before = fs_err::read(out.join("checkpoint.safetensors")).expect("a checkpoint");
    // The next checkpoint cannot be written where a folder lies.
    fs_err::create_dir(out.join("checkpoint.safetensors.new")).expect("a folder");
    let error = run(&settings, &out).expect_err("nowhere to write");
    assert!(matches!(error, TrainError::Write { .. }), "{error}");
    assert!(before == fs_err::read(out.join("checkpoint.safetensors")).expect("kept"));
    fs_err::remove_dir(out.join("checkpoint.safetensors.new")).expect("removed");
    assert_eq!(run(&settings, &out).expect("goes on").steps, 12);
}

#[test]
fn a_model_folder_lost_between_two_renames_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let settings = short(folder.path());
    run(&settings, &out).expect("trains");
    let weights = |dir: &str| fs_err::read(out.join(dir).join("model.safetensors"));
    let before = weights("best").expect("a model");
    fs_err::rename(out.join("best"), out.join("best.old")).expect("renamed");
    fs_err::create_dir(out.join("best.new")).expect("a folder");
    run(&settings, &out).expect("nothing left to do");
    assert!(weights("best").expect("back") == before);
    assert!(!out.join("best.new").exists() && !out.join("best.old").exists());
}

#[test]
fn a_loss_that_is_no_number_ends_the_training() {
    let folder = tempfile::tempdir().expect("a folder");
    // Inner products over this overflow.
    let settings = Settings {
        task: Task::Encoder,
        objective: scholar_train::Objective::Pairs,
        temperature: 1e-38,
        normalise: false,
        ..short(folder.path())
    };
    let error = run(&settings, &folder.path().join("out")).expect_err("not a number");
    assert!(matches!(error, TrainError::NotFinite { step: 1, .. }), "{error}");
    assert!(error.to_string().contains("no checkpoint yet"), "{error}");
}

#[test]
fn rows_that_teach_nothing_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.jsonl");
    let row = |at: usize| {
        format!("{{\"sentence\":\"w{at}\",\"evidence\":\"w1\",\"label\":\"supports\"}}\n")
    };
    fs_err::write(&path, (0..50).map(row).collect::<String>()).expect("written");
    let settings =
        Settings { rows: vec![path.clone()], ..settings(folder.path(), Task::Attributor) };
    let error = run(&settings, &folder.path().join("out")).expect_err("one class");
    assert!(error.to_string().contains("of one class"), "{error}");
    fs_err::write(&path, "{\"sentence\":1}\n").expect("written");
    let error = run(&settings, &folder.path().join("out")).expect_err("malformed");
    assert!(matches!(error, TrainError::Rows { line: 1, .. }), "{error}");
    fs_err::write(&path, row(1)).expect("written");
    let error = run(&settings, &folder.path().join("out")).expect_err("too few");
    assert!(matches!(error, TrainError::Useless { .. }), "{error}");
}

#[test]
fn models_that_are_not_what_they_say_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings { save_dtype: SaveDtype::F16, ..short(folder.path()) };
    let out = folder.path().join("out");
    let config = settings.init.join("config.json");
    let text = fs_err::read_to_string(&config).expect("a config");
    for (from, to, part) in [
        ("\"bert\"", "\"gpt2\"", "BERT shapes"),
        ("\"num_attention_heads\":2", "\"num_attention_heads\":5", "heads"),
        ("\"intermediate_size\":64", "\"intermediate_size\":96", "shape"),
        ("\"vocab_size\":64", "\"vocab_size\":60", "shape"),
        ("\"max_position_embeddings\":48", "\"max_position_embeddings\":40", "max_tokens"),
    ] {
        assert!(text.contains(from), "{text}");
        fs_err::write(&config, text.replace(from, to)).expect("written");
        let error = run(&settings, &out).expect_err(part);
        let whole = error.to_string();
        assert!(whole.contains(part) || part == "max_tokens" && whole.contains("shape"), "{whole}");
    }
}
