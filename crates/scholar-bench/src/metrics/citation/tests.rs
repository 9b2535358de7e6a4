use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scholar_core::{PortError, PortErrorKind};
use serde::Deserialize;

use super::*;
use crate::judge::support::SupportJudge;
use crate::judge::{JudgePin, Judged};

const C1: &str = "Claim one is supported by the first of the documents only";
const C2: &str = "Claim two is supported by the second and third together";
const C3: &str = "Claim three is supported by the fourth document by itself";
const C4: &str = "Claim four is supported by the first or second document";

/// Knows which documents each claim needs: alternatives of sets. Replies that cannot be read where told so.
struct Toy {
    calls: AtomicUsize,
    garbled: fn(&str, &str) -> bool,
}

impl Toy {
    fn new() -> Self {
        Self { calls: AtomicUsize::new(0), garbled: |_, _| false }
    }
}

#[async_trait]
impl SupportJudge for Toy {
    fn pin(&self) -> JudgePin {
        JudgePin { name: "toy/1".to_owned(), way: "table".to_owned(), prompts: Vec::new() }
    }

    async fn supports(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
        self.calls.fetch_add(pairs.len(), Ordering::Relaxed);
        let needs: [(&str, &[&[&str]]); 4] = [
            ("one", &[&["doc0"]]),
            ("two", &[&["doc1", "doc2"]]),
            ("three", &[&["doc3"]]),
            ("four", &[&["doc0"], &["doc1"]]),
        ];
        let judge = |(claim, evidence): &(&str, &str)| {
            assert!(!claim.contains('['), "the claim has citations: {claim}");
            if (self.garbled)(claim, evidence) {
                return Judged::Unreadable("hm".to_owned());
            }
            let known = needs.iter().find(|(word, _)| claim.contains(word));
            let sets = known.map_or(&[][..], |(_, sets)| *sets);
            Judged::Read(sets.iter().any(|set| set.iter().all(|doc| evidence.contains(doc))))
        };
        Ok(pairs.iter().map(judge).collect())
    }
}

fn shown() -> Vec<ShownPassage> {
    (0..5)
        .map(|n| ShownPassage {
            title: Some(format!("Title {n}")),
            text: format!("text of doc{n}"),
        })
        .collect()
}

async fn scored(output: &str, rules: Rules, judge: &Toy) -> ItemScore {
    let shown = shown();
    let sentences = plan_long(output, shown.len(), rules).expect("a sentence");
    let item = score(&sentences, &shown, judge, rules).await.expect("the judge runs");
    assert_eq!(item.calls, judge.calls.load(Ordering::Relaxed));
    item
}

async fn check(output: &str, rules: Rules, expected: (f64, f64, usize, usize, usize)) {
    let judge = Toy::new();
    let item = scored(output, rules, &judge).await;
    let found = (item.recall, item.precision, item.sentences, item.citations, item.calls);
    let (recall, precision, sentences, citations, calls) = expected;
    assert_eq!(found, (Some(recall), Some(precision), sentences, citations, calls), "{output}");
}

#[tokio::test]
async fn the_golden_vectors_of_the_long_form() {
    let upstream = Rules::upstream();
    check(&format!("{C1} [0]."), upstream, (1.0, 1.0, 1, 1, 1)).await;
    check(&format!("{C2} [1][2]."), upstream, (1.0, 1.0, 1, 2, 5)).await;
    check(&format!("{C1} [0][3]."), upstream, (1.0, 0.5, 1, 2, 4)).await;
    check(&format!("{C1}."), upstream, (0.0, 0.0, 1, 0, 0)).await;
    check(&format!("{C1} [0]. {C1}."), upstream, (1.0, 1.0, 2, 2, 2)).await;
    check(&format!("{C1} [0]. {C3}."), upstream, (0.5, 0.5, 2, 2, 2)).await;
    check(&format!("{C1} [0][9]."), upstream, (0.0, 0.0, 1, 0, 0)).await;
    check(&format!("{C2} [1, 2]."), upstream, (0.0, 0.0, 1, 1, 1)).await;
    check(&format!("{C1} [1][2][3][0]."), upstream, (0.0, 0.0, 1, 3, 1)).await;
    check(&format!("{C1} [0][0]."), upstream, (1.0, 1.0, 1, 2, 3)).await;
    check(&format!("{C4} [0][1]."), upstream, (1.0, 1.0, 1, 2, 3)).await;
    check("short sentence [0].", upstream, (0.0, 0.0, 0, 0, 0)).await;
    check(&format!("{C1} [9]. {C1}."), upstream, (0.0, 0.0, 2, 0, 0)).await;
    assert_eq!(plan_long(" \n", 5, upstream), None);
}

