//! The kinds of rows that are recognised by their fields.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

/// What the rows of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Our own: one [`Paper`](scholar_core::Paper) per line.
    Papers,
    /// peS2o: `id`, `source` and `text`.
    Pes2o,
    /// A corpus as BEIR has it: `_id` and `text`.
    Beir,
    /// OpenAlex works: `id` begins with `https://openalex.org/W`.
    #[serde(rename = "openalex")]
    OpenAlex,
    /// Semantic Scholar's `papers`: `corpusid` and `title`.
    S2Papers,
    /// Semantic Scholar's `abstracts`: `corpusid` and `abstract`, no `title`.
    S2Abstracts,
    /// Semantic Scholar's `citations`: `citingcorpusid` and `citedcorpusid`.
    S2Citations,
    /// Semantic Scholar's `s2orc`, either version.
    #[serde(rename = "s2orc")]
    S2Orc,
    /// ACL Anthology, an entry with its `bibkey`.
    Acl,
    /// arXiv metadata: `abstract` and `categories`.
    Arxiv,
    /// `PubMed` Central: `title`, and an `id` that begins with `PMC`.
    Pmc,
}

impl Format {
    /// Every format with its name on the command line.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Papers, "papers"),
        (Self::Pes2o, "pes2o"),
        (Self::Beir, "beir"),
        (Self::OpenAlex, "openalex"),
        (Self::S2Papers, "s2-papers"),
        (Self::S2Abstracts, "s2-abstracts"),
        (Self::S2Citations, "s2-citations"),
        (Self::S2Orc, "s2orc"),
        (Self::Acl, "acl"),
        (Self::Arxiv, "arxiv"),
        (Self::Pmc, "pmc"),
    ];

    /// The format whose distinguishing fields `row` has.
    pub fn of_row(row: &Value) -> Option<Self> {
        let has = |key: &str| row.get(key).is_some();
        let starts = |key: &str, start: &str| {
            row.get(key).and_then(Value::as_str).is_some_and(|text| text.starts_with(start))
        };
        if has("meta") && has("sections") {
            Some(Self::Papers)
        } else if has("_id") && has("text") {
            Some(Self::Beir)
        } else if has("citingcorpusid") && has("citedcorpusid") {
            Some(Self::S2Citations)
        } else if has("corpusid") && (has("content") || has("body")) {
            Some(Self::S2Orc)
        } else if has("corpusid") && has("abstract") && !has("title") {
            Some(Self::S2Abstracts)
        } else if has("corpusid") && has("title") {
            Some(Self::S2Papers)
        } else if has("text") && has("source") && has("id") {
            Some(Self::Pes2o)
        } else if starts("id", "https://openalex.org/W") {
            Some(Self::OpenAlex)
        } else if has("bibkey") {
            Some(Self::Acl)
        } else if starts("id", "PMC") && has("title") {
            Some(Self::Pmc)
        } else if has("abstract") && has("categories") {
            Some(Self::Arxiv)
        } else {
            None
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// A format nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format ({names})", names = Format::ALL.map(|(_, name)| name).join(", "))]
pub struct UnknownFormatName(pub String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(text: &str) -> Result<Self, UnknownFormatName> {
        Self::ALL
            .iter()
            .find(|(_, name)| name.eq_ignore_ascii_case(text))
            .map(|(format, _)| *format)
            .ok_or_else(|| UnknownFormatName(text.to_owned()))
    }
}
