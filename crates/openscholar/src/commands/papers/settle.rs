//! `papers duplicates|merge|split`: pairs that may be one work, and what a person decides about them.

use std::collections::BTreeSet;
use std::process::ExitCode;

use scholar_core::paper::record::put_records;
use scholar_core::text::untrusted;
use scholar_core::{Paper, PaperId, SourceRecord};
use scholar_datastore::Revision;
use scholar_formats::library::duplicates::doubtful_pairs;
use scholar_formats::library::works::Work;
use serde::Serialize;
use serde_json::json;

use super::{address, keep};
use crate::app::App;
use crate::error::CommandError;
use crate::output::table::Table;

/// Most papers that are compared with each other.
const MOST_COMPARED: u64 = 500_000;

/// Papers that may be one work.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Doubtful {
    /// Both of them.
    pub(crate) papers: [PaperId; 2],
    /// Their titles.
    pub(crate) titles: [String; 2],
    /// How much of their titles is the same, of 1.
    pub(crate) overlap: f64,
    /// Why they were not joined.
    pub(crate) why: String,
}

/// Pairs of papers of a datastore that may be one work: the first `limit`, and how many there are.
pub(crate) fn doubtful(
    name: &str,
    limit: usize,
    app: &App,
) -> Result<(Vec<Doubtful>, usize), CommandError> {
    let store = super::open(name, app)?;
    let papers = store.info()?.papers;
    if papers > MOST_COMPARED {
        return Err(CommandError::user(format!(
            "{name} has {papers} papers; up to {MOST_COMPARED} are compared with each other"
        ))
        .with_hint("duplicates of a corpus are joined when it is built"));
    }
    let mut records: std::collections::BTreeMap<PaperId, Vec<SourceRecord>> =
        std::collections::BTreeMap::new();
    store.each_recorded(|paper| {
        // Their texts are not compared.
        let bare = paper.records.into_iter().map(|record| SourceRecord {
            sections: Vec::new(),
            references: Vec::new(),
            ..record
        });
        records.insert(paper.meta.id, bare.collect());
        Ok(())
    })?;
    let mut metas = Vec::new();
    store.each_paper(|meta| {
        metas.push(meta);
        Ok(())
    })?;
    let works: Vec<Work<'_>> = metas
        .iter()
        .map(|meta| Work { meta, records: records.get(&meta.id).map_or(&[], Vec::as_slice) })
        .collect();
    let pairs = doubtful_pairs(&works);
    let total = pairs.len();
    let titled = |id: &PaperId| {
        let meta = metas.iter().find(|meta| meta.id == *id);
        meta.map(|meta| meta.display_title().into_owned()).unwrap_or_default()
    };
    let shown = pairs.into_iter().take(limit).map(|pair| Doubtful {
        titles: [titled(&pair.one), titled(&pair.other)],
        papers: [pair.one, pair.other],
        overlap: pair.overlap,
        why: pair.why,
    });
    Ok((shown.collect(), total))
}

