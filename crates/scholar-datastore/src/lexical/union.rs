//! The passages of a term, in title and text together.

use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError, Term};

use crate::schema::Fields;

/// Two lists walked as one: documents in ascending order with the weighted sum of their frequencies.
pub(crate) struct Union {
    text: Option<SegmentPostings>,
    title: Option<SegmentPostings>,
    title_weight: f32,
}

impl Union {
    pub(crate) fn new(
        reader: &SegmentReader,
        fields: &Fields,
        term: &str,
        title_weight: f32,
    ) -> Result<Self, TantivyError> {
        let postings = |field: Field| {
            let term = Term::from_field_text(field, term);
            let found =
                reader.inverted_index(field)?.read_postings(&term, IndexRecordOption::WithFreqs)?;
            Ok::<_, TantivyError>(found)
        };
        Ok(Self { text: postings(fields.text)?, title: postings(fields.title)?, title_weight })
    }

    /// Calls `visit` with each document from here on.
    #[expect(clippy::cast_precision_loss, reason = "frequencies are far below 2^24")]
    pub(crate) fn each(mut self, mut visit: impl FnMut(DocId, f32)) {
        let doc =
            |postings: &Option<SegmentPostings>| postings.as_ref().map_or(TERMINATED, DocSet::doc);
        let (mut in_text, mut in_title) = (doc(&self.text), doc(&self.title));
        loop {
            let at = in_text.min(in_title);
            if at == TERMINATED {
                return;
            }
            let mut tf = 0.0;
            if let Some(text) = self.text.as_mut().filter(|_| in_text == at) {
                tf += text.term_freq() as f32;
                in_text = text.advance();
            }
            if let Some(title) = self.title.as_mut().filter(|_| in_title == at) {
                tf += self.title_weight * title.term_freq() as f32;
                in_title = title.advance();
            }
            visit(at, tf);
        }
    }

    /// The frequency in a document; documents must be asked for in ascending order.
    #[expect(clippy::cast_precision_loss, reason = "frequencies are far below 2^24")]
    pub(crate) fn seek(&mut self, doc: DocId) -> Option<f32> {
        let mut tf = 0.0;
        let lists = [(&mut self.text, 1.0), (&mut self.title, self.title_weight)];
        for (postings, weight) in lists {
            let Some(postings) = postings else { continue };
            // Seeking backwards is not allowed; a list that is past the document does not have it.
            if postings.doc() < doc {
                postings.seek(doc);
            }
            if postings.doc() == doc {
                tf += weight * postings.term_freq() as f32;
            }
        }
        (tf > 0.0).then_some(tf)
    }
}
