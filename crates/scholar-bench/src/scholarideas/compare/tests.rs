use super::*;
use crate::scholarideas::coverage::GradeOutcome;
use crate::scholarideas::model::{Axis, Rubric, RubricType, Severity};

fn grade(idea: u32, nth: usize, score: Option<f64>) -> Grade {
    let rubric = Rubric {
        statement: format!("p{nth}"),
        rubric_type: RubricType::Weakness,
        axis: Axis::Soundness,
        severity: if nth == 0 { Severity::Major } else { Severity::Minor },
    };
    let outcome = match score {
        Some(score) => GradeOutcome::Graded { score, feedback: String::new() },
        None => GradeOutcome::Missing("unreadable".to_owned()),
    };
    Grade { idea: format!("ai_{idea}").parse().expect("a name"), rubric, outcome }
}

/// Ideas differ much, the systems little but always alike.
fn system(name: &str, more: f64) -> System {
    let grades = (1..=8).flat_map(|idea| {
        (0..4).map(move |nth| {
            let wobble = if (idea as usize + nth).is_multiple_of(2) { 0.2 } else { 0.0 };
            grade(idea, nth, Some(1.0 + f64::from(idea % 4) * 0.8 + wobble + more))
        })
    });
    System { name: name.to_owned(), grades: grades.collect() }
}

#[test]
fn what_welch_cannot_see_the_paired_tests_can() {
    let found = compare(&[system("ours", 0.3), system("theirs", 0.0)]);
    assert_eq!(found.systems.len(), 2);
    let overall = &found.against[0];
    assert_eq!((overall.slice.as_str(), overall.n, overall.ideas), ("overall", 32, 8));
    let difference = overall.difference.expect("paired");
    assert!((difference.estimate.mean - 0.3).abs() < 1e-9 && difference.p < 0.01, "{difference:?}");
    let effect = overall.effect.expect("a fit");
    assert!((effect.estimate - 0.3).abs() < 1e-6 && effect.p < 1e-6, "{effect:?}");
    assert!(overall.welch.expect("varied").p > 0.1, "{overall:?}");
    let margin = overall.margin.expect("ratios");
    assert!((margin.mean - 0.3 / overall.means[1]).abs() < 1e-9);
    let slices: Vec<&str> = found.against.iter().map(|one| one.slice.as_str()).collect();
    assert_eq!(slices, ["overall", "ai", "weakness", "soundness", "major", "minor"]);

    let text = markdown(&found);
    assert!(
        text.contains("| **ours** |") && text.contains("| ScholarEval-Claude † | 2.77 ± 1.40 † |"),
        "{text}"
    );
    assert!(text.contains("| o4-mini-deep-research † | 2.98 ± 0.90 † | 2.12 ± 1.04 † |"), "{text}");
    assert!(text.contains("| paper augmentation † | 2.42 ± 1.28 † |"), "{text}");
    assert!(text.contains("misses the paper's margin of +20 %"), "{text}");
}

#[test]
fn only_rubrics_that_both_have_a_grade_of_are_compared() {
    let ours = System {
        name: "ours".to_owned(),
        grades: vec![grade(1, 0, Some(3.0)), grade(1, 1, None), grade(2, 0, Some(5.0))],
    };
    let theirs = System {
        name: "theirs".to_owned(),
        grades: vec![grade(1, 0, Some(2.0)), grade(1, 1, Some(5.0)), grade(3, 0, Some(1.0))],
    };
    let systems = [ours, theirs];
    let found = compare(&systems);
    assert_eq!((found.against[0].n, found.against[0].means), (1, [3.0, 2.0]));
    assert_eq!(found.against[0].welch, None);
    let (all, some) = ideas_of(&systems);
    assert_eq!(all, ["ai_1".parse().expect("a name")]);
    assert_eq!(some.len(), 2);
    assert_eq!(compare(&systems[..1]).against, []);
    assert!(markdown(&found).contains("| 4.00 ("), "ours over its own rubrics");
}
