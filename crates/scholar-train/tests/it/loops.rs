use std::path::Path;

use safetensors::SafeTensors;
use scholar_train::{
    Control, DeviceKind, Ended, EvalModel, Evaluator, Event, Measure, Objective, Report,
    RerankerArchitecture, Settings, Task, TrainError, train,
};

use crate::material::settings;

/// Everything that this build computes with.
const DEVICES: &[DeviceKind] = &[
    DeviceKind::Cpu,
    #[cfg(feature = "cuda")]
    DeviceKind::Cuda,
    #[cfg(feature = "wgpu")]
    DeviceKind::Wgpu,
];

/// The curve of the steps without what the clock wrote.
fn curve(out: &Path) -> Vec<String> {
    let text = fs_err::read_to_string(out.join("steps.csv")).expect("a curve");
    text.lines().map(|line| line.rsplit_once(',').map_or("", |cells| cells.0).to_owned()).collect()
}

/// Trains until `stop` steps are done in all, or to the end.
fn run(settings: &Settings, out: &Path, stop: Option<usize>) -> Report {
    train(settings, out, None, &mut |event| match event {
        Event::Step(progress) if Some(progress.step) == stop => Control::Stop,
        _ => Control::Continue,
    })
    .expect("trains")
}

/// All tensors of a checkpoint, without what the clock put into its header.
fn tensors(out: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = fs_err::read(out.join("checkpoint.safetensors")).expect("a checkpoint");
    let tensors = SafeTensors::deserialize(&bytes).expect("safetensors");
    let mut all: Vec<(String, Vec<u8>)> =
        tensors.iter().map(|(name, tensor)| (name.to_owned(), tensor.data().to_vec())).collect();
    all.sort();
    all
}

fn cell<'a>(values: &'a [Measure], name: &str) -> &'a f64 {
    &values.iter().find(|(known, _)| known == name).expect("a measure").1
}

/// `sign` is -1 where the first measure is better when it is lower.
fn improves(settings: &Settings, sign: f64, least: f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let report = run(settings, folder.path(), None);
    let (_, best) = report.best.expect("measured");
    let before = sign * report.first[0].1;
    assert!(best > before && best >= least, "{before} to {best}");
    assert_eq!(report.ended, Ended::Finished);
    for file in ["steps.csv", "evaluations.csv", "curves.svg", "settings.toml", "best/config.json"]
    {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
    let steps = fs_err::read_to_string(folder.path().join("steps.csv")).expect("the curve");
    assert_eq!(steps.lines().count(), report.steps + 1);
}

#[test]
fn a_reranker_learns_to_put_the_right_passage_first() {
    let folder = tempfile::tempdir().expect("a folder");
    improves(&settings(folder.path(), Task::Reranker), 1.0, 0.95);
}

#[test]
fn a_late_interaction_reranker_learns_it_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings {
        architecture: RerankerArchitecture::LateInteraction,
        ..settings(folder.path(), Task::Reranker)
    };
    improves(&settings, 1.0, 0.9);
}

#[test]
fn an_attributor_learns_its_classes_and_which_sentence_is_the_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = settings(folder.path(), Task::Attributor);
    improves(&settings, 1.0, 0.95);
    let out = folder.path().join("out");
    let mut last = Vec::new();
    train(&settings, &out, None, &mut |event| {
        if let Event::Evaluated { values, .. } = event {
            last = values.to_vec();
        }
        Control::Continue
    })
    .expect("trains");
    assert!(*cell(&last, "accuracy") > 0.9, "{last:?}");
    assert!(*cell(&last, "selection@1") > 0.9, "{last:?}");
    let text = fs_err::read_to_string(out.join("best/calibration.json")).expect("calibrated");
    let calibration: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(calibration["loss_after"].as_f64() <= calibration["loss_before"].as_f64(), "{text}");
}

#[test]
fn an_encoder_learns_from_crops_and_from_a_queue() {
    for objective in [Objective::Crops, Objective::Queue] {
        let folder = tempfile::tempdir().expect("a folder");
        let settings =
            Settings { objective, learning_rate: 1e-3, ..settings(folder.path(), Task::Encoder) };
        improves(&settings, -1.0, -1.5);
    }
}

#[test]
fn an_encoder_learns_from_pairs() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings {
        task: Task::Encoder,
        objective: Objective::Pairs,
        ..settings(folder.path(), Task::Reranker)
    };
    improves(&settings, 1.0, 0.6);
}

