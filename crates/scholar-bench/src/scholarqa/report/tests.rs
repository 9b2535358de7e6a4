use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::judge::JudgePin;
use crate::metrics::Column;
use crate::metrics::citation::Rules;
use crate::metrics::rubric::Unread;
use crate::scholarqa::journal::Written;
use crate::scholarqa::run::{RUN_SCHEMA, RunState};
use crate::scholarqa::score::{Judges, RUBRIC_ITEMS, ScoreOptions, Subject, score};
use crate::scholarqa::{Ablation, Gold, Prediction, PredictionStatus, PredictionUsage};
use crate::statistics::Estimate;

/// A run over 20 yes-or-no questions of which the first `right` are answered right.
fn measured(name: &str, right: usize, ablation: Ablation) -> Measured {
    let items: Vec<Item> = (0..20)
        .map(|nth| {
            let mut item = Item::new(BenchTask::PubMedQa, format!("q{nth}"), "Is <b> it?");
            item.gold = Gold::Label("yes".to_owned());
            item
        })
        .collect();
    let predictions: Vec<Prediction> = items
        .iter()
        .enumerate()
        .map(|(nth, item)| {
            let mut one =
                Prediction::new(&item.id, &item.question, if nth < right { "yes" } else { "no" });
            if nth == 19 {
                one.status = PredictionStatus::Cut;
            }
            one
        })
        .collect();
    let options =
        ScoreOptions { rules: Rules::corrected(), aspects: Vec::new(), unread: Unread::Reweigh };
    let subject =
        Subject { run: name, task: BenchTask::PubMedQa, items: &items, predictions: &predictions };
    let scoring = score(subject, Judges::default(), &options, &|_, _| {});
    let scores = vec![futures::executor::block_on(scoring)];
    let mut manifest = Manifest {
        schema: RUN_SCHEMA.to_owned(),
        name: name.to_owned(),
        task: BenchTask::PubMedQa,
        system: "gold-context".to_owned(),
        ablation,
        config: Value::Null,
        models: BTreeMap::new(),
        datastore: None,
        source_sha256: None,
        data: PathBuf::from("/somewhere/private"),
        data_sha256: "0".to_owned(),
        seed: 1,
        limit: None,
        before: None,
        items: items.iter().map(|item| item.id.clone()).collect(),
        command: String::new(),
        machine: String::new(),
        started: String::new(),
        state: RunState::OutOfBudget,
        ended_by: Some("the budget of 3 model calls is used up".to_owned()),
        counts: Counts::default(),
        usage: PredictionUsage::default(),
        seconds: 0.0,
        notices: Vec::new(),
    };
    let written = Written { predictions, torn: false };
    manifest.count(&written);
    Measured {
        run: Run { folder: PathBuf::from(name), manifest, written },
        items,
        scores,
        pairwise: Vec::new(),
    }
}

fn two() -> Vec<Measured> {
    let less = Ablation { no_rerank: true, ..Ablation::default() };
    vec![measured("whole", 16, Ablation::default()), measured("less", 6, less)]
}

#[test]
fn citation_scores_of_verbatim_answers_stand_apart() {
    let with_citations = |name: &str, system: &str, f1: f64| {
        let mut one = measured(name, 16, Ablation::default());
        one.run.manifest.system = system.to_owned();
        for scores in &mut one.scores {
            scores.citation_f1 = Some(Estimate { mean: f1, low: f1, high: f1 });
            let mut recall = scores.metrics[0].clone();
            recall.summary.metric = "citation recall (corrected)".to_owned();
            scores.metrics.push(recall);
        }
        one
    };
    let runs = [
        with_citations("copied", "evidence+gold", 0.951),
        with_citations("written", "generative", 0.632),
    ];
    let markdown = report(&runs, "made by a test").document.markdown();
    let (against, apart) = markdown.split_once("‡ Sentences of this system").expect("the reason");
    let has = |text: &str, name: &str, end: &str| {
        text.lines().any(|line| line.starts_with(&format!("| {name} |")) && line.ends_with(end))
    };
    assert!(has(against, "copied", "| ‡ |") && !against.contains("95.1"), "{against}");
    assert!(has(against, "written", "| 63.2 (63.2–63.2, n 19) |"), "{against}");
    assert!(has(apart, "copied", "| 95.1 (95.1–95.1, n 19) |"), "{apart}");
    let plain = report(&two(), "made by a test").document.markdown();
    assert!(!plain.contains('‡'), "{plain}");
}

#[test]
fn published_numbers_are_marked_wherever_they_stand() {
    let runs = two();
    let report = report(&runs, "made by a test");
    let markdown = report.document.markdown();
    assert!(markdown.contains("| OS-8B † | published † | 76.4 † |"), "{markdown}");
    let published = crate::scholarqa::published::published();
    for line in markdown.lines().filter(|line| line.contains("OS-") || line.contains("PaperQA2")) {
        assert!(line.contains('†'), "{line}");
    }
    let lines: Vec<&str> = report.csv.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("published,")).count(), published.len());
    assert!(lines[1].starts_with("measured,whole,pubmedqa,gold-context,whole,accuracy (label),"));
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.contains('"') || line.split(',').count() == columns));
    assert!(!report.json.to_string().contains("/somewhere/private"));
}

