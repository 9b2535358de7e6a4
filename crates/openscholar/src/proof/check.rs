//! Checks a run folder: everything that follows from its journal is made again and compared with what lies there.

use std::collections::BTreeMap;

use scholar_core::Answer;
use scholar_pipeline::Outcome;
use scholar_pipeline::proof::canonical::digest;
use scholar_pipeline::proof::{
    Difference, DifferenceKind, ProofFile, ProofReport, Sources, compare_answers, compare_lines,
    compare_values, verify_proof,
};
use scholar_pipeline::record::Journal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::derive::{self, BOUND_FILES, Facts, Recorded, Replay};
use crate::error::{CommandError, Context as _};
use crate::output::document::AnswerDocument;
use crate::runs::{
    ANSWER_FILE, EVENTS_FILE, JOURNAL_FILE, MARKDOWN_FILE, PROOF_FILE, REVIEW_FILE, RUN_FILE,
    RunFolder, RunRecord, RunStatus,
};

/// Fields of an answer that [`compare_answers`] names better than their paths do.
const ANSWER_FIELDS: [&str; 5] = ["question", "mode", "abstained", "sentences", "references"];

/// Most differences of one file that are told.
const MOST_TOLD: usize = 50;

/// The files of a run, by name; one that is absent is left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunFiles(pub(crate) BTreeMap<String, Vec<u8>>);

impl RunFiles {
    /// Reads what a check needs.
    pub(crate) fn read(folder: &RunFolder) -> Result<Self, CommandError> {
        let mut files = BTreeMap::new();
        for name in [RUN_FILE, ANSWER_FILE, MARKDOWN_FILE, PROOF_FILE].iter().chain(&BOUND_FILES) {
            if let Some(bytes) = folder.bytes(name)? {
                files.insert((*name).to_owned(), bytes);
            }
        }
        Ok(Self(files))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// A file that must be there, as text.
    fn text(&self, name: &str) -> Result<&str, CommandError> {
        let bytes = self.get(name).ok_or_else(|| {
            CommandError::user(format!("the run has no {name}"))
                .with_hint("it may have been interrupted: openscholar runs list shows its status")
        })?;
        std::str::from_utf8(bytes).user(|| format!("{name} of the run is damaged"))
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, CommandError> {
        serde_json::from_str(self.text(name)?).user(|| format!("{name} of the run is damaged"))
    }

    pub(crate) fn record(&self) -> Result<RunRecord, CommandError> {
        let record: RunRecord = self.json(RUN_FILE)?;
        if record.status != RunStatus::Done && self.get(PROOF_FILE).is_none() {
            let id = &record.id;
            return Err(CommandError::user(format!("run {id} did not end: it has no proof"))
                .with_hint(format!("openscholar ask --resume {id}")));
        }
        Ok(record)
    }

    pub(crate) fn journal(&self) -> Result<Journal, CommandError> {
        Journal::from_json_lines(self.text(JOURNAL_FILE)?)
            .user(|| format!("{JOURNAL_FILE} of the run cannot be used"))
            .map_err(|error| error.with_hint("remove the damaged line, or ask again"))
    }
}

/// What is wrong with the files of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub(crate) enum FileProblem {
    /// A file differs from what was derived.
    Differs {
        /// Its name in the run folder.
        file: String,
        /// In what.
        #[serde(flatten)]
        difference: Difference,
    },
    /// A file is not there.
    Missing {
        /// Its name in the run folder.
        file: String,
    },
    /// More differences than are told.
    MoreDifferences {
        /// Its name in the run folder.
        file: String,
        /// How many more.
        count: usize,
    },
    /// A file says the same in another notation: repeated or reordered keys, other escapes.
    Rewritten {
        /// Its name in the run folder.
        file: String,
    },
    /// A digest in the proof is not that of what it names.
    DigestDiffers {
        /// Of what.
        of: String,
    },
    /// The answer cannot be derived again.
    NotReplayed {
        /// The reason, for people.
        why: String,
    },
    /// The proof's record of clock and wallet cannot be read.
    RecordDamaged {
        /// The reason, for people.
        why: String,
    },
}

/// What is no failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "remark", rename_all = "snake_case")]
pub(crate) enum FileRemark {
    /// Only white space between values differs.
    WhiteSpace {
        /// In which file.
        file: String,
    },
    /// The words are the same; the version of the program that wrote it set them otherwise.
    SetOtherwise {
        /// Its name in the run folder.
        file: String,
    },
    /// The answer of a run that is not bound cannot be derived again.
    NotReplayed {
        /// The reason, for people.
        why: String,
    },
}

/// What a check of a run's files found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Checked {
    /// Whether answer, references, quotations and verdicts are bound together; runs of earlier versions are not.
    pub(crate) bound: bool,
    /// Whether the answer was derived again from the journal.
    pub(crate) derived: bool,
    /// What the proof says by itself and against its sources.
    pub(crate) report: ProofReport,
    /// What is wrong with the files.
    pub(crate) files: Vec<FileProblem>,
    /// What else there is to say of them.
    pub(crate) file_remarks: Vec<FileRemark>,
}

