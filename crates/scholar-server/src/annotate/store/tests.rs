use super::*;
use crate::annotate::form::{Better, Form, Origin};
use crate::annotate::model::{Answer, Preference};

fn instance(id: &str, authors: &[&str]) -> Instance {
    let answer = |system: &str| Answer {
        system: system.to_owned(),
        text: format!("{system} says."),
        references: Vec::new(),
    };
    let authors = authors.iter().map(|name| (*name).to_owned()).collect();
    let question = format!("What of {id}?");
    Instance::comparison(id.to_owned(), question, authors, [answer("one"), answer("two")])
}

fn annotator(name: &str) -> NewAnnotator {
    NewAnnotator { name: name.to_owned(), token: format!("token-{name}") }
}

fn study(path: &Path) -> Store {
    let mut store = Store::open_or_create(path, Some(3)).expect("made");
    let instances: Vec<Instance> = (0..6).map(|n| instance(&format!("q{n}"), &[])).collect();
    let added = store.add(&instances, &[annotator("ada"), annotator("ben")], None).expect("added");
    assert_eq!(added, Added { instances: 6, annotators: 2, assignments: 12, short: 0 });
    store
}

fn origin(page: &str, seq: u32, base: u32) -> Origin {
    Origin { page: page.to_owned(), seq, base }
}

fn full() -> Form {
    Form {
        scores: [[Some(4); 4], [Some(2); 4]],
        better: Some(Better::A),
        explanation: "clearer".to_owned(),
        ..Form::default()
    }
}

#[test]
fn what_was_drawn_stays_when_more_comes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("study.db");
    let mut store = study(&path);
    let shape = |store: &Store| -> Vec<(String, bool)> {
        (1..=6)
            .map(|place| store.task("ada", place).expect("readable").expect("there"))
            .map(|task| (task.instance.id, task.flipped))
            .collect()
    };
    let before = shape(&store);
    assert!(before.iter().any(|(_, flipped)| *flipped) && before.iter().any(|(_, f)| !*f));
    drop(store);
    store = Store::open_or_create(&path, None).expect("there");
    let more = [instance("q0", &[]), instance("q9", &["Ada"])];
    let added = store.add(&more, &[annotator("ada"), annotator("cem")], None).expect("added");
    // Seven instances for Cem, the new one for Ben, and none for its author.
    assert_eq!(added, Added { instances: 1, annotators: 1, assignments: 8, short: 1 });
    assert_eq!(shape(&store), before);
    assert_eq!(store.list("ada").expect("readable").len(), 6);
    assert_eq!(store.annotator("token-ada").expect("readable").as_deref(), Some("ada"));
    assert_eq!(store.annotator("token").expect("readable"), None);
}

#[test]
fn the_last_submission_counts_and_earlier_ones_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = study(&folder.path().join("study.db"));
    let task = store.task("ada", 1).expect("readable").expect("there");
    let mut form = full();
    for (seq, better) in [(1, Better::A), (2, Better::B)] {
        form.better = Some(better);
        let ratings = form.ratings(task.flipped).expect("full");
        let at = format!("2030-01-0{seq}T00:00:00Z");
        let saved =
            store.submit(task.assignment, &form, Said::Pair(&ratings), &origin("p", seq, 0), &at);
        assert_eq!(saved.expect("saved"), Saved::Stored(seq));
    }
    let kept = store.evaluations().expect("readable");
    let versions: Vec<(u32, bool)> = kept.iter().map(|one| (one.version, one.latest)).collect();
    assert_eq!(versions, [(1, false), (2, true)]);
    assert_eq!(
        (kept[0].started.as_str(), kept[1].started.as_str()),
        ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z")
    );
    let shown_b = if task.flipped { Preference::First } else { Preference::Second };
    assert_eq!(kept[1].ratings.as_ref().expect("rated").preference, shown_b);
    let a = usize::from(task.flipped);
    assert_eq!(kept[1].ratings.as_ref().expect("rated").scores[a], [4, 4, 4, 4]);
    for sql in ["DELETE FROM evaluation", "UPDATE evaluation SET comment = 'x'"] {
        let error = store.connection.execute(sql, []).expect_err(sql).to_string();
        assert!(error.contains("kept"), "{error}");
    }
    assert_eq!(store.annotators().expect("readable")[0].done, 1);
}

