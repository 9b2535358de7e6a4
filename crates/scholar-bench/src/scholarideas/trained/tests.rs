use std::sync::Arc;

use scholar_core::SplitMix64;
use scholar_testing::{FakeAttributor, FakeEncoder, FakeSentenceClassifier};

use super::agreement::agreement;
use super::*;
use crate::scholarideas::model::{Axis, Idea, IdeaId, Rubric, RubricType, Severity};
use crate::scholarideas::reports::Report;

fn models() -> CoverageModels {
    CoverageModels {
        encoder: Arc::new(FakeEncoder::new(64)),
        attributor: Arc::new(FakeAttributor::new()),
        classifier: Arc::new(FakeSentenceClassifier::new(64)),
    }
}

#[test]
fn the_prose_of_a_report_is_read_and_nothing_else() {
    let report = "# Soundness\n\n- **Weak baselines.** The plan compares with nothing [(Li et al., 2020-01)](https://doi.org/10.1/a(b)c). See [the survey](https://x.example) there.\n\nShort.\n\n## References\n\nLi. A long title of a paper. 2020.";
    let sentences = sentences_of(report);
    assert_eq!(sentences.len(), 2, "{sentences:?}");
    assert!(sentences[0].starts_with("The plan compares with nothing"), "{sentences:?}");
    assert_eq!(sentences[1], "See the survey there.");
    assert!(!sentences.concat().contains("10.1"));
    assert_eq!(without_links("[open and [3](u) end"), "[open and  end");
}

#[test]
fn a_point_that_is_made_is_nearer_than_one_that_is_not() {
    let report = "The evaluation uses one dataset of English news only. Hyperparameters are tuned on the test set.";
    let statements =
        ["The evaluation uses only one dataset of news.", "Enzyme kinetics were ignored."];
    let found = futures::executor::block_on(measure(&models(), report, &statements));
    let found = found.expect("no failure").expect("sentences");
    let [made, missed] = [found[0].features.all(), found[1].features.all()];
    assert!(made.iter().zip(missed).all(|(made, missed)| *made > missed), "{made:?} {missed:?}");
    assert!(found[0].sentence.contains("one dataset"));
    let empty = futures::executor::block_on(measure(&models(), "# Only a heading", &statements));
    assert_eq!(empty.expect("no failure"), None);
}

fn rubric(nth: usize) -> Rubric {
    Rubric {
        statement: format!("p{nth}"),
        rubric_type: RubricType::Weakness,
        axis: Axis::Soundness,
        severity: Severity::Major,
    }
}

/// Rows whose grade follows two of the features, with noise.
fn rows(ideas: std::ops::Range<u32>, seed: u64) -> Vec<CalibrationRow> {
    let mut random = SplitMix64::new(seed);
    let mut rows = Vec::new();
    for number in ideas {
        for nth in 0..8 {
            let features = Features {
                nearest: random.unit(),
                nearest_three: random.unit(),
                words: random.unit(),
                support: random.unit(),
                answers: 0.5,
            };
            let grade =
                1.0 + 2.2 * features.nearest + 1.8 * features.support + 0.4 * random.normal();
            let idea = IdeaId { discipline: crate::scholarideas::model::Discipline::Ai, number };
            rows.push(CalibrationRow {
                idea,
                rubric: rubric(nth),
                features,
                score: grade.round().clamp(1.0, 5.0),
            });
        }
    }
    rows
}

