//! Text made to be obeyed, on the pages: shown, and nothing of it has become an element or an attribute.

use std::collections::BTreeSet;

use scholar_testing::hostile::{STRINGS, obeyed};

use super::*;

fn instance(text: &str) -> Instance {
    let question = format!("Is it {text}?");
    let answers = [0, 1].map(|at| Answer {
        system: SYSTEMS[at].to_owned(),
        text: format!("{} {text} [1]", ["first answer", "second answer"][at]),
        references: vec![Reference {
            number: 1,
            title: text.to_owned(),
            text: text.to_owned(),
            url: Some(text.to_owned()),
        }],
    });
    Instance::comparison("one".to_owned(), question, Vec::new(), answers)
}

/// The pages of one comparison, and their elements with the names of their attributes.
fn pages(text: &str) -> (String, BTreeSet<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open_or_create(&folder.path().join("study.db"), Some(1)).expect("made");
    let ada = NewAnnotator { name: text.to_owned(), token: ADA.to_owned() };
    store.add(&[instance(text)], &[ada], None).expect("added");
    let mut html = String::new();
    serving(store, |address| {
        for path in [format!("/a/{ADA}"), format!("/a/{ADA}/1")] {
            let page = get(address, &path);
            assert_eq!(page.status, 200, "{}", page.body);
            html.push_str(&page.body);
        }
    });
    let mut found = BTreeSet::new();
    for tag in html.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("every element is closed");
        // Values stand between quotation marks, and no text has a bare one.
        let names: Vec<&str> = tag.split('"').step_by(2).collect();
        found.extend(names.join("").split_whitespace().map(str::to_owned));
    }
    (html, found)
}

#[test]
fn pages_have_the_elements_of_ours_alone() {
    let (_, ours) = pages("plain words");
    for hostile in STRINGS {
        let (html, found) = pages(&hostile.text());
        let shown = obeyed(&html);
        assert!(shown.is_empty(), "{}: {shown:?}", hostile.name);
        // A text is folded where it is long, and its addresses are links where they are of the web.
        let known = ["details", "/details", "summary", "/summary", "a", "/a", "href="];
        let foreign: Vec<&String> =
            found.difference(&ours).filter(|name| !known.contains(&name.as_str())).collect();
        assert!(foreign.is_empty(), "{}: {foreign:?}\n{html}", hostile.name);
        assert!(!html.contains("href=\"javascript"), "{}", hostile.name);
    }
}