#[test]
fn a_window_does_not_overwrite_what_another_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = study(&folder.path().join("study.db"));
    let id = store.task("ben", 2).expect("readable").expect("there").assignment;
    let mut save = |page: &str, seq, base, words: &str| {
        let form = Form { comment: words.to_owned(), ..Form::default() };
        store.save(id, &form, &origin(page, seq, base), "now").expect("answered")
    };
    assert_eq!(save("one", 1, 0, "a"), Saved::Stored(1));
    assert_eq!(save("one", 3, 0, "abc"), Saved::Stored(2));
    // Overtaken on the way.
    assert_eq!(save("one", 2, 0, "ab"), Saved::Late(2));
    // Made before the first one saved.
    assert_eq!(save("two", 1, 0, "x"), Saved::Elsewhere(2));
    assert_eq!(save("two", 2, 2, "x"), Saved::Stored(3));
    assert_eq!(save("one", 4, 0, "abcd"), Saved::Elsewhere(3));
    let task = store.task("ben", 2).expect("readable").expect("there");
    assert_eq!((task.form.comment.as_str(), task.revision), ("x", 3));
    assert_eq!(task.state, State::Begun);
}

#[test]
fn two_processes_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("study.db");
    drop(study(&path));
    std::thread::scope(|scope| {
        for name in ["ada", "ben"] {
            let path = &path;
            scope.spawn(move || {
                let mut store = Store::open_or_create(path, None).expect("opened");
                for place in 1..=6 {
                    let task = store.task(name, place).expect("readable").expect("there");
                    let ratings = full().ratings(task.flipped).expect("full");
                    let saved = store.submit(
                        task.assignment,
                        &full(),
                        Said::Pair(&ratings),
                        &origin(name, 1, 0),
                        "now",
                    );
                    assert_eq!(saved.expect("saved"), Saved::Stored(1));
                }
            });
        }
    });
    let store = Store::open(&path).expect("readable");
    assert_eq!(store.evaluations().expect("readable").len(), 12);
}

#[test]
fn a_full_disk_is_told_and_what_was_saved_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = study(&folder.path().join("study.db"));
    let task = store.task("ada", 1).expect("readable").expect("there");
    let form = Form { comment: "kept".to_owned(), ..Form::default() };
    store.save(task.assignment, &form, &origin("p", 1, 0), "now").expect("saved");
    store.limit_pages(1);
    let long = Form { comment: "x".repeat(20_000), ..Form::default() };
    let error = store.save(task.assignment, &long, &origin("p", 2, 0), "now").expect_err("full");
    assert_eq!(error.kind, StoreErrorKind::Full);
    assert!(error.to_string().contains("study.db") && error.hint().contains("space"), "{error}");
    let task = store.task("ada", 1).expect("readable").expect("there");
    assert_eq!(task.form.comment, "kept");
}

#[test]
fn files_that_are_no_study_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let kind = |name: &str, seed: Option<u64>| {
        let error = Store::open_or_create(&folder.path().join(name), seed).err().expect(name);
        assert!(error.to_string().contains(name) || name == ".", "{error}");
        error.kind
    };
    fs_err::write(folder.path().join("notes.txt"), "not a database at all, only words".repeat(40))
        .expect("written");
    assert_eq!(kind("notes.txt", None), StoreErrorKind::NotAStudy);
    assert_eq!(kind("missing/study.db", None), StoreErrorKind::ReadOnly);
    assert_eq!(kind(".", None), StoreErrorKind::ReadOnly);
    let other = Connection::open(folder.path().join("other.db")).expect("made");
    other.execute_batch("CREATE TABLE user (id INTEGER)").expect("made");
    drop(other);
    assert_eq!(kind("other.db", None), StoreErrorKind::NotAStudy);
    drop(study(&folder.path().join("study.db")));
    assert_eq!(kind("study.db", Some(4)), StoreErrorKind::Conflict);
    let error = Store::open(&folder.path().join("none.db")).err().expect("missing");
    assert_eq!(error.kind, StoreErrorKind::Missing);
    assert!(!folder.path().join("none.db").exists(), "looking makes no file");
}

#[test]
fn an_instance_cannot_change_under_its_judgements() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = study(&folder.path().join("study.db"));
    let mut changed = instance("q1", &[]);
    changed.answers[0].text.push('!');
    let error = store.add(&[instance("q7", &[]), changed], &[], None).expect_err("changed");
    assert_eq!(error.kind, StoreErrorKind::Conflict);
    assert!(error.to_string().contains("q1"), "{error}");
    assert_eq!(store.instances().expect("readable").len(), 6, "nothing was added");
}

/// Whoever can write can read; permissions do not bind the superuser, so `SQLite` is told not to write instead.
#[test]
fn a_study_that_cannot_be_written_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("study.db");
    let task = study(&path).task("ada", 1).expect("readable").expect("there");
    let mut store = Store::open(&path).expect("readable");
    assert_eq!(store.annotators().expect("readable").len(), 2);
    let error =
        store.save(task.assignment, &full(), &origin("p", 1, 0), "now").expect_err("read-only");
    assert_eq!(error.kind, StoreErrorKind::ReadOnly);
    assert!(error.hint().contains("--db"), "{}", error.hint());
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_a_study() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("study.db");
    drop(study(&path));
    let mode = fs_err::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}
