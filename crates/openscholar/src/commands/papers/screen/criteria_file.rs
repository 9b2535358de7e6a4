//! `CRITERIA.toml`.

use std::path::{Path, PathBuf};

use scholar_pipeline::screen::Criteria;

use crate::error::{CommandError, Context as _};

/// Largest criteria file in bytes.
const LARGEST: usize = 1 << 20;

/// What a criteria file looks like, for hints.
const FORM: &str = "write a line title = \"…\" and, for each criterion, [[criterion]] with id = \"…\", text = \"…\" and kind = \"include\" or \"exclude\"";

/// Reads and checks a criteria file; an unknown key is an error that names the line.
pub(crate) fn read(path: &Path) -> Result<Criteria, CommandError> {
    let text = scholar_datastore::files::read_text(path, LARGEST)?;
    let invalid = || format!("{} is not a valid criteria file", path.display());
    let criteria: Criteria =
        toml::from_str(&text).user(invalid).map_err(|error| error.with_hint(FORM))?;
    criteria.check().user(invalid).map_err(|error| error.with_hint(FORM))?;
    Ok(criteria)
}

/// Where decisions by these criteria are kept unless another folder is named: `reviews/pk.toml` has `reviews/pk.screening`.
pub(crate) fn folder_beside(criteria: &Path) -> PathBuf {
    criteria.with_extension("screening")
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn problem(text: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("criteria.toml");
        fs_err::write(&path, text).expect("written");
        let error = read(&path).expect_err("not valid");
        error.source().map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_line() {
        let text = "title = \"x\"\n[[criterion]]\nid = \"a\"\ntext = \"b\"\nweight = 3\n";
        let said = problem(text);
        assert!(said.contains("line 5") && said.contains("weight"), "{said}");
        let said =
            problem("title = \"x\"\n[[criterion]]\nid = \"a\"\ntext = \"b\"\nkind = \"maybe\"");
        assert!(said.contains("line 5") && said.contains("exclude"), "{said}");
        assert!(problem("title = \"x\"").contains("no [[criterion]]"));
    }

    #[test]
    fn decisions_lie_beside_the_criteria() {
        assert_eq!(folder_beside(Path::new("a/pk.toml")), Path::new("a/pk.screening"));
    }
}
