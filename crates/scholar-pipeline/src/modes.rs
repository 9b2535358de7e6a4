//! The registry of answer modes, from which the command line, JSON, the benchmark's systems and the documents take their
//! names.
//!
//! A mode is one module with a [`Mode`] and a function of four steps: plan (which queries), gather (numbered evidence),
//! write (a text that cites numbers), prove (the gates, then final numbers). Every mode is given the same
//! [`Frame`]. ARCHITECTURE.md says how to add one.

pub mod closed_book;
pub mod evidence;
pub mod generative;
pub mod scirag;
pub mod single_pass;

use futures::future::BoxFuture;
use scholar_core::{Answer, AnswerMode, GeneratorInfo, GeneratorStrength};

use crate::budget::ExpectedCalls;
use crate::config::{AskConfig, ModeChoice};
use crate::error::AskError;
use crate::frame::Frame;

/// Answers the question of a frame.
pub type Run = for<'a> fn(&'a Frame<'a>) -> BoxFuture<'a, Result<Answer, AskError>>;

/// A way to answer.
pub struct Mode {
    /// What answers and traces call it.
    pub id: AnswerMode,
    /// Name in `--mode`, in lower case with hyphens.
    pub name: &'static str,
    /// What else is understood.
    pub aliases: &'static [&'static str],
    /// What stands above an answer.
    pub title: &'static str,
    /// One line for help texts.
    pub summary: &'static str,
    /// It cannot answer without a generator.
    pub needs_generator: bool,
    /// It reads passages; without, there is nothing to cite.
    pub retrieves: bool,
    /// It can answer a classification task with one of two labels.
    pub labels: bool,
    /// Calls of the generator that one question is expected to take.
    pub calls: fn(&AskConfig) -> Vec<ExpectedCalls>,
    /// The function that answers.
    pub run: Run,
}

/// Every mode, in the order of help texts.
pub static MODES: &[&Mode] =
    &[&generative::MODE, &scirag::MODE, &evidence::MODE, &single_pass::MODE, &closed_book::MODE];

/// The entry of `id`.
pub fn of(id: AnswerMode) -> &'static Mode {
    match id {
        AnswerMode::Generative => &generative::MODE,
        AnswerMode::Scirag => &scirag::MODE,
        AnswerMode::Evidence => &evidence::MODE,
        AnswerMode::SinglePass => &single_pass::MODE,
        AnswerMode::NoRetrieval => &closed_book::MODE,
    }
}

/// The mode with this name or alias.
pub fn named(name: &str) -> Option<&'static Mode> {
    MODES.iter().copied().find(|mode| mode.name == name || mode.aliases.contains(&name))
}

/// Why a mode that was named is used.
pub(crate) const ASKED_FOR: &str = "asked for";

/// The mode `choice` comes to with this generator, and why.
pub fn mode_for(choice: ModeChoice, generator: Option<&GeneratorInfo>) -> (AnswerMode, String) {
    match (choice, generator) {
        (ModeChoice::Named(mode), _) => (mode, ASKED_FOR.to_owned()),
        (ModeChoice::Auto, None) => {
            (AnswerMode::Evidence, "no language model is configured".to_owned())
        }
        (ModeChoice::Auto, Some(info)) => match info.strength {
            GeneratorStrength::Strong => {
                (AnswerMode::Generative, format!("{} can run the whole loop", info.model))
            }
            GeneratorStrength::Small => (
                AnswerMode::Evidence,
                format!("{} is too small to be trusted with citations", info.model),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_mode_is_registered_once_under_its_own_names() {
        let mut names = BTreeSet::from(["auto"]);
        for mode in MODES {
            assert!(std::ptr::eq(of(mode.id), *mode), "{}", mode.name);
            for name in [mode.name].iter().chain(mode.aliases) {
                assert!(names.insert(name), "{name} is taken");
                assert!(std::ptr::eq(named(name).expect("found"), *mode));
            }
            let written = serde_json::to_value(mode.id).expect("a string");
            assert_eq!(
                written,
                mode.name.replace('-', "_"),
                "one name in JSON and on the command line"
            );
            let choice = serde_json::to_value(ModeChoice::Named(mode.id)).expect("a string");
            assert_eq!(choice, written);
            assert_eq!(
                serde_json::from_value::<ModeChoice>(choice).expect("reads"),
                mode.id.into()
            );
        }
        assert_eq!(serde_json::to_value(ModeChoice::Auto).expect("a string"), "auto");
        assert!(named("auto").is_none() && named("gpt").is_none());
    }
}
