//! The ways to papers, all of which lead through the guard.
//!
//! | needed | from |
//! |---|---|
//! | passages for a query | the retriever, and the sources beyond it where the run looks there |
//! | papers cited by a paper | the citation graph, those with most citations first |
//! | papers near to a paper | a search with its title and abstract, and those that are cited with it |
//! | sections of a paper | a search within that paper |
//!
//! Source: specification C3. Requests carry the guard's filter, and replies are looked at again.

use std::collections::BTreeMap;

use futures::lock::Mutex;
use scholar_core::{
    Explanation, LinkDirection, NeighbourRequest, Notice, NoticeKind, PaperId, Passage, PassageId,
    PassageKind, PortError, Query, Ranked, RerankScore, RetrievalScore, Retrieved, SearchFilter,
    SearchRequest,
};
use scholar_pipeline::Event;

use crate::desk::Desk;

mod cited_with;

/// Papers and passages for one review.
pub(crate) struct Library<'a> {
    pub(crate) desk: &'a Desk<'a>,
    /// What the first passage of a paper is, once asked for. The lock is held while it is asked, so that each is asked for once.
    first: Mutex<BTreeMap<PaperId, Option<Retrieved>>>,
}

/// Words of an abstract that a search for its neighbours has. Ours.
const NEIGHBOUR_WORDS: usize = 120;

impl<'a> Library<'a> {
    pub(crate) fn new(desk: &'a Desk<'a>) -> Self {
        Self { desk, first: Mutex::default() }
    }

    fn request(&self, query: Query, top_k: usize, filter: SearchFilter) -> SearchRequest {
        SearchRequest { query, top_k, mode: self.desk.config.search_mode, filter }
    }

    /// Passages for `text`, best first, also from sources beyond the datastore.
    pub(crate) async fn search(
        &self,
        text: &str,
        top_k: usize,
    ) -> Result<Vec<Retrieved>, PortError> {
        let Some(query) = Query::new(text) else { return Ok(Vec::new()) };
        let frame = self.desk.frame;
        let request = self.request(query.clone(), top_k, self.desk.guard.filter());
        let searched = frame.ports.retriever.explore(&request).await?;
        searched.notices.into_iter().for_each(|notice| frame.notice(notice));
        let hits = self.admitted("search", searched.hits).await;
        let source = frame.ports.retriever.name().to_owned();
        frame.emit(&Event::Searched { query, source, hits: hits.len() });
        Ok(hits)
    }

    /// Papers that `papers` cite, at most `most` each: the abstract or first passage of each, with the paper that cites it.
    pub(crate) async fn references(
        &self,
        papers: &[PaperId],
        most: usize,
    ) -> Result<Vec<(PaperId, Retrieved)>, PortError> {
        let frame = self.desk.frame;
        let Some(graph) = &frame.ports.graph else { return Ok(Vec::new()) };
        if papers.is_empty() || most == 0 {
            return Ok(Vec::new());
        }
        let request = NeighbourRequest {
            papers: papers.to_vec(),
            directions: vec![LinkDirection::References],
            per_paper: most,
            filter: self.desk.guard.filter(),
        };
        let found = graph.neighbours(&request).await?;
        found.notices.into_iter().for_each(|notice| frame.notice(notice));
        let mut of: BTreeMap<PassageId, PaperId> = BTreeMap::new();
        let mut counts: BTreeMap<PaperId, usize> = BTreeMap::new();
        let mut hits = Vec::new();
        for neighbour in found.found {
            // A graph need not keep to the limit.
            let count = counts.entry(neighbour.of.clone()).or_default();
            *count += 1;
            if *count <= most {
                of.entry(neighbour.found.passage.id.clone()).or_insert(neighbour.of);
                hits.push(neighbour.found);
            }
        }
        let admitted = self.admitted("references", hits).await;
        let with_citing = |hit: Retrieved| of.get(&hit.passage.id).cloned().map(|of| (of, hit));
        Ok(admitted.into_iter().filter_map(with_citing).collect())
    }

