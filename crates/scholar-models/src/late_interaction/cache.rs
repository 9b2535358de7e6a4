//! Token states of passages that were read before: one question's queries bring the same passages again and again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::encoder::TokenStates;

/// States by text, the oldest dropped first.
pub(super) struct StateCache {
    most_bytes: usize,
    bytes: usize,
    states: BTreeMap<String, Arc<TokenStates>>,
    order: VecDeque<String>,
}

impl StateCache {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, bytes: 0, states: BTreeMap::new(), order: VecDeque::new() }
    }

    pub(super) fn get(&self, text: &str) -> Option<Arc<TokenStates>> {
        self.states.get(text).map(Arc::clone)
    }

    pub(super) fn put(&mut self, text: &str, states: &Arc<TokenStates>) {
        if self.states.contains_key(text) {
            return;
        }
        self.bytes += size(text, states);
        self.states.insert(text.to_owned(), Arc::clone(states));
        self.order.push_back(text.to_owned());
        while self.bytes > self.most_bytes {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(states) = self.states.remove(&oldest) {
                self.bytes -= size(&oldest, &states);
            }
        }
    }
}

fn size(text: &str, states: &TokenStates) -> usize {
    2 * text.len() + 4 * (states.values.len() + states.pooled.len() + states.ids.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
        let states =
            Arc::new(TokenStates { ids: vec![1], values: vec![0.0; 10], pooled: vec![0.0; 10] });
        let mut cache = StateCache::new(3 * size("a", &states));
        for text in ["a", "b", "a", "c", "d"] {
            cache.put(text, &states);
        }
        assert!(cache.get("a").is_none());
        assert!(["b", "c", "d"].iter().all(|text| cache.get(text).is_some()));
        let mut none = StateCache::new(0);
        none.put("a", &states);
        assert!(none.get("a").is_none() && none.bytes == 0);
    }
}
