//! Which logit is which class.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::ModelError;

/// Positions of the three classes among the logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Labels {
    pub(super) supports: usize,
    pub(super) contradicts: usize,
    pub(super) neither: usize,
}

/// What the classes are called, here and by datasets that models of this kind are trained on (SciFact, FEVER, MNLI).
const SUPPORTS: [&str; 5] = ["supports", "support", "supported", "entailment", "attributable"];
const CONTRADICTS: [&str; 6] =
    ["contradicts", "contradict", "contradiction", "refutes", "refuted", "contradictory"];
const NEITHER: [&str; 6] =
    ["neither", "neutral", "not enough info", "nei", "unsupported", "extrapolatory"];

impl Labels {
    /// How many there are.
    pub(super) const COUNT: usize = 3;

    /// Reads `id2label` of `config.json`.
    ///
    /// # Errors
    /// When it is absent or names other classes: guessing an order would turn support into contradiction.
    pub(super) fn read(dir: &Path) -> Result<Self, ModelError> {
        #[derive(Deserialize)]
        struct File {
            #[serde(default)]
            id2label: BTreeMap<String, String>,
        }
        let path = dir.join("config.json");
        if !path.is_file() {
            return Err(ModelError::MissingFile { dir: dir.to_owned(), expected: "config.json" });
        }
        let text = fs_err::read_to_string(&path).map_err(|e| ModelError::read(&path, e))?;
        let file: File = serde_json::from_str(&text).map_err(|e| ModelError::damaged(&path, e))?;
        Self::named(&file.id2label).ok_or_else(|| ModelError::Unsupported {
            path: path.clone(),
            what: format!(
                "the classes {:?} of a judge (supports, contradicts and neither are)",
                file.id2label.values().collect::<Vec<_>>()
            ),
        })
    }

    fn named(id2label: &BTreeMap<String, String>) -> Option<Self> {
        let at = |known: &[&str]| {
            let mut found = id2label.iter().filter(|(_, label)| {
                let label = label.to_lowercase().replace(['_', '-'], " ");
                known.contains(&label.trim())
            });
            let (id, _) = found.next()?;
            let at: usize = id.parse().ok()?;
            (found.next().is_none() && at < Self::COUNT).then_some(at)
        };
        let labels = Self {
            supports: at(&SUPPORTS)?,
            contradicts: at(&CONTRADICTS)?,
            neither: at(&NEITHER)?,
        };
        (id2label.len() == Self::COUNT).then_some(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_found_by_name_and_never_guessed() {
        let named = |labels: &[(&str, &str)]| {
            let labels = labels.iter().map(|(id, label)| ((*id).to_owned(), (*label).to_owned()));
            Labels::named(&labels.collect())
        };
        assert_eq!(
            named(&[("0", "supports"), ("1", "contradicts"), ("2", "neither")]),
            Some(Labels { supports: 0, contradicts: 1, neither: 2 })
        );
        assert_eq!(
            named(&[("0", "CONTRADICTION"), ("2", "Neutral"), ("1", "entailment")]),
            Some(Labels { supports: 1, contradicts: 0, neither: 2 })
        );
        assert!(named(&[("2", "NOT_ENOUGH_INFO"), ("0", "SUPPORT"), ("1", "REFUTES")]).is_some());
        assert_eq!(named(&[("0", "LABEL_0"), ("1", "LABEL_1"), ("2", "LABEL_2")]), None);
        assert_eq!(named(&[("0", "supports"), ("1", "supported"), ("2", "neither")]), None);
        assert_eq!(named(&[("0", "supports"), ("7", "contradicts"), ("2", "neither")]), None);
        let four = [("0", "supports"), ("1", "contradicts"), ("2", "neither"), ("3", "other")];
        assert_eq!(named(&four), None);
    }
}
