//! A page for each item: question, answer, evidence, verdicts, numbers.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use super::Measured;
use super::document::{page, slug};
use crate::judge::Judged;
use crate::metrics::Outcome;
use crate::metrics::citation::ItemScore;
use crate::metrics::citation::score::Part;
use crate::metrics::hallucination::{Existence, ListedPapers};
use crate::metrics::rubric::RubricScore;
use crate::scholarqa::item::{Gold, Item};
use crate::scholarqa::prediction::Prediction;
use crate::scholarqa::score::Scores;

/// Longest evidence shown of a passage, in characters; the predictions have it whole.
const PASSAGE_CHARS: usize = 1_500;

/// File names below the report's folder, with their pages: one for each item of a run and an index.
pub fn pages(one: &Measured) -> Vec<(String, String)> {
    let folder = format!("items/{}", slug(&one.run.manifest.name));
    let mut index = format!("<h1>{}</h1>\n<ol>\n", escape_html(&one.run.manifest.name));
    let mut files = Vec::new();
    for (nth, id) in one.run.manifest.items.iter().enumerate() {
        let name = format!("{:04}-{}.html", nth + 1, slug(id));
        let item = one.items.iter().find(|item| item.id == *id);
        let prediction = one.run.written.get(id);
        let question = item
            .map(|item| item.question.as_str())
            .or_else(|| prediction.map(|prediction| prediction.input.as_str()))
            .unwrap_or(id);
        let short: String = question.chars().take(160).collect();
        let _infallible = writeln!(
            index,
            "<li><a href=\"{name}\">{}</a> {}</li>",
            escape_html(id),
            escape_html(&short)
        );
        let body = item_page(id, question, item, prediction, &one.scores);
        files.push((format!("{folder}/{name}"), page(id, &body)));
    }
    index.push_str("</ol>\n");
    files.push((format!("{folder}/index.html"), page(&one.run.manifest.name, &index)));
    files
}

fn item_page(
    id: &str,
    question: &str,
    item: Option<&Item>,
    prediction: Option<&Prediction>,
    scores: &[Scores],
) -> String {
    let mut body =
        format!("<p><a href=\"index.html\">all items</a></p>\n<h1>{}</h1>\n", escape_html(id));
    let _infallible = writeln!(body, "<p>{}</p>", escape_html(question));
    match item.map(|item| &item.gold) {
        Some(Gold::Label(text) | Gold::Text(text)) => {
            let _infallible = writeln!(
                body,
                "<h2>Reference answer</h2>\n<blockquote>{}</blockquote>",
                paragraphs(text)
            );
        }
        Some(Gold::Rubric(_) | Gold::None) | None => {}
    }
    let Some(prediction) = prediction else {
        body.push_str("<p>There is no prediction.</p>\n");
        return body;
    };
    if let Some(error) = &prediction.error {
        let _infallible = writeln!(body, "<p class=\"no\">{}</p>", escape_html(error));
    }
    let _infallible = writeln!(body, "<h2>Answer</h2>\n{}", paragraphs(&prediction.output));
    body.push_str(&numbers(id, scores));
    for one in scores {
        if let Some(verdicts) = one.verdicts.get(id) {
            let judge = super::judge_of(one).unwrap_or_default();
            let _infallible = writeln!(body, "<h2>Verdicts of {}</h2>", escape_html(&judge));
            body.push_str(&verdict_table(verdicts));
        }
        if let Some(rubric) = one.rubrics.get(id) {
            body.push_str(&rubric_table(rubric, item));
        }
    }
    body.push_str(&evidence(prediction));
    if let Some(listed) = scores.iter().find_map(|one| one.listed.get(id)) {
        body.push_str(&listed_papers(listed));
    }
    if !prediction.notices.is_empty() {
        body.push_str("<h2>Notes</h2>\n<ul>\n");
        for notice in &prediction.notices {
            let _infallible = writeln!(body, "<li>{}</li>", escape_html(&notice.message));
        }
        body.push_str("</ul>\n");
    }
    body
}

fn numbers(id: &str, scores: &[Scores]) -> String {
    let mut body = "<h2>Numbers</h2>\n<table><tr><th>metric</th><th>value</th></tr>\n".to_owned();
    for (scores, column) in scores.iter().flat_map(|one| one.columns.iter().map(move |c| (one, c)))
    {
        let Some(cell) = column.cells.iter().find(|cell| cell.item == id) else { continue };
        let scale = scores.metric(&column.metric).map_or(1.0, |metric| metric.scale);
        let value = match &cell.outcome {
            Outcome::Value(value) => format!("{:.2}", value * scale),
            Outcome::LeftOut(why) => format!("none: {why}"),
        };
        body.push_str(&row("", &[&column.metric, &value]));
    }
    body.push_str("</table>\n");
    body
}