/// A training that is stopped after `stop` steps and taken up leaves what one without a stop does.
fn goes_on(settings: &Settings, folder: &Path, stop: usize) {
    let (whole, parts) = (folder.join("whole"), folder.join("parts"));
    run(settings, &whole, None);
    let stopped = run(settings, &parts, Some(stop));
    assert_eq!((stopped.ended, stopped.steps), (Ended::Stopped, stop));
    let report = run(settings, &parts, None);
    assert_eq!((report.ended, report.steps), (Ended::Finished, settings.max_steps));
    assert!(tensors(&whole) == tensors(&parts), "{}", settings.task.name());
    let best = |out: &Path| fs_err::read(out.join("best/model.safetensors")).expect("a model");
    assert!(best(&whole) == best(&parts), "{}", settings.task.name());
    assert_eq!(curve(&whole), curve(&parts));
}

#[test]
fn a_stopped_training_goes_on_bit_for_bit() {
    for (task, objective, architecture) in [
        (Task::Reranker, Objective::Pairs, RerankerArchitecture::CrossEncoder),
        (Task::Reranker, Objective::Pairs, RerankerArchitecture::LateInteraction),
        (Task::Attributor, Objective::Pairs, RerankerArchitecture::CrossEncoder),
        (Task::Encoder, Objective::Queue, RerankerArchitecture::CrossEncoder),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let settings =
            Settings { objective, architecture, max_steps: 24, ..settings(folder.path(), task) };
        // In the middle of an epoch, of an evaluation's period and of a checkpoint's.
        goes_on(&settings, folder.path(), 13);
    }
}

/// The key network of the queue lies on the GPU, too.
#[test]
fn a_stopped_training_on_a_card_goes_on_bit_for_bit() {
    for device in &DEVICES[1..] {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Settings {
            objective: Objective::Queue,
            device: *device,
            max_steps: 4,
            ..settings(folder.path(), Task::Encoder)
        };
        goes_on(&settings, folder.path(), 2);
    }
}

/// Losses of the same training on every device, which rounding alone tells apart.
#[test]
fn every_device_learns_the_same() {
    for (task, objective) in [
        (Task::Reranker, Objective::Pairs),
        (Task::Attributor, Objective::Pairs),
        (Task::Encoder, Objective::Queue),
    ] {
        let losses = |device: DeviceKind| -> Vec<f64> {
            let folder = tempfile::tempdir().expect("a folder");
            let settings =
                Settings { objective, device, max_steps: 3, ..settings(folder.path(), task) };
            let out = folder.path().join("out");
            run(&settings, &out, None);
            let lines = curve(&out);
            let at = lines[0].split(',').position(|name| name == "loss").expect("a loss");
            let cells = lines[1..].iter().map(|line| line.split(',').nth(at).expect("a cell"));
            cells.map(|cell| cell.parse().expect("a number")).collect()
        };
        let expect = losses(DeviceKind::Cpu);
        assert_eq!(expect.len(), 3);
        for device in &DEVICES[1..] {
            for (found, expect) in losses(*device).iter().zip(&expect) {
                assert!((found - expect).abs() < 1e-3, "{task:?} on {device:?}: {found} {expect}");
            }
        }
    }
}

/// A build without a device says how to get it.
#[cfg(not(feature = "cuda"))]
#[test]
fn a_device_that_was_not_built_is_refused_with_the_feature() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings { device: DeviceKind::Cuda, ..settings(folder.path(), Task::Reranker) };
    let error = train(&settings, folder.path(), None, &mut |_| Control::Continue);
    let error = error.expect_err("there is none");
    assert!(error.to_string().contains("cuda"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--features cuda")), "{error:?}");
}

#[test]
fn interpolation_keeps_a_fraction_of_the_initial_weights() {
    let folder = tempfile::tempdir().expect("a folder");
    let free = Settings {
        architecture: RerankerArchitecture::LateInteraction,
        max_steps: 20,
        ..settings(folder.path(), Task::Reranker)
    };
    let held = Settings { weight_interpolation: 0.25, ..free.clone() };
    let kept = |settings: &Settings, name: &str| {
        let out = folder.path().join(name);
        run(settings, &out, None);
        fs_err::read(out.join("best/model.safetensors")).expect("a model")
    };
    let (free, held) = (kept(&free, "free"), kept(&held, "held"));
    let before =
        fs_err::read(settings(folder.path(), Task::Reranker).init.join("model.safetensors"))
            .expect("the model it began from");
    let numbers = |bytes: &[u8]| -> Vec<f32> {
        let name = "encoder.layer.1.output.dense.weight";
        let tensors = SafeTensors::deserialize(bytes).expect("safetensors");
        let tensor = tensors.tensor(name).expect("a matrix");
        let four = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
        tensor.data().chunks_exact(4).map(four).collect()
    };
    let [before, free, held] = [&before, &free, &held].map(|bytes| numbers(bytes));
    assert_ne!(before, free);
    let between: Vec<f32> =
        before.iter().zip(&free).map(|(before, free)| 0.25 * before + 0.75 * free).collect();
    scholar_testing::assert_all_close(&held, &between, 1e-6);
}

#[test]
fn a_killed_training_goes_on_from_its_last_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings { max_steps: 24, ..settings(folder.path(), Task::Reranker) };
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    fs_err::create_dir_all(&killed).expect("a folder");
    // What a process killed after step 17 leaves: the checkpoint of step 10, newer curves, half of the next checkpoint.
    train(&settings, &whole, None, &mut |event| {
        if let Event::Step(progress) = event
            && progress.step == 17
        {
            for file in ["checkpoint.safetensors", "steps.csv", "evaluations.csv"] {
                fs_err::copy(whole.join(file), killed.join(file)).expect("copied");
            }
            fs_err::write(killed.join("checkpoint.safetensors.new"), b"half").expect("written");
        }
        Control::Continue
    })
    .expect("trains");
    let mut from = None;
    train(&settings, &killed, None, &mut |event| {
        if let Event::Began { from: step, .. } = event {
            from = Some(*step);
        }
        Control::Continue
    })
    .expect("goes on");
    assert_eq!(from, Some(10));
    assert!(tensors(&whole) == tensors(&killed));
}

