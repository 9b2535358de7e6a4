//! [`Upkeep`]: runs looked at again, and the state of everything.

use std::time::{Duration, Instant};

use scholar_server::backend::{
    BackendError, Replayed, RunDifference, Status, StatusCheck, Upkeep, Verified,
};

use super::desk::Desk;
use super::{past, told};
use crate::commands::doctor;
use crate::commands::runs::diff::{self, Difference};
use crate::commands::runs::{explain, replay, verify};
use crate::error::CommandError;
use crate::proof::check::RunFiles;

/// As long what was found is shown to the next who looks.
const LASTS: Duration = Duration::from_secs(5);
/// Checks that tell where files of the server lie.
const PRIVATE: [&str; 4] = ["data folder", "run folders", "key file", "python3 with pip"];

impl Upkeep for Desk {
    fn compare(&self, left: &str, right: &str) -> Result<RunDifference, BackendError> {
        for run in [left, right] {
            past::folder(self, run)?;
        }
        let found = diff::difference(left, right, &self.app).map_err(|error| told(&error))?;
        let Difference {
            settings,
            papers_only_left,
            papers_only_right,
            sentences_only_left,
            sentences_only_right,
        } = found;
        Ok(RunDifference {
            settings,
            papers_only_left,
            papers_only_right,
            sentences_only_left,
            sentences_only_right,
        })
    }

    fn verify(&self, run: &str) -> Result<Verified, BackendError> {
        past::folder(self, run)?;
        let (holds, lines) = verify::verified(run, &self.app).map_err(|error| told(&error))?;
        Ok(Verified { holds, lines })
    }

    fn replay(&self, run: &str) -> Result<Replayed, BackendError> {
        let folder = past::folder(self, run)?;
        let again = || -> Result<Replayed, CommandError> {
            let files = RunFiles::read(&folder)?;
            let (_, compared) = self.handle.block_on(replay::replay(&files))?;
            let is_identical = compared.iter().all(replay::Compared::is_same);
            let lines = compared.iter().map(replay::Compared::line).collect();
            Ok(Replayed { is_identical, lines })
        };
        again().map_err(|error| told(&error))
    }

    fn explain(&self, run: &str) -> Result<Vec<String>, BackendError> {
        let folder = past::folder(self, run)?;
        let found = explain::explained(&folder, None).map_err(|error| told(&error))?;
        Ok(found.iter().map(explain::render).collect())
    }

    fn status(&self, ask_providers: bool) -> Result<Status, BackendError> {
        let offline = self.app.offline || !ask_providers;
        let mut looked = self.looked.lock();
        if let Some((at, status)) = looked.as_ref().filter(|_| offline)
            && at.elapsed() < LASTS
        {
            return Ok(status.clone());
        }
        let checks = doctor::all(offline, &self.app).map_err(|error| told(&error))?;
        let checks = checks.into_iter().map(|doctor::Check { what, ok, found, hint }| {
            let is_private = PRIVATE.contains(&what.as_str());
            StatusCheck { what, ok, found, hint, is_private }
        });
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let status = Status { version, checks: checks.collect() };
        if offline {
            *looked = Some((Instant::now(), status.clone()));
        }
        Ok(status)
    }
}
