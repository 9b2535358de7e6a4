//! A tiny model folder and rows that can be learnt in seconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView};
use scholar_core::SplitMix64;
use scholar_train::{Precision, Settings, Task};
use serde_json::json;

pub(crate) const WORDS: usize = 60;
const HIDDEN: usize = 32;
const MIDDLE: usize = 64;
const LAYERS: usize = 2;
const POSITIONS: usize = 48;

/// A folder with a random network of two layers, `hidden` numbers wide, and a tokenizer of `WORDS` words, `w0` and on.
pub(crate) fn model(folder: &Path, hidden: usize) -> PathBuf {
    let dir = folder.join(format!("init-{hidden}"));
    fs_err::create_dir_all(&dir).expect("a folder");
    let mut vocabulary: Vec<String> =
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(str::to_owned).to_vec();
    vocabulary.extend((0..WORDS).map(|at| format!("w{at}")));
    let ids: serde_json::Map<String, serde_json::Value> =
        vocabulary.iter().enumerate().map(|(id, word)| (word.clone(), json!(id))).collect();
    let config = json!({
        "model_type": "bert", "hidden_act": "gelu", "vocab_size": vocabulary.len(),
        "hidden_size": hidden, "num_hidden_layers": LAYERS, "num_attention_heads": 2,
        "intermediate_size": MIDDLE, "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
    });
    fs_err::write(dir.join("config.json"), config.to_string()).expect("written");
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null,
        "decoder": null, "model": {"type": "WordLevel", "vocab": ids, "unk_token": "[UNK]"},
    });
    fs_err::write(dir.join("tokenizer.json"), tokenizer.to_string()).expect("written");
    fs_err::write(dir.join("model.safetensors"), weights(vocabulary.len(), hidden))
        .expect("written");
    dir
}

fn weights(vocabulary: usize, hidden: usize) -> Vec<u8> {
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![vocabulary, hidden]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, hidden]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, hidden]),
    ];
    let mut linear = |name: String, rows: usize, columns: usize| {
        shapes.push((format!("{name}.weight"), vec![rows, columns]));
        shapes.push((format!("{name}.bias"), vec![rows]));
    };
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        for part in ["query", "key", "value"] {
            linear(name(&format!("attention.self.{part}")), hidden, hidden);
        }
        linear(name("attention.output.dense"), hidden, hidden);
        linear(name("intermediate.dense"), MIDDLE, hidden);
        linear(name("output.dense"), hidden, MIDDLE);
        norms.push(name("attention.output.LayerNorm"));
        norms.push(name("output.LayerNorm"));
    }
    let mut random = SplitMix64::new(11);
    let mut tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)> = BTreeMap::new();
    for (name, shape) in shapes {
        let count = shape.iter().product();
        let numbers = (0..count).map(|_| (random.normal() * 0.1) as f32).collect();
        tensors.insert(name, (shape, numbers));
    }
    for name in norms {
        tensors.insert(format!("{name}.weight"), (vec![hidden], vec![1.0; hidden]));
        tensors.insert(format!("{name}.bias"), (vec![hidden], vec![0.0; hidden]));
    }
    let views = tensors.iter().map(|(name, (shape, numbers))| {
        let bytes = bytemuck::cast_slice(numbers);
        (name, TensorView::new(Dtype::F32, shape.clone(), bytes).expect("a tensor"))
    });
    safetensors::serialize(views, None).expect("a file")
}

/// Rows of `task` as JSON lines.
pub(crate) fn rows(folder: &Path, task: Task, count: usize) -> PathBuf {
    let mut random = SplitMix64::new(3);
    let mut text = String::new();
    for at in 0..count {
        let row = match task {
            // The right passage holds w0, the wrong ones do not.
            Task::Reranker => {
                let query = format!("{} w{}", words(&mut random, 10, 2), at % WORDS);
                let negatives: Vec<String> = (0..5).map(|_| words(&mut random, 10, 6)).collect();
                let right =
                    format!("{} w0 {}", words(&mut random, 10, 3), words(&mut random, 10, 2));
                json!({"query": query, "pos": [right], "neg": negatives})
            }
            // w0 supports, w1 contradicts; of the sentences the second has the word.
            Task::Attributor => {
                let (label, word) =
                    [("supports", "w0"), ("contradicts", "w1"), ("neither", "w2")][at % 3];
                let filler = words(&mut random, 10, 4);
                let mut row = json!({
                    "sentence": words(&mut random, 10, 4),
                    "evidence": format!("{filler} {word}"),
                    "label": label,
                });
                if at % 3 < 2 {
                    let other = words(&mut random, 10, 4);
                    row["sentences"] =
                        json!([other, format!("{filler} {word}"), words(&mut random, 10, 3)]);
                    row["gold"] = json!([1]);
                }
                row
            }
            // Each text keeps to a tenth of the words, so that two crops of a window are alike.
            Task::Encoder => {
                let first = 6 * (at % 10);
                let text: Vec<String> =
                    (0..64).map(|_| format!("w{}", first + random.below(6))).collect();
                json!({"text": text.join(" ")})
            }
        };
        text.push_str(&row.to_string());
        text.push('\n');
    }
    let path = folder.join(format!("{}-{count}.jsonl", task.name()));
    fs_err::write(&path, text).expect("written");
    path
}

/// Some words from `from` on.
fn words(random: &mut SplitMix64, from: usize, count: usize) -> String {
    let words: Vec<String> =
        (0..count).map(|_| format!("w{}", from + random.below(WORDS - from))).collect();
    words.join(" ")
}

/// A training of a few steps.
pub(crate) fn settings(folder: &Path, task: Task) -> Settings {
    Settings {
        init: model(folder, HIDDEN),
        rows: vec![rows(folder, task, 160)],
        held_out_rows: 24,
        threads: 2,
        precision: Precision::F32,
        save_dtype: scholar_train::SaveDtype::F32,
        batch_size: 8,
        epochs: 8,
        max_steps: 60,
        warmup_steps: 5,
        learning_rate: 3e-3,
        dropout: 0.1,
        max_tokens: 48,
        freeze_embeddings: false,
        freeze_layers: 0,
        evaluate_every: 20,
        checkpoint_every: 10,
        patience: 0,
        group_size: 4,
        window: 32,
        crop_min: 0.3,
        crop_max: 0.6,
        queue_size: 64,
        momentum: 0.9,
        temperature: 0.2,
        ..Settings::small(task)
    }
}
