use super::*;

#[test]
fn a_summary_counts_what_it_leaves_out() {
    let mut column = Column::new("match");
    column.push("a", 1.0);
    column.push("b", 0.0);
    column.push("c", f64::NAN);
    column.push_result("d", Err("no reference".to_owned()));
    column.leave_out("e", "no reference");
    let summary = column.summary(1);
    assert_eq!(summary.n, 2);
    assert!(summary.estimate.is_some_and(|estimate| (estimate.mean - 0.5).abs() < 1e-12));
    assert_eq!(summary.left_out["no reference"].count, 2);
    assert_eq!(summary.left_out["no reference"].items, ["d", "e"]);
    assert_eq!(summary.left_out["not a number"].items, ["c"]);
    assert_eq!(summary.uniform, None);

    let json = serde_json::to_string(&column).expect("plain values");
    assert!(json.contains(r#"{"item":"a","value":1.0}"#), "{json}");
    assert!(json.contains(r#"{"item":"e","left_out":"no reference"}"#), "{json}");
    assert_eq!(serde_json::from_str::<Column>(&json).expect("own JSON"), column);
}

#[test]
fn columns_without_variation_are_noticed() {
    assert_eq!(uniform(&[0.0, 0.0, 0.0]), Some(Uniform::AllZero));
    assert_eq!(uniform(&[1.0, 1.0]), Some(Uniform::AllOne));
    assert_eq!(uniform(&[0.4, 0.4]), Some(Uniform::Constant));
    assert_eq!(uniform(&[0.0, 1.0]), None);
    assert_eq!(uniform(&[0.0]), None);
    assert_eq!(uniform(&[]), None);
    let summary = Column::new("rouge").summary(1);
    assert_eq!((summary.estimate, summary.n), (None, 0));
}
