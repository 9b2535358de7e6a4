//! The config file. Precedence: preset < file < environment < flag.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use scholar_clients::local_servers::USUAL_PORTS;
use scholar_core::{Limit, ReadLimits};
use scholar_datastore::files;
pub(crate) use scholar_models::catalog::{DEFAULT_ENCODER, DEFAULT_GENERATOR, DEFAULT_INIT};
use scholar_pipeline::config::{AskConfig, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::env::LOCAL_PORTS_SETTING;
use crate::error::{CommandError, Context as _};

/// Datastore asked when none is named.
pub(crate) const DEFAULT_DATASTORE: &str = crate::starter::NAME;
/// Datastore that papers are added to when none is named.
pub(crate) const LIBRARY_DATASTORE: &str = "library";
/// What reads candidates again unless the config says otherwise; carried in the program: docs/decisions/0015.
pub(crate) const DEFAULT_RERANKER: &str = "scholar-reranker-mini";
/// Which sentence classifier, shipped with the program, reads the vectors of which encoder.
pub(crate) const SENTENCE_CLASSIFIERS: [(&str, &str); 2] =
    [(DEFAULT_ENCODER, "scholar-sentences-granite"), (DEFAULT_INIT, "scholar-sentences-mini")];
/// Who judges support unless the config says otherwise; carried in the program: docs/decisions/0016.
pub(crate) const DEFAULT_JUDGE: &str = "scholar-attributor-mini";
/// What `models pull` without names puts into place, and `doctor` looks for.
pub(crate) const DEFAULT_MODELS: [&str; 4] =
    [DEFAULT_ENCODER, DEFAULT_RERANKER, DEFAULT_JUDGE, DEFAULT_GENERATOR];

/// Largest config or key file in bytes.
const CONFIG_BYTES: usize = 1 << 20;

/// `config.toml`, every key optional; an unknown key is an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigFile {
    /// Datastore asked when none is named.
    pub(crate) datastore: Option<String>,
    /// Names for several datastores that are searched as one: `mine = ["library", "starter"]`.
    pub(crate) groups: BTreeMap<String, Vec<String>>,
    /// Encoder of new datastores.
    pub(crate) encoder: Option<String>,
    /// What reads candidates again: a reranker or an encoder from the catalog, a reranker's folder, `datastore-encoder` for the
    /// datastore's encoder, or `auto`, which is what leaving it out means: [`DEFAULT_RERANKER`].
    pub(crate) reranker: Option<String>,
    /// Who judges support: lexical, embedded, server, a judge from the catalog or its folder, or `auto`, which is what
    /// leaving it out means: [`DEFAULT_JUDGE`].
    pub(crate) judge: Option<String>,
    /// Model of the generator's server that judges support; left out: the model that writes, where it is capable.
    pub(crate) judge_model: Option<String>,
    /// Threads for models; left out: all cores.
    pub(crate) threads: Option<usize>,
    /// Resident memory in MB above which a search gives mapped vectors back; left out: the system decides.
    pub(crate) search_memory_mb: Option<u64>,
    /// Private key that every proof is signed with; left out: proofs are unsigned.
    pub(crate) sign: Option<PathBuf>,
    /// The writing model.
    pub(crate) generator: GeneratorFile,
    /// Where papers are looked for.
    pub(crate) sources: SourcesFile,
    /// How much one file of papers may be, by the limit's name.
    pub(crate) limits: BTreeMap<Limit, u64>,
    /// How an answer is written, where `--mode` does not say.
    pub(crate) mode: Option<Value>,
    /// How candidates are found.
    pub(crate) retrieval: Option<Value>,
    /// How candidates become evidence.
    pub(crate) ranking: Option<Value>,
    /// Whether prompts carry examples.
    pub(crate) demonstrations: Option<Value>,
    /// How tokens are drawn.
    pub(crate) sampling: Option<Value>,
    /// The self-feedback loop.
    pub(crate) feedback: Option<Value>,
    /// Which text gets citations inserted.
    pub(crate) posthoc: Option<Value>,
    /// What counts as proven.
    pub(crate) proof: Option<Value>,
    /// Passages that an evidence-first answer selects its sentences from.
    pub(crate) evidence_pool: Option<Value>,
    /// Evidence-first answers.
    pub(crate) evidence: Option<Value>,
    /// What a run may use.
    pub(crate) budget: Option<Value>,
}

