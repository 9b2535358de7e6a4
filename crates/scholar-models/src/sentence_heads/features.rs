//! What the heads read of a sentence: the same for training and for use.
//!
//! Vectors of length 1 are scaled by the root of their length, products of two by the length, so that all inputs are of
//! the order of 1. What is unknown is zero, with a flag where zero could mean something.

use std::collections::{BTreeSet, HashSet};

use scholar_core::text::words::content_stems;
use scholar_core::{EmbeddedText, PassageKind, SentenceInContext};
use serde::{Deserialize, Serialize};

use super::ROLES;
use super::wording::{Heading, QUESTION_CUES, SENTENCE_CUES, question_cues, sentence_cues};

/// Buckets of [`StemWeights`].
pub const STEM_BUCKETS: usize = 1 << 14;

/// Place, kind, heading and wording of a sentence.
const PLACE: usize = 9 + Heading::COUNT + SENTENCE_CUES;

/// Cosines and overlaps of question and sentence.
const OVERLAPS: usize = 16;

/// How rare stems are in papers, by a hash of the stem: no list of words has to be shipped.
#[derive(Debug, Clone, PartialEq)]
pub struct StemWeights(Vec<f32>);

impl StemWeights {
    /// From one weight for each bucket, as a model file has them.
    ///
    /// # Errors
    /// When there are more or fewer than [`STEM_BUCKETS`], or one is not positive.
    pub fn new(weights: Vec<f32>) -> Result<Self, String> {
        if weights.len() != STEM_BUCKETS {
            return Err(format!("has {} weights, not {STEM_BUCKETS}", weights.len()));
        }
        match weights.iter().all(|weight| weight.is_finite() && *weight > 0.0) {
            true => Ok(Self(weights)),
            false => Err("has a weight that is not positive".to_owned()),
        }
    }

    /// Counted over `texts`: `ln((n + 1) / (df + 0.5))`, where `df` is the number of texts with a stem of the bucket.
    pub fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut counts = vec![0_u32; STEM_BUCKETS];
        let mut n_texts = 0_u32;
        for text in texts {
            n_texts += 1;
            let buckets: BTreeSet<usize> = content_stems(text).iter().map(|s| bucket(s)).collect();
            for bucket in buckets {
                counts[bucket] += 1;
            }
        }
        let all = f64::from(n_texts) + 1.0;
        Self(counts.into_iter().map(|df| (all / (f64::from(df) + 0.5)).ln() as f32).collect())
    }

    /// The weight of a stem, above 0.
    pub fn weight(&self, stem: &str) -> f32 {
        self.0[bucket(stem)]
    }

    /// One weight for each bucket.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

/// FNV-1a, folded.
fn bucket(stem: &str) -> usize {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in stem.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    ((state ^ (state >> 29)) % STEM_BUCKETS as u64) as usize
}

/// A vector that the answer head reads; `[dim]` each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBlock {
    /// The sentence.
    Sentence,
    /// The question.
    Question,
    /// Element-wise product of question and sentence.
    Product,
    /// Absolute difference of question and sentence.
    Difference,
    /// Element-wise product of question and title.
    TitleProduct,
    /// Element-wise product of the question with the mean of the neighbours.
    NeighbourProduct,
}

/// A question as the features need it.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    vector: &'a [f32],
    stems: Vec<String>,
    weights: Vec<f32>,
    cues: [f32; QUESTION_CUES],
}

/// Turns sentences into the input of the heads.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    dim: usize,
    blocks: Vec<AnswerBlock>,
    stem_weights: StemWeights,
}

impl Features {
    /// For vectors of length `dim`.
    pub fn new(dim: usize, blocks: Vec<AnswerBlock>, stem_weights: StemWeights) -> Self {
        Self { dim, blocks, stem_weights }
    }

    /// How rare stems are.
    pub fn stem_weights(&self) -> &StemWeights {
        &self.stem_weights
    }

    /// Numbers the role head reads.
    pub fn role_width(&self) -> usize {
        3 * self.dim + PLACE
    }

    /// Numbers the answer head reads.
    pub fn answer_width(&self) -> usize {
        self.blocks.len() * self.dim + OVERLAPS + QUESTION_CUES + PLACE + ROLES
    }

    /// Appends the role head's input: sentence, neighbours, place.
    pub fn role(&self, one: &SentenceInContext<'_>, out: &mut Vec<f32>) {
        let scale = (self.dim as f32).sqrt();
        for vector in [Some(one.sentence.vector), one.before, one.after] {
            match vector {
                Some(vector) => out.extend(vector.iter().map(|x| x * scale)),
                None => out.extend(std::iter::repeat_n(0.0, self.dim)),
            }
        }
        place(one, out);
    }

