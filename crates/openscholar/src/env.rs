//! The only place that reads the process environment.
#![expect(clippy::disallowed_methods, reason = "this is the file in which the environment is read")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use scholar_clients::fetch::{EMAIL_SETTING, Provider};

/// Settings that hold a contact address; the first that is set counts.
pub(crate) const EMAIL_SETTINGS: [&str; 2] = [EMAIL_SETTING, "UNPAYWALL_EMAIL"];

/// Ports of this machine at which model servers are looked for, separated by commas, or `none`.
pub(crate) const LOCAL_PORTS_SETTING: &str = "OPENSCHOLAR_LOCAL_PORTS";

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
    /// `XDG_CACHE_HOME`.
    pub(crate) cache_home: Option<PathBuf>,
    /// `OPENAI_API_KEY`; never printed.
    pub(crate) openai_api_key: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub(crate) openai_base_url: Option<String>,
    /// `OPENSCHOLAR_LOCAL_PORTS`.
    pub(crate) local_ports: Option<String>,
    /// `HF_ENDPOINT`.
    pub(crate) hf_endpoint: Option<String>,
    /// `HF_TOKEN`; never printed.
    pub(crate) hf_token: Option<String>,
    /// Keys, addresses and the contact address of providers of papers, by name; never printed.
    pub(crate) providers: BTreeMap<String, String>,
}

impl Environment {
    /// Reads it.
    pub(crate) fn read() -> Self {
        Self {
            home: path("HOME"),
            data_home: path("XDG_DATA_HOME"),
            config_home: path("XDG_CONFIG_HOME"),
            cache_home: path("XDG_CACHE_HOME"),
            openai_api_key: text("OPENAI_API_KEY"),
            openai_base_url: text("OPENAI_BASE_URL"),
            local_ports: text(LOCAL_PORTS_SETTING),
            hf_endpoint: text("HF_ENDPOINT"),
            hf_token: text("HF_TOKEN"),
            providers: provider_settings()
                .filter_map(|name| Some((text(&name)?, name)))
                .map(|(value, name)| (name, value))
                .collect(),
        }
    }
}

/// Names of the settings that providers of papers have.
pub(crate) fn provider_settings() -> impl Iterator<Item = String> {
    let of_each = Provider::ALL.into_iter().flat_map(|provider| {
        provider.key_setting().map(str::to_owned).into_iter().chain([provider.base_url_setting()])
    });
    of_each.chain(EMAIL_SETTINGS.map(str::to_owned))
}

fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
