//! BM25 over titles and texts of passages, with the parameters as data.
//!
//! tantivy's own scorer fixes k1 = 1.2 and b = 0.75 and treats fields apart. This one reads tantivy's postings and
//! length norms, adds the frequencies of a term in title and text with a weight (BM25F) and scores term at a time into
//! one array per segment, which keeps every document's score at hand for fusion.
//!
//! `score(d) = Σ_t n_t · idf(t) · tf / (tf + k1 (1 − b + b · len(d) / mean len))` with
//! `tf = text tf + w · title tf`, `len = text len + w · title len`, `idf = ln(1 + (N − df + ½) / (df + ½))` and
//! `n_t` the frequency of the term in the query.
//!
//! Source: Robertson and Zaragoza 2009; spec A.5. Cost: one pass over the postings of the query's terms.

pub mod analyzer;

use scholar_core::Explanation;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings as _;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{
    DocAddress, DocId, DocSet as _, Searcher, SegmentReader, TERMINATED, TantivyError, Term,
};

use crate::schema::{Fields, KIND_PASSAGE};

/// Parameters of BM25.
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
    /// Lucene's defaults as in the upstream baseline (spec A.5): title and text alike.
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

/// The scores of one query in one segment: indexed by document, 0 where no term occurs.
pub(crate) type SegmentScores = Vec<f32>;

/// A term of a query in one segment: documents in ascending order with its weighted frequency.
type TermPostings = Vec<(DocId, f32)>;

/// Collection statistics and parameters of one search.
pub(crate) struct LexicalSearch<'a> {
    searcher: &'a Searcher,
    fields: &'a Fields,
    parameters: Bm25,
    terms: Vec<(String, u32)>,
    passages: f32,
    mean_length: f32,
}

struct Norms {
    title: FieldNormReader,
    text: FieldNormReader,
}

impl Norms {
    fn of(reader: &SegmentReader, fields: &Fields) -> Result<Self, TantivyError> {
        Ok(Self {
            title: reader.get_fieldnorms_reader(fields.title)?,
            text: reader.get_fieldnorms_reader(fields.text)?,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^24")]
    fn length(&self, doc: DocId, title_weight: f32) -> f32 {
        self.text.fieldnorm(doc) as f32 + title_weight * self.title.fieldnorm(doc) as f32
    }
}

impl<'a> LexicalSearch<'a> {
    #[expect(clippy::cast_precision_loss, reason = "statistics need no more than 24 bits")]
    pub(crate) fn new(
        searcher: &'a Searcher,
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
        Ok(Self {
            searcher,
            fields,
            parameters,
            terms: analyzer::term_counts(query),
            passages,
            mean_length: length / passages.max(1.0),
        })
    }

    /// Scores of all passages, one array per segment.
    pub(crate) fn score_all(&self) -> Result<Vec<SegmentScores>, TantivyError> {
        let readers = self.searcher.segment_readers();
        let norms = readers
            .iter()
            .map(|reader| Norms::of(reader, self.fields))
            .collect::<Result<Vec<_>, _>>()?;
        let mut scores: Vec<SegmentScores> =
            readers.iter().map(|reader| vec![0.0; reader.max_doc() as usize]).collect();
        for (term, count) in &self.terms {
            let (postings, idf) = self.postings(term)?;
            let weight = query_weight(*count) * idf;
            for ((scores, postings), norms) in scores.iter_mut().zip(postings).zip(&norms) {
                for (doc, tf) in postings {
                    let length = norms.length(doc, self.parameters.title_weight);
                    let norm = self.parameters.norm(length, self.mean_length);
                    scores[doc as usize] += weight * tf / (tf + norm);
                }
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
        let readers = self.searcher.segment_readers();
        let norms = readers
            .iter()
            .map(|reader| Norms::of(reader, self.fields))
            .collect::<Result<Vec<_>, _>>()?;
        let mut parts: Vec<Vec<Explanation>> = vec![Vec::new(); hits.len()];
        for (term, count) in &self.terms {
            let (postings, idf) = self.postings(term)?;
            let weight = query_weight(*count) * idf;
            for (hit, parts) in hits.iter().zip(&mut parts) {
                let segment = hit.segment_ord as usize;
                let Ok(at) = postings[segment].binary_search_by_key(&hit.doc_id, |(doc, _)| *doc)
                else {
                    continue;
                };
                let tf = postings[segment][at].1;
                let length = norms[segment].length(hit.doc_id, self.parameters.title_weight);
                let saturated = tf / (tf + self.parameters.norm(length, self.mean_length));
                let reason = format!("term {term:?}: {count} x idf {idf:.3} x {saturated:.3}");
                parts.push(Explanation::new(weight * saturated, reason));
            }
        }
        for parts in &mut parts {
            parts.sort_by(|a, b| b.value.total_cmp(&a.value));
            parts.truncate(most);
        }
        Ok(parts)
    }

    /// Postings of a term in title and text together, per segment, and its inverse document frequency.
    #[expect(clippy::cast_precision_loss, reason = "statistics need no more than 24 bits")]
    fn postings(&self, term: &str) -> Result<(Vec<TermPostings>, f32), TantivyError> {
        let readers = self.searcher.segment_readers();
        let per_segment = readers
            .iter()
            .map(|reader| {
                let text = field_postings(reader, self.fields.text, term, 1.0)?;
                let title =
                    field_postings(reader, self.fields.title, term, self.parameters.title_weight)?;
                Ok(merge(text, title))
            })
            .collect::<Result<Vec<_>, TantivyError>>()?;
        let df = per_segment.iter().map(Vec::len).sum::<usize>() as f32;
        let idf = (1.0 + (self.passages - df + 0.5).max(0.0) / (df + 0.5)).ln();
        Ok((per_segment, idf))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a query has few repetitions")]
fn query_weight(count: u32) -> f32 {
    count as f32
}

#[expect(clippy::cast_precision_loss, reason = "frequencies are far below 2^24")]
fn field_postings(
    reader: &SegmentReader,
    field: Field,
    term: &str,
    weight: f32,
) -> Result<TermPostings, TantivyError> {
    let index = reader.inverted_index(field)?;
    let term = Term::from_field_text(field, term);
    let Some(mut postings) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::with_capacity(postings.size_hint() as usize);
    let mut doc = postings.doc();
    while doc != TERMINATED {
        found.push((doc, weight * postings.term_freq() as f32));
        doc = postings.advance();
    }
    Ok(found)
}

/// Adds two ascending lists.
fn merge(left: TermPostings, right: TermPostings) -> TermPostings {
    if right.is_empty() {
        return left;
    }
    let mut merged = TermPostings::with_capacity(left.len() + right.len());
    let mut right = right.into_iter().peekable();
    for (doc, tf) in left {
        while let Some(other) = right.next_if(|(other, _)| *other < doc) {
            merged.push(other);
        }
        let extra = right.next_if(|(other, _)| *other == doc).map_or(0.0, |(_, tf)| tf);
        merged.push((doc, tf + extra));
    }
    merged.extend(right);
    merged
}
