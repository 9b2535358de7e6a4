//! Bringing a datastore to the present format in its place.
//!
//! 1. Everything is copied into `NAME.upgrading` beside it, which goes on where a killed process stopped.
//! 2. The datastore is renamed to `NAME.older-format`, and the copy to `NAME`.
//! 3. `NAME.older-format` is removed.
//!
//! Killed between any two of these steps, the next start goes on with the next one.

use std::path::{Path, PathBuf};

use scholar_datastore::{Descriptor, MergeSource, descriptor};

use super::copy;
use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::starter;

/// The folders of an upgrade.
struct Places {
    datastore: PathBuf,
    new: PathBuf,
    old: PathBuf,
    lock: PathBuf,
}

impl Places {
    fn of(datastore: &Path) -> Self {
        let beside = |ending: &str| datastore.with_extension(ending);
        Self {
            new: beside("upgrading"),
            old: beside("older-format"),
            lock: beside("upgrade.lock"),
            datastore: datastore.to_owned(),
        }
    }

    /// Waits until no other process upgrades this datastore. Free again when it is dropped.
    fn lock(&self) -> Result<fs_err::File, CommandError> {
        let locked = fs_err::File::create(&self.lock).and_then(|file| {
            fs4::FileExt::lock(file.file())?;
            Ok(file)
        });
        locked.user(|| "cannot tell whether another process upgrades the datastore".to_owned())
    }

    /// Puts the copy, which is whole, in the place of the datastore.
    fn exchange(&self) -> Result<(), CommandError> {
        fs_err::rename(&self.datastore, &self.old)
            .user(|| "cannot put the older datastore aside".to_owned())?;
        self.put_new()?;
        self.remove_old()
    }

    fn put_new(&self) -> Result<(), CommandError> {
        fs_err::rename(&self.new, &self.datastore)
            .user(|| "cannot put the upgraded datastore in place".to_owned())
    }

    fn remove_old(&self) -> Result<(), CommandError> {
        fs_err::remove_dir_all(&self.old).user(|| "cannot remove the older datastore".to_owned())
    }

    /// Goes on where a killed process stopped after it had put the older datastore aside.
    fn finish(&self) -> Result<(), CommandError> {
        match (self.datastore.exists(), self.new.exists(), self.old.exists()) {
            (false, true, true) => {
                self.put_new()?;
                self.remove_old()
            }
            (true, false, true) => self.remove_old(),
            // Nothing was put aside; or there is more than an upgrade leaves, which is for a person to look at.
            _ => Ok(()),
        }
    }
}

/// Finishes the upgrade of the datastore at `path` that a killed process left between its last steps.
pub(crate) fn finish_upgrade(path: &Path) -> Result<(), CommandError> {
    let places = Places::of(path);
    if !places.old.exists() {
        return Ok(());
    }
    let _lock = places.lock()?;
    places.finish()
}

/// Brings the datastore at `path` to the present format in its place, when it has an older one.
pub(crate) fn upgrade(path: &Path, app: &App) -> Result<(), CommandError> {
    if !is_older(path) {
        return Ok(());
    }
    let places = Places::of(path);
    let _lock = places.lock()?;
    places.finish()?;
    // Whoever held the lock may have done it.
    if !is_older(path) {
        return Ok(());
    }
    copy::into(&places.new, &[MergeSource::open(path)?], app)?;
    let complete = path.join(starter::COMPLETE_FILE);
    if complete.is_file() {
        fs_err::copy(&complete, places.new.join(starter::COMPLETE_FILE))
            .user(|| "cannot mark the datastore as complete".to_owned())?;
    }
    places.exchange()
}

fn is_older(path: &Path) -> bool {
    Descriptor::read_older(path).is_ok_and(|stored| stored.format < descriptor::FORMAT_VERSION)
}