#[test]
fn what_is_calibrated_agrees_on_other_ideas_and_only_those_are_reported() {
    let calibration =
        Calibration::fit(&rows(1..21, 3), models().names(), "somebody").expect("enough rows");
    assert_eq!((calibration.rubrics, calibration.ideas.len()), (160, 20));
    let others = [("ours".to_owned(), rows(16..46, 4)), ("theirs".to_owned(), rows(30..40, 5))];
    let report = agreement(&calibration, &others);
    assert_eq!(report.left_out, 40, "five ideas were used for calibration");
    let all = &report.systems[0];
    assert_eq!((all.system.as_str(), all.n, all.ideas, report.enough), ("all", 280, 25, true));
    assert!(all.pearson.is_some_and(|r| r.mean > 0.8 && r.low > 0.7), "{all:?}");
    assert!(
        all.kappa.is_some_and(|kappa| kappa > 0.6) && all.within_one.is_some_and(|one| one > 0.95)
    );
    assert!(all.error < 0.6 * all.error_of_mean, "{all:?}");
    let (judged, measured) = (all.judged.expect("values").mean, all.measured.expect("values").mean);
    assert!((judged - measured).abs() < 0.15, "{judged} {measured}");
    let names: Vec<&str> = report.systems.iter().map(|one| one.system.as_str()).collect();
    assert_eq!(names, ["all", "ours", "theirs"]);
    let text = report.markdown(&calibration);
    assert!(text.contains("| all | 280 | 25 |") && !text.contains("too few"), "{text}");
    let few = agreement(&calibration, &[("ours".to_owned(), rows(30..34, 6))]);
    assert!(!few.enough && few.markdown(&calibration).contains("too few to rely on"));
}

#[test]
fn grades_stay_in_their_range_and_rise_with_nearness() {
    let calibration =
        Calibration::fit(&rows(1..11, 3), models().names(), "somebody").expect("enough rows");
    let grade = |nearest: f64, support: f64| {
        calibration.grade(&Features {
            nearest,
            nearest_three: 0.5,
            words: 0.5,
            support,
            answers: 0.5,
        })
    };
    let (low, middle, high) = (grade(-1.0, 0.0), grade(0.5, 0.5), grade(1.0, 1.0));
    assert!(1.0 <= low && low < middle && middle < high && high <= 5.0, "{low} {middle} {high}");
}

#[test]
fn calibrations_are_for_their_models_and_need_grades() {
    let names = models().names();
    let calibration = Calibration::fit(&rows(1..11, 3), names.clone(), "somebody").expect("enough");
    let text = serde_json::to_string(&calibration).expect("plain values");
    assert_eq!(Calibration::parse(&text, &names).expect("own file"), calibration);
    let other = ModelNames { encoder: "another".to_owned(), ..names.clone() };
    let error = Calibration::parse(&text, &other).expect_err("other models").to_string();
    assert!(error.contains("with fake-encoder-64"), "{error}");
    assert!(matches!(Calibration::parse("{}", &names), Err(CalibrationError::Malformed(_))));
    let few = Calibration::fit(&rows(1..3, 3), names.clone(), "x");
    assert!(matches!(few, Err(CalibrationError::TooFew(16))));
    let mut flat = rows(1..11, 3);
    flat.iter_mut().for_each(|row| row.score = 2.0);
    assert!(matches!(Calibration::fit(&flat, names, "x"), Err(CalibrationError::Constant)));
}

#[test]
fn every_rubric_with_a_report_is_measured() {
    let idea = |name: &str| Idea {
        id: name.parse().expect("a name"),
        text: "plan".to_owned(),
        cutoff: "2024-01-01".parse().expect("a date"),
        rubrics: vec![rubric(1), rubric(2)],
    };
    let dataset = Dataset { ideas: ["ai_1", "ai_2", "ai_3"].map(idea).into() };
    let report = |text: &str| Report { text: text.to_owned(), evidence: None };
    let reports: Reports = [
        ("ai_1".parse().expect("a name"), report("A sentence about p1 and more.")),
        ("ai_2".parse().expect("a name"), report("# Heading")),
    ]
    .into();
    let calibration =
        Calibration::fit(&rows(1..11, 3), models().names(), "somebody").expect("enough rows");
    let (models, mut done) = (models(), 0);
    let mut progress = || done += 1;
    let grading = grade_all(&models, &calibration, &dataset, &reports, &mut progress);
    let grades = futures::executor::block_on(grading).expect("no failure");
    let scored: Vec<bool> = grades.iter().map(|grade| grade.score().is_some()).collect();
    assert_eq!((scored, done), (vec![true, true, false, false], 2));
    let rows =
        futures::executor::block_on(calibration_rows(&models, &grades, &reports, &mut || {}));
    assert_eq!(rows.expect("no failure").len(), 2);
}
