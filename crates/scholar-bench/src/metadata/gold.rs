//! What papers are called and who wrote them: the catalogue, and the list of what pages print.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read};
use std::str::FromStr as _;

use flate2::read::MultiGzDecoder;
use scholar_core::PaperId;
use serde::{Deserialize, Serialize};

const PRINTED: &str = include_str!("../../data/metadata_printed.tsv");
const PAIRS: &str = include_str!("../../data/metadata_pairs.tsv");

/// Longest line of a catalogue, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// A table or catalogue that is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum GoldError {
    /// A row of one of the lists that come with the program.
    #[error("line {line} of the list of printed metadata: {problem}")]
    Row {
        /// From 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A line of the catalogue.
    #[error("line {line} of the catalogue is not a record")]
    Catalog {
        /// From 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The catalogue cannot be read on.
    #[error("the catalogue cannot be read")]
    Read(#[source] std::io::Error),
}

/// Metadata as something states them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stated {
    /// Empty if there is none.
    pub title: String,
    /// In order.
    pub authors: Vec<String>,
    /// Year of publication.
    pub year: Option<i16>,
    /// Proceedings or journal.
    pub venue: Option<String>,
    /// Identifiers, the best first.
    pub ids: Vec<PaperId>,
}

/// A paper's metadata as catalogued, and as its pages print them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gold {
    /// Identifier in the catalogue.
    pub id: String,
    /// As catalogued.
    pub catalog: Stated,
    /// As printed: the year is there only if the first pages print it.
    pub printed: Stated,
}

#[derive(Deserialize)]
struct Record {
    id: String,
    title: String,
    #[serde(default)]
    authors: Vec<String>,
    year: Option<i16>,
    booktitle: Option<String>,
    doi: Option<String>,
}

/// Records of a catalogue of JSON lines, which may be gzip, for which `wanted` is true of the identifier.
///
/// # Errors
/// A line that is no record; a file that ends early.
pub fn catalog(
    bytes: impl Read,
    is_packed: bool,
    wanted: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Stated>, GoldError> {
    let source: Box<dyn Read> =
        if is_packed { Box::new(MultiGzDecoder::new(bytes)) } else { Box::new(bytes) };
    let mut lines = BufReader::new(source);
    let mut found = BTreeMap::new();
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let read = (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut text);
        if read.map_err(GoldError::Read)? == 0 {
            break;
        }
        let record: Record =
            serde_json::from_slice(&text).map_err(|source| GoldError::Catalog { line, source })?;
        if !wanted(&record.id) {
            continue;
        }
        let Record { id, title, authors, year, booktitle, doi } = record;
        let mut ids = vec![PaperId::Acl(id.clone())];
        ids.extend(doi.and_then(|doi| PaperId::doi(&doi).ok()));
        found.insert(id, Stated { title, authors, year, venue: booktitle, ids });
    }
    Ok(found)
}

/// Joins catalogue records with the list of what pages print. Papers that the list does not have are left out, because
/// nobody looked whether they print their year; their identifiers are returned beside.
///
/// # Errors
/// A row of the list that cannot be read.
pub fn gold(catalog: &BTreeMap<String, Stated>) -> Result<(Vec<Gold>, Vec<String>), GoldError> {
    let mut printed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (line, columns) in rows(PRINTED) {
        let [id, _, _, _, _] = columns[..] else {
            return Err(GoldError::Row {
                line,
                problem: format!("{} columns, not five", columns.len()),
            });
        };
        printed.insert(id, columns);
    }
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (id, stated) in catalog {
        let Some([_, year, title, authors, _]) = printed.get(id.as_str()).map(Vec::as_slice) else {
            unknown.push(id.clone());
            continue;
        };
        let mut page = stated.clone();
        page.year = year.parse().ok();
        if !title.is_empty() {
            page.title = (*title).to_owned();
        }
        if !authors.is_empty() {
            page.authors = split(authors);
        }
        known.push(Gold { id: id.clone(), catalog: stated.clone(), printed: page });
    }
    Ok((known, unknown))
}

/// What the PDFs of recorded pairs of PDF and TEI print, by the name of the files.
///
/// # Errors
/// A row of the list that cannot be read.
pub fn pairs() -> Result<BTreeMap<String, Stated>, GoldError> {
    let mut found = BTreeMap::new();
    for (line, columns) in rows(PAIRS) {
        let problem = |problem: String| GoldError::Row { line, problem };
        let [name, title, authors, year, venue, ids] = columns[..] else {
            return Err(problem(format!("{} columns, not six", columns.len())));
        };
        let ids = ids
            .split(' ')
            .map(|id| PaperId::from_str(id).map_err(|error| problem(error.to_string())))
            .collect::<Result<Vec<PaperId>, GoldError>>()?;
        let stated = Stated {
            title: title.to_owned(),
            authors: split(authors),
            year: year.parse().ok(),
            venue: Some(venue.to_owned()).filter(|venue| !venue.is_empty()),
            ids,
        };
        found.insert(name.to_owned(), stated);
    }
    Ok(found)
}

/// Rows of a list after its head, with their line numbers.
fn rows(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    lines.skip(1).map(|(at, line)| (at + 1, line.split('\t').collect()))
}

fn split(authors: &str) -> Vec<String> {
    authors.split(';').map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_held_against_the_catalogue() {
        let rows = br#"{"id": "C04-1091", "title": "Solving It", "authors": ["Ada Ng"], "year": 2004, "doi": "10.1/a"}
{"id": "P10-1020", "title": "Things", "authors": ["Bo Li"], "year": 2010}
{"id": "X00-0001", "title": "Other", "year": 2000}
"#;
        let records = catalog(&rows[..], false, |id| id != "nothing").expect("readable");
        assert_eq!(records.len(), 3);
        let (known, unknown) = gold(&records).expect("readable");
        assert_eq!(unknown, ["X00-0001"]);
        let [first, second] = &known[..] else { panic!("{known:?}") };
        assert_eq!((first.catalog.title.as_str(), first.printed.year), ("Solving It", None));
        assert_ne!(first.printed.title, first.catalog.title);
        assert_eq!(
            (second.printed.year, &second.printed.authors),
            (Some(2010), &second.catalog.authors)
        );
        assert_eq!(first.catalog.ids.len(), 2);
    }

    #[test]
    fn a_broken_catalogue_is_named_by_its_line() {
        let error = catalog(&b"{\"id\": \"a\", \"title\": \"b\"}\n{"[..], false, |_| true);
        assert!(matches!(error, Err(GoldError::Catalog { line: 2, .. })));
        assert!(!pairs().expect("readable").is_empty());
    }
}
