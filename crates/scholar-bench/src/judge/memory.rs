//! What judges said, on disk: nobody is asked the same twice, however often a run is scored.
//!
//! One JSON object a line: `{"key": …, "value": …}`, the key a SHA-256 of the judge and of all that it was asked.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::Path;

use parking_lot::Mutex;
use scholar_core::text::hex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

#[derive(Serialize, Deserialize)]
struct Line<V> {
    key: String,
    #[serde(alias = "verdict")]
    value: V,
}

/// Values by key, those of earlier processes included.
#[derive(Debug)]
pub struct Memory<V> {
    known: Mutex<HashMap<String, V>>,
    file: Option<Mutex<fs_err::File>>,
}

impl<V> Default for Memory<V> {
    /// One that ends with the process.
    fn default() -> Self {
        Self { known: Mutex::default(), file: None }
    }
}

impl<V: Clone + Serialize + DeserializeOwned> Memory<V> {
    /// What the file at `path` holds; whatever is kept is added there.
    ///
    /// A line that cannot be read is left out: it was torn when a process was killed, and is asked again.
    ///
    /// # Errors
    /// When the file cannot be read or written; the error names it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        let text = fs_err::read_to_string(path)?;
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let known = lines.map(|line: Line<V>| (line.key, line.value)).collect();
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { known: Mutex::new(known), file: Some(Mutex::new(file)) })
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.known.lock().len()
    }

    /// Whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known under `key`.
    pub fn get(&self, key: &str) -> Option<V> {
        self.known.lock().get(key).cloned()
    }

    /// Keeps `value` under `key`.
    pub fn keep(&self, key: String, value: V) {
        if let Some(file) = &self.file {
            let line = serde_json::to_string(&Line { key: key.clone(), value: value.clone() });
            // A disk that is full costs a second question, nothing else.
            let _ignored = line.map(|line| file.lock().write_all(format!("{line}\n").as_bytes()));
        }
        self.known.lock().insert(key, value);
    }
}

/// The key of what was asked, part by part.
pub fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    hex(&digest.finalize()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_known_to_the_next_process_and_torn_lines_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("replies.jsonl");
        let memory = Memory::open(&path).expect("new");
        memory.keep(key(["a", "b"]), "said".to_owned());
        drop(memory);
        let text = fs_err::read_to_string(&path).expect("kept");
        let old = format!("{{\"key\": \"old\", \"verdict\": \"yes\"}}\n{text}{{\"key\": \"to");
        fs_err::write(&path, old).expect("written");
        let memory = Memory::open(&path).expect("again");
        assert_eq!(memory.get(&key(["a", "b"])), Some("said".to_owned()));
        assert_eq!(memory.get("old"), Some("yes".to_owned()), "files of earlier versions");
        assert_eq!((memory.get(&key(["ab"])), memory.len()), (None, 2));
        memory.keep("last".to_owned(), "after the torn line".to_owned());
        let memory: Memory<String> = Memory::open(&path).expect("once more");
        assert_eq!((memory.len(), memory.is_empty()), (3, false));
    }

    #[test]
    fn a_file_that_cannot_be_had_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Memory::<bool>::open(folder.path()).expect_err("a folder is no file");
        assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
    }
}
