//! Which place of a layer stands above which.

use super::Relation;

/// Sweeps to and fro.
const SWEEPS: usize = 6;

/// Nodes, the goal, and bends of relations, all of them places of layers.
pub(super) struct Graph {
    /// Layer of each place: nodes first, then the goal, then bends.
    pub(super) layer_of: Vec<usize>,
    /// Places of each layer from the top.
    pub(super) layers: Vec<Vec<usize>>,
    /// Neighbours of each place one layer nearer to the goal, and one layer farther.
    pub(super) nearer: Vec<Vec<usize>>,
    pub(super) farther: Vec<Vec<usize>>,
    /// Bends of each relation that has any.
    pub(super) bends: Vec<(usize, Vec<usize>)>,
    n_nodes: usize,
}

impl Graph {
    /// Of nodes in these layers, without relations.
    pub(super) fn new(layers: &[usize]) -> Self {
        let n = layers.len();
        let mut graph = Self {
            layer_of: Vec::new(),
            layers: vec![Vec::new(); layers.iter().copied().max().unwrap_or(0) + 1],
            nearer: Vec::new(),
            farther: Vec::new(),
            bends: Vec::new(),
            n_nodes: n,
        };
        for layer in layers.iter().copied().chain([0]) {
            graph.add(layer);
        }
        graph
    }

    /// Whether a place is a bend, which needs less room.
    pub(super) fn is_bend(&self, at: usize) -> bool {
        at > self.n_nodes
    }

    fn add(&mut self, layer: usize) -> usize {
        let at = self.layer_of.len();
        self.layer_of.push(layer);
        self.layers[layer].push(at);
        self.nearer.push(Vec::new());
        self.farther.push(Vec::new());
        at
    }

    /// Connects the ends of relation `number`, whose layers are `between`, over a bend in each layer between them.
    pub(super) fn connect(&mut self, number: usize, relation: Relation, between: (usize, usize)) {
        let mut bends = Vec::new();
        let mut last = relation.from;
        for layer in (between.1 + 1..between.0).rev() {
            let bend = self.add(layer);
            self.join(last, bend);
            bends.push(bend);
            last = bend;
        }
        self.join(last, relation.to.unwrap_or(self.n_nodes));
        if !bends.is_empty() {
            self.bends.push((number, bends));
        }
    }

    fn join(&mut self, from: usize, to: usize) {
        self.nearer[from].push(to);
        self.farther[to].push(from);
    }

    /// Finds an order with few crossings.
    pub(super) fn arrange(&mut self) {
        let mut best = self.layers.clone();
        let mut fewest = self.crossings();
        for sweep in 0..2 * SWEEPS {
            let outwards = sweep.is_multiple_of(2);
            let n = self.layers.len();
            for step in 1..n {
                let layer = if outwards { step } else { n - 1 - step };
                self.sort(layer, outwards);
            }
            let crossings = self.crossings();
            if crossings < fewest {
                (fewest, best) = (crossings, self.layers.clone());
            }
        }
        self.layers = best;
    }

    /// Sorts a layer by the mean place of its neighbours on one side; what has none keeps its own.
    fn sort(&mut self, layer: usize, outwards: bool) {
        let position = self.positions();
        let neighbours = if outwards { &self.nearer } else { &self.farther };
        let key = |at: usize| -> f64 {
            let of = &neighbours[at];
            match of.len() {
                0 => position[at] as f64,
                n => of.iter().map(|one| position[*one] as f64).sum::<f64>() / n as f64,
            }
        };
        let mut keyed: Vec<(f64, usize)> =
            self.layers[layer].iter().map(|at| (key(*at), *at)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.layers[layer] = keyed.into_iter().map(|(_, at)| at).collect();
    }

    fn positions(&self) -> Vec<usize> {
        let mut position = vec![0; self.layer_of.len()];
        for layer in &self.layers {
            for (nth, at) in layer.iter().enumerate() {
                position[*at] = nth;
            }
        }
        position
    }

    /// Pairs of relations that cross.
    pub(super) fn crossings(&self) -> usize {
        let position = self.positions();
        let mut crossings = 0;
        for layer in &self.layers {
            let ends: Vec<(usize, usize)> = layer
                .iter()
                .flat_map(|at| self.nearer[*at].iter().map(|to| (position[*at], position[*to])))
                .collect();
            for (nth, one) in ends.iter().enumerate() {
                let crosses = |other: &&(usize, usize)| {
                    (one.0 < other.0 && one.1 > other.1) || (one.0 > other.0 && one.1 < other.1)
                };
                crossings += ends[nth + 1..].iter().filter(crosses).count();
            }
        }
        crossings
    }
}
