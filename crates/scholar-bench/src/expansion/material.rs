//! What is asked of the engines for one query, once: rules are tried on it afterwards.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{
    LinkDirection, Neighbour, NeighbourRequest, PaperId, PortError, PortErrorKind, Query, Reranker,
    RetrievalScore, Retrieved, SearchFilter, SearchMode, SearchRequest,
};
use scholar_pipeline::retrieve::links::{Fused, Link, LinkRule, fuse};

use super::{BUDGET, Engines, ExpansionQuery, Way};

/// Passages asked of the search: recall looks at 100 papers, and a linked paper may be far down.
const PASSAGES: usize = 300;
/// Best hits whose links are asked for. A reranker moves the first 30.
const ONE_HOP: usize = 30;
/// Best hits, reranked, whose links' links are asked for.
const TWO_HOPS: usize = 10;
/// Links of one paper and direction.
const PER_PAPER: usize = 100;

/// One query's hits and links.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name.
    pub id: String,
    /// What ought to be found.
    pub gold: BTreeSet<PaperId>,
    /// Papers as the search ranks them, each once.
    pub search: Vec<PaperId>,
    /// The same with the first [`BUDGET`] as the reranker ranks them.
    pub reranked: Vec<PaperId>,
    /// Links of the best hits, one or two far, in the order of the graph.
    pub links: BTreeMap<PaperId, Vec<(Way, PaperId)>>,
    /// How often papers that links lead to are cited, as the datastore states it.
    pub cited: BTreeMap<PaperId, u32>,
    /// The best hits and their neighbours, of [`TWO_HOPS`] hits, as a search among these alone ranks them, by way.
    pub by_text: BTreeMap<Way, Vec<PaperId>>,
}

impl Material {
    /// Links of `hits`, best first, that lead `way`.
    pub fn links_of(&self, hits: &[PaperId], way: Way) -> Vec<Link> {
        let mut links = Vec::new();
        for (hit, id) in hits.iter().enumerate().take(ONE_HOP) {
            let of_it = self.links.get(id).into_iter().flatten();
            for (led, paper) in of_it.filter(|(led, _)| leads(*led, way)) {
                let direction = direction_of(*led);
                links.push(Link { hit, direction, paper: paper.clone() });
            }
        }
        links
    }

    /// The reranked hits with their links, as `rule` fuses them.
    pub fn fused(&self, way: Way, rule: LinkRule) -> Vec<PaperId> {
        self.fused_from(&self.reranked, way, rule).into_iter().map(|one| one.paper).collect()
    }

    fn fused_from(&self, hits: &[PaperId], way: Way, rule: LinkRule) -> Vec<Fused> {
        fuse(hits, &self.links_of(hits, way), rule)
    }

    /// The reranked hits fused with the same neighbours by how often they are cited, not by their links: a control.
    pub fn fused_by_citations(&self, way: Way, rule: LinkRule) -> Vec<PaperId> {
        let reached = self.reached(way, rule.seeds);
        let mut ranked: Vec<&PaperId> = reached.iter().collect();
        ranked.sort_by_key(|id| std::cmp::Reverse(self.cited.get(id).copied().unwrap_or(0)));
        let mut scores: BTreeMap<&PaperId, f64> = BTreeMap::new();
        for (list, weight) in [(self.reranked.iter().collect(), 1.0), (ranked, rule.weight)] {
            let list: Vec<&PaperId> = list;
            for (place, id) in (1_u32..).zip(list) {
                *scores.entry(id).or_default() += f64::from(weight) / (60.0 + f64::from(place));
            }
        }
        let mut fused: Vec<(&PaperId, f64)> = scores.into_iter().collect();
        fused.sort_by(|a, b| b.1.total_cmp(&a.1));
        fused.into_iter().map(|(id, _)| id.clone()).collect()
    }

    /// Papers that links of the first `seeds` reranked hits lead to.
    pub fn reached(&self, way: Way, seeds: usize) -> BTreeSet<PaperId> {
        let links = self.links_of(&self.reranked, way).into_iter();
        links.filter(|link| link.hit < seeds).map(|link| link.paper).collect()
    }
}

