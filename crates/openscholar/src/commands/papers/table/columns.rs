//! The columns of a table, from the command line or a TOML file.

use std::path::Path;

use scholar_pipeline::tabulate::{Column, Property};
use serde::Deserialize;

use crate::error::{CommandError, Context as _};

/// Largest file of columns, in bytes.
const LARGEST: usize = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    column: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    property: Option<String>,
    question: Option<String>,
}

/// Reads `--columns`: a file where it ends in `.toml`, else the columns themselves.
pub(super) fn read(text: &str) -> Result<Vec<Column>, CommandError> {
    let path = Path::new(text);
    let is_file = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if !is_file {
        return Column::read(text).user(|| "--columns cannot be used".to_owned());
    }
    let text = scholar_datastore::files::read_text(path, LARGEST)?;
    of_file(&text).map_err(|error| {
        CommandError::user(format!("{} is no file of columns", path.display())).with_source(error)
    })
}

fn of_file(text: &str) -> Result<Vec<Column>, CommandError> {
    let file: File = toml::from_str(text).user(|| "it is not valid".to_owned())?;
    let columns = file.column.into_iter().map(Entry::column).collect::<Result<_, _>>()?;
    Column::checked(columns).user(|| "the columns cannot be used".to_owned())
}

impl Entry {
    fn column(self) -> Result<Column, CommandError> {
        let property = match self.property.as_deref() {
            Some(name) => Some(Property::named(name).ok_or_else(|| {
                CommandError::user(format!("there is no property {name:?}"))
                    .with_hint("name one of a preset, such as trial.n, or ask a question")
            })?),
            None => None,
        };
        match (property, self.name, self.question) {
            (Some(property), name, question) => {
                let column = Column::of(property);
                Ok(Column {
                    name: name.unwrap_or(column.name),
                    question: question.unwrap_or(column.question),
                    property: column.property,
                })
            }
            (None, Some(name), Some(question)) => Ok(Column::asking(name, question)),
            _ => Err(CommandError::user("a column needs a property, or a name and a question")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_properties_and_questions() {
        let text = "[[column]]\nproperty = \"trial.n\"\nname = \"size\"\n\n[[column]]\nname = \"dose\"\nquestion = \"Which dose?\"\n";
        let columns = of_file(text).expect("valid");
        assert_eq!(columns[0].property(), Some(Property::SampleSize));
        assert_eq!(
            (columns[0].name.as_str(), columns[1].question.as_str()),
            ("size", "Which dose?")
        );
        let error = |text: &str| of_file(text).expect_err(text).to_string();
        assert!(error("[[column]]\nproperty = \"shoe\"").contains("shoe"));
        assert!(error("[[column]]\nname = \"x\"").contains("needs"));
        assert!(error("[[columns]]\nname = \"x\"").contains("not valid"));
    }
}