/// Sets `datastore` in the config file at `path`, which is made if it is absent. All other lines stay as they are.
pub(crate) fn set_datastore(path: &Path, name: &str) -> Result<(), CommandError> {
    let before = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).user(|| "cannot read the config file".to_owned()),
    };
    let text = with_datastore(&before, name);
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder).user(|| "cannot make the config folder".to_owned())?;
    }
    // Under another name first: a full disk must not cost the settings that are there.
    let new = path.with_extension("toml.new");
    fs_err::write(&new, text)
        .and_then(|()| fs_err::rename(&new, path))
        .user(|| "cannot write the config file".to_owned())
}

/// A config with `datastore = "name"`. The key stands before the first table.
fn with_datastore(config: &str, name: &str) -> String {
    let line = format!("datastore = {name:?}");
    let mut lines: Vec<&str> = config.lines().collect();
    let tables = lines.iter().position(|line| line.trim_start().starts_with('['));
    let tables = tables.unwrap_or(lines.len());
    let is_key = |line: &&str| {
        let rest = line.trim_start().strip_prefix("datastore");
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    match lines[..tables].iter().position(is_key) {
        Some(at) => lines[at] = &line,
        None => lines.insert(0, &line),
    }
    format!("{}\n", lines.join("\n"))
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
    pub(crate) base_urls: BTreeMap<String, String>,
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
    /// Ports of this machine at which model servers are looked for as long as no model is configured; left out: the usual
    /// ones. Empty: nobody is asked.
    pub(crate) local_ports: Option<Vec<u16>>,
}

impl ConfigFile {
    /// The settings of answers that the file has, by the names of docs/deviations.md.
    pub(crate) fn settings(&self) -> Settings {
        let Self {
            datastore: _,
            groups: _,
            encoder: _,
            reranker: _,
            judge: _,
            judge_model: _,
            threads: _,
            search_memory_mb: _,
            sign: _,
            generator: _,
            sources: _,
            limits: _,
            mode,
            retrieval,
            ranking,
            demonstrations,
            sampling,
            feedback,
            posthoc,
            proof,
            evidence_pool,
            evidence,
            budget,
        } = self;
        let named = [
            ("mode", mode),
            ("retrieval", retrieval),
            ("ranking", ranking),
            ("demonstrations", demonstrations),
            ("sampling", sampling),
            ("feedback", feedback),
            ("posthoc", posthoc),
            ("proof", proof),
            ("evidence_pool", evidence_pool),
            ("evidence", evidence),
            ("budget", budget),
        ];
        let set = named.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        set.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Reads `path`; a missing file is an empty one unless it was `named` by the user.
    pub(crate) fn read(path: &Path, named: bool) -> Result<Self, CommandError> {
        let text = match files::read_text(path, CONFIG_BYTES) {
            Ok(text) => text,
            Err(error) if error.is_absent() && !named => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(error).user(|| "cannot read the config file".to_owned()).map_err(
                    |error| error.with_hint("repair or remove it, or pass --config FILE"),
                );
            }
        };
        let invalid = |source: Box<dyn std::error::Error + Send + Sync>| {
            CommandError::user(format!("{} is not a valid config file", path.display()))
                .with_source(source)
                .with_hint("the accepted keys are listed in docs/configuration.md")
        };
        let read: Self = toml::from_str(&text).map_err(|source| invalid(source.into()))?;
        // Said once here rather than by whichever command reads the settings first.
        AskConfig::paper().with(&read.settings()).map_err(|source| invalid(source.into()))?;
        Ok(read)
    }

    /// The limits of reading: what `asked` sets, else the file, else what is usual.
    pub(crate) fn read_limits(&self, asked: &[(Limit, u64)]) -> ReadLimits {
        let mut limits = ReadLimits::standard();
        let own = self.limits.iter().map(|(limit, value)| (*limit, *value));
        for (limit, value) in own.chain(asked.iter().copied()) {
            limits.set(limit, value);
        }
        limits
    }

    /// Where model servers of this machine are looked for: at the ports of `variable`, else of the file, else at the usual ones.
    pub(crate) fn local_ports(&self, variable: Option<&str>) -> Result<Vec<u16>, CommandError> {
        match (variable, &self.generator.local_ports) {
            (Some("none"), _) => Ok(Vec::new()),
            (Some(ports), _) => {
                let numbers = ports.split(',').map(|port| port.trim().parse::<u16>());
                numbers.collect::<Result<Vec<_>, _>>().map_err(|_| {
                    CommandError::user(format!("{LOCAL_PORTS_SETTING} is {ports:?}"))
                        .with_hint("it must be port numbers separated by commas, or none")
                })
            }
            (None, Some(ports)) => Ok(ports.clone()),
            (None, None) => Ok(USUAL_PORTS.iter().map(|usual| usual.port).collect()),
        }
    }

    /// The key in the key file, trimmed of white space only.
    pub(crate) fn key(&self) -> Result<Option<String>, CommandError> {
        let Some(path) = &self.generator.key_file else { return Ok(None) };
        let key =
            files::read_text(path, CONFIG_BYTES).user(|| "cannot read the key file".to_owned())?;
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
        let error = parse("[limits]\nsektions = 3").expect_err("unknown").to_string();
        assert!(error.contains("sektions") && error.contains("sections"), "{error}");
    }

    #[test]
    fn the_options_of_the_deviations_can_be_set() {
        let config: ConfigFile = toml::from_str(
            "posthoc = \"all\"\n[retrieval]\ndedup = \"upstream\"\n[sampling.keywords]\ntemperature = 0.9",
        )
        .expect("valid");
        let answers = AskConfig::paper().with(&config.settings()).expect("known names");
        assert_eq!(answers.retrieval.dedup, scholar_pipeline::config::DedupRule::Upstream);
        assert_eq!(answers.posthoc, scholar_pipeline::config::PosthocMode::All);
        assert!((answers.sampling.keywords.temperature - 0.9).abs() < 1e-6);
        let config: ConfigFile = toml::from_str("[retrieval]\ndedupe = 1").expect("a table");
        let error = AskConfig::paper().with(&config.settings()).expect_err("unknown").to_string();
        assert!(error.contains("retrieval.dedupe"), "{error}");
    }

    #[test]
    fn the_environment_says_where_servers_are_looked_for_before_the_file() {
        let config: ConfigFile = toml::from_str("[generator]\nlocal_ports = [1]").expect("valid");
        let ports = |variable| config.local_ports(variable).ok();
        assert_eq!(ports(None), Some(vec![1]));
        assert_eq!(ports(Some("2, 3")), Some(vec![2, 3]));
        assert_eq!(ports(Some("none")), Some(vec![]));
        assert_eq!(ports(Some("off")), None);
        let usual = ConfigFile::default().local_ports(None).expect("valid");
        assert_eq!(usual, [11434, 8080, 1234, 8000]);
    }

    #[test]
    fn the_command_line_sets_limits_before_the_file() {
        let config: ConfigFile =
            toml::from_str("[limits]\nsections = 7\nline_bytes = 9\nseconds = 5").expect("valid");
        let limits = config.read_limits(&[(Limit::Sections, 8)]);
        assert_eq!((limits.sections, limits.line_bytes, limits.time.as_secs()), (8, 9, 5));
        assert_eq!(limits.pages, ReadLimits::standard().pages);
    }
}
