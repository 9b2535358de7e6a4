//! What is asked for decides the form: a label, one sentence, a section of related work, a report.

use std::sync::Arc;

use scholar_core::{AnswerMode, SectionKind};
use scholar_pipeline::AskConfig;
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_pipeline::config::{PosthocMode, Task};
use scholar_testing::ScriptedGenerator;

use super::stage::{
    COMPLETE, ask, assert_sound, calls, ids, model, model_that, ports, steps, user,
};

fn config(task: Task) -> AskConfig {
    let mut config =
        AskConfig::scirag(SciragConfig { max_depth: 1, ..SciragConfig::paper() }, task);
    config.ranking.top_n = 4;
    config.posthoc = PosthocMode::None;
    config
}

#[tokio::test]
async fn a_claim_and_a_question_of_yes_or_no_end_in_a_label_with_its_source() {
    for (task, label, wanted, shares) in [
        (Task::ClaimFull, "true", "Judgment: True.", "(20%) is the verdict, section 2 (50%)"),
        (
            Task::BooleanQuestionFull,
            "yes",
            "Judgment: Yes.",
            "(20%) is the verdict, section 2 (60%)",
        ),
    ] {
        let feedback = "[Response_Start]Feedback: Say how large.[Response_End]";
        let generator =
            Arc::new(model_that(move |step, _| (step == "feedback").then(|| feedback.into())));
        let outcome = ask(&ports(&generator), &config(task)).await;
        let answer = &outcome.value;
        assert_eq!(answer.sentences.len(), 1);
        assert_eq!(answer.sentences[0].text, label);
        assert_eq!((answer.sentences[0].citations.len(), answer.references.len()), (1, 1));
        assert!(!answer.abstained && answer.mode == AnswerMode::Scirag);
        assert_eq!(ids(&outcome), ["0", "1", "2"]);
        assert!(user(&calls(&generator, "outline")[0]).contains(shares));
        assert!(user(&calls(&generator, "draft")[0]).contains(wanted));
        assert!(user(&calls(&generator, "gaps")[0]).contains("must be decided"));
        assert_eq!(calls(&generator, "feedback").len(), 1, "short answers have one round");
        assert_sound(&outcome);
    }
}

#[tokio::test]
async fn a_verdict_that_is_none_is_no_answer() {
    let generator = Arc::new(
        model().reply("aggregate", "It may be so [0].").reply("outline", "1. (100%) A: a."),
    );
    let outcome = ask(&ports(&generator), &config(Task::ClaimFull)).await;
    assert!(outcome.value.abstained && outcome.value.sentences.is_empty());
    assert!(outcome.value.tree.is_some(), "what was explored is told");
}

#[tokio::test]
async fn one_paper_is_answered_in_one_sentence_also_where_nothing_is_missing() {
    for gaps in ["- something", COMPLETE] {
        let generator = Arc::new(model_that(move |step, _| (step == "gaps").then(|| gaps.into())));
        let outcome = ask(&ports(&generator), &config(Task::SinglePaperQa)).await;
        assert_eq!(outcome.value.sentences.len(), 1, "{:?}", outcome.value.sentences);
        assert!(!outcome.value.sentences[0].citations.is_empty());
        let purposes = generator.purposes();
        assert_eq!(purposes.last().map(String::as_str), Some("compress"), "{purposes:?}");
        assert_sound(&outcome);
    }
}

#[tokio::test]
async fn related_work_is_prose_about_the_abstract() {
    let generator = Arc::new(model());
    let outcome = ask(&ports(&generator), &config(Task::Summarization)).await;
    assert!(outcome.value.sentences.len() > 2 && outcome.value.sections.is_empty());
    assert!(user(&calls(&generator, "outline")[0]).contains("related work"));
    assert!(user(&calls(&generator, "draft")[0]).contains("section on related work"));
}

#[tokio::test]
async fn where_nothing_can_be_explored_one_draft_is_the_answer() {
    for (task, reply) in [
        (Task::ClaimGold, "true [0]"),
        (Task::ClaimNoContext, "true"),
        (Task::BooleanQuestionGold, "yes [0]"),
        (Task::BooleanQuestionNoContext, "yes"),
    ] {
        let generator = Arc::new(ScriptedGenerator::new("scripted").reply("draft", reply));
        let outcome = ask(&ports(&generator), &config(task)).await;
        assert_eq!(generator.purposes(), ["draft"], "{task:?}");
        assert!(!outcome.value.abstained && outcome.value.tree.is_none());
    }
}

#[tokio::test]
async fn a_report_goes_through_outline_tree_and_proof() {
    let feedback = "[Response_Start]Feedback: Say how large.[Response_End]";
    let generator = Arc::new(model().reply("feedback", feedback));
    let outcome = ask(&ports(&generator), &config(Task::Default)).await;
    let steps = steps(&generator);
    for step in ["outline", "draft", "aggregate", "feedback", "edit"] {
        assert!(steps.iter().any(|one| one == step), "{step} of {steps:?}");
    }
    assert!(user(&calls(&generator, "draft")[0]).contains("Follow this outline"));
    let kinds: Vec<SectionKind> = outcome.value.sections.iter().map(|one| one.kind).collect();
    assert!(
        kinds.contains(&SectionKind::ShortAnswer) && kinds.contains(&SectionKind::Facet),
        "{kinds:?}"
    );
    assert!(outcome.value.sentences.iter().filter(|one| !one.citations.is_empty()).count() > 2);
    assert_sound(&outcome);
}
