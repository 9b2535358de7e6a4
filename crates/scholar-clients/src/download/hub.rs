//! The model hub: files of a repository over HTTP, each resumed where it was left.

use std::io::Write as _;
use std::path::PathBuf;

use reqwest::header;
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret as _;
use url::Url;

use super::Job;
use super::error::{Failure, at};
use super::plan::PlannedFile;
use crate::http;
use crate::retry::uniform;

/// How often a file is taken up again after its transfer broke. A hub that is not there gets one attempt.
const ATTEMPTS: u32 = 4;

/// Fetches every file of the plan.
pub(super) async fn fetch(job: &Job<'_>, repo: &str, revision: &str) -> Result<(), Failure> {
    let mut done = 0;
    for file in &job.plan.files {
        if !job.staging.has(file, job.label) {
            let url = address(job, repo, revision, &file.path)?;
            Transfer { job, file, url, before: done }.run().await?;
        }
        done += fs_err::metadata(job.staging.whole(file)).map_or(0, |meta| meta.len());
        job.report(done);
    }
    Ok(())
}

fn address(job: &Job<'_>, repo: &str, revision: &str, path: &str) -> Result<Url, Failure> {
    let mut url = job.downloader.config.hub.clone();
    let segments =
        repo.split('/').chain(["resolve"]).chain(revision.split('/')).chain(path.split('/'));
    match url.path_segments_mut() {
        Ok(mut inside) => inside.pop_if_empty().extend(segments),
        Err(()) => return Err(Failure::Source("the hub's address cannot carry a path".to_owned())),
    };
    Ok(url)
}

/// One file on its way.
struct Transfer<'a> {
    job: &'a Job<'a>,
    file: &'a PlannedFile,
    url: Url,
    before: u64,
}

/// How one request ended.
enum Step {
    /// The file is whole, or optional and not there.
    Done,
    /// Going on makes sense.
    Broken(String),
}

impl Transfer<'_> {
    async fn run(&self) -> Result<(), Failure> {
        let mut reason = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                let pause = self.job.downloader.config.pause;
                tokio::time::sleep(pause.mul_f64(uniform())).await;
            }
            match self.step().await? {
                Step::Done => return Ok(()),
                Step::Broken(why) => reason = why,
            }
        }
        Err(Failure::Source(format!("{} did not come through: {reason}", self.file.path)))
    }

    fn part(&self) -> PathBuf {
        self.job.staging.state(self.file, "part")
    }

    fn etag_path(&self) -> PathBuf {
        self.job.staging.state(self.file, "etag")
    }

    /// What is here, and the version it is of. Bytes of an unknown version are worth nothing.
    fn resumable(&self) -> Option<(u64, String)> {
        let length =
            fs_err::metadata(self.part()).ok().map(|meta| meta.len()).filter(|n| *n > 0)?;
        let etag = fs_err::read_to_string(self.etag_path()).ok()?;
        Some((length, etag))
    }

    async fn step(&self) -> Result<Step, Failure> {
        let resumed = self.resumable();
        let idle = self.job.downloader.config.idle_timeout;
        let response = match tokio::time::timeout(idle, self.request(resumed.as_ref())).await {
            Err(_) => return Ok(Step::Broken(format!("no answer within {} s", idle.as_secs()))),
            Ok(Ok(response)) => response,
            Ok(Err(error)) if error.is_redirect() => {
                return Err(Failure::Source(http::reason(error)));
            }
            Ok(Err(error)) if error.is_connect() => {
                return Err(Failure::Source(format!(
                    "it cannot be reached: {}",
                    http::reason(error)
                )));
            }
            Ok(Err(error)) => return Ok(Step::Broken(http::reason(error))),
        };
        let status = response.status();
        match status {
            StatusCode::OK => self.receive(response, 0).await,
            StatusCode::PARTIAL_CONTENT => {
                let start = resumed.map_or(0, |(length, _)| length);
                if range_start(&response) == Some(start) {
                    self.receive(response, start).await
                } else {
                    self.forget()?;
                    Ok(Step::Broken("it sent a range other than the requested one".to_owned()))
                }
            }
            StatusCode::RANGE_NOT_SATISFIABLE => {
                self.forget()?;
                Ok(Step::Broken("it has fewer bytes than are here already".to_owned()))
            }
            StatusCode::NOT_FOUND if self.file.optional => Ok(Step::Done),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let message = format!(
                    "it refuses {} ({status}): set HF_TOKEN if the model needs a key",
                    self.file.path
                );
                Err(Failure::Source(message))
            }
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Ok(Step::Broken(format!("it answered {status}")))
            }
            status => Err(Failure::Source(format!("it answered {status} for {}", self.file.path))),
        }
    }

    async fn request(&self, resumed: Option<&(u64, String)>) -> reqwest::Result<Response> {
        let mut request = self.job.downloader.http.pool(&self.url).get(self.url.clone());
        // Compressed transfers have other lengths than the file.
        request = request.header(header::ACCEPT_ENCODING, "identity");
        if let Some(token) = &self.job.downloader.config.hub_token {
            request = request.bearer_auth(token.expose_secret());
        }
        if let Some((length, etag)) = resumed {
            request = request
                .header(header::RANGE, format!("bytes={length}-"))
                .header(header::IF_RANGE, etag);
        }
        request.send().await
    }

    fn forget(&self) -> Result<(), Failure> {
        for path in [self.part(), self.etag_path()] {
            if path.exists() {
                fs_err::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
    }

    /// Appends the body behind the `start` bytes that are here.
    async fn receive(&self, mut response: Response, start: u64) -> Result<Step, Failure> {
        let total = response.content_length().map(|rest| start + rest);
        if let (Some(total), Some(size)) = (total, self.file.size)
            && total != size
        {
            let message = format!("its {} has {total} bytes instead of {size}", self.file.path);
            return Err(Failure::Source(message));
        }
        let part = self.part();
        if start == 0 {
            self.forget()?;
            self.remember_version(&response)?;
        }
        let mut to =
            fs_err::OpenOptions::new().create(true).append(true).open(&part).map_err(at(&part))?;
        let mut length = start;
        let idle = self.job.downloader.config.idle_timeout;
        loop {
            let piece = match tokio::time::timeout(idle, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Ok(Step::Broken(http::reason(error))),
                Err(_) => {
                    return Ok(Step::Broken(format!("nothing came for {} s", idle.as_secs())));
                }
            };
            length = length.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
            if self.file.size.is_some_and(|size| length > size) {
                self.forget()?;
                return Err(Failure::Source(format!(
                    "its {} is longer than published",
                    self.file.path
                )));
            }
            to.write_all(&piece).map_err(at(&part))?;
            self.job.report(self.before + length);
        }
        if total.is_some_and(|total| length < total) {
            return Ok(Step::Broken(format!("{} was cut short", self.file.path)));
        }
        drop(to);
        self.job.staging.accept(self.file, &part, self.job.label, self.job.on_event).await?;
        Ok(Step::Done)
    }

    /// Keeps the entity tag, if it is a strong one: only that proves two ranges to be of one file.
    fn remember_version(&self, response: &Response) -> Result<(), Failure> {
        let etag = response.headers().get(header::ETAG).and_then(|value| value.to_str().ok());
        if let Some(etag) = etag.filter(|etag| !etag.starts_with("W/")) {
            let path = self.etag_path();
            fs_err::write(&path, etag).map_err(at(&path))?;
        }
        Ok(())
    }
}

/// First byte of the range in a partial answer.
fn range_start(response: &Response) -> Option<u64> {
    let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()
}
