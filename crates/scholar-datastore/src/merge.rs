//! Joining datastores: papers, passages and vectors are copied as they are, nothing is cut or encoded anew.
//!
//! What is stored already is skipped, so an interrupted merge goes on where it was. Sources may be of this format or of
//! format 1, so this is also how an older datastore is brought to this format.

mod source;

use std::ops::ControlFlow;
use std::path::Path;

pub use source::MergeSource;
pub(crate) use source::StoredPaper;

use crate::descriptor::Descriptor;
use crate::error::Error;
use crate::writer::add::AddRun;
use crate::writer::prepare::Prepared;
use crate::writer::{AddOptions, AddProgress, AddReport, DatastoreWriter};

impl DatastoreWriter {
    /// Copies every paper of `source` that was not taken in before, with its passages, vectors and the name of its source:
    /// the same sources once more change nothing, and there is no commit. A record that is new and has the identifier of a
    /// stored paper takes its place. Commits and reports as [`DatastoreWriter::add`] does; [`AddProgress::papers_read`] runs to
    /// [`MergeSource::papers`].
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`] and [`Error::RulesMismatch`] when the two do not belong together,
    /// [`Error::Corrupt`] when `source` cannot be read, or a failed write.
    pub fn copy_from(
        &mut self,
        source: &MergeSource,
        options: &AddOptions,
        progress: &mut dyn FnMut(&AddProgress) -> ControlFlow<()>,
    ) -> Result<AddReport, Error> {
        fits(&self.root, &self.descriptor, source)?;
        let mut work = AddRun::start(options, progress);
        work.remembers = true;
        let mut interrupted = false;
        for stored in source.papers_in_order()? {
            let StoredPaper { paper, merged, source: from } = source.paper(stored)?;
            let there = paper.meta.id.clone();
            let mut prepared = Prepared::uncut(paper, self.descriptor.rules)
                .map_err(|error| Error::corrupt(&self.root, error.to_string()))?;
            self.join(&mut prepared, None, merged)?;
            if self.was_taken_in(&prepared.content)? {
                work.state.papers_read += 1;
                work.state.papers_unchanged += 1;
            } else if let Some(mut prepared) = self.admit(prepared, &mut work)? {
                let (passages, vectors) = source.passages(&there)?;
                prepared.put_passages(passages);
                self.store(&prepared, &vectors, from.as_deref().unwrap_or(&options.source))?;
                work.state.papers_added += 1;
                work.state.passages_added += prepared.passages.len() as u64;
                self.commit_when_due(&mut work)?;
            }
            if work.is_quiet() && work.report().is_break() {
                interrupted = true;
                break;
            }
        }
        self.finish(&mut work, interrupted)?;
        Ok(AddReport { progress: work.state, interrupted })
    }
}

fn fits(root: &Path, descriptor: &Descriptor, source: &MergeSource) -> Result<(), Error> {
    let theirs = source.descriptor();
    descriptor.check_encoder(root, &theirs.encoder)?;
    if descriptor.rules != theirs.rules {
        return Err(Error::RulesMismatch {
            path: root.to_owned(),
            other: source.root().to_owned(),
        });
    }
    Ok(())
}
