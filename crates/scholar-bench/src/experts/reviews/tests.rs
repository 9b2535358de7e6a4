use scholar_core::SplitMix64;

use super::*;

/// Items of two dimensions.
const ITEMS: [(&str, &str); 4] = [
    ("soundness_useful", "Useful"),
    ("contribution_useful", "Useful"),
    ("soundness_refine", "Refine"),
    ("contribution_refine", "Refine"),
];

/// A study in which `ours` is more useful by `effect` and refines no better, participants differing by 1.5 and guessing blindly.
fn simulated(participants: usize, effect: f64, seed: u64) -> Vec<ReviewRecord> {
    let mut random = SplitMix64::new(seed);
    let mut records = Vec::new();
    for who in 0..participants {
        let own = 1.5 * random.normal();
        let first = random.below(2);
        for nth in 0..4 {
            let system = ["ours", "theirs"][(first + nth) % 2];
            let scores = ITEMS.map(|(item, dimension)| {
                let more = if system == "ours" && dimension == "Useful" { effect } else { 0.0 };
                let value = (5.5 + own + more + random.normal()).round().clamp(1.0, 10.0);
                ReviewValue {
                    item: item.to_owned(),
                    dimension: dimension.to_owned(),
                    part: "soundness".to_owned(),
                    value: (1..=10)
                        .find(|one| (f64::from(*one) - value).abs() < 0.5)
                        .expect("1 to 10"),
                }
            });
            records.push(ReviewRecord {
                schema: REVIEW_SCHEMA.to_owned(),
                instance: format!("plan-{who}-{nth}"),
                plan_words: 600 + random.below(200),
                annotator: format!("p{who}"),
                version: 1,
                latest: true,
                started: "2026-01-01T00:00:00Z".to_owned(),
                submitted: "2026-01-01T01:00:00Z".to_owned(),
                system: system.to_owned(),
                words: 900,
                scores: scores.to_vec(),
                guessed_specialised: (random.below(4) > 0).then(|| random.below(2) == 0),
                explanation: String::new(),
                comment: String::new(),
            });
        }
    }
    records
}

fn of<'a>(summary: &'a ReviewSummary, name: &str) -> &'a DimensionEffect {
    summary.dimensions.iter().find(|one| one.dimension == name).expect("a dimension")
}

/// From exported lines to the effect that was put in, and none where none was.
#[test]
fn a_simulated_study_gives_back_its_effect() {
    let records = simulated(60, 1.0, 11);
    let lines: String = records
        .iter()
        .map(|record| serde_json::to_string(record).expect("plain values") + "\n")
        .collect();
    assert!(is_of_reviews(&lines));
    let read = read_review_records(&lines).expect("own lines");
    assert_eq!(read, records);
    let summary = effects(&read, Some("ours")).expect("two systems");
    assert_eq!((summary.evaluations, summary.participants, summary.passed_over), (240, 60, 0));
    let useful = of(&summary, "Useful");
    let effect = useful.effect.expect("a fit");
    // In deviations of the outcome: participants 1.5, a mean of two items 0.71, the effect's own share.
    let values: Vec<f64> =
        [useful.system, useful.baseline].map(|sample| sample.expect("both systems").mean).to_vec();
    assert!((values[0] - values[1] - 1.0).abs() < 0.3, "{values:?}");
    assert!((effect.estimate - 0.55).abs() < 0.15 && effect.p < 1e-6, "{effect:?}");
    assert!(useful.participants_share.is_some_and(|share| share > 0.6), "{useful:?}");
    let refine = of(&summary, "Refine").effect.expect("a fit");
    assert!(refine.estimate.abs() < 3.0 * refine.se, "{refine:?}");
    assert!(summary.blindness.expect("guesses").p > 0.05, "{:?}", summary.blindness);
    assert!(summary.detail.expect("plans").p > 0.05, "{:?}", summary.detail);
    // The other way round, the effect has the other sign.
    let reversed = effects(&read, Some("theirs")).expect("two systems");
    let other = of(&reversed, "Useful").effect.expect("a fit");
    assert!((other.estimate + effect.estimate).abs() < 1e-6);
    let text = summary.markdown();
    assert!(text.contains("| Useful | 240 | +0.") && text.contains("0.63* †"), "{text}");
}

/// Of a hundred studies without an effect about five say that there is one.
#[test]
fn without_an_effect_few_studies_find_one() {
    let found = (0..100)
        .filter(|seed| {
            let summary = effects(&simulated(18, 0.0, *seed), Some("ours")).expect("two systems");
            of(&summary, "Useful").effect.expect("a fit").p < 0.05
        })
        .count();
    assert!((1..=13).contains(&found), "{found}");
}

#[test]
fn only_latest_submissions_count_and_two_systems_are_needed() {
    let mut records = simulated(6, 1.0, 3);
    records[0].latest = false;
    records[1].scores.clear();
    let summary = effects(&records, None).expect("two systems");
    assert_eq!((summary.system.as_str(), summary.baseline.as_str()), ("ours", "theirs"));
    assert_eq!((summary.evaluations, summary.passed_over), (22, 1));
    assert!(effects(&records, Some("nobody")).is_err_and(|error| error.contains("nobody")));
    records.retain(|record| record.system == "ours");
    assert!(effects(&records, None).is_err_and(|error| error.contains("1 systems")));
    assert!(read_review_records("{}").is_err_and(|error| error.contains("line 1")));
    assert!(!is_of_reviews("{\"schema\": \"openscholar.expert-evaluation/1\"}"));
}
