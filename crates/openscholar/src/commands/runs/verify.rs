//! `openscholar runs verify`: derives a run's files again, compares, locates every quotation: no network, no model.

use std::path::Path;
use std::process::ExitCode;

use scholar_datastore::Datastore;
use scholar_pipeline::proof::{ProofFile, Sources};
use serde::Serialize;

use super::sign::message;
use crate::app::App;
use crate::error::CommandError;
use crate::proof::check::{Checked, RunFiles, check};
use crate::proof::describe;
use crate::proof::signature::{self, Signed, Signers};
use crate::runs::{PROOF_FILE, RunFolder, SIGNATURE_FILE};
use crate::wiring::stored::StoredPassages;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    run: &'a str,
    holds: bool,
    signature: &'a Signed,
    datastore: &'a Compared,
    #[serde(flatten)]
    checked: &'a Checked,
}

/// What the quotations were compared with.
#[derive(Debug, Serialize)]
struct Compared {
    /// Name of the datastore.
    name: String,
    /// Its commit now; `null` when it could not be opened.
    commit: Option<u64>,
    /// Its commit when the question was asked, where the proof says so.
    recorded_commit: Option<u64>,
    /// Why it could not be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
    /// Quotations of papers that only this run's folder holds.
    found_quotes: usize,
}

/// What was found about a run.
struct Examined {
    id: String,
    checked: Checked,
    compared: Compared,
    signed: Signed,
    holds: bool,
}

/// Whether a run's proof holds, with what a person should know about it, a line each.
pub(crate) fn verified(run: &str, app: &App) -> Result<(bool, Vec<String>), CommandError> {
    let examined = examine(run, None, None, app)?;
    Ok((examined.holds, examined.lines()))
}

fn examine(
    run: &str,
    datastore: Option<&str>,
    signers: Option<&Signers>,
    app: &App,
) -> Result<Examined, CommandError> {
    let folder = RunFolder::find(&app.home, run)?;
    let files = RunFiles::read(&folder)?;
    let record = files.record()?;
    let proof: ProofFile = files.json(PROOF_FILE)?;
    let name = datastore.unwrap_or(&record.datastore);
    let members = app.datastore_members(name);
    let open = |name: &String| Ok(Datastore::open(&app.existing_datastore(name)?)?);
    let opened: Result<Vec<Datastore>, CommandError> = members.iter().map(open).collect();
    let store = match (opened, datastore) {
        (Ok(store), _) => Ok(store),
        // One that was named is meant.
        (Err(error), Some(_)) => return Err(error),
        (Err(error), None) => Err(error.to_string()),
    };
    let commit = store.as_ref().ok().map(|stores| commit_of(stores)).transpose()?;
    let recorded = proof.datastore.as_ref().filter(|recorded| recorded.name == name);
    let same_commit = commit.is_some() && recorded.map(|recorded| recorded.commit) == commit;
    let compared = Compared {
        name: name.to_owned(),
        commit,
        recorded_commit: proof.datastore.as_ref().map(|recorded| recorded.commit),
        unavailable: store.as_ref().err().cloned(),
        found_quotes: found_quotes(&proof, &members),
    };
    let found = folder.found_papers()?;
    let stored = store.ok().map(|stores| StoredPassages::new(stores, &found));
    let sources = stored.as_ref().map(|passages| Sources { passages, same_commit });
    let checked = app.block_on(check(&files, sources))??;
    let signed = signed(&folder, &files, signers)?;
    let holds = checked.holds() && signed.holds(signers.is_some());
    Ok(Examined { id: record.id, checked, compared, signed, holds })
}

