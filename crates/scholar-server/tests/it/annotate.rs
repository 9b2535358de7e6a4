//! The annotators' pages in a real browser, by keyboard alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scholar_server::Hosts;
use scholar_server::annotate::{
    Answer, Environment, Instance, NewAnnotator, Preference, Reference, Store, Study,
};
use scholar_testing::http::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use scholar_testing::browser::{Browser, CONTROL, ENTER, RIGHT, SHIFT, SPACE, TAB};

const NAMES: [&str; 2] = ["Alpha-8B", "Beta-GPT"];
const ASPECTS: [&str; 4] = ["organization", "coverage", "relevance", "usefulness"];
/// Questions of the study.
const QUESTIONS: usize = 3;
const ADA: &str = "4f1d00aa";
const BEN: &str = "90ce11bb";

fn instances() -> Vec<Instance> {
    let reference = |number: usize, words: &str| Reference {
        number,
        title: format!("Paper {words}"),
        text: format!("It says {words}. ").repeat(20),
        url: Some(format!("https://example.org/{words}")),
    };
    (0..QUESTIONS)
        .map(|n| {
            let answers = [0, 1].map(|at| Answer {
                system: NAMES[at].to_owned(),
                text: format!("The {} answer on topic {n} [1]", ["first", "second"][at]),
                references: vec![reference(1, "one"), reference(2, "two")],
            });
            let question = format!("What is known about topic {n}?");
            Instance::comparison(format!("{}-{n}", NAMES[0]), question, Vec::new(), answers)
        })
        .collect()
}

/// Serves a study of `instances` while `work` runs with its origin.
pub(crate) fn serving(
    instances: &[Instance],
    folder: &tempfile::TempDir,
    render: impl Fn(&str, &dyn Fn(usize) -> Option<String>) -> String + Send + Sync + 'static,
    work: impl FnOnce(&str),
) {
    let mut store = Store::open_or_create(&folder.path().join("study.db"), Some(2)).expect("made");
    let people = [("Ada", ADA), ("Ben", BEN)]
        .map(|(name, token)| NewAnnotator { name: name.to_owned(), token: token.to_owned() });
    store.add(instances, &people, None).expect("added");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("threads");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("bound"));
    let pages = AtomicUsize::new(0);
    let environment = Environment {
        now: Arc::new(|| "2030-01-01T00:00:00Z".to_owned()),
        fresh: Arc::new(move || format!("page-{}", pages.fetch_add(1, Ordering::Relaxed))),
        render: Arc::new(render),
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served =
        runtime.spawn(Study::new(store, environment, Hosts::default()).serve(listener, async {
            let _dropped = stopped.await;
        }));
    work(&origin);
    drop(stop);
    runtime.block_on(served).expect("no panic").expect("served");
}

/// The words, and a link for the citation.
fn render(text: &str, link: &dyn Fn(usize) -> Option<String>) -> String {
    let address = link(1).expect("it has a reference");
    let words = text.trim_end_matches("[1]");
    format!(
        "<p>{words}<span class=\"cites\">[<a class=\"cite\" href=\"{address}\">1</a>]</span></p>"
    )
}

