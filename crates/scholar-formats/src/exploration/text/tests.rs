use scholar_testing::{exploration, hostile};

use super::*;

fn of(answer: &scholar_core::Answer) -> Exploration<'_> {
    Exploration::of(answer).expect("an exploration")
}

#[test]
fn a_tree_reads_as_it_did() {
    let answer = exploration::sample();
    assert_eq!(text(of(&answer)), include_str!("sample.txt"), "exploration/text/sample.txt");
    let node = node(of(&answer), "2.1").expect("a node");
    assert_eq!(node, include_str!("node.txt"), "exploration/text/node.txt");
    assert_eq!(super::node(of(&answer), "7"), None);
}

#[test]
fn what_strangers_wrote_is_on_one_line_and_obeyed_by_nothing() {
    for string in hostile::STRINGS {
        let answer = exploration::hostile(&string.text());
        let shown = text(of(&answer));
        let found = hostile::obeyed(&shown.replace('\n', " "));
        assert!(found.is_empty(), "{}: {found:?}", string.name);
        assert!(shown.lines().all(|line| line.chars().count() < 700), "{}", string.name);
        // Whatever a text holds, it begins no line of its own.
        let sample = exploration::sample();
        let before = text(of(&sample)).lines().filter(|line| line.starts_with("Tree of ")).count();
        let after = shown.lines().filter(|line| line.starts_with("Tree of ")).count();
        assert_eq!(before, after, "{}", string.name);
    }
}

#[test]
fn a_node_of_many_candidates_is_summed_up_and_told_in_full_on_request() {
    let answer = exploration::many(4, 57);
    let brief = text(of(&answer));
    assert_eq!(brief.matches("and 37 more, ").count(), 4, "{brief}");
    let full = node(of(&answer), "1").expect("a node");
    let marks = full.lines().filter(|line| line.starts_with("   + ") || line.starts_with("   - "));
    assert_eq!(marks.count(), 57);
}

#[test]
fn places_that_are_not_there_are_left_out() {
    let mut answer = exploration::sample();
    for node in answer.tree.iter_mut().flat_map(|tree| &mut tree.nodes) {
        node.evidence.truncate(2);
        let Some(graph) = &mut node.contributions else { continue };
        graph.segments.truncate(3);
        graph.edges[0].from = usize::MAX;
        graph.chains[0].segments.push(usize::MAX);
    }
    assert!(text(of(&answer)).contains("-> Q"));
    assert!(node(of(&answer), "2").is_some());
}

#[test]
fn a_reference_is_found_where_it_was_a_candidate() {
    let answer = exploration::sample();
    let told = reference(of(&answer), Citation(6));
    let expected = "found at node 1: By which mechanisms does exercise raise insulin sensitivity in ageing muscle?
  snippet, retrieved for this query; score 0.79; method (high)
  kept: Only trial with a clamp before and after detraining.
  [6]M -> [5]M -> Q
  #4A -> [6]M -> [5]M -> Q
  #4E -> [6]M -> [5]M -> Q
  #5other -> #4A -> [6]M -> [5]M -> Q
";
    assert_eq!(told, expected);
    assert_eq!(reference(of(&answer), Citation(99)), "");
}
