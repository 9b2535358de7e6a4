//! The config file. Precedence: preset < file < environment < flag.

use std::path::{Path, PathBuf};

pub(crate) use scholar_models::catalog::{DEFAULT_ENCODER, DEFAULT_GENERATOR};
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, Context as _};

/// Datastore asked when none is named.
pub(crate) const DEFAULT_DATASTORE: &str = crate::starter::NAME;
/// What reads candidates again unless the config says otherwise; carried in the program: docs/decisions/0015.
pub(crate) const DEFAULT_RERANKER: &str = "scholar-reranker-mini";
/// Who judges support unless the config says otherwise; carried in the program: docs/decisions/0016.
pub(crate) const DEFAULT_JUDGE: &str = "scholar-attributor-mini";
/// What a first question fetches.
pub(crate) const DEFAULT_MODELS: [&str; 4] =
    [DEFAULT_ENCODER, DEFAULT_RERANKER, DEFAULT_JUDGE, DEFAULT_GENERATOR];

/// `config.toml`, every key optional; an unknown key is an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigFile {
    /// Datastore asked when none is named.
    pub(crate) datastore: Option<String>,
    /// Encoder of new datastores.
    pub(crate) encoder: Option<String>,
    /// What reads candidates again: a reranker or an encoder from the catalog, a reranker's folder, `own` for the
    /// datastore's encoder, or `auto`, which is what leaving it out means: [`DEFAULT_RERANKER`].
    pub(crate) reranker: Option<String>,
    /// Who judges support: lexical, embedded, server, a judge from the catalog or its folder, or `auto`, which is what
    /// leaving it out means: [`DEFAULT_JUDGE`].
    pub(crate) judge: Option<String>,
    /// Threads for models; left out: all cores.
    pub(crate) threads: Option<usize>,
    /// Resident memory in MB above which a search gives mapped vectors back; left out: the system decides.
    pub(crate) search_memory_mb: Option<u64>,
    /// The writing model.
    pub(crate) generator: GeneratorFile,
    /// Where papers are looked for.
    pub(crate) sources: SourcesFile,
}

/// The `[sources]` table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SourcesFile {
    /// What is asked when the command line names nothing: datastore, s2, web, openalex, arxiv, pubmed.
    #[serde(rename = "use")]
    pub(crate) used: Vec<String>,
    /// Contact address for providers that ask for one.
    pub(crate) email: Option<String>,
    /// File of keys, one `NAME=value` in a line, for example `S2_API_KEY=…`; the environment wins.
    pub(crate) key_file: Option<PathBuf>,
    /// Answer from stored replies and datastores only.
    pub(crate) offline: bool,
    /// Whole texts asked for per search.
    pub(crate) full_texts: Option<usize>,
    /// Size of the store of replies in MB.
    pub(crate) cache_mb: Option<u64>,
    /// Seconds for all requests of one question together.
    pub(crate) deadline_seconds: Option<u64>,
    /// Addresses that differ from the providers' own: `S2_BASE_URL = "http://…"`.
    pub(crate) base_urls: std::collections::BTreeMap<String, String>,
}

/// The `[generator]` table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GeneratorFile {
    /// `embedded`, `server` or `none`.
    pub(crate) kind: Option<String>,
    /// Model name or GGUF file.
    pub(crate) model: Option<String>,
    /// Address of an OpenAI-compatible server.
    pub(crate) base_url: Option<String>,
    /// File with the server's key; the environment's `OPENAI_API_KEY` wins.
    pub(crate) key_file: Option<PathBuf>,
    /// `small` or `strong`; left out: by the model.
    pub(crate) strength: Option<String>,
    /// Longest prompt plus reply of the server's model, in tokens.
    pub(crate) context_tokens: Option<usize>,
    /// Deadline of one call in seconds, retries included.
    pub(crate) deadline_seconds: Option<u64>,
    /// Attempts of one call.
    pub(crate) attempts: Option<u32>,
    /// Longest first pause between attempts in milliseconds; it doubles with each.
    pub(crate) retry_pause_ms: Option<u64>,
}

impl ConfigFile {
    /// Reads `path`; a missing file is an empty one unless it was `named` by the user.
    pub(crate) fn read(path: &Path, named: bool) -> Result<Self, CommandError> {
        let text = match fs_err::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(error).user(|| "cannot read the config file".to_owned()).map_err(
                    |error| error.with_hint("repair or remove it, or pass --config FILE"),
                );
            }
        };
        toml::from_str(&text).map_err(|source| {
            CommandError::user(format!("{} is not a valid config file", path.display()))
                .with_source(source)
                .with_hint("the accepted keys are listed in docs/configuration.md")
        })
    }

    /// The key in the key file, trimmed of white space only.
    pub(crate) fn key(&self) -> Result<Option<String>, CommandError> {
        let Some(path) = &self.generator.key_file else { return Ok(None) };
        let key = fs_err::read_to_string(path).user(|| "cannot read the key file".to_owned())?;
        Ok(Some(key.trim().to_owned()).filter(|key| !key.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_an_error() {
        let parse = toml::from_str::<ConfigFile>;
        assert!(parse("datastore = \"x\"\n[generator]\nmodel = \"m\"").is_ok());
        let error = parse("top_m = 3").expect_err("unknown").to_string();
        assert!(error.contains("top_m"), "{error}");
    }
}
