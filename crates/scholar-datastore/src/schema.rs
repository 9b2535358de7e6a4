//! The tantivy schema: one document per paper, one per passage.

mod merged;
mod recorded;

use jiff::civil::Date;
use scholar_core::paper::Retraction;
use scholar_core::text::hex;
use scholar_core::{PaperId, PaperMeta, PassageId, Section, SourceRecord};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tantivy::Term;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
};

use crate::lexical::analyzer::ANALYZER;
pub(crate) use merged::{Merged, add_missing};

/// Kind of a document that is a paper.
pub const KIND_PAPER: &str = "paper";
/// Kind of a document that is a passage.
pub const KIND_PASSAGE: &str = "passage";

/// Names of the columns read by filters and the dense scan.
pub mod column {
    /// Vector ordinal of a passage.
    pub const ORDINAL: &str = "ordinal";
    /// Year of publication, as filters see it.
    pub const YEAR: &str = "year";
    /// Latest possible day of publication, in days since 1970-01-01.
    pub const LATEST_DAY: &str = "latest_day";
    /// How often a paper was cited, as its source states it.
    pub const CITATIONS: &str = "citations";
    /// Venue of the paper, lower-case.
    pub const VENUE: &str = "venue";
    /// Source of a paper.
    pub const SOURCE: &str = "source";
    /// Licence of the text, lower-case.
    pub const LICENCE: &str = "licence";
    /// Retraction status, as [`scholar_core::paper::Retraction`] is written.
    pub const RETRACTION: &str = "retraction";
    /// Own identifier of a paper, on papers only.
    pub const PAPER: &str = "paper";
    /// What a paper cites; also a term.
    pub const REFERENCES: &str = "references";
}

/// Handles of every field.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// Term: `paper` or `passage`.
    pub kind: Field,
    /// Term: the paper's own identifier, on the paper and on each of its passages.
    pub owner: Field,
    /// Terms: all identifiers of a paper, on the paper.
    pub paper_ids: Field,
    /// Terms: all identifiers of the paper, on each passage.
    pub passage_paper_ids: Field,
    /// Term: a passage's identifier.
    pub passage_id: Field,
    /// Terms: identifier and content digest of a paper: present means nothing to do; and [`superseded_key`] of each record
    /// that it took the place of.
    pub content: Field,
    /// Terms: digest of the normalised title and text of a paper: the same under another identifier is a duplicate; and
    /// of a paper without passages, which carry the titles of others, [`Fields::bare_title_term`]; and what its source
    /// records state, [`recorded`].
    pub digest: Field,
    /// Terms and column: what a paper cites.
    pub references: Field,
    /// Term: [`PassageKind::name`](scholar_core::PassageKind::name), on passages.
    pub part: Field,
    /// Term and column: licence, on papers and passages.
    pub licence: Field,
    /// Term and column: retraction status, on papers and passages.
    pub retraction: Field,
    /// Analysed title, on passages.
    pub title: Field,
    /// Analysed text, on passages.
    pub text: Field,
    /// Column: vector ordinal of a passage.
    pub ordinal: Field,
    /// Column: year of publication, as filters see it.
    pub year: Field,
    /// Column: latest possible day of publication, in days since 1970-01-01.
    pub latest_day: Field,
    /// Column: how often the paper was cited, as its source states it.
    pub citations: Field,
    /// Column: venue of the paper, lower-case.
    pub venue: Field,
    /// Column: a paper's own identifier.
    pub paper: Field,
    /// Column: name of the source that the paper came from.
    pub source: Field,
    /// Stored JSON: [`PaperMeta`] of a paper, [`Passage`](scholar_core::Passage) of a passage.
    pub head: Field,
    /// Stored JSON: sections, references and source records of a paper.
    pub body: Field,
}

/// What is stored of a paper beside its metadata.
#[derive(Deserialize)]
pub(crate) struct PaperBody {
    pub(crate) sections: Vec<Section>,
    pub(crate) references: Vec<PaperId>,
    #[serde(default)]
    pub(crate) records: Vec<SourceRecord>,
    #[serde(default)]
    pub(crate) merged: Merged,
}

