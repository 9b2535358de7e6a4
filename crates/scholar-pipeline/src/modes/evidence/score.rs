//! How well each candidate answers the question, and how alike two of them are.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{Encoder, PaperId, PaperMeta, PortError, Ranked, Side};

use super::candidate::Candidate;
use super::config::{EvidenceConfig, ScoreWeights};
use super::question::Reading;
use super::terms::stem_set;
use crate::proof::select::dot;

/// Cosines of sentence encoders between these are spread over `[0, 1]`: unrelated sentences of one field reach the lower one, a
/// paraphrase of the question the upper one (all-MiniLM-L6-v2).
const SIMILARITY_RANGE: (f32, f32) = (0.2, 0.8);
/// Share of the similarity in the relevance; the rest is coverage of the question's terms.
const SIMILARITY_SHARE: f32 = 0.7;
/// What a term counts that the paper's title has and the sentence has not.
const TITLE_CREDIT: f32 = 0.5;
/// What a term of the topic counts that the paper's title has and the sentence has not.
const TITLE_TOPIC_CREDIT: f32 = 0.75;
/// What remains of the relevance of a sentence that, title included, says nothing of the topic.
const OFF_TOPIC: f32 = 0.3;
/// Rank at which the bonus for it has fallen to a half.
const HALF_RANK: f32 = 20.0;
/// Years over which recency falls to a half, and citations that count as many.
const HALF_YEARS: f32 = 8.0;

/// A candidate with its scores.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    /// The sentence.
    pub(crate) candidate: Candidate,
    /// Cosine to the question.
    pub(crate) similarity: Option<f32>,
    /// Share of the question's weight in it, titles counting half.
    pub(crate) coverage: f32,
    /// Share of the question's topic in it, its title counting less.
    pub(crate) topic: f32,
    /// How well it fits the question, in `[0, 1]`.
    pub(crate) relevance: f32,
    /// What it is chosen by.
    pub(crate) score: f32,
    /// Its embedding, length 1.
    pub(crate) vector: Option<Vec<f32>>,
}

/// Encodes texts once: feedback rounds see mostly the same sentences.
pub(crate) struct Encodings<'a> {
    encoder: Option<&'a dyn Encoder>,
    known: BTreeMap<String, Vec<f32>>,
    question: Option<Vec<f32>>,
}

impl<'a> Encodings<'a> {
    /// Encodes the question; without an encoder everything stays lexical.
    pub(crate) fn new(encoder: Option<&'a dyn Encoder>, question: &str) -> Result<Self, PortError> {
        let vector = match encoder {
            Some(encoder) => encoder.encode(Side::Query, &[question])?.unit_rows().pop(),
            None => None,
        };
        Ok(Self { encoder, known: BTreeMap::new(), question: vector })
    }

    fn add(&mut self, texts: &[&str]) -> Result<(), PortError> {
        let Some(encoder) = self.encoder else { return Ok(()) };
        let new: BTreeSet<&str> =
            texts.iter().copied().filter(|text| !self.known.contains_key(*text)).collect();
        let new: Vec<&str> = new.into_iter().collect();
        if new.is_empty() {
            return Ok(());
        }
        let rows = encoder.encode(Side::Passage, &new)?.unit_rows();
        self.known.extend(new.into_iter().map(str::to_owned).zip(rows));
        Ok(())
    }
}

/// Scores `candidates`, best first, ties by place. Only the `max_candidates` best by words, rank and informativeness
/// are encoded and kept.
pub(crate) fn score(
    candidates: Vec<Candidate>,
    evidence: &[Ranked],
    ranks: &[usize],
    reading: &Reading,
    encodings: &mut Encodings<'_>,
    config: &EvidenceConfig,
) -> Result<Vec<Scored>, PortError> {
    let (weights, max_candidates) = (&config.weights, config.sentences.max_candidates);
    let titles: Vec<BTreeSet<String>> =
        evidence.iter().map(|ranked| stem_set(&ranked.retrieved.passage.title)).collect();
    let newest = evidence.iter().filter_map(|ranked| ranked.retrieved.paper.year).max();
    let paper = |at: usize| PassageSigns {
        title: &titles[at],
        standing: standing(&evidence[at].retrieved.paper, newest),
        rank: ranks[at],
    };
    let mut scored: Vec<Scored> = candidates
        .into_iter()
        .map(|candidate| {
            let at = candidate.passage;
            let paper = paper(at);
            score_candidate(candidate, &paper, None, reading, weights)
        })
        .collect();
    sort(&mut scored);
    scored.truncate(max_candidates);
    let texts: Vec<&str> = scored.iter().map(|scored| scored.candidate.text.as_str()).collect();
    encodings.add(&texts)?;
    if let Some(question) = &encodings.question {
        scored = scored
            .into_iter()
            .map(|old| {
                let vector = encodings.known.get(&old.candidate.text).cloned();
                let similarity = vector.as_ref().map(|vector| dot(question, vector));
                let at = old.candidate.passage;
                let paper = paper(at);
                let mut new = score_candidate(old.candidate, &paper, similarity, reading, weights);
                new.vector = vector;
                new
            })
            .collect();
        sort(&mut scored);
    }
    Ok(scored)
}

