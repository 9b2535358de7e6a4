//! The citation graph of a run: the datastore's, and those of the sources that have one.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_clients::semantic_scholar::S2Edge;
use scholar_clients::{Fetcher, OpenAlex, SemanticScholar};
use scholar_core::{
    CitationGraph, LinkDirection, Notice, NoticeKind, Paper, PaperId, PortError, PortErrorKind,
    SearchFilter,
};
use scholar_datastore::graph::{GraphMember, StoredGraph};
use scholar_pipeline::retrieve::sources::{
    LinkSource, LinkedPaper, LinkedPapers, WideGraph, WideRetriever,
};

use super::{OpenDatastore, Sources};
use crate::args::SourceArg;

/// Links asked of Semantic Scholar, which lists them in an order of its own: one page, whose most cited are taken.
const LISTED: usize = 1000;

/// The graph for one question; `None` when nothing that is asked has one.
pub(crate) fn open(
    sources: &Sources,
    opened: &OpenDatastore,
    wide: Option<&Arc<WideRetriever>>,
) -> Option<Arc<dyn CitationGraph>> {
    let store = sources.datastore.then(|| stored(opened));
    let links = links(sources);
    match wide {
        Some(wide) if !links.is_empty() => {
            Some(Arc::new(WideGraph::new(store, links, Arc::clone(wide))))
        }
        _ => store,
    }
}

/// The graph of the datastores that are searched.
pub(crate) fn stored(opened: &OpenDatastore) -> Arc<dyn CitationGraph> {
    let member = |(name, store): (String, &Arc<_>)| GraphMember { name, store: Arc::clone(store) };
    let members = opened.named_stores().map(member).collect();
    Arc::new(StoredGraph::new(members, Arc::clone(&opened.pool)))
}

/// The sources among those that are asked which know who cites whom.
fn links(sources: &Sources) -> Vec<Arc<dyn LinkSource>> {
    let Some(fetcher) = &sources.fetcher else { return Vec::new() };
    let asked = |arg: SourceArg| sources.sources.iter().any(|one| one.name() == arg.name());
    let mut links: Vec<Arc<dyn LinkSource>> = Vec::new();
    if asked(SourceArg::S2) {
        links.push(Arc::new(SemanticScholarLinks::new(fetcher.clone())));
    }
    if asked(SourceArg::Openalex) {
        links.push(Arc::new(OpenAlexLinks::new(fetcher.clone())));
    }
    links
}

/// Semantic Scholar's references and citations.
pub(crate) struct SemanticScholarLinks(SemanticScholar);

impl SemanticScholarLinks {
    pub(crate) fn new(fetcher: Fetcher) -> Self {
        Self(SemanticScholar::new(fetcher))
    }
}

#[async_trait]
impl LinkSource for SemanticScholarLinks {
    fn name(&self) -> &str {
        SourceArg::S2.name()
    }

    async fn links(
        &self,
        names: &[PaperId],
        direction: LinkDirection,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Option<LinkedPapers>, PortError> {
        let Some(id) = names.iter().find(|id| SemanticScholar::has_register_of(id)) else {
            return Ok(None);
        };
        let limit = limit.max(LISTED);
        let listed = match direction {
            LinkDirection::References => self.0.references(id, limit, filter).await?,
            LinkDirection::Citations => self.0.citations(id, limit, filter).await?,
        };
        let paper = |edge: S2Edge| {
            let S2Edge { paper, influential, contexts: _, intents: _ } = edge;
            LinkedPaper { paper: paper.paper, influential: Some(influential) }
        };
        let papers = listed.items.into_iter().map(paper).collect();
        Ok(Some(LinkedPapers { papers, notices: listed.notices }))
    }
}

/// OpenAlex's references and citations.
pub(crate) struct OpenAlexLinks(OpenAlex);

impl OpenAlexLinks {
    pub(crate) fn new(fetcher: Fetcher) -> Self {
        Self(OpenAlex::new(fetcher))
    }
}

#[async_trait]
impl LinkSource for OpenAlexLinks {
    fn name(&self) -> &str {
        SourceArg::Openalex.name()
    }

