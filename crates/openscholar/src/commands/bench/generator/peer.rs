//! llama-cpp-python in a process of its own, asked line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Seconds;
use crate::app::App;
use crate::error::{CommandError, Context as _};

/// The script that computes there.
const SCRIPT: &str = include_str!("../../../../../scholar-models/scripts/peer_llama_cpp.py");

pub(super) struct Peer {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
pub(super) struct Opened {
    pub(super) seconds: f64,
    pub(super) versions: Value,
}

#[derive(Deserialize)]
pub(super) struct Times {
    read: f64,
    write: f64,
    read_cpu: f64,
    write_cpu: f64,
    pub(super) resident: u64,
}

impl Times {
    pub(super) fn seconds(&self) -> Seconds {
        let Self { read, write, read_cpu, write_cpu, resident: _ } = *self;
        Seconds { read, write, read_cpu, write_cpu }
    }
}

#[derive(Deserialize)]
struct Again {
    read: f64,
}

#[derive(Deserialize)]
struct Tokens {
    tokens: Vec<u32>,
}

impl Peer {
    /// Starts the script.
    pub(super) fn start(python: &Path, app: &App) -> Result<Self, CommandError> {
        let folder = app.home.data().join("bench");
        fs_err::create_dir_all(&folder)
            .map_err(|source| CommandError::unwritable(&folder, source))?;
        let script = folder.join("peer_llama_cpp.py");
        crate::runs::write_atomic(&script, SCRIPT.as_bytes())?;
        let mut child = Command::new(python)
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .user(|| format!("cannot start {}", python.display()))?;
        let gone = || CommandError::user("the peer has no pipes");
        let questions = child.stdin.take().ok_or_else(gone)?;
        let answers = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        Ok(Self { child, questions, answers })
    }

    fn ask<T: DeserializeOwned>(&mut self, question: &Value) -> Result<T, CommandError> {
        let failed = || "the peer has ended; its message is above".to_owned();
        writeln!(self.questions, "{question}").user(failed)?;
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).user(failed)?;
        if read == 0 {
            return Err(CommandError::user(failed())
                .with_hint("--peer-python needs a Python with llama-cpp-python installed"));
        }
        serde_json::from_str(&line).user(|| "the peer's answer is not what was asked".to_owned())
    }

    /// Opens a model in place of the one before.
    pub(super) fn open(
        &mut self,
        path: &Path,
        threads: usize,
        context: usize,
        all_logits: bool,
    ) -> Result<Opened, CommandError> {
        self.ask(&json!({
            "open": path, "threads": threads, "context": context, "all_logits": all_logits,
        }))
    }

    /// As [`Peer::open`], with keys and values in f32 instead of the half precision that both engines keep them in.
    pub(super) fn open_precise(
        &mut self,
        path: &Path,
        threads: usize,
        context: usize,
    ) -> Result<Opened, CommandError> {
        self.ask(&json!({
            "open": path, "threads": threads, "context": context, "all_logits": false, "precise": true,
        }))
    }

    /// Reads a prompt from the start, then writes `write` tokens.
    pub(super) fn read(&mut self, tokens: &[u32], write: usize) -> Result<Times, CommandError> {
        self.ask(&json!({"read": tokens, "write": write}))
    }

    /// Seconds to read what comes after the first `keep` tokens, which were read before.
    pub(super) fn again(&mut self, tokens: &[u32], keep: usize) -> Result<f64, CommandError> {
        let Again { read } = self.ask(&json!({"again": tokens, "keep": keep}))?;
        Ok(read)
    }

    /// The likeliest tokens after a prompt, which is read at once, or token by token.
    pub(super) fn greedy(
        &mut self,
        tokens: &[u32],
        n: usize,
        stepwise: bool,
    ) -> Result<Vec<u32>, CommandError> {
        let Tokens { tokens } =
            self.ask(&json!({"greedy": tokens, "n": n, "stepwise": stepwise}))?;
        Ok(tokens)
    }

    /// The logits after each token, `[tokens, vocabulary]`, through a file at `path`.
    pub(super) fn logits(&mut self, tokens: &[u32], path: &Path) -> Result<Vec<f32>, CommandError> {
        let _rows: Value = self.ask(&json!({"logits": tokens, "to": path}))?;
        let bytes = fs_err::read(path).user(|| "the peer's logits cannot be read".to_owned())?;
        fs_err::remove_file(path).user(|| "the peer's logits cannot be removed".to_owned())?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already; there is nothing else to do about either failure.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
