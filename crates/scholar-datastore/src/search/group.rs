//! Several datastores asked as one.
//!
//! Where all have the same encoder, the scores of their candidates are fused in one pass: z-scores are taken over the
//! candidates of all of them, so that a cosine counts the same wherever it comes from. BM25 weighs words by each
//! store's own frequencies. Where encoders differ, only ranks compare, and reciprocal ranks are fused (k = 60).
//! Every hit says which datastore it is from ([`Retrieved::found_by`]). Source: ours; the paper has one datastore.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    Explanation, PaperMeta, Passage, PassageId, PortError, RetrievalScore, Retrieved, Retriever,
    SearchMode, SearchRequest,
};

use super::HybridRetriever;
use super::fusion::{Fusion, Spread};
use crate::error::Error;

/// Damping of reciprocal ranks where scores do not compare.
const RANK_DAMPING: f32 = 60.0;

/// One datastore of a group.
#[derive(Clone)]
pub struct GroupMember {
    /// Its name, which its hits carry.
    pub name: String,
    /// It, with its encoder.
    pub retriever: HybridRetriever,
}

/// Several datastores that are searched as one.
#[derive(Clone)]
pub struct GroupRetriever {
    members: Arc<Vec<GroupMember>>,
    /// Whether all have the same encoder.
    is_uniform: bool,
}

/// A hit with both scores.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    pub(crate) hit: Retrieved,
    pub(crate) dense: f32,
    pub(crate) lexical: f32,
}

impl GroupRetriever {
    /// The members in the order in which they are preferred where scores are equal.
    pub fn new(members: Vec<GroupMember>) -> Self {
        let prints: Vec<&str> = members
            .iter()
            .map(|member| member.retriever.store().descriptor().encoder.fingerprint.as_str())
            .collect();
        let is_uniform = prints.windows(2).all(|pair| pair[0] == pair[1]);
        Self { members: Arc::new(members), is_uniform }
    }

    /// Whether scores of the members compare, so that hits are fused by them rather than by ranks.
    pub fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    fn search_blocking(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, Error> {
        let mut lists: Vec<Vec<Scored>> = Vec::with_capacity(self.members.len());
        for GroupMember { name, retriever } in self.members.iter() {
            let mut found = retriever.search_scored(request)?;
            for scored in &mut found {
                scored.hit.found_by = vec![name.clone()];
            }
            lists.push(found);
        }
        let fusion = self
            .members
            .first()
            .map_or_else(Fusion::standard_scores, |member| member.retriever.config.fusion);
        let fused = match fusion {
            Fusion::ZScores { dense_weight, depth } if self.is_uniform => {
                by_scores(lists, request.mode, dense_weight, depth)
            }
            _ => by_ranks(lists),
        };
        Ok(best(fused, request.top_k))
    }
}

/// z-scores over the candidates of all lists, fused as one datastore's are.
fn by_scores(
    lists: Vec<Vec<Scored>>,
    mode: SearchMode,
    dense_weight: f32,
    depth: usize,
) -> Vec<(f32, Retrieved)> {
    let all: Vec<Scored> = lists.into_iter().flatten().collect();
    let spread = |of: fn(&Scored) -> f32| Spread::of(all.iter().map(of).collect(), depth);
    let (dense, lexical) = (spread(|one| one.dense), spread(|one| one.lexical));
    let fused = all.into_iter().map(|Scored { hit, dense: cosine, lexical: bm25 }| {
        let (d, l) = (dense.standardise(cosine), lexical.standardise(bm25));
        let score = match mode {
            SearchMode::Dense => cosine,
            SearchMode::Lexical => bm25,
            SearchMode::Hybrid => dense_weight * d + (1.0 - dense_weight) * l,
        };
        (score, hit)
    });
    fused.collect()
}

/// Reciprocal ranks.
fn by_ranks(lists: Vec<Vec<Scored>>) -> Vec<(f32, Retrieved)> {
    let ranked = lists.into_iter().flat_map(|list| {
        (1_u16..)
            .zip(list)
            .map(|(rank, scored)| (1.0 / (RANK_DAMPING + f32::from(rank)), scored.hit))
    });
    ranked.collect()
}

/// The best `top_k`; one passage of several datastores is one hit that names them all.
fn best(fused: Vec<(f32, Retrieved)>, top_k: usize) -> Vec<Retrieved> {
    let mut by_passage: BTreeMap<PassageId, (f32, Retrieved)> = BTreeMap::new();
    for (score, hit) in fused {
        match by_passage.get_mut(&hit.passage.id) {
            Some((known_score, known)) if known.passage.text == hit.passage.text => {
                let mut names = std::mem::take(&mut known.found_by);
                names.extend(hit.found_by.iter().cloned());
                names.sort();
                names.dedup();
                known.found_by = names;
                *known_score = known_score.max(score);
            }
            // Two texts under one name: the datastore that is named first is believed.
            Some(_) => {}
            None => {
                by_passage.insert(hit.passage.id.clone(), (score, hit));
            }
        }
    }
    let mut hits: Vec<(f32, Retrieved)> = by_passage.into_values().collect();
    hits.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then_with(|| one.passage.id.cmp(&other.passage.id))
    });
    hits.truncate(top_k);
    let scored = hits.into_iter().filter_map(|(score, hit)| {
        let score = RetrievalScore::new(score).ok()?;
        let from = hit.found_by.join(", ");
        let label = format!("fused over several datastores; from {from}");
        let explanation = Explanation::new(score.value(), label).with(hit.explanation.clone());
        Some(Retrieved { score, explanation, ..hit })
    });
    scored.collect()
}

