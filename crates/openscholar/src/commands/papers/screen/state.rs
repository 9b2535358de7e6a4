//! The folder of a screening: `decisions.jsonl`, to which every decision is appended when it is made.
//!
//! The last line about a paper counts, the program's and the person's apart. A line that was cut off by a full disk or a killed
//! process is dropped when the folder is opened again; everything before it is whole.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use scholar_core::PaperId;
use scholar_core::text::whole_lines;
use scholar_pipeline::screen::{Basis, Criteria, CriterionDecision, PaperDecision, PersonDecision};
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, Context as _};
use crate::private;

/// Name of the file of decisions.
const DECISIONS_FILE: &str = "decisions.jsonl";
/// Name of the file that the process at work holds.
const LOCK_FILE: &str = "lock";
/// Largest file of decisions in bytes.
const LARGEST: usize = 4 << 30;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
enum Line {
    Program {
        at: String,
        #[serde(flatten)]
        decision: PaperDecision,
    },
    Person {
        at: String,
        #[serde(flatten)]
        decision: PersonDecision,
    },
}

/// The last decisions on each paper.
#[derive(Default)]
struct Decided {
    program: BTreeMap<PaperId, PaperDecision>,
    person: BTreeMap<PaperId, PersonDecision>,
}

impl Decided {
    /// From the lines of the file at `path`.
    fn read(whole: &[u8], path: &Path) -> Result<Self, CommandError> {
        let text =
            std::str::from_utf8(whole).user(|| format!("{} is not UTF-8", path.display()))?;
        let mut decided = Self::default();
        for (at, line) in text.lines().enumerate() {
            let line: Line = serde_json::from_str(line)
                .user(|| format!("{}:{} is no decision", path.display(), at + 1))
                .map_err(|error| error.with_hint("repair or remove that line"))?;
            match line {
                Line::Program { at: _, decision } => {
                    decided.program.insert(decision.paper.clone(), decision);
                }
                Line::Person { at: _, decision } => {
                    decided.person.insert(decision.paper.clone(), decision);
                }
            }
        }
        Ok(decided)
    }
}

/// What people decided in a folder, which another may be at work in.
pub(crate) fn of_people(folder: &Path) -> Result<BTreeMap<PaperId, PersonDecision>, CommandError> {
    let path = folder.join(DECISIONS_FILE);
    match scholar_datastore::files::read(&path, LARGEST) {
        Ok(bytes) => Ok(Decided::read(whole_lines(&bytes), &path)?.person),
        Err(error) if error.is_absent() => Ok(BTreeMap::new()),
        Err(error) => Err(error.into()),
    }
}

/// An open folder.
pub(crate) struct State {
    path: PathBuf,
    file: fs_err::File,
    program: BTreeMap<PaperId, PaperDecision>,
    person: BTreeMap<PaperId, PersonDecision>,
    _lock: fs_err::File,
}

impl State {
    /// Opens the folder and creates it where it is missing.
    pub(crate) fn open(folder: &Path) -> Result<Self, CommandError> {
        let unwritable = |source| CommandError::unwritable(folder, source);
        private::create_missing(folder).map_err(unwritable)?;
        let lock = private::create(&folder.join(LOCK_FILE)).map_err(unwritable)?;
        // Where a file system knows no locks nobody sees that the folder is in use.
        if let Err(std::fs::TryLockError::WouldBlock) = lock.file().try_lock() {
            return Err(CommandError::user(format!(
                "another process screens in {}",
                folder.display()
            ))
            .with_hint("wait for it, or pass --out DIR with another folder"));
        }
        let path = folder.join(DECISIONS_FILE);
        let mut file = private::append(&path).map_err(unwritable)?;
        let bytes = scholar_datastore::files::read(&path, LARGEST)?;
        let whole = whole_lines(&bytes);
        if whole.len() < bytes.len() {
            file.set_len(whole.len() as u64).map_err(unwritable)?;
            file.flush().map_err(unwritable)?;
        }
        let Decided { program, person } = Decided::read(whole, &path)?;
        Ok(Self { path, file, program, person, _lock: lock })
    }

    /// What the program decided last on a paper.
    pub(super) fn program(&self, paper: &PaperId) -> Option<&PaperDecision> {
        self.program.get(paper)
    }

    /// What a person decided last on a paper.
    pub(crate) fn person(&self, paper: &PaperId) -> Option<&PersonDecision> {
        self.person.get(paper)
    }

    /// Keeps a decision of the program.
    pub(super) fn keep_program(
        &mut self,
        at: String,
        decision: PaperDecision,
    ) -> Result<(), CommandError> {
        self.append(&Line::Program { at, decision: decision.clone() })?;
        self.program.insert(decision.paper.clone(), decision);
        Ok(())
    }

