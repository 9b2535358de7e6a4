//! Retrieved sets on disk, so that generators can be compared on equal evidence.
//!
//! One JSON object a line: `{"schema": "openscholar.retrieved/1", "id": …, "hits": […]}`. A set is what all searches of
//! an item brought, best first: the first search's hits, then what later ones added.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    Explanation, PaperMeta, Passage, PassageId, PortError, RetrievalScore, Retrieved, Retriever,
    SearchRequest, Searched,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fixed_retriever::rank_score;
use super::json::{DataError, rows};

/// Schema identifier that [`RetrievedSet::schema`] must hold.
pub const RETRIEVED_SCHEMA: &str = "openscholar.retrieved/1";

/// What was found for an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrievedSet {
    /// Schema identifier, always [`RETRIEVED_SCHEMA`].
    pub schema: String,
    /// Identifier of the item.
    pub id: String,
    /// The first search's passages, best first, then what later searches added; each passage once.
    pub hits: Vec<Retrieved>,
}

/// Reads sets by item.
///
/// # Errors
/// [`DataError`] with file and line.
pub fn read_sets(path: &Path) -> Result<HashMap<String, RetrievedSet>, DataError> {
    let mut sets = HashMap::new();
    for row in rows(path)? {
        let wrong = |source| DataError::Json { place: row.place.clone(), source };
        let set: RetrievedSet =
            serde_json::from_value(Value::Object(row.fields.clone())).map_err(wrong)?;
        if set.schema != RETRIEVED_SCHEMA {
            return Err(row
                .wrong(format!("the schema is {:?} instead of {RETRIEVED_SCHEMA:?}", set.schema)));
        }
        sets.insert(set.id.clone(), set);
    }
    Ok(sets)
}

/// The file to which the sets of a run are added, as items end.
pub struct SetFile {
    file: Mutex<fs_err::File>,
    failure: Mutex<Option<io::Error>>,
}

impl SetFile {
    /// Opens the file at `path`, created if absent.
    ///
    /// # Errors
    /// When it cannot be written; the error names it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file: Mutex::new(file), failure: Mutex::default() })
    }

    /// Adds `set`. A failure is kept for [`Self::close`]: the answer is there without it.
    pub fn append(&self, set: &RetrievedSet) {
        let line = serde_json::to_string(set).map_err(io::Error::other);
        let written =
            line.and_then(|line| self.file.lock().write_all(format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            self.failure.lock().get_or_insert(error);
        }
    }

    /// Ends it.
    ///
    /// # Errors
    /// The first failure of [`Self::append`].
    pub fn close(self) -> io::Result<()> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}

/// Passes searches on and keeps what they bring.
pub struct SavingRetriever {
    inner: Arc<dyn Retriever>,
    hits: Mutex<Vec<Retrieved>>,
}

impl SavingRetriever {
    /// Keeps what `inner` finds.
    pub fn new(inner: Arc<dyn Retriever>) -> Self {
        Self { inner, hits: Mutex::default() }
    }

    /// What was found so far, as the set of the item called `id`. Scores become places: those of different searches do
    /// not compare.
    pub fn set(&self, id: &str) -> RetrievedSet {
        let mut hits = self.hits.lock().clone();
        for (place, hit) in hits.iter_mut().enumerate() {
            let score = rank_score(place);
            hit.score = RetrievalScore::new(score).expect("a quotient of small positive numbers");
            hit.explanation = Explanation::new(score, "place in the frozen set");
        }
        RetrievedSet { schema: RETRIEVED_SCHEMA.to_owned(), id: id.to_owned(), hits }
    }

    fn keep(&self, found: &[Retrieved]) {
        let mut hits = self.hits.lock();
        for hit in found {
            if !hits.iter().any(|known| known.passage.id == hit.passage.id) {
                hits.push(hit.clone());
            }
        }
    }
}

#[async_trait]
impl Retriever for SavingRetriever {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let hits = self.inner.search(request).await?;
        self.keep(&hits);
        Ok(hits)
    }

    async fn explore(&self, request: &SearchRequest) -> Result<Searched, PortError> {
        let searched = self.inner.explore(request).await?;
        self.keep(&searched.hits);
        Ok(searched)
    }

    async fn search_batch(
        &self,
        requests: &[SearchRequest],
    ) -> Vec<Result<Vec<Retrieved>, PortError>> {
        let outcomes = self.inner.search_batch(requests).await;
        outcomes.iter().flatten().for_each(|hits| self.keep(hits));
        outcomes
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.inner.passage(id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use scholar_core::{Query, SearchFilter, SearchMode};
    use scholar_testing::MemoryRetriever;

    use crate::scholarqa::fixed_retriever::FixedRetriever;

    fn request(query: &str, top_k: usize) -> SearchRequest {
        SearchRequest {
            query: Query::new(query).expect("words"),
            top_k,
            mode: SearchMode::Hybrid,
            filter: SearchFilter::none(),
        }
    }

    #[test]
    fn a_saved_set_is_served_again_in_order() {
        let saving = SavingRetriever::new(Arc::new(MemoryRetriever::corpus()));
        let first = block_on(saving.explore(&request("hallucinations in translation", 5)));
        let first = first.expect("found").hits;
        block_on(saving.search(&request("summarization of charts", 5))).expect("found");
        let set = saving.set("multi_1");
        assert!(set.hits.len() > first.len() && set.hits.len() <= 10);
        let line = serde_json::to_string(&set).expect("serialises");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs_err::write(file.path(), format!("{line}\n")).expect("written");
        let sets = read_sets(file.path()).expect("read");
        assert_eq!(sets["multi_1"], set);

        let frozen = FixedRetriever::frozen(set.hits.clone());
        let again = block_on(frozen.search(&request("something else", 100))).expect("frozen");
        let ids = |hits: &[Retrieved]| -> Vec<String> {
            hits.iter().map(|hit| hit.passage.id.to_string()).collect()
        };
        assert_eq!(ids(&again), ids(&set.hits));
        assert_eq!(ids(&again)[..first.len()], ids(&first)[..]);
    }

    #[test]
    fn a_wrong_set_names_its_line() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs_err::write(file.path(), "{\"schema\": \"x/1\", \"id\": \"a\", \"hits\": []}\n")
            .expect("written");
        let error = read_sets(file.path()).expect_err("another schema").to_string();
        assert!(error.contains("line 1") && error.contains("x/1"), "{error}");
        fs_err::write(file.path(), "{\"id\": \"a\"}\n").expect("written");
        assert!(read_sets(file.path()).is_err());
    }
}
