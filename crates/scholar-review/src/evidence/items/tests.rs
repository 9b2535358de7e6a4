use scholar_pipeline::Ports;
use scholar_testing::{FakeAttributor, FakeEncoder, FakeSentenceClassifier, MemoryRetriever};
use std::sync::Arc;

use super::super::units::units;
use super::*;
use crate::idea::Idea;

const PLAN: &str = "# Research Plan: Diversity of tuned models\n\n## Problem\n\n\
    Preliminary evidence suggests that tuned models struggle. Existing diversity metrics cannot capture the semantics of programs. \
    We hypothesize that preference-tuned models generate less diverse programs than base models.\n\n\
    ## Method\n\n\
    We propose a novel benchmark of open-ended program synthesis tasks. This approach allows us to measure semantics. \
    We will measure semantic diversity by executing programs on test cases.\n\n\
    - **Lexical diversity**: Using expectation-adjusted distinct n-grams on tokenized programs\n\
    - Batch size of 16\n\n\
    ## Experiment Design\n\n\
    We will sample 100 programs of each model at temperature one with nucleus sampling switched off.\n";

fn found(text: &str, with_models: bool, limits: Limits) -> Items {
    let mut ports =
        Ports::new(Arc::new(MemoryRetriever::corpus()), Arc::new(FakeAttributor::new()));
    if with_models {
        ports.encoder = Some(Arc::new(FakeEncoder::new(32)));
        ports.sentence_classifier = Some(Arc::new(FakeSentenceClassifier::new(32)));
    }
    let idea = Idea::read(text).expect("an idea");
    let mut vectors = Vectors::new(&ports);
    items(&units(&idea), limits, &mut vectors).expect("fakes do not fail")
}

const ALL: Limits = Limits { methods: None, dimensions: 7, per_dimension: 4 };

#[test]
fn methods_suppositions_and_claims_of_a_plan() {
    for with_models in [false, true] {
        let Items { methods, suppositions, statements } = found(PLAN, with_models, ALL);
        let has = |items: &[Item], part: &str| items.iter().any(|item| item.text.contains(part));
        assert!(has(&methods, "executing programs"), "{methods:#?}");
        assert!(has(&methods, "Lexical diversity: Using expectation-adjusted"), "{methods:#?}");
        assert!(has(&methods, "sample 100 programs"));
        assert!(!has(&methods, "Batch size") && !has(&methods, "allows us"));
        assert!(!has(&methods, "Preliminary") && !has(&methods, "hypothesize"));
        let claims: Vec<&str> =
            suppositions.iter().filter_map(|item| item.claim.as_deref()).collect();
        assert_eq!(
            claims,
            [
                "Preference-tuned models generate less diverse programs than base models.",
                "Existing diversity metrics cannot capture the semantics of programs."
            ]
        );
        assert!(has(&statements, "novel benchmark"));
        assert_eq!(statements[0].dimension, "data and benchmarks");
        assert!(!has(&statements, "Preliminary"));
        assert_eq!((methods[0].id.as_str(), statements[0].id.as_str()), ("M1", "C1"));
    }
}

#[test]
fn limits_hold_and_repetitions_go() {
    let limits = Limits { methods: Some(1), dimensions: 1, per_dimension: 1 };
    let few = found(PLAN, false, limits);
    assert_eq!((few.methods.len(), few.statements.len()), (1, 1));
    let sentence = "We will train a convolutional network on galaxy spectra of the survey.";
    let twice = found(&format!("## Method\n\n{sentence}\n\n{sentence}\n"), false, ALL);
    assert_eq!(twice.methods.len(), 1);
}

#[test]
fn a_text_without_methods_has_none() {
    let essay = "The sea is blue in summer and grey in winter, and the ships of the old harbour come and go with the tides of the moon.";
    let none = found(essay, true, ALL);
    assert_eq!(none, Items::default());
}
