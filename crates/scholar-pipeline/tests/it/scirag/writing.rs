//! Texts: the outline, numbers that move from child to parent, refinement, attribution, markers, and what it all costs.

use std::sync::Arc;

use scholar_core::{Generator as _, NodeState, NoticeKind};
use scholar_pipeline::config::PosthocMode;
use scholar_pipeline::config::scirag::{GapCritic, SciragConfig};
use scholar_pipeline::{Event, estimate};
use scholar_testing::{Reply, ScriptedGenerator};

use super::stage::{
    COMPLETE, FIRST, ask, assert_sound, calls, config, ids, model, model_that, node, one_level,
    ports, references, says, user, verbatim,
};

/// A model whose tree has one node, of which `text` is the answer.
fn one_node(text: &str) -> ScriptedGenerator {
    model().reply("queries", format!("(1) {FIRST}").as_str()).reply("answer 1", text)
}

/// What a prompt says under a heading, up to its end.
fn supplement(prompt: &str) -> &str {
    prompt.split_once("What the sub-questions found:\n").expect("a supplement").1
}

#[tokio::test]
async fn a_childs_marks_move_into_the_merged_numbers_and_invalid_ones_go() {
    let said = "The first says so [0]. The second differs [1][2]. Nobody says this [77].";
    let generator = one_node(said).answer("aggregate", |request| {
        Reply::Text(format!("{} And [999] all of it [1, 888].", verbatim(&user(request), 6)))
    });
    let generator = Arc::new(generator);
    let outcome = ask(&ports(&generator), &config(one_level())).await;
    let own = references(&user(&calls(&generator, "answer")[0]));
    let merged = references(&user(&calls(&generator, "aggregate")[0]));
    let moved = |old: usize| {
        let (_, text) = &own[old];
        merged.iter().find(|(_, known)| known == text).expect("shown again").0
    };
    let expected = format!(
        "The first says so [{}]. The second differs [{}][{}]. Nobody says this.",
        moved(0),
        moved(1),
        moved(2)
    );
    let prompt = user(&calls(&generator, "aggregate")[0]);
    assert_eq!(supplement(&prompt).trim(), format!("1. {FIRST}\n{expected}"));
    assert!(moved(0) >= 4, "behind the question's own passages");
    assert_eq!(node(&outcome, "1").answer.as_deref(), Some(said), "told in its own numbers");
    let merged = outcome.trace.iter().find_map(|event| match event {
        Event::Merged { dropped, text, .. } => Some((*dropped, text.clone().expect("a text"))),
        _ => None,
    });
    let (dropped, text) = merged.expect("merged");
    assert_eq!(dropped, 2);
    assert!(!text.contains("999") && text.contains("all of it [1]."), "{text}");
    assert_sound(&outcome);
}

#[tokio::test]
async fn grandchildren_move_twice() {
    let generator = model()
        .reply("queries", format!("(1) {FIRST}").as_str())
        .reply("gaps 1", "- more\n")
        .reply("queries 1", "(1) gender bias in word embeddings")
        .reply("answer 1.1", "Embeddings are biased [0][1].")
        .answer("merge 1", |request| {
            let prompt = user(request);
            let (_, found) = prompt.split_once("What its sub-questions found:\n").expect("found");
            Reply::Text(format!(
                "Retrieval works [0]. {}",
                found.lines().nth(1).expect("an answer")
            ))
        });
    let generator = Arc::new(generator);
    let outcome = ask(&ports(&generator), &config(SciragConfig::paper())).await;
    let leaf = references(&user(
        &calls(&generator, "answer")
            .into_iter()
            .find(|one| one.purpose == "answer 1.1")
            .expect("asked"),
    ));
    let prompt = user(&calls(&generator, "aggregate")[0]);
    let merged = references(&prompt);
    let place = |text: &str| merged.iter().find(|(_, known)| known == text).expect("shown").0;
    let biased = format!("Embeddings are biased [{}][{}].", place(&leaf[0].1), place(&leaf[1].1));
    assert!(supplement(&prompt).contains(&biased), "{biased}\n{}", supplement(&prompt));
    assert_sound(&outcome);
}

