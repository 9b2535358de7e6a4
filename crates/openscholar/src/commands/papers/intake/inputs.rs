//! What the arguments of `papers add` name.

use std::path::{Path, PathBuf};

use scholar_core::{Notice, PaperId};

use super::walk::{self, Links, Walked};
use crate::error::CommandError;

/// Endings of rows of papers, which the datastore reads itself.
const ROWS: [&str; 6] = ["jsonl", "ndjson", "gz", "zst", "parquet", "zstd"];
/// Endings of documents that a folder is searched for.
const DOCUMENTS: [&str; 10] =
    ["pdf", "xml", "nxml", "jats", "tei", "html", "htm", "xhtml", "txt", "md"];
/// Endings of libraries.
const LIBRARIES: [&str; 6] = ["bib", "bibtex", "ris", "sqlite", "json", "csljson"];

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A document.
    Document(PathBuf),
    /// A list of papers.
    Library(PathBuf),
    /// Zotero, as it runs on this machine; perhaps one of its collections.
    Zotero(Option<String>),
    /// A paper by its name in a registry.
    Identifier(PaperId),
    /// A paper by its whole title.
    Title(String),
    /// What Semantic Scholar lists for a boolean expression.
    Bulk(String),
}

/// What a folder without anything to read is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyFolder {
    /// A mistake.
    Refused,
    /// One that papers will come to.
    Accepted,
}

/// The arguments, sorted.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// Files of rows of papers, which keep their order.
    pub(crate) rows: Vec<PathBuf>,
    /// Everything else.
    pub(crate) inputs: Vec<Input>,
    /// What was passed over in folders.
    pub(crate) notices: Vec<Notice>,
}

impl Sorted {
    fn len(&self) -> usize {
        self.rows.len() + self.inputs.len()
    }
}

/// Sorts the arguments into rows of papers and everything else.
pub(crate) fn sorted(
    arguments: &[PathBuf],
    empty: EmptyFolder,
    links: Links,
) -> Result<Sorted, CommandError> {
    let mut sorted = Sorted::default();
    for argument in arguments {
        if argument.is_dir() {
            let before = sorted.len();
            folder(argument, links, &mut sorted)?;
            if sorted.len() == before && empty == EmptyFolder::Refused {
                let error = CommandError::user(format!(
                    "{} contains no document, library or rows of papers",
                    argument.display()
                ));
                // What was passed over may be what was meant.
                let told = sorted.notices.iter().map(|notice| notice.message.clone());
                let error = told.fold(error, CommandError::with_hint);
                return Err(error.with_hint(format!("documents end in {}", DOCUMENTS.join(", "))));
            }
        } else if argument.exists() {
            match file(argument) {
                Some(input) => sorted.inputs.push(input),
                None => sorted.rows.push(argument.clone()),
            }
        } else {
            sorted.inputs.push(named(argument)?);
        }
    }
    Ok(sorted)
}

/// Zotero's data folder is one library; any other folder is walked.
fn folder(path: &Path, links: Links, sorted: &mut Sorted) -> Result<(), CommandError> {
    let database = path.join("zotero.sqlite");
    if database.is_file() && (links == Links::Everywhere || !database.is_symlink()) {
        sorted.inputs.push(Input::Library(database));
        return Ok(());
    }
    let Walked { files, notices } = walk::walk(path, links)?;
    sorted.notices.extend(notices);
    for path in files {
        match file(&path) {
            Some(input) => sorted.inputs.push(input),
            None if is_rows(&path) => sorted.rows.push(path),
            None => {}
        }
    }
    Ok(())
}

/// What a file is by its ending; `None` is left to the reader of rows.
pub(crate) fn file(path: &Path) -> Option<Input> {
    let ending = ending(path);
    if DOCUMENTS.contains(&ending.as_str()) {
        Some(Input::Document(path.to_owned()))
    } else if LIBRARIES.contains(&ending.as_str()) {
        Some(Input::Library(path.to_owned()))
    } else {
        None
    }
}

/// Whether a file in a folder is one of rows of papers, by its ending.
pub(crate) fn is_rows(path: &Path) -> bool {
    ROWS.contains(&ending(path).as_str())
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// What is no file: Zotero, or an identifier as people write it.
fn named(argument: &Path) -> Result<Input, CommandError> {
    let text = argument.to_string_lossy();
    if let Some(collection) = text.strip_prefix("zotero:") {
        let collection = collection.trim_matches('/');
        return Ok(Input::Zotero((!collection.is_empty()).then(|| collection.to_owned())));
    }
    if let Some(title) =
        text.strip_prefix("title:").map(str::trim).filter(|title| !title.is_empty())
    {
        return Ok(Input::Title(title.to_owned()));
    }
    if let Some(expression) = text.strip_prefix("bulk:").map(str::trim).filter(|e| !e.is_empty()) {
        return Ok(Input::Bulk(expression.to_owned()));
    }
    PaperId::recognise(&text).map(Input::Identifier).ok_or_else(|| {
        CommandError::user(format!("{text} is neither a file nor an identifier of a paper"))
            .with_hint("name a file, a folder, zotero:, an identifier such as doi:10.1000/x or arxiv:2411.14199, \"title:Its exact title\", or \"bulk:words + words\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let touch = |name: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().expect("in a folder")).expect("made");
            fs_err::write(&path, "x").expect("written");
            path
        };
        let rows = touch("papers.jsonl.gz");
        let pdf = touch("deep/er/A.PDF");
        let list = touch("library.bib");
        touch(".hidden.pdf");
        let sort = |arguments: &[PathBuf]| sorted(arguments, EmptyFolder::Refused, Links::Inside);
        let inputs = |arguments: &[PathBuf]| sort(arguments).map(|found| found.inputs);
        let found = sort(&[folder.path().to_owned()]).expect("sorted");
        assert_eq!(found.rows, [rows]);
        assert_eq!(found.inputs, [Input::Document(pdf), Input::Library(list)]);
        let inputs_of = inputs(&["zotero:Reading/Now".into(), "arXiv:2411.14199v2".into()]);
        let found = inputs_of.expect("sorted");
        assert_eq!(found[0], Input::Zotero(Some("Reading/Now".to_owned())));
        assert_eq!(found[1], Input::Identifier(PaperId::Arxiv("2411.14199".to_owned())));
        let found = inputs(&["title: On words ".into()]).expect("sorted");
        assert_eq!(found, [Input::Title("On words".to_owned())]);
        assert!(inputs(&["no/such/file.pdf".into()]).is_err());
        assert!(inputs(&["title:".into()]).is_err());
        let found = inputs(&["bulk:sleep + memory".into()]).expect("sorted");
        assert_eq!(found, [Input::Bulk("sleep + memory".to_owned())]);
        assert!(inputs(&["bulk: ".into()]).is_err());
        let empty = tempfile::tempdir().expect("a folder");
        let empty = [empty.path().to_owned()];
        assert!(inputs(&empty).is_err());
        assert!(sorted(&empty, EmptyFolder::Accepted, Links::Inside).is_ok());
    }
}