pub(super) fn duplicates(name: &str, limit: usize, app: &App) -> Result<ExitCode, CommandError> {
    let (pairs, total) = doubtful(name, limit, app)?;
    if app.printer.json {
        app.printer.json(&json!({
            "schema": "openscholar.papers-duplicates/1", "datastore": name, "total": total, "pairs": pairs,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::with_header(["one", "other", "why"]);
    for Doubtful { papers: [one, other], titles: [first, second], why, .. } in pairs {
        let cell = |id: &PaperId, title: &str| {
            let title: String = title.chars().take(50).collect();
            format!("{id} {}", untrusted(&title).line())
        };
        table.add_row([cell(&one, &first), cell(&other, &second), why]);
    }
    if total > 0 {
        app.printer.out(&table.to_string())?;
    }
    app.printer.say(&format!("{} of {total} doubtful pairs in {name}", total.min(limit)));
    if total > 0 {
        app.printer.say(
            "openscholar papers merge A B makes them one, papers split A B says that they are two",
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes one paper of several; its identifier and title.
pub(crate) fn make_one(
    name: &str,
    ids: &[PaperId],
    app: &App,
) -> Result<(PaperId, String), CommandError> {
    let store = super::open(name, app)?;
    let mut records: Vec<SourceRecord> = Vec::new();
    for id in ids {
        for work in store.papers_named(id)?.into_iter().filter(|work| work.paper.meta.id == *id) {
            put_records(&mut records, work.paper.into_records(&work.collection));
        }
    }
    let own: BTreeSet<PaperId> = records.iter().flat_map(|r| r.meta.ids().cloned()).collect();
    for record in &mut records {
        record.distinct_from.retain(|id| !own.contains(id) && !ids.contains(id));
    }
    let Some(paper) = Paper::of_records(records) else {
        return Err(CommandError::user("these papers have no records"));
    };
    let (id, title) = (paper.meta.id.clone(), paper.meta.display_title().into_owned());
    let revision = Revision { paper: Some(paper), replaces: ids.to_vec() };
    app.block_on_to_the_end(keep::revise(name, &store, vec![revision], app))??;
    Ok((id, title))
}

/// Makes one paper of those that are named.
pub(super) fn merge(name: &str, names: &[String], app: &App) -> Result<ExitCode, CommandError> {
    let store = super::open(name, app)?;
    let ids = distinct(address::all_stored(&store, name, names)?)?;
    drop(store);
    let (id, title) = make_one(name, &ids, app)?;
    if app.printer.json {
        app.printer.json(&json!({
            "schema": "openscholar.papers-merged/1", "datastore": name, "paper": id, "merged": ids,
        }))?;
    } else {
        app.printer.out(&format!("{id} {}", untrusted(&title).line()))?;
        app.printer.say(&format!("{} papers of {name} are one", ids.len()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes records out of a paper, which become one of their own, or says that two papers are two.
pub(super) fn split(
    name: &str,
    paper: &str,
    others: &[String],
    app: &App,
) -> Result<ExitCode, CommandError> {
    let store = super::open(name, app)?;
    let id = address::stored(&store, name, paper)?;
    let numbers: Option<Vec<usize>> = others.iter().map(|other| other.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
        if others.is_empty() {
            return list_records(name, &id, app);
        }
        let mut ids = vec![id];
        ids.extend(address::all_stored(&store, name, others)?);
        let ids = distinct(ids)?;
        keep_apart(name, &ids, app)?;
        return report(name, &ids, app);
    };
    let Some(stored) = store.papers_named(&id)?.into_iter().find(|work| work.paper.meta.id == id)
    else {
        return Err(CommandError::user(format!("{name} has no paper {id}")));
    };
    let records = stored.paper.into_records(&stored.collection);
    let count = records.len();
    if let Some(wrong) = numbers.iter().find(|number| **number == 0 || **number > count) {
        return Err(CommandError::user(format!("{id} has no record {wrong}; it has {count}"))
            .with_hint(format!("openscholar papers split {id} lists them")));
    }
    let (mut leaving, mut staying) = (Vec::new(), Vec::new());
    for (at, record) in records.into_iter().enumerate() {
        if numbers.contains(&(at + 1)) { leaving.push(record) } else { staying.push(record) }
    }
    if staying.is_empty() {
        return Err(CommandError::user("a paper keeps at least one record")
            .with_hint("openscholar papers remove takes a paper away"));
    }
    let ids = |records: &[SourceRecord]| -> Vec<PaperId> {
        let mut ids: Vec<PaperId> = records.iter().flat_map(|r| r.meta.ids().cloned()).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    let (own, others) = (ids(&staying), ids(&leaving));
    mark(&mut staying, &others, &own);
    mark(&mut leaving, &own, &others);
    let (first, second) = (Paper::of_records(staying), Paper::of_records(leaving));
    let (Some(first), Some(second)) = (first, second) else {
        return Err(CommandError::user("these papers have no records"));
    };
    if first.meta.id == second.meta.id {
        return Err(CommandError::user(format!("both would be filed under {}", first.meta.id))
            .with_hint("a record without an identifier of its own cannot be a paper beside it"));
    }
    let told = [first.meta.id.clone(), second.meta.id.clone()];
    let revisions = vec![
        Revision { paper: Some(first), replaces: vec![id] },
        Revision { paper: Some(second), replaces: Vec::new() },
    ];
    app.block_on_to_the_end(keep::revise(name, &store, revisions, app))??;
    report(name, &told, app)
}

/// Notes on `records` that they are other works than `others`, as far as these are not their own identifiers.
fn mark(records: &mut [SourceRecord], others: &[PaperId], own: &[PaperId]) {
    for record in records {
        for id in others.iter().filter(|id| !own.contains(id)) {
            if !record.distinct_from.contains(id) {
                record.distinct_from.push(id.clone());
            }
        }
    }
}

/// Notes on papers that they are different works.
pub(crate) fn keep_apart(name: &str, ids: &[PaperId], app: &App) -> Result<(), CommandError> {
    let store = super::open(name, app)?;
    let mut revisions = Vec::new();
    for id in ids {
        let works = store.papers_named(id)?.into_iter().filter(|work| work.paper.meta.id == *id);
        for work in works {
            let mut records = work.paper.into_records(&work.collection);
            let others: Vec<PaperId> = ids.iter().filter(|other| *other != id).cloned().collect();
            mark(&mut records, &others, std::slice::from_ref(id));
            revisions
                .push(Revision { paper: Paper::of_records(records), replaces: vec![id.clone()] });
        }
    }
    app.block_on_to_the_end(keep::revise(name, &store, revisions, app))??;
    Ok(())
}

fn report(name: &str, ids: &[PaperId], app: &App) -> Result<ExitCode, CommandError> {
    if app.printer.json {
        app.printer.json(
            &json!({"schema": "openscholar.papers-split/1", "datastore": name, "papers": ids}),
        )?;
    } else {
        for id in ids {
            app.printer.out(&id.to_string())?;
        }
        app.printer.say("these are different works, and stay so");
    }
    Ok(ExitCode::SUCCESS)
}

fn list_records(name: &str, id: &PaperId, app: &App) -> Result<ExitCode, CommandError> {
    let store = super::open(name, app)?;
    let Some(paper) = store.paper(id)? else {
        return Err(CommandError::user(format!("{name} has no paper {id}")));
    };
    if app.printer.json {
        app.printer.json(&json!({
            "schema": "openscholar.papers-records/1", "datastore": name, "paper": id, "records": paper.records,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::with_header(["record", "from", "title", "text"]);
    for (at, record) in paper.records.iter().enumerate() {
        let title: String = record.meta.title.chars().take(60).collect();
        let source = record.source.to_string();
        table.add_row([
            (at + 1).to_string(),
            untrusted(&source).line().to_string(),
            untrusted(&title).line().to_string(),
            if record.has_text { "yes" } else { "" }.to_owned(),
        ]);
    }
    app.printer.out(&table.to_string())?;
    app.printer
        .say(&format!("openscholar papers split {id} NUMBER… makes a paper of those records"));
    Ok(ExitCode::SUCCESS)
}

fn distinct(ids: Vec<PaperId>) -> Result<Vec<PaperId>, CommandError> {
    let mut seen: Vec<PaperId> = Vec::new();
    for id in ids {
        if !seen.contains(&id) {
            seen.push(id);
        }
    }
    match seen.len() {
        0 | 1 => Err(CommandError::user("these names mean one paper")),
        _ => Ok(seen),
    }
}
