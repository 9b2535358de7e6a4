//! Papers and passages as tantivy's documents.

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperMeta, Passage};
use tantivy::TantivyDocument;

use super::prepare::Prepared;
use crate::schema::{
    Fields, KIND_PAPER, KIND_PASSAGE, bare_title, day_number, filter_year, retraction_name,
    superseded_key,
};

impl Fields {
    pub(crate) fn paper_document(&self, prepared: &Prepared, source: &str) -> TantivyDocument {
        let Prepared { paper, head, body, content, digest, merged, passages, .. } = prepared;
        let mut document = TantivyDocument::default();
        let id = paper.meta.id.to_string();
        document.add_text(self.kind, KIND_PAPER);
        document.add_text(self.owner, &id);
        document.add_text(self.paper_ids, &id);
        document.add_text(self.paper, &id);
        for other in &paper.meta.external_ids {
            document.add_text(self.paper_ids, other.to_string());
        }
        document.add_text(self.content, content);
        for other in merged.contents.iter().filter(|other| *other != content) {
            document.add_text(self.content, other);
        }
        for old in &merged.superseded {
            document.add_text(self.content, superseded_key(old));
        }
        if let Some(digest) = digest {
            document.add_text(self.digest, digest);
        }
        if passages.is_empty() {
            document.add_text(self.digest, bare_title(&title_key(&paper.meta.title)));
        }
        self.add_records(&mut document, paper);
        for cited in &paper.references {
            document.add_text(self.references, cited.to_string());
        }
        self.add_status(&mut document, &paper.meta);
        document.add_text(self.source, source);
        document.add_text(self.head, head);
        document.add_text(self.body, body);
        document
    }

    /// Licence and retraction status: on papers and passages alike.
    fn add_status(&self, document: &mut TantivyDocument, meta: &PaperMeta) {
        if let Some(licence) = &meta.licence {
            document.add_text(self.licence, licence.to_lowercase());
        }
        document.add_text(self.retraction, retraction_name(meta.retraction));
    }

    pub(crate) fn passage_document(
        &self,
        meta: &PaperMeta,
        passage: &Passage,
        ordinal: u64,
    ) -> Result<TantivyDocument, serde_json::Error> {
        let mut document = TantivyDocument::default();
        document.add_text(self.kind, KIND_PASSAGE);
        document.add_text(self.owner, meta.id.to_string());
        document.add_text(self.passage_paper_ids, meta.id.to_string());
        for other in &meta.external_ids {
            document.add_text(self.passage_paper_ids, other.to_string());
        }
        document.add_text(self.passage_id, passage.id.to_string());
        document.add_text(self.part, passage.kind.name());
        self.add_status(&mut document, meta);
        document.add_text(self.title, &passage.title);
        document.add_text(self.text, &passage.text);
        document.add_u64(self.ordinal, ordinal);
        if let Some(year) = filter_year(meta) {
            document.add_i64(self.year, i64::from(year));
        }
        if let Some(day) = meta.latest_day() {
            document.add_i64(self.latest_day, day_number(day));
        }
        if let Some(count) = meta.citation_count {
            document.add_u64(self.citations, u64::from(count));
        }
        if let Some(venue) = &meta.venue {
            document.add_text(self.venue, venue.to_lowercase());
        }
        document.add_text(self.head, serde_json::to_string(passage)?);
        Ok(document)
    }
}
