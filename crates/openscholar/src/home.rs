//! Where things lie on disk.

use std::path::{Path, PathBuf};

use crate::env::Environment;
use crate::error::CommandError;
use crate::private;

/// The folders of one user, none of them created yet.
///
/// ```text
/// $XDG_DATA_HOME/openscholar/models/<name>/…
///                           /datastores/<name>/…
///                           /runs/<run>/…
/// $XDG_CACHE_HOME/openscholar/{http,llm}/
/// $XDG_CONFIG_HOME/openscholar/config.toml, prices.toml, models.toml
/// ```
/// `--home DIR` puts all of them into `DIR`.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    data: PathBuf,
    config: PathBuf,
    cache: PathBuf,
}

impl Home {
    /// From `--home`, else the XDG variables, else `$HOME`.
    pub(crate) fn find(flag: Option<&Path>, env: &Environment) -> Result<Self, CommandError> {
        if let Some(home) = flag {
            let home = std::path::absolute(home).map_err(|source| {
                CommandError::user(format!("cannot make {} absolute", home.display()))
                    .with_source(source)
            })?;
            below_a_folder(&home)?;
            return Ok(Self { data: home.clone(), cache: home.join("cache"), config: home });
        }
        let under_home = |rest: &str| env.home.as_ref().map(|home| home.join(rest));
        let place = |xdg: &Option<PathBuf>, rest: &str| {
            xdg.clone()
                .filter(|path| path.is_absolute())
                .or_else(|| under_home(rest))
                .map(|path| path.join("openscholar"))
                .ok_or_else(|| {
                    CommandError::user("no home folder: HOME is not set")
                        .with_hint("pass --home DIR")
                })
        };
        let data = place(&env.data_home, ".local/share")?;
        below_a_folder(&data)?;
        let config = place(&env.config_home, ".config")?;
        Ok(Self { data, config, cache: place(&env.cache_home, ".cache")? })
    }

    /// Folder of all models.
    pub(crate) fn models(&self) -> PathBuf {
        self.data.join("models")
    }

    /// Folder of one datastore; the name must be a plain file name.
    pub(crate) fn datastore(&self, name: &str) -> Result<PathBuf, CommandError> {
        let plain = !name.is_empty()
            && name.len() <= 100
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            && !name.starts_with('.');
        if plain {
            Ok(self.datastores().join(name))
        } else {
            Err(CommandError::user(format!("{name:?} cannot be the name of a datastore"))
                .with_hint("use letters, digits, '-', '_' and '.'"))
        }
    }

    /// Folder of all datastores.
    pub(crate) fn datastores(&self) -> PathBuf {
        self.data.join("datastores")
    }

    /// Stored replies of providers; may be deleted at any time.
    pub(crate) fn replies(&self) -> PathBuf {
        self.cache.join("http")
    }

    /// Folder of all runs.
    pub(crate) fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    /// The config file.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The price file users can edit.
    pub(crate) fn price_file(&self) -> PathBuf {
        self.config.join("prices.toml")
    }

    /// The file of users' own catalog entries.
    pub(crate) fn catalog_file(&self) -> PathBuf {
        self.config.join("models.toml")
    }

    /// Creates `folder`, which lies below the data folder. A data folder that is made here is closed to other users; one
    /// that is there stays as it is, and so may be shared.
    pub(crate) fn create(&self, folder: &Path) -> Result<(), CommandError> {
        private::create_missing(&self.data)
            .and_then(|()| fs_err::create_dir_all(folder))
            .map_err(|source| CommandError::unwritable(&self.data, source))
    }

    /// The data folder itself.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }
}

/// The first part of `path` that exists must be a folder.
fn below_a_folder(path: &Path) -> Result<(), CommandError> {
    let found = path.ancestors().find_map(|part| Some((part, fs_err::metadata(part).ok()?)));
    match found {
        Some((part, what)) if !what.is_dir() => Err(CommandError::user(format!(
            "{} cannot be the home: {} is not a folder",
            path.display(),
            part.display()
        ))
        .with_hint("pass --home DIR with a folder you can write")),
        _ => Ok(()),
    }
}
