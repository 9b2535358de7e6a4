//! Search queries from a question.

use scholar_core::text::markers::{between_markers, remove_markers};
use scholar_core::text::words::content_stems;
use scholar_core::{Notice, NoticeKind, Query};

use crate::frame::Frame;
use crate::prompts::KEYWORDS;

/// Longest text taken for a query, in characters: longer ones are prose. Ours.
const LONGEST_QUERY: usize = 200;

/// `text` itself, then up to `count` queries the generator makes of it. Fewer when there is no generator, its call
/// fails or its queries repeat each other.
pub async fn queries(frame: &Frame<'_>, text: &Query, count: usize) -> Vec<Query> {
    let mut queries = vec![text.clone()];
    if count == 0 || frame.ports.generator.is_none() || frame.over_budget().is_some() {
        return queries;
    }
    let limit = count.to_string();
    let values = [("count", limit.as_str()), ("question", text.as_str())];
    match frame.call("keywords", KEYWORDS, &values, frame.config.sampling.keywords).await {
        Err(error) => frame.skipped("keyword queries", &error),
        Ok(reply) => {
            let made = parse(&reply.text, count);
            if made.is_empty() {
                let message = "no search query could be read from the model's reply";
                frame.notice(Notice::new(NoticeKind::ModelReply, message));
            }
            for query in made {
                if !queries.iter().any(|known| same(known, &query)) {
                    queries.push(query);
                }
            }
        }
    }
    queries
}

/// At most `count` queries from a reply: the text between the markers, a label such as `Search queries:` removed,
/// split at commas, semicolons and line breaks (or read as a JSON list), bullets and quotes stripped, repetitions
/// dropped.
///
/// Deviation D7: upstream splits at a comma and a space only.
pub(crate) fn parse(reply: &str, count: usize) -> Vec<Query> {
    let text = remove_markers(&between_markers(reply).text);
    let parts = json_list(&text).unwrap_or_else(|| {
        let unlabelled = text.split_once(':').filter(|(label, _)| is_label(label));
        let text = unlabelled.map_or(text.as_str(), |(_, rest)| rest);
        text.split([',', ';', '\n']).map(str::to_owned).collect()
    });
    let mut queries: Vec<Query> = Vec::new();
    for part in parts {
        let Some(query) = Query::new(bare(&part)) else { continue };
        let wordy = query.as_str().chars().any(char::is_alphabetic);
        let short = query.as_str().chars().count() <= LONGEST_QUERY;
        if wordy && short && !queries.iter().any(|known| same(known, &query)) {
            queries.push(query);
        }
    }
    queries.truncate(count);
    queries
}

fn is_label(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    ["queries", "keywords", "search queries", "search keywords", "search terms"]
        .iter()
        .any(|label| text.trim_matches(['*', '#', ' ']) == *label)
}

fn json_list(text: &str) -> Option<Vec<String>> {
    let start = text.find(['[', '{'])?;
    let end = text.rfind([']', '}'])?;
    let value: serde_json::Value = serde_json::from_str(text.get(start..=end)?).ok()?;
    let list = match &value {
        serde_json::Value::Object(fields) => fields.values().find_map(|field| field.as_array())?,
        other => other.as_array()?,
    };
    Some(list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

/// Without list bullets, numbers and quotation marks.
fn bare(part: &str) -> &str {
    let part = part.trim().trim_start_matches(['-', '*', '•', '–']).trim_start();
    let digits = part.chars().take_while(char::is_ascii_digit).count();
    let numbered = digits > 0 && part[digits..].starts_with(['.', ')']);
    let part = if numbered { &part[digits + 1..] } else { part };
    part.trim().trim_matches(['"', '\'', '“', '”', '`', '*']).trim().trim_end_matches('.')
}

/// Whether two queries have the same content words.
fn same(a: &Query, b: &Query) -> bool {
    let stems = |query: &Query| {
        let mut stems = content_stems(query.as_str());
        stems.sort_unstable();
        stems.dedup();
        stems
    };
    stems(a) == stems(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_in_many_forms_give_the_same_queries() {
        let check = |reply: &str, expected: &[&str]| {
            let queries = parse(reply, 3);
            let texts: Vec<&str> = queries.iter().map(Query::as_str).collect();
            assert_eq!(texts, expected, "{reply}");
        };
        check(
            "x [Response_Start]Search queries: a1, b2,c3, d4[Response_End] y",
            &["a1", "b2", "c3"],
        );
        check(
            "1. \"first thing\"\n2) second thing;third thing",
            &["first thing", "second thing", "third thing"],
        );
        check("{\"queries\": [\"one, two\", \"three\"]}", &["one, two", "three"]);
        check("- gene editing\n- Gene Editing.\n- , 42", &["gene editing"]);
        check("[Response_Start][Response_End]", &[]);
        check("", &[]);
        check("time: a ratio, other", &["time: a ratio", "other"]);
        check(&"long ".repeat(80), &[]);
    }
}
