use super::*;

fn sentence(text: &str, answers: Option<bool>) -> LabelledSentence {
    LabelledSentence { answers, ..LabelledSentence::new(text.to_owned()) }
}

fn row(question: &str, paper: &str, title: &str) -> SentenceRow {
    SentenceRow {
        question: question.to_owned(),
        paper: paper.to_owned(),
        title: title.to_owned(),
        in_abstract: true,
        whole: true,
        sentences: vec![
            sentence("Green tea lengthens the sleep of adults.", Some(true)),
            sentence("Tea is a plant of the hills.", Some(false)),
        ],
        source: "bioasq".to_owned(),
    }
}

#[test]
fn training_repeats_no_test_and_no_evaluation() {
    let mut evaluation = Evaluation::default();
    evaluation.add_query("Does milk prevent winter colds in adults?");
    evaluation.add_title("On judged papers");
    let settings = Settings { dev_fraction: 0.0, ..Settings::paper() };
    let mut maker = Maker::new(&evaluation, &settings);
    maker.add(Use::Train, row("Does green tea lengthen sleep?", "a", "On tea"));
    maker.add(Use::Train, row("Does milk prevent winter colds in older adults?", "b", "On milk"));
    maker.add(Use::Train, row("Who drinks rice wine in the morning?", "c", "On judged papers"));
    maker.add(Use::Train, row("Who drinks rice wine in the evening?", "t", "On wine"));
    maker.add(Use::Train, row("What do the cells of a plant eat at night?", "d", "On cells"));
    maker.add(Use::Test, row("What do the cells of a plant eat at night?", "t", "On cells"));
    maker.add(Use::Train, row("", "e", "Nothing asked"));
    let made = maker.finish().expect("rows are left");
    let papers: Vec<&str> = made.splits.train.iter().map(|row| row.paper.as_str()).collect();
    assert_eq!(papers, ["a"]);
    assert_eq!(made.test.len(), 1);
    let removed = &made.splits.ledger.removed()["bioasq"];
    for rule in [
        "evaluation: nearly the same words",
        "evaluation: judged paper",
        "paper of the test split",
        "near-duplicate question",
        "nothing is known of its sentences",
    ] {
        assert_eq!(removed.get(rule), Some(&1), "{rule}: {removed:?}");
    }
}
