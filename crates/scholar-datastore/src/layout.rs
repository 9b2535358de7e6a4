//! Names of what lies in a datastore's folder.

/// Version, encoder and passage rules, as JSON.
pub const DESCRIPTOR_FILE: &str = "datastore.json";
/// Folder of the tantivy index.
pub(crate) const LEXICAL_FOLDER: &str = "lexical";
/// Folder of the dense segments.
pub(crate) const DENSE_FOLDER: &str = "dense";
/// tantivy's list of segments, in [`LEXICAL_FOLDER`], replaced by each commit.
pub(crate) const META_FILE: &str = "meta.json";
/// The lock file. It stays when the lock is released; only the lock counts, not the file.
pub(crate) const LOCK_FILE: &str = "writer.lock";

/// Begins the names of files that tantivy writes before it renames them.
pub(crate) const UNFINISHED: &str = ".tmp";