#[tokio::test]
async fn the_corrected_form_reads_every_citation() {
    let corrected = Rules::corrected();
    check(&format!("{C2} [1, 2]."), corrected, (1.0, 1.0, 1, 2, 5)).await;
    check(&format!("{C2} [1-2]."), corrected, (1.0, 1.0, 1, 2, 5)).await;
    check(&format!("{C1} [0][0]."), corrected, (1.0, 1.0, 1, 1, 1)).await;
    // A citation of nothing is a wrong one; the other is still judged.
    check(&format!("{C1} [0][9]."), corrected, (1.0, 0.5, 1, 2, 1)).await;
    // Inherited citations support, or not, without entering precision.
    check(&format!("{C1} [0]. {C1}."), corrected, (1.0, 1.0, 2, 1, 2)).await;
    check(&format!("{C1} [0]. {C3}."), corrected, (0.5, 1.0, 2, 1, 2)).await;
    check(&format!("{C1} [0][9]. {C1}."), corrected, (1.0, 0.5, 2, 2, 2)).await;
    check(&format!("{C1} [1]."), corrected.numbered_from(1), (1.0, 1.0, 1, 1, 1)).await;
    check(&format!("{C1} [0]."), corrected.numbered_from(1), (0.0, 0.0, 1, 1, 0)).await;
    let item = scored(&format!("{C1} [1][2][3][0]."), corrected, &Toy::new()).await;
    assert_eq!((item.ignored, item.citations), (1, 3));
}

#[tokio::test]
async fn a_verdict_that_cannot_be_read_is_in_no_share() {
    let rules = Rules::upstream();
    let joint = Toy { garbled: |claim, _| claim.contains("three"), ..Toy::new() };
    let item = scored(&format!("{C1} [0]. {C3} [3]."), rules, &joint).await;
    assert_eq!((item.recall, item.precision), (Some(1.0), Some(1.0)));
    assert_eq!((item.sentences, item.unreadable_sentences, item.unreadable_citations), (2, 1, 1));

    let item =
        scored(&format!("{C3} [3]."), rules, &Toy { garbled: |_, _| true, ..Toy::new() }).await;
    assert_eq!((item.recall, item.precision), (None, None));

    // Together they support it, the first alone cannot be read, the second is needed.
    let part = Toy {
        garbled: |_, evidence| evidence.contains("doc1") && !evidence.contains("doc2"),
        ..Toy::new()
    };
    let item = scored(&format!("{C2} [1][2]."), rules, &part).await;
    assert_eq!((item.citations, item.good_citations, item.unreadable_citations), (0, 0, 2));
    assert_eq!((item.recall, item.precision), (Some(1.0), None));
}

#[tokio::test]
async fn the_short_form_has_the_question_in_its_claim() {
    let shown = shown();
    let rules = Rules::upstream();
    let sentence = plan_short("Is one [3] true?", "yes [0]", shown.len(), rules);
    assert_eq!(sentence.claim, "Is one [3] true? yes");
    assert_eq!(sentence.cited, [3, 0]);
    let corrected = plan_short("Is one [3] true?", "yes [0]", shown.len(), Rules::corrected());
    assert_eq!(corrected.cited, [0]);

    let judge = Toy::new();
    let sentence = plan_short("Is one true?", "yes [0]", shown.len(), rules);
    let item = score(&[sentence], &shown, &judge, rules).await.expect("the judge runs");
    assert_eq!((item.recall, item.precision, item.calls), (Some(1.0), Some(1.0), 1));
    let sentence = plan_short("Is one true?", "yes", shown.len(), rules);
    let item = score(&[sentence], &shown, &judge, rules).await.expect("the judge runs");
    assert_eq!((item.recall, item.precision, item.calls), (Some(0.0), Some(0.0), 0));
}

struct Dead;

#[async_trait]
impl SupportJudge for Dead {
    fn pin(&self) -> JudgePin {
        JudgePin { name: "dead".to_owned(), way: String::new(), prompts: Vec::new() }
    }

    async fn supports(&self, _: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
        Err(PortError::new(PortErrorKind::Unavailable, "nobody is there"))
    }
}

#[tokio::test]
async fn a_dead_judge_gives_no_score() {
    let rules = Rules::upstream();
    let sentences = plan_long(&format!("{C1} [0]."), 5, rules).expect("a sentence");
    assert!(score(&sentences, &shown(), &Dead, rules).await.is_err());
}

