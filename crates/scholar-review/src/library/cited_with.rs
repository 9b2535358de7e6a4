//! Papers that are cited together with a seed: what papers that cite it cite besides.
//!
//! Two steps over the citation graph for all seeds at once: to papers that cite them, then to what those cite. The more papers cite
//! both, the nearer the two. Every paper on the way obeys the cut-off, so that later work tells nothing of what belongs together.
//!
//! Source: specification C3, co-citation among recommendations; the limits are ours.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{
    CitationGraph, LinkDirection, NeighbourRequest, Neighbours, PaperId, PortError, Retrieved,
};

use super::Library;

/// Seeds that are asked for, the most relevant first.
const SEEDS: usize = 20;
/// Papers citing one seed, the most cited first.
const CITING: usize = 5;
/// Papers cited by one of those, the most cited first.
const CITED: usize = 15;
/// Fewest papers that cite both: one list of references has papers on many things.
const TOGETHER: usize = 2;

impl Library<'_> {
    /// For each of `seeds` the papers that are cited with it, at most `most`, those cited with it most often first; equal ones by
    /// citations, then by identifier.
    pub(crate) async fn cited_with(
        &self,
        seeds: &[PaperId],
        most: usize,
    ) -> Result<BTreeMap<PaperId, Vec<Retrieved>>, PortError> {
        let Some(graph) = &self.desk.frame.ports.graph else { return Ok(BTreeMap::new()) };
        let seeds = &seeds[..seeds.len().min(SEEDS)];
        let cites = self.step(graph.as_ref(), seeds, LinkDirection::Citations, CITING).await?;
        let mut citing: Vec<PaperId> = Vec::new();
        let mut citing_of: BTreeMap<&PaperId, BTreeSet<PaperId>> = BTreeMap::new();
        for one in &cites.found {
            let id = &one.found.paper.id;
            if self.desk.guard.admits(&one.found.paper, None).is_err() {
                continue;
            }
            if !citing.contains(id) {
                citing.push(id.clone());
            }
            citing_of.entry(&one.of).or_default().insert(id.clone());
        }
        let cited = self.step(graph.as_ref(), &citing, LinkDirection::References, CITED).await?;
        let mut found = BTreeMap::new();
        for (seed, citing) in citing_of {
            let mut with: BTreeMap<&PaperId, (usize, &Retrieved)> = BTreeMap::new();
            for one in cited.found.iter().filter(|one| citing.contains(&one.of)) {
                let id = &one.found.paper.id;
                if id != seed {
                    with.entry(id).or_insert((0, &one.found)).0 += 1;
                }
            }
            let mut near: Vec<(usize, &Retrieved)> =
                with.into_values().filter(|(times, _)| *times >= TOGETHER).collect();
            near.sort_by_key(|(times, hit)| {
                (Reverse((*times, hit.paper.citation_count)), hit.paper.id.clone())
            });
            let near = near.into_iter().map(|(_, hit)| hit.clone()).collect();
            let mut admitted = self.admitted("recommendations", near).await;
            admitted.truncate(most);
            found.insert(seed.clone(), admitted);
        }
        Ok(found)
    }

    async fn step(
        &self,
        graph: &dyn CitationGraph,
        papers: &[PaperId],
        direction: LinkDirection,
        per_paper: usize,
    ) -> Result<Neighbours, PortError> {
        if papers.is_empty() {
            return Ok(Neighbours::default());
        }
        let request = NeighbourRequest {
            papers: papers.to_vec(),
            directions: vec![direction],
            per_paper,
            filter: self.desk.guard.filter(),
        };
        let mut found = graph.neighbours(&request).await?;
        found.notices.drain(..).for_each(|notice| self.desk.frame.notice(notice));
        Ok(found)
    }
}
