//! How much one file or one paper may be. Every reader of files stops at these bounds and says which one it was and how it
//! is raised, so that a broken or hostile file costs itself alone.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Paper;

/// Largest document or list of papers, in bytes. The largest known PDF of a paper has 150 MB.
const FILE_BYTES: usize = 200_000_000;
/// Longest line of a file of rows, in bytes. The longest full texts known are near 10 MB of JSON; of 170,000 rows of four
/// collections the longest has 0.1 MB.
const LINE_BYTES: usize = 12 << 20;
/// How many times larger than itself a compressed file of rows may unpack to. JSON of papers becomes 3 to 30 times as
/// large; what unpacks to a thousand times its size is the same byte over and over.
const UNPACK_RATIO: usize = 200;
/// Largest stream of a PDF that is no image, unpacked, in bytes: the drawings of a crowded map have some ten million.
const STREAM_BYTES: usize = 64 << 20;
/// Most pages of a PDF. Handbooks and proceedings have 3,000.
const PAGES: usize = 10_000;
/// Most letters, lines, areas, images and forms of one page of a PDF. A scatter plot of a million points is within it.
const DRAWINGS: usize = 2_000_000;
/// Most sections of a paper, captions among them. Long theses have 1,500.
const SECTIONS: usize = 5_000;
/// Most references of a paper. Annotated bibliographies have 20,000.
const REFERENCES: usize = 50_000;
/// Longest text of a paper, in bytes of UTF-8: ten times the longest book.
const TEXT_BYTES: usize = 50_000_000;
/// Longest time for one document, in seconds. The slowest of 70 real PDFs takes two.
const SECONDS: u64 = 60;

/// What a reader of files may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Largest document or list of papers, in bytes.
    pub bytes: usize,
    /// Longest line of a file of rows, in bytes.
    pub line_bytes: usize,
    /// How many times larger than itself a compressed file of rows may unpack to.
    pub unpack_ratio: usize,
    /// Largest stream of a PDF that is no image, unpacked, in bytes.
    pub stream_bytes: usize,
    /// Most pages of a PDF.
    pub pages: usize,
    /// Most letters, lines, areas, images and forms of one page of a PDF.
    pub drawings: usize,
    /// Most sections of a paper.
    pub sections: usize,
    /// Most references of a paper.
    pub references: usize,
    /// Longest text of a paper, in bytes of UTF-8.
    pub text_bytes: usize,
    /// Longest time for one document.
    pub time: Duration,
}

/// One of the bounds, by the name it has in `--limit NAME=VALUE` and in the config file's `[limits]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// [`ReadLimits::bytes`].
    #[serde(alias = "file_bytes")]
    FileBytes,
    /// [`ReadLimits::line_bytes`].
    #[serde(alias = "line_bytes")]
    LineBytes,
    /// [`ReadLimits::unpack_ratio`].
    #[serde(alias = "unpack_ratio")]
    UnpackRatio,
    /// [`ReadLimits::stream_bytes`].
    #[serde(alias = "stream_bytes")]
    StreamBytes,
    /// [`ReadLimits::pages`].
    Pages,
    /// [`ReadLimits::drawings`].
    Drawings,
    /// [`ReadLimits::sections`].
    Sections,
    /// [`ReadLimits::references`].
    References,
    /// [`ReadLimits::text_bytes`].
    #[serde(alias = "text_bytes")]
    TextBytes,
    /// [`ReadLimits::time`], in seconds.
    Seconds,
}

impl Limit {
    /// Every bound with its name.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::FileBytes, "file-bytes"),
        (Self::LineBytes, "line-bytes"),
        (Self::UnpackRatio, "unpack-ratio"),
        (Self::StreamBytes, "stream-bytes"),
        (Self::Pages, "pages"),
        (Self::Drawings, "drawings"),
        (Self::Sections, "sections"),
        (Self::References, "references"),
        (Self::TextBytes, "text-bytes"),
        (Self::Seconds, "seconds"),
    ];

    /// Name as `--limit NAME=N` takes it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(limit, _)| *limit == self).map_or("", |(_, name)| name)
    }

    /// The next step for a person whose file is larger.
    pub fn hint(self) -> String {
        let name = self.name();
        format!("if the file is meant to be like this, raise the limit with --limit {name}=N")
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A limit nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a limit ({names})", names = Limit::ALL.map(|(_, name)| name).join(", "))]
pub struct UnknownLimit(pub String);

impl FromStr for Limit {
    type Err = UnknownLimit;

    fn from_str(text: &str) -> Result<Self, UnknownLimit> {
        let name = text.trim().replace('_', "-");
        let found = Self::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(&name));
        found.map(|(limit, _)| *limit).ok_or_else(|| UnknownLimit(text.to_owned()))
    }
}

