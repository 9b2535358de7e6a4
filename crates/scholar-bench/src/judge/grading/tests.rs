use std::sync::Arc;

use scholar_testing::{Reply, ScriptedGenerator};

use super::*;

fn rubric() -> GradingRubric {
    let level = |n: u8| format!("level {n}");
    GradingRubric {
        aspect: "coverage".to_owned(),
        criteria_description: "how much is covered".to_owned(),
        score1_description: level(1),
        score2_description: level(2),
        score3_description: level(3),
        score4_description: level(4),
        score5_description: level(5),
        use_title: false,
        use_docs: false,
    }
}

#[tokio::test]
async fn grades_come_with_and_without_a_reference() {
    let generator = Arc::new(
        ScriptedGenerator::new("prometheus")
            .reply("grade", Reply::from("Fine. [RESULT] 4</s>"))
            .reply("grade", Reply::from("No idea.")),
    );
    let judge = ModelJudge::new(generator.clone());
    let rubric = rubric();
    let graded = judge.grade(&rubric, "Why?", "So.", Some("Because.")).await.expect("it runs");
    assert_eq!(graded, Judged::Read(4));
    let graded = judge.grade(&rubric, "Why?", "So.", None).await.expect("it runs");
    assert_eq!(graded, Judged::Unreadable("No idea.".to_owned()));
    let asked: Vec<String> =
        generator.requests().iter().map(|request| request.messages[1].content.clone()).collect();
    assert!(asked[0].contains("Because.") && asked[0].contains("5: level 5"));
    assert!(!asked[1].contains("reference") && !asked[1].contains("{{"));
    assert_ne!(judge.grading_pin(true).prompts, judge.grading_pin(false).prompts);
}
