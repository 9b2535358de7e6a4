//! Runs the algorithm again on the recorded replies.

use std::path::Path;
use std::process::ExitCode;

use scholar_core::text::whole_lines;
use scholar_pipeline::Outcome;
use scholar_pipeline::proof::ProofFile;
use scholar_pipeline::record::Journal;
use serde::Serialize;

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::output::document::AnswerDocument;
use crate::output::markdown;
use crate::proof::check::{Checked, RunFiles, check};
use crate::proof::derive::{self, Recorded, Replay};
use crate::proof::describe;
use crate::runs::{
    ANSWER_FILE, FORMER_JOURNAL_FILE, JOURNAL_FILE, MARKDOWN_FILE, PROOF_FILE, REVIEW_FILE,
    RunFolder,
};

/// What `--json` prints. Not built as a JSON value, in which short decimals of scores grow long.
#[derive(Serialize)]
struct Replayed<'a> {
    schema: &'static str,
    run: &'a str,
    identical: bool,
    files: &'a [Compared],
    answer: &'a AnswerDocument,
}

/// Whether a file is what the replay made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Compared {
    file: &'static str,
    /// `null` where a run of an earlier version has nothing to compare with.
    identical: Option<bool>,
}

impl Compared {
    /// Whether it is, as far as that can be told.
    pub(crate) fn is_same(&self) -> bool {
        self.identical != Some(false)
    }

    /// For people.
    pub(crate) fn line(&self) -> String {
        let file = self.file;
        match self.identical {
            Some(true) => format!("{file} is identical, byte for byte"),
            Some(false) => format!("{file} differs from the replay"),
            None => format!("{file} is of an earlier version: not compared"),
        }
    }
}

pub(super) fn run(run: &str, app: &App) -> Result<ExitCode, CommandError> {
    let folder = RunFolder::find(&app.home, run)?;
    let files = RunFiles::read(&folder)?;
    let id = files.record()?.id;
    let (replayed, compared) = app.block_on(replay(&files))??;
    let same = compared.iter().all(Compared::is_same);
    if app.printer.json {
        app.printer.json(&Replayed {
            schema: "openscholar.replay/1",
            run: &id,
            identical: same,
            files: &compared,
            answer: &replayed,
        })?;
    } else {
        app.printer.out(&markdown::render(&replayed))?;
    }
    for one in &compared {
        app.printer.say(&one.line());
    }
    if same {
        return Ok(ExitCode::SUCCESS);
    }
    let checked: Checked = app.block_on(check(&files, None))??;
    for problem in &checked.files {
        app.printer.say(&format!("  {}", describe::file_problem(problem)));
    }
    Ok(ExitCode::from(1))
}

/// The answer made again from the journal, and whether the files that follow from it are the same.
pub(crate) async fn replay(
    files: &RunFiles,
) -> Result<(AnswerDocument, Vec<Compared>), CommandError> {
    let record = files.record()?;
    let stored: AnswerDocument = files.json(ANSWER_FILE)?;
    let Replay { outcome, review } = derive::replay(&record, &files.journal()?).await?;
    let Outcome { value, notices, trace, spent: _ } = outcome;
    let proof: Option<ProofFile> = match files.get(PROOF_FILE) {
        Some(_) => Some(files.json(PROOF_FILE)?).filter(ProofFile::is_bound),
        None => None,
    };
    // What the clock and the wallet said is a record, not a result: it is taken from the run.
    let recorded = match &proof {
        Some(proof) => serde_json::from_value(proof.recorded.clone())
            .user(|| format!("{PROOF_FILE} of the run is damaged"))?,
        None => Recorded::of_document(&stored, &notices),
    };
    let document = recorded.document(value, &notices, &record.id);
    let facts = derive::Facts {
        record: &record,
        commit: proof.as_ref().and_then(|proof| Some(proof.datastore.as_ref()?.commit)),
        recorded,
        files: derive::file_digests(|name| files.get(name)),
    };
    let derived = derive::files(&document, &trace, facts)?;
    let same = |file, text: &str, comparable: bool| {
        let identical = comparable.then(|| files.get(file) == Some(text.as_bytes()));
        Compared { file, identical }
    };
    let mut compared = vec![
        same(ANSWER_FILE, &derived.answer_json, true),
        same(MARKDOWN_FILE, &derived.answer_md, proof.is_some()),
        same(PROOF_FILE, &derived.proof_json, proof.is_some()),
    ];
    if let Some(review) = review {
        let review = derive::pretty(&derive::review_of(review, &document));
        let review = review.user(|| "cannot write the review".to_owned())?;
        compared.push(same(REVIEW_FILE, &review, true));
    }
    Ok((document, compared))
}

/// What the journal of a run that did not end holds; `None` when it was cut off before its first entry.
pub(crate) fn journal_so_far(folder: &RunFolder) -> Result<Option<Journal>, CommandError> {
    // A run that was taken up and cut off again before it was where it had been knows more from the time before.
    let mut longest: Option<(&str, Vec<u8>)> = None;
    for name in [JOURNAL_FILE, FORMER_JOURNAL_FILE] {
        let Some(text) = folder.bytes(name)? else { continue };
        if longest
            .as_ref()
            .is_none_or(|(_, known)| whole_lines(&text).len() > whole_lines(known).len())
        {
            longest = Some((name, text));
        }
    }
    match longest.as_ref().map(|(name, text)| (folder.file(name), whole_lines(text))) {
        Some((path, whole)) if !whole.is_empty() => parse(&path, whole).map(Some),
        _ => Ok(None),
    }
}

fn parse(path: &Path, text: &[u8]) -> Result<Journal, CommandError> {
    let text = std::str::from_utf8(text).user(|| format!("{} is damaged", path.display()))?;
    Journal::from_json_lines(text)
        .user(|| format!("{} cannot be used", path.display()))
        .map_err(|error| error.with_hint("remove the damaged line, or ask again"))
}
