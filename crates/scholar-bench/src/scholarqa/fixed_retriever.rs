//! The item's own passages behind the retrieval port.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::text::normalise::title_key;
use scholar_core::{
    CharSpan, Explanation, PaperId, PaperMeta, Passage, PassageId, PassageKind, PortError,
    PortErrorKind, RetrievalScore, Retrieved, Retriever, SearchRequest,
};

use super::prediction::Context;

/// Name in notices and reports.
pub const GIVEN: &str = "given passages";
/// The same of passages that were retrieved before.
pub const FROZEN: &str = "frozen passages";

/// Answers every search with the same passages in the same order. Filters do not apply: the passages are given.
pub struct FixedRetriever {
    name: &'static str,
    hits: Vec<Retrieved>,
}

impl FixedRetriever {
    /// Serves `contexts`; those without text are left out. Passages with the same title are of one paper.
    pub fn given(item: &str, contexts: &[Context]) -> Self {
        let mut titles: Vec<String> = Vec::new();
        let mut hits = Vec::new();
        for (nth, context) in contexts.iter().enumerate() {
            if context.text.trim().is_empty() {
                continue;
            }
            let key = title_key(&context.title);
            let known = titles.iter().position(|title| !key.is_empty() && *title == key);
            let paper = known.unwrap_or(titles.len());
            if known.is_none() {
                titles.push(key);
            }
            hits.push(retrieved(item, paper, nth, context, rank_score(hits.len())));
        }
        Self { name: GIVEN, hits }
    }

    /// Serves `hits` as they are.
    pub fn frozen(hits: Vec<Retrieved>) -> Self {
        Self { name: FROZEN, hits }
    }
}

/// Falls with the place in a list, so that order is kept.
pub(crate) fn rank_score(place: usize) -> f32 {
    let place = u16::try_from(place).unwrap_or(u16::MAX);
    1.0 / (1.0 + f32::from(place))
}

fn retrieved(item: &str, paper: usize, nth: usize, context: &Context, score: f32) -> Retrieved {
    let id = PaperId::Local(format!("{item}/{paper}"));
    let mut meta = PaperMeta::new(id.clone(), context.title.clone());
    meta.authors.clone_from(&context.authors);
    meta.year = context.year;
    meta.url.clone_from(&context.url);
    meta.citation_count = context.citation_count;
    let passage = Passage {
        id: PassageId { paper: id, ordinal: u32::try_from(nth).unwrap_or(u32::MAX) },
        title: context.title.clone(),
        section: String::new(),
        kind: PassageKind::Body,
        span: CharSpan::new(0, context.text.chars().count()),
        text: context.text.clone(),
        places: Vec::new(),
    };
    Retrieved {
        passage,
        paper: Arc::new(meta),
        score: RetrievalScore::new(score).expect("a quotient of small positive numbers is finite"),
        explanation: Explanation::new(score, "place in the given list"),
        found_by: Vec::new(),
    }
}

#[async_trait]
impl Retriever for FixedRetriever {
    fn name(&self) -> &str {
        self.name
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        Ok(self.hits.iter().take(request.top_k).cloned().collect())
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        let found = self.hits.iter().find(|hit| hit.passage.id == *id);
        Ok(found.map(|hit| (hit.passage.clone(), PaperMeta::clone(&hit.paper))))
    }
}

/// Where no passage is: systems that retrieve nothing.
pub struct NoRetriever;

#[async_trait]
impl Retriever for NoRetriever {
    fn name(&self) -> &'static str {
        "nothing"
    }

    async fn search(&self, _request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        Err(PortError::new(PortErrorKind::Rejected, "this system retrieves nothing"))
    }

    async fn passage(&self, _id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use scholar_core::{Query, SearchFilter, SearchMode};

    #[test]
    fn given_passages_keep_their_order_and_their_papers() {
        let context = |title: &str, text: &str| Context {
            title: title.to_owned(),
            text: text.to_owned(),
            ..Context::default()
        };
        let contexts = [
            context("Deep Nets", "one"),
            context("", "two"),
            context("deep nets.", "three"),
            context("Empty", " "),
            context("", "four"),
        ];
        let retriever = FixedRetriever::given("qasa_0", &contexts);
        let request = |top_k| SearchRequest {
            query: Query::new("anything").expect("words"),
            top_k,
            mode: SearchMode::Hybrid,
            filter: SearchFilter { year_from: Some(2000), ..SearchFilter::none() },
        };
        let hits = block_on(retriever.search(&request(9))).expect("given");
        let papers: Vec<String> = hits.iter().map(|hit| hit.paper.id.to_string()).collect();
        assert_eq!(
            papers,
            ["local:qasa_0/0", "local:qasa_0/1", "local:qasa_0/0", "local:qasa_0/2"]
        );
        assert!(hits.windows(2).all(|pair| pair[0].score > pair[1].score));
        assert_eq!(hits[3].passage.id.ordinal, 4, "the number among all contexts");
        assert_eq!(block_on(retriever.search(&request(1))).expect("given").len(), 1);
        let stored = block_on(retriever.passage(&hits[2].passage.id)).expect("asked");
        assert_eq!(stored.expect("found").0.text, "three");
    }
}
