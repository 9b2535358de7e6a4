//! What a paper says beside an item: its sentences with their roles and how near they are.

use std::collections::BTreeSet;

use scholar_core::text::words::content_stems;
use scholar_core::{
    AnswerRole, AnswerSentence, Citation, Gate, PassageKind, PortError, RoleProbabilities,
    SentenceRole, Support, Verdict,
};
use scholar_pipeline::modes::evidence::{Quotable, quotable};
use scholar_pipeline::proof::gates::VERBATIM_JUDGE;
use scholar_pipeline::proof::stems::science_idf;

use super::cues::{Deed, Wording};
use super::gather::PaperRead;
use super::terms::{self, coverage, terms};
use super::vectors::{Spoken, Vectors};
use crate::report::{Basis, Bearing, Measured, Statement};

/// A sentence of a paper beside the item that it was read for.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Which of the paper's passages it stands in.
    pub(super) passage: usize,
    pub(super) sentence: Quotable,
    pub(super) role: SentenceRole,
    /// How sure the role is, in `[0, 1]`: of what was done, and of what was found.
    pub(super) did: f32,
    pub(super) found: f32,
    /// Cosine with the item; `None` without an encoder.
    pub(super) cosine: Option<f32>,
    /// The cosine, else shared weight of words: in `[-1, 1]`.
    pub(super) near: f32,
}

/// A paper beside an item.
#[derive(Debug, Clone)]
pub(super) struct Study<'a> {
    pub(super) paper: &'a PaperRead,
    /// In the order of the passages.
    pub(super) lines: Vec<Line>,
    /// How near the paper is to the item, in `[-1, 1]`.
    pub(super) near: f32,
    /// How much of the item's terms it has, in `[0, 1]`.
    pub(super) covers: f32,
    /// Cosine of its title and abstract with the idea; `None` without an encoder.
    pub(super) on_subject: Option<f32>,
    /// Stems of all that was read of it.
    pub(super) stems: BTreeSet<String>,
}

/// Share of the best sentence in the nearness of a paper; the rest is its title's.
const SENTENCE_SHARE: f32 = 0.7;
/// What background counts of its nearness: it is about others.
const BACKGROUND: f32 = 0.8;
/// What having all terms of an item adds to the nearness by which papers are ranked. Ours.
const COVERAGE: f32 = 0.15;
/// What being on the idea's subject as a whole adds to it, times the cosine: words such as `weight` have a meaning in every field.
const SUBJECT: f32 = 0.5;

/// Reads `papers` beside `key`, an item of an idea about `subject`; the nearest first, ties in their order.
///
/// # Errors
/// When a model fails.
pub(super) fn studies<'a>(
    papers: &'a [PaperRead],
    key: &str,
    subject: &str,
    vectors: &mut Vectors<'_>,
) -> Result<Vec<Study<'a>>, PortError> {
    let texts: Vec<Texts<'_>> = papers.iter().map(Texts::of).collect();
    // In one go: an encoder is faster with many texts at once.
    vectors.add(texts.iter().flat_map(Texts::encoded).chain([key, subject]))?;
    let mut studies = Vec::new();
    for texts in texts {
        studies.push(study(texts, key, subject, vectors)?);
    }
    // Two works on one subject differ in whether they speak of all of it.
    let rank = |study: &Study<'_>| {
        study.near + COVERAGE * study.covers + SUBJECT * study.on_subject.unwrap_or(0.0)
    };
    studies.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    Ok(studies)
}

/// What is compared of a paper.
struct Texts<'a> {
    paper: &'a PaperRead,
    /// Title with what opens it.
    whole: String,
    /// Of its passages, by their places.
    sentences: Vec<(usize, Quotable)>,
    stems: BTreeSet<String>,
}

impl<'a> Texts<'a> {
    fn of(paper: &'a PaperRead) -> Self {
        let mut stems = terms::stems(&paper.meta.title);
        let mut sentences: Vec<(usize, Quotable)> = Vec::new();
        for (at, hit) in paper.passages.iter().enumerate() {
            let passage = &hit.passage;
            stems.extend(terms::stems(&passage.text));
            // What stands in front of a later passage is not known: its first sentence may begin in it.
            let opens = passage.id.ordinal == 0 || passage.kind == PassageKind::Abstract;
            sentences.extend(quotable(passage, opens).into_iter().map(|one| (at, one)));
        }
        Self { paper, whole: paper.opening(), sentences, stems }
    }

    fn encoded(&self) -> impl Iterator<Item = &str> {
        let sentences = self.sentences.iter().flat_map(|(_, one)| {
            let alone = Some(one.text.as_str());
            [alone, one.before.as_deref(), one.after.as_deref()].into_iter().flatten()
        });
        sentences.chain([self.paper.meta.title.as_str(), self.whole.as_str()])
    }
}