pub(super) fn run(
    run: &str,
    datastore: Option<&str>,
    signer: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let signers = signer.map(Signers::read).transpose()?;
    let examined = examine(run, datastore, signers.as_ref(), app)?;
    let Examined { id, checked, compared, signed, holds } = &examined;
    let holds = *holds;
    if app.printer.json {
        let schema = "openscholar.proof-report/2";
        let (signature, datastore) = (signed, compared);
        app.printer.json(&Report { schema, run: id, holds, signature, datastore, checked })?;
    } else {
        for line in examined.lines() {
            app.printer.out(&line)?;
        }
        if signers.is_some() && !signed.holds(true) {
            app.printer.out("  a signature by the given signer is required")?;
        }
        app.printer.out(if holds { "everything holds" } else { "this proof does not hold" })?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A number that grows with every commit of any of `stores`.
fn commit_of(stores: &[Datastore]) -> Result<u64, CommandError> {
    let mut sum = 0_u64;
    for store in stores {
        sum = sum.wrapping_add(store.commit()?);
    }
    Ok(sum)
}

/// Quotations of papers that were found beyond the datastores `members`.
fn found_quotes(proof: &ProofFile, members: &[String]) -> usize {
    let beyond = |names: &[String]| names.iter().any(|name| !members.contains(name));
    let found =
        |id| proof.passages.iter().any(|one| &one.passage_id == id && beyond(&one.found_by));
    let quotes = proof.sentences.iter().flat_map(|sentence| &sentence.quotes);
    quotes.filter(|quote| found(&quote.passage_id)).count()
}

fn signed(
    folder: &RunFolder,
    files: &RunFiles,
    signers: Option<&Signers>,
) -> Result<Signed, CommandError> {
    let signature = folder.bytes(SIGNATURE_FILE)?;
    let signature = signature.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(signature::verify(&message(files)?, signature.as_deref(), signers))
}

impl Examined {
    /// What was found, for people.
    fn lines(&self) -> Vec<String> {
        let Self { checked, compared, signed, .. } = self;
        let Checked { bound, derived, report, files, file_remarks } = checked;
        let mut lines = vec![format!(
            "{} of {} quotations are exact, {} references, {} sentences",
            report.quotes_hold, report.quotes, report.references, report.sentences
        )];
        lines.push(match (&compared.commit, &compared.unavailable) {
        (Some(commit), _) => {
            let then = compared.recorded_commit.map(|then| match then == *commit {
                true => ", as when the question was asked".to_owned(),
                false => format!(", {then} when the question was asked"),
            });
            format!(
                "{} quotations compared with datastore {} at commit {commit}{}",
                report.quotes_compared,
                compared.name,
                then.unwrap_or_default()
            )
        }
        (None, why) => format!(
            "not compared with datastore {}: {}; the quotations were located in the texts within the proof",
            compared.name,
            why.as_deref().unwrap_or("it is not there")
        ),
    });
        if compared.found_quotes > 0 {
            lines.push(format!(
                "{} quotations are from papers stored only in this run's folder",
                compared.found_quotes
            ));
        }
        lines.push(match (bound, derived) {
            (true, true) => {
                "bound: the answer was derived again and every file compared".to_owned()
            }
            (true, false) => "bound, but the answer could not be derived again".to_owned(),
            (false, _) => {
                "not bound: the run is of an earlier version, nothing ties its files together"
                    .to_owned()
            }
        });
        lines.push(match signed {
            Signed::Unsigned => "unsigned".to_owned(),
            Signed::Anyone { key } => {
                format!("signed with {key}; --signer FILE checks the signer")
            }
            Signed::Known { key, signer } => format!("signed by {signer} with {key}"),
            Signed::Other { key } => format!("signed with {key}, which is not the signer's"),
            Signed::Invalid { why } => format!("the signature is not valid: {why}"),
        });
        lines.extend(report.remarks.iter().map(|one| format!("  note: {}", describe::remark(one))));
        lines.extend(
            file_remarks.iter().map(|one| format!("  note: {}", describe::file_remark(one))),
        );
        lines.extend(report.problems.iter().map(|one| format!("  {}", describe::problem(one))));
        lines.extend(files.iter().map(|one| format!("  {}", describe::file_problem(one))));
        lines
    }
}
