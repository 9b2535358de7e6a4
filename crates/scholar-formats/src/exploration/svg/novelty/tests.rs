use scholar_testing::hostile::{self, STRINGS};

use super::*;

fn map(rows: usize, text: &str) -> NoveltyMap {
    let row = |at: usize| NoveltyRow {
        name: format!("{text} ({at})"),
        title: format!("{text} title {at}"),
        number: at.is_multiple_of(2).then_some(at + 1),
        whole: Some(1.0 - at as f32 / 50.0),
        cells: vec![Some(0.9), Some(0.55), Some(0.2), None, Some(f32::NAN)],
    };
    let columns = (1..=5).map(|at| (format!("C{at}"), format!("{text} claim {at}"))).collect();
    NoveltyMap { title: text.to_owned(), columns, rows: (0..rows).map(row).collect() }
}

#[test]
fn forty_papers_stand_in_rows_of_their_own_and_more_are_counted() {
    let svg = map(43, "A paper").svg();
    assert_eq!(svg.matches("class=\"very-near\"").count(), ROWS + 1, "and the legend's");
    assert_eq!(svg.matches("class=\"near\"").count(), ROWS + 1);
    assert_eq!(svg.matches("class=\"further\"").count(), ROWS + 1);
    assert_eq!(svg.matches("class=\"bar\"").count(), ROWS);
    assert!(svg.contains("and 3 more papers") && svg.contains("A paper title 39"));
    assert!(!svg.contains("A paper title 40"));
    assert!(svg.contains("cosine 0.90") && !svg.contains("NaN"));
    assert!(map(0, "Nothing").svg().starts_with("<svg"));
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    for one in STRINGS {
        let svg = map(3, &one.text()).svg();
        assert!(hostile::obeyed(&svg).is_empty(), "{}", one.name);
        let lower = svg.to_lowercase();
        assert!(!lower.contains("<script") && !lower.contains("<img"), "{}", one.name);
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count(), "{}", one.name);
    }
}