/// What a paper has more of than its limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{found} {unit} are more than the limit of {allowed} ({limit})")]
pub struct Exceeded {
    /// The limit that the paper exceeds.
    pub limit: Limit,
    /// What is counted, in the plural: `pages`, `sections`.
    pub unit: &'static str,
    /// How many there are.
    pub found: usize,
    /// How many there may be.
    pub allowed: usize,
}

impl ReadLimits {
    /// The bounds that hold unless a person sets others: no known paper is larger.
    pub const fn standard() -> Self {
        Self {
            bytes: FILE_BYTES,
            line_bytes: LINE_BYTES,
            unpack_ratio: UNPACK_RATIO,
            stream_bytes: STREAM_BYTES,
            pages: PAGES,
            drawings: DRAWINGS,
            sections: SECTIONS,
            references: REFERENCES,
            text_bytes: TEXT_BYTES,
            time: Duration::from_secs(SECONDS),
        }
    }

    /// Sets one bound, in the unit of its field; [`Limit::Seconds`] in seconds.
    pub fn set(&mut self, limit: Limit, value: u64) {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match limit {
            Limit::FileBytes => self.bytes = size,
            Limit::LineBytes => self.line_bytes = size,
            Limit::UnpackRatio => self.unpack_ratio = size,
            Limit::StreamBytes => self.stream_bytes = size,
            Limit::Pages => self.pages = size,
            Limit::Drawings => self.drawings = size,
            Limit::Sections => self.sections = size,
            Limit::References => self.references = size,
            Limit::TextBytes => self.text_bytes = size,
            Limit::Seconds => self.time = Duration::from_secs(value),
        }
    }

    /// The first bound that `paper` breaks.
    ///
    /// # Errors
    /// [`Exceeded`] names sections, references or text.
    pub fn check(&self, paper: &Paper) -> Result<(), Exceeded> {
        let text = || paper.sections.iter().map(|section| section.text.len()).sum();
        let within = |limit, unit, found, allowed| match found > allowed {
            true => Err(Exceeded { limit, unit, found, allowed }),
            false => Ok(()),
        };
        within(Limit::Sections, "sections", paper.sections.len(), self.sections)?;
        within(Limit::References, "references", paper.references.len(), self.references)?;
        within(Limit::TextBytes, "bytes of text", text(), self.text_bytes)
    }
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self::standard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PaperId, PaperMeta, Section};

    #[test]
    fn every_limit_has_a_name_that_sets_it() {
        let standard = ReadLimits::standard();
        for (limit, name) in Limit::ALL {
            assert_eq!(name.replace('-', "_").parse(), Ok(limit));
            assert!(limit.hint().contains(&format!("--limit {name}=")));
            let mut changed = standard;
            changed.set(limit, 7);
            assert_ne!(changed, standard, "{name}");
        }
        let error = "sektions".parse::<Limit>().expect_err("unknown").to_string();
        assert!(error.contains("sektions") && error.contains("sections"), "{error}");
    }

    #[test]
    fn a_paper_beyond_a_limit_is_told_by_it() {
        let limits =
            ReadLimits { sections: 2, references: 1, text_bytes: 9, ..ReadLimits::standard() };
        let paper = |sections: &[&str], references: usize| Paper {
            meta: PaperMeta::new(PaperId::Pmid(1), "T"),
            sections: sections.iter().map(|text| Section::new("", *text)).collect(),
            references: vec![PaperId::Pmid(2); references],
            records: Vec::new(),
        };
        let broken = |paper: &Paper| limits.check(paper).map_err(|broken| broken.limit);
        assert_eq!(broken(&paper(&["one", "two"], 1)), Ok(()));
        assert_eq!(broken(&paper(&["", "", ""], 1)), Err(Limit::Sections));
        assert_eq!(broken(&paper(&[], 2)), Err(Limit::References));
        assert_eq!(broken(&paper(&["0123456789"], 0)), Err(Limit::TextBytes));
        let told = limits.check(&paper(&[], 2)).expect_err("too many").to_string();
        assert_eq!(told, "2 references are more than the limit of 1 (references)");
    }
}
