use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;

use super::*;
use crate::scholarqa::mark_duplicates;

fn items(n: usize) -> Vec<Item> {
    (0..n)
        .map(|nth| Item::new(BenchTask::Bio, format!("bio_{nth}"), format!("question {}", nth % 4)))
        .collect()
}

fn manifest(items: &[Item]) -> Manifest {
    Manifest {
        schema: RUN_SCHEMA.to_owned(),
        name: "test".to_owned(),
        task: BenchTask::Bio,
        system: "model-alone".to_owned(),
        ablation: Ablation::default(),
        config: Value::Null,
        models: BTreeMap::new(),
        datastore: None,
        source_sha256: None,
        data: PathBuf::from("data"),
        data_sha256: "0".to_owned(),
        seed: 1,
        limit: None,
        before: None,
        items: items.iter().map(|item| item.id.clone()).collect(),
        command: String::new(),
        machine: String::new(),
        started: String::new(),
        state: RunState::Running,
        ended_by: None,
        counts: Counts::default(),
        usage: PredictionUsage::default(),
        seconds: 0.0,
        notices: Vec::new(),
    }
}

fn answered(item: &Item) -> Prediction {
    let mut prediction = Prediction::new(&item.id, &item.question, "so");
    prediction.seconds = Some(2.0);
    prediction.usage =
        Some(PredictionUsage { calls: 1, cost_usd: Some(0.5), ..Default::default() });
    prediction
}

#[test]
fn a_run_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(JOURNAL_FILE);
    let all = items(10);
    let (mut journal, _) = Journal::open(&path).expect("created");
    let asked = AtomicUsize::new(0);
    let ask = |item: Item| {
        asked.fetch_add(1, Ordering::Relaxed);
        async move { answered(&item) }
    };
    let mut left = 4;
    let mut stop = |_: &Prediction| {
        left -= 1;
        (left == 0).then(|| "enough".to_owned())
    };
    let ended = block_on(drive(all.clone(), 1, &mut journal, ask, &mut stop)).expect("driven");
    assert_eq!(ended, Ended::Budget("enough".to_owned()));
    drop(journal);

    let (mut journal, written) = Journal::open(&path).expect("opened");
    assert_eq!(written.predictions.len(), 4);
    let todo: Vec<Item> =
        all.iter().filter(|item| written.get(&item.id).is_none()).cloned().collect();
    let ended = block_on(drive(todo, 3, &mut journal, ask, &mut |_| None)).expect("driven");
    assert_eq!((ended, asked.load(Ordering::Relaxed)), (Ended::Asked, 10));
    let mut manifest = manifest(&all);
    manifest.count(&read_journal(&path).expect("read"));
    assert_eq!((manifest.counts.answered, manifest.counts.missing), (10, 0));
    assert!((manifest.seconds - 20.0).abs() < 1e-9);
    assert!((manifest.usage.cost_usd.expect("known") - 5.0).abs() < 1e-9);
}

#[test]
fn a_dead_server_ends_a_run_early() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut journal, _) = Journal::open(&folder.path().join(JOURNAL_FILE)).expect("created");
    let ask = |item: Item| async move {
        let mut prediction = Prediction::new(&item.id, &item.question, "");
        prediction.status = PredictionStatus::Failed;
        prediction.error = Some("nobody answers".to_owned());
        prediction
    };
    let ended = block_on(drive(items(50), 1, &mut journal, ask, &mut |_| None)).expect("driven");
    assert_eq!(ended, Ended::GaveUp("nobody answers".to_owned()));
    let written = read_journal(&folder.path().join(JOURNAL_FILE)).expect("read");
    assert_eq!(written.predictions.len(), FAILURES_IN_A_ROW);
    let mut manifest = manifest(&items(50));
    manifest.count(&written);
    assert_eq!((manifest.counts.failed, manifest.counts.missing), (5, 45));
}

#[test]
fn repeated_items_share_an_answer_and_its_cost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(JOURNAL_FILE);
    let mut all = items(6);
    assert_eq!(mark_duplicates(&mut all, false), 2);
    let (mut journal, _) = Journal::open(&path).expect("created");
    let todo: Vec<Item> = all.iter().filter(|i| i.duplicate_of.is_none()).cloned().collect();
    let ask = |item: Item| async move { answered(&item) };
    block_on(drive(todo, 2, &mut journal, ask, &mut |_| None)).expect("driven");
    let written = read_journal(&path).expect("read");
    assert_eq!(copy_duplicates(&all, &mut journal, &written).expect("copied"), 2);
    let written = read_journal(&path).expect("read");
    assert_eq!(copy_duplicates(&all, &mut journal, &written).expect("once"), 0);
    let mut manifest = manifest(&all);
    manifest.count(&written);
    assert_eq!((manifest.counts.answered, manifest.usage.calls), (6, 4));
}

#[test]
fn another_run_does_not_share_a_folder() {
    let one = manifest(&items(2));
    let mut other = one.clone();
    assert!(one.differences(&other).is_empty());
    other.limit = Some(3);
    assert!(one.differences(&other).is_empty(), "a larger sample goes on");
    other.seed = 2;
    other.models.insert("generator".to_owned(), "x".to_owned());
    assert_eq!(one.differences(&other), ["models", "seed"]);
    let folder = tempfile::tempdir().expect("a folder");
    let error = Manifest::read(folder.path()).expect_err("none").to_string();
    assert!(error.contains("run.json"), "{error}");
    fs_err::write(folder.path().join(MANIFEST_FILE), "{\"schema\": 3}").expect("written");
    assert!(Manifest::read(folder.path()).is_err());
}

#[test]
fn a_folder_says_what_is_left_and_how_its_run_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = items(6);
    mark_duplicates(&mut all, false);
    let mut run = RunFolder::open(folder.path(), manifest(&all)).expect("new");
    assert_eq!(run.todo(&all).len(), 4, "two repeat others");
    fs_err::write(run.manifest_path(), run.manifest_text().expect("JSON")).expect("written");
    for item in &all[..3] {
        run.journal().append(&answered(item)).expect("kept");
    }
    assert_eq!(run.interrupt().expect("counted"), RunState::Interrupted);
    assert_eq!((run.manifest().counts.answered, run.manifest().counts.missing), (3, 3));

    let mut again = RunFolder::open(folder.path(), manifest(&all)).expect("the same run");
    let left = again.todo(&all);
    assert_eq!(left.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["bio_3"]);
    let state = again.finish(&all, Ended::Asked).expect("counted");
    assert_eq!((state, again.manifest().counts.answered), (RunState::SomeFailed, 5));
    again.journal().append(&answered(&all[3])).expect("kept");
    assert_eq!(again.finish(&all, Ended::Asked).expect("counted"), RunState::Done);
    assert!(again.summary().contains("6 of 6 answered") && again.summary().contains("next: "));

    let other = Manifest { seed: 2, ..manifest(&all) };
    let error = RunFolder::open(folder.path(), other).err().expect("another run is there");
    assert!(matches!(&error, FolderError::OtherRun { .. }) && error.to_string().contains("seed"));
}
