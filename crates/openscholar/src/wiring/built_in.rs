//! Models that the program carries in itself: they need no network, no package index and no hub.
//!
//! Their files lie under `models/` of the repository, packed by `openscholar models pack`. On first use they are written to
//! the models folder, and again whenever they are not what this version of the program carries.

use std::io::ErrorKind;
use std::path::Path;

use scholar_clients::download::Installed;
use scholar_models::catalog::{CatalogEntry, Source};

use crate::error::CommandError;
use crate::runs;

/// Held while a folder is written.
const LOCK: &str = ".built-in.lock";

/// A shipped model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shipped {
    name: &'static str,
    files: &'static [(&'static str, &'static [u8])],
}

/// A folder below `models/` with the files named.
macro_rules! shipped {
    ($name:literal: $($file:literal),+ $(,)?) => {
        Shipped {
            name: $name,
            files: &[$((
                $file,
                include_bytes!(concat!("../../../../models/", $name, "/", $file)),
            )),+],
        }
    };
}

/// All of them; each has an entry of kind `built-in` in the catalog, with the checksums of these files.
const SHIPPED: &[Shipped] = &[
    shipped!("granite-embedding-30m-english": "model.safetensors", "config.json", "tokenizer.json"),
    shipped!("scholar-reranker-mini": "model.safetensors", "config.json", "tokenizer.json", "rerank_weights.json"),
    shipped!("scholar-attributor-mini": "model.safetensors", "config.json", "tokenizer.json", "calibration.json", "judge_ensemble.json"),
    shipped!("scholar-sentences-granite": "model.safetensors", "config.json"),
    shipped!("scholar-sentences-mini": "model.safetensors", "config.json"),
];

/// What the program carries for `entry`; `None` where its files come from elsewhere.
///
/// # Errors
/// When the entry says that they are built in and they are not.
pub(crate) fn of(entry: &CatalogEntry) -> Result<Option<Shipped>, CommandError> {
    if !entry.sources.contains(&Source::BuiltIn) {
        return Ok(None);
    }
    let found = SHIPPED.iter().find(|shipped| shipped.name == entry.name);
    found.copied().map(Some).ok_or_else(|| {
        CommandError::user(format!("this program does not carry the model {}", entry.name))
            .with_hint(
                "only entries of the program's own catalog are built in; name a hub repository",
            )
    })
}

impl Shipped {
    /// Whether folder `dir` holds these files, byte for byte. Cheap enough for every start: the largest
    /// are 33 MB, read and compared in some tens of milliseconds.
    fn is_whole(&self, dir: &Path) -> bool {
        let same = |(name, bytes): &(&str, &[u8])| {
            fs_err::read(dir.join(name)).is_ok_and(|found| found == *bytes)
        };
        self.files.iter().all(same)
    }

    /// The same in the words of models that are fetched.
    pub(crate) fn installed(&self, dir: &Path) -> Installed {
        if !dir.is_dir() {
            return Installed::Missing;
        }
        if self.is_whole(dir) {
            return Installed::Complete { dir: dir.to_owned(), source: "this program".to_owned() };
        }
        Installed::Damaged { problems: vec!["not what this program carries".to_owned()] }
    }

