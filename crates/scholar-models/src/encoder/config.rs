//! What a model folder says about itself.

use std::path::Path;

use scholar_core::Similarity;
use serde::Deserialize;

use super::Pooling;
use crate::error::ModelError;

/// The families with a forward pass here; all are post-norm transformers that differ in embeddings and attention bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Architecture {
    /// BERT, `MiniLM`, Contriever.
    Bert,
    /// `MPNet`: relative position buckets, no segments.
    Mpnet,
    /// `RoBERTa` and XLM-RoBERTa: positions from 2.
    Roberta,
}

/// `config.json`, checked.
#[derive(Debug, Clone)]
pub(crate) struct NetworkConfig {
    pub(crate) architecture: Architecture,
    pub(crate) vocabulary: usize,
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) intermediate: usize,
    pub(crate) positions: usize,
    /// Segments, 0 where the family has none.
    pub(crate) segments: usize,
    pub(crate) epsilon: f32,
    /// Buckets of relative positions, 0 where the family has none.
    pub(crate) buckets: usize,
    /// Logits of a classification head, from `id2label` or `num_labels`.
    pub(crate) labels: usize,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default = "gelu")]
    hidden_act: String,
    position_embedding_type: Option<String>,
    #[serde(default = "buckets")]
    relative_attention_num_buckets: usize,
    id2label: Option<serde_json::Map<String, serde_json::Value>>,
    num_labels: Option<usize>,
    pad_token_id: Option<usize>,
}

fn epsilon() -> f32 {
    1e-12
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn buckets() -> usize {
    32
}

impl NetworkConfig {
    /// Reads and checks `config.json`.
    ///
    /// # Errors
    /// When it is absent, damaged, inconsistent, or of a family that is not supported.
    pub(crate) fn read(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("config.json");
        if !path.is_file() {
            return Err(ModelError::MissingFile { dir: dir.to_owned(), expected: "config.json" });
        }
        let file: File = json(&path)?;
        let unsupported = |what: String| ModelError::Unsupported { path: path.clone(), what };
        let architecture = match file.model_type.as_str() {
            "bert" => Architecture::Bert,
            "mpnet" => Architecture::Mpnet,
            "roberta" | "xlm-roberta" => Architecture::Roberta,
            other => return Err(unsupported(format!("model type {other:?}"))),
        };
        if file.hidden_act != "gelu" {
            return Err(unsupported(format!("activation {:?}", file.hidden_act)));
        }
        if let Some(kind) = file.position_embedding_type.filter(|kind| kind != "absolute") {
            return Err(unsupported(format!("position embedding {kind:?}")));
        }
        if architecture != Architecture::Bert && file.pad_token_id.is_some_and(|pad| pad != 1) {
            return Err(unsupported("a padding id other than 1".to_owned()));
        }
        let sizes = [
            file.vocab_size,
            file.hidden_size,
            file.num_hidden_layers,
            file.num_attention_heads,
            file.intermediate_size,
        ];
        let sane = sizes.iter().all(|size| (1..1 << 24).contains(size))
            && (4..1 << 24).contains(&file.max_position_embeddings)
            && file.hidden_size.is_multiple_of(file.num_attention_heads)
            && file.layer_norm_eps > 0.0;
        if !sane {
            return Err(ModelError::damaged(&path, "its sizes do not fit together"));
        }
        let mpnet = architecture == Architecture::Mpnet;
        Ok(Self {
            architecture,
            vocabulary: file.vocab_size,
            hidden: file.hidden_size,
            layers: file.num_hidden_layers,
            heads: file.num_attention_heads,
            intermediate: file.intermediate_size,
            positions: file.max_position_embeddings,
            segments: if mpnet { 0 } else { file.type_vocab_size },
            epsilon: file.layer_norm_eps,
            buckets: if mpnet { file.relative_attention_num_buckets } else { 0 },
            labels: file.id2label.map(|map| map.len()).or(file.num_labels).unwrap_or(2),
        })
    }

    /// Position id of the first token.
    pub(crate) fn first_position(&self) -> usize {
        match self.architecture {
            Architecture::Bert => 0,
            Architecture::Mpnet | Architecture::Roberta => 2,
        }
    }

    /// Longest input in tokens.
    pub(crate) fn token_limit(&self) -> usize {
        self.positions - self.first_position()
    }
}

/// What the sentence-transformers files of a folder say; absent files leave `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SentenceConfig {
    pub(crate) pooling: Option<Pooling>,
    /// Cosine where `modules.json` ends in a normalisation, dot where it lists none.
    pub(crate) similarity: Option<Similarity>,
    pub(crate) max_tokens: Option<usize>,
    /// What is put before a query.
    pub(crate) query_prompt: String,
    /// What is put before a passage.
    pub(crate) passage_prompt: String,
}

