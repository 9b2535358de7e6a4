use serde_json::{Map, Value, json};

use super::*;

/// Reads what `yaml` writes: block mappings of two spaces, lists and scalars on one line.
fn parsed(text: &str) -> Value {
    fn block(lines: &mut std::iter::Peekable<std::vec::IntoIter<&str>>, depth: usize) -> Value {
        let mut values = Map::new();
        while let Some(line) = lines.peek().copied() {
            let indent = line.len() - line.trim_start().len();
            if indent < depth * 2 {
                break;
            }
            assert_eq!(indent, depth * 2, "{line:?}");
            lines.next();
            let (name, rest) = line.trim().split_once(':').expect("a name");
            let value = match rest.trim() {
                "" => block(lines, depth + 1),
                list if list.starts_with('[') => {
                    let items = list.trim_matches(['[', ']']).split(", ");
                    items.map(scalar).collect()
                }
                text => scalar(text),
            };
            assert!(values.insert(name.to_owned(), value).is_none(), "{name} twice");
        }
        Value::Object(values)
    }
    fn scalar(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    block(&mut lines.into_iter().peekable(), 0)
}

fn validate(schema: &str, value: &Value) {
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let problems: Vec<String> =
        validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?} in {value}");
}

fn rows_of(path: &Path) -> Vec<Value> {
    let text = fs_err::read_to_string(path).expect("read");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn exported(to: Trainer, rows: &str) -> (tempfile::TempDir, Result<Exported, DataError>) {
    let folder = tempfile::tempdir().expect("temp dir");
    let train = folder.path().join("rows.jsonl");
    fs_err::write(&train, rows).expect("written");
    let request = Request {
        to,
        dev: Some(train.clone()),
        train,
        out: folder.path().join("out"),
        model: None,
        max_rejected_fraction: 0.4,
    };
    let done = export(&request);
    (folder, done)
}

const CHAT: &str = concat!(
    r#"{"dataset":"a","id":"1","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":" Why? "},{"role":"assistant","content":"Because."},{"role":"user","content":"Sure?"},{"role":"assistant","content":"Yes."}]}"#,
    "\n",
    r#"{"instruction":"Name a star.","input":"In English.","output":"Sirius"}"#,
    "\n",
    r#"{"prompt":"2+2","completion":"4"}"#,
    "\n",
    r#"{"sentence":"Tea helps.","evidence":"Tea helped.","label":"supports"}"#,
    "\n",
    r#"{"messages":[{"role":"assistant","content":"Hello"}]}"#,
    "\n",
    r#"{"sentence":"Tea helps.","evidence":"Tea helped.","label":"none"}"#,
    "\n",
);

#[test]
fn torchtune_reads_chats_and_config() {
    let (folder, done) = exported(Trainer::Torchtune, CHAT);
    let done = done.expect("exported");
    assert_eq!((done.train, done.dev, done.bad.len()), (4, 4, 4));
    assert_eq!(done.bad[0].1.line, 5);
    assert!(done.bad[1].1.problem.contains("label \"none\""), "{}", done.bad[1].1.problem);
    let out = folder.path().join("out");
    for row in rows_of(&out.join("train.jsonl")) {
        validate(include_str!("schemas/openai_messages.json"), &row);
    }
    let config = fs_err::read_to_string(out.join("config.yaml")).expect("read");
    let config = parsed(&config);
    validate(include_str!("schemas/torchtune_recipe.json"), &config);
    assert_eq!(config["optimizer"]["lr"], 5e-6);
    assert_eq!(config["dataset"]["data_files"], "train.jsonl");
}

#[test]
fn trl_gets_prompts_where_there_is_one_reply_and_messages_elsewhere() {
    let one: String = CHAT.lines().skip(1).take(3).map(|line| format!("{line}\n")).collect();
    for (rows, schema, loss) in [
        (CHAT, include_str!("schemas/openai_messages.json"), "assistant_only_loss"),
        (one.as_str(), include_str!("schemas/trl_prompt_completion.json"), "completion_only_loss"),
    ] {
        let (folder, done) = exported(Trainer::Trl, rows);
        done.expect("exported");
        let out = folder.path().join("out");
        for row in rows_of(&out.join("train.jsonl")) {
            validate(schema, &row);
        }
        let config = fs_err::read_to_string(out.join("config.yaml")).expect("read");
        let config = parsed(&config);
        validate(include_str!("schemas/trl_sft.json"), &config);
        assert_eq!(config[loss], json!(true));
    }
}

#[test]
fn flagembedding_gets_three_fields_and_known_arguments() {
    let rows = "{\"query\":\"q\",\"pos\":[\"a\"],\"neg\":[\"b\",\"c\"],\"source\":\"scifact\"}\n";
    let (folder, done) = exported(Trainer::FlagEmbedding, rows);
    done.expect("exported");
    let out = folder.path().join("out");
    let rows = rows_of(&out.join("train.jsonl"));
    assert_eq!(rows, [json!({"query": "q", "pos": ["a"], "neg": ["b", "c"]})]);
    let text = fs_err::read_to_string(out.join("arguments.txt")).expect("read");
    let mut arguments = Map::new();
    for line in text.lines() {
        let line = line.strip_prefix("--").expect("an argument");
        let (name, value) = line.split_once(' ').unwrap_or((line, "True"));
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        assert!(arguments.insert(name.to_owned(), value).is_none());
    }
    validate(include_str!("schemas/flagembedding_reranker.json"), &Value::Object(arguments));
}

#[test]
fn flagembedding_distils_where_every_row_has_a_teachers_scores() {
    let taught = r#"{"query":"q","pos":["a"],"neg":["b"],"pos_scores":[2.5],"neg_scores":[-1.0]}"#;
    let untaught = r#"{"query":"q","pos":["a"],"neg":["b"]}"#;
    for (rows, distils) in
        [(format!("{taught}\n"), "True"), (format!("{taught}\n{untaught}\n"), "False")]
    {
        let (folder, done) = exported(Trainer::FlagEmbedding, &rows);
        done.expect("exported");
        let out = folder.path().join("out");
        let first = serde_json::from_str::<Value>(taught).expect("JSON");
        assert_eq!(rows_of(&out.join("train.jsonl"))[0], first);
        let text = fs_err::read_to_string(out.join("arguments.txt")).expect("read");
        assert!(text.contains(&format!("--knowledge_distillation {distils}\n")), "{text}");
    }
}

#[test]
fn rows_of_another_kind_are_refused_by_name() {
    let (_folder, done) = exported(Trainer::FlagEmbedding, CHAT);
    let text = done.expect_err("no groups").to_string();
    assert!(text.contains("rows.jsonl") && text.contains("query"), "{text}");
    let (_folder, done) = exported(Trainer::Torchtune, "{\"query\":\"q\"}\n");
    assert!(done.expect_err("no chats").to_string().contains("neither messages"));
}

#[test]
fn turns_must_alternate_and_end_with_a_reply() {
    for (row, problem) in [
        (json!({"messages": [{"role": "user", "content": "a"}]}), "no target"),
        (
            json!({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}),
            "turn 1",
        ),
        (json!({"prompt": "a", "completion": " "}), "turn 1 is empty"),
        (json!({"messages": [{"role": "tool", "content": "a"}]}), "turn 0"),
        (json!({"prompt": 3, "completion": "x"}), "neither a text nor a list"),
    ] {
        let said = Conversation::of(&row).expect_err("unusable");
        assert!(said.contains(problem), "{said}");
    }
}
