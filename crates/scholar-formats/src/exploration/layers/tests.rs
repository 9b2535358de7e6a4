use proptest::prelude::*;

use super::*;

fn relations(pairs: &[(usize, Option<usize>)]) -> Vec<Relation> {
    pairs.iter().map(|(from, to)| Relation { from: *from, to: *to }).collect()
}

#[test]
fn layers_count_the_longest_way_to_the_goal() {
    // 2 -> 1 -> 0 -> goal, and 2 -> 0: the short way does not pull 2 nearer.
    let all = relations(&[(0, None), (1, Some(0)), (2, Some(1)), (2, Some(0))]);
    let layout = layout(4, &all);
    let layers: Vec<usize> = layout.nodes.iter().map(|node| node.layer).collect();
    assert_eq!(layers, [1, 2, 3, 4], "3 has no way and stands apart");
    assert_eq!((layout.apart, layout.n_layers), (Some(4), 4));
    assert_eq!(layout.bends[3].len(), 1, "2 -> 0 goes around 1");
    assert_eq!(layout.bends[3][0].layer, 2);
}

#[test]
fn a_circle_has_layers_too() {
    let layout = layout(3, &relations(&[(0, Some(1)), (1, Some(2)), (2, Some(0)), (0, None)]));
    let layers: Vec<usize> = layout.nodes.iter().map(|node| node.layer).collect();
    assert_eq!(layers, [1, 3, 2], "2 -> 0 closes the circle and is the way of 2 all the same");
    assert_eq!(layout.apart, None);
}

#[test]
fn what_is_not_there_is_left_out() {
    let layout = layout(1, &relations(&[(0, Some(7)), (9, None), (0, Some(0)), (0, None)]));
    assert_eq!(layout.nodes, [Point { layer: 1, down: 0.5 }]);
    assert!(super::layout(0, &[]).nodes.is_empty());
}

#[test]
fn a_crossing_that_is_not_needed_is_undone() {
    // 0 and 1 lead to the goal; 2 leads to 1 and 3 to 0, given in the order that crosses.
    let all = relations(&[(0, None), (1, None), (2, Some(1)), (3, Some(0))]);
    let layout = layout(4, &all);
    let down = |at: usize| layout.nodes[at].down;
    assert_eq!(down(0) < down(1), down(3) < down(2));
}

proptest! {
    #[test]
    fn no_two_nodes_overlap(
        n in 1_usize..20,
        pairs in prop::collection::vec((0_usize..20, prop::option::of(0_usize..20)), 0..60),
    ) {
        let layout = layout(n, &relations(&pairs));
        prop_assert_eq!(layout.bends.len(), pairs.len());
        for (at, one) in layout.nodes.iter().enumerate() {
            prop_assert!(one.layer >= 1 && one.layer <= layout.n_layers);
            prop_assert!(one.down >= 0.49 && one.down <= layout.height - 0.49);
            for other in &layout.nodes[at + 1..] {
                prop_assert!(one.layer != other.layer || (one.down - other.down).abs() > 0.999);
            }
        }
    }

    #[test]
    fn a_relation_passes_every_layer_between_its_ends(
        pairs in prop::collection::vec((0_usize..12, prop::option::of(0_usize..12)), 0..40),
    ) {
        let layout = layout(12, &relations(&pairs));
        for ((from, to), bends) in pairs.iter().zip(&layout.bends) {
            let to = to.map_or(0, |to| layout.nodes[to].layer);
            let between: Vec<usize> = (to + 1..layout.nodes[*from].layer).rev().collect();
            let passed: Vec<usize> = bends.iter().map(|bend| bend.layer).collect();
            prop_assert!(passed == between || pairs.iter().any(|(a, b)| Some(*a) == *b));
        }
    }
}
