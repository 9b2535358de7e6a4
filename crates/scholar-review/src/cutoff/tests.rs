use scholar_core::PaperId;

use super::*;

const DAY: Date = Date::constant(2024, 6, 1);

fn idea() -> Idea {
    Idea::read(
        "# Research Plan: Adapters for Retrieval\n## Problem\nIt is unknown whether adapters help dense \
retrieval in new domains with few labelled queries.\n## Method\nWe train one adapter for each of nine \
domains and measure ranking quality against full fine-tuning.",
    )
    .expect("an idea")
}

fn paper(title: &str, year: Option<i16>, day: Option<Date>) -> PaperMeta {
    PaperMeta { year, published: day, ..PaperMeta::new(PaperId::Pmid(1), title) }
}

#[test]
fn the_day_itself_a_bare_year_and_no_date_are_out() {
    let guard = Guard::of(&idea(), Some(Cutoff::strict(DAY)));
    let check = |paper: PaperMeta, expected| assert_eq!(guard.admits(&paper, None), expected);
    check(paper("x", None, Some(Date::constant(2024, 5, 31))), Ok(()));
    check(paper("x", None, Some(DAY)), Err(Refusal::TooLate));
    check(paper("x", Some(2024), None), Err(Refusal::TooLate));
    check(paper("x", Some(2023), None), Ok(()));
    check(paper("x", None, None), Err(Refusal::UnknownDate));
    let upstream = Cutoff { bound: DateBound::Inclusive, unknown: UnknownDates::Keep, day: DAY };
    let lenient = Guard::of(&idea(), Some(upstream));
    assert_eq!(lenient.admits(&paper("x", None, Some(DAY)), None), Ok(()));
    assert_eq!(lenient.admits(&paper("x", None, None), None), Ok(()));
    assert_eq!(Guard::of(&idea(), None).admits(&paper("x", None, None), None), Ok(()));
}

#[test]
fn the_ideas_own_paper_is_known_by_title_or_text() {
    let guard = Guard::of(&idea(), None);
    let own = paper("Adapters for retrieval.", Some(2020), None);
    assert_eq!(guard.admits(&own, None), Err(Refusal::SameTitle));
    let renamed = paper("Small modules", Some(2020), None);
    let copy = "We train an adapter for each of nine domains and measure the ranking quality against full \
fine-tuning.";
    assert_eq!(guard.admits(&renamed, Some(copy)), Err(Refusal::SameText));
    let near =
        "We train rankers on queries of many domains and report the quality of zero-shot transfer.";
    assert_eq!(guard.admits(&renamed, Some(near)), Ok(()));
}

proptest::proptest! {
    /// What the filter of a request accepts, the guard admits, and the other way round: no route knows another rule.
    #[test]
    fn filter_and_guard_are_one_rule(
        year in proptest::option::of(2022_i16..2026),
        day in proptest::option::of((2022_i16..2026, 1_i8..13, 1_i8..29)),
        own in proptest::bool::ANY, keep in proptest::bool::ANY, inclusive in proptest::bool::ANY,
    ) {
        let cutoff = Cutoff {
            day: DAY,
            bound: if inclusive { DateBound::Inclusive } else { DateBound::Strict },
            unknown: if keep { UnknownDates::Keep } else { UnknownDates::Drop },
        };
        let guard = Guard::of(&idea(), Some(cutoff));
        let title = if own { "adapters for Retrieval" } else { "other" };
        let paper = paper(title, year, day.and_then(|(y, m, d)| Date::new(y, m, d).ok()));
        proptest::prop_assert_eq!(guard.filter().accepts(&paper), guard.admits(&paper, None).is_ok());
        if let (Some(day), Ok(())) = (paper.latest_day(), guard.admits(&paper, None)) {
            proptest::prop_assert!(day < cutoff.first_refused());
        }
    }
}