impl SentenceConfig {
    /// Reads `modules.json`, the pooling settings it points at, `sentence_bert_config.json` and the prompts of
    /// `config_sentence_transformers.json`.
    ///
    /// # Errors
    /// When one of them is damaged or asks for a module or pooling that is not supported.
    pub(crate) fn read(dir: &Path) -> Result<Self, ModelError> {
        let mut config = Self::default();
        let modules = dir.join("modules.json");
        if modules.is_file() {
            config.read_modules(dir, &modules)?;
        }
        let limits = dir.join("sentence_bert_config.json");
        if limits.is_file() {
            #[derive(Deserialize)]
            struct Limits {
                max_seq_length: Option<usize>,
            }
            config.max_tokens = json::<Limits>(&limits)?.max_seq_length;
        }
        let prompts = dir.join("config_sentence_transformers.json");
        if prompts.is_file() {
            #[derive(Deserialize)]
            struct Settings {
                #[serde(default)]
                prompts: std::collections::BTreeMap<String, String>,
            }
            let mut prompts = json::<Settings>(&prompts)?.prompts;
            config.query_prompt = prompts.remove("query").unwrap_or_default();
            config.passage_prompt = prompts
                .remove("passage")
                .or_else(|| prompts.remove("document"))
                .unwrap_or_default();
        }
        Ok(config)
    }

    fn read_modules(&mut self, dir: &Path, modules: &Path) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct Module {
            path: String,
            #[serde(rename = "type")]
            kind: String,
        }
        self.similarity = Some(Similarity::Dot);
        for module in json::<Vec<Module>>(modules)? {
            match module.kind.rsplit('.').next().unwrap_or_default() {
                "Transformer" => {}
                "Pooling" => {
                    let inside = !module.path.contains("..") && !module.path.starts_with('/');
                    if !inside {
                        return Err(ModelError::damaged(
                            modules,
                            "a module lies outside its folder",
                        ));
                    }
                    self.pooling = Some(pooling(&dir.join(&module.path).join("config.json"))?);
                }
                "Normalize" => self.similarity = Some(Similarity::Cosine),
                other => {
                    return Err(ModelError::Unsupported {
                        path: modules.to_owned(),
                        what: format!("module {other:?}"),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Reads a pooling module's settings: one `pooling_mode`, or a row of `pooling_mode_…` flags of which one is set.
fn pooling(path: &Path) -> Result<Pooling, ModelError> {
    let settings: serde_json::Map<String, serde_json::Value> = json(path)?;
    let mut modes: Vec<&str> = match settings.get("pooling_mode") {
        Some(mode) => mode.as_str().into_iter().collect(),
        None => settings
            .iter()
            .filter(|(_, value)| value.as_bool() == Some(true))
            .filter_map(|(key, _)| key.strip_prefix("pooling_mode_"))
            .collect(),
    };
    modes.sort_unstable();
    match modes.as_slice() {
        ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::Cls),
        other => Err(ModelError::Unsupported {
            path: path.to_owned(),
            what: format!("pooling {}", other.join(" + ")),
        }),
    }
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let text = fs_err::read_to_string(path).map_err(|e| ModelError::read(path, e))?;
    serde_json::from_str(&text).map_err(|e| ModelError::damaged(path, e))
}
