//! What the idea claims to be new, and what to search for it.

use futures::StreamExt as _;
use scholar_core::text::normalise::single_spaced;
use scholar_pipeline::modes::scirag::json;
use serde_json::Value;

use crate::config::QueriesBy;
use crate::desk::{Desk, told};
use crate::prompts;
use crate::report::{Dimension, ReviewModule};

/// A dimension with the queries of each of its statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) dimension: Dimension,
    pub(crate) queries: Vec<Vec<String>>,
}

/// Most words of a line that is a query. Source: specification B4.2.
const MOST_WORDS: usize = 15;

/// The dimensions in the order of the reply.
///
/// # Errors
/// Why there are none, for people.
pub(crate) async fn find(desk: &Desk<'_>) -> Result<Vec<Claim>, String> {
    let config = &desk.config.contribution;
    let told = |n: usize| if n == usize::MAX { "any number".to_owned() } else { n.to_string() };
    let (most, most_statements, most_queries) = (
        told(config.max_dimensions),
        told(config.statements_per_dimension),
        told(config.queries_per_statement),
    );
    let values = [
        ("idea", desk.idea.text.as_str()),
        ("most", most.as_str()),
        ("most_statements", most_statements.as_str()),
        ("most_queries", most_queries.as_str()),
    ];
    let call = desk.config.sampling.extract;
    let asked = desk.ask("dimensions", prompts::DIMENSIONS, &values, call, parse).await?;
    let mut claims = numbered(asked.value, config.max_dimensions, config.statements_per_dimension);
    if config.queries == QueriesBy::OwnCall {
        let statements: Vec<(String, String)> = claims
            .iter()
            .flat_map(|claim| {
                let id = &claim.dimension.id;
                let named = (1..).zip(&claim.dimension.statements);
                named.map(move |(nth, text)| (format!("{id}.{nth}"), text.clone()))
            })
            .collect();
        let worded: Vec<Vec<String>> = futures::stream::iter(statements)
            .map(|(id, text)| own_queries(desk, id, text))
            .buffered(desk.config.concurrency.max(1))
            .collect()
            .await;
        let mut worded = worded.into_iter();
        for queries in claims.iter_mut().flat_map(|claim| &mut claim.queries) {
            *queries = worded.next().unwrap_or_default();
        }
    }
    for claim in &mut claims {
        for (queries, statement) in claim.queries.iter_mut().zip(&claim.dimension.statements) {
            queries.truncate(config.queries_per_statement);
            if queries.is_empty() {
                queries.push(statement.clone());
            }
        }
        claim.dimension.queries.clone_from(&claim.queries);
    }
    Ok(claims)
}

async fn own_queries(desk: &Desk<'_>, id: String, statement: String) -> Vec<String> {
    let most = desk.config.contribution.queries_per_statement.to_string();
    let values = [("statement", statement.as_str()), ("most_queries", most.as_str())];
    let purpose = format!("queries {id}");
    let call = desk.config.sampling.query;
    match desk.frame.call(&purpose, prompts::CLAIM_QUERIES, &values, call).await {
        Ok(reply) => queries(reply.text.lines()),
        Err(error) => {
            desk.failed(ReviewModule::Contribution, "query", &id, &told(&error));
            Vec::new()
        }
    }
}

/// A dimension's name with its statements and their queries.
type Listed = (String, Vec<(String, Vec<String>)>);

/// Dimensions by name, near-equal ones and statements once.
fn numbered(listed: Vec<Listed>, most: usize, most_statements: usize) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    for (name, statements) in listed {
        let known = claims.iter().position(|one| one.dimension.name.eq_ignore_ascii_case(&name));
        let at = match known {
            Some(at) => at,
            None if claims.len() == most => continue,
            None => {
                let id = format!("D{}", claims.len() + 1);
                let dimension = Dimension { id, name, statements: Vec::new(), queries: Vec::new() };
                claims.push(Claim { dimension, queries: Vec::new() });
                claims.len() - 1
            }
        };
        for (text, queries) in statements {
            let key = text.to_lowercase();
            let claim = &mut claims[at];
            if !said.contains(&key) && claim.dimension.statements.len() < most_statements {
                said.push(key);
                claim.dimension.statements.push(text);
                claim.queries.push(queries);
            }
        }
    }
    claims.retain(|claim| !claim.dimension.statements.is_empty());
    claims
}

