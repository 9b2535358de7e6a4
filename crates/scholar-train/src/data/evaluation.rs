//! What models are measured on, so that nothing of it is trained on.
//!
//! A query or statement is evaluation's when it is the same text, when the two share a run of
//! [`SHINGLE_WORDS`] words, or when the content stems of the two overlap by [`NEAR`] (claims are shorter than a
//! shingle, and SciFact negates one claim into another). A passage is when it holds a run of an evaluation query. A
//! paper whose title evaluation judges is left out of everything made from papers. Labelled training sets that share
//! their corpus with an evaluation set (SciFact) may use its documents with their own, different claims; where a row's
//! document is judged for an evaluation query, that query is near or the same only if the rules above say so.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::DataError;
use super::lines::read_rows;
use super::wording::{SHINGLE_WORDS, hash, key, shingles, stems};

/// Overlap of content stems from which two short texts count as one. Ours: on SciFact it catches a claim beside its
/// negation, and claims of one wording about another molecule stay.
pub const NEAR: f64 = 0.6;

/// Longer texts are compared by shingles alone.
const NEAR_STEMS: usize = 40;

/// Fields that may hold what is asked, in the files of benchmarks.
const QUERY_FIELDS: [&str; 8] =
    ["text", "claim", "input", "question", "QUESTION", "query", "prompt", "initial_prompt"];

/// Fields of tasks that are papers: a related-work section is asked for by title and abstract.
const PAPER_FIELDS: [&str; 2] = ["title", "abstract"];

/// Why a row is evaluation's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    /// The same text after normalisation.
    Same,
    /// A run of 13 words in common.
    Shingle,
    /// Nearly the same content words.
    Near,
}

impl Conflict {
    /// Name of the rule, as reports and reject files say it.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Same => "evaluation: same text",
            Self::Shingle => "evaluation: 13 words in a row",
            Self::Near => "evaluation: nearly the same words",
        }
    }
}

/// Everything models are measured on.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    same: HashSet<u64>,
    runs: HashSet<u64>,
    sets: Vec<BTreeSet<String>>,
    by_stem: HashMap<String, Vec<usize>>,
    titles: HashSet<u64>,
    judged: BTreeMap<String, HashSet<String>>,
    files: Vec<PathBuf>,
}

