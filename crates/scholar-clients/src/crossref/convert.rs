//! Crossref's records as papers, and what they say about corrections.

use jiff::civil::Date;
use scholar_core::paper::{ABSTRACT_HEADING, Retraction};
use scholar_core::{Notice, Paper, PaperId, PaperMeta, Section};
use serde_json::Value;

use super::wire::{Contributor, Day, Envelope, Update, WireWork, WorkList};
use crate::parse::{ReplyError, add_id, json, plain, rows, value};

/// A notice that changes what is known about a paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossrefUpdate {
    /// The paper that is changed.
    pub paper: PaperId,
    /// DOI of the notice that retracts or corrects.
    pub notice: PaperId,
    /// Its kind in Crossref's words: `retraction`, `correction`, `expression_of_concern`, `new_version`.
    pub kind: String,
    /// What that means for the paper; `None` for new versions and editions.
    pub standing: Option<Retraction>,
    /// When the notice appeared.
    pub date: Option<Date>,
}

/// What Crossref records under one DOI.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossrefWork {
    /// Metadata, abstract where it was deposited, and the references that have a DOI.
    pub paper: Paper,
    /// `journal-article`, `posted-content`, `proceedings-article` and so on.
    pub kind: Option<String>,
    /// Notices about this paper and, where this is a notice, what it says about others.
    pub updates: Vec<CrossrefUpdate>,
}

/// Reads the answer to a single DOI.
///
/// # Errors
/// [`ReplyError`] when Crossref says that it failed, or the record does not have the promised shape.
pub fn single(bytes: &[u8]) -> Result<CrossrefWork, ReplyError> {
    let message = message(bytes, "work")?;
    value::<WireWork>(message).and_then(work).map_err(ReplyError::Shape)
}

/// Reads a list of works.
///
/// # Errors
/// As [`single`]; a broken record of several is only a notice.
pub fn list(bytes: &[u8]) -> Result<(Vec<CrossrefWork>, Vec<Notice>), ReplyError> {
    let list: WorkList = value(message(bytes, "work-list")?).map_err(ReplyError::Shape)?;
    rows("Crossref", list.items, |row| value::<WireWork>(row).and_then(work))
}

fn message(bytes: &[u8], kind: &str) -> Result<Value, ReplyError> {
    let envelope: Envelope = json(bytes)?;
    if envelope.status != "ok" {
        let told = envelope.message.to_string();
        let told: String = told.chars().take(200).collect();
        return Err(ReplyError::Refused(format!("{}: {told}", envelope.kind)));
    }
    if envelope.kind != kind {
        let what = format!("the field `message-type` is {:?}, not {kind:?}", envelope.kind);
        return Err(ReplyError::Shape(what));
    }
    Ok(envelope.message)
}

fn work(work: WireWork) -> Result<CrossrefWork, String> {
    let id = PaperId::doi(&work.doi).map_err(|error| format!("the field `DOI`: {error}"))?;
    let mut meta = PaperMeta::new(id.clone(), title(&work));
    add_id(&mut meta, id.clone());
    meta.authors = work.author.iter().flatten().filter_map(author).collect();
    let days = [&work.online, &work.print, &work.published, &work.issued, &work.posted];
    meta.published = days.into_iter().flatten().filter_map(Day::day).min();
    meta.year = match meta.published {
        Some(day) => Some(day.year()),
        None => [&work.issued, &work.published, &work.posted, &work.online, &work.print]
            .into_iter()
            .flatten()
            .find_map(Day::year),
    };
    let container = work.container.iter().flatten().next().cloned();
    let institution = || work.institution.iter().flatten().find_map(|it| it.name.clone());
    meta.venue = container.or_else(institution).map(|name| plain(&name)).filter(|n| !n.is_empty());
    meta.citation_count = work.cited;
    // The licence of the version of record, not the publisher's terms for text mining.
    let licences = work.license.iter().flatten();
    meta.licence = licences
        .filter(|licence| licence.version.as_deref() != Some("tdm"))
        .map(|licence| licence.url.clone())
        .next();
    let updates = updates(&id, &work);
    meta.retraction = standing(&id, &meta.title, &updates);
    let text = work.summary.as_deref().map(abstract_text).unwrap_or_default();
    let mut sections = Vec::new();
    if !text.is_empty() {
        sections.push(Section::new(ABSTRACT_HEADING, text));
    }
    let references = work.reference.iter().flatten();
    let references = references.filter_map(|r| PaperId::doi(r.doi.as_deref()?).ok()).collect();
    Ok(CrossrefWork {
        paper: Paper { meta, sections, references, records: Vec::new() },
        kind: work.kind,
        updates,
    })
}