#[tokio::test]
async fn refinement_ends_with_a_content_critic_an_unchanged_text_or_the_cap() {
    let feedback = "[Response_Start]Feedback: Say how large.[Response_End]";
    let revision = |nth: usize| {
        Reply::Text(format!("[Response_Start]Revision {nth} says so [0].[Response_End]"))
    };
    let run = |generator: ScriptedGenerator, rounds: usize| async move {
        let generator = Arc::new(generator);
        let scirag = SciragConfig { max_depth: 0, refine_rounds: rounds, ..one_level() };
        let outcome = ask(&ports(&generator), &config(scirag)).await;
        let n = |step: &str| calls(&generator, step).len();
        let texts: Vec<String> = outcome
            .trace
            .iter()
            .filter_map(|event| match event {
                Event::Revised { accepted, text, .. } => {
                    accepted.then(|| text.clone().unwrap_or_default())
                }
                _ => None,
            })
            .collect();
        (n("feedback"), n("edit"), texts)
    };
    assert_eq!(run(model(), 2).await, (1, 0, Vec::new()));
    let twice = model().reply("feedback", feedback).reply("edit", revision(1));
    assert_eq!(run(twice, 5).await.0, 2, "content with the first revision");
    let capped = model_that(move |step, _| (step == "feedback").then(|| feedback.into()))
        .reply("edit", revision(1))
        .reply("edit", revision(2))
        .reply("edit", revision(3));
    let (feedbacks, edits, texts) = run(capped, 2).await;
    assert_eq!((feedbacks, edits, texts.len()), (2, 2, 2));
    assert_eq!(texts[1], "Revision 2 says so [0].");
    let stubborn = model_that(move |step, _| (step == "feedback").then(|| feedback.into()))
        .reply("edit", revision(1))
        .reply("edit", revision(1));
    assert_eq!(run(stubborn, 5).await.1, 2, "the second changes nothing");
    let none = model_that(move |step, _| (step == "feedback").then(|| feedback.into()));
    assert_eq!(run(none, 0).await, (0, 0, Vec::new()));
}

#[tokio::test]
async fn attribution_adds_citations_and_refuses_a_rewritten_sentence() {
    let draft = "Annotated data with hallucinations is extremely scarce in translation.";
    let run = |reply: &'static str| async move {
        let generator =
            Arc::new(model().reply("draft", draft).reply("gaps", COMPLETE).reply("posthoc", reply));
        let mut config = config(SciragConfig { refine_rounds: 0, ..one_level() });
        config.posthoc = PosthocMode::Sentence;
        let outcome = ask(&ports(&generator), &config).await;
        assert_eq!(calls(&generator, "posthoc").len(), 1);
        assert_sound(&outcome);
        outcome
    };
    let cited = run("[Response_Start]Annotated data with hallucinations is extremely scarce in translation [0][88].[Response_End]").await;
    assert_eq!(cited.value.sentences.first().map(|one| one.citations.len()), Some(1));
    let kept = run("[Response_Start]Annotated data is abundant [0].[Response_End]").await;
    assert!(kept.value.sentences.iter().all(|one| !one.text.contains("abundant")));
}

#[tokio::test]
async fn what_stands_between_markers_is_the_text() {
    let check = |reply: &'static str, expected: &'static str| async move {
        let generator = Arc::new(one_node(reply));
        let outcome = ask(&ports(&generator), &config(one_level())).await;
        assert_eq!(node(&outcome, "1").answer.as_deref(), Some(expected), "{reply}");
    };
    check("[Response_Start]It works [0].[Response_End]", "It works [0].").await;
    check(
        "Sure!\n[Response_Start]\nIt works [0].\n[Response_End]\nAnything else?",
        "It works [0].",
    )
    .await;
    check("It works [0].", "It works [0].").await;
    check("It works [0].[Response_End] Bye.", "It works [0].").await;
    check("[Response_Start]It works [0].", "It works [0].").await;
    check("[Response_Start]One [0].[Response_End][Response_Start]Two.[Response_End]", "One [0].")
        .await;
    check("It works [0].\n\nReferences\n[0] Someone", "It works [0].").await;
    for nothing in ["", "[Response_Start] [Response_End]", "{\"tool_calls\": []}", "…"] {
        let generator = Arc::new(one_node(nothing));
        let outcome = ask(&ports(&generator), &config(one_level())).await;
        let node = node(&outcome, "1");
        assert_eq!((node.state, node.answer.as_ref()), (NodeState::Failed, None), "{nothing:?}");
        assert!(!outcome.value.abstained);
    }
    let cut = Reply::Cut("[Response_Start]It is cut".to_owned());
    let cut =
        Arc::new(model().reply("queries", format!("(1) {FIRST}").as_str()).reply("answer 1", cut));
    let outcome = ask(&ports(&cut), &config(one_level())).await;
    assert_eq!(node(&outcome, "1").answer.as_deref(), Some("It is cut"));
    assert!(says(&outcome, NoticeKind::Truncated, "answer 1"), "{:?}", outcome.notices);
}

