//! How far down each place of a layer is.

use super::order::Graph;

/// Heights of a node that a bend takes.
const BEND: f64 = 0.4;
/// How often all layers are moved toward their neighbours.
const ROUNDS: usize = 8;

/// Centres of all places, the least of which touches 0 with its upper edge, and the height of all.
pub(super) fn within(graph: &Graph) -> (Vec<f64>, f64) {
    let size = |at: usize| if graph.is_bend(at) { BEND } else { 1.0 };
    let mut down = vec![0.0; graph.layer_of.len()];
    let heights: Vec<f64> =
        graph.layers.iter().map(|layer| layer.iter().map(|at| size(*at)).sum()).collect();
    let tallest = heights.iter().copied().fold(0.0, f64::max);
    for (layer, height) in graph.layers.iter().zip(&heights) {
        let mut top = (tallest - height) / 2.0;
        for at in layer {
            down[*at] = top + size(*at) / 2.0;
            top += size(*at);
        }
    }
    for round in 0..ROUNDS {
        let n = graph.layers.len();
        for step in 0..n {
            let layer = if round.is_multiple_of(2) { step } else { n - 1 - step };
            pull(graph, &graph.layers[layer], &size, &mut down);
        }
    }
    let places =
        || (0..down.len()).map(|at| (down[at] - size(at) / 2.0, down[at] + size(at) / 2.0));
    let top = places().map(|(top, _)| top).fold(f64::INFINITY, f64::min);
    let bottom = places().map(|(_, bottom)| bottom).fold(f64::NEG_INFINITY, f64::max);
    (down.iter().map(|at| at - top).collect(), bottom - top)
}

/// Moves the places of a layer as near to the mean of their neighbours as order and sizes allow: the least sum of squares.
fn pull(graph: &Graph, layer: &[usize], size: &dyn Fn(usize) -> f64, down: &mut [f64]) {
    // Without sizes the order is all that binds, and blocks of equal value are merged until none is out of order.
    let mut offset = 0.0;
    let mut offsets = Vec::new();
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for at in layer {
        offsets.push(offset + size(*at) / 2.0);
        let neighbours = graph.nearer[*at].iter().chain(&graph.farther[*at]);
        let (sum, n) = neighbours.fold((0.0, 0_usize), |(sum, n), one| (sum + down[*one], n + 1));
        let wanted = if n == 0 { down[*at] } else { sum / n as f64 };
        let mut block = (wanted - (offset + size(*at) / 2.0), 1);
        while let Some(above) = blocks.pop_if(|above| above.0 > block.0) {
            let n = above.1 + block.1;
            let mean = (above.0 * above.1 as f64 + block.0 * block.1 as f64) / n as f64;
            block = (mean, n);
        }
        blocks.push(block);
        offset += size(*at);
    }
    let values = blocks.iter().flat_map(|(value, n)| std::iter::repeat_n(*value, *n));
    for ((at, value), offset) in layer.iter().zip(values).zip(offsets) {
        down[*at] = value + offset;
    }
}
