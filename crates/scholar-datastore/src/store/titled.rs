//! Stored papers by their title.

use std::collections::BTreeSet;

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperId, PaperMeta};
use scholar_formats::library::matching::Matcher;
use tantivy::Term;

use super::{Datastore, Snapshot, parse_stored, stored};
use crate::error::Error;
use crate::lexical::lookup::alive_in;
use crate::titles::{STORE_CACHE_BLOCKS, owner, titled};

impl Datastore {
    /// Metadata of every stored paper with this title, whatever its case and punctuation, by identifier. Several papers
    /// may share a title. Papers without passages are found if they were stored since their titles are kept.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn papers_titled(&self, title: &str) -> Result<Vec<PaperMeta>, Error> {
        let snapshot = self.snapshot()?;
        let key = title_key(title);
        if key.is_empty() {
            return Ok(Vec::new());
        }
        let bare = self.fields().bare_title_term(&key);
        let titles = BTreeSet::from([key]);
        let ids = self.reading(|| self.ids_titled(&snapshot, &titles, &bare))?;
        ids.iter().map(|id| self.load_meta(&snapshot, id)).collect()
    }

    /// The titles of all stored papers, ready to be compared word by word; `None` where there are more than `most`.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn title_matcher(&self, most: u64) -> Result<Option<Matcher>, Error> {
        if self.info()?.papers > most {
            return Ok(None);
        }
        let mut matcher = Matcher::default();
        self.each_paper(|meta| {
            matcher.add(&meta);
            Ok(())
        })?;
        Ok(Some(matcher))
    }

    fn ids_titled(
        &self,
        snapshot: &Snapshot,
        titles: &BTreeSet<String>,
        bare: &Term,
    ) -> Result<BTreeSet<PaperId>, Error> {
        let unreadable = || Error::index("read", self.root());
        let mut ids: BTreeSet<PaperId> = BTreeSet::new();
        for reader in snapshot.searcher.segment_readers() {
            let store = reader
                .get_store_reader(STORE_CACHE_BLOCKS)
                .map_err(|source| unreadable()(source.into()))?;
            for doc in titled(reader, self.fields(), titles).map_err(unreadable())? {
                if reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                    ids.extend(owner(&store, self.fields(), doc).map_err(unreadable())?);
                }
            }
            for doc in alive_in(reader, bare).map_err(unreadable())? {
                let document = stored::document(&store, doc).map_err(unreadable())?;
                let meta: PaperMeta = parse_stored(self.root(), &document, self.fields().head)?;
                ids.insert(meta.id);
            }
        }
        Ok(ids)
    }
}
