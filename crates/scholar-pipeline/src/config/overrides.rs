//! Settings changed by name, as config files and command lines write them: `retrieval.dedup`.

use serde_json::{Map, Value};

use super::AskConfig;

/// Settings as nested tables, the names of [`AskConfig`]'s fields as keys.
pub type Settings = Map<String, Value>;

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// `key=value` was expected.
    #[error("{0:?} is not a setting: write key=value")]
    Form(String),
    /// There is no setting of this name.
    #[error("there is no setting {0}")]
    Unknown(String),
    /// The value does not fit.
    #[error("setting {key} cannot be {value}: {source}")]
    Value {
        /// Name of the setting, with dots between tables.
        key: String,
        /// What it was set to, as JSON.
        value: String,
        /// What would fit, as serde says it.
        source: serde_json::Error,
    },
}

impl AskConfig {
    /// This configuration with `settings` in place of its own.
    ///
    /// # Errors
    /// When a name is unknown or a value does not fit.
    pub fn with(self, settings: &Settings) -> Result<Self, SettingError> {
        let mut leaves = Vec::new();
        collect("", settings, &mut leaves);
        leaves.into_iter().try_fold(self, |config, (key, value)| config.with_one(&key, value))
    }

    /// The same with one `key=value`; the value is JSON, or text where it is none.
    ///
    /// # Errors
    /// As [`AskConfig::with`].
    pub fn with_setting(self, setting: &str) -> Result<Self, SettingError> {
        let (key, value) =
            setting.split_once('=').ok_or_else(|| SettingError::Form(setting.to_owned()))?;
        let value = value.trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        self.with_one(key.trim(), value)
    }

    fn with_one(self, key: &str, value: Value) -> Result<Self, SettingError> {
        let unknown = || SettingError::Unknown(key.to_owned());
        let mut whole = serde_json::to_value(&self).map_err(|_| unknown())?;
        let names: Vec<&str> = key.split('.').collect();
        let (last, tables) = names.split_last().ok_or_else(unknown)?;
        let mut table = &mut whole;
        for name in tables {
            table = table.get_mut(name).ok_or_else(unknown)?;
        }
        let table = table.as_object_mut().ok_or_else(unknown)?;
        let shown = value.to_string();
        table.insert((*last).to_owned(), value);
        let read: Self = serde_json::from_value(whole).map_err(|source| SettingError::Value {
            key: key.to_owned(),
            value: shown,
            source,
        })?;
        // An unknown name is passed over by reading, so it is gone when it is written again.
        let written = serde_json::to_value(&read).map_err(|_| unknown())?;
        let pointer = format!("/{}", names.join("/"));
        if written.pointer(&pointer).is_some() { Ok(read) } else { Err(unknown()) }
    }
}

/// Every value that is no table, with its name.
fn collect(path: &str, table: &Settings, leaves: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(table) => collect(&key, table, leaves),
            leaf => leaves.push((key, leaf.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_deviations_can_be_set_and_changes_that_alone() {
        for setting in [
            "retrieval.search_mode=dense",
            "retrieval.top_k=70",
            "retrieval.keywords=0",
            "retrieval.dedup=upstream",
            "ranking.cap=upstream",
            "ranking.use_abstract=true",
            "ranking.norm_cite=false",
            "ranking.score_transform=sigmoid",
            "ranking.min_citations=5",
            "feedback.rank_new_by=question",
            "feedback.parser=upstream",
            "feedback.retrieve=false",
            "feedback.keywords=3",
            "feedback.acceptance_ratio=0.5",
            "sampling.keywords.temperature=0.9",
            "sampling.feedback.max_tokens=2000",
            "posthoc=all",
            "writing.form=report",
            "writing.plan=quotes",
            "writing.length=short",
            "writing.repair_sentences=0",
            "proof.on_unsupported=[\"drop\"]",
            "proof.uncited=keep",
            "demonstrations=never",
            "mode=no_retrieval",
            "budget.max_cost=0.5",
            "evidence.evidence_is=given",
            "evidence.abstain_below=0.0",
        ] {
            let before = AskConfig::paper();
            let after = before.clone().with_setting(setting).expect(setting);
            assert_ne!(after, before, "{setting}");
            let (key, value) = setting.split_once('=').expect("a pair");
            let written = serde_json::to_value(&after).expect("serialises");
            let found = written.pointer(&format!("/{}", key.replace('.', "/"))).expect(key);
            let value: Value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            let close = |a: &Value, b: &Value| match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-6,
                _ => a == b,
            };
            assert!(close(found, &value), "{setting}: {found}");
            let own = serde_json::to_value(&before).expect("serialises");
            let whole = serde_json::to_string(&own).expect("text").len();
            assert!(serde_json::to_string(&written).expect("text").len().abs_diff(whole) < 80);
        }
    }

    #[test]
    fn names_and_values_that_do_not_exist_are_errors() {
        let check = |setting: &str, expected: &str| {
            let error = AskConfig::paper().with_setting(setting).expect_err(setting).to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("retrieval.dedupe=upstream", "no setting retrieval.dedupe");
        check("retrieval.dedup=sometimes", "retrieval.dedup cannot be \"sometimes\"");
        check("retrieval.top_k.x=1", "no setting");
        check("proof.filter=1", "no setting proof.filter");
        check("nonsense", "write key=value");
        check("=1", "no setting");
    }

    #[test]
    fn tables_are_settings_too() {
        let table = serde_json::json!({"retrieval": {"top_k": 7}, "posthoc": "none"});
        let config = AskConfig::paper().with(table.as_object().expect("a table")).expect("fits");
        assert_eq!((config.retrieval.top_k, config.posthoc), (7, super::super::PosthocMode::None));
    }
}