impl Evaluation {
    /// Reads evaluation sets: a folder in BEIR layout, a file of JSON lines, or a folder that holds such, whose
    /// training splits (`train` in their names) are passed over.
    ///
    /// # Errors
    /// When a file cannot be read or has rows without any text to ask.
    pub fn read(&mut self, path: &Path) -> Result<(), DataError> {
        if path.is_file() {
            return self.read_file(path);
        }
        if path.join("queries.jsonl").is_file() {
            return self.read_collection(path);
        }
        let entries = fs_err::read_dir(path).map_err(|source| DataError::read(path, source))?;
        let mut entries: Vec<PathBuf> =
            entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let rows = entry.extension().is_some_and(|extension| extension == "jsonl");
            if !name.contains("train") && !name.contains("corpus") && (entry.is_dir() || rows) {
                self.read(&entry)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, path: &Path) -> Result<(), DataError> {
        let family = family(path);
        let rows = read_rows(path, 0.05, |row: &Value| {
            asked(row).next().map(|_| ()).ok_or_else(|| {
                format!("no field holds what is asked ({})", QUERY_FIELDS.join(", "))
            })
        });
        // Rubrics and the like ask nothing: they cannot leak through a query.
        let rows = match rows {
            Err(DataError::Rows { rejected, rows, .. }) if rejected == rows => return Ok(()),
            rows => rows?,
        };
        for row in rows.values() {
            for text in asked(&row) {
                self.add_query(text);
            }
            for id in row["cited_doc_ids"].as_array().into_iter().flatten() {
                let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
                self.judged.entry(family.clone()).or_default().insert(id);
            }
        }
        self.files.push(path.to_owned());
        Ok(())
    }

    fn read_collection(&mut self, folder: &Path) -> Result<(), DataError> {
        let family = family(folder);
        let queries = read_rows(&folder.join("queries.jsonl"), 0.0, |_: &Value| Ok(()))?;
        for row in queries.values() {
            for text in asked(&row).chain(row["title"].as_str()) {
                self.add_query(text);
            }
        }
        let path = folder.join("qrels.tsv");
        let qrels =
            fs_err::read_to_string(&path).map_err(|source| DataError::read(&path, source))?;
        let judged: HashSet<&str> =
            qrels.lines().filter_map(|line| line.split('\t').nth(1)).collect();
        let corpus = folder.join("corpus.jsonl");
        // A corpus that a training set shares is not left out by title: its documents are judged by number.
        if !has_training_sister(folder, &family) && exists(&corpus) {
            let rows = read_rows(&corpus, 0.01, |_: &Value| Ok(()))?;
            for row in rows.values() {
                let (id, title) = (row["_id"].as_str(), row["title"].as_str());
                if let (Some(id), Some(title)) = (id, title)
                    && judged.contains(id)
                {
                    self.add_title(title);
                }
            }
        }
        let known = self.judged.entry(family).or_default();
        known.extend(judged.into_iter().map(str::to_owned));
        self.files.push(folder.to_owned());
        Ok(())
    }

    /// Adds what is asked.
    pub fn add_query(&mut self, text: &str) {
        let text = without_markers(text);
        if !self.same.insert(hash([key(&text).as_str()])) {
            return;
        }
        self.runs.extend(shingles(&text, SHINGLE_WORDS));
        let stems = stems(&text);
        if stems.len() <= NEAR_STEMS {
            for stem in &stems {
                self.by_stem.entry(stem.clone()).or_default().push(self.sets.len());
            }
            self.sets.push(stems);
        }
    }

    /// Adds the title of a judged paper.
    pub fn add_title(&mut self, title: &str) {
        let title = key(title);
        if !title.is_empty() {
            self.titles.insert(hash([title.as_str()]));
        }
    }

    /// Why a query or statement may not be trained on.
    pub fn query(&self, text: &str) -> Option<Conflict> {
        if self.same.contains(&hash([key(text).as_str()])) {
            return Some(Conflict::Same);
        }
        if self.passage(text) {
            return Some(Conflict::Shingle);
        }
        let stems = stems(text);
        if stems.len() > NEAR_STEMS {
            return None;
        }
        let mut common: BTreeMap<usize, usize> = BTreeMap::new();
        for stem in &stems {
            for set in self.by_stem.get(stem).into_iter().flatten() {
                *common.entry(*set).or_default() += 1;
            }
        }
        let near = common.into_iter().any(|(set, common)| {
            let union = stems.len() + self.sets[set].len() - common;
            common as f64 >= NEAR * union as f64
        });
        near.then_some(Conflict::Near)
    }

    /// Whether a passage holds 13 words in a row of an evaluation query.
    pub fn passage(&self, text: &str) -> bool {
        shingles(text, SHINGLE_WORDS).iter().any(|run| self.runs.contains(run))
    }

    /// Whether a paper of that title is judged, or asked about.
    pub fn paper(&self, title: &str) -> bool {
        let title = hash([key(title).as_str()]);
        self.titles.contains(&title) || self.same.contains(&title)
    }

    /// Whether a document is judged for an evaluation query of its family (`scifact`).
    pub fn is_judged(&self, family: &str, id: &str) -> bool {
        self.judged.get(family).is_some_and(|ids| ids.contains(id))
    }

    /// How many different queries there are.
    pub fn len(&self) -> usize {
        self.same.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.same.is_empty()
    }

    /// The files and folders read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

/// What a row asks; of a task that is a paper itself, its title and abstract.
fn asked(row: &Value) -> impl Iterator<Item = &str> {
    let texts = move |fields: &'static [&'static str]| {
        fields
            .iter()
            .filter_map(move |field| row[*field].as_str())
            .filter(|text| !text.trim().is_empty())
    };
    let is_paper = texts(&QUERY_FIELDS).next().is_none();
    texts(if is_paper { &PAPER_FIELDS } else { &QUERY_FIELDS })
}

/// `<|cit|>` and its kin, which stand where citations stood.
pub(super) fn without_markers(text: &str) -> String {
    ["<|multi_cit|>", "<|other_cit|>", "<|cit|>", " []", "[]", " ()", "()"]
        .iter()
        .fold(text.to_owned(), |text, mark| text.replace(mark, ""))
}

/// `scifact` of `scifact_test300` and of `claimcheck_scifact_dev.jsonl`.
fn family(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_prefix("claimcheck_").unwrap_or(&name);
    name.rsplit_once('_').map_or(name, |(family, _)| family).to_owned()
}

fn has_training_sister(folder: &Path, own: &str) -> bool {
    let Some(Ok(mut beside)) = folder.parent().map(fs_err::read_dir) else { return false };
    beside.any(|entry| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.contains("_train") && family(Path::new(&name)) == own
        })
    })
}

