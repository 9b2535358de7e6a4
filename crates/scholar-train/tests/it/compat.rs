//! What earlier versions wrote: `tests/compat/N` holds it, made by `make.py` there and the program of then.

use std::path::Path;

use scholar_train::{
    Control, Ended, Event, RerankerArchitecture, SaveDtype, Settings, Task, train,
};

/// A copy of `tests/compat/1`: the version of 23 November 2026, interrupted after step 4 of 60.
fn copy(to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat/1");
    for folder in ["", "init", "out"] {
        fs_err::create_dir_all(to.join(folder)).expect("a folder");
        for entry in fs_err::read_dir(from.join(folder)).expect("the stored folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let name = path.file_name().expect("a name");
                fs_err::copy(&path, to.join(folder).join(name)).expect("copied");
            }
        }
    }
}

#[test]
fn former_settings_and_checkpoints_are_taken_up() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(folder.path());
    let settings =
        Settings::read(&folder.path().join("train.toml"), Task::Reranker).expect("old names");
    assert_eq!((settings.batch_size, settings.gradient_accumulation_steps), (2, 2));
    assert_eq!((settings.group_size, settings.queue_size, settings.warmup_steps), (3, 8, 3));
    assert_eq!(settings.architecture, RerankerArchitecture::LateInteraction);
    assert_eq!(settings.save_dtype, SaveDtype::F32);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-6;
    assert!(close(settings.max_grad_norm, 0.5) && close(settings.token_deletion, 0.2));
    assert!(close(settings.max_rejected_fraction, 0.5));
    assert!(close(f64::from(settings.weight_interpolation), 0.25));
    let out = folder.path().join("out");
    let mut from = None;
    let report = train(&settings, &out, None, &mut |event| {
        if let Event::Began { from: step, .. } = event {
            from = Some(*step);
        }
        Control::Continue
    })
    .expect("the checkpoint fits");
    assert_eq!((from, report.steps, report.ended), (Some(4), 60, Ended::Finished));
    let steps = fs_err::read_to_string(out.join("steps.csv")).expect("the curve");
    assert!(steps.starts_with("step,epoch,tokens,loss,learning_rate,grad_norm,seconds\n"));
    assert_eq!(steps.lines().count(), 61, "the steps of both versions");
}
