use super::*;

fn lines(rows: &[serde_json::Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn row(id: &str, output: &str) -> serde_json::Value {
    serde_json::json!({"id": id, "input": format!("What of {id}?"), "output": output, "ctxs": [
        {"title": "P0", "text": "zero"}, {"title": "P1", "text": "one"}, {"title": "P2", "text": "two"}]})
}

fn read(system: &str, rows: &[serde_json::Value]) -> Predictions {
    read_predictions(&lines(rows), system, Numbering::Detect).expect("readable")
}

#[test]
fn citations_are_numbered_alike_and_only_cited_passages_are_listed() {
    let a = read(
        "alpha",
        &[row(
            "q",
            "[Response_Start]Seen [2, 0] and [2][7].\n\n## References\n[0] P0[Response_End]",
        )],
    );
    let b = read("beta", &[row("q", "First [1], then [3-3], x[1].")]);
    let paired = pair(&a, &b, None);
    let [first, second] = &paired.instances[0].answers;
    assert_eq!(first.text, "Seen [1][2] and [1][?].");
    let listed = |answer: &Answer| -> Vec<(usize, String)> {
        answer.references.iter().map(|one| (one.number, one.title.clone())).collect()
    };
    assert_eq!(listed(first), [(1, "P2".to_owned()), (2, "P0".to_owned())]);
    // Nothing cites 0 in this file: it counts from 1.
    assert_eq!(second.text, "First [1], then [2], x[1].");
    assert_eq!(listed(second), [(1, "P0".to_owned()), (2, "P2".to_owned())]);
}

#[test]
fn numbers_are_taken_as_said() {
    let mut ours = row("q", "One [1].");
    ours["schema"] = "openscholar.prediction/1".into();
    let b = read("beta", &[row("q", "No [2].")]);
    let cited =
        |a: &Predictions| pair(a, &b, None).instances[0].answers[0].references[0].title.clone();
    assert_eq!(cited(&read("alpha", &[ours])), "P1");
    let text = lines(&[row("q", "One [1].")]);
    let from = |n| read_predictions(&text, "alpha", Numbering::From(n)).expect("readable");
    assert_eq!((cited(&from(0)), cited(&from(1))), ("P1".to_owned(), "P0".to_owned()));
    let numbered = serde_json::json!([{"id": "q", "input": "What of q?", "output": "x [5]",
        "ctxs": [{"number": 5, "title": "five", "text": "t"}]}]);
    let read = read_predictions(&numbered.to_string(), "alpha", Numbering::Detect).expect("a list");
    assert_eq!(cited(&read), "five");
}

#[test]
fn items_meet_by_name_or_question_and_the_rest_is_told() {
    let mut failed = row("f", "");
    failed["status"] = "failed".into();
    let mut other_name = row("q2", "b2");
    other_name["id"] = "z".into();
    let mut own = row("q1", "a1");
    own["annotator"] = "Noman".into();
    let a = read("alpha", &[own, row("q2", "a2"), row("q3", "a3"), row("q4", ""), failed]);
    let b = read(
        "Beta 2",
        &[row("q1", "As beta-2, I say"), other_name, row("q4", "b4"), row("q5", "b5")],
    );
    let paired = pair(&a, &b, None);
    let ids: Vec<&str> = paired.instances.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["q1", "q2"]);
    assert_eq!(paired.instances[0].authors, ["Noman"]);
    let all = paired.notices.join("\n");
    for words in [
        "1 questions of alpha",
        "1 questions of Beta 2",
        "1 questions are left out",
        "1 items of alpha failed",
        "may tell which is which: q1",
    ] {
        assert!(all.contains(words), "{words} is missing in\n{all}");
    }
    assert_eq!(pair(&a, &b, Some((1, 7))).instances.len(), 1);
}

#[test]
fn the_same_answer_twice_is_told() {
    let rows = [row("q1", "Alike [1]."), row("q2", "Alike [1].")];
    let mut other = rows.clone();
    other[1]["ctxs"][0]["text"] = "another passage".into();
    let paired = pair(&read("alpha", &rows), &read("beta", &other), None);
    assert_eq!(paired.instances.len(), 2);
    assert!(paired.notices[0].starts_with("1 questions have the same answer"), "{paired:?}");
}

#[test]
fn in_a_journal_the_last_line_of_an_item_counts() {
    let line = |output: &str, status: &str| {
        let mut line = row("q", output);
        line["schema"] = "openscholar.prediction/1".into();
        line["status"] = status.into();
        line
    };
    let read =
        read("s", &[line("", "failed"), line("first", "answered"), line("second", "answered")]);
    assert_eq!((read.items.len(), read.items[0].text.as_str(), read.failed), (1, "second", 0));
}

#[test]
fn upstreams_shapes_are_read() {
    let completion = |model: &str| {
        serde_json::json!({"model": model, "completion": "Text <span>[1]</span> [0]", "refs": "x",
            "refs_list": [{"title": "T0", "id": 0, "url": "https://x.org", "text": "p"}, {"title": "T1", "id": 1, "text": "q"}]})
    };
    let line = serde_json::json!({"prompt": "Why?", "completions": [completion("OS"), completion("OS-GPT4o")]});
    let instances = read_instances(&line.to_string()).expect("readable");
    assert_eq!(instances[0].id, "item-1");
    let [first, second] = &instances[0].answers;
    assert_eq!((first.system.as_str(), second.system.as_str()), ("OS", "OS-GPT4o"));
    assert_eq!(first.text, "Text <span>[1]</span> [2]");
    assert_eq!(first.references[0].title, "T1");
    let data = serde_json::json!({"data": [{"case_id": 7, "prompt": "Why?", "answer_text": "x"}]});
    let read = read_predictions(&data.to_string(), "s", Numbering::Detect).expect("readable");
    assert_eq!((read.items[0].id.as_str(), read.items[0].text.as_str()), ("7", "x"));
    let one =
        read_predictions(&row("q", "x").to_string(), "s", Numbering::Detect).expect("one line");
    assert_eq!(one.items.len(), 1);
}

#[test]
fn what_cannot_be_used_is_named_with_its_place() {
    let answer = |system: &str, text: &str| serde_json::json!({"system": system, "text": text});
    let good = |id: &str| serde_json::json!({"id": id, "question": "Why?", "answers": [answer("a", "x"), answer("b", "y")]});
    assert_eq!(read_instances(&lines(&[good("1"), good("2")])).expect("readable").len(), 2);
    for (rows, says) in [
        (vec![good("1"), good("1")], "line 2: the instance \"1\" came before"),
        (
            vec![serde_json::json!({"id": "1", "question": "Why?", "answers": [answer("a", "x")]})],
            "line 1",
        ),
        (
            vec![
                serde_json::json!({"id": "1", "question": " ", "answers": [answer("a", "x"), answer("b", "y")]}),
            ],
            "no question",
        ),
        (
            vec![
                serde_json::json!({"id": "1", "question": "W", "answers": [answer("a", "x"), answer("a", "y")]}),
            ],
            "both answers",
        ),
        (
            vec![
                serde_json::json!({"id": "1", "question": "W", "answers": [answer("a", "x"), answer("b", "")]}),
            ],
            "is empty",
        ),
        (
            vec![
                serde_json::json!({"id": "1", "question": "W", "model": "x", "answers": [answer("a", "x"), answer("b", "y")]}),
            ],
            "model",
        ),
        (vec![serde_json::json!({"prompt": "W", "completions": []})], "0 completions"),
    ] {
        let error = read_instances(&lines(&rows)).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
    for (text, says) in [
        ("{\"input\": \"x\"}\n{\"input\": \"x\"}\n", "line 1: has no text"),
        ("[{\"output\": \"x\"}]", "item 1: has no question"),
        ("[1, 2", "line 1: is not JSON"),
        (
            "{\"id\": 1, \"input\": \"x\", \"output\": \"y\"}\n{\"id\": 1, \"input\": \"x\", \"output\": \"y\"}",
            "line 2: the item \"1\"",
        ),
        ("{\"id\": 1, \"input\": \"x\", \"output\": \"y\"}\n{nonsense", "line 2: is not JSON"),
    ] {
        let error = read_predictions(text, "s", Numbering::Detect).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}
