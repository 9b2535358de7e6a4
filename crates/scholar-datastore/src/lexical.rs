//! BM25 over titles and texts of passages, with the parameters as data.
//!
//! tantivy's own scorer fixes k1 = 1.2 and b = 0.75 and treats fields apart. This one reads tantivy's postings and
//! length norms and adds the frequencies of a term in title and text with a weight (BM25F).
//!
//! Terms are scored one after the other, the one that can add most first. Once no passage that lacks all terms so far can
//! still be among the best, the remaining terms, which are the common ones with the long lists, are only looked up for the
//! passages found. What a term can add at most, and in how many passages it occurs, is remembered per commit.
//!
//! `score(d) = Σ_t n_t · idf(t) · tf / (tf + k1 (1 − b + b · len(d) / mean len))` with
//! `tf = text tf + w · title tf`, `len = text len + w · title len`, `idf = ln(1 + (N − df + ½) / (df + ½))` and
//! `n_t` the frequency of the term in the query.
//!
//! Source: Robertson and Zaragoza 2009; the stopping rule is Turtle and Flood's 1995 (`MaxScore`), term at a time.

pub mod analyzer;
pub(crate) mod lookup;
pub(crate) mod statistics;
mod union;

use rayon::prelude::*;
use scholar_core::Explanation;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::Field;
use tantivy::{DocAddress, DocId, Searcher, SegmentReader, TantivyError, Term};

use crate::dense::scan::{Scored, keep_best};
use crate::filter::{Accepted, is_accepted};
use crate::schema::{Fields, KIND_PASSAGE};
use crate::store::guard::Inside;
use statistics::{TermFigures, TermStatistics};
use union::Union;

/// A filter is asked about so many times as many passages as are wanted before it is taken for a narrow one.
const FILTER_SLACK: usize = 4;
/// Sums of terms in another order differ in the last bits.
const ROUNDING: f32 = 1.000_01;

/// Parameters of BM25 over title and text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// How fast repeated terms saturate.
    pub k1: f32,
    /// How much length counts, 0 to 1.
    pub b: f32,
    /// Weight of an occurrence in the title; 1 counts it as one in the text.
    pub title_weight: f32,
}

impl Bm25 {
    /// Lucene's defaults as in the upstream baseline: title and text alike.
    pub fn lucene() -> Self {
        Self { k1: 0.9, b: 0.4, title_weight: 1.0 }
    }

    /// Ours; how it was chosen, and on what, is in docs/decisions/0006.
    pub fn tuned() -> Self {
        Self { k1: 1.5, b: 0.75, title_weight: 2.0 }
    }

    fn norm(self, length: f32, mean: f32) -> f32 {
        self.k1 * (1.0 - self.b + self.b * length / mean.max(1.0))
    }
}

/// A term of a query.
struct QueryTerm {
    text: String,
    count: u32,
    idf: f32,
    /// The most it adds to any passage.
    most: f32,
}

impl QueryTerm {
    fn weight(&self) -> f32 {
        query_weight(self.count) * self.idf
    }
}

/// Collection statistics and parameters of one search.
pub(crate) struct LexicalSearch<'a> {
    searcher: &'a Searcher,
    fields: &'a Fields,
    parameters: Bm25,
    /// The one that can add most first.
    terms: Vec<QueryTerm>,
    /// One for each segment.
    norms: Vec<Norms>,
}

/// Length norms of one segment: `k1 (1 − b + b · len / mean len)` is a sum of one number for the text's and one for the
/// title's length, both of which tantivy keeps in a byte.
pub(crate) struct Norms {
    title: FieldNormReader,
    text: FieldNormReader,
    of_title: Vec<f32>,
    of_text: Vec<f32>,
}

impl Norms {
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^24")]
    fn of(
        reader: &SegmentReader,
        fields: &Fields,
        bm25: Bm25,
        mean: f32,
    ) -> Result<Self, TantivyError> {
        let lengths = (0..=u8::MAX).map(|id| FieldNormReader::id_to_fieldnorm(id) as f32);
        let (fixed, slope) = (bm25.norm(0.0, mean), bm25.norm(1.0, mean) - bm25.norm(0.0, mean));
        Ok(Self {
            title: reader.get_fieldnorms_reader(fields.title)?,
            text: reader.get_fieldnorms_reader(fields.text)?,
            of_title: lengths.clone().map(|length| slope * bm25.title_weight * length).collect(),
            of_text: lengths.map(|length| fixed + slope * length).collect(),
        })
    }

    fn norm(&self, doc: DocId) -> f32 {
        self.of_text[usize::from(self.text.fieldnorm_id(doc))]
            + self.of_title[usize::from(self.title.fieldnorm_id(doc))]
    }

