//! Studies of review reports: one system a plan, blind.

use super::*;

const SEEN: [&str; 2] = ["report of the first kind", "report of the second kind"];

fn reviews(n: usize) -> Vec<Instance> {
    (0..n)
        .map(|n| Instance {
            kind: Kind::Review,
            plan: format!("# Plan {n}\n\nWe will measure <i>this</i>."),
            participants: vec!["Ada".to_owned()],
            ..Instance::comparison(
                format!("ai_{n}"),
                format!("Plan {n}"),
                Vec::new(),
                [0, 1].map(|at| Answer {
                    system: SYSTEMS[at].to_owned(),
                    text: format!("{} on plan {n} [1]", SEEN[at]),
                    references: vec![Reference {
                        number: 1,
                        title: "a paper".to_owned(),
                        text: String::new(),
                        url: None,
                    }],
                }),
            )
        })
        .collect()
}

fn filled(value: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> =
        review::fields().iter().map(|field| (field.name.clone(), value.to_owned())).collect();
    fields.push(("guess".to_owned(), "unsure".to_owned()));
    fields
}

fn sent<'a>(
    fields: &'a [(String, String)],
    more: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let own = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    own.chain(more.iter().copied()).collect()
}

#[test]
fn each_plan_shows_one_report_and_each_system_comes_as_often_as_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("study.db");
    let mut store = Store::open_or_create(&path, Some(5)).expect("made");
    let people = [("Ada", ADA), ("Ben", BEN)]
        .map(|(name, token)| NewAnnotator { name: name.to_owned(), token: token.to_owned() });
    let added = store.add(&reviews(4), &people, None).expect("added");
    assert_eq!((added.assignments, added.short), (4, 4), "the plans are Ada's, nobody else may");
    serving(store, |address| {
        let mut kinds = [0, 0];
        for place in 1..=4 {
            let page = get(address, &format!("/a/{ADA}/{place}")).body;
            let seen = SEEN.map(|words| usize::from(page.contains(words)));
            assert_eq!(seen[0] + seen[1], 1, "one report a plan: {page}");
            kinds = [kinds[0] + seen[0], kinds[1] + seen[1]];
            for name in SYSTEMS {
                assert!(!page.contains(name) && !page.contains("ai_"), "{page}");
            }
            assert!(page.contains("The research plan") && !page.contains("<i>this"), "{page}");
            assert!(page.contains("name=\"contribution_focus_criteria\" value=\"10\""), "{page}");
            assert!(!page.contains("name=\"better\""), "nothing is compared");
        }
        assert_eq!(kinds, [2, 2]);
        assert_eq!(get(address, &format!("/a/{BEN}/1")).status, 404);
    });
}

#[test]
fn a_report_is_rated_submitted_and_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("study.db");
    let mut store = Store::open_or_create(&path, Some(5)).expect("made");
    let ada = [NewAnnotator { name: "Ada".to_owned(), token: ADA.to_owned() }];
    store.add(&reviews(2), &ada, None).expect("added");
    serving(store, |address| {
        let at = format!("/a/{ADA}/1");
        let half = sent(&[], &[("page", "p"), ("soundness_useful", "7"), ("action", "submit")]);
        let reply = post(address, &at, &half);
        assert_eq!(reply.status, 422);
        assert!(
            reply.body.contains("On contribution: ")
                && reply.body.contains("value=\"7\" required checked"),
            "{}",
            reply.body
        );
        let foreign = post(address, &at, &[("page", "p"), ("better", "a")]);
        assert_eq!(foreign.status, 400, "a comparison's field");
        let wrong = post(address, &at, &[("page", "p"), ("soundness_useful", "11")]);
        assert_eq!(wrong.status, 400);

        let fields = filled("5");
        let whole = sent(
            &fields,
            &[("page", "p"), ("seq", "2"), ("action", "submit"), ("comment", "fine")],
        );
        assert_eq!(post(address, &at, &whole).status, 303);
        assert!(get(address, &format!("/a/{ADA}")).body.contains("1 of 2 done"));
        let again = filled("6");
        let whole = sent(&again, &[("page", "p"), ("seq", "3"), ("action", "submit")]);
        assert_eq!(post(address, &at, &whole).status, 303);
        let skip = [("page", "q"), ("comment", "not my field"), ("action", "skip")];
        assert_eq!(post(address, &format!("/a/{ADA}/2"), &skip).status, 303);
        assert!(get(address, &format!("/a/{ADA}")).body.contains("All done"));
    });
    let store = Store::open(&path).expect("readable");
    let found = store.evaluations().expect("readable");
    let told: Vec<(bool, Option<u8>)> = found
        .iter()
        .map(|one| (one.latest, one.review.as_ref().map(|review| review.scores[0].value)))
        .collect();
    assert_eq!(told, [(false, Some(5)), (true, Some(6)), (true, None)]);
    let review = found[1].review.as_ref().expect("rated");
    assert_eq!((review.scores.len(), review.guess), (21, Guess::Unsure));
    assert!(found.iter().all(|one| one.ratings.is_none()));
}
