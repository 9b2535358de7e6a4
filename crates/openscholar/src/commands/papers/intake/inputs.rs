//! What the arguments of `papers add` name.

use std::path::{Path, PathBuf};

use scholar_core::PaperId;

use crate::error::{CommandError, Context as _};

/// Deepest folder that is walked: links may lead in circles.
const DEEPEST: usize = 32;
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

/// The arguments sorted into rows of papers, which keep their order, and everything else.
pub(crate) fn sorted(
    arguments: &[PathBuf],
    empty: EmptyFolder,
) -> Result<(Vec<PathBuf>, Vec<Input>), CommandError> {
    let (mut rows, mut inputs) = (Vec::new(), Vec::new());
    for argument in arguments {
        if argument.is_dir() {
            let before = rows.len() + inputs.len();
            folder(argument, &mut rows, &mut inputs)?;
            if rows.len() + inputs.len() == before && empty == EmptyFolder::Refused {
                return Err(CommandError::user(format!(
                    "{} holds no document, library or rows of papers",
                    argument.display()
                ))
                .with_hint(format!("documents end in {}", DOCUMENTS.join(", "))));
            }
        } else if argument.exists() {
            match file(argument) {
                Some(input) => inputs.push(input),
                None => rows.push(argument.clone()),
            }
        } else {
            inputs.push(named(argument)?);
        }
    }
    Ok((rows, inputs))
}

/// Zotero's data folder is one library; any other folder is walked in the order of names.
fn folder(
    path: &Path,
    rows: &mut Vec<PathBuf>,
    inputs: &mut Vec<Input>,
) -> Result<(), CommandError> {
    let database = path.join("zotero.sqlite");
    if database.is_file() {
        inputs.push(Input::Library(database));
        return Ok(());
    }
    walk(path, 0, &mut |file_path| match file(file_path) {
        Some(input) => inputs.push(input),
        None if is_rows(file_path) => rows.push(file_path.to_owned()),
        None => {}
    })
}

pub(crate) fn walk(
    path: &Path,
    depth: usize,
    visit: &mut dyn FnMut(&Path),
) -> Result<(), CommandError> {
    if depth > DEEPEST {
        return Err(CommandError::user(format!("{} is nested too deeply", path.display()))
            .with_hint("does a link lead back to a folder above it?"));
    }
    let entries = fs_err::read_dir(path).user(|| "cannot list a folder".to_owned())?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.user(|| "cannot list a folder".to_owned())?.path());
    }
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, visit)?;
        } else {
            visit(&path);
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
            .with_hint("name a file, a folder, zotero:, an identifier such as doi:10.1000/x or arxiv:2411.14199, \"title:Its whole title\", or \"bulk:words + words\"")
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
        let refused = EmptyFolder::Refused;
        let (found, inputs) = sorted(&[folder.path().to_owned()], refused).expect("sorted");
        assert_eq!(found, [rows]);
        assert_eq!(inputs, [Input::Document(pdf), Input::Library(list)]);
        let (_, inputs) =
            sorted(&["zotero:Reading/Now".into(), "arXiv:2411.14199v2".into()], refused)
                .expect("sorted");
        assert_eq!(inputs[0], Input::Zotero(Some("Reading/Now".to_owned())));
        assert_eq!(inputs[1], Input::Identifier(PaperId::Arxiv("2411.14199".to_owned())));
        let (_, inputs) = sorted(&["title: On words ".into()], refused).expect("sorted");
        assert_eq!(inputs, [Input::Title("On words".to_owned())]);
        assert!(sorted(&["no/such/file.pdf".into()], refused).is_err());
        assert!(sorted(&["title:".into()], refused).is_err());
        let (_, inputs) = sorted(&["bulk:sleep + memory".into()], refused).expect("sorted");
        assert_eq!(inputs, [Input::Bulk("sleep + memory".to_owned())]);
        assert!(sorted(&["bulk: ".into()], refused).is_err());
        let empty = tempfile::tempdir().expect("a folder");
        let empty = [empty.path().to_owned()];
        assert!(sorted(&empty, refused).is_err());
        assert!(sorted(&empty, EmptyFolder::Accepted).is_ok());
    }
}
