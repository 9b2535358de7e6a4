//! From a file or standard input to an idea.

use std::fmt::Write as _;
use std::path::Path;

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Paper, ReadLimits};
use scholar_datastore::files;
use scholar_formats::{Bounds, DocumentFormat, FormatErrorKind, document, docx};
use scholar_review::Idea;

use crate::commands::ask;
use crate::error::{CommandError, Context as _};

/// The idea that `argument` names: `-` is standard input, anything else a file.
pub(super) fn read(argument: &str) -> Result<Idea, CommandError> {
    let text = if argument == "-" {
        text(ask::stdin()?, "standard input")?
    } else {
        file(Path::new(argument))?
    };
    Ok(Idea::read(&text)?)
}

fn text(bytes: Vec<u8>, name: &str) -> Result<String, CommandError> {
    String::from_utf8(bytes)
        .user(|| format!("{name} is not UTF-8 text"))
        .map_err(|error| error.with_hint("give a text, Markdown, PDF or DOCX file"))
}

fn file(path: &Path) -> Result<String, CommandError> {
    let limits = ReadLimits::standard();
    let bytes = files::read(path, limits.bytes)?;
    of_bytes(&path.display().to_string(), bytes, limits)
}

/// The text of what was read or sent as `name`: text, PDF or DOCX, whatever it is called.
pub(crate) fn of_bytes(
    name: &str,
    bytes: Vec<u8>,
    limits: ReadLimits,
) -> Result<String, CommandError> {
    if docx::is_archive(&bytes) {
        return docx::text(&bytes, &Bounds::from(limits)).user(|| format!("cannot read {name}"));
    }
    if DocumentFormat::sniff(name, &bytes) != Some(DocumentFormat::Pdf) {
        return text(bytes, name);
    }
    match document::read(DocumentFormat::Pdf, &bytes, limits) {
        Ok(document) => Ok(markdown_of(&document.paper)),
        Err(error) if error.kind == FormatErrorKind::NoText => {
            Err(CommandError::user(format!("{name} holds pictures of pages and no text"))
                .with_source(error)
                .with_hint("run it through a program for text recognition first"))
        }
        Err(error) => Err(CommandError::from(error)),
    }
}

/// A read PDF as the text of an idea: its title and its headed parts.
fn markdown_of(paper: &Paper) -> String {
    let mut text = String::new();
    if !paper.meta.title.is_empty() {
        let _infallible = write!(text, "# {}\n\n", paper.meta.title);
    }
    for section in &paper.sections {
        let heading = section.heading.as_str();
        if !heading.is_empty() && heading != ABSTRACT_HEADING {
            let _infallible = write!(text, "## {heading}\n\n");
        }
        text.push_str(&section.text);
        text.push_str("\n\n");
    }
    text
}
