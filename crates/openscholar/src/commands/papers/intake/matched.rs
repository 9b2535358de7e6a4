//! Which of a paper's references are papers that are here.

use scholar_core::PaperMeta;
use scholar_datastore::Datastore;
use scholar_formats::DocumentReference;
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
            let mut stored = Vec::new();
            if let Some(store) = &store {
                for title in titles(reference) {
                    stored.extend(store.papers_titled(title)?);
                }
            }
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

/// Fewest words of a part of a printed reference that may be its title.
const TITLE_WORDS: usize = 4;

/// The title, or the parts of the printed text that may be it: a candidate still has to agree in year and author.
fn titles(reference: &DocumentReference) -> Vec<&str> {
    if let Some(title) = &reference.title {
        return vec![title];
    }
    let parts = reference.text.split(['.', '?', '“', '”', '"', ';']);
    parts.map(str::trim).filter(|part| part.split(' ').count() >= TITLE_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_reference_offers_its_parts() {
        let text = "A. Vaswani and N. Shazeer. 2017. Attention is all you need. In Proc. of NIPS.";
        let printed = DocumentReference { text: text.to_owned(), ..DocumentReference::default() };
        assert_eq!(titles(&printed), ["Attention is all you need"]);
        let told = DocumentReference { title: Some("Short".to_owned()), ..printed };
        assert_eq!(titles(&told), ["Short"]);
    }
}