fn exists(path: &Path) -> bool {
    path.is_file() || path.with_extension("jsonl.gz").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str =
        "we test whether a pinch of salt added before the boiling of fresh water shortens the time";

    fn evaluation() -> Evaluation {
        let mut evaluation = Evaluation::default();
        evaluation.add_query("0-dimensional biomaterials show inductive properties.");
        evaluation.add_query(LONG);
        evaluation.add_title("Bone Marrow and its Stem Cells");
        evaluation
    }

    #[test]
    fn the_same_claim_its_negation_and_its_quotation_are_found() {
        let evaluation = evaluation();
        assert_eq!(
            evaluation.query("0-Dimensional biomaterials show inductive properties"),
            Some(Conflict::Same)
        );
        assert_eq!(
            evaluation.query("0-dimensional biomaterials lack inductive properties."),
            Some(Conflict::Near)
        );
        let quoted = format!("As others ask, {LONG} it takes.");
        assert_eq!(evaluation.query(&quoted), Some(Conflict::Shingle));
        assert!(evaluation.passage(&quoted));
        assert_eq!(evaluation.query("3-dimensional printing shows promise"), None);
        assert!(evaluation.paper("Bone marrow and its stem cells."));
        assert!(!evaluation.paper("Bone marrow"));
    }

    #[test]
    fn folders_are_read_without_their_training_splits() {
        let root = tempfile::tempdir().expect("temp dir");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs_err::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs_err::write(path, text).expect("written");
        };
        write(
            "retrieval/facts_test3/queries.jsonl",
            "{\"_id\":\"1\",\"text\":\"Does tea help?\"}\n",
        );
        write("retrieval/facts_test3/qrels.tsv", "query-id\tcorpus-id\tscore\n1\t77\t1\n");
        write("retrieval/facts_test3/corpus.jsonl", "{\"_id\":\"77\",\"title\":\"On tea\"}\n");
        write(
            "retrieval/facts_train9/queries.jsonl",
            "{\"_id\":\"1\",\"text\":\"Is rice good?\"}\n",
        );
        write("retrieval/other/queries.jsonl", "{\"_id\":\"1\",\"text\":\"dark matter halos\"}\n");
        write("retrieval/other/qrels.tsv", "1\td1\t0\n");
        write("retrieval/other/corpus.jsonl", "{\"_id\":\"d1\",\"title\":\"Halos of galaxies\"}\n");
        write(
            "tasks.jsonl",
            "{\"title\":\"A paper on related work\",\"abstract\":\"We relate.\"}\n",
        );
        write(
            "claims/claimcheck_facts_dev.jsonl",
            "{\"claim\":\"Coffee wakes<|cit|>.\",\"cited_doc_ids\":[5]}\n",
        );
        let mut evaluation = Evaluation::default();
        evaluation.read(root.path()).expect("read");
        assert_eq!(evaluation.len(), 5);
        assert!(evaluation.paper("A Paper on Related Work"));
        assert_eq!(evaluation.query("does tea help"), Some(Conflict::Same));
        assert_eq!(evaluation.query("Coffee wakes."), Some(Conflict::Same));
        assert_eq!(evaluation.query("Is rice good?"), None);
        assert!(evaluation.is_judged("facts", "77") && evaluation.is_judged("facts", "5"));
        assert!(evaluation.paper("halos of galaxies") && !evaluation.paper("On tea"));
    }
}
