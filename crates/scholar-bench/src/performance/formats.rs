//! What readers of documents and libraries take out of files, and how fast.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use scholar_core::Paper;
use serde::Serialize;

/// One paper that was read.
#[derive(Debug)]
pub struct ReadPaper<'a> {
    /// The paper as it was read.
    pub paper: &'a Paper,
    /// Number of references it lists.
    pub references: usize,
    /// Those of them that state an identifier.
    pub identified: usize,
    /// Those of them matched to papers by title.
    pub matched: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// Time to read it.
    pub time: Duration,
}

/// Sums over the papers of one format.
#[derive(Debug, Default)]
pub struct FormatSums {
    papers: usize,
    without_title: usize,
    with_abstract: usize,
    words: usize,
    sections: usize,
    references: usize,
    identified: usize,
    matched: usize,
    pages: u64,
    bytes: u64,
    time: Duration,
    slowest: Duration,
}

impl FormatSums {
    /// Counts one more paper.
    pub fn add(&mut self, read: &ReadPaper<'_>) {
        let ReadPaper { paper, references, identified, matched, bytes, time } = read;
        self.papers += 1;
        self.without_title += usize::from(paper.meta.title.is_empty());
        self.with_abstract += usize::from(paper.abstract_text().is_some());
        let words = |text: &str| text.split_whitespace().count();
        self.words += paper.sections.iter().map(|section| words(&section.text)).sum::<usize>();
        self.sections += paper.sections.len();
        self.references += references;
        self.identified += identified;
        self.matched += matched;
        let places = paper.sections.iter().flat_map(|section| &section.places);
        self.pages += places.map(|place| u64::from(place.page)).max().unwrap_or(0);
        self.bytes += bytes;
        self.time += *time;
        self.slowest = self.slowest.max(*time);
    }

    fn json(&self, format: &str) -> serde_json::Value {
        serde_json::json!({
            "format": format, "papers": self.papers, "without_title": self.without_title, "with_abstract": self.with_abstract,
            "words": self.words, "sections": self.sections, "references": self.references, "identified": self.identified,
            "matched": self.matched, "pages": self.pages, "bytes": self.bytes, "seconds": self.time.as_secs_f64(),
            "slowest_seconds": self.slowest.as_secs_f64(),
        })
    }
}

/// A reference matched to a paper of a datastore.
#[derive(Debug, Clone, Serialize)]
pub struct MatchedReference {
    /// The reference as printed.
    pub reference: String,
    /// Identifier of the paper it was matched to.
    pub paper: String,
    /// Title of the paper it was matched to.
    pub title: String,
    /// `id`, `title`, `overlap` or `text`.
    pub by: String,
}

/// References matched to the papers of a datastore.
#[derive(Debug)]
pub struct ReferenceMatches<'a> {
    /// Name of the datastore.
    pub datastore: &'a str,
    /// Number of references, matched or not.
    pub references: usize,
    /// Those that were matched.
    pub matched: Vec<MatchedReference>,
    /// Wall-clock time for all references.
    pub time: Duration,
}

impl ReferenceMatches<'_> {
    fn count(&self, by: &str) -> usize {
        self.matched.iter().filter(|one| one.by == by).count()
    }

    fn markdown(&self) -> String {
        let Self { datastore, references, matched, time } = self;
        format!(
            "\n{} of {references} references are papers of `{datastore}` or of each other: {} by an identifier, {} by their \
             title, {} by nine words of ten with author and year, {} by title, author and year in their plain text. \
             {:.2} ms for each reference.\n",
            matched.len(),
            self.count("id"),
            self.count("title"),
            self.count("overlap"),
            self.count("text"),
            time.as_secs_f64() * 1e3 / (*references).max(1) as f64
        )
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "datastore": self.datastore, "references": self.references, "seconds": self.time.as_secs_f64(),
            "matched": self.matched,
        })
    }
}

/// What was measured of all inputs.
#[derive(Debug)]
pub struct FormatReport<'a> {
    /// The command that measured it.
    pub command: &'a str,
    /// The machine and the program's version.
    pub machine: &'a str,
    /// Inputs that were named.
    pub inputs: usize,
    /// Inputs that gave no paper.
    pub failed: usize,
    /// What was told of inputs, one line each.
    pub notices: Vec<&'a str>,
    /// By the format's name.
    pub formats: &'a BTreeMap<String, FormatSums>,
    /// With a datastore to match against.
    pub matches: Option<&'a ReferenceMatches<'a>>,
}

impl FormatReport<'_> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { command, machine, inputs, failed, notices: _, formats, matches } = self;
        let mut text = format!(
            "# Documents and libraries\n\nCommand: `{command}`\n\n\
             {inputs} inputs, {failed} of which gave no paper (each with its reason in the JSON). Machine: {machine}.\n\n\
             | format | papers | with abstract | without title | words each | sections each | references | that state an \
             identifier | pages | ms each | slowest s | MB/s |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for (name, row) in *formats {
            let each = |sum: usize| sum as f64 / row.papers.max(1) as f64;
            let seconds = row.time.as_secs_f64();
            let _infallible = writeln!(
                text,
                "| {name} | {} | {} | {} | {:.0} | {:.1} | {} | {} | {} | {:.1} | {:.2} | {:.1} |",
                row.papers,
                row.with_abstract,
                row.without_title,
                each(row.words),
                each(row.sections),
                row.references,
                row.identified,
                if row.pages == 0 { "–".to_owned() } else { row.pages.to_string() },
                seconds * 1e3 / row.papers.max(1) as f64,
                row.slowest.as_secs_f64(),
                row.bytes as f64 / 1e6 / seconds.max(1e-9),
            );
        }
        text.extend(matches.map(ReferenceMatches::markdown));
        text
    }

    /// The report as JSON of schema `openscholar.bench.formats/1`.
    pub fn json(&self) -> serde_json::Value {
        let formats = self.formats.iter().map(|(name, row)| row.json(name));
        serde_json::json!({
            "schema": "openscholar.bench.formats/1",
            "machine": self.machine,
            "inputs": self.inputs,
            "failed": self.failed,
            "notices": self.notices,
            "matching": self.matches.map(ReferenceMatches::json),
            "formats": formats.collect::<Vec<_>>(),
        })
    }
}
