//! How well each candidate answers the question, and how alike two of them are.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{
    CosineScale, EmbeddedText, Encoder, PaperId, PortError, Ranked, SentenceClassifier,
    SentenceInContext, SentenceScores, Side, Similarity,
};

use super::candidate::Candidate;
use super::question::Reading;
use super::sentence_signs::{SentenceSigns, Similarities};
use super::terms::stem_set;
use crate::proof::select::dot;
use crate::z_scores::z_scores;

/// Cosines on the common scale between these are spread over `[0, 1]`: unrelated sentences of one field reach the lower one, a
/// paraphrase of the question the upper one.
const SIMILARITY_RANGE: (f32, f32) = (0.2, 0.8);
/// Share of the similarity in the relevance; the rest is coverage of the question's terms.
const SIMILARITY_SHARE: f32 = 0.7;
/// What a term counts that the paper's title has and the sentence has not.
const TITLE_CREDIT: f32 = 0.5;
/// What a term of the topic counts that the paper's title has and the sentence has not.
const TITLE_TOPIC_CREDIT: f32 = 0.75;
/// What remains of the relevance of a sentence that, title included, says nothing of the topic.
const OFF_TOPIC: f32 = 0.3;
/// A candidate with its scores.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    /// The sentence.
    pub(crate) candidate: Candidate,
    /// Cosine to the question, on the common scale.
    pub(crate) similarity: Option<f32>,
    /// How well it fits the question, in `[0, 1]`.
    pub(crate) relevance: f32,
    /// What the sentence classifier says of it.
    pub(crate) judged: Option<SentenceScores>,
    /// What it is chosen by.
    pub(crate) signs: SentenceSigns,
    /// Probability that a reader takes it for an answer.
    pub(crate) probability: f32,
    /// Its embedding, length 1.
    pub(crate) vector: Option<Vec<f32>>,
    /// How the cosine of two embeddings is read.
    pub(crate) scale: Option<CosineScale>,
}

/// Encodes texts once: feedback rounds see mostly the same sentences.
pub(crate) struct Encodings<'a> {
    encoder: Option<&'a dyn Encoder>,
    known: BTreeMap<String, Vec<f32>>,
    asked: String,
    question: Option<Vec<f32>>,
}

impl<'a> Encodings<'a> {
    /// Encodes the question; without an encoder everything stays lexical.
    pub(crate) fn new(encoder: Option<&'a dyn Encoder>, question: &str) -> Result<Self, PortError> {
        let vector = match encoder {
            Some(encoder) => encoder.encode(Side::Query, &[question])?.unit_rows().pop(),
            None => None,
        };
        Ok(Self { encoder, known: BTreeMap::new(), asked: question.to_owned(), question: vector })
    }

    /// Cosine, on the common scale, of the question and a text that was encoded, where the encoder's vectors are made for it.
    pub(crate) fn similarity_of(&self, text: &str) -> Option<f32> {
        let similarity = self.encoder.map(|encoder| encoder.info().similarity);
        let unit = similarity == Some(Similarity::Cosine);
        self.similarity_to_question(self.known.get(text).map(Vec::as_slice)).filter(|_| unit)
    }

    fn similarity_to_question(&self, vector: Option<&[f32]>) -> Option<f32> {
        let cosine = dot(self.question.as_ref()?, vector?);
        Some(self.scale()?.rescaled(cosine))
    }

    fn scale(&self) -> Option<CosineScale> {
        self.encoder.map(|encoder| encoder.info().cosine_scale())
    }

    pub(crate) fn add(&mut self, texts: &[&str]) -> Result<(), PortError> {
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

/// What sentences are scored by.
pub(crate) struct Scoring<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) evidence: &'a [Ranked],
    pub(crate) classifier: Option<&'a dyn SentenceClassifier>,
    /// Most sentences that are scored: the first ones.
    pub(crate) max_candidates: usize,
}

/// Scores the first of `candidates`; the best first, ties by place.
pub(crate) fn score(
    mut candidates: Vec<Candidate>,
    scoring: &Scoring<'_>,
    encodings: &mut Encodings<'_>,
) -> Result<Vec<Scored>, PortError> {
    let Scoring { reading, evidence, classifier, max_candidates } = *scoring;
    candidates.truncate(max_candidates);
    let titles: Vec<BTreeSet<String>> =
        evidence.iter().map(|ranked| stem_set(&ranked.retrieved.passage.title)).collect();
    let contexts = candidates.iter().flat_map(|one| [&one.context.before, &one.context.after]);
    let neighbours = contexts.filter(|_| classifier.is_some()).flatten();
    let texts = candidates.iter().map(|one| &one.text).chain(neighbours).map(String::as_str);
    let titled = evidence.iter().map(|ranked| ranked.retrieved.passage.title.as_str());
    encodings.add(&texts.chain(titled.filter(|title| !title.is_empty())).collect::<Vec<_>>())?;
    let judged = match (classifier, &encodings.question) {
        (Some(classifier), Some(_)) => {
            classify(classifier, &candidates, evidence, encodings)?.into_iter().map(Some).collect()
        }
        _ => vec![None; candidates.len()],
    };
    let similarities = similarities(&candidates, evidence, encodings);
    let mut scored: Vec<Scored> = candidates
        .into_iter()
        .zip(judged)
        .zip(similarities)
        .map(|((candidate, judged), similarities)| {
            let vector = encodings.known.get(&candidate.text).cloned();
            let title = &titles[candidate.passage];
            let scale = encodings.scale();
            let scored = score_candidate(candidate, title, similarities, judged, reading);
            Scored { vector, scale, ..scored }
        })
        .collect();
    scored.sort_by(|a, b| {
        let place = |scored: &Scored| (scored.candidate.passage, scored.candidate.span.start);
        b.probability.total_cmp(&a.probability).then_with(|| place(a).cmp(&place(b)))
    });
    Ok(scored)
}