/// What a sentence inherits from its passage.
struct PassageSigns<'a> {
    /// Stems of the paper's title.
    title: &'a BTreeSet<String>,
    /// Recency and citations of the paper, in `[0, 1]`.
    standing: f32,
    /// Place of the passage among those ranked, from 0.
    rank: usize,
}

fn score_candidate(
    candidate: Candidate,
    passage: &PassageSigns<'_>,
    similarity: Option<f32>,
    reading: &Reading,
    weights: &ScoreWeights,
) -> Scored {
    let PassageSigns { title, standing, rank: place } = *passage;
    let ScoreWeights { relevance: by_relevance, rank, informative, standing: by_standing } =
        weights;
    let coverage = reading.share(|term| {
        if term.is_in(&candidate.stems) {
            1.0
        } else if term.is_in(title) {
            TITLE_CREDIT
        } else {
            0.0
        }
    });
    let spread = |cosine: f32| {
        let (low, high) = SIMILARITY_RANGE;
        ((cosine - low) / (high - low)).clamp(0.0, 1.0)
    };
    let mut relevance = similarity.map_or(coverage, |cosine| {
        SIMILARITY_SHARE * spread(cosine) + (1.0 - SIMILARITY_SHARE) * coverage
    });
    let topic = reading.topic.share(|term| {
        if term.is_in(&candidate.stems) {
            1.0
        } else if term.is_in(title) {
            TITLE_TOPIC_CREDIT
        } else {
            0.0
        }
    });
    relevance *= OFF_TOPIC + (1.0 - OFF_TOPIC) * topic;
    let place = HALF_RANK / (HALF_RANK + place as f32);
    let score = by_relevance * relevance
        + rank * place
        + informative * candidate.informative
        + by_standing * standing;
    Scored { candidate, similarity, coverage, topic, relevance, score, vector: None }
}

/// The paper a sentence comes from.
pub(crate) fn paper_of<'a>(scored: &Scored, evidence: &'a [Ranked]) -> &'a PaperId {
    &evidence[scored.candidate.passage].retrieved.passage.id.paper
}

/// Share of the key terms' weight in a sentence or its paper's title.
pub(crate) fn key_share(
    reading: &Reading,
    stems: &BTreeSet<String>,
    title: &BTreeSet<String>,
) -> f32 {
    let all: BTreeSet<String> = stems.union(title).cloned().collect();
    let (mut total, mut found) = (0.0, 0.0);
    for term in reading.keys() {
        total += term.weight;
        found += if term.is_in(&all) { term.weight } else { 0.0 };
    }
    if total > 0.0 { found / total } else { 1.0 }
}

/// Recency and citations, in `[0, 1]`; unknown values count as average.
fn standing(paper: &PaperMeta, newest: Option<i16>) -> f32 {
    let recency = match (paper.year, newest) {
        (Some(year), Some(newest)) => HALF_YEARS / (HALF_YEARS + f32::from(newest - year).max(0.0)),
        _ => 0.5,
    };
    let cited = paper.citation_count.map_or(0.5, |n| ((1.0 + n as f32).ln() / 7.0).min(1.0));
    f32::midpoint(recency, cited)
}

fn sort(scored: &mut [Scored]) {
    scored.sort_by(|a, b| {
        let place = |scored: &Scored| (scored.candidate.passage, scored.candidate.span.start);
        b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
    });
}

/// How alike two sentences are, in `[0, 1]`: the larger of cosine and shared stems.
pub(crate) fn similarity(a: &Scored, b: &Scored) -> f32 {
    let shared = a.candidate.stems.intersection(&b.candidate.stems).count() as f32;
    let all = a.candidate.stems.union(&b.candidate.stems).count().max(1) as f32;
    let cosine = match (&a.vector, &b.vector) {
        (Some(a), Some(b)) => dot(a, b),
        _ => 0.0,
    };
    cosine.max(shared / all)
}
