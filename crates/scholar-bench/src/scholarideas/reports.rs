//! What a system wrote about ideas: one report an idea, soundness and contribution together, with the links of its evidence.
//!
//! A folder holds for each idea `<id>/` or `<id>.md` (`.txt`). In `<id>/` the report is `combined.txt` (as the reference scorer reads
//! it), `report.md`, or `soundness.md` and `contribution.md` joined. The links of the evidence are the lines of `evidence.txt`, or every
//! address under a key `url` in `report.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::links::links_of;
use super::model::IdeaId;

/// Files of a whole report, the first that is there counts.
const WHOLE: [&str; 2] = ["combined.txt", "report.md"];
/// Files of the two parts of a report.
const PARTS: [&str; 2] = ["soundness.md", "contribution.md"];
/// Links of the evidence, one a line.
const EVIDENCE: &str = "evidence.txt";
/// The report as data.
const DATA: &str = "report.json";

/// A report on one idea.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Markdown; untrusted.
    pub text: String,
    /// Links of the evidence it was written from; `None` where it does not say.
    pub evidence: Option<BTreeSet<String>>,
}

/// Reports by idea.
pub type Reports = BTreeMap<IdeaId, Report>;

/// Why there are no reports.
#[derive(Debug, thiserror::Error)]
pub enum ReportsError {
    /// A file or folder cannot be read, or is not UTF-8.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing in the folder is a report on an idea.
    #[error("{} has no reports: neither ai_1/report.md nor ai_1.md nor the like", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// An idea has two reports.
    #[error("{} has two reports on {id}", path.display())]
    Twice {
        /// The folder of all reports.
        path: PathBuf,
        /// The idea.
        id: IdeaId,
    },
    /// A report of nothing but space.
    #[error("{} is empty", path.display())]
    Blank {
        /// The file or folder of the report.
        path: PathBuf,
    },
    /// A data file that is not JSON.
    #[error("{} is not JSON", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// Where it is not.
        source: serde_json::Error,
    },
}

/// Reads the reports below `folder`. What bears no name of an idea is left alone.
///
/// # Errors
/// [`ReportsError`] names the file.
pub fn read_reports(folder: &Path) -> Result<Reports, ReportsError> {
    let unreadable = |source| ReportsError::Read { path: folder.to_owned(), source };
    let mut reports = Reports::new();
    for entry in fs_err::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let report = if path.is_dir() {
            let Ok(id) = name.parse::<IdeaId>() else { continue };
            of_folder(&path)?.map(|report| (id, report))
        } else {
            let stem = name.strip_suffix(".md").or_else(|| name.strip_suffix(".txt"));
            let Some(Ok(id)) = stem.map(str::parse::<IdeaId>) else { continue };
            Some((id, Report { text: read(&path)?, evidence: None }))
        };
        let Some((id, report)) = report else { continue };
        if report.text.trim().is_empty() {
            return Err(ReportsError::Blank { path });
        }
        if reports.insert(id, report).is_some() {
            return Err(ReportsError::Twice { path: folder.to_owned(), id });
        }
    }
    if reports.is_empty() {
        return Err(ReportsError::Empty { path: folder.to_owned() });
    }
    Ok(reports)
}

fn read(path: &Path) -> Result<String, ReportsError> {
    fs_err::read_to_string(path)
        .map_err(|source| ReportsError::Read { path: path.to_owned(), source })
}

/// `None` of a folder without a report: a run that failed leaves one.
fn of_folder(folder: &Path) -> Result<Option<Report>, ReportsError> {
    let there = |name: &&str| folder.join(name).is_file();
    let text = match WHOLE.iter().find(|name| there(name)) {
        Some(name) => read(&folder.join(name))?,
        None => {
            let parts = PARTS.iter().filter(|name| there(name));
            let parts: Vec<String> =
                parts.map(|name| read(&folder.join(name))).collect::<Result<_, _>>()?;
            if parts.is_empty() {
                return Ok(None);
            }
            parts.join("\n\n")
        }
    };
    let evidence = if there(&EVIDENCE) {
        Some(links_of(&read(&folder.join(EVIDENCE))?).into_iter().collect())
    } else if there(&DATA) {
        let path = folder.join(DATA);
        let data = serde_json::from_str(&read(&path)?)
            .map_err(|source| ReportsError::Data { path, source })?;
        let mut links = BTreeSet::new();
        urls(&data, &mut links);
        Some(links)
    } else {
        None
    };
    Ok(Some(Report { text, evidence }))
}

/// Every address under a key `url`, however deep.
fn urls(value: &serde_json::Value, links: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                if let (true, Some(text)) = (key == "url", value.as_str()) {
                    links.extend(links_of(text));
                }
                urls(value, links);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| urls(value, links)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().expect("in the folder")).expect("made");
            fs_err::write(path, text).expect("written");
        };
        assert!(
            read_reports(folder.path())
                .is_err_and(|error| error.to_string().contains("no reports"))
        );
        put("ai_1/combined.txt", "both [1](https://doi.org/10.1/a)");
        put("ai_1/report.md", "not this one");
        put("ai_2/contribution.md", "new");
        put("ai_2/soundness.md", "sound");
        put("ai_2/evidence.txt", "https://a.example/x\nhttps://b.example/y\n");
        put("eco_1.md", "alone");
        put("eco_2/report.md", "with data");
        put(
            "eco_2/report.json",
            r#"{"evidence": [{"url": "https://c.example/z", "title": "https://no"}]}"#,
        );
        put("neuro_1/failed.json", "{}");
        put("notes.md", "of somebody");
        let reports = read_reports(folder.path()).expect("readable");
        let names: Vec<String> = reports.keys().map(ToString::to_string).collect();
        assert_eq!(names, ["ai_1", "ai_2", "eco_1", "eco_2"]);
        let of = |id: &str| &reports[&id.parse().expect("a name")];
        assert!(of("ai_1").text.starts_with("both") && of("ai_1").evidence.is_none());
        assert_eq!(of("ai_2").text, "sound\n\nnew");
        assert_eq!(of("ai_2").evidence.as_ref().map(BTreeSet::len), Some(2));
        let links = of("eco_2").evidence.as_ref().expect("data");
        assert_eq!(links.iter().collect::<Vec<_>>(), ["https://c.example/z"]);

        put("eco_2.txt", "again");
        assert!(
            read_reports(folder.path()).is_err_and(|error| error.to_string().contains("eco_2"))
        );
        put("eco_2.txt", " ");
        assert!(
            read_reports(folder.path()).is_err_and(|error| error.to_string().contains("empty"))
        );
    }
}
