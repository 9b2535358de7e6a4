//! `papers show`: a paper, where each field of its metadata comes from, and its passages.

use std::process::ExitCode;

use scholar_core::text::untrusted;
use scholar_core::{FieldSource, MetaField, Paper, Passage, RecordSource};
use serde_json::{Value, json};

use super::{address, open, page};
use crate::app::App;
use crate::args::PageArgs;
use crate::error::CommandError;
use crate::printer::{Style, Styled};

pub(super) fn run(
    name: &str,
    named: &str,
    asked: &PageArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let store = open(name, app)?;
    let id = address::stored(&store, name, named)?;
    let Some(paper) = store.paper(&id)? else {
        return Err(CommandError::user(format!("{name} has no paper {id}"))
            .with_hint("openscholar papers list"));
    };
    let passages = store.passages_of(&id)?;
    if asked.is_asked() {
        return page::run(&paper, &passages, asked, app);
    }
    let cited_by = store.citing(&id)?;
    if app.printer.json {
        let fields: Value = paper
            .field_sources()
            .iter()
            .map(|(field, source)| field_json(*field, source))
            .collect();
        app.printer.json(&json!({
            "schema": "openscholar.paper/1", "paper": paper, "fields": fields, "passages": passages,
            "cited_by": cited_by,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    app.printer.out_styled(&shown(&paper, &passages, cited_by.len()))?;
    Ok(ExitCode::SUCCESS)
}

fn field_json(field: MetaField, from: &FieldSource<'_>) -> Value {
    let others: Vec<Value> = from
        .others
        .iter()
        .map(|other| json!({"source": other.source.to_string(), "value": other.value}))
        .collect();
    json!({
        "field": field, "source": from.source.to_string(), "read": from.read, "others": others,
    })
}

fn line(text: &str) -> String {
    untrusted(text).line().to_string()
}

/// A paper for people: each of its fields on one line, whatever it holds.
fn shown(paper: &Paper, passages: &[Passage], n_cited_by: usize) -> Styled {
    let meta = &paper.meta;
    let mut lines = vec![line(&meta.authors.join(", "))];
    lines.push(format!(
        "{} {} {}",
        meta.year.map(|year| year.to_string()).unwrap_or_default(),
        line(meta.venue.as_deref().unwrap_or_default()),
        line(&meta.id.to_string())
    ));
    lines.extend(meta.link().map(|link| line(&link)));
    lines.extend(meta.licence.as_ref().map(|licence| format!("licence: {}", line(licence))));
    lines.push(format!("{} references, cited by {n_cited_by} papers here", paper.references.len()));
    lines.extend(sources(paper));
    let mut text = Styled::new();
    text.styled(Style::Strong, line(&meta.display_title()))
        .plain(format!("\n{}", lines.join("\n")));
    for passage in passages {
        let kind = match passage.kind {
            kind if kind.is_prose() => String::new(),
            kind => format!(" [{}]", kind.name()),
        };
        let place = line(&format!("{} {}{kind}", passage.id, passage.section));
        text.plain("\n\n").styled(Style::Cyan, place).plain(format!("\n{}", line(&passage.text)));
    }
    text
}

/// Where the metadata come from: one line a field, one more for each other value, one for each file.
fn sources(paper: &Paper) -> Vec<String> {
    let mut lines = Vec::new();
    for (field, from) in paper.field_sources() {
        let read = from.read.map(|read| {
            let (origin, sure) = (name_of(&read.origin), name_of(&read.confidence));
            format!(", {origin}, {sure} confidence")
        });
        lines.push(format!(
            "{} from {}{}",
            name_of(&field),
            line(&from.source.to_string()),
            read.unwrap_or_default()
        ));
        for other in &from.others {
            lines.push(format!(
                "  {} has: {}",
                line(&other.source.to_string()),
                line(&other.value)
            ));
        }
    }
    for record in &paper.records {
        if let RecordSource::File(file) = &record.source {
            let made = record.file_date.map(|day| format!(", file made {day}")).unwrap_or_default();
            let path = file.path.display().to_string();
            lines.push(format!(
                "file {} ({}, {} bytes{made})",
                line(&path),
                file.format,
                file.bytes
            ));
        }
    }
    lines
}

/// A value of a closed set as people read it: `running_head` is `running head`.
fn name_of(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    name.replace('_', " ")
}
