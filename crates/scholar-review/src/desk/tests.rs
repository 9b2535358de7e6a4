use serde_json::json;

use super::*;

fn value_of(text: &str) -> Result<Value, String> {
    read(text, &|value| Ok(value.clone()))
}

#[test]
fn replies_are_read_in_every_coat() {
    let check = |reply: &str, expected: Value| assert_eq!(value_of(reply), Ok(expected), "{reply}");
    check("{\"a\": \"]}\"}", json!({"a": "]}"}));
    check("Sure!\n```json\n{\"a\": [1]}\n```", json!({"a": [1]}));
    check(
        "```python\nclean_methods = ['one [1] of many', \"the model's second\"]\n```",
        json!(["one [1] of many", "the model's second"]),
    );
    check("['it\\'s', 'b']", json!(["it's", "b"]));
    check("[{\"a\": 1}, {\"a\": 2}]", json!([{"a": 1}, {"a": 2}]));
    let object = |value: &Value| value.get("a").cloned().ok_or_else(String::new);
    assert_eq!(read("As in [12]: {\"a\": 1}", &object), Ok(json!(1)), "what can be used counts");
    assert!(value_of("{\"a\": 1").is_err() && value_of("no JSON").is_err());
}

proptest::proptest! {
    #[test]
    fn no_reply_breaks_it(reply in "[\\[\\]{}'\"a\\\\,: 1]{0,40}") {
        let _ = value_of(&reply);
    }
}
