//! Titles looked up in the datastore and in the sources beyond it.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    FindBy, FindRequest, PaperId, PaperSource, PassageId, PassageKind, PortError, PortErrorKind,
    Query, Retriever, SearchFilter, SearchMode, SearchRequest,
};

use super::{CANDIDATES, FoundPaper, TitleLookup, same_title};

/// Passages searched for a title: several may be of one paper.
const PASSAGES: usize = 20;
/// Passages of a stored abstract that are read. Ours: an abstract has one or two.
const ABSTRACT_PASSAGES: u32 = 8;

/// A datastore in which titles are looked up.
#[derive(Clone)]
pub struct StoredPapers {
    /// Its name, for reports.
    pub name: String,
    /// Searches that datastore's passages for a title.
    pub retriever: Arc<dyn Retriever>,
}

/// Asks the datastore first, then each source until one knows the title and the abstract.
///
/// Without sources a paper that is merely not stored looks invented: the name of the lookup says who was asked, and
/// stands beside the numbers.
pub struct PortLookup {
    places: Vec<Place>,
    name: String,
}

enum Place {
    Datastore(StoredPapers),
    Source(Arc<dyn PaperSource>),
}

impl PortLookup {
    /// Looks in `stored`, if there is one, and in `sources` in their order.
    pub fn new(stored: Option<StoredPapers>, sources: Vec<Arc<dyn PaperSource>>) -> Self {
        let datastore = stored.into_iter().map(Place::Datastore);
        let places: Vec<Place> = datastore.chain(sources.into_iter().map(Place::Source)).collect();
        let names: Vec<String> = places.iter().map(Place::name).collect();
        Self { places, name: names.join(", ") }
    }
}

impl Place {
    fn name(&self) -> String {
        match self {
            Self::Datastore(stored) => format!("datastore {}", stored.name),
            Self::Source(source) => source.name().to_owned(),
        }
    }

    async fn find(&self, title: &str, query: &Query) -> Result<Option<FoundPaper>, PortError> {
        match self {
            Self::Datastore(stored) => stored.find(title, query, self.name()).await,
            Self::Source(source) => {
                find_in_source(source.as_ref(), title, query, self.name()).await
            }
        }
    }
}

impl StoredPapers {
    async fn find(
        &self,
        title: &str,
        query: &Query,
        place: String,
    ) -> Result<Option<FoundPaper>, PortError> {
        let request = SearchRequest {
            query: query.clone(),
            top_k: PASSAGES,
            mode: SearchMode::Lexical,
            filter: SearchFilter::none(),
        };
        let hits = self.retriever.search(&request).await?;
        let mut papers: Vec<&PaperId> = Vec::new();
        for hit in &hits {
            if papers.contains(&&hit.paper.id) {
                continue;
            }
            papers.push(&hit.paper.id);
            if papers.len() > CANDIDATES {
                break;
            }
            if same_title(title, &hit.paper.title) {
                let abstract_text = self.abstract_of(&hit.paper.id).await?;
                return Ok(Some(FoundPaper {
                    title: hit.paper.title.clone(),
                    abstract_text,
                    place,
                }));
            }
        }
        Ok(None)
    }

    /// The passages of the abstract joined, as they were cut.
    async fn abstract_of(&self, paper: &PaperId) -> Result<Option<String>, PortError> {
        let mut texts: Vec<String> = Vec::new();
        for ordinal in 0..ABSTRACT_PASSAGES {
            let id = PassageId { paper: paper.clone(), ordinal };
            match self.retriever.passage(&id).await? {
                Some((passage, _)) if passage.kind == PassageKind::Abstract => {
                    texts.push(passage.text);
                }
                _ => break,
            }
        }
        Ok(Some(texts.join(" ")).filter(|text| !text.trim().is_empty()))
    }
}

async fn find_in_source(
    source: &dyn PaperSource,
    title: &str,
    query: &Query,
    place: String,
) -> Result<Option<FoundPaper>, PortError> {
    let by = if source.takes(FindBy::Keywords) { FindBy::Keywords } else { FindBy::Question };
    let filter = SearchFilter::none();
    let request = FindRequest { text: query.clone(), by, filter, limit: CANDIDATES };
    let found = source.find(&request).await?;
    let paper = found.papers.into_iter().find(|paper| same_title(title, &paper.meta.title));
    Ok(paper.map(|paper| FoundPaper {
        abstract_text: paper
            .abstract_text()
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned),
        title: paper.meta.title,
        place,
    }))
}

#[async_trait]
impl TitleLookup for PortLookup {
    fn name(&self) -> &str {
        &self.name
    }

    /// A failure counts only if nobody else knows title and abstract.
    async fn find(&self, title: &str) -> Result<Option<FoundPaper>, PortError> {
        let query = Query::new(title).ok_or_else(|| {
            PortError::new(PortErrorKind::Rejected, "an empty title cannot be looked up")
        })?;
        let mut best: Option<FoundPaper> = None;
        let mut failure = None;
        for place in &self.places {
            match place.find(title, &query).await {
                Ok(Some(paper)) if paper.abstract_text.is_some() => return Ok(Some(paper)),
                Ok(found) => best = best.or(found),
                Err(error) => failure = Some(error),
            }
        }
        failure.map_or(Ok(best), Err)
    }
}
