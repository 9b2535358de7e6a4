//! What an addition to a datastore did, for people.

use scholar_datastore::{AddProgress, AddReport};

use crate::app::App;

/// Prints the counts of `done` to standard error under the name `what`.
pub(crate) fn report(what: &str, done: &AddReport, app: &App) {
    let added = &done.progress;
    app.printer.say(&format!(
        "{what}: {} papers added, {} unchanged, {} replaced, {} duplicates, {} passages ({:.0}/s), {} cut at the encoder's token limit",
        added.papers_added,
        added.papers_unchanged,
        added.papers_replaced,
        added.papers_duplicate,
        added.passages_added,
        added.passages_per_second(),
        added.passages_truncated,
    ));
    if added.identifiers_added > 0 {
        app.printer.say(&format!(
            "  {} identifiers of duplicates were added to the papers that were there",
            added.identifiers_added
        ));
    }
    if added.papers_completed > 0 {
        app.printer.say(&format!(
            "  {} papers were there under another identifier with less text, and now have this one's",
            added.papers_completed
        ));
    }
    if added.papers_without_passages > 0 {
        app.printer.say(&format!(
            "  {} papers have no text and will not be found by searching",
            added.papers_without_passages
        ));
    }
}

/// Prints what became of the things that were read, to standard error under the name `what`.
pub(crate) fn report_library(
    what: &str,
    done: Option<&AddProgress>,
    files_unchanged: usize,
    lost: usize,
    app: &App,
) {
    let count = |of: fn(&AddProgress) -> u64| done.map_or(0, of);
    let written = count(|p| p.papers_added);
    let (texts, metadata) = (count(|p| p.papers_replaced), count(|p| p.papers_completed));
    app.printer.say(&format!(
        "{what}: {} papers added, {texts} replaced (text or title), {metadata} with other metadata, {} unchanged; {} passages, {} cut at the encoder's token limit",
        written.saturating_sub(texts + metadata),
        count(|p| p.papers_unchanged),
        count(|p| p.passages_added),
        count(|p| p.passages_truncated),
    ));
    if files_unchanged > 0 {
        app.printer.say(&format!(
            "  {files_unchanged} files are stored as they are and were not read again (--reread does)"
        ));
    }
    if lost > 0 {
        app.printer
            .say(&format!("  {lost} papers lost a file or entry that now holds another work"));
    }
    if count(|p| p.papers_without_passages) > 0 {
        app.printer.say(&format!(
            "  {} papers have no text and will not be found by searching",
            count(|p| p.papers_without_passages)
        ));
    }
}

/// Says how many words that had run together were divided.
pub(crate) fn report_spaces(repaired: usize, app: &App) {
    if repaired > 0 {
        app.printer.say(&format!(
            "  {repaired} words that had lost the space between them were divided (--keep-lost-spaces keeps them)"
        ));
    }
}