fn study<'a>(
    texts: Texts<'a>,
    key: &str,
    subject: &str,
    vectors: &mut Vectors<'_>,
) -> Result<Study<'a>, PortError> {
    let Texts { paper, whole, sentences, stems } = texts;
    let title = paper.meta.title.as_str();
    let spoken: Vec<Spoken<'_>> = sentences
        .iter()
        .map(|(at, one)| Spoken {
            text: &one.text,
            before: one.before.as_deref(),
            after: one.after.as_deref(),
            title,
            section: &one.section,
            kind: paper.passages[*at].passage.kind,
            nth: one.nth,
            of: one.of,
        })
        .collect();
    let roles = vectors.roles(&spoken)?;
    let own = weighed_stems(key);
    let near = |text: &str| vectors.cosine(key, text).unwrap_or_else(|| overlap(&own, text));
    let lines: Vec<Line> = sentences
        .iter()
        .enumerate()
        .map(|(nth, (passage, sentence))| {
            let role = match &roles {
                Some(roles) => roles[nth],
                None => by_wording(sentence),
            };
            let did = if sentence.announces { 1.0 } else { role.method + role.purpose };
            Line {
                passage: *passage,
                role: if sentence.announces { SentenceRole::Purpose } else { role.most_probable() },
                did,
                found: if sentence.announces { 0.0 } else { role.finding() },
                cosine: vectors.cosine(key, &sentence.text),
                near: near(&sentence.text),
                sentence: sentence.clone(),
            }
        })
        .collect();
    let best = lines.iter().map(Line::weight).fold(f32::MIN, f32::max);
    let of_title = if title.is_empty() { best } else { near(title) };
    let covers = coverage(&terms(key), &stems);
    let near = if lines.is_empty() {
        of_title
    } else {
        SENTENCE_SHARE * best + (1.0 - SENTENCE_SHARE) * of_title
    };
    let on_subject = vectors.cosine(subject, &whole);
    Ok(Study { paper, lines, near, covers, on_subject, stems })
}

impl Line {
    /// Its nearness, less for what is told of others.
    pub(super) fn weight(&self) -> f32 {
        if self.is_of_others() { BACKGROUND * self.near } else { self.near }
    }

    /// Whether it tells what is known, or what others did.
    pub(super) fn is_of_others(&self) -> bool {
        self.role == SentenceRole::Background || self.sentence.cites
    }

    /// Whether both share characters: a sentence alone, and joined to the one before it.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.sentence.span, other.sentence.span);
        self.passage == other.passage && a.start < b.end && b.start < a.end
    }

    /// The sentence as a statement that cites `reference`, a verbatim quotation under `heading`.
    pub(super) fn statement(
        &self,
        paper: &PaperRead,
        reference: Citation,
        heading: &str,
        bearing: Option<Bearing>,
    ) -> Statement {
        let passage = &paper.passages[self.passage].passage;
        let sentence = AnswerSentence {
            heading: Some(heading.to_owned()),
            paragraph_start: true,
            citations: vec![reference],
            support: Some(Support {
                verdict: Verdict::Supported,
                score: 1.0,
                judge: VERBATIM_JUDGE.to_owned(),
            }),
            quotes: vec![self.sentence.quote(passage, reference)],
            gates: vec![Gate::L0, Gate::L1, Gate::L2],
            verbatim: true,
            role: Some(AnswerRole::Finding),
            ..AnswerSentence::uncited(self.sentence.text.clone())
        };
        let basis = Basis { reference, section: passage.section.clone(), kind: passage.kind };
        let measured = Measured { role: self.role, cosine: self.cosine, bearing };
        Statement { sentence, rests_on: vec![basis], measured: Some(measured) }
    }
}

/// Roles without a classifier: what a sentence says someone does, and what tells much.
fn by_wording(sentence: &Quotable) -> RoleProbabilities {
    let wording = Wording::of(&sentence.text);
    let role = if wording.background || sentence.cites {
        [0.8, 0.05, 0.05, 0.05, 0.05]
    } else if wording.claims >= 1.0 {
        [0.05, 0.8, 0.05, 0.05, 0.05]
    } else if sentence.informative >= INFORMATIVE {
        [0.05, 0.05, 0.05, 0.8, 0.05]
    } else if wording.deed == Some(Deed::BySomeone) {
        [0.05, 0.05, 0.8, 0.05, 0.05]
    } else {
        [0.4, 0.1, 0.2, 0.2, 0.1]
    };
    RoleProbabilities::from_array(role)
}

/// From here a sentence says enough to be taken for a finding without a classifier. Ours.
const INFORMATIVE: f32 = 0.5;

fn weighed_stems(text: &str) -> BTreeSet<String> {
    content_stems(text).into_iter().collect()
}

/// Shared weight of words as a share of both texts' mean: in `[0, 1]`.
fn overlap(own: &BTreeSet<String>, text: &str) -> f32 {
    let idf = science_idf();
    let theirs = weighed_stems(text);
    let weight = |stems: &BTreeSet<String>| stems.iter().map(|stem| idf.weight(stem)).sum::<f32>();
    let both: f32 = own.intersection(&theirs).map(|stem| idf.weight(stem)).sum();
    let all = weight(own) + weight(&theirs);
    if all > 0.0 { 2.0 * both / all } else { 0.0 }
}
