//! Runs the algorithm again on the recorded replies.

use std::path::Path;
use std::process::ExitCode;

use scholar_core::Question;
use scholar_core::text::whole_lines;
use scholar_pipeline::config::AskConfig;
use scholar_pipeline::record::{Journal, Replayer};
use serde::Serialize;

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::output::document::AnswerDocument;
use crate::output::markdown;
use crate::runs::RunFolder;

/// What `--json` prints. Not built as a JSON value, in which short decimals of scores grow long.
#[derive(Serialize)]
struct Replayed<'a> {
    schema: &'static str,
    run: &'a str,
    identical: bool,
    answer: &'a AnswerDocument,
}

pub(super) fn run(run: &str, app: &App) -> Result<ExitCode, CommandError> {
    let folder = RunFolder::find(&app.home, run)?;
    let record = folder.record()?;
    let stored: AnswerDocument = folder.read_json("answer.json")?;
    let stored_bytes = fs_err::read_to_string(folder.file("answer.json"))
        .user(|| "the run has no answer".to_owned())?;
    let journal = read_journal(&folder)?;
    let question =
        Question::new(&record.question).map_err(|error| CommandError::user(error.to_string()))?;
    let config: AskConfig = serde_json::from_value(record.config).user(|| {
        format!("the settings of run {} are of another version of the program", record.id)
    })?;
    let replayer = Replayer::new(&journal).user(|| "the journal cannot be replayed".to_owned())?;
    let outcome =
        app.block_on(scholar_pipeline::ask(&replayer.ports(), &question, &config, &()))?;
    if let Some(miss) = replayer.misses().first() {
        return Err(CommandError::user(format!(
            "the replay needed a reply the journal does not hold: {miss}"
        ))
        .with_hint("the run was made by another version of the program"));
    }
    let outcome = outcome?;
    // What the clock and the wallet said is a record, not a result: it is taken from the run.
    let mut notices = wiring_notices(&stored, outcome.notices.len());
    notices.extend(outcome.notices);
    let replayed = AnswerDocument { answer: outcome.value, notices, ..stored };
    let mut bytes =
        serde_json::to_string_pretty(&replayed).user(|| "cannot write JSON".to_owned())?;
    bytes.push('\n');
    let same = bytes == stored_bytes;
    if app.printer.json {
        app.printer.json(&Replayed {
            schema: "openscholar.replay/1",
            run: &record.id,
            identical: same,
            answer: &replayed,
        })?;
    } else {
        app.printer.out(&markdown::render(&replayed))?;
    }
    if same {
        app.printer.say("the replay is identical, byte for byte");
        Ok(ExitCode::SUCCESS)
    } else {
        app.printer.say("the replay differs from the stored answer");
        Ok(ExitCode::from(1))
    }
}

/// The notices that were there before the algorithm began: they come first in the stored document.
fn wiring_notices(stored: &AnswerDocument, from_algorithm: usize) -> Vec<scholar_core::Notice> {
    let before = stored.notices.len().saturating_sub(from_algorithm);
    stored.notices[..before].to_vec()
}

/// What the journal of a run that did not end holds; `None` when it was cut off before its first entry.
pub(crate) fn journal_so_far(folder: &RunFolder) -> Result<Option<Journal>, CommandError> {
    let path = folder.file("journal.jsonl");
    let text = match fs_err::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).user(|| "the run has no readable journal".to_owned()),
    };
    let whole = whole_lines(&text);
    if whole.is_empty() {
        return Ok(None);
    }
    parse(&path, whole).map(Some)
}

/// The journal of a run.
pub(crate) fn read_journal(folder: &RunFolder) -> Result<Journal, CommandError> {
    let path = folder.file("journal.jsonl");
    let text = fs_err::read(&path).user(|| "the run has no journal".to_owned())?;
    parse(&path, &text)
}

fn parse(path: &Path, text: &[u8]) -> Result<Journal, CommandError> {
    let text = std::str::from_utf8(text).user(|| format!("{} is damaged", path.display()))?;
    Journal::from_json_lines(text)
        .user(|| format!("{} cannot be used", path.display()))
        .map_err(|error| error.with_hint("remove the damaged line, or ask again"))
}
