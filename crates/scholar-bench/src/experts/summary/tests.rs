use super::*;
use crate::experts::{Rated, SCHEMA};

/// A record: who, what, systems as shown, scores of both (all aspects alike), preference.
fn record(
    (annotator, instance): (&str, &str),
    shown: [&str; 2],
    scores: [u8; 2],
    preference: Shown,
) -> Record {
    let rated = |at: usize| Rated {
        system: shown[at].to_owned(),
        words: 100,
        citations: 3,
        scores: Some(Scores::new([scores[at]; 4])),
    };
    Record {
        schema: SCHEMA.to_owned(),
        instance: instance.to_owned(),
        question: "?".to_owned(),
        annotator: annotator.to_owned(),
        version: 1,
        latest: true,
        started: String::new(),
        submitted: String::new(),
        answers: [rated(0), rated(1)],
        preference: Some(preference),
        explanation: String::new(),
        quality: None,
        comment: String::new(),
    }
}

const NAMES: [&str; 2] = ["OS", "OS-GPT4o"];
const SWAPPED: [&str; 2] = ["OS-GPT4o", "OS"];

fn close(got: Option<f64>, want: f64) {
    assert!(got.is_some_and(|got| (got - want).abs() < 1e-9), "{got:?} is not {want}");
}

fn at(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|one| one.mean)
}

/// The reference code counts a win of `OS-GPT4o` for `OS` too, as the one name holds the other.
#[test]
fn winners_are_counted_by_whole_names_and_by_system_not_place() {
    let records = [
        record(("ada", "1"), NAMES, [2, 5], Shown::B),
        record(("ada", "2"), SWAPPED, [5, 2], Shown::A),
        record(("ada", "3"), SWAPPED, [5, 3], Shown::A),
        record(("ada", "4"), NAMES, [4, 4], Shown::Tie),
    ];
    let summary = summary(&records);
    let pair = &summary.pairs[0];
    assert_eq!((pair.first.as_str(), pair.second.as_str()), ("OS", "OS-GPT4o"));
    close(at(pair.outcomes.first), 0.0);
    close(at(pair.outcomes.second), 0.75);
    close(at(pair.win_rate), 0.125);
    assert_eq!((pair.majority.first, pair.majority.tie, pair.majority.second), (0, 1, 3));
    assert!((pair.majority.sign_test_p - 0.25).abs() < 1e-9);
    let [small, large] = &summary.systems[..] else { panic!("two systems") };
    close(at(small.scores["coverage"]), 11.0 / 4.0);
    close(at(large.scores["coverage"]), 19.0 / 4.0);
    close(at(small.useful), 0.25);
    close(at(large.useful), 1.0);
    close(pair.differences["usefulness"].map(|one| one.estimate.mean), -2.0);
    assert_eq!((summary.place.a, summary.place.b), (2, 1));
}

/// The reference code keeps usefulness of the last annotator only, and its page never got this far.
#[test]
fn every_annotator_counts_and_an_instance_counts_once() {
    let records = [
        record(("ada", "1"), NAMES, [5, 1], Shown::A),
        record(("ben", "1"), NAMES, [1, 1], Shown::B),
        record(("cem", "1"), NAMES, [1, 1], Shown::A),
        record(("ada", "2"), NAMES, [1, 5], Shown::B),
    ];
    let summary = summary(&records);
    close(at(summary.systems[0].useful), (1.0 / 3.0 + 0.0) / 2.0);
    close(at(summary.systems[0].scores["relevance"]), f64::midpoint(7.0 / 3.0, 1.0));
    assert_eq!((summary.judgements, summary.instances, summary.annotators), (4, 2, 3));
    let majority = summary.pairs[0].majority;
    assert_eq!((majority.first, majority.second), (1, 1));
}

#[test]
fn the_latest_record_counts_and_passing_over_takes_it_back() {
    let mut passed = record(("ben", "1"), NAMES, [1, 1], Shown::A);
    passed.preference = None;
    passed.answers.iter_mut().for_each(|answer| answer.scores = None);
    passed.quality = Some("hard".to_owned());
    let records = [
        record(("ada", "1"), NAMES, [5, 1], Shown::A),
        record(("ben", "1"), NAMES, [5, 1], Shown::A),
        record(("ada", "1"), NAMES, [1, 5], Shown::B),
        passed,
    ];
    let summary = summary(&records);
    assert_eq!((summary.submissions, summary.judgements, summary.passed_over), (4, 1, 1));
    close(at(summary.pairs[0].outcomes.second), 1.0);
    assert_eq!(summary.quality["hard"], 1);
}