    /// The question with its stems.
    pub fn asked<'a>(&self, question: EmbeddedText<'a>) -> Asked<'a> {
        let distinct: BTreeSet<String> = content_stems(question.text).into_iter().collect();
        let stems: Vec<String> = distinct.into_iter().collect();
        let weights = stems.iter().map(|stem| self.stem_weights.weight(stem)).collect();
        Asked { vector: question.vector, stems, weights, cues: question_cues(question.text) }
    }

    /// Appends the answer head's input; `roles` are the probabilities that the role head gives.
    pub fn answer(
        &self,
        asked: &Asked<'_>,
        one: &SentenceInContext<'_>,
        roles: &[f32; ROLES],
        out: &mut Vec<f32>,
    ) {
        for block in &self.blocks {
            self.block(*block, asked, one, out);
        }
        out.extend(overlaps(asked, one));
        out.extend(asked.cues);
        place(one, out);
        out.extend(roles);
    }

    fn block(
        &self,
        block: AnswerBlock,
        asked: &Asked<'_>,
        one: &SentenceInContext<'_>,
        out: &mut Vec<f32>,
    ) {
        let length = self.dim as f32;
        let (question, sentence) = (asked.vector, one.sentence.vector);
        let pairs = |other: &'_ [f32], out: &mut Vec<f32>| {
            out.extend(question.iter().zip(other).map(|(q, s)| q * s * length));
        };
        match block {
            AnswerBlock::Sentence => out.extend(sentence.iter().map(|x| x * length.sqrt())),
            AnswerBlock::Question => out.extend(question.iter().map(|x| x * length.sqrt())),
            AnswerBlock::Product => pairs(sentence, out),
            AnswerBlock::Difference => {
                let both = question.iter().zip(sentence);
                out.extend(both.map(|(q, s)| (q - s).abs() * length.sqrt()));
            }
            AnswerBlock::TitleProduct => match one.title {
                Some(title) => pairs(title.vector, out),
                None => out.extend(std::iter::repeat_n(0.0, self.dim)),
            },
            AnswerBlock::NeighbourProduct => match (one.before, one.after) {
                (Some(before), Some(after)) => {
                    let mean: Vec<f32> =
                        before.iter().zip(after).map(|(b, a)| f32::midpoint(*b, *a)).collect();
                    pairs(&mean, out);
                }
                (Some(only), None) | (None, Some(only)) => pairs(only, out),
                (None, None) => out.extend(std::iter::repeat_n(0.0, self.dim)),
            },
        }
    }
}

fn place(one: &SentenceInContext<'_>, out: &mut Vec<f32>) {
    // A passage of one sentence says nothing about places.
    let is_placed = one.of > 1;
    let last = one.of.saturating_sub(1);
    let place = if is_placed { one.nth.min(last) as f32 / last as f32 } else { 0.0 };
    let words = one.sentence.text.split_whitespace().count() as f32;
    let flag = |set: bool| f32::from(u8::from(set));
    out.extend([
        flag(is_placed),
        place,
        flag(is_placed && one.nth == 0),
        flag(is_placed && one.nth >= last),
        flag(one.kind == PassageKind::Abstract),
        flag(one.before.is_some()),
        flag(one.after.is_some()),
        (one.of as f32).ln() / 3.0,
        (words + 1.0).ln() / 3.0,
    ]);
    let heading = Heading::of(one.section).index();
    out.extend((0..Heading::COUNT).map(|index| flag(index == heading)));
    out.extend(sentence_cues(one.sentence.text));
}

fn overlaps(asked: &Asked<'_>, one: &SentenceInContext<'_>) -> [f32; OVERLAPS] {
    let question = asked.vector;
    let beside = |vector: Option<&[f32]>| vector.map_or(0.0, |vector| cosine(question, vector));
    let title = one.title.map(|title| title.vector);
    let stems = content_stems(one.sentence.text);
    let in_sentence: HashSet<&str> = stems.iter().map(String::as_str).collect();
    let titled = one.title.map(|title| content_stems(title.text)).unwrap_or_default();
    let in_title: HashSet<&str> = titled.iter().map(String::as_str).collect();
    let share = |is_there: &dyn Fn(&str) -> bool| {
        let total: f32 = asked.weights.iter().sum();
        let all = asked.stems.iter().zip(&asked.weights);
        let found: f32 = all.filter(|(stem, _)| is_there(stem)).map(|(_, weight)| weight).sum();
        if total > 0.0 { found / total } else { 0.0 }
    };
    let both = asked.stems.iter().zip(&asked.weights);
    let heaviest = both
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map_or((0.0, 0.0), |(stem, _)| (there(&in_sentence, stem), there(&in_title, stem)));
    let count = |known: &HashSet<&str>| {
        asked.stems.iter().filter(|stem| known.contains(stem.as_str())).count() as f32
    };
    let has_number = f32::from(u8::from(one.sentence.text.contains(|c: char| c.is_ascii_digit())));
    [
        3.0 * cosine(question, one.sentence.vector),
        3.0 * beside(title),
        3.0 * beside(one.before),
        3.0 * beside(one.after),
        f32::from(u8::from(title.is_some())),
        3.0 * title.map_or(0.0, |title| cosine(title, one.sentence.vector)),
        2.0 * share(&|stem| in_sentence.contains(stem)),
        2.0 * share(&|stem| in_title.contains(stem)),
        2.0 * share(&|stem| in_sentence.contains(stem) || in_title.contains(stem)),
        heaviest.0,
        heaviest.1,
        (1.0 + count(&in_sentence)).ln(),
        (1.0 + count(&in_title)).ln(),
        (1.0 + asked.stems.len() as f32).ln() / 2.0,
        // An amount is asked for and one is there.
        asked.cues[1] * has_number,
        (1.0 + in_sentence.len() as f32).ln() / 3.0,
    ]
}

fn there(known: &HashSet<&str>, stem: &str) -> f32 {
    f32::from(u8::from(known.contains(stem)))
}

/// Of vectors of length 1.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
