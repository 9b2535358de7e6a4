//! Where tests find what whoever runs them has: real model weights, collections of recordings.

use std::path::PathBuf;

/// The folder named by `OPENSCHOLAR_TEST_MODELS`, one folder per model in it; `None` when unset or not a folder.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place in the test code that reads this variable"
)]
pub fn models_dir() -> Option<PathBuf> {
    let dir = PathBuf::from(std::env::var_os("OPENSCHOLAR_TEST_MODELS")?);
    dir.is_dir().then_some(dir)
}

/// The folder of model `name` in [`models_dir`]; says on standard error what is skipped when it is not there.
///
/// ```no_run
/// let Some(dir) = scholar_testing::model_dir("all-MiniLM-L6-v2") else { return };
/// # let _ = dir;
/// ```
#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
pub fn model_dir(name: &str) -> Option<PathBuf> {
    let dir = models_dir().map(|dir| dir.join(name)).filter(|dir| dir.is_dir());
    if dir.is_none() {
        eprintln!(
            "skipped: set OPENSCHOLAR_TEST_MODELS to a folder that holds {name}/ to run this test"
        );
    }
    dir
}

/// The path in the variable `name`, for ignored tests over material that is not part of the repository.
///
/// # Panics
/// When the variable is not set: whoever asks for an ignored test must say where its material is.
#[expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "the one place in the test code that reads such variables, and without one there is no test"
)]
pub fn material(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(name).unwrap_or_else(|| panic!("{name} names no path")))
}