#[test]
fn preferences_of_the_reference_code_are_the_earliest_that_remain() {
    let records = [
        record(("ada", "1"), NAMES, [5, 1], Shown::A),
        record(("ben", "1"), NAMES, [1, 5], Shown::B),
        // Ada's first record is gone, and her second comes after Ben's.
        record(("ada", "1"), NAMES, [3, 3], Shown::Tie),
        record(("ada", "2"), NAMES, [5, 1], Shown::A),
    ];
    let upstream = summary(&records).pairs[0].upstream;
    assert_eq!((upstream.first, upstream.tie, upstream.second), (0.5, 0.0, 0.5));
}

#[test]
fn agreement_is_strict_relaxed_merged_and_by_chance() {
    let mut records = Vec::new();
    for (instance, ada, ben) in [
        ("1", Shown::A, Shown::A),
        ("2", Shown::B, Shown::B),
        ("3", Shown::A, Shown::Tie),
        ("4", Shown::A, Shown::B),
    ] {
        records.push(record(("ada", instance), NAMES, [5, 1], ada));
        // Ben saw them the other way round.
        let swapped = match ben {
            Shown::A => Shown::B,
            Shown::Tie => Shown::Tie,
            Shown::B => Shown::A,
        };
        records.push(record(("ben", instance), SWAPPED, [2, 5], swapped));
    }
    records.push(record(("ada", "5"), NAMES, [5, 1], Shown::A));
    let agreement = summary(&records).agreement;
    assert_eq!((agreement.instances, agreement.pairs), (4, 4));
    close(agreement.strict, 0.5);
    close(agreement.relaxed, 0.625);
    close(agreement.ties_merged, 0.75);
    close(agreement.upstream_strict, 0.5);
    close(agreement.upstream_relaxed, 0.625);
    // By hand: observed 1/2; expected 3/4·1/4 + 0·1/4 + 1/4·2/4 = 5/16.
    close(agreement.kappa, (0.5 - 5.0 / 16.0) / (1.0 - 5.0 / 16.0));
    // Without instance 3: observed 2/3; expected 2/3·1/3 + 1/3·2/3 = 4/9.
    close(agreement.kappa_without_ties, (2.0 / 3.0 - 4.0 / 9.0) / (1.0 - 4.0 / 9.0));
    // By hand: eight values (four first, one tie, three second), two units of four disagree.
    close(agreement.alpha, 1.0 - 7.0 * (2.0 * 2.0) / (64.0 - 16.0 - 1.0 - 9.0));
    let scores = agreement.scores["coverage"];
    // The first system got 5 from both, the second 1 and 2.
    close(scores.same, 0.5);
    close(scores.within_one, 1.0);
}

#[test]
fn nothing_gives_dashes_and_no_numbers() {
    let empty = summary(&[]);
    assert!(empty.pairs.is_empty() && empty.agreement.strict.is_none());
    assert!(empty.markdown().contains("0 judgements"));
    let one = summary(&[record(("ada", "1"), NAMES, [5, 1], Shown::A)]);
    assert_eq!(one.agreement.alpha, None);
    let text = one.markdown();
    assert!(
        text.contains("| Cohen's κ | – |") && text.contains("## OS against OS-GPT4o"),
        "{text}"
    );
    let json = serde_json::to_string(&one).expect("serialises");
    assert_eq!(serde_json::from_str::<Summary>(&json).expect("reads"), one);
}

#[test]
fn records_travel_and_broken_ones_are_named() {
    let good = record(("ada", "1"), NAMES, [5, 1], Shown::A);
    let line = serde_json::to_string(&good).expect("serialises");
    assert_eq!(crate::experts::read_records(&format!("{line}\n\n")), Ok(vec![good]));
    for (from, to, says) in [
        ("expert-evaluation/1", "expert-evaluation/9", "schema"),
        ("\"coverage\":5", "\"coverage\":6", "6 is not a score"),
        ("OS-GPT4o", "OS", "both answers"),
        ("\"preference\":\"a\"", "\"preference\":null", "all there or none"),
        ("\"preference\":\"a\"", "\"preference\":\"x\"", "unknown variant"),
    ] {
        let broken = line.replacen(from, to, 1);
        let error = crate::experts::read_records(&format!("{line}\n{broken}")).expect_err(says);
        assert!(error.starts_with("line 2") && error.contains(says), "{error}");
    }
}