/// Goes on by Tab until `expression` holds for the focused element `at`; every stop on the way must be visible.
fn tab_to(browser: &Browser, expression: &str) {
    for _ in 0..120 {
        browser.press(&[TAB]);
        let found = browser.value(&format!(
            "(() => {{ const at = document.activeElement; if (at === document.body) return 'body'; \
             const ring = at.matches('.steps input') ? at.nextElementSibling : at; \
             if (getComputedStyle(ring).outlineStyle === 'none') return 'invisible: ' + at.outerHTML; \
             return ({expression}) ? 'found' : 'on'; }})()"
        ));
        match found.as_str() {
            Some("found") => return,
            Some("on" | "body") => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("Tab never reaches {expression}");
}

/// Rates both answers by keys: `a` everywhere for the answer shown first, `b` for the other.
fn rate(browser: &Browser, a: &str, b: &str) {
    for (side, score) in [("a", a), ("b", b)] {
        for aspect in ASPECTS {
            tab_to(browser, &format!("at.name === '{side}_{aspect}'"));
            browser.press(&[score]);
        }
    }
}

fn checked(browser: &Browser, name: &str) -> Value {
    browser.value(&format!("document.querySelector('input[name={name}]:checked')?.value ?? null"))
}

/// What the page shows as A, by the words only one system uses.
fn shown_first(browser: &Browser) -> String {
    let text = browser.words("document.querySelector('.card.a .answer').innerText");
    let word =
        ["first", "second"].into_iter().find(|word| text.contains(&format!("The {word} answer")));
    word.unwrap_or_else(|| panic!("{text}")).to_owned()
}

fn tells_nothing(text: &str, place: &str) {
    let lower = text.to_lowercase();
    // Secrets are hexadecimal: what they may spell is no name.
    for name in ["alpha", "beta-", "gpt", "flipped"] {
        assert!(!lower.contains(name), "{name} stands in {place}:\n{text}");
    }
}

/// Nothing that the browser loaded for the page names a system or comes from elsewhere.
fn loads_nothing_else(browser: &Browser, origin: &str) {
    let loaded = browser.value(
        "[location.href, ...performance.getEntriesByType('resource').map((entry) => entry.name)]",
    );
    let loaded = loaded.as_array().expect("a list");
    assert!(loaded.len() >= 3, "{loaded:?}");
    for one in loaded {
        let url = one.as_str().expect("an address");
        let path = url.strip_prefix(origin).unwrap_or_else(|| panic!("{url} is elsewhere"));
        let address = origin.trim_start_matches("http://").parse().expect("an address");
        // Saving is no GET; what it replies has a test of its own.
        if !path.ends_with("/draft") {
            tells_nothing(&get(address, path).body, url);
        }
    }
    tells_nothing(&browser.source(), "the page");
}

#[test]
fn two_annotators_judge_by_keyboard_and_nothing_tells_the_systems() {
    let Some(browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    serving(&instances(), &folder, render, |origin| {
        let ada = ada_judges(&browser, origin);
        ben_looks_on_a_phone(&browser, origin, &ada);
        browser.open(&format!("{origin}/a/0123456789abcdef/1"));
        assert!(browser.words("document.body.innerText").contains("nothing at this address"));
        let store = Store::open(&folder.path().join("study.db")).expect("readable");
        what_was_entered_is_stored(&store, &ada);
    });
}

/// Ada rates every question; returns each with what stood first.
fn ada_judges(browser: &Browser, origin: &str) -> Vec<(String, String)> {
    browser.open(&format!("{origin}/a/{ADA}"));
    tells_nothing(&browser.source(), "the list");
    tab_to(browser, "at.matches('a.button')");
    browser.press(&[ENTER]);
    browser.until("location.pathname.endsWith('/1') && document.readyState === 'complete'");
    loads_nothing_else(browser, origin);
    assert_eq!(browser.value("document.querySelectorAll('script:not([src])').length"), 0);
    every_field_has_a_name(browser);

    // A citation opens its reference.
    tab_to(browser, "at.matches('a.cite')");
    browser.press(&[ENTER]);
    browser.until("document.activeElement.matches('.passage') && document.activeElement.closest('details').open");

    let mut ada =
        vec![(browser.words("document.querySelector('h1').textContent"), shown_first(browser))];
    rate(browser, "4", "2");
    browser.until("document.getElementById('status').textContent === 'Saved.'");
    browser.reload();
    for aspect in ASPECTS {
        assert_eq!(checked(browser, &format!("a_{aspect}")), "4");
        assert_eq!(checked(browser, &format!("b_{aspect}")), "2");
    }
    assert_eq!(checked(browser, "better"), Value::Null);
    assert_eq!(ada[0].1, shown_first(browser), "the order stays");

    // Without a preference the form is not sent, and the focus goes where it is missing.
    tab_to(browser, "at.name === 'a_organization'");
    browser.chord(CONTROL, ENTER);
    browser.until("document.activeElement.name === 'better'");
    browser.press(&[SPACE]);
    tab_to(browser, "at.name === 'explanation'");
    browser.write("Clearer, & \"shorter\".");
    browser.chord(CONTROL, ENTER);
    browser.until("location.pathname.endsWith('/2') && document.readyState === 'complete'");

    for place in 2..=QUESTIONS {
        ada.push((browser.words("document.querySelector('h1').textContent"), shown_first(browser)));
        rate(browser, "3", "5");
        tab_to(browser, "at.name === 'better'");
        browser.press(&[SPACE, RIGHT]);
        assert_eq!(checked(browser, "better"), "tie");
        tab_to(browser, "at.matches('button[value=submit]')");
        browser.press(&[ENTER]);
        browser.until(&format!(
            "!location.pathname.endsWith('/{place}') && document.readyState === 'complete'"
        ));
    }
    assert!(browser.words("document.body.innerText").contains("All done"));
    assert_eq!(browser.value("document.querySelector('progress').value"), QUESTIONS);

    ada.sort();
    ada
}

/// Ben sees at least one question the other way round, and takes one step back.
fn ben_looks_on_a_phone(browser: &Browser, origin: &str, ada: &[(String, String)]) {
    browser.open(&format!("{origin}/a/{BEN}"));
    browser.resize(360, 740);
    let mut ben = Vec::new();
    for place in 1..=QUESTIONS {
        browser.open(&format!("{origin}/a/{BEN}/{place}"));
        let width =
            browser.value("document.documentElement.scrollWidth").as_u64().expect("a width");
        assert!(width <= 360, "{width} pixels on a phone of 360");
        ben.push((browser.words("document.querySelector('h1').textContent"), shown_first(browser)));
    }
    tab_to(browser, "at.name === 'a_coverage'");
    browser.chord(SHIFT, TAB);
    assert_eq!(browser.value("document.activeElement.matches('summary, input')"), true);
    ben.sort();
    assert_eq!(ada.len(), ben.len());
    assert!(ada.iter().zip(&ben).all(|(a, b)| a.0 == b.0), "both have the same questions");
    assert_ne!(ada, ben, "the seed shows at least one the other way round");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn every_field_has_a_name(browser: &Browser) {
    let nameless = browser.value(
        "[...document.querySelectorAll('input:not([type=hidden]), textarea, button, progress, fieldset, section')].filter((one) => \
         !(one.labels?.length && one.labels[0].textContent.trim()) && !one.textContent.trim() && \
         !one.getAttribute('aria-labelledby')).map((one) => one.outerHTML.slice(0, 80))",
    );
    assert_eq!(nameless, json!([]));
    let bare = browser.value("[...document.querySelectorAll('fieldset')].filter((one) => !one.querySelector('legend')).length");
    assert_eq!(bare, 0);
}

/// The first question Ada rated with 4, 2 and A; the others with 3, 5 and a tie.
fn what_was_entered_is_stored(store: &Store, ada: &[(String, String)]) {
    let kept = store.evaluations().expect("readable");
    assert_eq!(kept.len(), QUESTIONS);
    assert_eq!(kept[0].explanation, "Clearer, & \"shorter\".");
    let instances = store.instances().expect("readable");
    for (at, evaluation) in kept.iter().enumerate() {
        assert_eq!((evaluation.annotator.as_str(), evaluation.latest), ("Ada", true));
        let instance = instances.iter().find(|one| one.id == evaluation.instance).expect("there");
        let (_, first) =
            ada.iter().find(|(question, _)| *question == instance.question).expect("seen");
        let shown = usize::from(first == "second");
        let ratings = evaluation.ratings.as_ref().expect("rated");
        let (a, b) = if at == 0 { (4, 2) } else { (3, 5) };
        assert_eq!((ratings.scores[shown], ratings.scores[1 - shown]), ([a; 4], [b; 4]));
        let better = match (at, shown) {
            (0, 0) => Preference::First,
            (0, _) => Preference::Second,
            _ => Preference::Tie,
        };
        assert_eq!(ratings.preference, better);
    }
}
