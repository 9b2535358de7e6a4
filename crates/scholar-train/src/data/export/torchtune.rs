//! torchtune: a recipe's config.

use serde_json::{Value, json};

use super::yaml::Config;

pub(super) const COMMAND: &str = "tune run full_finetune_single_device --config config.yaml";

const COMMENT: &str = "torchtune 0.6: tune run full_finetune_single_device --config config.yaml\n\
    Several devices: tune run --nproc_per_node 8 full_finetune_distributed --config config.yaml\n\
    The model is fetched before: tune download NAME --output-dir model";

/// The config for a model of the hub or a folder. The checkpoint's files are those of Llama-3.1-8B.
pub(super) fn config(model: Option<&str>) -> Config {
    let values = json!({
        "output_dir": "./output",
        "tokenizer": {
            "_component_": "torchtune.models.llama3.llama3_tokenizer",
            "path": format!("{}/original/tokenizer.model", folder(model)),
            "max_seq_len": 10_000,
        },
        "dataset": {
            "_component_": "torchtune.datasets.chat_dataset",
            "source": "json",
            "data_files": "train.jsonl",
            "split": "train",
            "conversation_column": "messages",
            "conversation_style": "openai",
            "train_on_input": false,
            "packed": false,
        },
        "seed": 42,
        "shuffle": true,
        "model": {"_component_": "torchtune.models.llama3_1.llama3_1_8b"},
        "checkpointer": {
            "_component_": "torchtune.training.FullModelHFCheckpointer",
            "checkpoint_dir": folder(model),
            "checkpoint_files": (1..=4)
                .map(|n| format!("model-{n:05}-of-00004.safetensors"))
                .collect::<Vec<_>>(),
            "recipe_checkpoint": null,
            "output_dir": "${output_dir}",
            "model_type": "LLAMA3",
        },
        "resume_from_checkpoint": false,
        "batch_size": 1,
        "epochs": 2,
        "optimizer": {"_component_": "torch.optim.AdamW", "lr": 5e-6, "fused": true},
        "optimizer_in_bwd": false,
        "loss": {"_component_": "torchtune.modules.loss.CEWithChunkedOutputLoss"},
        "max_steps_per_epoch": null,
        "gradient_accumulation_steps": 2,
        "clip_grad_norm": null,
        "compile": false,
        "device": "cuda",
        "enable_activation_checkpointing": true,
        "enable_activation_offloading": false,
        "dtype": "bf16",
        "metric_logger": {
            "_component_": "torchtune.training.metric_logging.DiskLogger",
            "log_dir": "${output_dir}/logs",
        },
        "log_every_n_steps": 1,
        "log_peak_memory_stats": true,
        "profiler": {"_component_": "torchtune.training.setup_torch_profiler", "enabled": false},
    });
    let values = match values {
        Value::Object(values) => values,
        _ => serde_json::Map::new(),
    };
    Config { comment: COMMENT, values }
}

fn folder(model: Option<&str>) -> &str {
    model.unwrap_or("model")
}