impl Checked {
    /// Whether everything holds.
    pub(crate) fn holds(&self) -> bool {
        self.report.holds() && self.files.is_empty()
    }
}

/// Checks the files of a run; `sources` is the datastore, where it is there.
///
/// # Errors
/// When a file that everything rests on cannot be read, or the datastore.
pub(crate) async fn check(
    files: &RunFiles,
    sources: Option<Sources<'_>>,
) -> Result<Checked, CommandError> {
    let record = files.record()?;
    let proof: ProofFile = files.json(PROOF_FILE)?;
    let document: AnswerDocument = files.json(ANSWER_FILE)?;
    let report = verify_proof(&proof, sources).await?;
    let replayed = match files.journal() {
        Ok(journal) => derive::replay(&record, &journal).await,
        Err(error) => Err(error),
    };
    let mut check = Check {
        files,
        record: &record,
        proof: &proof,
        document: &document,
        problems: Vec::new(),
        remarks: Vec::new(),
    };
    let derived = replayed.is_ok();
    match (replayed, proof.is_bound()) {
        (Ok(replay), true) => check.bound(replay)?,
        (Ok(replay), false) => check.unbound(&replay.outcome)?,
        (Err(why), true) => {
            check.problems.push(FileProblem::NotReplayed { why: told(&why) });
            check.without_journal()?;
        }
        (Err(why), false) => {
            check.remarks.push(FileRemark::NotReplayed { why: told(&why) });
            check.unbound_proof();
            check.markdown(&derive::markdown_of(&document));
        }
    }
    let Check { problems, remarks, .. } = check;
    let bound = proof.is_bound();
    Ok(Checked { bound, derived, report, files: problems, file_remarks: remarks })
}

/// An error with what caused it, in one line.
fn told(error: &CommandError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}

struct Check<'a> {
    files: &'a RunFiles,
    record: &'a RunRecord,
    proof: &'a ProofFile,
    document: &'a AnswerDocument,
    problems: Vec<FileProblem>,
    remarks: Vec<FileRemark>,
}

