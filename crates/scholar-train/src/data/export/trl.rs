//! TRL: rows as conversations or as prompts with completions, and the config of `trl sft`.

use serde_json::{Value, json};

use super::turns::Conversation;
use super::yaml::Config;

pub(super) const COMMAND: &str = "trl sft --config config.yaml";

const COMMENT: &str = "TRL 0.21: trl sft --config config.yaml, or accelerate launch for several devices.\n\
    The folder itself is the data set: its .jsonl files are the splits.";

/// A row; with `one_reply` everything before the reply is the prompt.
pub(super) fn row(conversation: &Conversation, one_reply: bool) -> Value {
    match conversation.messages.split_last() {
        Some((reply, asked)) if one_reply => json!({"prompt": asked, "completion": [reply]}),
        _ => json!({"messages": conversation.messages}),
    }
}

/// The setting that keeps the loss to replies.
pub(super) fn loss(one_reply: bool) -> &'static str {
    if one_reply { "completion_only_loss" } else { "assistant_only_loss" }
}

/// The config. Loss on replies alone: of prompts with completions by their nature, of conversations by the chat
/// template's marks of what is generated.
pub(super) fn config(model: Option<&str>, loss: &'static str, has_dev: bool) -> Config {
    let values = json!({
        "model_name_or_path": model.unwrap_or("meta-llama/Llama-3.1-8B-Instruct"),
        "dataset_name": ".",
        "dataset_train_split": "train",
        "dataset_test_split": if has_dev { "validation" } else { "train" },
        "output_dir": "./output",
        "learning_rate": 5e-6,
        "lr_scheduler_type": "constant",
        "num_train_epochs": 2,
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 2,
        "max_length": 10_000,
        "packing": false,
        loss: true,
        "bf16": true,
        "gradient_checkpointing": true,
        "weight_decay": 0.01,
        "max_grad_norm": 1.0,
        "eval_strategy": if has_dev { "epoch" } else { "no" },
        "save_strategy": "epoch",
        "logging_steps": 1,
        "seed": 42,
    });
    let values = match values {
        Value::Object(values) => values,
        _ => serde_json::Map::new(),
    };
    Config { comment: COMMENT, values }
}