fn leads(led: Way, way: Way) -> bool {
    led == way || (way == Way::Both && led.is_one_hop())
}

/// Two links far, the last of them counts.
fn direction_of(way: Way) -> LinkDirection {
    match way {
        Way::Backward | Way::CoCited => LinkDirection::References,
        Way::Forward | Way::Both | Way::Coupled => LinkDirection::Citations,
    }
}

/// Searches, reranks and follows links for one query.
///
/// # Errors
/// The first of search, reranking or graph.
pub async fn gather(engines: Engines<'_>, query: &ExpansionQuery) -> Result<Material, PortError> {
    let filter = SearchFilter { exclude: query.exclude.clone(), ..SearchFilter::none() };
    let hits = searched(engines, &query.query, &filter).await?;
    let search = papers(&hits);
    let reranked = reranked(engines.reranker, &query.query, hits).await?;
    let reranked = papers(&reranked);
    let seeds: BTreeSet<&PaperId> =
        search.iter().take(ONE_HOP).chain(reranked.iter().take(ONE_HOP)).collect();
    let seeds: Vec<PaperId> = seeds.into_iter().cloned().collect();
    let mut links: BTreeMap<PaperId, Vec<(Way, PaperId)>> = BTreeMap::new();
    let both = [LinkDirection::References, LinkDirection::Citations];
    let mut cited = BTreeMap::new();
    for (of, direction, paper, count) in hop(engines, seeds, &both, &filter).await? {
        cited.insert(paper.clone(), count);
        let way = match direction {
            LinkDirection::References => Way::Backward,
            LinkDirection::Citations => Way::Forward,
        };
        links.entry(of).or_default().push((way, paper));
    }
    let best = &reranked[..reranked.len().min(TWO_HOPS)];
    for (hit, far) in two_hops(engines, best, &links, &filter).await? {
        links.entry(hit).or_default().extend(far);
    }
    let (id, gold) = (query.id.clone(), query.gold.clone());
    let by_text = BTreeMap::new();
    let mut material = Material { id, gold, search, reranked, links, cited, by_text };
    for way in Way::ALL.into_iter().filter(|way| way.is_one_hop()) {
        let mut among = material.reached(way, TWO_HOPS);
        among.extend(material.search.iter().take(BUDGET).cloned());
        let filter = SearchFilter { papers: Some(among), ..filter.clone() };
        let hits = searched(engines, &query.query, &filter).await?;
        let ranked = reranked_of(engines.reranker, &query.query, hits).await?;
        material.by_text.insert(way, ranked);
    }
    Ok(material)
}

/// What links of links of `best` lead to, by hit; a paper once for each path.
async fn two_hops(
    engines: Engines<'_>,
    best: &[PaperId],
    links: &BTreeMap<PaperId, Vec<(Way, PaperId)>>,
    filter: &SearchFilter,
) -> Result<Vec<(PaperId, Vec<(Way, PaperId)>)>, PortError> {
    let mut all = Vec::new();
    for (first, second, way) in [
        (Way::Forward, LinkDirection::References, Way::CoCited),
        (Way::Backward, LinkDirection::Citations, Way::Coupled),
    ] {
        let middle = |hit: &PaperId| -> Vec<PaperId> {
            let of_hit = links.get(hit).into_iter().flatten();
            of_hit.filter(|(led, _)| *led == first).map(|(_, paper)| paper.clone()).collect()
        };
        let between: BTreeSet<PaperId> = best.iter().flat_map(middle).collect();
        let between: Vec<PaperId> = between.into_iter().collect();
        let mut onward: BTreeMap<PaperId, Vec<PaperId>> = BTreeMap::new();
        for (of, _, paper, _) in hop(engines, between, &[second], filter).await? {
            onward.entry(of).or_default().push(paper);
        }
        for hit in best {
            let paths = middle(hit);
            let far = paths.iter().filter_map(|paper| onward.get(paper)).flatten();
            let far = far.filter(|paper| *paper != hit).map(|paper| (way, paper.clone()));
            all.push((hit.clone(), far.collect()));
        }
    }
    Ok(all)
}

