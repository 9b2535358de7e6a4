//! Reviews of public ideas without a model, over real abstracts from before and after their cut-offs.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use crate::program::{Program, STORE};

/// Papers taken from before and from after the cut-offs, all of which are in 2024 or later.
const EARLIER: usize = 240;
const LATER: usize = 80;

/// The first abstracts of the pool that speak of language models or decisions.
fn papers(pool: &std::path::Path) -> String {
    let file = fs_err::File::open(pool).expect("the pool");
    let (mut earlier, mut later, mut lines) = (0, 0, String::new());
    for line in BufReader::new(flate2::read::GzDecoder::new(file)).lines() {
        let line = line.expect("text");
        let paper: Value = serde_json::from_str(&line).expect("JSON");
        let text = paper["text"].as_str().unwrap_or_default();
        let year = paper["metadata"]["year"].as_i64().or_else(|| paper["year"].as_i64());
        let (Some(year), true) =
            (year, text.contains("language model") || text.contains("decision"))
        else {
            continue;
        };
        let count = if year < 2024 { &mut earlier } else { &mut later };
        let most = if year < 2024 { EARLIER } else { LATER };
        if *count < most {
            *count += 1;
            lines.push_str(&line);
            lines.push('\n');
        }
    }
    assert_eq!((earlier, later), (EARLIER, LATER), "the pool has enough of either");
    lines
}

/// Everything under a key `url` of the document.
fn links(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if let (true, Some(link)) = (key == "url", value.as_str()) {
                    found.insert(link.to_owned());
                }
                links(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|one| links(one, found)),
        _ => {}
    }
}

#[test]
fn public_ideas_are_reviewed_over_real_abstracts() {
    let Some(ideas) = scholar_testing::data("scholarideas") else { return };
    let pool = scholar_testing::data("retrieval/cited_papers_neurips2025/corpus.jsonl.gz");
    let program = Program::new();
    program.configure();
    let corpus = program.path("corpus.jsonl");
    fs_err::write(&corpus, papers(&pool.expect("beside the ideas"))).expect("written");
    program.succeeds(&["datastore", "build", STORE, corpus.to_str().expect("UTF-8")]);
    for id in ["ai_1", "ai_25", "neuro_33"] {
        let file = ideas.join(id).join(format!("{id}.txt"));
        let cutoff = fs_err::read_to_string(ideas.join(id).join("cutoff.txt")).expect("a date");
        let year: i64 = cutoff[..4].parse().expect("a year");
        let html = program.path(&format!("{id}.html"));
        let review = [
            "review",
            file.to_str().expect("UTF-8"),
            "--mode",
            "evidence",
            "--generator",
            "none",
            "--cutoff",
            cutoff.trim(),
        ];
        let document = program.json(0, &review);
        assert_eq!(document["mode"], "evidence", "{id}");
        assert_eq!(document["failures"], serde_json::json!([]), "{id}");
        let methods = document["soundness"]["done"]["reviews"].as_array().expect("methods");
        let claims = document["contribution"]["done"]["nearest"].as_array().expect("claims");
        assert!(
            methods.len() >= 3 && !claims.is_empty(),
            "{id}: {} {}",
            methods.len(),
            claims.len()
        );
        assert!(methods.iter().all(|one| one.get("model_score").is_none()), "nothing is scored");
        let references = document["references"].as_array().expect("references");
        assert!(references.len() >= 3, "{id}: {}", references.len());
        // Of a year alone its last day counts.
        let is_before = |one: &Value| one["year"].as_i64().is_some_and(|own| own < year);
        assert!(references.iter().all(is_before), "{id}: a leak");
        let run = document["run"].as_str().expect("a name");
        assert!(program.succeeds(&["runs", "verify", run]).contains("everything holds"), "{id}");
        program.succeeds(&["runs", "replay", run]);
        // Every link of the page is of the evidence.
        let mut known = BTreeSet::new();
        links(&document, &mut known);
        let page = ["--format", "html", "--output", html.to_str().expect("UTF-8")];
        program.succeeds(&[&review[..], &page].concat());
        let page = fs_err::read_to_string(&html).expect("written");
        assert!(page.contains("<svg") && page.contains("What exists already"), "{id}");
        for link in page.split("href=\"http").skip(1) {
            let link = format!("http{}", link.split('"').next().unwrap_or_default());
            assert!(known.contains(&link.replace("&amp;", "&")), "{id}: {link}");
        }
    }
}
