//! An appraisal of the plan itself: what is strong, what is missing, unclear or in doubt, and what to change.
//!
//! 1. the model reads the idea and, for orientation, what the review found in papers;
//! 2. every point quotes the idea: what cannot be located there is taken out, and a point without any quotation stays only as one
//!    that says what is not stated;
//! 3. its sentences are about the plan alone: one that tells of papers would be unproven, and is left out and counted.
//!
//! Source: ours. Deviation R15: the published system looks at a plan through papers alone.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::locate::locate;
use scholar_core::text::normalise::title_key;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::{AnswerRole, AnswerSentence, Notice, NoticeKind};
use scholar_pipeline::modes::scirag::json;
use serde_json::Value;

use crate::desk::{Desk, Material};
use crate::fit::fitted;
use crate::report::{
    Appraisal, PlanPoint, PlanQuote, PointKind, PointWeight, Review, ReviewModule, Statement,
};
use crate::soundness::write::prose;
use crate::statements::{keys_of, points_back, tells_of_literature, without_links};
use crate::{cite, prompts};

/// Most characters of what the review found. Ours.
const EVIDENCE_CHARS: usize = 30_000;
/// Fewest words of a quotation: fewer stand anywhere. Ours.
const QUOTE_WORDS: usize = 3;
/// Fewest words of a title that a sentence can be found to name. Ours.
const TITLE_WORDS: usize = 4;

/// Appraises the plan of `review`, which has everything else already. A failure is listed.
///
/// # Errors
/// Why there is nothing, for people.
pub(crate) async fn write(desk: &Desk<'_>, review: &Review) -> Result<Appraisal, String> {
    let most = desk.config.appraisal_points.to_string();
    let values = [("idea", desk.idea.text.as_str()), ("most", most.as_str())];
    let (blocks, cut) = fitted(evidence(review), EVIDENCE_CHARS);
    if cut > 0 {
        let message = format!("appraisal: what was found in {cut} papers was cut");
        desk.frame.notice(Notice::new(NoticeKind::Truncated, message));
    }
    let material = Material { name: "evidence", blocks, between: "\n" };
    let evidence = desk.fit("appraisal", prompts::APPRAISAL, &values, material);
    let values = [values[0], values[1], ("evidence", evidence.as_str())];
    let call = desk.config.sampling.appraisal;
    let asked = desk.ask("appraisal", prompts::APPRAISAL, &values, call, parse).await;
    let asked = asked.inspect_err(|reason| {
        desk.failed(ReviewModule::Appraisal, "appraisal", "the plan", reason);
    })?;
    let titles = titles(review);
    let told: Vec<Point> = asked.value.into_iter().take(desk.config.appraisal_points).collect();
    let n = told.len();
    let mut points: Vec<PlanPoint> =
        told.into_iter().filter_map(|point| kept(desk, &titles, point)).collect();
    points.sort_by_key(|point| point.weight);
    for (nth, point) in (1..).zip(&mut points) {
        point.id = format!("A{nth}");
        for statement in point.matter.iter_mut().chain(&mut point.action) {
            statement.sentence.heading = Some(point.weight.heading().to_owned());
        }
    }
    if points.is_empty() {
        let message = "no point about the plan itself could be kept";
        desk.frame.notice(Notice::new(NoticeKind::Skipped, message));
    }
    Ok(Appraisal { state: asked.state, dropped: n - points.len(), points })
}

/// The papers of the review with what it found in them, cited ones first; the others by their titles.
fn evidence(review: &Review) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for reference in &review.references {
        let paper = review.papers().find(|paper| paper.id == reference.paper_id);
        let mut line = match paper {
            Some(paper) => format!("* {} {}", paper.display_title(), cite::citation(paper)),
            None => format!("* {}", reference.title),
        };
        for statement in review.statements() {
            let sentence = &statement.sentence;
            let is_finding = sentence.role == Some(AnswerRole::Finding);
            if is_finding && sentence.citations.first() == Some(&reference.number) {
                let _infallible = write!(line, "\n  {}", sentence.text);
            }
        }
        lines.push(line);
    }
    for paper in review.papers() {
        let line = format!("* {} {}", paper.display_title(), cite::citation(paper));
        let is_cited = review.references.iter().any(|one| one.paper_id == paper.id);
        if !is_cited && !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines.push("nothing".to_owned());
    }
    lines
}

/// Titles of the review's papers, as sentences are searched for them.
fn titles(review: &Review) -> Vec<String> {
    let keys = review.papers().map(|paper| title_key(&paper.title));
    let mut keys: Vec<String> = keys.filter(|key| key.split(' ').count() >= TITLE_WORDS).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A point as the model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    kind: PointKind,
    weight: PointWeight,
    quotes: Vec<String>,
    matter: String,
    action: String,
}

