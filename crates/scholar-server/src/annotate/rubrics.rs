//! What the scores mean, as annotators read it.

use std::sync::LazyLock;

use serde::Deserialize;

use super::model::Aspect;

/// The scale of one aspect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Rubric {
    /// The aspect of an answer that these levels are of.
    pub aspect: Aspect,
    /// Its name for people.
    pub title: String,
    /// What is judged, in a sentence that annotators read.
    pub criterion: String,
    /// What each score means, 1 to 5.
    pub levels: [Level; 5],
}

/// What one score means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Level {
    /// The score in a few words.
    pub name: String,
    /// Description of the level, as annotators read it.
    pub text: String,
}

#[derive(Deserialize)]
struct File {
    rubrics: [Rubric; 4],
}

static RUBRICS: LazyLock<[Rubric; 4]> = LazyLock::new(|| {
    let file: File = serde_json::from_str(include_str!("rubrics.json"))
        .expect("the file is part of the program and a test reads it");
    file.rubrics
});

/// The rubrics in the order of [`Aspect::ALL`].
pub fn rubrics() -> &'static [Rubric; 4] {
    &RUBRICS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_rubric_for_each_aspect_in_order() {
        assert_eq!(rubrics().each_ref().map(|rubric| rubric.aspect), Aspect::ALL);
        for level in rubrics().iter().flat_map(|rubric| &rubric.levels) {
            assert!(!level.name.is_empty() && level.text.ends_with('.'), "{level:?}");
        }
    }
}