#[test]
fn no_improvement_ends_a_training_early() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings {
        learning_rate: 1e-12,
        evaluate_every: 2,
        patience: 2,
        ..settings(folder.path(), Task::Reranker)
    };
    let report = run(&settings, &folder.path().join("out"), None);
    assert_eq!(report.ended, Ended::Early);
    assert!(report.steps < 60);
}

/// Marks each sitting lower than the one before, whatever the model has learnt.
struct Harsh {
    mark: f64,
    /// Logits it was given for two pairs.
    given: usize,
}

impl Evaluator for Harsh {
    fn evaluate(&mut self, model: &mut EvalModel<'_>) -> Result<Vec<Measure>, TrainError> {
        self.given = model.logits(&[("w1", "w2"), ("w1", "w3")])?.len();
        self.mark -= 0.1;
        Ok(vec![("mark".to_owned(), self.mark)])
    }
}

#[test]
fn an_exam_decides_which_weights_are_best() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = settings(folder.path(), Task::Reranker);
    let out = folder.path().join("out");
    let mut evaluator = Harsh { mark: 1.0, given: 0 };
    let mut seen = Vec::new();
    let report = train(&settings, &out, Some(&mut evaluator), &mut |event| {
        if let Event::Evaluated { step, values, best } = event {
            seen.push((*step, *cell(values, "mark"), *cell(values, "ndcg@10"), *best));
        }
        Control::Continue
    })
    .expect("trains");
    assert_eq!(evaluator.given, 2);
    let first = seen.iter().find(|(step, ..)| *step > 0).expect("measured after a step");
    assert_eq!(report.best, Some((first.0, first.1)), "{seen:?}");
    assert!(seen.last().is_some_and(|last| last.2 >= first.2 && !last.3), "{seen:?}");
    let curve = fs_err::read_to_string(out.join("evaluations.csv")).expect("the curve");
    assert!(curve.starts_with("step,mark,ndcg@10,"), "{curve}");
}

#[test]
fn collections_without_an_exam_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let named = vec!["somewhere".into()];
    let settings = Settings { collections: named, ..settings(folder.path(), Task::Reranker) };
    let error = train(&settings, &folder.path().join("out"), None, &mut |_| Control::Continue)
        .expect_err("no evaluator");
    assert!(error.to_string().contains("collections"), "{error}");
}

#[test]
fn rows_a_teacher_did_not_score_are_counted_and_taught_by_labels() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings { teacher_weight: 0.5, ..settings(folder.path(), Task::Reranker) };
    let error = train(&settings, &folder.path().join("none"), None, &mut |_| Control::Continue)
        .expect_err("no row is scored");
    assert!(error.to_string().contains("teacher_weight"), "{error}");
    let text = fs_err::read_to_string(&settings.rows[0]).expect("rows");
    let scored = text.lines().enumerate().map(|(at, line)| {
        let mut row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if at % 2 == 0 {
            row["pos_scores"] = vec![4.0; row["pos"].as_array().expect("a list").len()].into();
            row["neg_scores"] = vec![0.0; row["neg"].as_array().expect("a list").len()].into();
        }
        format!("{row}\n")
    });
    let rows = folder.path().join("scored.jsonl");
    fs_err::write(&rows, scored.collect::<String>()).expect("written");
    let settings = Settings { rows: vec![rows], ..settings };
    let mut counted = None;
    let report = train(&settings, &folder.path().join("out"), None, &mut |event| {
        if let Event::Began { rows, unscored, .. } = event {
            counted = Some((*rows, *unscored));
        }
        Control::Continue
    })
    .expect("trains");
    let (rows, unscored) = counted.expect("began");
    assert!(unscored > rows / 3 && unscored < rows * 2 / 3, "{unscored} of {rows}");
    assert!(report.best.is_some_and(|(_, score)| score > 0.95), "{report:?}");
}