/// The point with what of it can be shown; `None` of one that has no ground in the plan, or nothing to say of it.
fn kept(desk: &Desk<'_>, titles: &[String], point: Point) -> Option<PlanPoint> {
    let Point { kind, weight, quotes, matter, action } = point;
    let quotes = located(&quotes, &desk.idea.text);
    let matter = sentences(desk, titles, &matter);
    let not_stated = matter.iter().any(|one| says_missing(&one.sentence.text));
    if matter.is_empty() || quotes.is_empty() && (!not_stated || weight == PointWeight::Strength) {
        return None;
    }
    let action = match weight {
        PointWeight::Strength => Vec::new(),
        PointWeight::Major | PointWeight::Minor => sentences(desk, titles, &action),
    };
    let not_stated = quotes.is_empty();
    let mut point =
        PlanPoint { id: String::new(), kind, weight, quotes, not_stated, matter, action };
    point.matter[0].sentence.paragraph_start = true;
    Some(point)
}

/// The quotations that stand in the idea, each once.
fn located(quotes: &[String], idea: &str) -> Vec<PlanQuote> {
    let mut found: Vec<PlanQuote> = Vec::new();
    for quote in quotes.iter().filter(|quote| quote.split_whitespace().count() >= QUOTE_WORDS) {
        let Some(span) = locate(quote, idea) else { continue };
        let Some(text) = span.slice(idea) else { continue };
        let within =
            |known: &PlanQuote| known.span.start <= span.start && span.end <= known.span.end;
        if !found.iter().any(within) {
            found.push(PlanQuote { text: text.to_owned(), span });
        }
    }
    found
}

/// The sentences of `text` that are about the plan; the others are counted as unproven, as are those that begin by pointing at one.
fn sentences(desk: &Desk<'_>, titles: &[String], text: &str) -> Vec<Statement> {
    let (text, mut removed) = without_links(text);
    let mut kept = Vec::new();
    let (mut unproven, mut before_stays) = (0, false);
    for piece in sentence_texts(&text) {
        let (keys, words) = keys_of(piece);
        removed += keys.len();
        let tells = !keys.is_empty()
            || tells_of_literature(&words, &desk.idea.text)
            || names_one(&words, titles);
        let stays = words.contains(char::is_alphanumeric)
            && !tells
            && (before_stays || kept.is_empty() && unproven == 0 || !points_back(&words));
        before_stays = stays;
        if stays {
            let sentence = AnswerSentence::uncited(words);
            kept.push(Statement { sentence, rests_on: Vec::new(), measured: None });
        } else {
            unproven += 1;
        }
    }
    Desk::count(&desk.removed, removed);
    Desk::count(&desk.unproven, unproven);
    kept
}

/// Whether a sentence has one of `titles` in it.
fn names_one(sentence: &str, titles: &[String]) -> bool {
    let key = title_key(sentence);
    titles.iter().any(|title| key.contains(title.as_str()))
}

/// Whether a sentence says that something is not there.
fn says_missing(text: &str) -> bool {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?ix)
            \b(?:no|not|cannot|without|lack(?:s|ing)?|missing|omit(?:s|ted)?|absent|absence|neither|nor|never|none|nothing|nowhere)\b
            | n['’]t\b
            | \b(?:fails?|forgets?|neglects?)\ to\b
            | \b(?:leaves?|left)\ (?:it\ )?(?:out|open)\b
            | \b(?:ignores?|overlooks?|disregards?)\b
            | \bun(?:specified|defined|clear|stated|explained|justified|addressed|tested|motivated|examined|explored|reported|controlled|known|answered)\b",
        )
        .expect("a constant pattern")
    });
    MISSING.is_match(text)
}

/// The points of a reply, in its order.
pub(crate) fn parse(value: &Value) -> Result<Vec<Point>, String> {
    let list = match value {
        Value::Array(list) => list,
        other => json::list(other, &["points"])?,
    };
    if list.is_empty() {
        return Err("its list \"points\" is empty".to_owned());
    }
    let mut points = Vec::new();
    for (nth, one) in (1..).zip(list) {
        let matter = prose(one.get("matter"));
        if matter.is_empty() {
            return Err(format!("point {nth} has no text \"matter\""));
        }
        let said = json::text(one.get("weight")).to_lowercase();
        let weight = match said.split(' ').next().unwrap_or_default() {
            "strength" => PointWeight::Strength,
            "major" => PointWeight::Major,
            "minor" => PointWeight::Minor,
            _ => {
                return Err(format!(
                    "the weight of point {nth} is {said:?}, not strength, major or minor"
                ));
            }
        };
        let said = json::text(one.get("kind")).to_lowercase();
        let is_of = |kind: &PointKind| said.starts_with(kind.name());
        let kind = PointKind::ALL.into_iter().find(is_of).unwrap_or(PointKind::Other);
        let quotes = match one.get("quotes").or_else(|| one.get("quote")) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text.as_str()],
            _ => Vec::new(),
        };
        points.push(Point {
            kind,
            weight,
            quotes: quotes.into_iter().map(str::to_owned).collect(),
            matter,
            action: prose(one.get("action")),
        });
    }
    Ok(points)
}

#[cfg(test)]
mod tests;
