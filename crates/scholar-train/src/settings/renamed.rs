//! Settings under the names that earlier versions gave them.

use crate::error::TrainError;

/// Old name and new name. Each is also a serde alias of its field, which checkpoints and `training.json` are read by.
const RENAMED: [(&str, &str); 11] = [
    ("accumulate", "gradient_accumulation_steps"),
    ("anchor", "weight_interpolation"),
    ("batch", "batch_size"),
    ("clip", "max_grad_norm"),
    ("delete", "token_deletion"),
    ("group", "group_size"),
    ("queue", "queue_size"),
    ("reads", "architecture"),
    ("rejected_share", "max_rejected_fraction"),
    ("store", "save_dtype"),
    ("warmup", "warmup_steps"),
];

/// Puts the keys of a config file under their present names, so that they can override those of a preset.
///
/// # Errors
/// When a setting is stated under both names.
pub(super) fn modernise(stated: &mut toml::Table) -> Result<(), TrainError> {
    for (old, new) in RENAMED {
        let Some(value) = stated.remove(old) else { continue };
        if stated.insert(new.to_owned(), value).is_some() {
            return Err(TrainError::setting(new, format!("{old} is its former name; state one")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Settings, Task};

    #[test]
    fn every_old_name_is_an_alias_of_its_field_too() {
        let settings = Settings::small(Task::Reranker);
        let now = toml::Table::try_from(&settings).expect("TOML");
        let mut before = now.clone();
        for (old, new) in RENAMED {
            let value = before.remove(new).expect(new);
            before.insert(old.to_owned(), value);
        }
        assert_eq!(before.clone().try_into::<Settings>().expect("aliases"), settings);
        modernise(&mut before).expect("each once");
        assert_eq!(before, now);
        before.insert("batch".to_owned(), 1.into());
        assert!(modernise(&mut before).expect_err("twice").to_string().contains("former name"));
    }
}
