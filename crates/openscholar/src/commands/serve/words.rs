//! Requests as the words of a command line, so that a server means by them what a terminal does.

use clap::Parser as _;
use scholar_core::{GeneratorInfo, GeneratorStrength};

use crate::app::App;
use crate::args::{AnswerArgs, Args, Command};
use crate::error::CommandError;
use crate::wiring;

/// The words of a command line, as a request's fields become them.
pub(super) struct Words(Vec<String>);

impl Words {
    /// Those of a command without any option.
    pub(super) fn of(command: &str) -> Self {
        Self(vec!["openscholar".to_owned(), command.to_owned()])
    }

    /// An option with its value, with an equals sign, so that no value can be taken for an option.
    pub(super) fn option(&mut self, name: &str, value: Option<impl ToString>) {
        self.0.extend(value.map(|value| format!("--{name}={}", value.to_string())));
    }

    /// An option without a value.
    pub(super) fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| format!("--{name}")));
    }

    /// What stands behind all options, whatever it begins with.
    pub(super) fn last(&mut self, word: &str) {
        self.0.extend(["--".to_owned(), word.to_owned()]);
    }

    #[cfg(test)]
    pub(super) fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// The command that they are.
    pub(super) fn parse(self) -> Result<Command, CommandError> {
        let args = Args::try_parse_from(self.0).map_err(|error| {
            // The first paragraph says what is wrong, the rest how commands are typed.
            let told = error.to_string();
            let first = told.lines().next().unwrap_or_default();
            CommandError::user(first.trim_start_matches("error: ").to_owned())
        })?;
        Ok(args.command)
    }
}

/// What is known of the model that would write, before it is opened.
pub(super) fn writer(app: &App, args: &AnswerArgs) -> Option<GeneratorInfo> {
    let configured = wiring::generator::configured(app, args)?;
    Some(GeneratorInfo {
        model: configured.model,
        context_tokens: 8_192,
        strength: if configured.is_strong {
            GeneratorStrength::Strong
        } else {
            GeneratorStrength::Small
        },
        local: configured.is_local,
        usd_per_million: configured.usd_per_million,
    })
}
