//! Run folders: one file of a good run is broken, then the run is shown, explained, verified and replayed.

use scholar_formats::exploration::{self, Exploration};
use scholar_pipeline::proof::Sources;
use scholar_testing::MemoryRetriever;
use scholar_testing::mutate::{Random, mutate};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{Reader, Subject};
use crate::commands::runs::explain::{self, explained};
use crate::commands::runs::replay::replay;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::output::markdown;
use crate::proof::check::{RunFiles, check};
use crate::proof::describe;
use crate::proof::sample::{self, Kind};
use crate::proof::signature;
use crate::runs::{ANSWER_FILE, RunFolder, SIGNATURE_FILE};

/// A run of each kind.
pub(super) fn subjects() -> Vec<Subject> {
    let kinds = [
        ("runs of evidence", Kind::Evidence),
        ("runs of a model", Kind::Generative),
        ("runs without retrieval", Kind::NoRetrieval),
        ("runs that abstained", Kind::Abstained),
    ];
    let subject = |(name, kind): (&str, Kind)| {
        let open = move || Ok(Box::new(Run::open(kind)?) as Box<dyn Reader>);
        Subject { name: name.to_owned(), open: Box::new(open) }
    };
    kinds.into_iter().map(subject).collect()
}

struct Run {
    good: RunFiles,
    folder: TempDir,
    store: MemoryRetriever,
    runtime: Runtime,
}

impl Run {
    fn open(kind: Kind) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
        let mut good = runtime.block_on(sample::of(kind)).map_err(|error| error.to_string())?;
        good.0.insert(SIGNATURE_FILE.to_owned(), b"-----BEGIN SSH SIGNATURE-----\n".to_vec());
        let folder =
            tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let run = Self { good, folder, store: MemoryRetriever::corpus(), runtime };
        for (name, bytes) in &run.good.0 {
            run.write(name, bytes).map_err(|error| format!("no run: {error}"))?;
        }
        Ok(run)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        fs_err::write(self.folder.path().join(name), bytes)
    }

    /// Everything that people do with a run; whether the whole of it could be read.
    fn read_all(&self) -> Result<(), CommandError> {
        let folder = RunFolder::at(self.folder.path().to_owned());
        let shown: Result<AnswerDocument, CommandError> = folder.read_json(ANSWER_FILE);
        let shown = shown.map(|document| {
            drop(markdown::render(&document));
            if let Some(explored) = Exploration::of(&document.answer) {
                drop((exploration::text(explored), exploration::page(explored, "")));
            }
        });
        // An answer that cites nothing cannot be explained.
        for one in explained(&folder, None).iter().flatten() {
            drop(explain::render(one));
        }
        let files = RunFiles::read(&folder)?;
        let text = fs_err::read(folder.file(SIGNATURE_FILE)).unwrap_or_default();
        let _any = signature::verify(b"", Some(&String::from_utf8_lossy(&text)), None);
        let sources = Sources { passages: &self.store, same_commit: true };
        let checked = self.runtime.block_on(check(&files, Some(sources))).map(|checked| {
            checked.files.iter().for_each(|one| drop(describe::file_problem(one)));
            checked.report.problems.iter().for_each(|one| drop(describe::problem(one)));
        });
        let replayed = self.runtime.block_on(replay(&files)).map(drop);
        shown.and(checked).and(replayed)
    }
}

impl Reader for Run {
    fn read(&mut self, number: u64) -> bool {
        let mut random = Random::new(number);
        let nth = random.below(self.good.0.len());
        let Some((name, bytes)) = self.good.0.iter().nth(nth) else { return false };
        let broken = mutate(std::slice::from_ref(bytes), &mut random);
        let read = self.write(name, &broken).is_ok() && self.read_all().is_ok();
        // The next input breaks another file of the same run.
        self.write(name, bytes).is_ok() && read
    }
}
