//! The folder of a trained classifier.

use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use scholar_models::SentenceHeads;
use scholar_models::sentence_heads::{CONFIG_FILE, Mlp, WEIGHTS_FILE};

use crate::error::TrainError;

/// Writes `config.json` and `model.safetensors` into `folder`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_folder(heads: &SentenceHeads, folder: &Path) -> Result<(), TrainError> {
    fs_err::create_dir_all(folder).map_err(|source| TrainError::write(folder, source))?;
    let path = folder.join(CONFIG_FILE);
    let json = serde_json::to_string_pretty(heads.config())
        .map_err(|error| TrainError::write(&path, std::io::Error::from(error)))?;
    fs_err::write(&path, format!("{json}\n")).map_err(|source| TrainError::write(&path, source))?;
    let path = folder.join(WEIGHTS_FILE);
    let mut tensors: Vec<(String, Vec<usize>, &[f32])> = Vec::new();
    for (name, head) in [("role", heads.role_head()), ("answers", heads.answer_head())] {
        let Mlp { hidden_weight, hidden_bias, output_weight, output_bias, .. } = head;
        let (inputs, hidden, outputs) = (head.inputs(), head.hidden(), head.outputs());
        let parts: [(&str, Vec<usize>, &[f32]); 4] = [
            ("hidden.weight", vec![inputs, hidden], hidden_weight),
            ("hidden.bias", vec![hidden], hidden_bias),
            ("output.weight", vec![hidden, outputs], output_weight),
            ("output.bias", vec![outputs], output_bias),
        ];
        tensors.extend(
            parts.into_iter().map(|(part, shape, data)| (format!("{name}.{part}"), shape, data)),
        );
    }
    let weights = heads.features().stem_weights().as_slice();
    tensors.push(("stem_weights".to_owned(), vec![weights.len()], weights));
    let views: Result<Vec<(String, TensorView<'_>)>, _> = tensors
        .iter()
        .map(|(name, shape, data)| {
            TensorView::new(Dtype::F32, shape.clone(), bytemuck::cast_slice(data))
                .map(|view| (name.clone(), view))
        })
        .collect();
    let wrong = |error: safetensors::SafeTensorError| {
        TrainError::write(&path, std::io::Error::other(error.to_string()))
    };
    let bytes = safetensors::serialize(views.map_err(wrong)?, None).map_err(wrong)?;
    fs_err::write(&path, bytes).map_err(|source| TrainError::write(&path, source))
}