#[test]
fn a_report_shows_partial_runs_differences_and_plots() {
    let runs = two();
    let report = report(&runs, "made by a test");
    let markdown = report.document.markdown();
    assert!(markdown.contains("whole: partial, 1 of 20 items without an answer"), "{markdown}");
    assert!(markdown.contains("the budget of 3 model calls"), "{markdown}");
    let row = markdown
        .lines()
        .find(|line| line.starts_with("| accuracy (label) | whole | less | +52.63"))
        .unwrap_or_else(|| panic!("{markdown}"));
    assert!(row.contains('*') && row.contains("| 19 |"), "a sure difference: {row}");
    assert!(markdown.contains("Parts taken out of gold-context"));
    let (name, svg) = report.document.figures().next().expect("a plot");
    assert!(name.ends_with(".svg") && svg.starts_with("<svg") && svg.contains("no rerank"));
    assert!(report.document.html().contains("<figure><svg"));
}

#[test]
fn every_item_has_a_page() {
    let files = pages::pages(&two()[0]);
    assert_eq!(files.len(), 21);
    assert_eq!(files[0].0, "items/whole/0001-q0.html");
    assert!(files[0].1.contains("Is &lt;b&gt; it?") && files[0].1.contains("Reference answer"));
    assert!(files[20].1.contains("0020-q19.html"));
}

/// A run over one question of Scholar-CS with two rubrics, which value it at `under`.
fn rubrics(name: &str, under: [f64; 2]) -> Measured {
    let mut one = measured(name, 0, Ablation::default());
    one.run.manifest.task = BenchTask::Cs;
    let mut column = Column::new(RUBRIC_ITEMS);
    one.items = ["a", "b"]
        .iter()
        .zip(under)
        .map(|(id, value)| {
            column.push(*id, value);
            let mut item = Item::new(BenchTask::Cs, *id, "Twice asked?");
            item.doubly_annotated = true;
            item
        })
        .collect();
    let judge = JudgePin {
        name: "big".to_owned(),
        way: "rubric components".to_owned(),
        prompts: Vec::new(),
    };
    let scores = &mut one.scores[0];
    scores.metrics = vec![Metric { summary: column.summary(1), scale: 100.0, judge: Some(judge) }];
    scores.columns = vec![column];
    one
}

#[test]
fn two_annotators_rubrics_are_compared_over_the_systems() {
    let runs =
        [("x", [0.1, 0.2]), ("y", [0.5, 0.9]), ("z", [0.3, 0.4])].map(|(n, u)| rubrics(n, u));
    let markdown = report(&runs, "made by a test").document.markdown();
    assert!(markdown.contains("| big | 3 | 1 | Pearson's r of ranks | 1.00"), "{markdown}");
    assert!(markdown.contains("no human labels to measure it against"), "{markdown}");
    let opposite = [rubrics("x", [0.1, 0.9]), rubrics("y", [0.5, 0.2])];
    let markdown = report(&opposite, "made by a test").document.markdown();
    assert!(markdown.contains("| big | 2 | 1 | Kendall's tau-b | -1.00"), "signed: {markdown}");
    let alone = report(&opposite[..1], "made by a test").document.markdown();
    assert!(!alone.contains("two annotators"), "{alone}");
}

#[test]
fn what_people_say_of_a_judge_stands_beside_its_numbers() {
    let mut one = measured("whole", 16, Ablation::default());
    let pin = |name: &str| {
        Some(JudgePin { name: name.to_owned(), way: "test".to_owned(), prompts: Vec::new() })
    };
    let mut cited = Column::new("citation recall (corrected)");
    cited.push("q0", 1.0);
    let scores = &mut one.scores[0];
    let metric = |column: &Column, name| Metric {
        summary: column.summary(1),
        scale: 100.0,
        judge: pin(name),
    };
    let mut grade = Column::new("coverage");
    grade.push("q0", 4.0);
    scores.metrics.extend([metric(&grade, "grader"), metric(&cited, "lexical/1")]);
    let unknown = report(&[one.clone()], "made by a test");
    let markdown = unknown.document.markdown();
    assert!(markdown.contains("lexical/1 (test); not measured against people"), "{markdown}");
    assert!(unknown.csv.lines().any(|line| line.contains("coverage") && line.ends_with(",grader")));
    one.scores[0].agreement = Some(json!({
        "sets": [{"name": "SciFact", "n": 300, "balanced_accuracy": {"value": 0.7326}}],
        "selections": [{"set": "CL-SciSumm", "selector": "words", "n": 9, "mean_candidates": 270.2,
                        "at_1": {"value": 0.13, "low": 0.1, "high": 0.17}}],
    }));
    let markdown = report(&[one], "made by a test").document.markdown();
    assert!(
        markdown.contains("lexical/1 (test); balanced accuracy against people 0.73"),
        "{markdown}"
    );
    assert!(markdown.contains("lexical/1, corrected rules; balanced accuracy"), "{markdown}");
    assert!(markdown.contains("| lexical/1 | CL-SciSumm | words | 9 | 270 | 0.130 (0.100–0.170)"));
}

#[test]
fn a_run_of_scirag_stands_beside_its_papers_tables() {
    let plain = report(&two(), "made by a test").document.markdown();
    assert!(!plain.contains("2511.14362"), "{plain}");
    assert!(plain.contains("| SciRAG (GPT-4o) † | published † | 84.1 † |"), "{plain}");
    let mut runs = two();
    for one in &mut runs {
        one.run.manifest.system = "scirag".to_owned();
        one.run.manifest.task = BenchTask::Cs;
    }
    let markdown = report(&runs, "made by a test").document.markdown();
    assert!(markdown.contains("| SciRAG (GPT-4o) no planner † | 52.1 † |"), "{markdown}");
    assert!(
        markdown.contains("| SciRAG (GPT-4o) depth 2 † | 112 † | 47 † | 159 † | 0.09 † |"),
        "{markdown}"
    );
}