    /// What a frequency is worth in a passage of this length, 0 to 1.
    pub(crate) fn saturated(&self, doc: DocId, tf: f32) -> f32 {
        tf / (tf + self.norm(doc))
    }
}

impl<'a> LexicalSearch<'a> {
    #[expect(clippy::cast_precision_loss, reason = "statistics need no more than 24 bits")]
    pub(crate) fn new(
        searcher: &'a Searcher,
        known: &TermStatistics,
        fields: &'a Fields,
        parameters: Bm25,
        query: &str,
    ) -> Result<Self, TantivyError> {
        let kind = Term::from_field_text(fields.kind, KIND_PASSAGE);
        let passages = searcher.doc_freq(&kind)? as f32;
        let tokens = |field: Field| -> Result<f32, TantivyError> {
            let mut total = 0;
            for reader in searcher.segment_readers() {
                total += reader.inverted_index(field)?.total_num_tokens();
            }
            Ok(total as f32)
        };
        let length = tokens(fields.text)? + parameters.title_weight * tokens(fields.title)?;
        let mean = length / passages.max(1.0);
        let norms = searcher
            .segment_readers()
            .iter()
            .map(|reader| Norms::of(reader, fields, parameters, mean))
            .collect::<Result<Vec<_>, _>>()?;
        let mut search = Self { searcher, fields, parameters, terms: Vec::new(), norms };
        for (text, count) in analyzer::query_terms(query) {
            let TermFigures { passages: df, saturation } =
                known.get(&text, parameters, || search.figures(&text))?;
            let df = df as f32;
            let idf = (1.0 + (passages - df + 0.5).max(0.0) / (df + 0.5)).ln();
            let most = query_weight(count) * idf * saturation;
            search.terms.push(QueryTerm { text, count, idf, most });
        }
        search.terms.sort_by(|a, b| b.most.total_cmp(&a.most).then_with(|| a.text.cmp(&b.text)));
        Ok(search)
    }

    /// In how many passages a term occurs, and the most its frequency is worth in any of them.
    fn figures(&self, term: &str) -> Result<TermFigures, TantivyError> {
        let mut figures = TermFigures { passages: 0, saturation: 0.0 };
        for segment in 0..self.norms.len() {
            self.union(segment, term)?.each(|doc, tf| {
                figures.passages += 1;
                figures.saturation = figures.saturation.max(self.norms[segment].saturated(doc, tf));
            });
        }
        Ok(figures)
    }

    /// The passages with the highest scores above 0: at least `depth` where there are so many, plus those that tie with the
    /// last. In no particular order.
    pub(crate) fn best(
        &self,
        accepted: &[Accepted],
        depth: usize,
    ) -> Result<Vec<Scored>, TantivyError> {
        let readers = self.searcher.segment_readers();
        let mut scores: Vec<Vec<f32>> =
            readers.iter().map(|reader| vec![0.0; reader.max_doc() as usize]).collect();
        let mut touched: Vec<DocAddress> = Vec::new();
        let mut left: f32 = self.terms.iter().map(|term| term.most).sum();
        let mut looked_up = self.terms.len();
        for (at, term) in self.terms.iter().enumerate() {
            // What is left is a bound only up to rounding.
            if left * ROUNDING < Self::bar(&scores, &touched, accepted, depth) {
                looked_up = at;
                break;
            }
            let parts: Vec<Vec<DocAddress>> = (0_u32..)
                .zip(&mut scores)
                .collect::<Vec<_>>()
                .into_par_iter()
                .map(|(segment, scores)| {
                    let _inside = Inside::enter();
                    self.add_term(term, segment, accepted, scores)
                })
                .collect::<Result<_, _>>()?;
            touched.extend(parts.into_iter().flatten());
            left -= term.most;
        }
        let mut found: Vec<Scored> = touched
            .into_iter()
            .map(|address| Scored {
                address,
                score: scores[address.segment_ord as usize][address.doc_id as usize],
            })
            .collect();
        if looked_up < self.terms.len() {
            // Only these can still be among the best.
            let bar = Self::bar_of(&found, accepted, depth);
            found.retain(|scored| scored.score + left * ROUNDING >= bar);
            found.sort_unstable_by_key(|scored| scored.address);
            let addresses: Vec<DocAddress> = found.iter().map(|scored| scored.address).collect();
            let rest = self.add_up(&self.terms[looked_up..], &addresses)?;
            for (scored, rest) in found.iter_mut().zip(rest) {
                scored.score += rest;
            }
        }
        Ok(accepted_best(found, accepted, depth))
    }