fn verdict_table(verdicts: &ItemScore) -> String {
    let mut body =
        "<table><tr><th>sentence</th><th>passages</th><th>together</th><th>each</th></tr>\n"
            .to_owned();
    for verdict in &verdicts.verdicts {
        let (class, said) = match &verdict.together {
            Some(Judged::Read(true)) => ("yes", "supported".to_owned()),
            Some(Judged::Read(false)) => ("no", "not supported".to_owned()),
            Some(Judged::Unreadable(reply)) => ("none", format!("unreadable: {reply}")),
            None => ("none", "cites nothing".to_owned()),
        };
        let cited: Vec<String> =
            verdict.sentence.cited.iter().map(|place| format!("[{place}]")).collect();
        let inherited = if verdict.sentence.inherited { " (of the sentence before)" } else { "" };
        let parts: Vec<String> = verdict.parts.iter().map(part).collect();
        let _infallible = writeln!(
            body,
            "<tr class=\"{class}\"><td>{}</td><td>{}{inherited}</td><td>{}</td><td>{}</td></tr>",
            escape_html(&verdict.sentence.text),
            cited.join(" "),
            escape_html(&said),
            escape_html(&parts.join(", "))
        );
    }
    body.push_str("</table>\n");
    body
}

/// What was weighed, with the criteria in the annotator's words.
fn rubric_table(rubric: &RubricScore, item: Option<&Item>) -> String {
    let criteria = match item.map(|item| &item.gold) {
        Some(Gold::Rubric(config)) => config["other_properties"].as_array(),
        _ => None,
    };
    let criterion = |name: &str| {
        let name = name.strip_suffix("_evidence").unwrap_or(name);
        let found = criteria?.iter().find(|criterion| criterion["name"] == name)?;
        found["criterion"].as_str()
    };
    let mut body = "<h2>Rubric</h2>\n<table><tr><th>part</th><th>criterion</th><th>weight</th><th>value</th></tr>\n".to_owned();
    for part in &rubric.parts {
        let (class, value) = match &part.value {
            Judged::Read(value) => ("", format!("{value:.2}")),
            Judged::Unreadable(reply) => ("none", format!("unreadable: {reply}")),
        };
        let weight = format!("{:.3}", part.weight);
        let criterion = criterion(&part.name).unwrap_or_default();
        body.push_str(&row(class, &[&part.name, criterion, &weight, &value]));
    }
    body.push_str("</table>\n");
    body
}

fn part(part: &Part) -> String {
    match part {
        Part::Supports => "supports".to_owned(),
        Part::Needed => "needed".to_owned(),
        Part::NotNeeded => "not needed".to_owned(),
        Part::Unreadable(reply) => format!("unreadable: {reply}"),
    }
}

fn listed_papers(listed: &ListedPapers) -> String {
    let mut body =
        "<h2>Papers listed</h2>\n<table><tr><th>number</th><th>entry</th><th>found</th></tr>\n"
            .to_owned();
    for (entry, existence) in &listed.papers {
        let number = entry.number.map(|number| format!("[{number}]")).unwrap_or_default();
        let (class, said) = match existence {
            Existence::Exists(paper) => {
                let without =
                    if paper.abstract_text.is_none() { ", without an abstract" } else { "" };
                ("yes", format!("{} ({}{without})", paper.title, paper.place))
            }
            Existence::Invented => ("no", "not found".to_owned()),
            Existence::Unknown(why) => ("none", format!("not looked up: {why}")),
        };
        body.push_str(&row(class, &[&number, &entry.text, &said]));
    }
    body.push_str("</table>\n");
    body
}

fn evidence(prediction: &Prediction) -> String {
    let shown = prediction.shown_ctxs();
    if shown.is_empty() {
        return String::new();
    }
    let mut body = "<h2>Evidence shown</h2>\n".to_owned();
    for (number, context) in shown.iter().enumerate() {
        let text: String = context.text.chars().take(PASSAGE_CHARS).collect();
        let more = if text.len() < context.text.len() { " […]" } else { "" };
        let year = context.year.map(|year| format!(" ({year})")).unwrap_or_default();
        let _infallible = writeln!(
            body,
            "<p><strong>[{number}] {}{year}</strong></p>\n<blockquote>{}{more}</blockquote>",
            escape_html(&context.title),
            escape_html(&text)
        );
    }
    body
}

/// A row of a table, its cells escaped; `class` may be empty.
fn row(class: &str, cells: &[&str]) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let cells: String =
        cells.iter().map(|cell| format!("<td>{}</td>", escape_html(cell))).collect();
    format!("<tr{class}>{cells}</tr>\n")
}

fn paragraphs(text: &str) -> String {
    text.split("\n\n").fold(String::new(), |html, part| {
        html + "<p>" + &escape_html(part).replace('\n', "<br>") + "</p>\n"
    })
}
