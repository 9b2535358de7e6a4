//! From a request's parts to files in a folder of their own.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use axum::body::Bytes;
use axum::extract::Multipart;
use axum::extract::multipart::{Field, MultipartError};
use tokio::sync::mpsc;

use super::{MOST_BYTES, MOST_FILES};
use crate::backend::NO_DOCUMENT;
use crate::error::{ApiError, ErrorCode};

/// Files that lie in a folder of their own.
#[derive(Debug)]
pub(crate) struct Received {
    /// The files, in the order in which they were sent.
    pub(crate) files: Vec<PathBuf>,
}

/// Longest name of a file that is kept, in characters.
const LONGEST_NAME: usize = 100;

/// Endings of documents and libraries.
const ENDINGS: [&str; 15] = [
    "pdf", "bib", "bibtex", "ris", "json", "csljson", "xml", "nxml", "jats", "tei", "html", "htm",
    "xhtml", "txt", "md",
];

/// Writes the files of a request into `folder/id`. Whoever called it removes what was written of a request that fails.
///
/// # Errors
/// A file of another kind, too many, more bytes than may be sent, none at all.
pub(crate) async fn receive(
    mut parts: Multipart,
    folder: &Path,
    id: &str,
) -> Result<Received, ApiError> {
    let own = folder.join(id);
    fs_err::create_dir_all(&own).map_err(|error| unwritable(&error))?;
    let mut files: Vec<PathBuf> = Vec::new();
    let received = async {
        let mut left = MOST_BYTES;
        while let Some(part) = parts.next_field().await.map_err(|error| broken(&error))? {
            let Some(sent) = part.file_name().map(str::to_owned) else { continue };
            // A browser sends an empty part where no file was chosen.
            if sent.is_empty() {
                continue;
            }
            if files.len() >= MOST_FILES {
                let message = format!("more than {MOST_FILES} files were sent at once");
                return Err(ApiError::bad_request(message).with_hint("send them in several parts"));
            }
            let path = free(&own, &safe_name(&sent)?, &files);
            left = write(part, &path, left).await?;
            files.push(path);
        }
        if files.is_empty() {
            return Err(ApiError::bad_request("no file was sent").with_hint("choose at least one"));
        }
        Ok(())
    }
    .await;
    received.map(|()| Received { files })
}

fn broken(error: &MultipartError) -> ApiError {
    ApiError::bad_request(format!("the files did not arrive whole: {}", error.body_text()))
}

/// Pieces of a file that wait to be written.
const AHEAD: usize = 4;

/// Writes one file; how many bytes may still come.
async fn write(mut part: Field<'_>, path: &Path, mut left: u64) -> Result<u64, ApiError> {
    let (send, mut pieces) = mpsc::channel::<Bytes>(AHEAD);
    let path = path.to_owned();
    // The disk is waited for on a thread that may wait.
    let writer = tokio::task::spawn_blocking(move || {
        let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(path)?;
        while let Some(piece) = pieces.blocking_recv() {
            file.write_all(&piece)?;
        }
        file.flush()
    });
    let received = async {
        while let Some(piece) = part.chunk().await.map_err(|error| broken(&error))? {
            left = left.checked_sub(piece.len() as u64).ok_or_else(too_large)?;
            // Who writes has ended, and says why.
            if send.send(piece).await.is_err() {
                break;
            }
        }
        Ok(left)
    };
    let received = received.await;
    drop(send);
    match writer.await {
        Ok(Ok(())) => received,
        Ok(Err(error)) => Err(unwritable(&error)),
        Err(_) => Err(ApiError::new(ErrorCode::Internal, "the writing of a file broke off")),
    }
}

fn unwritable(error: &std::io::Error) -> ApiError {
    tracing::error!(error = error as &dyn std::error::Error, "a file that was sent cannot be kept");
    ApiError::new(ErrorCode::Internal, "the server cannot keep this file")
        .with_hint("its disk may be full; the server's log says why")
}

pub(crate) fn too_large() -> ApiError {
    let message = format!("more than {} MB were sent at once", MOST_BYTES / 1_000_000);
    ApiError::new(ErrorCode::TooLarge, message)
        .with_hint("send fewer files, or add large ones with openscholar papers add on the server")
}

/// A name that means a file of this folder and no other, whatever was sent.
fn safe_name(sent: &str) -> Result<String, ApiError> {
    let last = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last
        .chars()
        .map(|c| if c.is_alphanumeric() || " -_.,+()".contains(c) { c } else { '_' })
        .collect();
    let kept = kept.trim_matches(['.', ' ']);
    let (stem, ending) = kept.rsplit_once('.').unwrap_or((kept, ""));
    let ending = ending.to_lowercase();
    if !ENDINGS.contains(&ending.as_str()) {
        let shown: String = last.chars().take(LONGEST_NAME).collect();
        return Err(ApiError::bad_request(format!("{shown:?} {NO_DOCUMENT}"))
            .with_hint(format!("files end in {}", ENDINGS.join(", "))));
    }
    let stem: String = stem.chars().take(LONGEST_NAME).collect();
    let stem = if stem.is_empty() { "paper" } else { &stem };
    Ok(format!("{stem}.{ending}"))
}

/// A path in `folder` that none of `taken` has.
fn free(folder: &Path, name: &str, taken: &[PathBuf]) -> PathBuf {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = |at: usize| match at {
        0 => folder.join(name),
        at => folder.join(format!("{stem} ({}).{ending}", at + 1)),
    };
    let same = |one: &PathBuf, other: &PathBuf| {
        one.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase()
    };
    let mut at = 0;
    while taken.iter().any(|path| same(path, &numbered(at))) {
        at += 1;
    }
    numbered(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_a_file_of_the_folder_and_no_other() {
        for (sent, expect) in [
            ("paper.pdf", "paper.pdf"),
            ("../../etc/cron.d/evil.bib", "evil.bib"),
            ("C:\\Users\\x\\My Paper (1).PDF", "My Paper (1).pdf"),
            ("<script>alert(1)</script>.pdf", "script_.pdf"),
            ("a\u{202e}fdp.pdf", "a_fdp.pdf"),
            (".hidden.pdf", "hidden.pdf"),
            ("nul\0.ris", "nul_.ris"),
            ("\u{dc}ber Worte.pdf", "\u{dc}ber Worte.pdf"),
        ] {
            assert_eq!(safe_name(sent).ok().as_deref(), Some(expect), "{sent:?}");
        }
        for sent in ["run.sh", "pdf", "..pdf", "a.pdf/", "..", "", "a.jsonl.gz"] {
            assert!(safe_name(sent).is_err(), "{sent:?}");
        }
        let long = format!("{}.pdf", "x".repeat(5_000));
        assert_eq!(safe_name(&long).expect("a name").len(), LONGEST_NAME + 4);
    }

    #[test]
    fn two_files_of_one_name_are_two() {
        let folder = Path::new("/somewhere");
        let first = free(folder, "a.pdf", &[]);
        let second = free(folder, "A.pdf", std::slice::from_ref(&first));
        assert_eq!(second, folder.join("A (2).pdf"));
    }
}