/// How near each candidate is to the question, alone and among those of its paper.
fn similarities(
    candidates: &[Candidate],
    evidence: &[Ranked],
    encodings: &Encodings<'_>,
) -> Vec<Similarities> {
    let of = |one: &Candidate| {
        encodings.similarity_to_question(encodings.known.get(&one.text).map(Vec::as_slice))
    };
    let all: Vec<Option<f32>> = candidates.iter().map(of).collect();
    let mut papers: BTreeMap<&PaperId, Vec<usize>> = BTreeMap::new();
    for (at, one) in candidates.iter().enumerate() {
        let paper = &evidence[one.passage].retrieved.passage.id.paper;
        papers.entry(paper).or_default().push(at);
    }
    let mut similarity_z = vec![0.0; all.len()];
    for members in papers.values() {
        let of_paper: Vec<Option<f32>> = members.iter().map(|at| all[*at]).collect();
        for (at, z) in members.iter().zip(z_scores(&of_paper)) {
            similarity_z[*at] = z;
        }
    }
    let near = |(similarity, similarity_z)| Similarities { similarity, similarity_z };
    all.into_iter().zip(similarity_z).map(near).collect()
}

fn classify(
    classifier: &dyn SentenceClassifier,
    candidates: &[Candidate],
    evidence: &[Ranked],
    encodings: &Encodings<'_>,
) -> Result<Vec<SentenceScores>, PortError> {
    let vector = |text: &str| encodings.known.get(text).map(Vec::as_slice);
    let question = EmbeddedText {
        text: &encodings.asked,
        vector: encodings.question.as_deref().unwrap_or_default(),
    };
    let embedded =
        |text: &'_ str| EmbeddedText { text: "", vector: vector(text).unwrap_or_default() };
    let sentences: Vec<SentenceInContext<'_>> = candidates
        .iter()
        .map(|one| {
            let passage = &evidence[one.passage].retrieved.passage;
            let title = passage.title.as_str();
            SentenceInContext {
                sentence: EmbeddedText { text: &one.text, ..embedded(&one.text) },
                before: one.context.before.as_deref().and_then(vector),
                after: one.context.after.as_deref().and_then(vector),
                title: (!title.is_empty()).then(|| EmbeddedText { text: title, ..embedded(title) }),
                kind: passage.kind,
                section: &one.context.section,
                nth: one.context.nth,
                of: one.context.of.max(1),
            }
        })
        .collect();
    let scores = classifier.classify(question, &sentences)?;
    if scores.len() != candidates.len() {
        let message = format!("{} scores for {} sentences", scores.len(), candidates.len());
        return Err(PortError::new(scholar_core::PortErrorKind::Corrupt, message));
    }
    Ok(scores)
}

fn score_candidate(
    candidate: Candidate,
    title: &BTreeSet<String>,
    similarities: Similarities,
    judged: Option<SentenceScores>,
    reading: &Reading,
) -> Scored {
    let similarity = similarities.similarity;
    let credit = |of_title: f32| {
        let candidate = &candidate;
        move |term: &super::question::Term| {
            if term.is_in(&candidate.stems) {
                1.0
            } else if term.is_in(title) {
                of_title
            } else {
                0.0
            }
        }
    };
    let coverage = reading.share(credit(TITLE_CREDIT));
    let topic = reading.topic.share(credit(TITLE_TOPIC_CREDIT));
    let spread = |cosine: f32| {
        let (low, high) = SIMILARITY_RANGE;
        ((cosine - low) / (high - low)).clamp(0.0, 1.0)
    };
    let mut relevance = similarity.map_or(coverage, |cosine| {
        SIMILARITY_SHARE * spread(cosine) + (1.0 - SIMILARITY_SHARE) * coverage
    });
    relevance *= OFF_TOPIC + (1.0 - OFF_TOPIC) * topic;
    let signs = SentenceSigns::of(&candidate, similarities, topic, judged, reading);
    let probability = signs.probability(similarity.is_some() && judged.is_some());
    let (vector, scale) = (None, None);
    Scored { candidate, similarity, relevance, judged, signs, probability, vector, scale }
}

/// How alike two sentences are, up to 1: the larger of cosine, on the common scale, and shared stems.
pub(crate) fn similarity(a: &Scored, b: &Scored) -> f32 {
    let shared = a.candidate.stems.intersection(&b.candidate.stems).count() as f32;
    let all = a.candidate.stems.union(&b.candidate.stems).count().max(1) as f32;
    let cosine = match (&a.vector, &b.vector, a.scale) {
        (Some(a), Some(b), Some(scale)) => scale.rescaled(dot(a, b)),
        _ => 0.0,
    };
    cosine.max(shared / all)
}
