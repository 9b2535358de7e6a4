//! The model folder a training leaves behind: everything `scholar-models` and others need to open it.

use std::path::Path;

use serde_json::json;

use crate::data::rows::EvidenceLabel;
use crate::error::TrainError;
use crate::files::{self, beside};
use crate::network::Parameters;
use crate::settings::{RerankerArchitecture, SaveDtype, Settings, Task};
use crate::task::Evaluation;

/// Files that are taken over from the folder a training began with, where it has them.
const KEPT: [&str; 9] = [
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "modules.json",
    "1_Pooling/config.json",
    "2_Normalize/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];
/// How many of them a classifier needs; the others are an encoder's.
const KEPT_BY_CLASSIFIERS: usize = 4;

/// The weights that are saved, and how they are laid out.
#[derive(Clone, Copy)]
pub(crate) struct SavedModel<'a> {
    pub(crate) parameters: &'a Parameters,
    pub(crate) weights: &'a [f32],
}

/// Saves `model` as folder `dir`, replacing what was there.
///
/// # Errors
/// When a file cannot be read or written; the folder that was there stays.
pub(crate) fn save(
    dir: &Path,
    model: SavedModel<'_>,
    settings: &Settings,
    step: usize,
    evaluation: &Evaluation,
) -> Result<(), TrainError> {
    let new = beside(dir, "new");
    recover(dir)?;
    let written = fill(&new, model, settings, step, evaluation);
    if let Err(error) = written {
        let _gone_or_unwritable = fs_err::remove_dir_all(&new);
        return Err(error);
    }
    let old = beside(dir, "old");
    let swapped = (|| {
        if dir.is_dir() {
            fs_err::rename(dir, &old)?;
        }
        fs_err::rename(&new, dir)?;
        if old.is_dir() {
            fs_err::remove_dir_all(&old)?;
        }
        Ok::<_, std::io::Error>(())
    })();
    swapped.map_err(|e| TrainError::write(dir, e))
}

/// Undoes what a killed [`save`] left.
///
/// # Errors
/// When a folder cannot be moved or removed.
pub(crate) fn recover(dir: &Path) -> Result<(), TrainError> {
    let (new, old) = (beside(dir, "new"), beside(dir, "old"));
    let done = (|| {
        if new.is_dir() {
            fs_err::remove_dir_all(&new)?;
        }
        match (old.is_dir(), dir.is_dir()) {
            (true, false) => fs_err::rename(&old, dir),
            (true, true) => fs_err::remove_dir_all(&old),
            (false, _) => Ok(()),
        }
    })();
    done.map_err(|e| TrainError::write(dir, e))
}

fn fill(
    dir: &Path,
    model: SavedModel<'_>,
    settings: &Settings,
    step: usize,
    evaluation: &Evaluation,
) -> Result<(), TrainError> {
    let SavedModel { parameters, weights } = model;
    fs_err::create_dir_all(dir).map_err(|e| TrainError::write(dir, e))?;
    let encodes = settings.labels() == 0;
    let kept = if encodes { &KEPT[..] } else { &KEPT[..KEPT_BY_CLASSIFIERS] };
    for name in kept {
        let from = settings.init.join(name);
        if !from.is_file() {
            continue;
        }
        let bytes = fs_err::read(&from).map_err(|e| TrainError::read(&from, e))?;
        let to = dir.join(name);
        if let Some(folder) = to.parent() {
            fs_err::create_dir_all(folder).map_err(|e| TrainError::write(folder, e))?;
        }
        files::replace(&to, &bytes)?;
    }
    let path = dir.join("model.safetensors");
    let bytes = parameters
        .to_safetensors(weights, settings.save_dtype == SaveDtype::F16)
        .map_err(|e| TrainError::write(&path, e))?;
    files::replace(&path, &bytes)?;
    write_json(&dir.join("config.json"), &config(parameters, settings)?)?;
    if let Some(calibration) = &evaluation.calibration {
        let value = serde_json::to_value(calibration).map_err(|e| TrainError::write(dir, e))?;
        write_json(&dir.join("calibration.json"), &value)?;
    }
    let measures: serde_json::Map<String, serde_json::Value> =
        evaluation.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let about = json!({
        "schema": "openscholar.training/1",
        "task": settings.task,
        "step": step,
        "held_out": measures,
        "settings": settings,
    });
    write_json(&dir.join("training.json"), &about)
}

/// `config.json` of the folder the training began with, with the classes of this one.
fn config(parameters: &Parameters, settings: &Settings) -> Result<serde_json::Value, TrainError> {
    let path = settings.init.join("config.json");
    let text = fs_err::read_to_string(&path).map_err(|e| TrainError::read(&path, e))?;
    let mut config: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).map_err(|e| TrainError::damaged(&path, e))?;
    config.remove("_name_or_path");
    let stored = match settings.save_dtype {
        SaveDtype::F16 => "float16",
        SaveDtype::F32 => "float32",
    };
    config.insert("torch_dtype".to_owned(), json!(stored));
    let labels: &[&str] = match (settings.task, settings.architecture) {
        (Task::Encoder, _) | (Task::Reranker, RerankerArchitecture::LateInteraction) => {
            return Ok(config.into());
        }
        (Task::Reranker, RerankerArchitecture::CrossEncoder) => &["relevance"],
        (Task::Attributor, _) => &EvidenceLabel::NAMES,
    };
    debug_assert_eq!(labels.len(), parameters.labels, "a class for each logit");
    let numbered = labels.iter().enumerate();
    let names: serde_json::Map<String, serde_json::Value> =
        numbered.clone().map(|(at, label)| (at.to_string(), json!(label))).collect();
    let numbers: serde_json::Map<String, serde_json::Value> =
        numbered.map(|(at, label)| ((*label).to_owned(), json!(at))).collect();
    config.insert("architectures".to_owned(), json!(["BertForSequenceClassification"]));
    config.insert("num_labels".to_owned(), json!(labels.len()));
    config.insert("id2label".to_owned(), names.into());
    config.insert("label2id".to_owned(), numbers.into());
    Ok(config.into())
}

fn write_json(path: &Path, value: &serde_json::Value) -> Result<(), TrainError> {
    files::replace(path, format!("{value:#}\n").as_bytes())
}