    /// Keeps a decision of a person.
    pub(crate) fn keep_person(
        &mut self,
        at: String,
        decision: PersonDecision,
    ) -> Result<(), CommandError> {
        self.append(&Line::Person { at, decision: decision.clone() })?;
        self.person.insert(decision.paper.clone(), decision);
        Ok(())
    }

    fn append(&mut self, line: &Line) -> Result<(), CommandError> {
        let mut text = serde_json::to_string(line).user(|| "cannot write JSON".to_owned())?;
        text.push('\n');
        let folder = self.path.parent().unwrap_or(Path::new(".")).to_owned();
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.flush())
            .map_err(|source| CommandError::unwritable(&folder, source))
    }

    /// The decisions on single criteria that still hold for a paper with this text, decided by `method`, one for each criterion;
    /// `None` where there is none: another text, another method, another criterion, or no verdict last time.
    pub(super) fn known(
        &self,
        paper: &PaperId,
        text_digest: &str,
        method: &str,
        criteria: &Criteria,
    ) -> Vec<Option<CriterionDecision>> {
        let decided = self
            .program(paper)
            .filter(|known| known.text_digest == text_digest && known.method == method);
        let holds = |criterion: &scholar_pipeline::screen::Criterion| {
            let digest = criterion.digest();
            let known = decided?.criteria.iter().find(|known| known.digest == digest)?;
            let known = CriterionDecision { criterion: criterion.id.clone(), ..known.clone() };
            (known.basis != Basis::NoVerdict).then_some(known)
        };
        criteria.criteria.iter().map(holds).collect()
    }
}

#[cfg(test)]
mod tests {
    use scholar_pipeline::screen::{Criterion, CriterionKind, Decision, Finding};

    use super::*;

    fn criterion(id: &str, text: &str) -> Criterion {
        Criterion { id: id.to_owned(), text: text.to_owned(), kind: CriterionKind::Include }
    }

    fn decided(paper: u64, of: &Criteria) -> PaperDecision {
        let decision = |criterion: &Criterion| CriterionDecision {
            criterion: criterion.id.clone(),
            digest: criterion.digest(),
            decision: Decision::Include,
            finding: Finding::Met,
            basis: Basis::Stated,
            score: 0.875,
            quote: None,
            signs: None,
        };
        let criteria = of.criteria.iter().map(decision).collect();
        PaperDecision::new(PaperId::Pmid(paper), "t".to_owned(), "m", criteria, of)
    }

    #[test]
    fn decisions_are_read_back_and_a_cut_line_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let criteria = Criteria { title: "x".to_owned(), criteria: vec![criterion("a", "one")] };
        let mut state = State::open(folder.path()).expect("created");
        state.keep_program("2026".to_owned(), decided(1, &criteria)).expect("kept");
        let by_hand = PersonDecision {
            paper: PaperId::Pmid(1),
            decision: Decision::Exclude,
            reason: Some("animals".to_owned()),
        };
        state.keep_person("2026".to_owned(), by_hand.clone()).expect("kept");
        assert!(State::open(folder.path()).is_err(), "one process at a time");
        drop(state);
        let path = folder.path().join(DECISIONS_FILE);
        let whole = fs_err::read_to_string(&path).expect("there");
        fs_err::write(&path, format!("{whole}{{\"by\": \"pro")).expect("written");
        let state = State::open(folder.path()).expect("the cut line is dropped");
        assert_eq!(state.program(&PaperId::Pmid(1)), Some(&decided(1, &criteria)));
        assert_eq!(state.person(&PaperId::Pmid(1)), Some(&by_hand));
        assert_eq!(fs_err::read_to_string(&path).expect("there"), whole);
        drop(state);
        fs_err::write(&path, format!("{whole}nonsense\n")).expect("written");
        let error = State::open(folder.path()).err().expect("a damaged line is told");
        assert!(error.to_string().contains(":3 is no decision"), "{error}");
    }

    #[test]
    fn only_what_changed_is_decided_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |texts: &[(&str, &str)]| Criteria {
            title: "x".to_owned(),
            criteria: texts.iter().map(|(id, text)| criterion(id, text)).collect(),
        };
        let before = of(&[("a", "one"), ("b", "two")]);
        let mut state = State::open(folder.path()).expect("created");
        state.keep_program("2026".to_owned(), decided(1, &before)).expect("kept");
        let known = |criteria: &Criteria, text: &str, method: &str| -> Vec<bool> {
            let known = state.known(&PaperId::Pmid(1), text, method, criteria);
            known.iter().map(Option::is_some).collect()
        };
        let after = of(&[("a", "one, reworded"), ("renamed", "two"), ("c", "three")]);
        assert_eq!(known(&before, "t", "m"), [true, true]);
        assert_eq!(known(&after, "t", "m"), [false, true, false]);
        assert_eq!(known(&before, "other text", "m"), [false, false]);
        assert_eq!(known(&before, "t", "other method"), [false, false]);
    }
}
