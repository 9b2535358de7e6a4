//! What is fixed when a datastore is created: format version, encoder, how papers are cut.

use std::path::Path;

use scholar_core::EncoderInfo;
use scholar_core::text::PassageRules;
use serde::{Deserialize, Serialize};

use crate::error::Error;
pub use crate::layout::DESCRIPTOR_FILE;
use crate::seal;

/// Version of the directory layout, the descriptor and the tantivy schema.
pub const FORMAT_VERSION: u32 = 2;
/// Oldest version that [`crate::MergeSource`] still copies from.
const OLDEST_VERSION: u32 = 1;
/// First version whose descriptor has a checksum.
const SEALED_VERSION: u32 = 2;

/// How papers become passages. Part of a paper's content key, so other rules mean other passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRules {
    /// Words in a passage.
    pub passage_words: usize,
    /// A last block with fewer words joins the one before.
    pub min_last_words: usize,
    /// Whether a short last block is kept.
    pub keep_last: bool,
    /// Whether a passage may reach over the end of a section.
    pub cross_sections: bool,
    /// Whether every document counts: a paper without text gets one empty passage, so that its title can be found, and
    /// duplicates are kept.
    pub title_only: bool,
}

impl BuildRules {
    /// Passages as the paper cuts them: 256 words over the whole text, short tail kept; no text, no passage.
    pub fn paper() -> Self {
        Self::with(PassageRules::paper(), false)
    }

    /// Passages inside sections, so that each says where it comes from.
    pub fn sections() -> Self {
        Self::with(PassageRules::sections(), false)
    }

    /// One passage per document even without text: what BEIR-style collections need, where a title alone is a document.
    pub fn collection() -> Self {
        Self::with(PassageRules::sections(), true)
    }

    fn with(rules: PassageRules, title_only: bool) -> Self {
        let PassageRules { words, min_last_words, keep_last, cross_sections } = rules;
        Self { passage_words: words, min_last_words, keep_last, cross_sections, title_only }
    }

    pub(crate) fn passages(self) -> PassageRules {
        let Self { passage_words, min_last_words, keep_last, cross_sections, title_only: _ } = self;
        PassageRules { words: passage_words.max(1), min_last_words, keep_last, cross_sections }
    }
}

/// The content of `datastore.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// [`FORMAT_VERSION`], except of an older datastore that is copied from.
    pub format: u32,
    /// Whose vectors are stored.
    pub encoder: EncoderInfo,
    /// How papers were cut.
    pub rules: BuildRules,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

impl Descriptor {
    /// Reads the descriptor of the datastore at `root`.
    ///
    /// # Errors
    /// [`Error::NotADatastore`] when there is none, [`Error::Version`] for another format, [`Error::Corrupt`].
    pub fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join(DESCRIPTOR_FILE);
        let descriptor = Self::read_older(root)?;
        if descriptor.format != FORMAT_VERSION {
            return Err(Error::Version {
                path,
                found: descriptor.format,
                supported: FORMAT_VERSION,
            });
        }
        Ok(descriptor)
    }

    /// As [`Descriptor::read`], for this format and those a datastore can be copied from.
    ///
    /// # Errors
    /// As [`Descriptor::read`].
    pub fn read_older(root: &Path) -> Result<Self, Error> {
        let path = root.join(DESCRIPTOR_FILE);
        let bytes = match fs_err::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::NotADatastore { path: root.to_owned() });
            }
            Err(source) => return Err(Error::Io { doing: "read", path, source }),
        };
        // The version is read alone first: the other fields of a later version may not parse.
        let FormatOnly { format } = serde_json::from_slice(&bytes)
            .map_err(|error| Error::corrupt(&path, error.to_string()))?;
        if !(OLDEST_VERSION..=FORMAT_VERSION).contains(&format) {
            return Err(Error::Version { path, found: format, supported: FORMAT_VERSION });
        }
        let corrupt = |error: serde_json::Error| Error::corrupt(&path, error.to_string());
        let document: serde_json::Value = serde_json::from_slice(&bytes).map_err(corrupt)?;
        // The first version had no checksum.
        if (format >= SEALED_VERSION || seal::is_sealed(&document)) && !seal::is_intact(&document) {
            return Err(Error::corrupt(&path, "its checksum does not fit"));
        }
        serde_json::from_value(document).map_err(corrupt)
    }

    pub(crate) fn write(&self, root: &Path) -> Result<(), Error> {
        let path = root.join(DESCRIPTOR_FILE);
        let json = serde_json::to_value(self)
            .and_then(|document| serde_json::to_vec_pretty(&seal::seal(document)))
            .map_err(|error| Error::corrupt(&path, error.to_string()))?;
        write_atomic(&path, &json)
    }

    /// Refuses an encoder that is not the one the datastore was built with.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`], which names both.
    pub fn check_encoder(&self, root: &Path, given: &EncoderInfo) -> Result<(), Error> {
        if given.fingerprint == self.encoder.fingerprint && given.dim == self.encoder.dim {
            return Ok(());
        }
        Err(Error::EncoderMismatch {
            path: root.to_owned(),
            stored: self.encoder.name.clone(),
            stored_fingerprint: self.encoder.fingerprint.clone(),
            given: given.name.clone(),
            given_fingerprint: given.fingerprint.clone(),
        })
    }
}

/// Writes `bytes` so that after a crash the file is the old one or the new one: temporary file, sync, rename, sync.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    use std::io::Write as _;
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(Error::io("create a file in", folder))?;
    file.write_all(bytes).map_err(Error::io("write", path))?;
    file.as_file().sync_all().map_err(Error::io("write", path))?;
    file.persist(path).map_err(|error| Error::io("write", path)(error.error))?;
    sync_folder(folder)
}

/// Makes renames in `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    fs_err::File::open(folder)
        .and_then(|handle| handle.sync_all())
        .map_err(Error::io("sync", folder))
}
