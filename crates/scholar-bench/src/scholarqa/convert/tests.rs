use super::*;
use crate::scholarqa::BenchTask;

fn read_text(text: &str) -> Result<Imported, DataError> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs_err::write(file.path(), text).expect("written");
    read_predictions(file.path())
}

fn items() -> Vec<Item> {
    ["How?", "Why?", "How?"]
        .iter()
        .enumerate()
        .map(|(nth, question)| Item::new(BenchTask::Cs, format!("case{nth}"), *question))
        .collect()
}

fn aligned(text: &str) -> Result<(Vec<Prediction>, Vec<String>), DataError> {
    align(read_text(text)?, &items(), "Scholar-CS", false)
}

#[test]
fn every_upstream_shape_is_read_with_its_numbers() {
    let record = r#"{"input": "How?", "output": "So [1].", "answer": "", "ctxs": [{"title": "A", "text": "a", "authors": "x", "citation_counts": 3}, "b"]}"#;
    for text in [record.to_owned(), format!("[{record}]"), format!("{{\"data\": [{record}]}}")] {
        let read = read_text(&text).expect(&text);
        let prediction = &read.predictions[0].prediction;
        assert_eq!((prediction.input.as_str(), prediction.output.as_str()), ("How?", "So [1]."));
        let texts: Vec<&str> = prediction.ctxs.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["a", "b"]);
        assert_eq!(prediction.ctxs[0].citation_count, Some(3));
    }
    let map = r#"{"input": "How?", "output": "So [10].", "ctxs": {"10": ["ten", "T"], "2": ["two", ""]}}"#;
    let read = read_text(map).expect("a map");
    let ctxs = &read.predictions[0].prediction.ctxs;
    assert_eq!((ctxs.len(), ctxs[10].text.as_str(), ctxs[2].text.as_str()), (11, "ten", "two"));
    assert_eq!(ctxs[10].title, "T");
    let names =
        r#"{"input": "How?", "output": "So [1].", "ctxs": {"b": ["two", ""], "a": ["one", ""]}}"#;
    assert!(read_text(names).expect("names").notices[0].contains("not numbers"));
}

#[test]
fn a_rubric_answer_keeps_the_numbers_of_its_list() {
    let text = r#"{"case_id": "case1", "answer_text": "So [4]. And [2].\n\nReferences:\n[2] Second paper text\nmore\n[4] Fourth"}"#;
    let read = read_text(text).expect("read");
    let prediction = &read.predictions[0].prediction;
    assert_eq!(prediction.output, "So [4]. And [2].");
    assert_eq!(prediction.ctxs.len(), 5);
    assert_eq!(prediction.ctxs[2].text, "Second paper text\nmore");
    let (back, left_out) = render(std::slice::from_ref(prediction), Shape::Rubric);
    assert_eq!(left_out, 0);
    let back: Value = serde_json::from_str(&back).expect("JSON");
    assert_eq!(
        back["answer_text"],
        "So [4]. And [2].\n\nReferences:\n[2] Second paper text more\n[4] Fourth"
    );
}

#[test]
fn only_what_the_block_shows_was_shown() {
    let text = r#"{"input": "How?", "output": "x [0]", "final_passages": "[0] Title: A Text: a\n[1] Title: B Text: b\n", "ctxs": [{"text": "a"}, {"text": "b"}, {"text": "c"}]}"#;
    let read = read_text(text).expect("read");
    assert_eq!(read.predictions[0].prediction.shown_ctxs().len(), 2);
    let without =
        r#"[{"input": "How?", "output": "x [0]", "final_passages": "[0] Title: A Text: a"}]"#;
    let read = read_text(without).expect("read");
    assert_eq!(read.predictions[0].prediction.ctxs[0].title, "A");
}