#[tokio::test]
async fn corpus_scores_and_over_citation() {
    let rules = Rules::upstream();
    let texts = [format!("{C1} [0][3]. {C3} [3]."), format!("{C1} [0]."), format!("{C2} [0][1].")];
    let mut items: Vec<(String, summary::Scored)> = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        items.push((n.to_string(), Ok(scored(text, rules, &Toy::new()).await)));
    }
    items.push(("3".to_owned(), Err("no sentence".to_owned())));
    let (recall, precision) = summary::columns("upstream", &items);
    assert_eq!(recall.values(), [1.0, 1.0, 0.0]);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(precision.values().iter().zip([2.0 / 3.0, 1.0, 0.0]).all(|(a, b)| close(*a, b)));
    assert_eq!(recall.summary(1).left_out["no sentence"].count, 1);

    // Harmonic mean of 2/3 and 5/9, not the mean of three F1s.
    let f1 = summary::f1(&items, 1).expect("scores");
    assert!(close(f1.mean, 2.0 * (2.0 / 3.0) * (5.0 / 9.0) / (2.0 / 3.0 + 5.0 / 9.0)), "{f1:?}");

    let ours = summary::over_citation(&items);
    assert!(close(ours.several, 0.5) && close(ours.supported, 0.5) && close(ours.over_cited, 1.0));
    let upstream = summary::over_citation_upstream(&items);
    assert!(close(upstream.several, 2.0), "two sentences over the last answer's one");
}

/// At least 0.6 of the claim's words occur in the evidence: a rule the golden script computes too.
struct WordRule;

#[async_trait]
impl SupportJudge for WordRule {
    fn pin(&self) -> JudgePin {
        JudgePin { name: "words/1".to_owned(), way: "0.6".to_owned(), prompts: Vec::new() }
    }

    async fn supports(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
        let judge = |(claim, evidence): &(&str, &str)| {
            let (claim, evidence) = (claim.to_lowercase(), evidence.to_lowercase());
            let words: Vec<&str> = crate::metrics::text::python::words(&claim).collect();
            let found = words.iter().filter(|word| evidence.contains(**word)).count();
            Judged::Read(!words.is_empty() && 10 * found >= 6 * words.len())
        };
        Ok(pairs.iter().map(judge).collect())
    }
}

#[derive(Deserialize)]
struct Case {
    output: String,
    ctxs: Vec<Ctx>,
    expected: Option<Expected>,
}

#[derive(Deserialize)]
struct Ctx {
    title: Option<String>,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Expected {
    recall: f64,
    precision: f64,
    sentences: usize,
    citations: usize,
    calls: usize,
    several: usize,
    over_cited: usize,
}

async fn hold_against_the_reference(cases: &str) -> usize {
    let cases: Vec<Case> = serde_json::from_str(cases).expect("golden file");
    let rules = Rules::upstream();
    for case in &cases {
        let shown: Vec<ShownPassage> = case
            .ctxs
            .iter()
            .map(|ctx| ShownPassage { title: ctx.title.clone(), text: ctx.text.clone() })
            .collect();
        let planned = plan_long(&case.output, shown.len(), rules);
        assert_eq!(planned.is_some(), case.expected.is_some(), "{:?}", case.output);
        let (Some(planned), Some(expected)) = (planned, &case.expected) else { continue };
        let item = score(&planned, &shown, &WordRule, rules).await.expect("a rule always runs");
        let close = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-12);
        assert!(close(item.recall, expected.recall), "{:?} {expected:?}", case.output);
        assert!(close(item.precision, expected.precision), "{:?} {expected:?}", case.output);
        let counts = [item.sentences, item.citations, item.calls, item.several, item.over_cited];
        let Expected { sentences, citations, calls, several, over_cited, .. } = expected;
        assert_eq!(counts, [*sentences, *citations, *calls, *several, *over_cited]);
    }
    cases.len()
}

#[tokio::test]
async fn generated_answers_score_as_with_the_reference_scorer() {
    let cases = include_str!("../../../tests/golden/citation_scores.json");
    assert_eq!(hold_against_the_reference(cases).await, 120);
}

#[test]
fn hostile_answers_are_planned_in_one_pass() {
    for text in ["[".repeat(1_000_000), "[1,".repeat(300_000), "[1][".repeat(250_000)] {
        for rules in [Rules::upstream(), Rules::corrected()] {
            assert_eq!(plan_long(&text, 3, rules).map(|planned| planned.len()), Some(1));
        }
    }
}

#[test]
fn the_published_f1_is_the_harmonic_mean_of_the_published_means() {
    let check = |recall: f64, precision: f64, f1: f64| {
        let found = crate::statistics::harmonic_of_means(&[&(recall, precision)]).expect("a row");
        assert!((found - f1).abs() < 0.06, "{found} is not {f1}");
    };
    check(43.2, 42.5, 42.8);
    check(37.0, 38.0, 37.5);
    check(0.6, 0.8, 0.7);
}

#[test]
fn the_judge_reads_titles_only_where_there_are_any() {
    let [first, ..] = &shown()[..] else { unreachable!("five passages") };
    assert_eq!(first.for_judge(), "Title: Title 0\ntext of doc0");
    let untitled = ShownPassage { title: None, ..first.clone() };
    assert_eq!(untitled.for_judge(), "text of doc0");
}
