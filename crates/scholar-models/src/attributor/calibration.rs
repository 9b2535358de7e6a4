//! What was learned after training: how sure the judge may sound, and from where on it says what.

use std::path::Path;

use serde::Deserialize;

use crate::error::ModelError;

/// `calibration.json`; other keys in it are for people.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Calibration {
    /// What logits are divided by.
    pub(super) temperature: f32,
    /// Probability from which a pair is supported.
    pub(super) supported: f32,
    /// Probability from which it is contradicted.
    pub(super) contradicted: f32,
    /// Probability of support from which it is partly supported.
    pub(super) partial: f32,
    /// Version of the weights, as it stands in the judge's name.
    pub(super) version: String,
}

impl Calibration {
    /// Reads the file of folder `dir`; without one the model's own odds count.
    ///
    /// # Errors
    /// When it is not JSON of this form or its numbers make no sense.
    pub(super) fn read(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("calibration.json");
        if !path.is_file() {
            return Ok(Self::default());
        }
        let text = fs_err::read_to_string(&path).map_err(|e| ModelError::read(&path, e))?;
        let read: Self = serde_json::from_str(&text).map_err(|e| ModelError::damaged(&path, e))?;
        let Self { temperature, supported, contradicted, partial, version } = &read;
        let odds = |value: &f32| (0.0..=1.0).contains(value);
        let sound = temperature.is_finite()
            && *temperature > 0.0
            && [supported, contradicted, partial].into_iter().all(odds)
            && !version.is_empty()
            && version.len() <= 32;
        if sound {
            return Ok(read);
        }
        let problem =
            "a temperature above 0, thresholds from 0 to 1 and a short version belong in it";
        Err(ModelError::damaged(&path, problem))
    }
}

impl Default for Calibration {
    /// Even odds, and a third for parts. Ours.
    fn default() -> Self {
        Self {
            temperature: 1.0,
            supported: 0.5,
            contradicted: 0.5,
            partial: 0.35,
            version: "1".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(Calibration::read(dir.path()).expect("absent"), Calibration::default());
        let read = |text: &str| {
            fs_err::write(dir.path().join("calibration.json"), text).expect("written");
            Calibration::read(dir.path())
        };
        let calibration = read("{\"temperature\": 1.7, \"ece\": 0.03}").expect("sound");
        assert!((calibration.temperature - 1.7).abs() < 1e-6);
        for bad in ["{\"temperature\": 0}", "{\"temperature\": -1}", "{\"partial\": 2}", "3", "{"] {
            let error = read(bad).expect_err(bad).to_string();
            assert!(error.contains("calibration.json"), "{error}");
        }
    }
}