#[test]
fn shapes_convert_into_one_another() {
    let mut first = Prediction::new("case0", "How?", "So [1].");
    first.ctxs = vec![
        Context { text: "a".to_owned(), ..Context::default() },
        Context { title: "B".to_owned(), text: "b".to_owned(), ..Context::default() },
    ];
    let mut failed = Prediction::new("case1", "Why?", "");
    failed.status = PredictionStatus::Failed;
    let all = [first, failed];
    for (name, shape) in Shape::NAMES {
        assert_eq!(Shape::named(name), Some(shape));
        let (text, left_out) = render(&all, shape);
        let expected = usize::from(shape != Shape::Ours);
        assert_eq!(left_out, expected, "{name}");
        let (back, _) = aligned(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(back[0].id, "case0", "{name}");
        assert!(back[0].output.contains("So [1]."), "{name}");
        assert!(back[0].ctxs[1].text.contains('b'), "{name}: {:?}", back[0].ctxs);
    }
}

#[test]
fn records_find_their_items() {
    let by_input = r#"[{"input": " Why? ", "output": "b"}, {"input": "How?", "output": "a"}]"#;
    let (found, notices) = aligned(by_input).expect("aligned");
    let got: Vec<(&str, &str)> = found.iter().map(|p| (p.id.as_str(), p.output.as_str())).collect();
    assert_eq!(got, [("case0", "a"), ("case1", "b"), ("case2", "a")]);
    assert_eq!(found[2].duplicate_of.as_deref(), Some("case0"));
    assert!(notices.is_empty(), "{notices:?}");
    let each = r#"[{"input": "How?", "output": "1"}, {"input": "Why?", "output": "2"}, {"input": "How?", "output": "3"}]"#;
    let outputs: Vec<String> =
        aligned(each).expect("aligned").0.into_iter().map(|p| p.output).collect();
    assert_eq!(outputs, ["1", "2", "3"]);
    let by_place = r#"[{"response": "1"}, {"response": "2"}, {"response": "3"}]"#;
    assert_eq!(aligned(by_place).expect("as many as items").0.len(), 3);
    let partly = r#"{"id": "case1", "output": "b"}"#;
    let (found, notices) = aligned(partly).expect("aligned");
    assert_eq!((found.len(), found[0].input.as_str()), (1, "Why?"));
    assert!(notices[0].contains("2 of 3 items"), "{notices:?}");
}

#[test]
fn wrong_predictions_are_named() {
    let check = |text: &str, says: &str| {
        let error = aligned(text).expect_err(text).to_string();
        assert!(error.contains(says), "{error}");
    };
    check(r#"{"input": "How?"}"#, "line 1: the field `output` is missing");
    check(r#"{"input": "How?", "output": null}"#, "`output` is null instead of text");
    check(r#"{"input": "How?", "output": ["a"]}"#, "`output` is a list");
    check(r#"{"input": "How?", "output": "a", "ctxs": 3}"#, "`ctxs` is a number");
    check(r#"{"input": "How?", "output": "a", "ctxs": [3]}"#, "`ctxs`, element 1: a number");
    check(r#"{"input": "How?", "output": "a", "ctxs": {"1": 3}}"#, "`ctxs`, key \"1\"");
    check(r#"{"answer_text": "a"}"#, "`case_id` is missing");
    check(r#"{"schema": "openscholar.prediction/2", "output": "a"}"#, "prediction/2");
    check(
        "{\"id\": \"case1\", \"output\": \"a\"}\n{\"id\": \"case1\", \"output\": \"b\"}",
        "line 2 has the id \"case1\" of",
    );
    check(r#"{"id": "bio_7", "output": "a"}"#, "1 of 1 predictions of");
    check(r#"{"response": "1"}"#, "are for no item of Scholar-CS");
    let some = "{\"id\": \"case1\", \"output\": \"a\"}\n{\"id\": \"x\", \"output\": \"b\"}";
    check(some, "for example \"x\"");
    let skipped = align(read_text(some).expect("read"), &items(), "Scholar-CS", true);
    assert!(skipped.expect("skipped").1.iter().any(|notice| notice.contains("no item")));
}

#[test]
fn empty_and_huge_outputs_are_said() {
    let read = read_text(r#"{"input": "How?", "output": " "}"#).expect("read");
    assert!(read.notices[0].contains("line 1: the output is empty"), "{:?}", read.notices);
    let huge = format!("{{\"input\": \"How?\", \"output\": \"{}\"}}", "word ".repeat(200_000));
    let read = read_text(&huge).expect("read");
    assert!(read.notices[0].contains("1000000 characters"), "{:?}", read.notices);
    assert!(!read.predictions[0].prediction.is_final());
}
