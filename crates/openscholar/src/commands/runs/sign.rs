//! `openscholar runs sign`, and the bytes that are signed.

use std::path::Path;
use std::process::ExitCode;

use scholar_pipeline::proof::canonical::canonical;
use serde_json::Value;

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::proof::check::RunFiles;
use crate::proof::signature::Signer;
use crate::runs::{PROOF_FILE, RunFolder, SIGNATURE_FILE};

/// Signs a run whose files follow from its journal: a signature says that one stands by them.
pub(super) fn run(run: &str, key: &Path, app: &App) -> Result<ExitCode, CommandError> {
    let signer = Signer::read(key)?;
    let folder = RunFolder::find(&app.home, run)?;
    let files = RunFiles::read(&folder)?;
    let checked = app.block_on(crate::proof::check::check(&files, None))??;
    if !checked.bound || !checked.holds() {
        let why = if checked.bound { "does not hold" } else { "binds no answer" };
        return Err(CommandError::user(format!("the proof of run {run} {why}: it is not signed"))
            .with_hint(format!("openscholar runs verify {run}")));
    }
    let key = sign(&folder, &signer)?;
    if app.printer.json {
        let report = serde_json::json!({"schema": "openscholar.signature/1", "key": key});
        app.printer.json(&report)?;
    } else {
        app.printer.out(&format!("signed with {key}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the signature of the proof that lies in `folder`; returns the key's fingerprint.
pub(crate) fn sign(folder: &RunFolder, signer: &Signer) -> Result<String, CommandError> {
    let signature = signer.sign(&message(&RunFiles::read(folder)?)?)?;
    folder.write_text(SIGNATURE_FILE, &signature)?;
    Ok(signer.fingerprint())
}

/// Prints what is signed, without a line break at the end.
pub(super) fn show(run: &str, app: &App) -> Result<ExitCode, CommandError> {
    let message = message(&RunFiles::read(&RunFolder::find(&app.home, run)?)?)?;
    app.printer.exact_json(&message)?;
    Ok(ExitCode::SUCCESS)
}

/// The canonical bytes of `proof.json`.
pub(crate) fn message(files: &RunFiles) -> Result<Vec<u8>, CommandError> {
    let proof: Value = files.json(PROOF_FILE)?;
    canonical(&proof).user(|| format!("{PROOF_FILE} of the run has no canonical form"))
}
