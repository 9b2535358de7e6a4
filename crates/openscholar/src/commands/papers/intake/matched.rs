//! Which of a paper's references are papers that are here.

use scholar_core::PaperMeta;
use scholar_datastore::Datastore;
use scholar_formats::library::matching::{MatchedBy, same_paper};

use super::Taken;
use crate::app::App;
use crate::error::CommandError;

/// Adds to every paper the references that match a paper of this intake or of the datastore called `name`.
pub(super) fn match_references(
    name: &str,
    taken: &mut Taken,
    app: &App,
) -> Result<(), CommandError> {
    let path = app.home.datastore(name)?;
    let store = if path.is_dir() { Some(Datastore::open(&path)?) } else { None };
    let batch: Vec<PaperMeta> = taken.items.iter().map(|item| item.paper.meta.clone()).collect();
    for item in &mut taken.items {
        let own = item.paper.meta.id.clone();
        for reference in &item.references {
            // What states an identifier needs no match: the graph resolves identifiers.
            if !reference.ids.is_empty() {
                continue;
            }
            let stored = match (&store, &reference.title) {
                (Some(store), Some(title)) => store.papers_titled(title)?,
                _ => Vec::new(),
            };
            let by = |paper: &&PaperMeta| -> Option<MatchedBy> { same_paper(reference, paper) };
            let found = stored.iter().chain(&batch).find(|paper| by(paper).is_some());
            if let Some(paper) = found.filter(|paper| paper.id != own)
                && !item.paper.references.contains(&paper.id)
            {
                item.paper.references.push(paper.id.clone());
                item.matched += 1;
            }
        }
    }
    Ok(())
}
