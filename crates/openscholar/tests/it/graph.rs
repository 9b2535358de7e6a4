//! The citation graph through the program.

use serde_json::{Value, json};

use crate::program::{Program, STORE};

/// Two reviews, a classic both cite, and a paper that cites one of the reviews.
fn program() -> Program {
    let program = Program::new();
    program.configure();
    let paper = |id: &str, others: &[&str], references: &[&str]| {
        json!({
            "meta": {"id": id, "external_ids": others, "title": format!("Title of {id}"), "year": 2020, "retraction": "unknown"},
            "sections": [{"heading": "Abstract", "text": format!("What {id} is about.")}],
            "references": references,
        })
        .to_string()
    };
    let lines = [
        paper("openalex:W1", &["doi:10.1/classic"], &[]),
        paper("openalex:W2", &[], &["doi:10.1/classic", "openalex:W9"]),
        paper("openalex:W3", &[], &["openalex:W1", "openalex:W9", "openalex:W8"]),
        paper("openalex:W4", &[], &["openalex:W2", "openalex:W3"]),
    ];
    let file = program.path("graph.jsonl");
    fs_err::write(&file, lines.join("\n")).expect("written");
    program.succeeds(&["datastore", "build", STORE, &file.to_string_lossy()]);
    program
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(|paper| paper["id"].as_str()).collect()
}

#[test]
fn the_graph_is_shown_from_every_side() {
    let program = program();
    let references = program.json(0, &["papers", "references", "openalex:W2"]);
    assert_eq!(ids(&references["papers"]), ["openalex:W1", "openalex:W9"]);
    assert_eq!((&references["total"], &references["stored"]), (&json!(2), &json!(1)));
    assert_eq!(references["papers"][0]["title"], "Title of openalex:W1");
    assert_eq!(references["papers"][1]["stored"], false);

    let citers = program.json(0, &["papers", "cited-by", "doi:10.1/classic"]);
    assert_eq!(ids(&citers["papers"]), ["openalex:W2", "openalex:W3"], "by either name");
    let absent = program.json(0, &["papers", "cited-by", "openalex:W9", "--limit", "1"]);
    assert_eq!((&absent["total"], ids(&absent["papers"])), (&json!(2), vec!["openalex:W2"]));

    let related = program.json(0, &["papers", "related", "openalex:W2"]);
    let best = &related["papers"][0];
    assert_eq!(best["paper"]["id"], "openalex:W3", "{related}");
    // Two of two and three references, and the only citer of both: 2/√6 + 1.
    let score = best["score"].as_f64().expect("a score");
    assert!((score - (2.0 / 6.0_f64.sqrt() + 1.0)).abs() < 1e-5, "{score}");
    let text = program.succeeds(&["papers", "related", "openalex:W2"]);
    assert!(text.contains("2 of 2 and 3 references shared"), "{text}");

    let around = program.json(0, &["papers", "neighbours", "openalex:W1", "--hops", "2"]);
    let hops: Vec<_> =
        around["papers"].as_array().expect("papers").iter().map(|p| &p["hops"]).collect();
    assert_eq!(hops, [0, 1, 1, 2, 2, 2], "{around}");
    assert!(
        around["edges"]
            .as_array()
            .expect("edges")
            .contains(&json!({"from": "openalex:W4", "to": "openalex:W2"}))
    );
    let cut =
        program.json(0, &["papers", "neighbours", "openalex:W1", "--hops", "2", "--limit", "3"]);
    assert!(cut["cut"].as_u64() > Some(0), "{cut}");

    let svg = program.path("around.svg");
    let draw = ["papers", "graph", "openalex:W3", "--svg", &svg.to_string_lossy()];
    let table = program.succeeds(&draw);
    assert!(table.contains("citing") && table.contains("cited"), "{table}");
    let drawn = fs_err::read_to_string(&svg).expect("drawn");
    assert!(drawn.contains("2020 Title of openalex:W1 (openalex:W1)"), "{drawn}");
    assert!(drawn.contains("class=\"reference absent\"") && !drawn.contains("<script"), "{drawn}");
    let info = program.json(0, &["datastore", "info", STORE]);
    assert_eq!(
        info["links"],
        json!({"citing": 3, "cited": 3, "references": 7, "inner": 4}),
        "the classic and both reviews"
    );

    program.fails(1, &["papers", "references", "openalex:W9"], &["no paper openalex:W9"]);
    program.fails(1, &["papers", "graph", "openalex:W77"], &["no paper openalex:W77"]);
    let report =
        program.succeeds(&["bench", "graph", STORE, "--papers", "4", "--synthetic", "300"]);
    assert!(report.contains("## 300 synthetic papers"), "{report}");
    assert!(report.contains("4 papers with 7 references, 4 of them to stored papers"), "{report}");
}