    /// Adds what a term is worth in the passages of one segment, and returns those that had nothing before. Where it is
    /// known which passages a filter accepts, others are passed over.
    fn add_term(
        &self,
        term: &QueryTerm,
        segment: u32,
        accepted: &[Accepted],
        scores: &mut [f32],
    ) -> Result<Vec<DocAddress>, TantivyError> {
        let norms = &self.norms[segment as usize];
        let accepted = Some(&accepted[segment as usize]).filter(|accepted| accepted.is_marked());
        let mut touched = Vec::new();
        self.union(segment as usize, &term.text)?.each(|doc, tf| {
            if accepted.is_some_and(|accepted| !accepted.contains(doc)) {
                return;
            }
            let score = &mut scores[doc as usize];
            if *score <= 0.0 {
                touched.push(DocAddress::new(segment, doc));
            }
            *score += term.weight() * norms.saturated(doc, tf);
        });
        Ok(touched)
    }

    /// The score that the `depth`-th accepted passage has at least, or 0 while that is unknown.
    fn bar(
        scores: &[Vec<f32>],
        touched: &[DocAddress],
        accepted: &[Accepted],
        depth: usize,
    ) -> f32 {
        if touched.len() < depth.max(1) {
            return 0.0;
        }
        let found: Vec<Scored> = touched
            .iter()
            .map(|at| Scored {
                address: *at,
                score: scores[at.segment_ord as usize][at.doc_id as usize],
            })
            .collect();
        Self::bar_of(&found, accepted, depth)
    }

    fn bar_of(found: &[Scored], accepted: &[Accepted], depth: usize) -> f32 {
        let mut best = found.to_vec();
        // A filter refuses some: look at more than are wanted, and give up where most are refused.
        keep_best(&mut best, depth * FILTER_SLACK);
        best.retain(|scored| is_accepted(accepted, scored.address));
        if depth == 0 || best.len() < depth {
            return 0.0;
        }
        let (_, last, _) =
            best.select_nth_unstable_by(depth - 1, |a, b| b.score.total_cmp(&a.score));
        last.score
    }

    /// Scores of some passages, which come in ascending order.
    pub(crate) fn scores(&self, addresses: &[DocAddress]) -> Result<Vec<f32>, TantivyError> {
        self.add_up(&self.terms, addresses)
    }

    fn add_up(
        &self,
        terms: &[QueryTerm],
        addresses: &[DocAddress],
    ) -> Result<Vec<f32>, TantivyError> {
        let mut scores = vec![0.0; addresses.len()];
        for term in terms {
            let mut place = 0;
            for run in addresses.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
                let segment = run[0].segment_ord as usize;
                let mut union = self.union(segment, &term.text)?;
                for (address, score) in run.iter().zip(&mut scores[place..]) {
                    if let Some(tf) = union.seek(address.doc_id) {
                        *score += term.weight() * self.norms[segment].saturated(address.doc_id, tf);
                    }
                }
                place += run.len();
            }
        }
        Ok(scores)
    }

    /// For each of `hits`, what the terms contributed, largest first, at most `most` of them.
    pub(crate) fn explain(
        &self,
        hits: &[DocAddress],
        most: usize,
    ) -> Result<Vec<Vec<Explanation>>, TantivyError> {
        let mut parts: Vec<Vec<Explanation>> = vec![Vec::new(); hits.len()];
        for term in &self.terms {
            let QueryTerm { text, count, idf, most: _ } = term;
            for (hit, parts) in hits.iter().zip(&mut parts) {
                let segment = hit.segment_ord as usize;
                let Some(tf) = self.union(segment, text)?.seek(hit.doc_id) else { continue };
                let saturated = self.norms[segment].saturated(hit.doc_id, tf);
                let reason = format!("term {text:?}: {count} x idf {idf:.3} x {saturated:.3}");
                parts.push(Explanation::new(term.weight() * saturated, reason));
            }
        }
        for parts in &mut parts {
            parts.sort_by(|a, b| b.value.total_cmp(&a.value));
            parts.truncate(most);
        }
        Ok(parts)
    }

    fn union(&self, segment: usize, term: &str) -> Result<Union, TantivyError> {
        let reader = &self.searcher.segment_readers()[segment];
        Union::new(reader, self.fields, term, self.parameters.title_weight)
    }
}

fn accepted_best(mut found: Vec<Scored>, accepted: &[Accepted], depth: usize) -> Vec<Scored> {
    let all = found.len();
    let mut slack = depth.saturating_mul(FILTER_SLACK);
    loop {
        // The best are few, and asking a filter costs: ask for more only when too many were refused.
        let mut best = found.clone();
        keep_best(&mut best, slack);
        let kept = best.len();
        best.retain(|scored| scored.score > 0.0 && is_accepted(accepted, scored.address));
        if best.len() >= depth || kept == all {
            found = best;
            keep_best(&mut found, depth);
            return found;
        }
        slack = slack.saturating_mul(8).max(1);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a query has few repetitions")]
fn query_weight(count: u32) -> f32 {
    count as f32
}
