use serde_json::json;

use super::*;

#[test]
fn points_come_as_a_list_with_weights_and_kinds() {
    let reply = json!({"points": [
        {"kind": "Baselines", "weight": "Major weakness", "quotes": ["We compare."], "matter": "A.", "action": "B."},
        {"kind": "zebra", "weight": "strength", "quotes": "One text.", "matter": ["C.", "D."]},
        {"kind": "data", "weight": "minor", "quotes": null, "matter": "E."},
    ]});
    let points = parse(&reply).expect("points");
    let [first, second, third] = points.as_slice() else { panic!("{points:?}") };
    assert_eq!((first.kind, first.weight), (PointKind::Baseline, PointWeight::Major));
    assert_eq!((second.kind, second.matter.as_str()), (PointKind::Other, "C. D."));
    assert_eq!((second.quotes.as_slice(), third.quotes.len()), (&["One text.".to_owned()][..], 0));
    assert_eq!(parse(&reply["points"]), Ok(points), "a list alone is read");
    for (wrong, said) in [
        (json!({"points": []}), "empty"),
        (json!({"point": "x"}), "no list \"points\""),
        (json!([{"weight": "major", "matter": ""}]), "point 1 has no text"),
        (json!([{"weight": "huge", "matter": "x"}]), "\"huge\""),
    ] {
        assert!(parse(&wrong).is_err_and(|problem| problem.contains(said)), "{wrong}");
    }
}

#[test]
fn quotations_are_the_ideas_own_characters() {
    let idea = "We “compare” two models, the large one and\nthe small one. Nothing else.";
    let check = |quotes: &[&str], expected: &[&str]| {
        let quotes: Vec<String> = quotes.iter().map(|&one| one.to_owned()).collect();
        let found = located(&quotes, idea);
        let texts: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, expected);
        for one in &found {
            assert_eq!(one.span.slice(idea), Some(one.text.as_str()));
        }
    };
    check(
        &["the large one and the small one", "We \"compare\" two models", "we compare nothing"],
        &["the large one and\nthe small one", "We “compare” two models"],
    );
    check(&["two models", "the small one.", "the small one"], &["the small one."]);
}

#[test]
fn what_is_missing_is_said_in_so_many_words() {
    for text in [
        "No ablation of the reward is planned.",
        "The plan doesn't say who rates the answers.",
        "How the threshold is set remains unclear.",
        "It ignores the order of the items.",
        "Statistical power is left open.",
    ] {
        assert!(says_missing(text), "{text}");
    }
    for text in ["The users are experts.", "Fifty raters are too few.", "The note is noted."] {
        assert!(!says_missing(text), "{text}");
    }
}
