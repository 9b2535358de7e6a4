//! Checks every quotation of a run against the datastore and the papers the run found: no network, no model.

use std::process::ExitCode;

use scholar_datastore::Datastore;
use scholar_pipeline::proof::{ProofFile, ProofProblem, verify_proof};

use crate::app::App;
use crate::error::CommandError;
use crate::runs::RunFolder;
use crate::wiring::stored::StoredPassages;

pub(super) fn run(run: &str, datastore: Option<&str>, app: &App) -> Result<ExitCode, CommandError> {
    let folder = RunFolder::find(&app.home, run)?;
    let record = folder.record()?;
    let proof: ProofFile = folder.read_json("proof.json")?;
    let name = datastore.unwrap_or(&record.datastore);
    let store = Datastore::open(&app.existing_datastore(name)?)?;
    let store = StoredPassages::new(store, &folder.found_papers()?);
    let report = app.block_on(verify_proof(&proof, &store))??;
    let holds = report.holds();
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.proof-report/1", "run": record.id, "datastore": name, "holds": holds, "report": report,
        }))?;
    } else {
        app.printer.out(&format!(
            "{} of {} quotations are exact, {} references compared, in datastore {name}",
            report.quotes_hold, report.quotes, report.references
        ))?;
        for problem in &report.problems {
            app.printer.out(&format!("  {}", describe(problem)))?;
        }
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// One problem as a clause.
fn describe(problem: &ProofProblem) -> String {
    match problem {
        ProofProblem::PassageMissing { passage_id } => {
            format!("the datastore has no passage {passage_id}")
        }
        ProofProblem::PassageChanged { passage_id } => {
            format!("the text of passage {passage_id} has changed")
        }
        ProofProblem::QuoteDiffers { sentence, quote, found } => format!(
            "sentence {}: characters {}–{} of {} are now {:?}, not {:?}",
            sentence + 1,
            quote.start,
            quote.end,
            quote.passage_id,
            found.as_deref().unwrap_or("past the end"),
            quote.text
        ),
        ProofProblem::QuoteOfOtherPaper { sentence, quote } => {
            format!(
                "sentence {}: the quotation is not from reference [{}]",
                sentence + 1,
                quote.reference.0
            )
        }
        ProofProblem::ReferenceDiffers { printed, stored } => {
            format!(
                "reference [{}] is printed as {:?} and stored as {:?}",
                printed.number.0, printed.title, stored.title
            )
        }
        ProofProblem::ReferenceUnchecked { printed } => {
            format!("reference [{}] has no quotation to check it by (no failure)", printed.number.0)
        }
        ProofProblem::GateUnfounded { sentence, gate } => {
            format!("sentence {}: gate {gate:?} was passed without what it requires", sentence + 1)
        }
    }
}
