use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt as _;
use scholar_core::{PaperId, PaperMeta, PortErrorKind, Section};
use scholar_testing::{Reply, ScriptedGenerator};

use super::*;

const PLAN: &str = "# Research Plan: Measuring X\n\n## Problem\nWe ask whether X holds.\n\n## Method\nWe will measure X.\n\n## Experiment Design\nWe will compare with Y.";
const REVIEWS: &str = "The question is important for the field. Only one baseline is planned for comparison. Figure 3 is blurred.";
const QUOTES: &str = "- The question is important for the field.\n- Only one baseline is planned for comparison.\n- The method was never compared at all.";
const RUBRICS: &str = r#"{"statement": "The question whether X holds is important.", "type": "strength", "axis": "contribution", "severity": "minor"}
{"statement": "Comparing with Y alone is too little.", "type": "weakness", "axis": "soundness", "severity": "major"}
{"statement": "Comparing with Y alone is too little!", "type": "weakness", "axis": "soundness", "severity": "major"}"#;

fn paper(headings: &[&str]) -> Paper {
    let sections = headings
        .iter()
        .map(|heading| Section::new(*heading, format!("Text of {heading}.")))
        .collect();
    let meta = PaperMeta::new(PaperId::Local("x".to_owned()), "Measuring X");
    Paper { meta, sections, references: Vec::new(), records: Vec::new() }
}

fn source(number: u32) -> Source {
    let (text, _) = plan_source(&paper(&["Abstract", "Introduction"]));
    let id = format!("eco_{number}").parse().expect("a name");
    Source { id, title: "Measuring X".to_owned(), text, reviews: REVIEWS.to_owned() }
}

/// Curates with `scripted`: result, names of written files, pauses.
fn run(
    scripted: &ScriptedGenerator,
    number: u32,
    kept: Kept,
) -> (Result<Curated, CurateError>, Vec<String>, usize) {
    let pauses = AtomicUsize::new(0);
    let pause = || {
        pauses.fetch_add(1, Ordering::Relaxed);
        futures::future::ready(()).boxed()
    };
    let mut written = Vec::new();
    let mut write = |stage: Stage<'_>| {
        written.push(match stage {
            Stage::Idea(text) => format!("idea {}", text.len()),
            Stage::Quotes(text) => format!("quotes {}", text.lines().count()),
            Stage::Rubrics(text) => format!("rubrics {}", text.lines().count()),
        });
    };
    let curator = Curator { generator: scripted, pause: &pause };
    let result = futures::executor::block_on(curator.curate(&source(number), kept, &mut write));
    (result, written, pauses.load(Ordering::Relaxed))
}

/// First fixture: everything goes well.
#[test]
fn a_paper_and_its_reviews_become_an_idea_with_rubrics() {
    let scripted = ScriptedGenerator::new("m")
        .reply("curate_idea", PLAN)
        .reply("curate_quotes", QUOTES)
        .reply("curate_rubrics", RUBRICS);
    let (result, written, pauses) = run(&scripted, 1, Kept::default());
    let curated = result.expect("usable replies");
    assert_eq!((curated.quotes, curated.not_verbatim), (2, 1));
    assert_eq!((curated.rubrics, curated.unreadable, curated.repeated), (2, 0, 1));
    assert_eq!(
        written,
        [format!("idea {}", PLAN.len()), "quotes 2".to_owned(), "rubrics 2".to_owned()]
    );
    assert_eq!(pauses, 3, "one before each call");
    let asked = scripted.requests();
    let last = &asked[2].messages.last().expect("a turn").content;
    assert!(
        last.contains("Only one baseline is planned") && !last.contains("never compared"),
        "{last}"
    );
    for prompt in [CURATE_IDEA, CURATE_QUOTES, CURATE_RUBRICS] {
        assert_eq!(prompt.problem(), None);
    }
}

/// Second fixture: earlier work is used again.
#[test]
fn what_was_done_before_is_not_asked_again() {
    let scripted = ScriptedGenerator::new("m").reply("curate_rubrics", RUBRICS);
    let kept = Kept {
        idea: Some(PLAN.to_owned()),
        quotes: Some("Only one baseline is planned.".to_owned()),
    };
    let (result, written, pauses) = run(&scripted, 2, kept);
    assert_eq!((result.expect("usable").quotes, written.len(), pauses), (1, 1, 1));
    assert_eq!(scripted.purposes(), ["curate_rubrics"]);
}

/// Third fixture: replies that cannot be used, each at its step.
#[test]
fn replies_that_cannot_be_used_name_their_step_and_keep_what_was_done() {
    let says = |scripted: ScriptedGenerator, says: &str, files: usize| {
        let (result, written, _) = run(&scripted, 3, Kept::default());
        let error = result.expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(written.len(), files, "{says}");
    };
    let base = || ScriptedGenerator::new("m").reply("curate_idea", PLAN);
    says(
        ScriptedGenerator::new("m").reply("curate_idea", "I cannot."),
        "the plan of eco_3: it has no heading",
        0,
    );
    says(base().reply("curate_quotes", "none"), "no sentence of the reviews", 2);
    says(
        base().reply("curate_quotes", QUOTES).reply("curate_rubrics", "[]"),
        "no line of the reply",
        2,
    );
    let down = Reply::Fails(PortErrorKind::Unavailable, "gone".to_owned());
    says(base().reply("curate_quotes", down), "the sentences of eco_3", 1);
}

#[test]
fn what_came_out_is_not_part_of_a_plan() {
    let headings = [
        "Abstract",
        "Introduction",
        "3 Methods",
        "Results and Discussion",
        "Key findings",
        "",
        "CONCLUSIONS",
        "References",
    ];
    let (text, left_out) = plan_source(&paper(&headings));
    assert_eq!(left_out, ["Results and Discussion", "Key findings", "CONCLUSIONS", "References"]);
    assert!(text.starts_with("Abstract\nText of Abstract.\n\nIntroduction\n"), "{text}");
    assert!(text.ends_with("\n\nText of ."), "a section without heading is text: {text}");
    assert!(has_sections(&paper(&["Methods"])) && !has_sections(&paper(&["", "Abstract"])));
}
