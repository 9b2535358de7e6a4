//! The catalog: which models the program knows, what they are, and where their files come from.
//!
//! Data, not deeds: downloading is `scholar-clients`' business, opening a folder the encoder's and the engine's. The
//! built-in catalog is `catalog/catalog.toml`; users extend it with a file of the same form.

mod check;
mod entry;
mod names;

pub use entry::{
    Architecture, CatalogEntry, GeneratorNeeds, Holds, ModelFile, Purpose, Source, WheelPart,
    Wheels,
};
pub use names::UnknownModel;

use serde::Deserialize;

/// The catalog shipped with the program.
const BUILTIN: &str = include_str!("catalog/catalog.toml");

/// The encoder used when none is named; carried in the program: docs/decisions/0024.
pub const DEFAULT_ENCODER: &str = "granite-embedding-30m-english";

/// What training starts from when nothing is named: its files hold the weights as they were trained, in f32.
pub const DEFAULT_INIT: &str = "all-MiniLM-L6-v2";

/// The embedded language model used when none is named.
pub const DEFAULT_GENERATOR: &str = "qwen2.5-coder-1.5b-instruct-q4_k_m";

/// Where models are published, unless `HF_ENDPOINT` says otherwise.
pub const DEFAULT_HUB: &str = "https://huggingface.co";

/// A catalog file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Not TOML of the documented form.
    #[error("cannot read the model catalog {file}")]
    Parse {
        /// Name of the file.
        file: String,
        /// Line, column and what was expected.
        #[source]
        source: toml::de::Error,
    },
    /// An entry that contradicts itself or would write outside its folder.
    #[error("the entry `{model}` of the model catalog {file} {problem}")]
    Entry {
        /// Name of the file.
        file: String,
        /// Name of the entry at fault.
        model: String,
        /// What is wrong, as the rest of a sentence.
        problem: String,
    },
}

/// All known models, in the order of their files.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalog {
    entries: Vec<CatalogEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogFile {
    #[serde(default)]
    model: Vec<CatalogEntry>,
}

impl Catalog {
    /// The catalog shipped with the program.
    ///
    /// # Panics
    /// Never: the file is part of this crate and read by its tests.
    pub fn builtin() -> Self {
        Self::parse(BUILTIN, "catalog.toml").expect("the embedded catalog is valid")
    }

    /// Reads a catalog; `file` is named in errors.
    ///
    /// # Errors
    /// [`CatalogError`].
    pub fn parse(text: &str, file: &str) -> Result<Self, CatalogError> {
        let parsed: CatalogFile = toml::from_str(text)
            .map_err(|source| CatalogError::Parse { file: file.to_owned(), source })?;
        for (at, entry) in parsed.model.iter().enumerate() {
            let twice = parsed.model[..at].iter().any(|e| e.name.eq_ignore_ascii_case(&entry.name));
            let problem =
                twice.then(|| "is there twice".to_owned()).or_else(|| check::problem(entry));
            if let Some(problem) = problem {
                let (file, model) = (file.to_owned(), entry.name.clone());
                return Err(CatalogError::Entry { file, model, problem });
            }
        }
        Ok(Self { entries: parsed.model })
    }

    /// This catalog with the entries of `other`, which replace those of the same name.
    #[must_use]
    pub fn extended(mut self, other: Self) -> Self {
        for entry in other.entries {
            match self.entries.iter_mut().find(|e| e.name.eq_ignore_ascii_case(&entry.name)) {
                Some(old) => *old = entry,
                None => self.entries.push(entry),
            }
        }
        self
    }

    /// Every entry in order.
    pub fn entries(&self) -> &[CatalogEntry] {
        &self.entries
    }

    /// The entry called `name`, ignoring case.
    ///
    /// # Errors
    /// [`UnknownModel`] suggests what was meant.
    pub fn find(&self, name: &str) -> Result<&CatalogEntry, UnknownModel> {
        let wanted = name.trim();
        let found = self.entries.iter().find(|entry| entry.name.eq_ignore_ascii_case(wanted));
        found.ok_or_else(|| UnknownModel::new(wanted, self.entries.iter().map(|e| e.name.as_str())))
    }
}

/// The entry called `name` in the built-in catalog.
///
/// # Errors
/// As [`Catalog::find`].
pub fn find(name: &str) -> Result<CatalogEntry, UnknownModel> {
    Catalog::builtin().find(name).cloned()
}

#[cfg(test)]
mod tests;
