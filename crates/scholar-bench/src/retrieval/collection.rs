//! A BEIR-style folder: `queries.jsonl`, `qrels.tsv`, and a corpus beside it or in a sister folder.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use scholar_core::{PaperId, Query};
use serde::Deserialize;

use super::metrics::Grades;

/// Why a collection cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// File or folder that was to be read.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// A line has another form than promised.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// Path of `queries.jsonl` or `qrels.tsv`.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// There is no such folder.
    #[error("{} is not a folder", path.display())]
    NoFolder {
        /// Path that was named as a collection.
        path: PathBuf,
    },
    /// No corpus here and none in a sister folder.
    #[error("{} has no corpus.jsonl, and neither has any folder of the same name next to it", path.display())]
    NoCorpus {
        /// Folder of the collection.
        path: PathBuf,
    },
    /// No query has a relevant document.
    #[error("{} has no query with a relevant document", path.display())]
    NoQueries {
        /// Folder of the collection.
        path: PathBuf,
    },
}

impl CollectionError {
    /// The next step for a person, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Read { .. } | Self::NoFolder { .. } | Self::NoCorpus { .. } => Some(
                "a folder in BEIR layout consists of corpus.jsonl (or .jsonl.gz, .jsonl.zst), queries.jsonl and qrels.tsv",
            ),
            Self::Line { .. } | Self::NoQueries { .. } => None,
        }
    }
}

/// A query of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchQuery {
    /// Its name in the judgements.
    pub id: String,
    /// Text that is searched for; not empty.
    pub query: Query,
}

/// Queries and judgements of a collection, and where its documents are.
#[derive(Debug, Clone)]
pub struct Collection {
    /// Name of the folder.
    pub name: String,
    /// File of documents (`_id`, `title`, `text`), perhaps compressed.
    pub corpus: PathBuf,
    /// Queries with at least one relevant document, in file order.
    pub queries: Vec<BenchQuery>,
    /// Relevance grades by name of the query.
    pub grades: BTreeMap<String, Grades>,
    /// Queries left out because nothing is relevant to them.
    pub left_out: usize,
}

#[derive(Deserialize)]
struct QueryRow {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

const CORPUS_NAMES: [&str; 3] = ["corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst"];

impl Collection {
    /// Reads the folder. Without a corpus of its own it uses that of a folder beside it whose name agrees up to the
    /// last underscore (`scifact_train809` uses `scifact_test300`).
    ///
    /// # Errors
    /// [`CollectionError`], naming file and line.
    pub fn load(folder: &Path) -> Result<Self, CollectionError> {
        if !folder.is_dir() {
            return Err(CollectionError::NoFolder { path: folder.to_owned() });
        }
        // `.` and `..` have names too.
        let whole = fs_err::canonicalize(folder)
            .map_err(|source| CollectionError::Read { path: folder.to_owned(), source })?;
        let name = folder.file_name().or(whole.file_name());
        let name = name
            .map_or_else(|| "collection".to_owned(), |name| name.to_string_lossy().into_owned());
        let corpus = find_corpus(folder, &name)?;
        let grades = read_grades(&folder.join("qrels.tsv"))?;
        let all = read_queries(&folder.join("queries.jsonl"))?;
        let total = all.len();
        let queries: Vec<BenchQuery> = all
            .into_iter()
            .filter(|query| {
                grades.get(&query.id).is_some_and(|grades| grades.values().any(|grade| *grade > 0))
            })
            .collect();
        if queries.is_empty() {
            return Err(CollectionError::NoQueries { path: folder.to_owned() });
        }
        let left_out = total - queries.len();
        Ok(Self { name, corpus, queries, grades, left_out })
    }
}

/// Name of a document in the judgements, from the identifier its paper was stored under.
pub fn document_name(id: &PaperId) -> String {
    match id {
        PaperId::Local(name) => name.clone(),
        other => other.to_string(),
    }
}

fn find_corpus(folder: &Path, name: &str) -> Result<PathBuf, CollectionError> {
    let in_folder = |folder: &Path| {
        CORPUS_NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    };
    if let Some(corpus) = in_folder(folder) {
        return Ok(corpus);
    }
    let missing = || CollectionError::NoCorpus { path: folder.to_owned() };
    let (family, _) = name.rsplit_once('_').ok_or_else(missing)?;
    let beside = folder.parent().ok_or_else(missing)?;
    // The parent of a bare name is empty, which is no folder that could be listed.
    let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
    let entries = fs_err::read_dir(beside)
        .map_err(|source| CollectionError::Read { path: beside.to_owned(), source })?;
    let mut sisters: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name.rsplit_once('_'))
                .is_some_and(|(other, _)| other == family)
        })
        .collect();
    sisters.sort();
    sisters.iter().find_map(|sister| in_folder(sister)).ok_or_else(missing)
}

fn read(path: &Path) -> Result<String, CollectionError> {
    fs_err::read_to_string(path)
        .map_err(|source| CollectionError::Read { path: path.to_owned(), source })
}

fn wrong(path: &Path, index: usize, what: impl ToString) -> CollectionError {
    CollectionError::Line { path: path.to_owned(), line: index + 1, what: what.to_string() }
}

fn read_queries(path: &Path) -> Result<Vec<BenchQuery>, CollectionError> {
    let mut queries = Vec::new();
    for (index, line) in read(path)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let QueryRow { id, text } =
            serde_json::from_str(line).map_err(|error| wrong(path, index, error))?;
        let query = Query::new(&text).ok_or_else(|| wrong(path, index, "the text is empty"))?;
        queries.push(BenchQuery { id, query });
    }
    Ok(queries)
}

/// `query-id corpus-id score`, separated by tabs, with or without a header.
fn read_grades(path: &Path) -> Result<BTreeMap<String, Grades>, CollectionError> {
    let mut grades: BTreeMap<String, Grades> = BTreeMap::new();
    for (index, line) in read(path)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let [query, document, grade] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(wrong(path, index, "not three columns separated by tabs"));
        };
        let Ok(grade) = grade.trim().parse() else {
            if index == 0 {
                continue;
            }
            return Err(wrong(path, index, format!("{grade:?} is not a grade")));
        };
        grades.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
    }
    Ok(grades)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_set_uses_its_sisters_corpus() {
        let root = tempfile::tempdir().expect("temp dir");
        let test = root.path().join("facts_test9");
        let train = root.path().join("facts_train7");
        for folder in [&test, &train] {
            fs_err::create_dir(folder).expect("created");
        }
        fs_err::write(test.join("corpus.jsonl.gz"), b"").expect("written");
        fs_err::write(
            train.join("queries.jsonl"),
            "{\"_id\":\"1\",\"text\":\"a\"}\n{\"_id\":\"2\",\"text\":\"b\"}\n",
        )
        .expect("written");
        fs_err::write(train.join("qrels.tsv"), "query-id\tcorpus-id\tscore\n1\tx|y\t2\n2\tz\t0\n")
            .expect("written");
        let collection = Collection::load(&train).expect("loaded");
        assert_eq!(collection.corpus, test.join("corpus.jsonl.gz"));
        assert_eq!((collection.queries.len(), collection.left_out), (1, 1));
        assert_eq!(collection.grades["1"]["x|y"], 2);

        fs_err::write(train.join("qrels.tsv"), "1\tx\t1\n1\ty\tmany\n").expect("written");
        let error = Collection::load(&train).expect_err("not a grade");
        assert!(error.to_string().contains("qrels.tsv:2"), "{error}");
    }
}