async fn reranked_of(
    reranker: &dyn Reranker,
    query: &Query,
    hits: Vec<Retrieved>,
) -> Result<Vec<PaperId>, PortError> {
    Ok(papers(&reranked(reranker, query, hits).await?))
}

/// The first [`BUDGET`] papers of the hits with their links, fused before they are reranked.
///
/// # Errors
/// As [`gather`].
pub async fn reranked_with_links(
    engines: Engines<'_>,
    query: &ExpansionQuery,
    material: &Material,
    way: Way,
    rule: LinkRule,
) -> Result<Vec<PaperId>, PortError> {
    let fused = material.fused_from(&material.search, way, rule);
    let head: Vec<&Fused> = fused.iter().take(BUDGET).collect();
    let among: BTreeSet<PaperId> = head.iter().map(|one| one.paper.clone()).collect();
    let filter = SearchFilter {
        exclude: query.exclude.clone(),
        papers: Some(among),
        ..SearchFilter::none()
    };
    let hits = searched(engines, &query.query, &filter).await?;
    let mut passages: BTreeMap<PaperId, Retrieved> = BTreeMap::new();
    for hit in hits {
        passages.entry(hit.paper.id.clone()).or_insert(hit);
    }
    let mut pool = Vec::with_capacity(head.len());
    for one in head {
        if let Some(mut hit) = passages.remove(&one.paper) {
            hit.score = RetrievalScore::new(one.score)
                .map_err(|error| PortError::new(PortErrorKind::Corrupt, error.to_string()))?;
            pool.push(hit);
        }
    }
    reranked_of(engines.reranker, &query.query, pool).await
}

async fn searched(
    engines: Engines<'_>,
    query: &Query,
    filter: &SearchFilter,
) -> Result<Vec<Retrieved>, PortError> {
    let request = SearchRequest {
        query: query.clone(),
        top_k: PASSAGES,
        mode: SearchMode::Hybrid,
        filter: filter.clone(),
    };
    engines.retriever.search(&request).await
}

/// The first [`BUDGET`] in the reranker's order, ties by place; the rest behind them.
async fn reranked(
    reranker: &dyn Reranker,
    query: &Query,
    mut hits: Vec<Retrieved>,
) -> Result<Vec<Retrieved>, PortError> {
    let rest = hits.split_off(hits.len().min(BUDGET));
    let scores = reranker.rerank(query, &hits).await?;
    if scores.len() != hits.len() {
        let message = format!("{} returned a wrong number of scores", reranker.info().name);
        return Err(PortError::new(PortErrorKind::Corrupt, message));
    }
    let mut ranked: Vec<_> = scores.into_iter().zip(hits).collect();
    ranked.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    Ok(ranked.into_iter().map(|(_, hit)| hit).chain(rest).collect())
}

/// Papers one link away: from, direction, to, and how often that is cited.
async fn hop(
    engines: Engines<'_>,
    papers: Vec<PaperId>,
    directions: &[LinkDirection],
    filter: &SearchFilter,
) -> Result<Vec<(PaperId, LinkDirection, PaperId, u32)>, PortError> {
    let request = NeighbourRequest {
        papers,
        directions: directions.to_vec(),
        per_paper: PER_PAPER,
        filter: filter.clone(),
    };
    let found = engines.graph.neighbours(&request).await?.found;
    let link = |one: Neighbour| {
        let count = one.found.paper.citation_count.unwrap_or(0);
        (one.of, one.direction, one.found.paper.id.clone(), count)
    };
    Ok(found.into_iter().map(link).collect())
}

/// Each paper at the place of its best passage.
fn papers(hits: &[Retrieved]) -> Vec<PaperId> {
    let mut seen = BTreeSet::new();
    let ids = hits.iter().map(|hit| &hit.paper.id);
    ids.filter(|id| seen.insert(*id)).cloned().collect()
}
