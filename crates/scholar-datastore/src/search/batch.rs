//! Several queries at once: encoded together, searched side by side on one pool.

use rayon::prelude::*;
use scholar_core::{PortError, Retrieved, SearchMode, SearchRequest, Side};

use super::HybridRetriever;
use crate::error::Error;

type Outcome = Result<Vec<Retrieved>, Error>;

/// Outcomes in the order of `requests`.
pub(super) async fn search(
    retriever: &HybridRetriever,
    requests: &[SearchRequest],
) -> Vec<Result<Vec<Retrieved>, PortError>> {
    let (owned, requests) = (retriever.clone(), requests.to_vec());
    let count = requests.len();
    match retriever.pool.run(move || owned.search_batch_blocking(&requests)).await {
        Ok(outcomes) => {
            outcomes.into_iter().map(|outcome| outcome.map_err(PortError::from)).collect()
        }
        // The pool refused or lost the whole batch: so did each request.
        Err(error) => {
            let again = || match error.hint() {
                Some(hint) => PortError::new(error.kind(), error.to_string()).with_hint(hint),
                None => PortError::new(error.kind(), error.to_string()),
            };
            (0..count).map(|_| Err(again())).collect()
        }
    }
}

impl HybridRetriever {
    /// [`HybridRetriever::search_blocking`] for each of `requests`, in order. The queries are encoded in one batch and
    /// searched on the threads of the current pool.
    pub fn search_batch_blocking(&self, requests: &[SearchRequest]) -> Vec<Outcome> {
        match self.encode_batch(requests) {
            Some(vectors) => requests
                .par_iter()
                .zip(vectors)
                .map(|(request, vector)| self.search_encoded(request, vector))
                .collect(),
            // Alone, each request gets its own reason.
            None => requests.par_iter().map(|request| self.search_blocking(request)).collect(),
        }
    }

    /// A vector per request, empty where it is lexical; `None` when the batch cannot be encoded as one.
    fn encode_batch(&self, requests: &[SearchRequest]) -> Option<Vec<Vec<f32>>> {
        let is_dense = |request: &SearchRequest| request.mode != SearchMode::Lexical;
        let texts: Vec<&str> = requests
            .iter()
            .filter(|request| is_dense(request))
            .map(|request| request.query.as_str())
            .collect();
        if texts.is_empty() {
            return Some(vec![Vec::new(); requests.len()]);
        }
        let dim = self.encoder.info().dim;
        let encoded = self.encoder.encode(Side::Query, &texts).ok()?;
        let usable = encoded.dim == dim
            && encoded.values.len() == texts.len() * dim
            && encoded.values.iter().all(|value| value.is_finite());
        let mut rows = encoded.values.chunks_exact(dim);
        usable.then(|| {
            requests
                .iter()
                .map(|request| match is_dense(request) {
                    true => rows.next().unwrap_or_default().to_vec(),
                    false => Vec::new(),
                })
                .collect()
        })
    }
}
