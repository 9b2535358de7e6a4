//! Neighbours in the citation graph from the datastore and from sources beyond it.

use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    CitationGraph, Explanation, LinkDirection, Neighbour, NeighbourRequest, Neighbours, Paper,
    PaperId, PaperMeta, PassageKind, PortError, PortErrorKind, Query, RetrievalScore, Retrieved,
    Retriever as _, SearchFilter, SearchMode, SearchRequest, Section,
};
use scholar_pipeline::retrieve::sources::{
    LinkSource, LinkedPaper, LinkedPapers, SourcesConfig, WideGraph, WideRetriever,
};
use scholar_testing::MemoryRetriever;
use scholar_testing::corpus::{papers, whole_text_passage};

const SEED: PaperId = PaperId::CorpusId(1);
const DIRECTION: LinkDirection = LinkDirection::Citations;

fn paper(id: PaperId, title: &str, citations: Option<u32>) -> Paper {
    let mut meta = PaperMeta::new(id, title);
    meta.citation_count = citations;
    meta.year = Some(2020);
    let sections = vec![Section::new("Abstract", format!("What {title} is about."))];
    Paper { meta, sections, references: Vec::new(), records: Vec::new() }
}

/// Lists the same papers around every paper, or fails.
struct Lists {
    name: &'static str,
    papers: Vec<Paper>,
    fails: bool,
}

#[async_trait]
impl LinkSource for Lists {
    fn name(&self) -> &str {
        self.name
    }

    async fn links(
        &self,
        names: &[PaperId],
        _direction: LinkDirection,
        _limit: usize,
        _filter: &SearchFilter,
    ) -> Result<Option<LinkedPapers>, PortError> {
        if self.fails {
            return Err(PortError::new(PortErrorKind::Unavailable, "told to fail"));
        }
        if names.iter().all(|id| matches!(id, PaperId::Local(_))) {
            return Ok(None);
        }
        let papers = self.papers.iter().cloned();
        let papers = papers.map(|paper| LinkedPaper { paper, influential: Some(true) }).collect();
        Ok(Some(LinkedPapers { papers, notices: Vec::new() }))
    }
}

/// A datastore in which one paper cites the one asked about.
struct Stored(Paper);

#[async_trait]
impl CitationGraph for Stored {
    fn name(&self) -> &str {
        "datastore"
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        let Self(paper) = self;
        let found = request.papers.iter().map(|of| Neighbour {
            of: of.clone(),
            direction: DIRECTION,
            found: Retrieved {
                passage: whole_text_passage(paper).0,
                paper: Arc::new(paper.meta.clone()),
                score: RetrievalScore::new(0.0).expect("finite"),
                explanation: Explanation::new(0.0, "cites it"),
                found_by: Vec::new(),
            },
            influential: None,
        });
        Ok(Neighbours { found: found.collect(), ..Neighbours::default() })
    }
}

fn graph(store: Option<Paper>, lists: Vec<Lists>) -> (Arc<WideRetriever>, WideGraph) {
    let question = Query::new("what else is there").expect("a query");
    let retriever = MemoryRetriever::new(papers().iter().map(whole_text_passage));
    let wide =
        WideRetriever::new(Some(Arc::new(retriever)), Vec::new(), question, SourcesConfig::quick());
    let wide = Arc::new(wide);
    let store = store.map(|paper| Arc::new(Stored(paper)) as Arc<dyn CitationGraph>);
    let sources = lists.into_iter().map(|one| Arc::new(one) as Arc<dyn LinkSource>).collect();
    (Arc::clone(&wide), WideGraph::new(store, sources, wide))
}

fn request(papers: &[PaperId], per_paper: usize) -> NeighbourRequest {
    NeighbourRequest {
        papers: papers.to_vec(),
        directions: vec![DIRECTION],
        per_paper,
        filter: SearchFilter::none(),
    }
}

fn ids(neighbours: &Neighbours) -> Vec<String> {
    neighbours.found.iter().map(|one| one.found.paper.id.to_string()).collect()
}