#[tokio::test]
async fn years_in_feedback_are_no_queries_and_an_unreadable_critic_is_asked_once_more() {
    let run = |first: &'static str, again: &'static str| async move {
        let generator = Arc::new(model().reply("gaps", first).reply("gaps again", again));
        let scirag = SciragConfig { gap_critic: GapCritic::OneStage, ..one_level() };
        let outcome = ask(&ports(&generator), &config(scirag)).await;
        let n = calls(&generator, "gaps").len() + calls(&generator, "gaps again").len();
        let unread = says(&outcome, NoticeKind::ModelReply, "no query could be read");
        (ids(&outcome).len() - 1, n, unread)
    };
    let asked = "Wu (2019) reported less.\n(2019) reported nothing, (2020) too.\n(1) gender bias in word embeddings";
    assert_eq!(run(asked, "").await, (1, 1, false));
    assert_eq!(run("(2019) reported nothing.", "(1) word embeddings").await, (1, 2, false));
    assert_eq!(run("(2019) reported nothing.", "More is needed.").await, (0, 2, true));
    assert_eq!(run("(2019) reported nothing.", COMPLETE).await, (0, 2, false));
}

#[tokio::test]
async fn shares_near_a_hundred_stand_and_others_are_scaled() {
    let run = |outline: &'static str| async move {
        let generator = Arc::new(model().reply("outline", outline));
        let outcome = ask(&ports(&generator), &config(one_level())).await;
        let outline = outcome.value.outline.clone().expect("an outline");
        let shares: Vec<f32> = outline.sections.iter().map(|one| one.share.round()).collect();
        let drafted = user(&calls(&generator, "draft")[0]);
        assert!(drafted.contains(&outline.text) && !outline.text.contains("Response"));
        (shares, outline.renormalised_from)
    };
    let third = "[Response_Start]1. (33%) A: a.\n2. (33%) B: b.\n3. (33%) C: c.[Response_End]";
    assert_eq!(run(third).await, (vec![33.0; 3], None));
    let fifth = "1. (20%) A: a.\n2. (20%) B: b.\n3. (20%) C: c.";
    assert_eq!(run(fifth).await, (vec![33.0; 3], Some(60.0)));
    let triple = "1. (100%) A: a.\n2. (150%) B: b.\n3. (50%) C: c.";
    assert_eq!(run(triple).await, (vec![33.0, 50.0, 17.0], Some(300.0)));
    assert_eq!(run("First causes, then cures.").await, (Vec::new(), None));
}

/// Calls and tokens of a whole run, in words as the fake counts them, and an estimate that is not far off.
#[tokio::test]
async fn a_run_costs_what_its_calls_cost_and_about_what_was_estimated() {
    let run = |scirag: SciragConfig| async move {
        let generator = model().with_info(|info| info.usd_per_million = Some((2.5, 10.0)));
        let generator = Arc::new(generator);
        let config = config(scirag);
        let outcome = ask(&ports(&generator), &config).await;
        let words = |text: &str| u64::try_from(text.split_whitespace().count()).expect("few");
        let prompts: u64 = generator
            .requests()
            .iter()
            .flat_map(|request| &request.messages)
            .map(|message| words(&message.content))
            .sum();
        let spent = outcome.spent;
        assert_eq!(spent.usage.prompt, prompts);
        assert_eq!(spent.calls, generator.requests().len() as u64);
        let usd =
            (spent.usage.prompt as f64).mul_add(2.5, spent.usage.completion as f64 * 10.0) / 1e6;
        assert!((spent.usd.expect("a price") - usd).abs() < 1e-9);
        let of_nodes: u64 =
            outcome.value.tree.iter().flat_map(|tree| &tree.nodes).map(|one| one.calls).sum();
        assert_eq!(of_nodes, spent.calls, "every call belongs to a node");
        (spent.calls, estimate(&config, Some(generator.info())).calls)
    };
    // 1 outline + 1 draft + 2 gaps + 2 × (decide + 4 symbolic + answer) + 1 merge + 1 feedback.
    let (calls, expected) = run(one_level()).await;
    assert_eq!(calls, 18);
    assert!((0.5..=2.0).contains(&(expected as f64 / calls as f64)), "{expected} for {calls}");
    // No critic of a node asks for more: two more calls.
    let (calls, expected) = run(SciragConfig::paper()).await;
    assert_eq!(calls, 20);
    assert!((0.5..=3.0).contains(&(expected as f64 / calls as f64)), "{expected} for {calls}");
    // Outline, draft, one call of the critic, two nodes with one each, one merge.
    let (calls, expected) = run(SciragConfig::lean()).await;
    assert_eq!(calls, 6);
    assert!((0.5..=2.0).contains(&(expected as f64 / calls as f64)), "{expected} for {calls}");
}
