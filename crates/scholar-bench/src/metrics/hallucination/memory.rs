//! Titles that were looked up, on disk: nobody is asked for one twice, however often a run is scored.

use std::io;
use std::path::Path;

use async_trait::async_trait;
use scholar_core::PortError;

use super::{FoundPaper, TitleLookup};
use crate::judge::memory::{Memory, key};

/// A lookup that remembers what was found and what was not. Lookups that failed are asked again.
pub struct RememberedLookup<L> {
    lookup: L,
    known: Memory<Option<FoundPaper>>,
}

impl<L: TitleLookup> RememberedLookup<L> {
    /// Asks `lookup` for what the file at `path` does not hold under its name, and adds it there.
    ///
    /// # Errors
    /// When the file cannot be read or written; the error names it.
    pub fn open(lookup: L, path: &Path) -> io::Result<Self> {
        Ok(Self { lookup, known: Memory::open(path)? })
    }
}

#[async_trait]
impl<L: TitleLookup> TitleLookup for RememberedLookup<L> {
    fn name(&self) -> &str {
        self.lookup.name()
    }

    async fn find(&self, title: &str) -> Result<Option<FoundPaper>, PortError> {
        let key = key([self.lookup.name(), title]);
        if let Some(known) = self.known.get(&key) {
            return Ok(known);
        }
        let found = self.lookup.find(title).await?;
        self.known.keep(key, found.clone());
        Ok(found)
    }
}
