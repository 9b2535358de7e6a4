//! Screening without a language model.

use std::collections::BTreeSet;
use std::sync::Arc;

use scholar_core::{
    Attributor, Encoder, Explanation, PaperMeta, PassageKind, PortError, Query, Reranker,
    RetrievalScore, Retrieved, Side,
};

use super::criteria::Criterion;
use super::decision::{Basis, CriterionDecision, Finding};
use super::design::{DesignAsked, DesignSign};
use super::model::{CriterionModel, Thresholds};
use super::paper::{ScreenPaper, Sentence};
use super::signs::{CriterionSigns, WeightedStems, stem_set};
use crate::proof::select::dot;

/// Most passages of a paper that are read sentence by sentence for one criterion; the reranker chooses them. Ours: an abstract
/// has one or two.
const PASSAGES: usize = 6;
/// Sentences that the attributor reads beside the title.
const WINDOW: usize = 3;
/// Weight of the share of the criterion's words beside the cosine, where the sentences nearest to it are chosen.
const COVERAGE_WEIGHT: f32 = 0.5;
/// Share of a criterion's weight beside the names of designs below which it is one on design alone.
const ONLY_DESIGN: f32 = 0.5;
/// Most sentences of a paper that are encoded.
const SENTENCES: usize = 120;

/// A paper's decisions on single criteria, and whether something was left unread.
#[derive(Debug, Clone, PartialEq)]
pub struct Screened {
    /// One decision for each criterion that was asked for, in order.
    pub decisions: Vec<CriterionDecision>,
    /// Passages of prose that were not read, of a long paper.
    pub unread: usize,
}

/// Decides by signs: similarity, support, words, design.
pub struct EvidenceScreener {
    encoder: Arc<dyn Encoder>,
    reranker: Option<Arc<dyn Reranker>>,
    attributor: Arc<dyn Attributor>,
    model: CriterionModel,
    thresholds: Thresholds,
}

/// A criterion prepared for all papers.
struct Asked<'a> {
    criterion: &'a Criterion,
    vector: Vec<f32>,
    /// Of the criterion without the names of designs.
    stems: WeightedStems,
    design: DesignAsked,
    only_design: bool,
}

/// What was found in a paper for a criterion, before the attributor is asked.
struct Near {
    sentence_similarity: f32,
    coverage: f32,
    /// The nearest sentence, if there is any.
    nearest: Option<(usize, std::ops::Range<usize>)>,
    /// Title and nearest sentences.
    window: String,
}

impl EvidenceScreener {
    /// A screener with the project's weights.
    pub fn new(
        encoder: Arc<dyn Encoder>,
        reranker: Option<Arc<dyn Reranker>>,
        attributor: Arc<dyn Attributor>,
    ) -> Self {
        Self {
            encoder,
            reranker,
            attributor,
            model: CriterionModel::FITTED,
            thresholds: Thresholds::FITTED,
        }
    }

    /// What decides, with the names of its models: decisions by another are made anew.
    pub fn method(&self) -> String {
        format!("evidence/1 {} + {}", self.encoder.info().name, self.attributor.name())
    }

    /// Decides on `paper` by each of `criteria`, in order.
    ///
    /// # Errors
    /// When a model cannot run.
    pub async fn screen(
        &self,
        paper: &ScreenPaper,
        criteria: &[&Criterion],
    ) -> Result<Screened, PortError> {
        if !paper.has_text() {
            let decisions = criteria.iter().map(|criterion| without_text(criterion)).collect();
            return Ok(Screened { decisions, unread: 0 });
        }
        let asked = self.asked(criteria)?;
        let read = self.passages(paper, &asked).await?;
        let unread = paper.prose().count().saturating_sub(read.len());
        let near = self.near(paper, &read, &asked)?;
        let pairs: Vec<(&str, &str)> = asked
            .iter()
            .zip(&near)
            .map(|(asked, near)| (asked.criterion.text.as_str(), near.window.as_str()))
            .collect();
        let judged = self.attributor.judge(&pairs).await?;
        let decisions = asked.iter().zip(near).zip(judged).map(|((asked, near), judged)| {
            let design = asked.design.sign(paper);
            let signs = CriterionSigns {
                sentence_similarity: near.sentence_similarity,
                support: judged.score,
                coverage: near.coverage,
                design: design.value,
                only_design: asked.only_design,
            };
            self.decided(paper, asked.criterion, &near, &design, signs)
        });
        Ok(Screened { decisions: decisions.collect(), unread })
    }

