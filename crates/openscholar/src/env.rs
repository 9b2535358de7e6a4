//! The only place that reads the process environment.
#![expect(clippy::disallowed_methods, reason = "this is the file in which the environment is read")]

use std::ffi::OsString;
use std::path::PathBuf;

/// The command line.
pub(crate) fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Whether colours are unwanted (`NO_COLOR`).
pub(crate) fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// What the environment says, read once at start.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    /// `HOME`.
    pub(crate) home: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub(crate) data_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub(crate) config_home: Option<PathBuf>,
    /// `OPENAI_API_KEY`; never printed.
    pub(crate) openai_api_key: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub(crate) openai_base_url: Option<String>,
    /// `HF_ENDPOINT`.
    pub(crate) hf_endpoint: Option<String>,
    /// `HF_TOKEN`; never printed.
    pub(crate) hf_token: Option<String>,
}

impl Environment {
    /// Reads it.
    pub(crate) fn read() -> Self {
        Self {
            home: path("HOME"),
            data_home: path("XDG_DATA_HOME"),
            config_home: path("XDG_CONFIG_HOME"),
            openai_api_key: text("OPENAI_API_KEY"),
            openai_base_url: text("OPENAI_BASE_URL"),
            hf_endpoint: text("HF_ENDPOINT"),
            hf_token: text("HF_TOKEN"),
        }
    }
}

fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
