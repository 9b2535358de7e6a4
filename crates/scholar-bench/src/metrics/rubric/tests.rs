use super::agreement::{Comparison, agreement};
use super::config::{RubricError, read};
use super::*;

fn close(a: Option<f64>, b: f64) -> bool {
    a.is_some_and(|a| (a - b).abs() < 1e-9)
}

fn item(name: &str, weight: f64, evidence: &[&str]) -> RubricItem {
    RubricItem {
        name: name.to_owned(),
        criterion: "The answer should say so.".to_owned(),
        weight,
        evidence: evidence.iter().map(|text| (*text).to_owned()).collect(),
    }
}

fn config() -> RubricConfig {
    let (must, nice) = item_weights(1, 1);
    RubricConfig {
        question: "Why?".to_owned(),
        low_length: 300,
        high_length: 600,
        length_weight: 0.05,
        expertise_weight: 0.05,
        citations_weight: 0.2,
        excerpts_weight: 0.1,
        other_properties: vec![
            item("most_important_item_0", must, &["snippet"]),
            item("nice_to_have_item_0", nice, &[]),
        ],
    }
}

fn components() -> Components {
    Components {
        length: 0.5,
        expertise: Judged::Read(0.8),
        citations: Judged::Read(0.75),
        excerpts: Judged::Read(0.0),
        items: vec![
            ItemValue { criterion: Some(Judged::Read(0.9)), evidence: Some(Judged::Read(0.5)) },
            ItemValue { criterion: Some(Judged::Read(0.4)), evidence: None },
        ],
    }
}

#[test]
fn the_length_falls_from_300_to_600_words() {
    let check = |words: usize, expected: f64| {
        assert!((length_score(words, 300, 600) - expected).abs() < 1e-6, "{words}");
    };
    for (words, expected) in [(0, 1.0), (300, 1.0), (301, 0.996_667), (450, 0.5), (599, 0.003_333)]
    {
        check(words, expected);
    }
    check(600, 0.0);
    check(5_000, 0.0);
    assert!((length_score(10, 300, 300) - 1.0).abs() < 1e-12, "no division by zero");
}

#[test]
fn items_weigh_six_tenths() {
    let (must, nice) = item_weights(3, 1);
    assert!((nice - 0.085_714).abs() < 1e-6 && (must - 0.171_429).abs() < 1e-6);
    for (m, n) in [(1, 0), (0, 2), (4, 3)] {
        let (must, nice) = item_weights(m, n);
        let sum = crate::statistics::ratio(m, 1) * must + crate::statistics::ratio(n, 1) * nice;
        assert!((sum - 0.6).abs() < 1e-12);
    }
}

#[test]
fn the_golden_score() {
    for unread in [Unread::Reweigh, Unread::Zero] {
        let found = score(&config(), &components(), unread);
        assert!(close(found.score, 0.575) && close(found.ann_score, 0.6), "{found:?}");
        assert!(found.unreadable.is_empty());
    }
}

#[test]
fn what_could_not_be_read_is_named_and_not_zero() {
    let mut read = components();
    read.items[0].evidence = Some(Judged::Unreadable("Sorry".to_owned()));
    let ours = score(&config(), &read, Unread::Reweigh);
    assert_eq!(ours.unreadable, ["most_important_item_0_evidence"]);
    assert!(close(ours.score, (0.575 - 0.1) / 0.8), "{ours:?}");
    assert!(close(ours.ann_score, (0.18 + 0.08) / 0.4), "{ours:?}");
    let upstream = score(&config(), &read, Unread::Zero);
    assert!(close(upstream.score, 0.475), "{upstream:?}");

    for value in &mut read.items {
        value.criterion = Some(Judged::Unreadable("Sorry".to_owned()));
    }
    let ours = score(&config(), &read, Unread::Reweigh);
    assert_eq!((ours.score, ours.ann_score), (None, None), "less than half was read");
}

#[test]
fn an_item_with_one_part_gives_it_the_whole_weight() {
    let mut only_evidence = components();
    for value in &mut only_evidence.items {
        value.criterion = None;
    }
    // 0.4 × 0.5 for the snippets; the item without any counts 0 upstream and not at all in ours.
    let upstream = score(&config(), &only_evidence, Unread::Zero);
    assert!(close(upstream.ann_score, 0.2 / 0.6), "{upstream:?}");
    let ours = score(&config(), &only_evidence, Unread::Reweigh);
    assert!(close(ours.ann_score, 0.5), "{ours:?}");
}

