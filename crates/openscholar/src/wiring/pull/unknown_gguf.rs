//! GGUF files whose checksum nobody published: after the download, their own fields are held against the catalog.

use std::path::Path;

use scholar_models::catalog::CatalogEntry;
use scholar_models::gguf::GgufSummary;

use crate::error::{CommandError, Context as _, ErrorKind};

/// How far size and number of weights may lie from what the catalog says, which is rounded.
const TOLERANCE: f64 = 0.1;

/// Refuses and removes a file without a checksum that is not the model of `entry`. Files with one were hashed.
pub(super) fn check(entry: &CatalogEntry, folder: &Path) -> Result<(), CommandError> {
    let Some(file) = entry.gguf() else { return Ok(()) };
    if entry.files.iter().any(|listed| listed.path == file && listed.sha256.is_some()) {
        return Ok(());
    }
    let path = folder.join(file);
    let problem = match GgufSummary::read(&path) {
        Ok(summary) => misfit(entry, &summary),
        Err(error) => Some(error.to_string()),
    };
    let Some(problem) = problem else { return Ok(()) };
    fs_err::remove_file(&path).user(|| format!("cannot remove {}", path.display()))?;
    let message = format!("the file that was fetched as {} is another: {problem}", entry.name);
    Err(CommandError::new(ErrorKind::Damaged, message).with_hint(
        "it was removed; get the file of the model yourself and pass it as --model FILE.gguf",
    ))
}

/// What contradicts the catalog.
fn misfit(entry: &CatalogEntry, found: &GgufSummary) -> Option<String> {
    let GgufSummary { architecture, weights, context_tokens, bytes } = found;
    let expected = serde_json::to_value(entry.architecture).ok()?;
    if expected.as_str() != Some(architecture) {
        return Some(format!("its architecture is {architecture}, the catalog says {expected}"));
    }
    if *context_tokens < entry.max_tokens {
        return Some(format!(
            "it reads {context_tokens} tokens, the catalog says {}",
            entry.max_tokens
        ));
    }
    let needs = entry.needs.as_ref()?;
    let far = |found: f64, stated: f64| (found / stated - 1.0).abs() > TOLERANCE;
    let millions = *weights as f64 / 1e6;
    if far(millions, needs.weights_millions as f64) {
        return Some(format!(
            "it has {millions:.0} million weights, the catalog says {}",
            needs.weights_millions
        ));
    }
    far(*bytes as f64, needs.file_bytes as f64)
        .then(|| format!("it has {bytes} bytes, the catalog says about {}", needs.file_bytes))
}

#[cfg(test)]
mod tests {
    use scholar_models::catalog::Catalog;

    use super::*;

    fn entry() -> CatalogEntry {
        Catalog::builtin().find("qwen3-1.7b-q4_k_m").cloned().unwrap()
    }

    #[test]
    fn fields_of_another_model_are_named() {
        let entry = entry();
        let needs = entry.needs.clone().unwrap();
        let right = GgufSummary {
            architecture: "qwen3",
            weights: needs.weights_millions * 1_010_000,
            context_tokens: entry.max_tokens,
            bytes: needs.file_bytes * 21 / 20,
        };
        assert_eq!(misfit(&entry, &right), None);
        let problem = |found| misfit(&entry, &found).unwrap();
        let family = problem(GgufSummary { architecture: "llama", ..right.clone() });
        assert_eq!(family, "its architecture is llama, the catalog says \"qwen3\"");
        let short = problem(GgufSummary { context_tokens: 2048, ..right.clone() });
        assert_eq!(short, "it reads 2048 tokens, the catalog says 40960");
        let small = problem(GgufSummary { weights: 600_000_000, ..right.clone() });
        assert_eq!(small, "it has 600 million weights, the catalog says 1721");
        let dense = problem(GgufSummary { bytes: 3_400_000_000, ..right });
        assert!(dense.starts_with("it has 3400000000 bytes, the catalog says about"), "{dense}");
    }

    #[test]
    fn what_is_no_gguf_file_is_removed() {
        let (entry, folder) = (entry(), tempfile::tempdir().unwrap());
        let path = folder.path().join(entry.gguf().unwrap());
        fs_err::write(&path, "<html>sign in first</html>").unwrap();
        let error = check(&entry, folder.path()).unwrap_err();
        assert!(error.to_string().contains("fetched as qwen3-1.7b-q4_k_m is another"), "{error}");
        assert!(!path.exists());
    }
}
