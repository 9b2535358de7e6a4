//! Replies and graphs that are not as they should be: everything ends, bounded, with an answer and a notice.

use std::sync::Arc;

use scholar_core::{DecidedBy, NodeState, NoticeKind, Paper, PaperId, PaperMeta, Section};
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_testing::Reply;

use super::stage::{
    FIRST, SECOND, ask, assert_sound, calls, candidates, config, ids, linked_papers, model,
    model_that, node, node_of, one_level, ports, ports_over, references, says, selection, user,
};

#[tokio::test]
async fn an_outline_that_is_no_list_is_followed_as_it_is_and_an_empty_one_is_none() {
    for (outline, said) in [
        ("I would speak of causes first and of cures later.", "no section could be read"),
        ("{\"sections\": []}", "no section could be read"),
        ("", "written without an outline"),
        ("[Response_Start][Response_End]", "written without an outline"),
    ] {
        let generator = Arc::new(model().reply("outline", outline));
        let outcome = ask(&ports(&generator), &config(one_level())).await;
        assert!(says(&outcome, NoticeKind::ModelReply, said), "{outline}: {:?}", outcome.notices);
        assert!(!outcome.value.abstained);
        let has_one = outcome.value.outline.as_ref().is_some_and(|one| one.sections.is_empty());
        assert_eq!(has_one, !said.contains("without"), "{outline}");
    }
    let endless: String =
        (1..500).map(|n| format!("{}. (90%) Section {n}: n.\n", n % 99)).collect();
    let generator = Arc::new(model().reply("outline", endless.as_str()));
    let outcome = ask(&ports(&generator), &config(one_level())).await;
    let sections = &outcome.value.outline.as_ref().expect("an outline").sections;
    let total: f32 = sections.iter().map(|one| one.share).sum();
    assert!(sections.len() <= 20 && (total - 100.0).abs() < 0.1, "{} of {total}", sections.len());
}

#[tokio::test]
async fn a_critic_that_never_ends_meets_breadth_and_depth() {
    let generator = model_that(|step, request| {
        let node = node_of(&request.purpose).replace('.', " point ");
        let line = |n: usize| format!("({}) dense passage retrieval, part {node} of {n}\n", n % 90);
        match step {
            "gaps" | "queries" => Some(Reply::Text((1..200).map(line).collect())),
            "feedback" => Some("Feedback: More!".into()),
            _ => None,
        }
    });
    let generator = Arc::new(generator);
    let config = config(SciragConfig { max_depth: 2, ..SciragConfig::paper() });
    let outcome = ask(&ports(&generator), &config).await;
    assert_eq!(ids(&outcome).len(), 1 + 5 + 25, "five sub-queries of each critic");
    assert!(calls(&generator, "feedback").len() <= 2);
    assert_sound(&outcome);
}

#[tokio::test]
async fn a_query_is_asked_once_in_the_whole_tree() {
    let always = format!(
        "(1) {FIRST}\n(2)  {}\n(3) {SECOND}\n(4) {}",
        FIRST.to_uppercase(),
        super::stage::QUESTION
    );
    let generator = Arc::new(model_that(move |step, _| match step {
        "gaps" => Some("- more".into()),
        "queries" => Some(Reply::Text(always.clone())),
        _ => None,
    }));
    let config = config(SciragConfig { max_depth: 4, ..SciragConfig::paper() });
    let outcome = ask(&ports(&generator), &config).await;
    assert_eq!(ids(&outcome), ["0", "1", "2"]);
    assert_sound(&outcome);
}

#[tokio::test]
async fn one_reply_for_all_steps_is_read_in_every_state_too() {
    let check = |reply: String, repaired: &'static str, by: DecidedBy, kept: usize| async move {
        let generator = model()
            .reply("gaps", format!("(1) {FIRST}").as_str())
            .reply("contributions 1", reply.as_str())
            .reply("contributions repair 1", repaired);
        let generator = Arc::new(generator);
        let outcome = ask(&ports(&generator), &config(SciragConfig::lean())).await;
        let node = node(&outcome, "1");
        assert_eq!(node.selected_by, Some(by), "{reply}");
        assert_eq!(node.evidence.iter().filter(|one| one.kept).count(), kept, "{reply}");
        assert_eq!(node.state, NodeState::Answered);
        assert_sound(&outcome);
        node.evidence.len().min(10)
    };
    use DecidedBy::{Fallback, Model};
    let good = selection(&[2, 1], &[3]);
    let all = check(format!("```json\n{good}\n```"), "", Model, 2).await;
    check(r#"{"final_selection": [{"paper_index": "[1]"}]}"#.to_owned(), "", Model, 1).await;
    check("{\"final_selection\": [".to_owned(), "{}", Fallback, all).await;
    check(String::new(), "{\"final_selection\": []}", Fallback, 3.min(all)).await;
    check(selection(&[4000], &[]), "", Fallback, 3.min(all)).await;
}

fn paper(n: u64, references: Vec<PaperId>) -> Paper {
    let mut meta = PaperMeta::new(PaperId::CorpusId(n), format!("Study {n} of hubs"));
    meta.citation_count = Some(50);
    let text = format!("Study number {n} says something about dense passage retrieval and hubs.");
    Paper { meta, sections: vec![Section::new("Abstract", text)], references, records: Vec::new() }
}

#[tokio::test]
async fn ten_thousand_citations_and_cycles_are_a_prompt_of_ten_papers() {
    let id = PaperId::CorpusId;
    let mut papers = linked_papers();
    papers.truncate(8);
    papers.push(paper(0, (1..40).map(id).chain([id(0)]).collect()));
    papers.extend((1..10_000).map(|n| paper(n, vec![id(0), id((n % 9_999) + 1), id(n)])));
    let hub: Vec<Paper> = papers.clone();
    let generator =
        Arc::new(model().reply("queries", "(1) study of hubs in dense passage retrieval"));
    let mut ports = ports_over(&papers[..9], Arc::clone(&generator) as _);
    ports.graph = Some(Arc::new(scholar_testing::MemoryGraph::new(hub)));
    let outcome = ask(&ports, &config(one_level())).await;
    assert_eq!(candidates(&user(&calls(&generator, "tag")[0])), 10);
    assert_eq!(references(&user(&calls(&generator, "answer")[0])).len(), 10);
    let node = node(&outcome, "1");
    assert!(node.evidence.len() <= 110, "a hundred neighbours are reranked");
    assert_eq!(node.evidence.iter().filter(|one| one.kept).count(), 10);
    assert_sound(&outcome);
}

#[tokio::test]
async fn a_text_that_is_cut_takes_the_place_of_no_whole_one() {
    for step in ["merge 1", "aggregate", "edit"] {
        let generator = model_that(move |_, request| match request.purpose.as_str() {
            "gaps 1" => Some("- more".into()),
            "queries 1" => Some("(1) hard negatives".into()),
            "feedback" => Some("Feedback: Say how large.".into()),
            purpose if purpose == step => Some(Reply::Cut("[Response_Start]The".to_owned())),
            _ => None,
        });
        let outcome = ask(&ports(&Arc::new(generator)), &config(SciragConfig::paper())).await;
        assert!(says(&outcome, NoticeKind::Truncated, step), "{:?}", outcome.notices);
        assert!(says(&outcome, NoticeKind::Skipped, "is cut"), "{:?}", outcome.notices);
        assert!(outcome.value.sentences.iter().any(|one| !one.citations.is_empty()), "{step}");
        assert!(outcome.value.sentences.iter().all(|one| one.text != "The"), "{step}");
    }
}
