//! Reads mutated files until something breaks.
//!
//! `cargo run --release -p scholar-formats --example fuzz_documents -- COUNT SEED PATH…` mutates the files of the paths,
//! each format's apart, reads every result, and ends with the number of errors, the slowest input and the process's
//! largest size. A panic or an input that takes longer than five seconds ends it with the seed that makes it again.

#[path = "../tests/it/mutate.rs"]
mod mutate;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use mutate::{Random, mutate};
use scholar_formats::document::{DocumentFormat, ReadLimits, read};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().ok_or("COUNT is missing")?.parse()?;
    let seed: u64 = arguments.next().ok_or("SEED is missing")?.parse()?;
    let mut samples: BTreeMap<DocumentFormat, Vec<Vec<u8>>> = BTreeMap::new();
    for path in arguments {
        gather(Path::new(&path), &mut samples)?;
    }
    let formats: Vec<DocumentFormat> = samples.keys().copied().collect();
    let mut slowest = (Duration::ZERO, 0, DocumentFormat::Text);
    let mut results: BTreeMap<DocumentFormat, (usize, usize)> = BTreeMap::new();
    for number in seed..seed + count {
        let mut random = Random::new(number);
        let format = formats[random.below(formats.len())];
        let bytes = mutate(&samples[&format], &mut random);
        let limits = ReadLimits { time: Duration::from_secs(4), ..ReadLimits::default() };
        let start = Instant::now();
        let outcome = std::panic::catch_unwind(|| read(format, &bytes, limits).is_ok());
        let took = start.elapsed();
        let Ok(fine) = outcome else {
            return Err(format!("seed {number} panics as {format}").into());
        };
        if took > Duration::from_secs(5) {
            return Err(format!("seed {number} takes {took:?} as {format}").into());
        }
        if took > slowest.0 {
            slowest = (took, number, format);
        }
        let entry = results.entry(format).or_default();
        entry.0 += 1;
        entry.1 += usize::from(!fine);
    }
    for (format, (inputs, errors)) in results {
        writeln!(out, "{format}: {inputs} inputs, {errors} errors")?;
    }
    writeln!(out, "slowest: {:?} (seed {}, {})", slowest.0, slowest.1, slowest.2)?;
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    writeln!(out, "largest size: {}", peak.unwrap_or("unknown"))?;
    Ok(())
}

fn gather(
    path: &Path,
    samples: &mut BTreeMap<DocumentFormat, Vec<Vec<u8>>>,
) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        for entry in fs_err::read_dir(path)? {
            gather(&entry?.path(), samples)?;
        }
        return Ok(());
    }
    let bytes = fs_err::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if bytes.len() < 300_000
        && let Some(format) = DocumentFormat::sniff(&name, &bytes)
    {
        samples.entry(format).or_default().push(bytes);
    }
    Ok(())
}
