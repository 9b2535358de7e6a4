//! Token states of queries and passages, each passage encoded once.

use std::sync::Arc;

use parking_lot::Mutex;
use scholar_core::Side;

use super::cache::StateCache;
use crate::encoder::{LocalEncoder, TokenStates};
use crate::error::ModelError;

/// An encoder with a cache of passage states.
pub(super) struct StateEncoder {
    encoder: Arc<LocalEncoder>,
    states: Mutex<StateCache>,
}

impl StateEncoder {
    pub(super) fn new(encoder: Arc<LocalEncoder>, cache_bytes: usize) -> Self {
        Self { encoder, states: Mutex::new(StateCache::new(cache_bytes)) }
    }

    pub(super) fn encoder(&self) -> &LocalEncoder {
        &self.encoder
    }

    /// Token states of passages, one for each text in input order, from the cache where it has them.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub(super) fn passages(&self, texts: &[&str]) -> Result<Vec<Arc<TokenStates>>, ModelError> {
        let known: Vec<Option<Arc<TokenStates>>> = {
            let states = self.states.lock();
            texts.iter().map(|text| states.get(text)).collect()
        };
        let unread: Vec<&str> = texts
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(text, _)| *text)
            .collect();
        let mut read = self.encoder.late_states(Side::Passage, &unread)?.into_iter().map(Arc::new);
        let mut states = self.states.lock();
        let found = texts.iter().zip(known).filter_map(|(text, known)| {
            known.or_else(|| {
                let fresh = read.next()?;
                states.put(text, &fresh);
                Some(fresh)
            })
        });
        Ok(found.collect())
    }
}
