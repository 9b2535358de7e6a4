use super::*;
use crate::additions::{Addition, Stage};
use crate::backend::{AddedFile, AskRequest, JobKind, JobRequest, ReviewRequest, RunState};

fn open() -> (tempfile::TempDir, JobStore) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = JobStore::open(&folder.path().join("serve.db")).expect("a store");
    (folder, store)
}

fn add(store: &JobStore, run: &str, caller: &str, follows: Option<&str>) {
    let follows = follows.map(str::to_owned);
    let title = format!("{run}?");
    let request = AskRequest { question: title.clone(), follows, ..AskRequest::default() };
    let request = JobRequest::from(request);
    let new = NewJob { run, caller, request: &request, title: &title, now: 100 };
    store.add(&new).expect("added");
}

fn done(cost_usd: Option<f64>) -> Outcome {
    Outcome { state: RunState::Done, error: None, hint: None, cost_usd, tokens: 7 }
}

#[test]
fn what_was_asked_is_found_again_after_the_server_was_killed() {
    let (folder, store) = open();
    for (run, caller) in [("a", "ann"), ("b", "ben"), ("c", "ann")] {
        add(&store, run, caller, None);
    }
    assert_eq!(store.begin("a").expect("begun"), 1);
    assert_eq!(store.begin("b").expect("begun"), 1);
    store.end("b", &done(Some(0.5)), 120).expect("ended");
    drop(store);
    let store = JobStore::open(&folder.path().join("serve.db")).expect("the same");
    let unfinished = store.unfinished().expect("read");
    let shown: Vec<(&str, RunState)> =
        unfinished.iter().map(|job| (job.run.as_str(), job.state)).collect();
    assert_eq!(shown, [("a", RunState::Running), ("c", RunState::Queued)]);
    assert_eq!(unfinished[0].title, "a?");
    assert!(matches!(&unfinished[0].request, JobRequest::Ask(one) if one.question == "a?"));
    assert_eq!(store.begin("a").expect("begun again"), 2);
    assert_eq!(store.spent("ben", 0).expect("counted"), (1, 0.5));
    assert_eq!(store.spent("ben", 101).expect("counted"), (0, 0.0));
}

#[test]
fn threads_are_listed_by_their_last_question_under_their_first() {
    let (_folder, store) = open();
    add(&store, "a", "ann", None);
    add(&store, "b", "ann", None);
    add(&store, "a2", "ann", Some("a"));
    add(&store, "x", "ben", Some("of-the-command-line"));
    let threads = store.threads(Some("ann"), 9).expect("read");
    let shown: Vec<(&str, &str, usize)> =
        threads.iter().map(|line| (line.run.as_str(), line.title.as_str(), line.n_runs)).collect();
    assert_eq!(shown, [("a2", "a?", 2), ("b", "b?", 1)]);
    assert_eq!(store.threads(None, 1).expect("read")[0].run, "x");
    let runs = store.of_thread("a").expect("read");
    assert_eq!(runs.iter().map(|job| job.run.as_str()).collect::<Vec<_>>(), ["a", "a2"]);
    assert_eq!(store.recent(Some("ben"), 5).expect("read")[0].thread, "of-the-command-line");
}

#[test]
fn sharing_keeps_its_address_until_it_ends() {
    let (_folder, store) = open();
    add(&store, "a", "ann", None);
    assert_eq!(store.share("a", Some("s1")).expect("shared").as_deref(), Some("s1"));
    assert_eq!(store.share("a", Some("s2")).expect("shared").as_deref(), Some("s1"));
    assert_eq!(store.shared("s1").expect("read").map(|job| job.run).as_deref(), Some("a"));
    assert_eq!(store.share("a", None).expect("ended"), None);
    assert_eq!(store.shared("s1").expect("read"), None);
    assert_eq!(store.job("none").expect("read"), None);
}

#[test]
fn the_last_word_on_a_section_counts_and_sign_ins_end() {
    let (_folder, store) = open();
    let says = |thumb, comment: &str| {
        let feedback = Feedback { section: 1, thumb, comment: comment.to_owned() };
        store.say("a", "ann", &feedback, 1).expect("kept");
    };
    says(Some(Thumb::Down), "too short");
    says(Some(Thumb::Up), "");
    let said = store.said("a", "ann").expect("read");
    assert_eq!(said, [Feedback { section: 1, thumb: Some(Thumb::Up), comment: String::new() }]);
    assert!(store.said("a", "ben").expect("read").is_empty());
    store.sign_in("secret", "ann", 10, 20).expect("kept");
    assert_eq!(store.signed_in("secret", 19).expect("read").as_deref(), Some("ann"));
    assert_eq!(store.signed_in("secret", 20).expect("read"), None);
    assert_eq!(store.signed_in("other", 19).expect("read"), None);
    store.sign_out("secret").expect("gone");
    assert_eq!(store.signed_in("secret", 19).expect("read"), None);
}