#[tokio::test]
async fn sources_are_joined_with_the_store_and_what_they_list_can_be_proven() {
    let shared = paper(PaperId::Pmid(1), "A paper that several of them list", Some(50));
    let mut named_otherwise = shared.clone();
    named_otherwise.meta.id = PaperId::OpenAlex(1);
    named_otherwise.meta.external_ids = vec![PaperId::Pmid(1)];
    let mut bare = paper(PaperId::Pmid(4), "A paper without an abstract at all", Some(90));
    bare.sections.clear();
    let s2 = vec![
        named_otherwise,
        paper(PaperId::Pmid(2), "A paper that one of them lists", Some(70)),
        paper(PaperId::Pmid(3), "A paper of which nobody says a count", None),
        bare,
    ];
    let openalex = vec![paper(PaperId::Pmid(2), "A paper that one of them lists", Some(60))];
    let lists = vec![
        Lists { name: "s2", papers: s2, fails: false },
        Lists { name: "openalex", papers: openalex, fails: false },
    ];
    let (wide, graph) = graph(Some(shared), lists);
    assert_eq!(graph.name(), "datastore + s2 + openalex");
    let got = graph.neighbours(&request(&[SEED], 10)).await.expect("answers");
    assert_eq!(ids(&got), ["pmid:2", "pmid:1", "pmid:3"]);
    assert_eq!(got.found[0].found.found_by, ["openalex", "s2"]);
    assert_eq!(got.found[1].found.found_by, ["s2"], "the store's record");
    assert_eq!(got.found[1].influential, Some(true));
    assert_eq!((got.left_out, got.cut), (1, 0));
    let kept: Vec<String> =
        wide.found_papers().iter().map(|paper| paper.meta.id.to_string()).collect();
    assert_eq!(kept, ["pmid:2", "pmid:3"], "those that the store does not have");
    let found = &got.found[0].found;
    assert_eq!(found.passage.kind, PassageKind::Abstract);
    let (again, meta) = wide.passage(&found.passage.id).await.expect("answers").expect("is kept");
    assert_eq!((again, &meta), (found.passage.clone(), &*found.paper));
    let search = SearchRequest {
        query: Query::new("a paper that one of them lists").expect("a query"),
        top_k: 100,
        mode: SearchMode::Hybrid,
        filter: SearchFilter::none(),
    };
    let hits = wide.search(&search).await.expect("answers");
    assert!(hits.iter().all(|hit| hit.paper.id != PaperId::Pmid(2)), "links are no hits");
    let fewer = graph.neighbours(&request(&[SEED], 1)).await.expect("answers");
    assert_eq!((ids(&fewer), fewer.cut, fewer.left_out), (vec!["pmid:2".to_owned()], 2, 1));
    assert_eq!(wide.found_papers().len(), 2, "known ones are not kept twice");
}

#[tokio::test]
async fn a_listed_paper_that_is_stored_is_read_from_the_store() {
    let stored = papers().remove(3);
    let mut listed = stored.clone();
    listed.meta.external_ids.push(stored.meta.id.clone());
    listed.meta.id = PaperId::CorpusId(77);
    listed.sections = vec![Section::new("Abstract", "another wording")];
    let (wide, graph) = graph(None, vec![Lists { name: "s2", papers: vec![listed], fails: false }]);
    let got = graph.neighbours(&request(&[SEED], 10)).await.expect("answers");
    assert_eq!(ids(&got), [stored.meta.id.to_string()]);
    assert_ne!(got.found[0].found.passage.text, "another wording");
    assert!(wide.found_papers().is_empty());
}

#[tokio::test]
async fn a_failing_source_is_a_notice_and_the_filter_holds_for_all() {
    let old = |n, year| {
        let mut paper = paper(PaperId::Pmid(n), &format!("A paper of the year {year}"), Some(9));
        paper.meta.year = Some(year);
        paper
    };
    let lists = || {
        vec![
            Lists { name: "s2", papers: Vec::new(), fails: true },
            Lists { name: "openalex", papers: vec![old(1, 1999), old(2, 2021)], fails: false },
        ]
    };
    let (_, both) = graph(None, lists());
    let mut asked = request(&[SEED, PaperId::Local("mine".to_owned())], 10);
    asked.filter.year_from = Some(2000);
    let got = both.neighbours(&asked).await.expect("answers");
    assert_eq!(ids(&got), ["pmid:2"]);
    assert_eq!(got.left_out, 1);
    let said: Vec<&str> = got.notices.iter().map(|notice| notice.message.as_str()).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("openalex has no register of the identifiers of 1"), "{said:?}");
    assert!(said[1].contains("s2 did not tell 2 times"), "{said:?}");
    let (_, nobody) = graph(None, lists().drain(..1).collect());
    let error = nobody.neighbours(&request(&[SEED], 10)).await.expect_err("nobody answers");
    assert_eq!(error.kind(), PortErrorKind::Unavailable);
}
