//! Passages that were cut elsewhere and come with their vectors: one JSON line each, the vectors in `.npy` files.
//!
//! Rows of one paper follow each other. A row has `text`, and:
//!
//! | field | is |
//! |---|---|
//! | `paper`, `origin_id` or `corpus_id` | the paper: an identifier with prefix, or a corpus id |
//! | `id` | what `ids` names it by, when the vectors are in another order |
//! | `title`, `section` | as they are |
//!
//! The published OpenScholar datastore has `text`, `origin_id`, `id`, `shard_id`, `num_shards`; a row without
//! `origin_id` becomes a paper of its own, named after its shard and number.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use scholar_core::paper::{ABSTRACT_HEADING, SECTION_BREAK};
use scholar_core::{
    CharSpan, Encoder, Paper, PaperId, PaperMeta, Passage, PassageId, PassageKind, Section,
};
use serde_json::Value;

use crate::error::Error;
use crate::ingest::lines::{Line, Place};
use crate::ingest::{Limits, LineCounts, ReadOptions, broken_off, judge_share};
use crate::npy::Npy;
use crate::writer::add::AddRun;
use crate::writer::prepare::Prepared;
use crate::writer::{AddOptions, AddProgress, AddReport, DatastoreWriter};

/// Papers between two of which the first passage is encoded again and compared.
const CHECK_EVERY_PAPERS: u64 = 1_000;

/// A file of passages with the file of their vectors.
#[derive(Debug)]
pub struct PrecomputedPassages<'a> {
    /// A file of JSON lines, one passage each, passages of a paper one after the other.
    pub passages: &'a Path,
    /// One row for each passage.
    pub vectors: &'a Npy,
    /// Names of the rows of `vectors`, where they are not in the order of the passages.
    pub ids: Option<&'a Npy>,
}

/// A passage as read.
struct Row {
    paper: PaperId,
    title: String,
    section: String,
    text: String,
    vector: usize,
}

impl DatastoreWriter {
    /// Adds papers made of `given` passages with their vectors. The first passage of every thousandth paper is encoded
    /// with `encoder` and compared, so that vectors of another encoder do not get in unnoticed. A row that cannot be
    /// used is counted, written to the log of `options` and, like too many of them, treated as in files of papers.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`], [`Error::Vectors`] for a wrong dimension or vectors that are not those of their
    /// texts, [`Error::TooManyRejects`], or a failed read or write.
    pub fn add_precomputed(
        &mut self,
        given: &PrecomputedPassages<'_>,
        encoder: &dyn Encoder,
        options: &AddOptions,
        reading: &ReadOptions,
        progress: &mut dyn FnMut(&AddProgress) -> ControlFlow<()>,
    ) -> Result<AddReport, Error> {
        self.descriptor.check_encoder(&self.root, encoder.info())?;
        let (rows, dim) = given.vectors.shape();
        let need = self.descriptor.encoder.dim;
        if dim != need {
            let paper = given.vectors.path().display().to_string();
            return Err(Error::Vectors {
                paper,
                what: format!("length {dim} where {need} is needed"),
            });
        }
        let places = given.ids.map(|ids| places(ids, rows)).transpose()?;
        let mut lines = reading.lines(given.passages)?;
        let mut tally = Tally {
            path: given.passages,
            limits: reading.limits,
            read: 0,
            rejected: 0,
            first: None,
        };
        let mut work = AddRun::start(options, progress);
        let mut open: Vec<Row> = Vec::new();
        let mut number = 0;
        let mut interrupted = false;
        while let Some((place, line)) = lines
            .next_line()
            .map_err(|(place, source)| broken_off(given.passages, place.line, &source))?
        {
            tally.read += 1;
            let (text, row) = match line {
                Line::Text(text) => {
                    let row = row(&text, number, places.as_ref(), given);
                    (text, row)
                }
                Line::TooLong(head) => (head, Err("the line is too long".to_owned())),
            };
            number += 1;
            match row {
                Ok(row) => {
                    if open.last().is_some_and(|last| last.paper != row.paper) {
                        self.store_precomputed(
                            std::mem::take(&mut open),
                            given.vectors,
                            encoder,
                            &mut work,
                        )?;
                        if work.is_quiet() && work.report().is_break() {
                            interrupted = true;
                            break;
                        }
                    }
                    open.push(row);
                }
                Err(what) => tally.reject(place, what, &text, reading)?,
            }
        }
        if !interrupted {
            self.store_precomputed(open, given.vectors, encoder, &mut work)?;
            tally.judge()?;
        }
        self.finish(&mut work, interrupted)?;
        Ok(AddReport { progress: work.state, interrupted })
    }