/// The schema of the first release, with a question in it.
const VERSION_1: &str = "CREATE TABLE job (run TEXT PRIMARY KEY, caller TEXT NOT NULL, request TEXT NOT NULL, \
    question TEXT NOT NULL, thread TEXT NOT NULL, state TEXT NOT NULL, submitted INTEGER NOT NULL, ended INTEGER, \
    attempt INTEGER NOT NULL DEFAULT 0, error TEXT, hint TEXT, cost_usd REAL, tokens INTEGER, share TEXT UNIQUE) STRICT; \
    INSERT INTO job (run, caller, request, question, thread, state, submitted) \
    VALUES ('a', 'ann', '{\"question\":\"Why?\"}', 'Why?', 'a', 'running', 7); \
    PRAGMA user_version = 1; PRAGMA application_id = 1330858562;";

#[test]
fn a_database_of_the_first_version_is_opened_and_takes_other_kinds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("serve.db");
    let old = Connection::open(&path).expect("made");
    old.execute_batch(VERSION_1).expect("made");
    drop(old);
    let store = JobStore::open(&path).expect("opened");
    let request =
        JobRequest::from(ReviewRequest { idea: "We plan.".to_owned(), ..ReviewRequest::default() });
    let new = NewJob { run: "b", caller: "ann", request: &request, title: "A plan", now: 8 };
    store.add(&new).expect("added");
    drop(store);
    let store = JobStore::open(&path).expect("again");
    assert_eq!(store.unfinished_additions().expect("read"), []);
    let unfinished = store.unfinished().expect("read");
    drop(store);
    let kinds: Vec<JobKind> = unfinished.iter().map(|job| job.request.kind()).collect();
    assert_eq!(kinds, [JobKind::Ask, JobKind::Review]);
    assert_eq!((unfinished[1].title.as_str(), &unfinished[1].request), ("A plan", &request));
    let newer = Connection::open(&path).expect("opened");
    newer.execute_batch("PRAGMA user_version = 99").expect("set");
    drop(newer);
    assert!(JobStore::open(&path).is_err());
}

#[test]
fn files_that_were_sent_are_kept_and_the_oldest_of_them_forgotten() {
    let (_folder, store) = open();
    let addition = |id: &str, submitted: i64| Addition {
        id: id.to_owned(),
        caller: "ann".into(),
        datastore: "library".to_owned(),
        files: Vec::new(),
        done: Vec::new(),
        failed: None,
        stage: Stage::Receiving,
        submitted,
    };
    store.receive_files(&addition("a", 1), 9).expect("kept");
    store.received_files("a", &["x.pdf".to_owned(), "y.pdf".to_owned()]).expect("kept");
    let file = AddedFile {
        name: "x.pdf".to_owned(),
        papers: Vec::new(),
        notices: vec!["a \"notice\"".to_owned()],
        is_unchanged: false,
    };
    store.file_added("a", 0, &file).expect("kept");
    let kept = store.addition("a").expect("read").expect("there");
    assert_eq!((kept.files.len(), &kept.done[..], kept.stage), (2, &[file][..], Stage::Waiting));
    store.receive_files(&addition("b", 2), 9).expect("kept");
    let unfinished = store.unfinished_additions().expect("read");
    assert_eq!(unfinished.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    store.forget_files("b").expect("gone");
    store.files_over("a", Some("the disk is full")).expect("kept");
    let kept = store.addition("a").expect("read").expect("there");
    assert_eq!((kept.failed.as_deref(), kept.is_over()), (Some("the disk is full"), true));
    assert_eq!(store.additions(Some("ben"), 9).expect("read"), []);
    store.receive_files(&addition("c", 3), 1).expect("kept");
    let left = store.additions(None, 9).expect("read");
    assert_eq!(left.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["c"]);
}

#[test]
fn a_file_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.db");
    let other = Connection::open(&path).expect("made");
    other.execute_batch("CREATE TABLE x (y)").expect("made");
    drop(other);
    let error = JobStore::open(&path).expect_err("not ours");
    assert!(error.to_string().contains("another program"), "{error}");
}