    /// Papers near to `seed`, at most `most`, nearest first.
    pub(crate) async fn nearest(
        &self,
        seed: &Retrieved,
        most: usize,
    ) -> Result<Vec<Retrieved>, PortError> {
        let words: Vec<&str> = seed.passage.text.split_whitespace().take(NEIGHBOUR_WORDS).collect();
        let text = format!("{} {}", seed.paper.title, words.join(" "));
        let Some(query) = Query::new(&text) else { return Ok(Vec::new()) };
        let mut filter = self.desk.guard.filter();
        filter.exclude.extend(seed.paper.ids().cloned());
        let request = self.request(query, 4 * most, filter);
        let hits = self.desk.frame.ports.retriever.search(&request).await?;
        let hits = hits.into_iter().filter(|hit| hit.paper.id != seed.paper.id).collect();
        let mut hits = by_paper(self.admitted("recommendations", hits).await);
        hits.truncate(most);
        Ok(hits.into_iter().map(|mut passages| passages.swap_remove(0)).collect())
    }

    /// Passages of one paper for `text`, best first.
    pub(crate) async fn within(
        &self,
        paper: &PaperId,
        text: &str,
        top_k: usize,
    ) -> Result<Vec<Retrieved>, PortError> {
        let Some(query) = Query::new(text) else { return Ok(Vec::new()) };
        let mut filter = self.desk.guard.filter();
        filter.papers = Some([paper.clone()].into_iter().collect());
        let request = self.request(query, top_k, filter);
        let hits = self.desk.frame.ports.retriever.search(&request).await?;
        let own = hits.into_iter().filter(|hit| hit.paper.id == *paper).collect();
        Ok(self.admitted("full_text", own).await)
    }

    /// The first passage of a paper, which is its abstract or the beginning of it, else of its text; `None` where it has none.
    ///
    /// It comes without a score of its own, so that it is the same whoever asks first.
    pub(crate) async fn opening(&self, hit: &Retrieved) -> Option<Retrieved> {
        let id = &hit.paper.id;
        let mut first = self.first.lock().await;
        if let Some(known) = first.get(id) {
            return known.clone();
        }
        let stored = match self.first_passage(hit).await {
            None if hit.passage.kind == PassageKind::Abstract => Some(hit.passage.clone()),
            stored => stored,
        };
        let opening = stored.and_then(|passage| {
            let score = RetrievalScore::new(0.0).ok()?;
            let explanation = Explanation::new(0.0, "the first passage of the paper");
            Some(Retrieved { passage, score, explanation, ..hit.clone() })
        });
        first.insert(id.clone(), opening.clone());
        opening
    }

    async fn first_passage(&self, hit: &Retrieved) -> Option<Passage> {
        if hit.passage.id.ordinal == 0 {
            return hit.passage.kind.is_prose().then(|| hit.passage.clone());
        }
        let id = PassageId { paper: hit.paper.id.clone(), ordinal: 0 };
        match self.desk.frame.ports.retriever.passage(&id).await {
            Ok(stored) => stored.map(|(passage, _)| passage).filter(|one| one.kind.is_prose()),
            Err(error) => {
                let message = format!("abstract of {id} not read: {error}");
                self.desk.frame.notice(Notice::new(NoticeKind::Skipped, message));
                None
            }
        }
    }

    /// The hits that the guard admits, in order; the others are counted.
    async fn admitted(&self, route: &'static str, hits: Vec<Retrieved>) -> Vec<Retrieved> {
        let guard = &self.desk.guard;
        let mut admitted = Vec::with_capacity(hits.len());
        for hit in hits {
            let mut verdict = guard.admits(&hit.paper, None);
            if verdict.is_ok() {
                let opening = self.opening(&hit).await;
                let text = opening.as_ref().map(|opening| opening.passage.text.as_str());
                verdict = guard.admits(&hit.paper, text);
            }
            match verdict {
                Ok(()) => admitted.push(hit),
                Err(why) => self.desk.refuse(route, why, &hit.paper.id),
            }
        }
        admitted
    }
}

/// Passages by paper, papers in order of their best passage, each passage once.
pub(crate) fn by_paper(hits: Vec<Retrieved>) -> Vec<Vec<Retrieved>> {
    let mut papers: Vec<Vec<Retrieved>> = Vec::new();
    for hit in hits {
        match papers.iter_mut().find(|known| known[0].paper.id == hit.paper.id) {
            Some(known) if known.iter().any(|one| one.passage.id == hit.passage.id) => {}
            Some(known) => known.push(hit),
            None => papers.push(vec![hit]),
        }
    }
    papers
}

/// A passage as a registry takes it: ranked by what the search said.
pub(crate) fn ranked(hit: &Retrieved) -> Option<Ranked> {
    let score = RerankScore::new(hit.score.value()).ok()?;
    Some(Ranked { retrieved: hit.clone(), score, explanation: hit.explanation.clone() })
}