/// Title and subtitle, which Crossref keeps apart.
fn title(work: &WireWork) -> String {
    let first = |list: &Option<Vec<String>>| {
        let text = plain(list.as_ref()?.first()?);
        (!text.is_empty()).then_some(text)
    };
    match (first(&work.title), first(&work.subtitle)) {
        (Some(title), Some(subtitle)) if !title.contains(&subtitle) => {
            let colon = if title.ends_with([':', '?', '!']) { "" } else { ":" };
            format!("{title}{colon} {subtitle}")
        }
        (Some(title), _) => title,
        (None, subtitle) => subtitle.unwrap_or_default(),
    }
}

fn author(contributor: &Contributor) -> Option<String> {
    if let Some(name) = &contributor.name {
        return Some(plain(name)).filter(|name| !name.is_empty());
    }
    let parts = [&contributor.given, &contributor.family, &contributor.suffix];
    let name = plain(&parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" "));
    (!name.is_empty()).then_some(name)
}

/// The abstract without the heading that most depositors include.
fn abstract_text(markup: &str) -> String {
    let text = plain(markup);
    match text.strip_prefix("Abstract").or_else(|| text.strip_prefix("ABSTRACT")) {
        Some(rest) if markup.contains("title>") => {
            rest.trim_start_matches([':', '.', ' ']).to_owned()
        }
        _ => text,
    }
}

fn updates(id: &PaperId, work: &WireWork) -> Vec<CrossrefUpdate> {
    let mut updates: Vec<CrossrefUpdate> = Vec::new();
    let mut add = |update: &Update, ours: bool| {
        let Ok(other) = PaperId::doi(&update.doi) else { return };
        let (paper, notice) = if ours { (id.clone(), other) } else { (other, id.clone()) };
        let update = CrossrefUpdate {
            paper,
            notice,
            standing: meaning(&update.kind),
            kind: update.kind.clone(),
            date: update.updated.as_ref().and_then(Day::day),
        };
        if !updates.contains(&update) {
            updates.push(update);
        }
    };
    for update in work.updated_by.iter().flatten() {
        add(update, true);
    }
    for update in work.update_to.iter().flatten() {
        add(update, false);
    }
    updates
}

/// What a kind of update means. Source: Crossref's list of update types, and those of Retraction Watch.
fn meaning(kind: &str) -> Option<Retraction> {
    match kind.to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
        "retraction" | "withdrawal" | "removal" => Some(Retraction::Retracted),
        "expression_of_concern" | "concern" | "partial_retraction" => Some(Retraction::Concern),
        "correction" | "erratum" | "corrigendum" | "addendum" | "clarification" => {
            Some(Retraction::Corrected)
        }
        _ => None,
    }
}

/// The worst that is recorded about `id`; publishers also put a retraction in front of the title.
fn standing(id: &PaperId, title: &str, updates: &[CrossrefUpdate]) -> Retraction {
    const MARKS: [&str; 6] = [
        "RETRACTED:",
        "RETRACTED ARTICLE:",
        "Retracted:",
        "Retracted Article:",
        "[Retracted]",
        "WITHDRAWN:",
    ];
    if MARKS.iter().any(|mark| title.starts_with(mark)) {
        return Retraction::Retracted;
    }
    updates
        .iter()
        .filter(|update| update.paper == *id)
        .filter_map(|update| update.standing)
        .max()
        .unwrap_or(Retraction::Clean)
}