    /// Stores the passages of one paper.
    fn store_precomputed(
        &mut self,
        rows: Vec<Row>,
        vectors: &Npy,
        encoder: &dyn Encoder,
        work: &mut AddRun<'_>,
    ) -> Result<(), Error> {
        let Some((paper, passages)) = assemble(&rows) else { return Ok(()) };
        let prepared = Prepared::uncut(paper, self.descriptor.rules)
            .map_err(|error| Error::corrupt(&self.root, error.to_string()))?;
        let Some(mut prepared) = self.admit(prepared, work)? else { return Ok(()) };
        prepared.put_passages(passages);
        let vectors: Vec<Vec<f32>> =
            rows.iter().map(|row| vectors.row(row.vector).unwrap_or_default()).collect();
        if work.state.papers_added.is_multiple_of(CHECK_EVERY_PAPERS) {
            self.check_sample(&prepared, &vectors, encoder)?;
        }
        self.store(&prepared, &vectors, &work.options.source)?;
        work.state.papers_added += 1;
        work.state.passages_added += prepared.passages.len() as u64;
        self.commit_when_due(work)
    }
}

/// Counts of a file's rows.
struct Tally<'a> {
    path: &'a Path,
    limits: Limits,
    read: u64,
    rejected: u64,
    first: Option<(u64, String)>,
}

impl Tally<'_> {
    fn reject(
        &mut self,
        place: Place,
        what: String,
        text: &[u8],
        reading: &ReadOptions,
    ) -> Result<(), Error> {
        self.rejected += 1;
        if let Some(log) = &reading.rejects {
            log.put(self.path, place.line, place.byte, &what, text)?;
        }
        self.first.get_or_insert((place.line, what));
        // Early enough to stop at the wrong file, late enough not to stop at one bad row.
        if self.read.is_multiple_of(1_000) { self.judge() } else { Ok(()) }
    }

    fn judge(&self) -> Result<(), Error> {
        let share = self.limits.rejected_share;
        let counts = LineCounts { rejected: self.rejected, all: self.read };
        judge_share(self.path, counts, share, self.first.as_ref())
    }
}

/// Row of the vectors by name.
fn places(ids: &Npy, rows: usize) -> Result<HashMap<i64, usize>, Error> {
    let (named, _) = ids.shape();
    if named != rows {
        let what = format!("{named} names for {rows} vectors");
        return Err(Error::Vectors { paper: ids.path().display().to_string(), what });
    }
    let mut places = HashMap::with_capacity(rows);
    for row in 0..rows {
        let wrong = |what: String| Error::corrupt(ids.path(), what);
        let id = ids.integer(row).ok_or_else(|| wrong("holds no integers".to_owned()))?;
        if places.insert(id, row).is_some() {
            return Err(wrong(format!("names {id} twice")));
        }
    }
    Ok(places)
}

fn row(
    text: &[u8],
    number: usize,
    places: Option<&HashMap<i64, usize>>,
    given: &PrecomputedPassages<'_>,
) -> Result<Row, String> {
    let row: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let string = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let integer = |key: &str| {
        let value = row.get(key)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    let text = string("text");
    if text.trim().is_empty() {
        return Err("no \"text\"".to_owned());
    }
    let vector = match places {
        None => number,
        Some(places) => {
            let id = integer("id").ok_or("no \"id\" that is a number")?;
            *places.get(&id).ok_or_else(|| format!("no vector is named {id}"))?
        }
    };
    let values = given.vectors.row(vector).ok_or_else(|| format!("there is no vector {vector}"))?;
    if !values.iter().all(|value| half::f16::from_f32(*value).is_finite()) {
        return Err(format!("vector {vector} is not finite"));
    }
    let corpus_id = integer("origin_id").or_else(|| integer("corpus_id"));
    let paper = match (row.get("paper").and_then(Value::as_str), corpus_id) {
        (Some(paper), _) => paper.parse().map_err(|_| format!("{paper:?} is not an identifier"))?,
        (None, Some(id)) => PaperId::CorpusId(id.try_into().map_err(|_| "a negative corpus id")?),
        (None, None) => {
            let shard = integer("shard_id").unwrap_or_default();
            let name = integer("id").map_or_else(|| number.to_string(), |id| id.to_string());
            PaperId::Local(format!("{shard}-{name}"))
        }
    };
    Ok(Row { paper, title: string("title"), section: string("section"), text, vector })
}

/// A paper whose sections are the given passages, so that each is an exact slice of its text.
fn assemble(rows: &[Row]) -> Option<(Paper, Vec<Passage>)> {
    let first = rows.first()?;
    let mut paper = Paper {
        meta: PaperMeta::new(first.paper.clone(), first.title.as_str()),
        sections: Vec::new(),
        references: Vec::new(),
        records: Vec::new(),
    };
    let mut passages = Vec::new();
    let mut start = 0;
    for (ordinal, row) in (0_u32..).zip(rows) {
        let end = start + row.text.chars().count();
        passages.push(Passage {
            id: PassageId { paper: first.paper.clone(), ordinal },
            title: first.title.clone(),
            section: row.section.clone(),
            kind: if row.section == ABSTRACT_HEADING {
                PassageKind::Abstract
            } else {
                PassageKind::Body
            },
            text: row.text.clone(),
            span: CharSpan::new(start, end),
            places: Vec::new(),
        });
        paper.sections.push(Section::new(row.section.clone(), row.text.clone()));
        start = end + SECTION_BREAK.len();
    }
    Some((paper, passages))
}
