//! What models cost: a table in TOML that users can edit.

use serde::Deserialize;

/// The table shipped with the program.
const BUILTIN: &str = include_str!("prices.toml");

/// What one model costs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A model name, or the beginning of one followed by `*`.
    #[serde(rename = "match")]
    pub pattern: String,
    /// US dollars per million tokens read.
    pub input: f64,
    /// US dollars per million tokens written.
    pub output: f64,
    /// Longest prompt plus reply in tokens, where known.
    #[serde(default)]
    pub context_tokens: Option<usize>,
    /// Month the figures are of, `YYYY-MM`.
    pub as_of: String,
}

/// A price file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// Not TOML of the documented form.
    #[error("cannot read the price file {file}")]
    Parse {
        /// Path of the price table.
        file: String,
        /// Line, column and what was expected.
        #[source]
        source: toml::de::Error,
    },
    /// A price below zero or not finite.
    #[error("the price of `{model}` in {file} is not a number of dollars")]
    NotAPrice {
        /// Path of the price table.
        file: String,
        /// Pattern of model names in the entry.
        model: String,
    },
}

/// Prices by model name, in layers: an earlier layer goes before all later ones.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceTable {
    layers: Vec<Vec<Price>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default)]
    model: Vec<Price>,
}

impl PriceTable {
    /// The table shipped with the program.
    ///
    /// # Panics
    /// Never: the file is part of this crate and read by its tests.
    pub fn builtin() -> Self {
        Self::parse(BUILTIN, "prices.toml").expect("the embedded price file is valid")
    }

    /// Reads a table; `file` is named in errors.
    ///
    /// # Errors
    /// [`PriceError`].
    pub fn parse(text: &str, file: &str) -> Result<Self, PriceError> {
        let parsed: PriceFile = toml::from_str(text)
            .map_err(|source| PriceError::Parse { file: file.to_owned(), source })?;
        let usable = |price: &Price| {
            [price.input, price.output].iter().all(|value| value.is_finite() && *value >= 0.0)
        };
        match parsed.model.iter().find(|price| !usable(price)) {
            Some(price) => {
                Err(PriceError::NotAPrice { file: file.to_owned(), model: price.pattern.clone() })
            }
            None => Ok(Self { layers: vec![parsed.model] }),
        }
    }

    /// This table, with `other` behind it: its entries count only where nothing in this table matches.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.layers.extend(other.layers);
        self
    }

    /// The entry for `model`: the exact name before any pattern, the longest pattern before shorter ones, the first of
    /// equals. A dated snapshot (`name-2024-08-06`) without an entry has the price of its name.
    pub fn lookup(&self, model: &str) -> Option<&Price> {
        let undated = crate::openai::without_date(model);
        self.layers.iter().find_map(|layer| {
            let at = best(layer, model).or_else(|| best(layer, undated?))?;
            layer.get(at)
        })
    }
}

/// Position of the most specific entry that matches `model`.
fn best(prices: &[Price], model: &str) -> Option<usize> {
    let specificity = |price: &Price| match price.pattern.strip_suffix('*') {
        Some(prefix) => model.starts_with(prefix).then_some((false, prefix.len())),
        None => (price.pattern == model).then_some((true, model.len())),
    };
    let ranked = prices.iter().enumerate().filter_map(|(at, p)| Some((specificity(p)?, at)));
    // `max_by_key` keeps the last of equals; the first is wanted.
    ranked.rev().max_by_key(|(key, _)| *key).map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_match_counts() {
        let table = PriceTable::builtin();
        let input = |model: &str| table.lookup(model).map(|price| (price.input * 100.0).round());
        assert_eq!(input("gpt-4o"), Some(250.0));
        assert_eq!(input("gpt-4o-2024-05-13"), Some(500.0));
        assert_eq!(
            input("gpt-4o-2030-01-01"),
            Some(250.0),
            "an unlisted snapshot of a listed name"
        );
        assert_eq!(input("gpt-4o-mini"), Some(15.0));
        assert_eq!(input("gpt-4-turbo-2024-04-09"), Some(1000.0));
        assert_eq!(input("gpt-4o-audio"), None, "another model, not a snapshot");
        assert_eq!(input("llama3"), None);
    }

    #[test]
    fn a_users_table_goes_first() {
        let user = "[[model]]\nmatch = \"gpt-*\"\ninput = 1\noutput = 2\nas_of = \"2026-01\"\n";
        let table = PriceTable::parse(user, "mine.toml").expect("valid").or(PriceTable::builtin());
        assert!(table.lookup("gpt-4o").is_some_and(|price| (price.input - 1.0).abs() < 1e-9));
        assert!(table.lookup("o1").is_none());
    }

    #[test]
    fn broken_files_are_named() {
        let check = |text: &str, expect: &str| {
            let error = PriceTable::parse(text, "mine.toml").expect_err("broken");
            let source = std::error::Error::source(&error).map(ToString::to_string);
            let shown = format!("{error}: {}", source.unwrap_or_default());
            assert!(shown.contains("mine.toml") && shown.contains(expect), "{shown}");
        };
        check("[[model]]\nmatch = \"m\"\ninput = \"1\"", "line 3");
        check("[[model]]\nmatch = \"m\"\ninput = -1.0\noutput = 1\nas_of = \"x\"", "`m`");
        check("[[models]]", "models");
    }
}
