//! Decisions of a person: of the command line, or of an edited table.

use std::path::Path;
use std::process::ExitCode;

use scholar_core::PaperId;
use scholar_datastore::Datastore;
use scholar_pipeline::screen::{Decision, PersonDecision};

use super::state::State;
use crate::app::App;
use crate::error::CommandError;
use crate::output::csv;

/// Column of a table in which a person decides.
pub(super) const DECISION_COLUMN: &str = "your_decision";
/// Column of the reason.
pub(super) const REASON_COLUMN: &str = "your_reason";
/// Largest table in bytes.
const LARGEST: usize = 256 << 20;

/// Keeps the decisions of the command line.
pub(super) fn set(
    decisions: Vec<(PaperId, Decision)>,
    reason: Option<&str>,
    store: &Datastore,
    state: &mut State,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
    let decisions = decisions.into_iter().map(|(paper, decision)| PersonDecision {
        paper,
        decision,
        reason: reason.clone(),
    });
    keep(decisions.collect(), store, state, app)
}

/// Keeps the decisions of a table; rows without one are left as they are.
pub(super) fn read(
    path: &Path,
    store: &Datastore,
    state: &mut State,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let text = scholar_datastore::files::read_text(path, LARGEST)?;
    let decisions = decisions(&text).map_err(|problem| {
        CommandError::user(format!("{}: {problem}", path.display()))
            .with_hint("write the table by --format csv, and edit its column your_decision")
    })?;
    keep(decisions, store, state, app)
}

fn decisions(text: &str) -> Result<Vec<PersonDecision>, String> {
    let rows =
        csv::read(text).map_err(|line| format!("line {line}: a quoted cell does not end"))?;
    let (header, rows) = rows.split_first().ok_or("it is empty")?;
    let column = |name: &str| header.iter().position(|cell| cell.trim() == name);
    let id = column("id").ok_or("it has no column id")?;
    let decision =
        column(DECISION_COLUMN).ok_or_else(|| format!("it has no column {DECISION_COLUMN}"))?;
    let reason = column(REASON_COLUMN);
    let mut decisions = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let cell = |column: usize| row.get(column).map_or("", |cell| cell.trim());
        if cell(decision).is_empty() {
            continue;
        }
        let wrong = |what: String| format!("row {}: {what}", at + 1);
        let paper: PaperId = cell(id).parse().map_err(|error| wrong(format!("{error}")))?;
        let decision = Decision::named(cell(decision)).ok_or_else(|| {
            wrong(format!("{:?} is not include, exclude or unclear", cell(decision)))
        })?;
        let reason = reason.map(cell).filter(|reason| !reason.is_empty()).map(str::to_owned);
        decisions.push(PersonDecision { paper, decision, reason });
    }
    Ok(decisions)
}

/// Keeps all of them or, if one is about a paper that is not there, none.
fn keep(
    mut decisions: Vec<PersonDecision>,
    store: &Datastore,
    state: &mut State,
    app: &App,
) -> Result<ExitCode, CommandError> {
    for one in &mut decisions {
        let known = store.paper(&one.paper)?.ok_or_else(|| {
            CommandError::user(format!("the datastore has no paper {}", one.paper))
                .with_hint("openscholar papers list")
        })?;
        // Filed under one identifier, whichever was named.
        one.paper = known.meta.id;
    }
    decisions.retain(|one| state.person(&one.paper) != Some(one));
    let at = App::now();
    for one in &decisions {
        state.keep_person(at.clone(), one.clone())?;
    }
    app.printer.say(&format!("kept {} decisions of yours; no run changes them", decisions.len()));
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.screening-decisions/1", "kept": decisions}),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_rows_are_read_and_wrong_ones_named() {
        let read = decisions(
            "rank,id,your_decision,your_reason\n1,pmid:1, Include ,\n2,pmid:2,,\n3,pmid:3,exclude,\"animals, only\"\n",
        )
        .expect("well-formed");
        let found: Vec<(Decision, Option<&str>)> =
            read.iter().map(|one| (one.decision, one.reason.as_deref())).collect();
        assert_eq!(found, [(Decision::Include, None), (Decision::Exclude, Some("animals, only"))]);
        let check = |text: &str, says: &str| {
            let problem = decisions(text).expect_err("wrong");
            assert!(problem.contains(says), "{problem}");
        };
        check("id,decision\n", "no column your_decision");
        check("id,your_decision\npmid:1,perhaps\n", "row 1: \"perhaps\"");
        check("id,your_decision\nnonsense id,include\n", "row 1");
        check("", "empty");
    }
}