#[async_trait]
impl Retriever for GroupRetriever {
    fn name(&self) -> &str {
        "datastore"
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let Some(first) = self.members.first() else { return Ok(Vec::new()) };
        let (group, request) = (self.clone(), request.clone());
        Ok(first.retriever.pool.run(move || group.search_blocking(&request)).await??)
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        for member in self.members.iter() {
            if let Some(found) = member.retriever.store().passage(id)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, Section};

    use super::*;

    fn scored(n: u64, from: &str, dense: f32, lexical: f32) -> Scored {
        let meta = PaperMeta::new(PaperId::Pmid(n), "T");
        let paper = scholar_core::Paper {
            meta: meta.clone(),
            sections: vec![Section::new("Abstract", format!("text {n}"))],
            references: Vec::new(),
            records: Vec::new(),
        };
        let rules = scholar_core::text::passages::PassageRules::sections();
        let passage = scholar_core::text::passages::cut(&paper, rules).remove(0);
        let hit = Retrieved {
            passage,
            paper: Arc::new(meta),
            score: RetrievalScore::new(0.0).expect("finite"),
            explanation: Explanation::new(0.0, "x"),
            found_by: vec![from.to_owned()],
        };
        Scored { hit, dense, lexical }
    }

    #[test]
    fn scores_of_one_encoder_compare_across_stores() {
        let mine = vec![scored(1, "mine", 0.9, 5.0), scored(2, "mine", 0.2, 1.0)];
        let starter = vec![scored(3, "starter", 0.5, 3.0), scored(1, "starter", 0.9, 4.0)];
        let hits =
            best(by_scores(vec![mine.clone(), starter.clone()], SearchMode::Hybrid, 0.4, 50), 10);
        let order: Vec<String> = hits.iter().map(|hit| hit.passage.id.paper.to_string()).collect();
        assert_eq!(order, ["pmid:1", "pmid:3", "pmid:2"]);
        assert_eq!(hits[0].found_by, ["mine", "starter"]);
        let hits = best(by_ranks(vec![mine, starter]), 2);
        assert_eq!(hits.len(), 2);
        assert_eq!(hits[0].passage.id.paper, PaperId::Pmid(1));
    }
}