/// Dimensions as a list of objects, or as an object of names with lists of statements.
pub(crate) fn parse(value: &Value) -> Result<Vec<Listed>, String> {
    let whole = value.get("dimensions").unwrap_or(value);
    let listed: Vec<Listed> = match whole {
        Value::Array(list) => list
            .iter()
            .map(|one| {
                let name = json::text(one.get("name").or_else(|| one.get("dimension")));
                (name, statements(one.get("statements").or_else(|| one.get("contributions"))))
            })
            .collect(),
        Value::Object(map) => {
            map.iter().map(|(name, list)| (single_spaced(name), statements(Some(list)))).collect()
        }
        _ => return Err("it has no list \"dimensions\"".to_owned()),
    };
    let n = listed.len();
    let named: Vec<Listed> = listed
        .into_iter()
        .filter(|(name, statements)| !name.is_empty() && !statements.is_empty())
        .collect();
    if named.is_empty() && n > 0 {
        return Err("no dimension of it has a name and statements".to_owned());
    }
    Ok(named)
}

fn statements(value: Option<&Value>) -> Vec<(String, Vec<String>)> {
    let alone;
    let list = match value {
        Some(Value::Array(list)) => list,
        Some(text @ Value::String(_)) => {
            alone = vec![text.clone()];
            &alone
        }
        _ => return Vec::new(),
    };
    let statement = |one: &Value| {
        let text = match one {
            Value::String(text) => single_spaced(text),
            other => json::text(other.get("text").or_else(|| other.get("statement"))),
        };
        let worded = one.get("queries").and_then(Value::as_array);
        let worded = worded.map(|list| queries(list.iter().filter_map(Value::as_str)));
        (text, worded.unwrap_or_default())
    };
    list.iter().map(statement).filter(|(text, _)| !text.is_empty()).collect()
}

/// Queries from lines: without list marks and quotation marks, each once, no announcements and no sentences.
pub(crate) fn queries<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut queries: Vec<String> = Vec::new();
    for line in lines {
        let line = line.trim();
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let bare = match &line[digits..] {
            rest if digits > 0 && digits < 3 && rest.starts_with(['.', ')', ':']) => &rest[1..],
            _ => line.trim_start_matches(['-', '*', '•']),
        };
        let query = single_spaced(bare.trim().trim_matches(['"', '\'', '“', '”', '`']));
        let is_query = query.contains(char::is_alphanumeric)
            && !query.ends_with(':')
            && query.split(' ').count() <= MOST_WORDS;
        if is_query && !queries.iter().any(|known| known.eq_ignore_ascii_case(&query)) {
            queries.push(query);
        }
    }
    queries
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_become_queries() {
        let reply = "Here are three queries:\n1. \"adapter retrieval domains\"\n- low-rank tuning of rankers\n\
2) Adapter retrieval domains\n\n3D cell imaging\nThis query is a very long sentence that no search engine for papers would like to be given at all";
        assert_eq!(
            queries(reply.lines()),
            ["adapter retrieval domains", "low-rank tuning of rankers", "3D cell imaging"]
        );
    }

    #[test]
    fn dimensions_are_joined_capped_and_numbered() {
        let listed = parse(&json!({"dimensions": [
            {"name": "data", "statements": ["A new corpus.", {"text": "A new split.", "queries": ["1. splits"]}]},
            {"name": "Data", "statements": ["a new corpus.", "Third.", "Fourth."]},
            {"name": "method", "statements": "One."},
            {"name": "theory", "statements": ["Two."]},
        ]}))
        .expect("dimensions");
        let claims = numbered(listed, 2, 3);
        let names: Vec<&str> = claims.iter().map(|one| one.dimension.name.as_str()).collect();
        assert_eq!(names, ["data", "method"]);
        assert_eq!(claims[0].dimension.statements, ["A new corpus.", "A new split.", "Third."]);
        assert_eq!(claims[0].queries[1], ["splits"]);
        assert_eq!(claims[1].dimension.id, "D2");
        assert_eq!(parse(&json!({"data": ["x"]})).expect("read").len(), 1);
        assert!(parse(&json!({"dimensions": [{"name": ""}]})).is_err());
    }
}
