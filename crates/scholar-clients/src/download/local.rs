//! Files that are on this machine already.

use std::path::{Path, PathBuf};

use super::Job;
use super::digest;
use super::error::{Failure, at};

/// Takes the model's files from `path`: a folder that holds them, or the model's only file under any name. Files are
/// copied, so that later changes to the originals cannot damage the model.
pub(super) async fn fetch(job: &Job<'_>, path: &Path) -> Result<(), Failure> {
    let mut done = 0;
    for file in &job.plan.files {
        if job.staging.has(file, job.label) {
            continue;
        }
        let Some(original) = original(job, path, &file.path)? else {
            if file.optional {
                continue;
            }
            return Err(Failure::Source(format!("it has no {}", file.path)));
        };
        let part = job.staging.state(file, "part");
        let mut from = fs_err::File::open(&original)
            .map_err(|error| Failure::Source(format!("it cannot be read: {error}")))?;
        let mut to = fs_err::File::create(&part).map_err(at(&part))?;
        let (_, size) = digest::pump(&mut from, &mut to).await.map_err(at(&part))?;
        drop(to);
        done += size;
        job.report(done);
        job.staging.accept(file, &part, job.label, job.on_event).await?;
    }
    Ok(())
}

/// Where `wanted` lies under or at `path`.
fn original(job: &Job<'_>, path: &Path, wanted: &str) -> Result<Option<PathBuf>, Failure> {
    if path.is_dir() {
        let inside = path.join(wanted);
        return Ok(inside.is_file().then_some(inside));
    }
    if !path.is_file() {
        return Err(Failure::Source("there is no such file or folder".to_owned()));
    }
    let n_required = job.plan.files.iter().filter(|file| !file.optional).count();
    if n_required > 1 {
        let message = format!(
            "it is one file, but the model has {n_required}: pass the folder with all of them"
        );
        return Err(Failure::Source(message));
    }
    let only = job.plan.files.iter().any(|file| !file.optional && file.path == wanted);
    Ok(only.then(|| path.to_owned()))
}