    fn decided(
        &self,
        paper: &ScreenPaper,
        criterion: &Criterion,
        near: &Near,
        design: &DesignSign,
        signs: CriterionSigns,
    ) -> CriterionDecision {
        let score = self.model.probability(&signs);
        let finding = self.thresholds.finding(score, &signs, criterion.kind);
        let (basis, by_design) = match finding {
            Finding::Met => (Basis::Stated, design.value > 0.0),
            Finding::NotMet if design.value < 0.0 => (Basis::ContraryStated, true),
            Finding::NotMet => (Basis::NoSign, false),
            Finding::Unclear => (Basis::Undecided, false),
        };
        let place = design.at.clone().filter(|_| by_design);
        let place = place.map(|(at, range)| (at, sentence_around(paper, at, range)));
        let place = place.or_else(|| near.nearest.clone());
        CriterionDecision {
            criterion: criterion.id.clone(),
            digest: criterion.digest(),
            decision: finding.decision(criterion.kind),
            finding,
            basis,
            score,
            quote: place.and_then(|(at, range)| paper.quote(at, range)),
            signs: Some(signs),
        }
    }

    fn asked<'a>(&self, criteria: &[&'a Criterion]) -> Result<Vec<Asked<'a>>, PortError> {
        let texts: Vec<&str> = criteria.iter().map(|criterion| criterion.text.as_str()).collect();
        let vectors = self.encoder.encode(Side::Query, &texts)?.unit_rows();
        let asked = criteria.iter().zip(vectors).map(|(criterion, vector)| {
            let design = DesignAsked::of(criterion);
            let stems = WeightedStems::of(&design.rest);
            let share = stems.weight() / WeightedStems::of(&criterion.text).weight().max(1e-6);
            let only_design = design.is_some() && share < ONLY_DESIGN;
            Asked { criterion, vector, stems, design, only_design }
        });
        Ok(asked.collect())
    }

    /// Numbers of the passages that are read: all of a short paper, those nearest to any criterion of a long one.
    async fn passages(
        &self,
        paper: &ScreenPaper,
        asked: &[Asked<'_>],
    ) -> Result<Vec<usize>, PortError> {
        let prose: Vec<usize> = paper.prose().map(|(at, _)| at).collect();
        if prose.len() <= PASSAGES {
            return Ok(prose);
        }
        let mut chosen: BTreeSet<usize> = paper
            .prose()
            .filter(|(_, passage)| passage.kind == PassageKind::Abstract)
            .map(|(at, _)| at)
            .collect();
        for asked in asked {
            let mut scored: Vec<(usize, f32)> = prose
                .iter()
                .map(|at| (*at, asked.stems.share_in(&stem_set(&paper.passages[*at].text))))
                .collect();
            if let (Some(reranker), Some(query)) =
                (&self.reranker, Query::new(&asked.criterion.text))
            {
                let candidates = candidates(paper, &scored)?;
                let scores = reranker.rerank(&query, &candidates).await?;
                for (one, score) in scored.iter_mut().zip(scores) {
                    one.1 = score.value();
                }
            }
            scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            chosen.extend(scored.iter().take(PASSAGES).map(|(at, _)| *at));
        }
        Ok(chosen.into_iter().collect())
    }

    fn near(
        &self,
        paper: &ScreenPaper,
        read: &[usize],
        asked: &[Asked<'_>],
    ) -> Result<Vec<Near>, PortError> {
        let mut sentences = paper.sentences(read);
        sentences.truncate(SENTENCES);
        let texts: Vec<&str> = [paper.title.as_str()]
            .into_iter()
            .chain(sentences.iter().map(|sentence| sentence.text))
            .collect();
        let vectors = self.encoder.encode(Side::Passage, &texts)?.unit_rows();
        let stems: Vec<BTreeSet<String>> =
            sentences.iter().map(|sentence| stem_set(sentence.text)).collect();
        let mut everything = stem_set(&paper.title);
        for (_, passage) in paper.prose().filter(|(at, _)| read.contains(at)) {
            everything.extend(stem_set(&passage.text));
        }
        let near = asked.iter().map(|asked| {
            let scale = self.encoder.info().cosine_scale();
            let cosine = |at: usize| {
                vectors.get(at).map_or(0.0, |row| scale.rescaled(dot(&asked.vector, row)))
            };
            let score =
                |at: usize| cosine(at + 1) + COVERAGE_WEIGHT * asked.stems.share_in(&stems[at]);
            let mut order: Vec<usize> = (0..sentences.len()).collect();
            order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
            let best = order.iter().map(|at| cosine(at + 1)).fold(cosine(0), f32::max);
            let nearest = order.first().map(|at| {
                let Sentence { passage, range, text: _ } = &sentences[*at];
                (*passage, range.clone())
            });
            order.truncate(WINDOW);
            order.sort_unstable();
            let window: Vec<&str> = [paper.title.as_str()]
                .into_iter()
                .chain(order.iter().map(|at| sentences[*at].text))
                .collect();
            Near {
                sentence_similarity: best,
                coverage: asked.stems.share_in(&everything),
                nearest,
                window: window.join(" "),
            }
        });
        Ok(near.collect())
    }
}

/// The decision on a paper that has no text.
pub(super) fn without_text(criterion: &Criterion) -> CriterionDecision {
    undecided(criterion, Basis::NoText)
}

/// The decision that leaves a criterion to a person.
pub(super) fn undecided(criterion: &Criterion, basis: Basis) -> CriterionDecision {
    CriterionDecision {
        criterion: criterion.id.clone(),
        digest: criterion.digest(),
        decision: Finding::Unclear.decision(criterion.kind),
        finding: Finding::Unclear,
        basis,
        score: 0.5,
        quote: None,
        signs: None,
    }
}

/// The bytes of the sentence of passage `at` in which `range` begins, or `range` itself.
fn sentence_around(
    paper: &ScreenPaper,
    at: usize,
    range: std::ops::Range<usize>,
) -> std::ops::Range<usize> {
    let text = paper.passages.get(at).map_or("", |passage| passage.text.as_str());
    let around = scholar_core::text::sentences::sentences(text);
    around.into_iter().find(|sentence| sentence.contains(&range.start)).unwrap_or(range)
}

/// The passages numbered in `scored` as a reranker takes them.
fn candidates(paper: &ScreenPaper, scored: &[(usize, f32)]) -> Result<Vec<Retrieved>, PortError> {
    let meta = Arc::new(PaperMeta::new(paper.id.clone(), paper.title.clone()));
    let candidate = |(at, share): &(usize, f32)| {
        let score = RetrievalScore::new(*share).map_err(|error| {
            PortError::new(scholar_core::PortErrorKind::Corrupt, error.to_string())
        })?;
        Ok(Retrieved {
            passage: paper.passages[*at].clone(),
            paper: Arc::clone(&meta),
            score,
            explanation: Explanation::new(*share, "share of the criterion's words"),
            found_by: Vec::new(),
        })
    };
    scored.iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use scholar_core::CharSpan;
    use scholar_testing::{FakeAttributor, FakeEncoder, FakeReranker};

    use super::super::criteria::CriterionKind;
    use super::super::decision::Decision;
    use super::super::paper::tests::paper;
    use super::*;

    fn screener() -> EvidenceScreener {
        let reranker: Arc<dyn Reranker> = Arc::new(FakeReranker::new());
        EvidenceScreener::new(
            Arc::new(FakeEncoder::new(64)),
            Some(reranker),
            Arc::new(FakeAttributor::new()),
        )
    }

    fn criterion(text: &str, kind: CriterionKind) -> Criterion {
        Criterion { id: "c".to_owned(), text: text.to_owned(), kind }
    }

    #[tokio::test]
    async fn every_decision_quotes_an_exact_span_of_a_stored_passage() {
        let include = criterion("Emicizumab clearance in patients", CriterionKind::Include);
        let exclude = criterion("Animal study", CriterionKind::Exclude);
        let paper = paper(
            1,
            "Emicizumab clearance in patients",
            "Haemophilia is rare. We measured emicizumab clearance in 40 patients. Costs were not studied.",
        );
        let screened = screener().screen(&paper, &[&include, &exclude]).await.expect("screened");
        assert_eq!(screened.unread, 0);
        let first = &screened.decisions[0];
        assert_eq!(first.finding, Finding::Met, "{first:?}");
        for one in &screened.decisions {
            let quote = one.quote.as_ref().expect("a quotation");
            let span = CharSpan::new(quote.start, quote.end);
            assert_eq!(span.slice(&paper.passages[0].text), Some(quote.text.as_str()));
        }
        assert!(first.quote.as_ref().is_some_and(|quote| quote.text.contains("clearance")));
        assert_ne!(screened.decisions[1].decision, Decision::Exclude);
    }

    #[tokio::test]
    async fn a_paper_without_text_is_unclear() {
        let include = criterion("Emicizumab clearance in patients", CriterionKind::Include);
        let paper = paper(1, "Mice", "");
        let screened = screener().screen(&paper, &[&include]).await.expect("screened");
        assert_eq!(screened.decisions[0].basis, Basis::NoText);
        assert_eq!(screened.decisions[0].decision, Decision::Unclear);
    }
}