    async fn links(
        &self,
        names: &[PaperId],
        direction: LinkDirection,
        limit: usize,
        filter: &SearchFilter,
    ) -> Result<Option<LinkedPapers>, PortError> {
        let Some(id) = names.iter().find(|id| OpenAlex::has_register_of(id)) else {
            return Ok(None);
        };
        let (papers, notices) = match direction {
            LinkDirection::References => {
                let Some(work) = self.0.work(id).await? else { return Err(unknown(id)) };
                cited(&self.0, &work.paper.references).await?
            }
            LinkDirection::Citations => {
                let own = names.iter().find(|id| matches!(id, PaperId::OpenAlex(_)));
                let own = match own {
                    Some(own) => own.clone(),
                    None => {
                        let work = self.0.work(id).await?.ok_or_else(|| unknown(id))?;
                        let own = work.paper.meta.ids();
                        let own = own.clone().find(|id| matches!(id, PaperId::OpenAlex(_)));
                        own.unwrap_or(&work.paper.meta.id).clone()
                    }
                };
                let listed = self.0.citing(&own, filter, limit).await?;
                (listed.works.into_iter().map(|work| work.paper).collect(), listed.notices)
            }
        };
        let papers = papers.into_iter().map(|paper| LinkedPaper { paper, influential: None });
        Ok(Some(LinkedPapers { papers: papers.collect(), notices }))
    }
}

/// The works called `wanted`, as far as OpenAlex knows them.
pub(crate) async fn cited(
    client: &OpenAlex,
    wanted: &[PaperId],
) -> Result<(Vec<Paper>, Vec<Notice>), PortError> {
    let (works, mut notices) = client.works(wanted).await?;
    let missing = works.iter().filter(|work| work.is_none()).count();
    if missing > 0 {
        let what = format!("OpenAlex knows nothing of {missing} of {} references", wanted.len());
        notices.push(Notice::new(NoticeKind::Skipped, what));
    }
    Ok((works.into_iter().flatten().map(|work| work.paper).collect(), notices))
}

/// What is said of a paper that OpenAlex does not know.
pub(crate) fn unknown(id: &PaperId) -> PortError {
    PortError::new(PortErrorKind::Rejected, format!("OpenAlex does not know {id}"))
        .with_hint("try another identifier")
}

#[cfg(test)]
mod tests {
    use scholar_clients::HttpClient;
    use scholar_core::{NeighbourRequest, Query};
    use scholar_pipeline::retrieve::sources::SourcesConfig;
    use scholar_testing::standin::world::world;
    use scholar_testing::{Calls, Fault, StandIn};

    use super::super::standin;
    use super::*;

    fn corpus_id(key: &str) -> PaperId {
        PaperId::CorpusId(world().get(key).expect("in the library").corpus)
    }

    fn doi(key: &str) -> PaperId {
        let work = world().get(key).expect("in the library");
        PaperId::Doi(work.doi.clone().expect("a DOI"))
    }

    fn graph(server: &StandIn) -> (Arc<WideRetriever>, WideGraph) {
        let config = standin::config(server, &["S2_API_KEY"]).expect("addresses");
        let fetcher = Fetcher::new(HttpClient::new().expect("a client"), config);
        let question = Query::new("what improves memory").expect("a query");
        let wide = WideRetriever::new(None, Vec::new(), question, SourcesConfig::quick());
        let wide = Arc::new(wide);
        let links: Vec<Arc<dyn LinkSource>> = vec![
            Arc::new(SemanticScholarLinks::new(fetcher.clone())),
            Arc::new(OpenAlexLinks::new(fetcher)),
        ];
        (Arc::clone(&wide), WideGraph::new(None, links, wide))
    }

    fn request(papers: &[PaperId], direction: LinkDirection) -> NeighbourRequest {
        NeighbourRequest {
            papers: papers.to_vec(),
            directions: vec![direction],
            per_paper: 100,
            filter: SearchFilter::none(),
        }
    }

    #[tokio::test]
    async fn both_services_list_the_same_neighbours_once() {
        let server = StandIn::start().expect("a loopback port");
        let (wide, graph) = graph(&server);
        let cited = world().get("cite").expect("in the library").references.len();
        let citing = world().citing("sleep2").count();
        for (key, direction, expect) in [
            ("cite", LinkDirection::References, cited),
            ("sleep2", LinkDirection::Citations, citing),
        ] {
            let got = graph.neighbours(&request(&[doi(key)], direction)).await.expect("answers");
            assert_eq!(got.found.len() + got.left_out, expect, "{direction:?}: {got:#?}");
            assert!(!got.found.is_empty(), "{direction:?}");
            let counts: Vec<u32> =
                got.found.iter().map(|one| one.found.paper.citation_count.unwrap_or(0)).collect();
            assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
            let both = got.found.iter().filter(|one| one.found.found_by == ["openalex", "s2"]);
            assert!(both.count() > 0, "{direction:?}: {:#?} {:?}", got.found, got.notices);
        }
        assert!(!wide.found_papers().is_empty());
    }

    #[tokio::test]
    async fn what_one_service_cannot_tell_the_other_does() {
        let server = StandIn::start().expect("a loopback port");
        server.fault("/openalex", Calls::All, Fault::Status(500, String::new()));
        let (_, alone) = graph(&server);
        let got = alone.neighbours(&request(&[doi("sleep2")], LinkDirection::Citations)).await;
        let got = got.expect("one answers");
        assert!(got.found.iter().all(|one| one.found.found_by == ["s2"]) && !got.found.is_empty());
        let told = |part: &str| got.notices.iter().any(|notice| notice.message.contains(part));
        assert!(told("source openalex did not tell 1 times"), "{:?}", got.notices);

        let (_, both) = graph(&server);
        let asked = request(&[corpus_id("rerank")], LinkDirection::References);
        let got = both.neighbours(&asked).await.expect("one answers");
        assert!(!got.found.is_empty());
        assert!(got.found.iter().any(|one| one.influential == Some(true)));
        let message = &got.notices[0].message;
        assert!(message.contains("openalex has no register"), "{message}");
    }
}
