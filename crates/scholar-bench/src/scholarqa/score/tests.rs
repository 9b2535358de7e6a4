use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::executor::block_on;
use scholar_core::PortErrorKind;
use scholar_testing::{Reply, ScriptedGenerator};
use serde_json::json;

use super::*;
use crate::metrics::hallucination::FoundPaper;
use crate::scholarqa::Context;

/// Says that evidence with the claim's first word supports it; dies after `alive` questions.
struct Judge {
    alive: usize,
    asked: AtomicUsize,
}

impl Judge {
    fn new(alive: usize) -> Self {
        Self { alive, asked: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl SupportJudge for Judge {
    fn pin(&self) -> JudgePin {
        JudgePin { name: "first word/1".to_owned(), way: "test".to_owned(), prompts: Vec::new() }
    }

    async fn supports(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
        if self.asked.fetch_add(pairs.len(), Ordering::Relaxed) + pairs.len() > self.alive {
            return Err(PortError::new(PortErrorKind::Unavailable, "nobody answers"));
        }
        let verdict = |(claim, evidence): &(&str, &str)| {
            let word = claim.split(' ').next().unwrap_or_default();
            if word == "Garbled" {
                Judged::Unreadable("??".to_owned())
            } else {
                Judged::Read(evidence.contains(word))
            }
        };
        Ok(pairs.iter().map(verdict).collect())
    }
}

fn options() -> ScoreOptions {
    ScoreOptions { rules: Rules::corrected(), aspects: Vec::new(), unread: Unread::Reweigh }
}

fn scored(
    task: BenchTask,
    items: &[Item],
    predictions: &[Prediction],
    judges: Judges<'_>,
    options: &ScoreOptions,
) -> Scores {
    let subject = Subject { run: "test", task, items, predictions };
    block_on(score(subject, judges, options, &|_, _| {}))
}

fn long(id: &str, output: &str) -> Prediction {
    let mut prediction = Prediction::new(id, "q", output);
    let text = |text: &str| Context { text: text.to_owned(), ..Context::default() };
    prediction.ctxs = vec![text("Alpha was found"), text("Beta was found")];
    prediction
}

fn questions(n: usize) -> Vec<Item> {
    (0..n).map(|nth| Item::new(BenchTask::Bio, format!("bio_{nth}"), "q")).collect()
}

const ALPHA: &str = "Alpha is what the first of the two passages reports at length [0].";
const WRONG: &str = "Alpha is what the first of the two passages reports at length [1].";

#[test]
fn labels_are_scored_in_each_way_and_missing_ones_left_out() {
    let items: Vec<Item> = ["no", "no", "yes", "yes"]
        .iter()
        .enumerate()
        .map(|(nth, gold)| {
            let mut item = Item::new(BenchTask::PubMedQa, format!("pubmedqa_{nth}"), "Is it?");
            item.gold = Gold::Label((*gold).to_owned());
            item
        })
        .collect();
    let mut failed = Prediction::new("pubmedqa_3", "Is it?", "");
    failed.status = PredictionStatus::Failed;
    let predictions = [
        Prediction::new("pubmedqa_0", "Is it?", "No [0]."),
        Prediction::new("pubmedqa_1", "Is it?", "We do not know."),
        Prediction::new("pubmedqa_2", "Is it?", "yes"),
        failed,
    ];
    let scores = scored(BenchTask::PubMedQa, &items, &predictions, Judges::default(), &options());
    let mean = |name: &str| scores.metric(name).expect(name).summary.estimate.expect("n").mean;
    assert!((mean("accuracy (label)") - 2.0 / 3.0).abs() < 1e-9);
    assert!((mean("match (words)") - 2.0 / 3.0).abs() < 1e-9);
    assert!((mean("match (substring)") - 1.0).abs() < 1e-9, "upstream finds no in know");
    let summary = &scores.metric("accuracy (label)").expect("a metric").summary;
    assert_eq!((summary.n, summary.left_out["the system failed"].count), (3, 1));
    assert!(scores.warnings.iter().any(|warning| warning.contains("1 of 4 items")));
    assert!(scores.warnings.iter().any(|warning| warning.contains("match (substring): all 3")));
    assert!(scores.citation_f1.is_none(), "nobody judged");
}

#[test]
fn citations_are_judged_against_what_was_shown() {
    let items = questions(3);
    let mut more = long("bio_2", "Beta is what the candidates beyond the shown passages say [1].");
    more.shown = Some(1);
    let predictions = [long("bio_0", ALPHA), long("bio_1", WRONG), more];
    let judge = Judge::new(100);
    let judges = Judges { support: Some(&judge), ..Judges::default() };
    let scores = scored(BenchTask::Bio, &items, &predictions, judges, &options());
    let recall = scores.metric("citation recall (corrected)").expect("judged");
    assert!((recall.summary.estimate.expect("n").mean - 1.0 / 3.0).abs() < 1e-9);
    assert_eq!(recall.judge.as_ref().expect("named").name, "first word/1");
    assert_eq!(scores.verdicts["bio_2"].out_of_range, 1);
    assert!((scores.citation_f1.expect("F1").mean - 1.0 / 3.0).abs() < 1e-9);
    let upstream = ScoreOptions { rules: Rules::upstream(), ..options() };
    let scores = scored(BenchTask::Bio, &items, &predictions, judges, &upstream);
    assert!(scores.metric("citation recall (upstream)").is_some());
}

#[test]
fn a_dead_judge_keeps_what_it_gave_and_says_so() {
    let items = questions(4);
    let predictions: Vec<Prediction> =
        (0..4).map(|nth| long(&format!("bio_{nth}"), ALPHA)).collect();
    let judge = Judge::new(2);
    let judges = Judges { support: Some(&judge), ..Judges::default() };
    let scores = scored(BenchTask::Bio, &items, &predictions, judges, &options());
    assert!(scores.incomplete.as_ref().expect("dead").contains("bio_2: nobody answers"));
    let recall = &scores.metric("citation recall (corrected)").expect("begun").summary;
    assert_eq!((recall.n, recall.left_out["not judged: the judge failed"].count), (2, 2));
    assert!(scores.warnings.iter().any(|warning| warning.contains("the judge failed")));
}

#[test]
fn unreadable_verdicts_are_counted_and_uniform_columns_warned_of() {
    let items = questions(2);
    let garbled = "Garbled sentences are what the judge cannot say anything about at all [0].";
    let predictions = [long("bio_0", garbled), long("bio_1", WRONG)];
    let judge = Judge::new(100);
    let judges = Judges { support: Some(&judge), ..Judges::default() };
    let scores = scored(BenchTask::Bio, &items, &predictions, judges, &options());
    let recall = &scores.metric("citation recall (corrected)").expect("judged").summary;
    assert_eq!(recall.n, 1);
    assert!(scores.warnings.iter().any(|warning| warning.contains("could not be read")));
    let predictions = [long("bio_0", WRONG), long("bio_1", WRONG)];
    let scores = scored(BenchTask::Bio, &items, &predictions, judges, &options());
    assert!(scores.warnings.iter().any(|warning| warning.contains("all 2 values are 0")));
}

#[test]
fn rubrics_and_grades_come_from_a_model() {
    let config = json!({
        "question": "q", "low_length": 300, "high_length": 600, "length_weight": 0.05,
        "expertise_weight": 0.05, "citations_weight": 0.2, "excerpts_weight": 0.1,
        "other_properties": [{"name": "most_important_item_0", "criterion": "says so", "weight": 0.6, "evidence": []}],
    });
    let mut item = Item::new(BenchTask::Cs, "case", "q");
    item.gold = Gold::Rubric(config);
    let generator = ScriptedGenerator::new("grader")
        .answer("rubric_property", |_| Reply::Text("{\"score\": 5}".to_owned()))
        .answer("rubric_claims", |_| Reply::Text("{\"claims\": []}".to_owned()))
        .answer("grade", |_| Reply::Text("Good. [RESULT] 4".to_owned()));
    let model = ModelJudge::new(Arc::new(generator));
    let judges = Judges { model: Some(&model), ..Judges::default() };
    let predictions = [Prediction::new("case", "q", "So.")];
    let scores = scored(BenchTask::Cs, &[item], &predictions, judges, &options());
    let rubric = scores.metric("rubric score").expect("judged").summary.estimate.expect("n");
    // Length 1, expertise and the item 0.5, nothing cited.
    assert!((rubric.mean - (0.05 + 0.025 + 0.3)).abs() < 1e-9, "{rubric:?}");
    let parts: Vec<&str> =
        scores.rubrics["case"].parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(parts, ["length", "expertise", "citations", "excerpts", "most_important_item_0"]);
    let mean = |name: &str| scores.metric(name).expect(name).summary.estimate.expect("n").mean;
    assert!((mean("rubric length") - 1.0).abs() < 1e-9);
    assert!((mean("rubric expertise") - 0.5).abs() < 1e-9);
    assert!(mean("rubric citations").abs() < 1e-9);

    let text = fs_err::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/scholarqabench/rubrics.json"),
    )
    .expect("there");
    let aspects = crate::metrics::grading::read_rubrics(&text, "rubrics.json").expect("rubrics");
    let mut item = Item::new(BenchTask::Multi, "multi", "q");
    item.gold = Gold::Text("reference".to_owned());
    let predictions = [Prediction::new("multi", "q", "So.")];
    let graded = ScoreOptions { aspects, ..options() };
    let scores = scored(BenchTask::Multi, &[item], &predictions, judges, &graded);
    for aspect in ["organization", "coverage", "relevance"] {
        let grade = scores.metric(aspect).expect(aspect);
        assert!((grade.summary.estimate.expect("n").mean - 4.0).abs() < 1e-9);
        assert_eq!(grade.judge.as_ref().expect("named").name, "grader");
        assert!(!grade.judge.as_ref().expect("named").prompts.is_empty(), "prompts are pinned");
    }
}

#[test]
fn citation_markers_are_no_words_of_an_answer() {
    let mut item = Item::new(BenchTask::Multi, "multi", "q");
    item.gold = Gold::Text("Alpha was found [0]. Beta was found [1, 2].".to_owned());
    let predictions = [Prediction::new("multi", "q", "Alpha was found [7]. Beta was found [3].")];
    let scores = scored(BenchTask::Multi, &[item], &predictions, Judges::default(), &options());
    for name in ["ROUGE-L", "ROUGE-1", "ROUGE-2", "token F1", "exact match"] {
        let mean = scores.metric(name).expect(name).summary.estimate.expect("n").mean;
        assert!((mean - 1.0).abs() < 1e-9, "{name}: {mean}");
    }
}

#[test]
fn empty_answers_are_warned_of() {
    let predictions = [long("bio_0", " \n"), long("bio_1", ALPHA)];
    let scores = scored(BenchTask::Bio, &questions(2), &predictions, Judges::default(), &options());
    assert!(scores.warnings.iter().any(|warning| warning.starts_with("1 answers are empty")));
}

const MADE_UP: &str = "Gamma is what a paper that nobody ever wrote reports at some length [2].";
const LIST: &str = "References:\n[1] Alpha in the First of Many Passages\n[2] Gamma That Nobody Ever Wrote About\n[3] A Paper Without Any Abstract";

/// Knows the first and the third of [`LIST`].
struct Library {
    broken: bool,
}

#[async_trait]
impl TitleLookup for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    async fn find(&self, title: &str) -> Result<Option<FoundPaper>, PortError> {
        if self.broken {
            return Err(PortError::new(PortErrorKind::Unavailable, "closed"));
        }
        let known = ["Alpha in the First of Many Passages", "A Paper Without Any Abstract"];
        let found = known.into_iter().find(|known| hallucination::same_title(title, known));
        Ok(found.map(|title| FoundPaper {
            title: title.to_owned(),
            abstract_text: title.starts_with("Alpha").then(|| "Alpha was found.".to_owned()),
            place: "library".to_owned(),
        }))
    }
}

fn closed_book() -> Vec<Prediction> {
    let first = ALPHA.replace("[0]", "[1]");
    let third = ALPHA.replace("[0]", "[3]");
    let answer = format!("{first} {MADE_UP} {third}\n\n{LIST}");
    let uncited = ALPHA.replace("[0]", "");
    vec![Prediction::new("bio_0", "q", answer), Prediction::new("bio_1", "q", uncited)]
}

#[test]
fn closed_book_citations_are_judged_by_the_abstracts_of_the_papers_found() {
    let judge = Judge::new(100);
    let library = Library { broken: false };
    let judges = Judges { support: Some(&judge), lookup: Some(&library), ..Judges::default() };
    let scores = scored(BenchTask::Bio, &questions(2), &closed_book(), judges, &options());
    // Of three sentences one cites a paper with an abstract, one an invented paper, one a paper without an abstract.
    let score = &scores.verdicts["bio_0"];
    assert_eq!(
        (score.sentences, score.supported, score.citations, score.good_citations),
        (3, 1, 3, 1)
    );
    assert_eq!((score.out_of_range, judge.asked.load(Ordering::Relaxed)), (2, 1));
    assert_eq!(
        scores.verdicts["bio_1"].recall,
        Some(0.0),
        "an answer without a list cites nothing"
    );
    let totals = scores.hallucination.as_ref().and_then(|one| one.totals.clone()).expect("counted");
    let says = "3 papers listed, 2 found, 1 with an abstract; looked up in library";
    assert_eq!(totals.to_string(), says);
    assert!(crate::scholarqa::report::summary::summary(&scores).contains(says));
    assert_eq!(scores.listed["bio_0"].papers.len(), 3);

    let upstream = ScoreOptions { rules: Rules::upstream(), ..options() };
    let scores = scored(BenchTask::Bio, &questions(2), &closed_book(), judges, &upstream);
    assert_eq!(scores.verdicts["bio_0"].supported, 1);
}

#[test]
fn closed_book_citations_without_a_lookup_have_no_score() {
    let judge = Judge::new(100);
    let judges = Judges { support: Some(&judge), ..Judges::default() };
    let scores = scored(BenchTask::Bio, &questions(2), &closed_book(), judges, &options());
    let recall = &scores.metric("citation recall (corrected)").expect("a column").summary;
    assert_eq!((recall.n, recall.left_out[cited::NOT_LOOKED_UP].count), (0, 2));
    assert!(scores.citation_f1.is_none());
    assert!(
        scores.warnings.iter().any(|warning| warning.contains("--titles")),
        "{:?}",
        scores.warnings
    );

    let broken = Library { broken: true };
    let judges = Judges { lookup: Some(&broken), ..judges };
    let scores = scored(BenchTask::Bio, &questions(2), &closed_book(), judges, &options());
    let recall = &scores.metric("citation recall (corrected)").expect("a column").summary;
    assert_eq!((recall.n, recall.left_out.len()), (1, 1), "a failed lookup is no verdict");
    assert_eq!(judge.asked.load(Ordering::Relaxed), 0);
}
