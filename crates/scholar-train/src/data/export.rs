//! Data and config files for other trainers: torchtune, TRL and `FlagEmbedding`.
//!
//! Very large training stays with them. Versions whose public documentation these files follow: torchtune 0.6
//! (`chat_dataset`, recipes `full_finetune_single_device` and `full_finetune_distributed`), TRL 0.21 (`trl sft`),
//! `FlagEmbedding` 1.3 (`finetune.reranker.encoder_only.base`).
//!
//! Numbers are the paper's: Llama-3.1-8B-Instruct, learning rate 5e-6, 2 epochs, batches of 1 accumulated twice, a
//! context of 10,000 tokens, bf16, loss on assistant turns alone; for the reranker 6e-5, 5 epochs, groups of 16.

mod flagembedding;
mod torchtune;
mod trl;
mod turns;
mod yaml;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use turns::Conversation;

use super::error::DataError;
use super::lines::{BadRow, Rows, read_rows};
use super::rows::{RerankRow, write_file, write_rows};

/// Training library that the files are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trainer {
    /// `PyTorch`'s library of fine-tuning recipes.
    Torchtune,
    /// Hugging Face's library of post-training.
    Trl,
    /// BAAI's library of encoders and rerankers.
    FlagEmbedding,
}

/// Which rows are exported, for what and where to.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Training library that the files are for.
    pub to: Trainer,
    /// JSON lines of training rows.
    pub train: PathBuf,
    /// JSON lines of held-out rows, if there are any.
    pub dev: Option<PathBuf>,
    /// Folder the files go to.
    pub out: PathBuf,
    /// The model that is trained on: a name of the hub or a folder; the paper's where left out.
    pub model: Option<String>,
    /// Fraction of the rows that may be unusable.
    pub max_rejected_fraction: f64,
}

/// Counts and files of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Number of training rows written.
    pub train: usize,
    /// Number of held-out rows written.
    pub dev: usize,
    /// Files, in the order in which they were written.
    pub files: Vec<PathBuf>,
    /// Rows that were left out, by file.
    pub bad: Vec<(PathBuf, BadRow)>,
    /// The command that starts the training, from within the folder.
    pub command: String,
}

/// Writes the files.
///
/// # Errors
/// When rows cannot be read or are of another kind, or a file cannot be written.
pub fn export(request: &Request) -> Result<Exported, DataError> {
    fs_err::create_dir_all(&request.out).map_err(|e| DataError::write(&request.out, e))?;
    match request.to {
        Trainer::FlagEmbedding => groups(request),
        Trainer::Torchtune | Trainer::Trl => conversations(request),
    }
}

fn groups(request: &Request) -> Result<Exported, DataError> {
    let mut written = Written::new(request);
    let mut taught = true;
    for (name, path) in splits(request) {
        let rows = read_rows(path, request.max_rejected_fraction, RerankRow::check)?;
        let rows = written.note(name, rows);
        taught &= rows.iter().all(RerankRow::is_scored);
        // The other program's format does not have it.
        let rows: Vec<RerankRow> =
            rows.into_iter().map(|row| RerankRow { source: None, ..row }).collect();
        written.rows(name, &rows)?;
    }
    let arguments = flagembedding::arguments(request.model.as_deref(), taught);
    written.text("arguments.txt", &flagembedding::text(&arguments))?;
    Ok(written.finish(flagembedding::COMMAND))
}

fn conversations(request: &Request) -> Result<Exported, DataError> {
    let mut written = Written::new(request);
    let mut read = Vec::new();
    for (name, path) in splits(request) {
        let rows = read_rows(path, request.max_rejected_fraction, |row: &Value| {
            Conversation::of(row).map(|_| ())
        })?;
        let rows = written.note(name, rows);
        let rows: Vec<Conversation> =
            rows.iter().filter_map(|row| Conversation::of(row).ok()).collect();
        read.push((name, rows));
    }
    let model = request.model.as_deref();
    if request.to == Trainer::Torchtune {
        for (name, rows) in &read {
            written.rows(name, rows)?;
        }
        written.text("config.yaml", &yaml::text(&torchtune::config(model)))?;
        return Ok(written.finish(torchtune::COMMAND));
    }
    // One reply at the end needs no marks in the chat template; several do.
    let one_reply = read.iter().flat_map(|(_, rows)| rows).all(Conversation::replies_once);
    for (name, rows) in &read {
        let rows: Vec<Value> = rows.iter().map(|row| trl::row(row, one_reply)).collect();
        written.rows(name, &rows)?;
    }
    let has_dev = request.dev.is_some();
    written.text("config.yaml", &yaml::text(&trl::config(model, trl::loss(one_reply), has_dev)))?;
    Ok(written.finish(trl::COMMAND))
}

fn splits(request: &Request) -> impl Iterator<Item = (&'static str, &Path)> {
    let dev = request.dev.as_deref().map(|path| ("dev.jsonl", path));
    std::iter::once(("train.jsonl", request.train.as_path())).chain(dev)
}

struct Written<'a> {
    request: &'a Request,
    done: Exported,
}

impl<'a> Written<'a> {
    fn new(request: &'a Request) -> Self {
        let done = Exported {
            train: 0,
            dev: 0,
            files: Vec::new(),
            bad: Vec::new(),
            command: String::new(),
        };
        Self { request, done }
    }

    fn note<T>(&mut self, name: &str, rows: Rows<T>) -> Vec<T> {
        let Rows { path, rows, bad } = rows;
        let count = if name == "train.jsonl" { &mut self.done.train } else { &mut self.done.dev };
        *count = rows.len();
        self.done.bad.extend(bad.into_iter().map(|row| (path.clone(), row)));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn rows<T: serde::Serialize>(&mut self, name: &str, rows: &[T]) -> Result<(), DataError> {
        let path = self.request.out.join(name);
        write_rows(&path, rows)?;
        self.done.files.push(path);
        Ok(())
    }

    fn text(&mut self, name: &str, text: &str) -> Result<(), DataError> {
        let path = self.request.out.join(name);
        write_file(&path, text.as_bytes())?;
        self.done.files.push(path);
        Ok(())
    }

    fn finish(self, command: &str) -> Exported {
        Exported { command: command.to_owned(), ..self.done }
    }
}

#[cfg(test)]
mod tests;
