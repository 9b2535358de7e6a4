//! Checks of settings that need no file.

use super::{Objective, Settings, Task};
use crate::error::TrainError;

impl Settings {
    /// Checks what does not depend on files.
    ///
    /// # Errors
    /// Names the first setting that cannot be used.
    pub fn check(&self) -> Result<(), TrainError> {
        let positive = [
            ("epochs", self.epochs),
            ("batch_size", self.batch_size),
            ("gradient_accumulation_steps", self.gradient_accumulation_steps),
            ("evaluate_every", self.evaluate_every),
            ("checkpoint_every", self.checkpoint_every),
            ("held_out_rows", self.held_out_rows),
            ("collection_queries", self.collection_queries),
            ("collection_documents", self.collection_documents),
            ("collection_depth", self.collection_depth),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(TrainError::setting(name, "it must not be 0"));
        }
        if !self.device.is_built() {
            return Err(TrainError::NotBuilt { name: self.device.name() });
        }
        let needed = |name: &str| match name {
            "queue_size" | "momentum" => {
                self.task == Task::Encoder && self.objective == Objective::Queue
            }
            _ => true,
        };
        match self.ranges().iter().find(|(name, holds, _)| !holds && needed(name)) {
            Some((name, _, wanted)) => {
                Err(TrainError::setting(name, format!("it must be {wanted}")))
            }
            None => Ok(()),
        }
    }

    /// Name of each setting, whether its value is in range, and what the range is.
    fn ranges(&self) -> Vec<(&'static str, bool, &'static str)> {
        let below_one = |value: f64| (0.0..1.0).contains(&value);
        vec![
            ("init", !self.init.as_os_str().is_empty(), "name a model folder"),
            ("rows", !self.rows.is_empty(), "name a file"),
            (
                "collections",
                self.collections.is_empty() || self.task != Task::Attributor,
                "empty: a judge of support ranks nothing",
            ),
            (
                "max_rejected_fraction",
                (0.0..=1.0).contains(&self.max_rejected_fraction),
                "between 0 and 1",
            ),
            (
                "learning_rate",
                self.learning_rate > 0.0 && self.learning_rate < 1.0,
                "between 0 and 1",
            ),
            ("beta1", below_one(self.beta1), "from 0 to below 1"),
            ("beta2", below_one(self.beta2), "from 0 to below 1"),
            ("epsilon", self.epsilon > 0.0, "above 0"),
            ("weight_decay", self.weight_decay >= 0.0, "not negative"),
            ("max_grad_norm", self.max_grad_norm >= 0.0, "not negative"),
            ("dropout", below_one(f64::from(self.dropout)), "from 0 to below 1"),
            ("max_tokens", self.max_tokens >= 8, "at least 8"),
            (
                "weight_interpolation",
                below_one(f64::from(self.weight_interpolation)),
                "from 0 to below 1",
            ),
            ("group_size", self.group_size >= 2 || self.task == Task::Attributor, "at least 2"),
            ("teacher_weight", (0.0..=1.0).contains(&self.teacher_weight), "from 0 to 1"),
            ("teacher_temperature", self.teacher_temperature > 0.0, "above 0"),
            ("selection_weight", self.selection_weight >= 0.0, "not negative"),
            ("selection_sentences", self.selection_sentences >= 2, "at least 2"),
            ("temperature", self.temperature > 0.0, "above 0"),
            (
                "queue_size",
                self.queue_size.is_multiple_of(self.batch_size),
                "a multiple of batch_size",
            ),
            ("momentum", below_one(f64::from(self.momentum)), "from 0 to below 1"),
            ("window", self.window >= 16, "at least 16"),
            (
                "crop_min",
                self.crop_min > 0.0 && self.crop_min <= self.crop_max,
                "above 0, at most crop_max",
            ),
            ("crop_max", self.crop_max <= 1.0, "at most 1"),
            ("token_deletion", below_one(self.token_deletion), "from 0 to below 1"),
        ]
    }
}