    /// Puts them into a folder of the model's name in `models`, in one rename; other files that lie there go.
    pub(crate) fn write(&self, models: &Path) -> Result<(), CommandError> {
        let unwritable = |source| CommandError::unwritable(models, source);
        fs_err::create_dir_all(models).map_err(unwritable)?;
        // Two processes that both found the folder missing: the second would take away what the first reads.
        let lock = fs_err::File::create(models.join(LOCK)).map_err(unwritable)?;
        match lock.file().lock() {
            // Some network file systems have no locks; then two at once may still disturb each other.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            locked => locked.map_err(unwritable)?,
        }
        let place = models.join(self.name);
        if self.is_whole(&place) {
            return Ok(());
        }
        let new = tempfile::Builder::new().prefix(".built-in-").tempdir_in(models);
        let new = new.map_err(unwritable)?;
        // A folder in the temporary one: that is closed to other users.
        let made = new.path().join(self.name);
        fs_err::create_dir(&made).map_err(unwritable)?;
        for (name, bytes) in self.files {
            runs::write_atomic(&made.join(name), bytes)?;
        }
        if place.exists() {
            // Renamed before it is removed: a reader finds the old folder or the new one.
            let old = tempfile::Builder::new().prefix(".replaced-").tempdir_in(models);
            let old = old.map_err(unwritable)?;
            fs_err::rename(&place, old.path().join(self.name)).map_err(unwritable)?;
        }
        fs_err::rename(&made, &place).map_err(unwritable)
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::text::hex;
    use scholar_models::catalog::Catalog;
    use scholar_models::{CrossEncoderOptions, LocalCrossEncoder};
    use sha2::{Digest as _, Sha256};

    use super::*;

    const TINY: Shipped = Shipped {
        name: "tiny",
        files: &[
            (
                "config.json",
                include_bytes!("../../../scholar-models/tests/golden/tiny-bert-cross/config.json"),
            ),
            (
                "model.safetensors",
                include_bytes!(
                    "../../../scholar-models/tests/golden/tiny-bert-cross/model.safetensors"
                ),
            ),
            (
                "vocab.txt",
                include_bytes!("../../../scholar-models/tests/golden/tiny-bert-cross/vocab.txt"),
            ),
        ],
    };

    #[test]
    fn a_model_is_written_where_it_is_looked_for_and_again_when_it_was_changed() {
        let home = tempfile::tempdir().expect("a folder");
        let models = home.path().join("data/models");
        let place = models.join("tiny");
        assert!(!TINY.is_whole(&place));
        TINY.write(&models).expect("written");
        assert!(TINY.is_whole(&place));
        let options = CrossEncoderOptions::project(1);
        let opened = LocalCrossEncoder::open(&place, "tiny", options).expect("opens");
        assert_eq!(opened.logits("water", &["cells"]).expect("runs").len(), 1);
        let weights = place.join("model.safetensors");
        let mut bytes = fs_err::read(&weights).expect("there");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs_err::write(&weights, bytes).expect("written");
        assert!(!TINY.is_whole(&place), "another version, or damage");
        TINY.write(&models).expect("written again");
        assert!(TINY.is_whole(&place));
        let entries = fs_err::read_dir(&models).expect("there");
        let names = entries.map(|entry| entry.expect("readable").file_name());
        let left: Vec<_> = names.filter(|name| name != LOCK).collect();
        assert_eq!(left, ["tiny"], "nothing is left lying about");
    }

    #[test]
    fn who_comes_second_leaves_what_is_there() {
        let home = tempfile::tempdir().expect("a folder");
        let models = home.path().join("models");
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..25 {
                        TINY.write(&models).expect("written");
                        assert!(TINY.is_whole(&models.join("tiny")), "taken away again");
                    }
                });
            }
        });
    }

    /// The catalog promises exactly what is carried.
    #[test]
    fn catalog_and_program_agree() {
        let catalog = Catalog::builtin();
        let built_in = |entry: &&CatalogEntry| entry.sources.contains(&Source::BuiltIn);
        for entry in catalog.entries().iter().filter(built_in) {
            let shipped = of(entry).expect("carried").expect("built in");
            assert_eq!(entry.files.len(), shipped.files.len(), "{}", entry.name);
            for (file, (name, bytes)) in entry.files.iter().zip(shipped.files) {
                let digest = hex(&Sha256::digest(bytes));
                assert_eq!(file.path, *name, "{}", entry.name);
                assert_eq!(file.size, Some(bytes.len() as u64), "{name}");
                assert_eq!(file.sha256.as_ref(), Some(&digest), "{name}");
            }
            let size: usize = shipped.files.iter().map(|(_, bytes)| bytes.len()).sum();
            assert!(size <= 50 << 20, "{} is larger than 50 MB", entry.name);
        }
        for shipped in SHIPPED {
            let entry = catalog.find(shipped.name).expect("in the catalog");
            assert!(entry.sources.contains(&Source::BuiltIn), "{}", shipped.name);
        }
    }

    #[test]
    fn an_entry_that_only_says_so_is_refused() {
        let text = r#"
            [[model]]
            name = "mine"
            purpose = "reranker"
            summary = "s"
            architecture = "bert"
            max_tokens = 512
            licence = "x"
            files = [{ path = "config.json" }]
            [[model.source]]
            kind = "built-in"
        "#;
        let catalog = Catalog::parse(text, "mine.toml").expect("the form is right");
        let error = of(&catalog.entries()[0]).expect_err("not carried").to_string();
        assert!(error.contains("does not carry the model mine"), "{error}");
    }
}
