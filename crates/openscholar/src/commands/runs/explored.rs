//! How an answer was found: its outline and its tree of retrievals, printed, drawn and as a page.

use std::path::Path;

use scholar_core::TreeNode;
use scholar_formats::exploration::{self, Exploration};

use crate::app::App;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::runs;

/// Ids of nodes that a hint names.
const NAMED: usize = 20;

/// That of a document.
pub(super) fn of(document: &AnswerDocument) -> Result<Exploration<'_>, CommandError> {
    Exploration::of(&document.answer).ok_or_else(|| {
        CommandError::user(format!("the answer of run {} has no outline and no tree", document.run))
            .with_hint(
                "only answers of a mode that explores have them: openscholar ask --mode scirag",
            )
    })
}

/// The node of that id.
pub(super) fn node<'a>(explored: Exploration<'a>, id: &str) -> Result<&'a TreeNode, CommandError> {
    let nodes = explored.nodes();
    nodes.iter().find(|node| node.id == id).ok_or_else(|| {
        let ids: Vec<&str> = nodes.iter().map(|node| node.id.as_str()).take(NAMED).collect();
        let more = if nodes.len() > NAMED { ", …" } else { "" };
        CommandError::user(format!("the tree has no node {id}"))
            .with_hint(format!("it has {}{more}", ids.join(", ")))
    })
}

/// Writes the drawing and the page where they are wanted; whether any was.
pub(super) fn draw(
    document: &AnswerDocument,
    (svg, html): (Option<&Path>, Option<&Path>),
    app: &App,
) -> Result<bool, CommandError> {
    if svg.is_none() && html.is_none() {
        return Ok(false);
    }
    let explored = of(document)?;
    let write = |path: &Path, text: String| -> Result<(), CommandError> {
        runs::write_file(path, text.as_bytes())?;
        app.printer.say(&format!("written to {}", path.display()));
        Ok(())
    };
    if let Some(path) = svg {
        write(path, exploration::svg(explored))?;
    }
    if let Some(path) = html {
        let generated_by =
            format!("openscholar {}, run {}", env!("CARGO_PKG_VERSION"), document.run);
        write(path, exploration::page(explored, &generated_by))?;
    }
    Ok(true)
}
