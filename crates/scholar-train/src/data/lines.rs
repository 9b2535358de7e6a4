//! JSON lines, compressed or not, with a count of what cannot be used.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;

use super::error::DataError;

/// Longest line read. Ours: a full text has a megabyte at most; more is another format.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// A row that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Line of the file, from 1.
    pub line: usize,
    /// Why it cannot be used, in one clause.
    pub problem: String,
}

/// The rows of a file with their lines, and those that cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows<T> {
    /// The file that was read, `.gz` included.
    pub path: PathBuf,
    /// `(line from 1, row)` in file order.
    pub rows: Vec<(usize, T)>,
    /// What was left out.
    pub bad: Vec<BadRow>,
}

impl<T> Rows<T> {
    /// The usable rows without their lines, in file order.
    pub fn values(self) -> impl Iterator<Item = T> {
        self.rows.into_iter().map(|(_, row)| row)
    }
}

/// Reads `path`, or `path` with `.gz` behind it. A row that is no `T`, or that `check` refuses, is left out; more
/// than `max_rejected_fraction` of all rows, and the file is refused.
///
/// # Errors
/// [`DataError::Read`], [`DataError::Rows`], and [`DataError::Empty`] for a file without rows.
pub fn read_rows<T: DeserializeOwned>(
    path: &Path,
    max_rejected_fraction: f64,
    check: impl Fn(&T) -> Result<(), String>,
) -> Result<Rows<T>, DataError> {
    let (path, mut lines) = open(path)?;
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    let (mut line, mut text) = (0, Vec::new());
    loop {
        text.clear();
        let read = (&mut lines)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut text)
            .map_err(|source| DataError::read(&path, source))?;
        if read == 0 {
            break;
        }
        line += 1;
        if read as u64 == MAX_LINE_BYTES && text.last() != Some(&b'\n') {
            let what = format!("line {line} is longer than {MAX_LINE_BYTES} bytes");
            return Err(DataError::read(&path, std::io::Error::other(what)));
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let parsed = serde_json::from_slice(&text).map_err(|error| error.to_string());
        match parsed.and_then(|row: T| check(&row).map(|()| row)) {
            Ok(row) => rows.push((line, row)),
            Err(problem) => bad.push(BadRow { line, problem }),
        }
    }
    let total = rows.len() + bad.len();
    match bad.first() {
        Some(first)
            if rows.is_empty() || bad.len() as f64 > max_rejected_fraction * total as f64 =>
        {
            Err(DataError::Rows {
                path,
                rejected: bad.len(),
                rows: total,
                line: first.line,
                problem: first.problem.clone(),
            })
        }
        None if rows.is_empty() => Err(DataError::Empty { path }),
        _ => Ok(Rows { path, rows, bad }),
    }
}

type Lines = BufReader<Box<dyn Read>>;

fn open(path: &Path) -> Result<(PathBuf, Lines), DataError> {
    let packed = PathBuf::from(format!("{}.gz", path.display()));
    let path = if path.is_file() || !packed.is_file() { path.to_owned() } else { packed };
    let file = fs_err::File::open(&path).map_err(|source| DataError::read(&path, source))?;
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> =
        if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    Ok((path, BufReader::with_capacity(1 << 16, reader)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Row {
        n: u32,
    }

    fn even(row: &Row) -> Result<(), String> {
        row.n.is_multiple_of(2).then_some(()).ok_or_else(|| format!("{} is odd", row.n))
    }

    #[test]
    fn bad_rows_are_counted_up_to_the_threshold() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("rows.jsonl");
        fs_err::write(&path, "{\"n\": 2}\n\n{\"n\": 3}\n{\"n\"\n{\"n\": 4}\n").expect("written");
        let rows = read_rows(&path, 0.5, even).expect("half may be bad");
        assert_eq!(rows.rows, [(1, Row { n: 2 }), (5, Row { n: 4 })]);
        assert_eq!(rows.bad[0], BadRow { line: 3, problem: "3 is odd".to_owned() });
        assert_eq!(rows.bad[1].line, 4);
        let error = read_rows(&path, 0.4, even).expect_err("too many");
        let text = error.to_string();
        assert!(text.contains("2 of 4 rows") && text.contains("line 3: 3 is odd"), "{text}");
    }

    #[test]
    fn nothing_to_read_is_an_error() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("rows.jsonl");
        assert!(matches!(read_rows(&path, 1.0, even), Err(DataError::Read { .. })));
        fs_err::write(&path, "\n \n").expect("written");
        assert!(matches!(read_rows(&path, 1.0, even), Err(DataError::Empty { .. })));
        fs_err::write(&path, "{\"n\": 1}\n").expect("written");
        assert!(matches!(read_rows(&path, 1.0, even), Err(DataError::Rows { rejected: 1, .. })));
    }

    #[test]
    fn compressed_files_are_found_by_the_plain_name() {
        use std::io::Write as _;
        let folder = tempfile::tempdir().expect("temp dir");
        let file = fs_err::File::create(folder.path().join("rows.jsonl.gz")).expect("created");
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(b"{\"n\": 8}\n").expect("written");
        packed.finish().expect("finished");
        let rows = read_rows(&folder.path().join("rows.jsonl"), 0.0, even).expect("read");
        assert_eq!(rows.values().map(|row: Row| row.n).collect::<Vec<_>>(), [8]);
    }
}
