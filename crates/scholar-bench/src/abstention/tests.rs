use futures::executor::block_on;
use scholar_testing::{FakeAttributor, FakeEncoder};

use super::*;

fn asked(id: &str, question: &str, texts: &[&str]) -> Asked {
    let evidence = texts
        .iter()
        .map(|text| Context { text: (*text).to_owned(), ..Context::default() })
        .collect();
    Asked {
        id: id.to_owned(),
        question: Question::new(question).expect("a question"),
        evidence,
        fitted: false,
    }
}

fn rows(asked: &[Asked]) -> Vec<Row> {
    let encoder: Arc<dyn Encoder> = Arc::new(FakeEncoder::new(64));
    let judge: Arc<dyn Attributor> = Arc::new(FakeAttributor::new());
    let mut n = 0;
    let rows =
        block_on(measure(asked, &Models { encoder, judge }, 1, &mut || n += 1)).expect("measured");
    assert_eq!(n, rows.len());
    rows
}

const EXERCISE: &str =
    "Supervised exercise improved walking distance by 50 m in patients with claudication.";
const DRUGS: &str = "Cilostazol improved walking distance by 40 m in patients with claudication.";
const PARSING: &str =
    "Transition systems parse long sentences in linear time with little loss of accuracy.";

#[test]
fn each_question_meets_its_own_passages_its_neighbours_and_anothers() {
    let all = [
        asked("a", "Does exercise improve walking distance?", &[EXERCISE]),
        asked("b", "Do drugs improve walking distance?", &[DRUGS]),
        asked("c", "How fast are transition systems?", &[PARSING]),
    ];
    let rows = rows(&all);
    assert_eq!(rows.len(), 9);
    let of = |id: &str, given: Given| {
        rows.iter().find(|row| row.id == id && row.given == given).expect("asked").diagnosis.clone()
    };
    let (own, near) = (of("a", Given::Own), of("a", Given::Near));
    assert!(own.probability > near.probability, "the neighbour says nothing of exercise");
}

#[test]
fn a_question_with_the_same_passage_is_no_neighbour() {
    let all = [
        asked("a", "Does exercise improve walking distance?", &[EXERCISE]),
        asked("b", "Does exercise improve walking?", &[PARSING, EXERCISE]),
        asked("c", "How fast are transition systems?", &[DRUGS]),
    ];
    let rows = rows(&all);
    let near = rows.iter().find(|row| row.id == "a" && row.given == Given::Near).expect("asked");
    assert_eq!(near.passages, 1, "those of c");
    let alone = self::rows(&all[..2]);
    assert!(alone.iter().all(|row| row.given == Given::Own), "nobody else to ask");
}

#[test]
fn an_excerpt_behind_another_keeps_its_first_sentence() {
    const MORE: &str =
        "Walking distance did not improve when exercise was done at home without a nurse.";
    let mut one = asked("a", "Does exercise improve walking distance?", &[EXERCISE, MORE]);
    for context in &mut one.evidence {
        context.title = "Exercise in claudication".to_owned();
    }
    let rows = rows(&[one]);
    assert_eq!((rows[0].passages, rows[0].sentences), (2, 2));
}

#[test]
fn the_table_counts_what_is_answered_at_each_threshold() {
    let row = |given, probability: f32, sentences| Row {
        id: "q".to_owned(),
        fitted: false,
        given,
        passages: 2,
        diagnosis: Diagnosis { probability, papers: Vec::new(), missing_terms: Vec::new() },
        sentences,
    };
    let rows = vec![
        row(Given::Own, 0.9, 3),
        row(Given::Own, 0.9, 0),
        row(Given::Near, 0.15, 2),
        row(Given::Far, 0.001, 2),
    ];
    let questions = "set".to_owned();
    let text = markdown(&[Measured { questions, rows: rows.clone() }], 0.15);
    assert!(text.contains("; none here.") && !text.contains("weights were fitted on\n"), "{text}");
    assert!(text.contains("0.15 (preset)"), "{text}");
    let line = |called: &str| {
        let line = text.lines().find(|line| line.contains(called)).expect("a line");
        line.split('|').skip(3).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(line("its own")[..2], ["0.50", "0.50"], "nothing to show is no answer");
    assert_eq!(line("neighbour")[4..6], ["1.00", "0.00"]);
    assert_eq!(line("another")[0], "0.00");

    // A question with a part in the fit stands apart.
    let mut fitted = rows[..2].to_vec();
    fitted.iter_mut().for_each(|row| row.fitted = true);
    let rows = [rows, fitted].concat();
    let text = markdown(&[Measured { questions: "set".to_owned(), rows }], 0.15);
    let (held_out, fitted) =
        text.split_once("## Questions that the weights were fitted on").expect("two parts");
    assert!(
        held_out.contains("## Held-out questions") && !held_out.contains("none here"),
        "{text}"
    );
    assert!(
        held_out.contains("| set | 2 | 2.0 |") && fitted.contains("| set | 2 | 2.0 |"),
        "{text}"
    );
}
