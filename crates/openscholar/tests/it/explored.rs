//! `runs explain` of an answer with outline and tree: printed, in parts, as JSON, drawn, as a page.

use scholar_core::{Answer, Outline, Tree};
use scholar_testing::exploration;
use serde_json::{Value, json};

use crate::program::{Program, QUESTION};

/// A home with a run whose answer has this outline and this tree.
fn explored(answer: &Answer) -> Program {
    let program = Program::with_papers();
    program.succeeds(&["ask", QUESTION, "--generator", "none"]);
    let run = program.runs().pop().expect("a run");
    let path = program.data("runs").join(run).join("answer.json");
    let text = fs_err::read_to_string(&path).expect("an answer");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    document["outline"] = json!(answer.outline);
    document["tree"] = json!(answer.tree);
    fs_err::write(&path, document.to_string()).expect("the answer can be changed");
    program
}

#[test]
fn an_explored_answer_is_told_in_whole_and_in_parts() {
    let program = explored(&exploration::sample());
    let all = program.succeeds(&["runs", "explain", "last"]);
    let tree = program.succeeds(&["runs", "explain", "last", "--tree"]);
    assert!(
        tree.starts_with("Outline, planned by the model\n") && all.starts_with(tree.trim_end())
    );
    for said in
        ["Tree of 7 nodes: ", "\n    1.1  Does contraction", "[5]E -> Q", "3 chains pruned: "]
    {
        assert!(tree.contains(said), "{said}: {tree}");
    }
    // Why a reference is cited stands behind it, with the nodes at which it was found.
    let (_, references) = all.split_once("cited for: ").expect("references too");
    assert!(references.contains("found at node 0: ") && !tree.contains("cited for: "));
    let one = program.succeeds(&["runs", "explain", "last", "1"]);
    assert!(one.contains("found at node 0: ") && !one.contains("Tree of "), "{one}");
    let node = program.succeeds(&["runs", "explain", "last", "--node", "2.1"]);
    assert!(node.contains("\n2.1  Agreement of HOMA") && node.contains("analysis:"), "{node}");
    program.fails(
        1,
        &["runs", "explain", "last", "--node", "9"],
        &["no node 9", "it has 0, 1, 1.1"],
    );
    program.fails(2, &["runs", "explain", "last", "1", "--tree"], &["cannot be used with"]);
}

#[test]
fn its_json_has_outline_and_tree_as_the_answer_has_them() {
    let answer = exploration::sample();
    let program = explored(&answer);
    let all = program.json(0, &["runs", "explain", "last"]);
    let outline: Outline = serde_json::from_value(all["outline"].clone()).expect("an outline");
    let tree: Tree = serde_json::from_value(all["tree"].clone()).expect("a tree");
    assert!((Some(outline), Some(tree)) == (answer.outline, answer.tree), "{all}");
    assert!(!all["references"].as_array().expect("references").is_empty());
    let tree = program.json(0, &["runs", "explain", "last", "--tree"]);
    assert_eq!((&tree["tree"], tree.get("references")), (&all["tree"], None));
    let node = program.json(0, &["runs", "explain", "last", "--node", "1"]);
    assert_eq!(node["node"], all["tree"]["nodes"][1]);
    let shown = program.json(0, &["runs", "show", "last"]);
    assert_eq!(shown["tree"], all["tree"]);
}

#[test]
fn it_is_drawn_and_written_as_a_page() {
    let program = explored(&exploration::hostile("</text><script>alert(1)</script>"));
    let (svg, html) = (program.path("drawn.svg"), program.path("page.html"));
    let files = [svg.to_str().expect("UTF-8"), html.to_str().expect("UTF-8")];
    let args = ["runs", "explain", "last", "--svg", files[0], "--html", files[1]];
    assert_eq!(program.succeeds(&args), "", "files instead of text");
    let (svg, html) = (fs_err::read_to_string(svg), fs_err::read_to_string(html));
    let (svg, html) = (svg.expect("a drawing"), html.expect("a page"));
    assert!(svg.starts_with("<svg ") && html.starts_with("<!DOCTYPE html>"));
    assert!(!html.contains("<script") && html.contains(&svg), "the page holds the drawing");
}

#[test]
fn an_answer_that_was_not_explored_says_so() {
    let program = Program::with_papers();
    program.succeeds(&["ask", QUESTION, "--generator", "none"]);
    for args in [&["--tree"][..], &["--node", "0"], &["--svg", "x.svg"]] {
        let args = [&["runs", "explain", "last"], args].concat();
        program.fails(1, &args, &["has no outline and no tree", "hint:"]);
    }
    let json = program.json(0, &["runs", "explain", "last"]);
    assert!(json.get("tree").is_none() && json["references"].is_array());
}