/// The same while it is written: full texts are not copied for it.
#[derive(Serialize)]
pub(crate) struct PaperBodyRef<'a> {
    pub(crate) sections: &'a [Section],
    pub(crate) references: &'a [PaperId],
    #[serde(skip_serializing_if = "<[SourceRecord]>::is_empty")]
    pub(crate) records: &'a [SourceRecord],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) merged: Option<&'a Merged>,
}

/// Builds the schema. Changing it changes [`crate::descriptor::FORMAT_VERSION`].
pub fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    // Frequencies suffice for BM25; positions would double the index for phrase queries nobody asks.
    let analysed = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(ANALYZER)
            .set_index_option(IndexRecordOption::WithFreqs),
    );
    // Without length norms: nothing is ranked by these, and they would cost a byte a document and field.
    let term = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    );
    let text_column = TextOptions::default().set_fast("raw");
    let term_column = term.clone().set_fast("raw");
    let fields = Fields {
        kind: builder.add_text_field("kind", term.clone()),
        owner: builder.add_text_field("owner", term.clone()),
        paper_ids: builder.add_text_field("paper_ids", term.clone()),
        passage_paper_ids: builder.add_text_field("passage_paper_ids", term.clone()),
        passage_id: builder.add_text_field("passage_id", term.clone()),
        content: builder.add_text_field("content", term.clone()),
        digest: builder.add_text_field("digest", term.clone()),
        references: builder.add_text_field(column::REFERENCES, term_column.clone()),
        part: builder.add_text_field("part", term),
        licence: builder.add_text_field(column::LICENCE, term_column.clone()),
        retraction: builder.add_text_field(column::RETRACTION, term_column),
        title: builder.add_text_field("title", analysed.clone()),
        text: builder.add_text_field("text", analysed),
        ordinal: builder.add_u64_field(column::ORDINAL, FAST),
        year: builder.add_i64_field(column::YEAR, FAST),
        latest_day: builder.add_i64_field(column::LATEST_DAY, FAST),
        citations: builder.add_u64_field(column::CITATIONS, FAST),
        venue: builder.add_text_field(column::VENUE, text_column.clone()),
        paper: builder.add_text_field(column::PAPER, text_column.clone()),
        source: builder.add_text_field(column::SOURCE, text_column),
        head: builder.add_text_field("head", STORED),
        body: builder.add_text_field("body", STORED),
    };
    (builder.build(), fields)
}

/// Days since 1970-01-01.
pub(crate) fn day_number(day: Date) -> i64 {
    // Civil arithmetic without a time zone; the difference of two valid dates always fits.
    let epoch = Date::constant(1970, 1, 1);
    i64::from((day - epoch).get_days())
}

/// The term of a retraction status: its name in JSON.
pub(crate) fn retraction_name(retraction: Retraction) -> &'static str {
    match retraction {
        Retraction::Unknown => "unknown",
        Retraction::Clean => "clean",
        Retraction::Corrected => "corrected",
        Retraction::Concern => "concern",
        Retraction::Retracted => "retracted",
    }
}

/// Bytes of a digest that are kept where it names something.
pub(crate) const DIGEST_BYTES: usize = 16;

/// What stands for a folded title; no digest has a colon.
pub(crate) fn bare_title(key: &str) -> String {
    format!("title:{}", hex(&Sha256::digest(key)[..DIGEST_BYTES]))
}

/// What stands for a record that is superseded; no identifier begins like this.
pub(crate) fn superseded_key(content: &str) -> String {
    format!("superseded:{content}")
}

/// The year that filters compare: the stated year, else the year of the stated day.
pub(crate) fn filter_year(meta: &PaperMeta) -> Option<i16> {
    meta.year.or_else(|| meta.published.map(Date::year))
}

impl Fields {
    /// The term every document of a paper carries.
    pub fn owner_term(&self, id: &PaperId) -> Term {
        Term::from_field_text(self.owner, &id.to_string())
    }

    /// The term of each paper that has `id` among its identifiers.
    pub(crate) fn paper_term(&self, id: &PaperId) -> Term {
        Term::from_field_text(self.paper_ids, &id.to_string())
    }

    /// The term of a passage.
    pub fn passage_term(&self, id: &PassageId) -> Term {
        Term::from_field_text(self.passage_id, &id.to_string())
    }

    /// The term of each paper without passages whose folded title is `key`.
    pub(crate) fn bare_title_term(&self, key: &str) -> Term {
        Term::from_field_text(self.digest, &bare_title(key))
    }
}
