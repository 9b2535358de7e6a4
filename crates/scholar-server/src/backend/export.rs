//! What runs wrote, as files.

/// An answer, a table or another result as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its bytes.
    pub bytes: Vec<u8>,
}
