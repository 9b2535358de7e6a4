//! Where tests find what is not part of the repository: real model weights, collections of real papers and answers.
//!
//! Without the variable that names the folder a test is skipped, and says so on standard error. With it, what is missing in
//! the folder is a failure: `.ci/run` names both, so that a test that did not run cannot look green there.

use std::path::PathBuf;

/// The folder of model `name` in the folder named by `OPENSCHOLAR_TEST_MODELS`, which `openscholar models pull` fills.
///
/// ```no_run
/// let Some(dir) = scholar_testing::model_dir("all-MiniLM-L6-v2") else { return };
/// # let _ = dir;
/// ```
///
/// # Panics
/// When the folder is named and the model is not in it.
pub fn model_dir(name: &str) -> Option<PathBuf> {
    found("OPENSCHOLAR_TEST_MODELS", name)
}

/// The same for a model that is too large to be asked of everyone: skipped where it is missing.
pub fn large_model_dir(name: &str) -> Option<PathBuf> {
    let path =
        folder("OPENSCHOLAR_TEST_MODELS").map(|dir| dir.join(name)).filter(|dir| dir.exists());
    if path.is_none() {
        skipped(&format!("openscholar models pull {name}, and OPENSCHOLAR_TEST_MODELS"));
    }
    path
}

/// What lies at `path` in the folder of real papers, queries and recorded replies named by `OPENSCHOLAR_TEST_DATA`.
///
/// # Panics
/// When the folder is named and has nothing there.
pub fn data(path: &str) -> Option<PathBuf> {
    found("OPENSCHOLAR_TEST_DATA", path)
}

/// The script of axe-core, which looks for faults of accessibility, from the folder named by `OPENSCHOLAR_AXE`; `.ci/axe` fetches it.
///
/// # Panics
/// When the folder is named and the script is not in it, or is no text.
#[expect(clippy::panic, reason = "whoever names the folder wants the test to run")]
pub fn axe() -> Option<String> {
    let path = found("OPENSCHOLAR_AXE", "axe.min.js")?;
    #[expect(clippy::disallowed_methods, reason = "the path is in the message below")]
    let script = std::fs::read_to_string(&path);
    Some(script.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The folder that gets pictures of pages, where `OPENSCHOLAR_SCREENSHOTS` names one.
pub fn screenshots() -> Option<PathBuf> {
    folder("OPENSCHOLAR_SCREENSHOTS")
}

/// Says that a test was skipped for want of a browser.
///
/// # Panics
/// Where `OPENSCHOLAR_BROWSER` is `required`.
pub(crate) fn no_browser() {
    let is_required =
        folder("OPENSCHOLAR_BROWSER").is_some_and(|value| value.as_os_str() == "required");
    assert!(
        !is_required,
        "OPENSCHOLAR_BROWSER is required, and chromium or chromedriver is missing"
    );
    skipped("a browser, of the packages chromium and chromium-driver");
}

#[expect(clippy::panic, reason = "whoever names the folder wants the test to run")]
fn found(variable: &str, name: &str) -> Option<PathBuf> {
    let Some(folder) = folder(variable) else {
        skipped(&format!("{variable}, a folder that holds {name}"));
        return None;
    };
    let path = folder.join(name);
    if !path.exists() {
        panic!("{variable} is set, and there is no {}", path.display());
    }
    Some(path)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place in the test code that reads these variables"
)]
fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
fn skipped(wants: &str) {
    eprintln!("skipped: this test wants {wants}");
}
