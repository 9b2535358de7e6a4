//! `FlagEmbedding`: the arguments of its reranker training.

pub(super) const COMMAND: &str = "torchrun --nproc_per_node 1 -m FlagEmbedding.finetune.reranker.encoder_only.base $(cat arguments.txt)";

/// Names and values in order; an empty value is a switch. Source: OpenScholar's reranker training, as its README
/// states it; `query_max_len` is what `FlagEmbedding` 1.3 cuts queries to before the pair is cut to `max_len`.
/// `taught`: whether every row has a teacher's scores.
pub(super) fn arguments(model: Option<&str>, taught: bool) -> Vec<(&'static str, String)> {
    let mut arguments = vec![
        ("model_name_or_path", model.unwrap_or("BAAI/bge-reranker-large").to_owned()),
        ("train_data", "train.jsonl".to_owned()),
        ("output_dir", "output".to_owned()),
    ];
    for (name, value) in [
        ("train_group_size", "16"),
        ("query_max_len", "384"),
        ("passage_max_len", "512"),
        ("max_len", "512"),
        ("pad_to_multiple_of", "8"),
        ("knowledge_distillation", if taught { "True" } else { "False" }),
        ("learning_rate", "6e-5"),
        ("num_train_epochs", "5"),
        ("per_device_train_batch_size", "1"),
        ("gradient_accumulation_steps", "4"),
        ("dataloader_drop_last", "True"),
        ("weight_decay", "0.01"),
        ("fp16", ""),
        ("overwrite_output_dir", ""),
        ("logging_steps", "10"),
        ("save_steps", "1000"),
    ] {
        arguments.push((name, value.to_owned()));
    }
    arguments
}

/// One argument a line.
pub(super) fn text(arguments: &[(&'static str, String)]) -> String {
    let line =
        |(name, value): &(&str, String)| format!("--{name} {value}").trim_end().to_owned() + "\n";
    arguments.iter().map(line).collect()
}
