//! The results of a screening: a table, JSON, CSV, Markdown and RIS.

use scholar_core::text::untrusted;
use scholar_core::text::untrusted::Markdown;
use scholar_datastore::Datastore;
use scholar_formats::export::{self, ListFormat};
use scholar_pipeline::screen::{Criteria, Decider, ScreenedPaper as Row};

use super::by_hand::{DECISION_COLUMN, REASON_COLUMN};
use crate::error::CommandError;
use crate::output::csv;
use crate::output::table::Table;

/// At most `most` rows for a terminal.
pub(super) fn table(rows: &[&Row], most: usize) -> String {
    let mut table =
        Table::with_header(["rank", "decision", "by", "score", "id", "title", "reason"]);
    for row in rows.iter().take(most) {
        let title: String = row.paper.display_title().chars().take(60).collect();
        table.add_row([
            row.rank.to_string(),
            row.decision_name().to_owned(),
            row.by.map_or("", Decider::name).to_owned(),
            row.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
            row.paper.id.to_string(),
            title,
            row.reason.clone().unwrap_or_default(),
        ]);
    }
    table.to_string()
}

/// A table for spreadsheets, with empty columns for a person's decisions; those made before stand in them.
pub(crate) fn csv(criteria: &Criteria, rows: &[&Row]) -> String {
    let mut header: Vec<String> =
        ["rank", "id", "title", "authors", "year", "venue", "decision", "by", "reason", "score"]
            .map(str::to_owned)
            .to_vec();
    header.extend([DECISION_COLUMN, REASON_COLUMN].map(str::to_owned));
    for criterion in &criteria.criteria {
        header.push(criterion.id.clone());
        header.push(format!("{}: quotation", criterion.id));
    }
    let line = |text: &str| untrusted(text).line().to_string();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let meta = &row.paper;
            let own = row.by == Some(Decider::Person);
            let mut cells = vec![
                row.rank.to_string(),
                meta.id.to_string(),
                line(&meta.title),
                line(&meta.authors.join("; ")),
                meta.year.map(|year| year.to_string()).unwrap_or_default(),
                line(meta.venue.as_deref().unwrap_or_default()),
                row.decision_name().to_owned(),
                row.by.map_or("", Decider::name).to_owned(),
                line(row.reason.as_deref().unwrap_or_default()),
                row.score.map(|score| format!("{score:.3}")).unwrap_or_default(),
                if own { row.decision_name() } else { "" }.to_owned(),
                row.reason.as_deref().filter(|_| own).map(line).unwrap_or_default(),
            ];
            for criterion in &criteria.criteria {
                let decided = row.criteria.iter().find(|one| one.criterion == criterion.id);
                cells.push(decided.map_or("", |one| one.decision.name()).to_owned());
                let quote = decided.and_then(|one| one.quote.as_ref());
                cells.push(quote.map(|quote| line(&quote.text)).unwrap_or_default());
            }
            cells
        })
        .collect();
    csv::write(&header, &rows)
}

/// A document with the quotations of every decision.
pub(crate) fn markdown(criteria: &Criteria, rows: &[&Row], flow: &str) -> String {
    let mut out = Markdown::new();
    out.markup("# ").text(&criteria.title).markup("\n\n");
    for criterion in &criteria.criteria {
        let kind = match criterion.kind {
            scholar_pipeline::screen::CriterionKind::Include => " (must be met): ",
            scholar_pipeline::screen::CriterionKind::Exclude => " (excludes): ",
        };
        out.markup("- **").text(&criterion.id).markup("**").markup(kind);
        out.text(&criterion.text).markup("\n");
    }
    out.markup("\n");
    for line in flow.lines() {
        out.markup("- ").text(line.trim()).markup("\n");
    }
    for row in rows {
        out.markup("\n## ").number(row.rank).markup(". ").text(&row.paper.display_title());
        out.markup("\n\n").text(&row.paper.id.to_string()).markup(" · **");
        out.text(row.decision_name()).markup("**");
        if let Some(by) = row.by {
            out.markup(" by ").text(by.name());
        }
        if let Some(reason) = &row.reason {
            out.markup(": ").text(reason);
        }
        out.markup("\n");
        for one in &row.criteria {
            out.markup("\n- ").text(&one.criterion).markup(": ").text(one.finding.name());
            if let Some(quote) = &one.quote {
                out.markup(" — “").text(&quote.text).markup("” (");
                out.text(&format!("{}, characters {}–{}", quote.passage, quote.start, quote.end));
                if let Some(page) = quote.page {
                    out.text(&format!(", page {page}"));
                }
                out.markup(")");
            }
        }
        out.markup("\n");
    }
    out.to_string()
}

/// References for reference managers, each with its decision as a note.
pub(super) fn ris(store: &Datastore, rows: &[&Row]) -> Result<String, CommandError> {
    let mut out = String::new();
    for row in rows {
        let Some(paper) = store.paper(&row.paper.id)? else { continue };
        let entry = export::papers([&paper], ListFormat::Ris);
        let reason = row.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let note = format!("Screening: {}{reason}", row.decision_name());
        out.push_str(&with_note(&entry, &untrusted(&note).line().to_string()));
    }
    Ok(out)
}

/// A RIS entry with one more note in front of its end.
fn with_note(entry: &str, note: &str) -> String {
    match entry.rfind("ER  - ") {
        Some(end) => format!("{}N1  - {note}\n{}", &entry[..end], &entry[end..]),
        None => entry.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, PaperMeta};
    use scholar_pipeline::screen::{Criterion, CriterionKind, Decision, RankedBy};

    use super::*;

    fn row(title: &str, decision: Decision, by: Decider) -> Row {
        Row {
            rank: 1,
            paper: PaperMeta::new(PaperId::Pmid(1), title),
            decision: Some(decision),
            by: Some(by),
            reason: Some("population".to_owned()),
            score: Some(0.5),
            ranked_by: RankedBy { total: 0.0, words: 0.0, similarity: 0.0, criteria: 0.0 },
            criteria: Vec::new(),
        }
    }

    #[test]
    fn a_persons_decision_stands_in_its_own_column() {
        let criteria = Criteria {
            title: "x".to_owned(),
            criteria: vec![Criterion {
                id: "human".to_owned(),
                text: "on humans".to_owned(),
                kind: CriterionKind::Include,
            }],
        };
        let (one, other) = (
            row("=cmd", Decision::Exclude, Decider::Program),
            row("A, title", Decision::Include, Decider::Person),
        );
        let text = csv(&criteria, &[&one, &other]);
        let read = csv::read(&text).expect("well-formed");
        let column = read[0].iter().position(|name| name == DECISION_COLUMN).expect("there");
        assert_eq!((read[1][column].as_str(), read[2][column].as_str()), ("", "include"));
        assert_eq!(read[1][2], "'=cmd");
    }

    #[test]
    fn notes_stand_before_the_end_of_an_entry() {
        let entry = "TY  - JOUR\nTI  - x\nER  - \n";
        assert_eq!(with_note(entry, "n"), "TY  - JOUR\nTI  - x\nN1  - n\nER  - \n");
    }

    #[test]
    fn titles_are_words_in_markdown() {
        let criteria = Criteria { title: "t".to_owned(), criteria: Vec::new() };
        let shown = row("# <script>x</script> *a*", Decision::Include, Decider::Program);
        let text = markdown(&criteria, &[&shown], "records identified: 1\n");
        assert!(text.contains("\\<script>") && text.contains("- records identified: 1"), "{text}");
    }
}