fn case(id: &str, question: &str) -> String {
    let config = RubricConfig { question: question.to_owned(), ..config() };
    let case = RubricCase {
        initial_prompt: question.to_owned(),
        metric_config: config::MetricConfig { name: "rubric_corpusqa_generic".to_owned(), config },
        case_id: id.to_owned(),
        annotator: "Annotator 1 Assignments".to_owned(),
        agreement: false,
    };
    serde_json::to_string(&case).expect("plain values")
}

#[test]
fn configurations_are_a_list_or_lines() {
    let lines = format!("{}\n\n{}\n", case("a", "Why?"), case("b", "How?"));
    let list = format!("[{},\n{}]", case("a", "Why?"), case("b", "How?"));
    let of_lines = read(&lines, "rubrics.jsonl").expect("two cases");
    assert_eq!(of_lines, read(&list, "rubrics.json").expect("two cases"));
    assert_eq!(of_lines.len(), 2);
}

#[test]
fn a_wrong_configuration_is_named() {
    let broken = format!("{}\n{{\"case_id\": 3}}\n", case("a", "Why?"));
    let error = read(&broken, "rubrics.jsonl").expect_err("line 2");
    assert!(matches!(error, RubricError::Shape { line: 2, .. }), "{error}");
    let heavy = case("a", "Why?").replace("\"length_weight\":0.05", "\"length_weight\":0.5");
    let error = read(&heavy, "rubrics.jsonl").expect_err("weights");
    assert_eq!(error.to_string(), "rubrics.jsonl: the weights of case a add up to 1.45, not to 1");
    let twice = format!("{0}\n{0}", case("a", "Why?"));
    assert!(matches!(read(&twice, "r"), Err(RubricError::Duplicate { .. })));
    assert!(matches!(read("\n", "r"), Err(RubricError::Empty { .. })));
    assert!(read("[{", "r").is_err());
}

#[test]
fn opposite_annotators_disagree_except_upstream() {
    let questions = [
        (vec![0.1, 0.4, 0.3, 0.9], vec![0.9, 0.6, 0.7, 0.1]),
        (vec![0.2, 0.2, 0.2, 0.2], vec![0.1, 0.2, 0.3, 0.4]),
    ];
    let mean = |comparison| agreement(&questions, comparison, 1).estimate.map(|e| e.mean);
    assert!(close(mean(Comparison::Pearson), -1.0));
    assert!(close(mean(Comparison::Ranks), -1.0));
    assert!(close(mean(Comparison::Kendall), -1.0));
    assert!(close(mean(Comparison::UpstreamPearson), 0.5));
    assert!(close(mean(Comparison::UpstreamKendall), 0.5));
    // Orders [3, 1, 2, 0] and [0, 2, 1, 3], and [0, 1, 2, 3] and [3, 2, 1, 0]: both -1.
    assert!(close(mean(Comparison::UpstreamOrders), 1.0));
    let ours = agreement(&questions, Comparison::Pearson, 1);
    assert_eq!((ours.undefined, ours.per_question[1]), (1, None));
}

#[test]
fn published_configurations_weigh_their_items_as_said() {
    let Some(dir) = scholar_testing::data("scholarqabench") else { return };
    let file = dir.join("scholarqa_cs_rubrics_public.jsonl");
    let text = fs_err::read_to_string(&file).expect("rubrics");
    let cases = read(&text, &file.display().to_string()).expect("published rubrics");
    for case in &cases {
        let config = &case.metric_config.config;
        let is_must = |item: &&RubricItem| item.name.starts_with("most_important");
        let must = config.other_properties.iter().filter(is_must).count();
        let (of_must, of_nice) = item_weights(must, config.other_properties.len() - must);
        for item in &config.other_properties {
            let expected = if is_must(&item) { of_must } else { of_nice };
            assert!((item.weight - expected).abs() < 1e-9, "{} {}", case.case_id, item.name);
        }
    }
    let grading = fs_err::read_to_string(dir.join("rubrics/prometheus_rubrics_v8.json"));
    let grading = crate::metrics::grading::read_rubrics(&grading.expect("rubrics"), "grading");
    let aspects: Vec<String> =
        grading.expect("published rubrics").into_iter().map(|rubric| rubric.aspect).collect();
    assert_eq!(aspects, ["organization", "coverage", "relevance"]);
}