impl Check<'_> {
    /// Everything is made again and compared.
    fn bound(&mut self, replay: Replay) -> Result<(), CommandError> {
        let Replay { outcome, review } = replay;
        let recorded: Recorded = match serde_json::from_value(self.proof.recorded.clone()) {
            Ok(recorded) => recorded,
            Err(error) => {
                self.problems.push(FileProblem::RecordDamaged { why: error.to_string() });
                Recorded::of_document(self.document, &outcome.notices)
            }
        };
        let Outcome { value, notices, trace, spent: _ } = outcome;
        let expected = recorded.document(value, &notices, &self.record.id);
        let facts = Facts {
            record: self.record,
            commit: self.proof.datastore.as_ref().map(|datastore| datastore.commit),
            recorded,
            files: derive::file_digests(|name| self.files.get(name)),
        };
        let derived = derive::files(&expected, &trace, facts)?;
        self.differences(ANSWER_FILE, compare_answers(&expected.answer, &self.document.answer));
        if let Some(answer) = self.proof.answer() {
            self.differences(PROOF_FILE, compare_answers(&expected.answer, &answer));
        }
        self.json(ANSWER_FILE, &derived.answer_json)?;
        self.json(PROOF_FILE, &derived.proof_json)?;
        self.markdown(&derived.answer_md);
        let events = derive::events_of(&trace).user(|| "cannot write the events".to_owned())?;
        self.text(EVENTS_FILE, &events);
        if let Some(review) = review {
            let review = derive::pretty(&derive::review_of(review, &expected));
            self.json(REVIEW_FILE, &review.user(|| "cannot write the review".to_owned())?)?;
        }
        Ok(())
    }

    /// What the proof alone says of the other files.
    fn without_journal(&mut self) -> Result<(), CommandError> {
        if let Some(answer) = self.proof.answer() {
            self.differences(ANSWER_FILE, compare_answers(&answer, &self.document.answer));
        }
        self.markdown(&derive::markdown_of(self.document));
        let Some(digests) = self.proof.digests.clone() else { return Ok(()) };
        let document: Value = self.files.json(ANSWER_FILE)?;
        let files = derive::file_digests(|name| self.files.get(name));
        let all = [
            (ANSWER_FILE, digest(&document).ok(), Some(digests.answer)),
            ("the settings", digest(&self.record.config).ok(), Some(digests.settings)),
        ];
        let others = BOUND_FILES
            .map(|name| (name, files.get(name).cloned(), digests.files.get(name).cloned()));
        for (of, now, stored) in all.into_iter().chain(others) {
            if now != stored {
                self.problems.push(FileProblem::DigestDiffers { of: of.to_owned() });
            }
        }
        Ok(())
    }

    /// A run of an earlier version: its answer is derived again, its proof has nothing to compare with but the answer.
    fn unbound(&mut self, outcome: &Outcome<Answer>) -> Result<(), CommandError> {
        let recorded = Recorded::of_document(self.document, &outcome.notices);
        let notices = &outcome.notices;
        let expected = recorded.document(outcome.value.clone(), notices, &self.record.id);
        self.differences(ANSWER_FILE, compare_answers(&expected.answer, &self.document.answer));
        let expected_json =
            derive::pretty(&expected).user(|| "cannot write the answer".to_owned())?;
        self.json(ANSWER_FILE, &expected_json)?;
        self.unbound_proof();
        self.markdown(&derive::markdown_of(&expected));
        Ok(())
    }

    /// The sentences of a proof that is not bound beside those of the answer.
    fn unbound_proof(&mut self) {
        let answer = &self.document.answer;
        let cited = |one: &&scholar_core::AnswerSentence| {
            !one.citations.is_empty() || one.support.is_some()
        };
        // What its schema does not have is taken from the answer.
        let sentences = self.proof.sentences.iter().map(|one| {
            let shown = answer.sentences.get(one.index).cloned();
            let proven = one.sentence();
            match shown {
                Some(shown) => scholar_core::AnswerSentence {
                    text: proven.text,
                    quotes: proven.quotes,
                    support: proven.support,
                    gates: proven.gates,
                    ..shown
                },
                None => proven,
            }
        });
        let proven = Answer {
            question: self.proof.question.clone(),
            sentences: sentences.collect(),
            references: self.proof.references.clone(),
            ..answer.clone()
        };
        let shown = Answer {
            sentences: answer.sentences.iter().filter(cited).cloned().collect(),
            ..answer.clone()
        };
        self.differences(PROOF_FILE, compare_answers(&shown, &proven));
    }

    /// A JSON file against its derived text: values, then notation.
    fn json(&mut self, file: &str, expected: &str) -> Result<(), CommandError> {
        let found = self.files.text(file)?;
        if found == expected {
            return Ok(());
        }
        let found_value: Value = self.files.json(file)?;
        let expected_value: Value =
            serde_json::from_str(expected).user(|| format!("cannot read {file}"))?;
        if found_value == expected_value {
            let file = file.to_owned();
            if without_space(found) == without_space(expected) {
                self.remarks.push(FileRemark::WhiteSpace { file });
            } else {
                self.problems.push(FileProblem::Rewritten { file });
            }
            return Ok(());
        }
        let named = self.problems.iter().any(
            |problem| matches!(problem, FileProblem::Differs { file: named, .. } if named == file),
        );
        let mut differences = Vec::new();
        compare_values("", &expected_value, &found_value, &mut differences);
        let rest = |one: &Difference| {
            let field = one.place.split(['.', '[']).next().unwrap_or_default();
            !(named && ANSWER_FIELDS.contains(&field))
        };
        differences.retain(rest);
        self.differences(file, differences);
        Ok(())
    }

    fn markdown(&mut self, expected: &str) {
        let file = MARKDOWN_FILE;
        let found = self.files.get(file).map(String::from_utf8_lossy);
        // Another version may set the same words otherwise, for example escape more.
        let same_version =
            self.proof.is_bound() && self.record.version == env!("CARGO_PKG_VERSION");
        let same_words = |found: &str| found != expected && words(found) == words(expected);
        if !same_version && found.is_some_and(|found| same_words(&found)) {
            self.remarks.push(FileRemark::SetOtherwise { file: file.to_owned() });
        } else {
            self.text(file, expected);
        }
    }

    /// A file of text, byte for byte.
    fn text(&mut self, file: &str, expected: &str) {
        let Some(found) = self.files.get(file) else {
            self.problems.push(FileProblem::Missing { file: file.to_owned() });
            return;
        };
        if found == expected.as_bytes() {
            return;
        }
        let mut lines = compare_lines(expected, &String::from_utf8_lossy(found));
        if lines.is_empty() {
            // Bytes that are no text can look like the very characters that stand for such bytes.
            lines.push(Difference {
                kind: DifferenceKind::LineChanged,
                place: "bytes that are not UTF-8".to_owned(),
                expected: None,
                found: None,
            });
        }
        self.differences(file, lines);
    }

    fn differences(&mut self, file: &str, differences: Vec<Difference>) {
        let count = differences.len().saturating_sub(MOST_TOLD);
        let file = file.to_owned();
        self.problems.extend(
            differences
                .into_iter()
                .take(MOST_TOLD)
                .map(|difference| FileProblem::Differs { file: file.clone(), difference }),
        );
        if count > 0 {
            self.problems.push(FileProblem::MoreDifferences { file, count });
        }
    }
}

/// The letters and digits of a text, in words.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// JSON without the white space between its tokens.
fn without_space(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    json.chars()
        .filter(|c| {
            if inside {
                inside = escaped || *c != '"';
                escaped = !escaped && *c == '\\';
                return true;
            }
            inside = *c == '"';
            !matches!(c, ' ' | '\n' | '\r' | '\t')
        })
        .collect()
}

#[cfg(test)]
mod tests;
