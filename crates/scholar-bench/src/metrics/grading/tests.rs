use super::*;

#[test]
fn grades_behind_the_marker() {
    let check = |reply: &str, expected: Option<u8>| {
        assert_eq!(grade(reply), expected, "{reply:?}");
    };
    check("Good. [RESULT] 4", Some(4));
    check("Good. [RESULT] 4</s>", Some(4));
    check("Good. [RESULT] 4 ", Some(4));
    check("Good. [RESULT] 6", None);
    check("Good. the overall score is 3", None);
    check("Good. [RESULT] (5)", Some(5));
    check("Good. [RESULT]: **2**", Some(2));
    check("Good. [RESULT] 4/5", Some(4));
    check("Good. [RESULT] 4.5", None);
    check("Good. [RESULT] 4.", Some(4));
    check("Good. [RESULT] 45", None);
    check("[RESULT] 2 was the old one. [RESULT] 3\nmore", Some(3));
    check("[RESULT] none; so the overall score is 2.", None);
    check("[RESULT] 3\nmore", Some(3));
    check("12345678", None);
    check("123456783", None);
    check("", None);
}

#[test]
fn replies_without_a_grade_are_counted() {
    let grades = [
        ("a".to_owned(), Judged::Read(4)),
        ("b".to_owned(), Judged::Unreadable("I cannot".to_owned())),
        ("c".to_owned(), Judged::Read(2)),
    ];
    let summary = column("organization", &grades).summary(1);
    assert!(summary.estimate.is_some_and(|estimate| (estimate.mean - 3.0).abs() < 1e-12));
    assert_eq!((summary.n, summary.left_out["no grade in the judge's reply"].count), (2, 1));
}

#[test]
fn the_majority_of_several_grades() {
    assert_eq!(majority(&[4, 5, 4]), Some(4));
    assert_eq!(majority(&[5, 3]), Some(3));
    assert_eq!(majority(&[]), None);
}

#[test]
fn answers_meet_references_by_question() {
    let found = align(["B  b?", "a?", "a?", "x?"], ["a?", "b b?", "c?", "A?"]);
    assert_eq!(found.pairs, [(0, 1), (1, 0), (2, 3)]);
    assert_eq!(found.without_reference, [3]);
    assert_eq!(found.unanswered, [2]);
}

#[test]
fn published_rubrics_are_read() {
    let text = r#"[{"criteria_description": "Focus", "score1_description": "a", "score2_description": "b",
        "score3_description": "c", "score4_description": "d", "score5_description": "e",
        "use_title": true, "use_docs": false, "aspect": "relevance"}]"#;
    let rubrics = read_rubrics(text, "rubrics.json").expect("one rubric");
    assert_eq!(rubrics[0].levels(), ["a", "b", "c", "d", "e"]);
    assert!(rubrics[0].use_title && !rubrics[0].use_docs);
    let error = read_rubrics("[\n{\"aspect\": 3}]", "rubrics.json").expect_err("no rubric");
    assert_eq!(error.to_string(), "rubrics.json: line 2 is not a grading rubric");
}
