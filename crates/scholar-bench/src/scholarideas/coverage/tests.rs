use std::sync::Arc;

use scholar_core::{PortErrorKind, Role};
use scholar_testing::{Reply, ScriptedGenerator};

use super::judge::{COVERAGE, Judging, judge_all};
use super::*;
use crate::judge::model::ModelJudge;
use crate::scholarideas::model::{Dataset, Idea};
use crate::scholarideas::reports::{Report, Reports};

fn rubric(statement: &str, rubric_type: RubricType, severity: Severity) -> Rubric {
    Rubric { statement: statement.to_owned(), rubric_type, axis: Axis::Soundness, severity }
}

fn dataset() -> Dataset {
    let idea = |name: &str, statements: &[&str]| Idea {
        id: name.parse().expect("a name"),
        text: format!("the plan of {name}"),
        cutoff: "2024-01-01".parse().expect("a date"),
        rubrics: statements
            .iter()
            .map(|text| rubric(text, RubricType::Weakness, Severity::Major))
            .collect(),
    };
    Dataset {
        ideas: vec![idea("ai_1", &["p1", "p2"]), idea("ai_2", &["p3"]), idea("eco_1", &["p4"])],
    }
}

fn reports(names: &[&str]) -> Reports {
    let report = |name: &&str| {
        let text = format!("the review of {name}");
        (name.parse().expect("a name"), Report { text, evidence: None })
    };
    names.iter().map(report).collect()
}

fn judging(scripted: ScriptedGenerator, names: &[&str], parallel: usize) -> Judging {
    let judge = ModelJudge::new(Arc::new(scripted));
    let (dataset, reports) = (dataset(), reports(names));
    futures::executor::block_on(judge_all(&judge, &dataset, &reports, parallel, &|_, _| {}))
}

#[test]
fn every_rubric_with_a_report_is_graded_and_what_cannot_be_read_is_missing() {
    let scripted = ScriptedGenerator::new("judge").answer("coverage", |request| {
        let asked = &request.messages.last().expect("a turn").content;
        Reply::from(match asked {
            text if text.contains("p1") => "It says so. [RESULT] 4",
            text if text.contains("p2") => "Five of five, I would say.",
            _ => "Nothing.\n[RESULT] (1)",
        })
    });
    let judging = judging(scripted, &["ai_1", "eco_1"], 3);
    assert_eq!(judging.incomplete, None);
    let found: Vec<(String, Option<f64>)> =
        judging.grades.iter().map(|one| (one.rubric.statement.clone(), one.score())).collect();
    let expected = [("p1", Some(4.0)), ("p2", None), ("p4", Some(1.0))];
    assert_eq!(found, expected.map(|(text, score)| (text.to_owned(), score)));
    let GradeOutcome::Missing(why) = &judging.grades[1].outcome else { panic!("{judging:?}") };
    assert_eq!(why, "Five of five, I would say.");
    let GradeOutcome::Graded { feedback, .. } = &judging.grades[0].outcome else { panic!() };
    assert_eq!(feedback, "It says so.");
}

#[test]
fn the_judge_sees_plan_review_and_point_and_no_system() {
    let messages = COVERAGE.render(false, &[("idea", "I"), ("report", "R"), ("statement", "S")]);
    assert_eq!(messages[0].role, Role::System);
    let text = &messages[1].content;
    assert!(text.contains("<plan>\nI\n</plan>") && text.contains("<point>\nS\n</point>"), "{text}");
    assert_eq!(COVERAGE.problem(), None);
}

#[test]
fn a_judge_that_dies_leaves_what_it_graded() {
    let scripted = ScriptedGenerator::new("judge")
        .reply("coverage", "[RESULT] 2")
        .reply("coverage", Reply::Fails(PortErrorKind::Unavailable, "gone".to_owned()));
    let judging = judging(scripted, &["ai_1", "ai_2"], 1);
    assert_eq!(judging.grades.len(), 1);
    assert!(
        judging.incomplete.is_some_and(|why| why.contains("2 rubrics") && why.contains("gone"))
    );
}

fn grade(idea: &str, statement: &str, score: Option<f64>) -> Grade {
    let outcome = match score {
        Some(score) => GradeOutcome::Graded { score, feedback: "said, \"so\"".to_owned() },
        None => GradeOutcome::Missing("a reply".to_owned()),
    };
    let rubric = rubric(statement, RubricType::Strength, Severity::Minor);
    Grade { idea: idea.parse().expect("a name"), rubric, outcome }
}

#[test]
fn grades_survive_their_file_and_a_wrong_one_is_told() {
    let grades = [grade("ai_1", "=x", Some(3.0)), grade("ai_1", "y", None)];
    let header: Vec<String> = COLUMNS.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(header).chain(grades.iter().map(Grade::cells)).collect();
    assert_eq!(rows[1][6], "3");
    assert_eq!(read_grades(&rows).expect("own rows"), grades);
    let mut guarded = rows.clone();
    guarded[1][1] = "'=x".to_owned();
    assert_eq!(read_grades(&guarded).expect("from a spreadsheet"), grades);

    let check = |change: &dyn Fn(&mut Vec<Vec<String>>), says: &str| {
        let mut rows = rows.clone();
        change(&mut rows);
        let error = read_grades(&rows).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    };
    check(&|rows| rows[2][6] = "6".to_owned(), "row 3: Score is \"6\"");
    check(&|rows| rows[2][6] = "NaN".to_owned(), "Score is");
    check(&|rows| rows[1][2] = "praise".to_owned(), "row 2: Type is");
    check(&|rows| rows[1][0] = "x".to_owned(), "Instance_ID is");
    check(&|rows| rows[0][6] = "Points".to_owned(), "no column Score");
    check(&|rows| rows[2][1] = "=x".to_owned(), "came before");
    check(&|rows| rows.clear(), "empty");
}

#[test]
fn means_are_over_rubrics_and_intervals_over_ideas() {
    let mut grades = Vec::new();
    for n in 0..6 {
        for k in 0..5 {
            let score = f64::from(1 + n % 5);
            grades.push(grade(&format!("ai_{}", n + 1), &format!("p{k}"), Some(score)));
        }
    }
    grades.push(grade("eco_1", "p", None));
    let found = summaries(&grades);
    let overall = &found[0];
    assert_eq!(
        (overall.slice.as_str(), overall.n, overall.missing, overall.ideas),
        ("overall", 30, 1, 6)
    );
    let mean = overall.mean.expect("grades");
    assert!((mean.mean - 16.0 / 6.0).abs() < 1e-12 && mean.high - mean.low > 1.0, "{mean:?}");
    assert_eq!((overall.median, overall.min, overall.max), (Some(2.5), Some(1.0), Some(5.0)));
    let names: Vec<&str> = found.iter().map(|one| one.slice.as_str()).collect();
    assert_eq!(names, ["overall", "ai", "eco", "strength", "soundness", "minor"]);
    assert_eq!((found[2].n, found[2].missing, found[2].mean), (0, 1, None));
}
