//! The methods of an idea, and what to search for each.

use scholar_core::text::normalise::single_spaced;
use scholar_pipeline::modes::scirag::json;
use serde_json::Value;

use crate::config::{QUERY_WORDS, QueriesBy};
use crate::desk::Desk;
use crate::prompts;
use crate::report::{Method, ReviewModule};

/// A method with its search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) method: Method,
    pub(crate) query: String,
}

/// The methods in order of importance.
///
/// # Errors
/// Why there are none, for people.
pub(crate) async fn find(desk: &Desk<'_>) -> Result<Vec<Planned>, String> {
    let config = &desk.config.soundness;
    let most =
        config.max_methods.map_or_else(|| "as many as there are".to_owned(), |n| n.to_string());
    let values = [("idea", desk.idea.text.as_str()), ("most", most.as_str())];
    let call = desk.config.sampling.extract;
    let asked = desk.ask("methods", prompts::METHODS, &values, call, parse).await?;
    let mut planned: Vec<Planned> = Vec::new();
    let listed = asked.value.into_iter().take(config.max_methods.unwrap_or(usize::MAX));
    for (nth, (text, query)) in (1..).zip(listed) {
        let method = Method { id: format!("M{nth}"), text };
        let query = match config.queries {
            QueriesBy::SameReply => query,
            QueriesBy::OwnCall => own_query(desk, &method).await,
        };
        let query = query.unwrap_or_else(|| method.text.clone());
        planned.push(Planned { query: first_words(&query), method });
    }
    Ok(planned)
}

/// A query from a call of its own; `None` where that failed: the method's own words are searched for then.
async fn own_query(desk: &Desk<'_>, method: &Method) -> Option<String> {
    let values = [("idea", desk.idea.text.as_str()), ("method", method.text.as_str())];
    let purpose = format!("query {}", method.id);
    let call = desk.config.sampling.query;
    let asked = desk.ask(&purpose, prompts::QUERY, &values, call, parse_query).await;
    match asked {
        Ok(asked) => Some(asked.value),
        Err(reason) => {
            desk.failed(ReviewModule::Soundness, "query", &method.id, &reason);
            None
        }
    }
}

/// At most [`QUERY_WORDS`] words.
fn first_words(text: &str) -> String {
    text.split_whitespace().take(QUERY_WORDS).collect::<Vec<_>>().join(" ")
}

/// Methods with queries, each method once. Lists of plain texts are taken as well.
pub(crate) fn parse(value: &Value) -> Result<Vec<(String, Option<String>)>, String> {
    let list = match value {
        Value::Array(list) => list,
        other => json::list(other, &["methods", "clean_methods"])?,
    };
    let mut methods: Vec<(String, Option<String>)> = Vec::new();
    for one in list {
        let text = match one {
            Value::String(text) => single_spaced(text),
            other => json::text(other.get("text").or_else(|| other.get("method"))),
        };
        let known = methods.iter().any(|(known, _)| known.eq_ignore_ascii_case(&text));
        if !text.is_empty() && !known {
            let query = Some(json::text(one.get("query"))).filter(|query| !query.is_empty());
            methods.push((text, query));
        }
    }
    if methods.is_empty() && !list.is_empty() {
        return Err("its list \"methods\" has no entry with a \"text\"".to_owned());
    }
    Ok(methods)
}

pub(crate) fn parse_query(value: &Value) -> Result<String, String> {
    let query = json::text(value.get("query"));
    if query.is_empty() { Err("it has no text \"query\"".to_owned()) } else { Ok(query) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn methods_come_as_objects_or_as_texts() {
        let all = parse(
            &json!({"methods": [{"text": "A  b", "query": "q"}, {"text": "a b"}, {"text": ""}]}),
        );
        assert_eq!(all, Ok(vec![("A b".to_owned(), Some("q".to_owned()))]));
        assert_eq!(parse(&json!(["x"])), Ok(vec![("x".to_owned(), None)]));
        assert_eq!(parse(&json!({"methods": []})), Ok(Vec::new()));
        assert!(parse(&json!({"methods": [1]})).is_err() && parse(&json!({})).is_err());
        assert_eq!(first_words(&"w ".repeat(100)).split(' ').count(), 70);
    }
}
