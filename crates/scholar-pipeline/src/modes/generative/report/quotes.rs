//! Quotations first: copied from the passages and located at once, ordered into an outline, written up from them alone.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use scholar_core::text::locate;
use scholar_core::text::markers::{between_markers, remove_markers, strip_foreign_markers};
use scholar_core::text::normalise::single_spaced;
use scholar_core::{Answer, Notice, NoticeKind, OutputShape, PortError, PortErrorKind, Query};

use super::choices::{self, Quotation};
use super::{ask_for_text, words};
use crate::error::AskError;
use crate::evidence::{Evidence, EvidenceNumber, EvidenceRegistry};
use crate::frame::Frame;
use crate::prompts;
use crate::retrieve::{self, Round};
use crate::write::{Manuscript, reference_lines, without_draft};

/// Quotations of one passage. Ours.
const MOST_OF_ONE: usize = 4;
/// New passages read for a facet without quotations. Ours.
const NEW_PER_FACET: usize = 4;

/// Headings with the places of their quotations, and what to search for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    parts: Vec<OutlinePart>,
    searches: Vec<(usize, String)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct OutlinePart {
    heading: String,
    quotations: Vec<usize>,
}

impl Outline {
    fn begin(&mut self, heading: &str) {
        let heading = heading.trim_matches(['#', ' ', '*']).to_owned();
        self.parts.push(OutlinePart { heading, quotations: Vec::new() });
    }

    /// Puts quotation `number` of `count`, from 1, into the last part, unless it stands in one.
    fn place(&mut self, number: usize, count: usize) {
        let Some(at) = number.checked_sub(1).filter(|at| *at < count) else { return };
        let is_used = self.parts.iter().any(|part| part.quotations.contains(&at));
        if let Some(part) = self.parts.last_mut().filter(|_| !is_used) {
            part.quotations.push(at);
        }
    }

    /// Has `question` searched for the last part.
    fn search(&mut self, question: &str) {
        if let Some(part) = self.parts.len().checked_sub(1) {
            self.searches.push((part, question.trim().to_owned()));
        }
    }
}

/// Whether the model runs in this process, so that it can be held to a schema of choices.
fn is_held(frame: &Frame<'_>) -> bool {
    frame.ports.generator.as_ref().is_some_and(|generator| generator.info().local)
}

/// The text of a report, from quotations.
pub(super) async fn write(
    frame: &Frame<'_>,
    mut manuscript: Manuscript,
) -> Result<ControlFlow<Answer, Manuscript>, AskError> {
    let shown = manuscript.visible.clone();
    let mut quoted = match extract(frame, &shown).await {
        Ok(quoted) => quoted,
        Err(error) => return without_draft(frame, error).map(ControlFlow::Break),
    };
    if quoted.is_empty() {
        let why = "no quotation that answers the question was found in the passages";
        return Ok(ControlFlow::Break(frame.abstain(why)));
    }
    let mut outline = ask_for_outline(frame, &quoted, &manuscript.registry).await;
    fill(frame, &mut manuscript, &mut outline, &mut quoted).await;
    let (question, words) = (frame.question.as_str(), words(frame.config));
    let references = lines(&quoted, &manuscript.registry);
    let plan = plan(&outline, &quoted);
    let values = [
        ("question", question),
        ("words", words.as_str()),
        ("plan", plan.as_str()),
        ("references", references.as_str()),
    ];
    ask_for_text(frame, &values, manuscript).await
}

/// Quotations of `shown` that are located in it; the others are counted in a notice.
async fn extract(frame: &Frame<'_>, shown: &[Evidence]) -> Result<Vec<Quotation>, PortError> {
    let mut copied: Vec<Quotation> = Vec::new();
    for one in ask_for_quotations(frame, shown).await? {
        // What is copied twice is one quotation.
        if !copied.contains(&one) {
            copied.push(one);
        }
    }
    let all = copied.len();
    let stands = |one: &Quotation| {
        let passage = shown.iter().find(|e| e.number == one.number)?;
        let text = &passage.ranked.retrieved.passage.text;
        // Prompts show passages without their own citation markers.
        let found =
            locate(&one.text, text).or_else(|| locate(&one.text, &strip_foreign_markers(text)));
        found.map(|_| one.clone())
    };
    let mut kept: Vec<Quotation> = Vec::new();
    for one in copied.iter().filter_map(stands) {
        let of_one = kept.iter().filter(|known| known.number == one.number).count();
        if of_one < MOST_OF_ONE {
            kept.push(one);
        }
    }
    if kept.len() < all {
        let message = format!(
            "{} of {all} quotations were dropped: not word for word in their passage, or too many of one",
            all - kept.len()
        );
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
    }
    Ok(kept)
}

/// The quotations of `shown` that the model gives, none located yet: copied line by line, or, where the model runs in this
/// process and can be held to them, chosen among the sentences.
async fn ask_for_quotations(
    frame: &Frame<'_>,
    shown: &[Evidence],
) -> Result<Vec<Quotation>, PortError> {
    let is_held = is_held(frame);
    let prompt = if is_held { prompts::QUOTES_CHOICE } else { prompts::QUOTES };
    let most = MOST_OF_ONE.to_string();
    let call = frame.config.sampling.answer;
    let values = [("question", frame.question.as_str()), ("most", most.as_str())];
    let lines = reference_lines(frame, prompt, &values, shown, call);
    let references: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
    let values = [&values[..], &[("references", references.as_str())]].concat();
    if !is_held {
        return Ok(quotations(&frame.call("quotes", prompt, &values, call).await?.text));
    }
    let texts: Vec<(EvidenceNumber, String)> = shown
        .iter()
        .filter(|one| lines.iter().any(|(number, _)| *number == one.number))
        .map(|one| (one.number, strip_foreign_markers(&one.ranked.retrieved.passage.text)))
        .collect();
    let Some(schema) = choices::schema(&texts) else { return Ok(Vec::new()) };
    let shape = OutputShape::Json { name: "quotations".to_owned(), schema };
    let reply = frame.call_shaped("quotes", prompt, &values, call, shape).await?;
    frame.warn_of_cut("quotes", reply.finish);
    Ok(choices::chosen(&reply.text))
}

/// The quotations of a reply, none located yet.
pub(super) fn quotations(reply: &str) -> Vec<Quotation> {
    let text = remove_markers(&between_markers(reply).text);
    let line = |line: &str| {
        let rest = line[line.find('[')? + 1..].trim_start();
        let (number, words) = rest.split_once(']')?;
        let words = words.trim_start_matches([':', ' ', '|']).trim();
        let words = words.trim_matches(['"', '“', '”']);
        let number = EvidenceNumber(number.trim().parse().ok()?);
        let text = single_spaced(words);
        (!text.is_empty()).then_some(Quotation { number, text })
    };
    text.lines().filter_map(line).collect()
}

async fn ask_for_outline(
    frame: &Frame<'_>,
    quoted: &[Quotation],
    registry: &EvidenceRegistry,
) -> Outline {
    let items = if frame.config.feedback.retrieve { frame.config.feedback.items } else { 0 };
    let limit = items.to_string();
    let mut references = String::new();
    for (at, one) in quoted.iter().enumerate() {
        let title = registry.get(one.number).map(|e| e.ranked.retrieved.passage.title.as_str());
        // Writing to a string cannot fail.
        let _infallible =
            writeln!(references, "Q{} ({}) “{}”", at + 1, title.unwrap_or_default(), one.text);
    }
    let values = [
        ("references", references.as_str()),
        ("question", frame.question.as_str()),
        ("items", limit.as_str()),
    ];
    match outlined(frame, &values, quoted.len(), items > 0).await {
        Ok(mut outline) => {
            outline.searches.truncate(items);
            outline
        }
        Err(error) => {
            frame.skipped("the outline", &error);
            Outline::default()
        }
    }
}

/// The outline over `count` quotations, as lines, or by a schema where the model can be held to one.
async fn outlined(
    frame: &Frame<'_>,
    values: &[(&str, &str)],
    count: usize,
    searches: bool,
) -> Result<Outline, PortError> {
    let call = frame.config.sampling.feedback;
    if !is_held(frame) {
        let reply = frame.call("outline", prompts::QUOTES_OUTLINE, values, call).await?;
        return Ok(outline(&reply.text, count));
    }
    let schema = choices::outline_schema(count, searches);
    let shape = OutputShape::Json { name: "outline".to_owned(), schema };
    let reply =
        frame.call_shaped("outline", prompts::QUOTES_OUTLINE_HELD, values, call, shape).await?;
    frame.warn_of_cut("outline", reply.finish);
    let parts = choices::outline(&reply.text).map_err(|source| {
        PortError::new(PortErrorKind::Corrupt, "the outline is not whole").with_source(source)
    })?;
    let mut outline = Outline::default();
    for part in parts {
        outline.begin(&part.heading);
        for number in part.quotations {
            outline.place(number, count);
        }
        if let Some(question) = part.search {
            outline.search(&question);
        }
    }
    Ok(outline)
}

/// The outline of a reply over `count` quotations; each is used once, where it is named first.
pub(super) fn outline(reply: &str, count: usize) -> Outline {
    let text = remove_markers(&between_markers(reply).text);
    let mut outline = Outline::default();
    for line in text.lines().map(str::trim) {
        if let Some(heading) = line.strip_prefix('#') {
            outline.begin(heading);
        } else if let Some(question) = line.strip_prefix('?') {
            outline.search(question);
        } else {
            let numbers = line.split(|c: char| !c.is_ascii_alphanumeric());
            for number in numbers.filter_map(|word| word.strip_prefix('Q')?.parse().ok()) {
                outline.place(number, count);
            }
        }
    }
    outline
}

/// Searches for what the outline misses and quotes from what is found.
async fn fill(
    frame: &Frame<'_>,
    manuscript: &mut Manuscript,
    outline: &mut Outline,
    quoted: &mut Vec<Quotation>,
) {
    let mut new: Vec<Evidence> = Vec::new();
    let mut facet_of: Vec<(EvidenceNumber, usize)> = Vec::new();
    for (part, question) in &outline.searches {
        let Some(query) = Query::new(question) else { continue };
        let queries = [query.clone()];
        let registry = &mut manuscript.registry;
        let found = retrieve::gather(frame, &queries, &query, Round::Feedback, registry).await;
        // Failed searches were reported one by one.
        for evidence in found.unwrap_or_default().into_iter().take(NEW_PER_FACET) {
            facet_of.push((evidence.number, *part));
            new.push(evidence);
        }
    }
    if new.is_empty() || frame.over_budget().is_some() {
        return;
    }
    match extract(frame, &new).await {
        Ok(more) => {
            for one in more {
                let part = facet_of.iter().find(|(number, _)| *number == one.number);
                if let Some(part) = part.and_then(|(_, at)| outline.parts.get_mut(*at)) {
                    part.quotations.push(quoted.len());
                }
                quoted.push(one);
            }
            manuscript.visible.extend(new);
        }
        Err(error) => frame.skipped("quotations for empty facets", &error),
    }
}

/// The lines that stand for the passages: number, title and quotations.
fn lines(quoted: &[Quotation], registry: &EvidenceRegistry) -> String {
    let mut numbers: Vec<EvidenceNumber> = quoted.iter().map(|one| one.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut out = String::new();
    for number in numbers {
        let title = registry.get(number).map(|e| e.ranked.retrieved.passage.title.as_str());
        let texts = quoted.iter().filter(|one| one.number == number);
        let texts: Vec<String> = texts.map(|one| format!("“{}”", one.text)).collect();
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            out,
            "{number} Title: {} Text: {}",
            title.unwrap_or_default(),
            texts.join(" … ")
        );
    }
    out
}

/// The outline as the prompt gives it; nothing where there is none.
fn plan(outline: &Outline, quoted: &[Quotation]) -> String {
    let parts = outline.parts.iter().filter(|part| !part.quotations.is_empty());
    let mut out = String::new();
    for part in parts {
        let numbers: String =
            part.quotations.iter().map(|at| quoted[*at].number.to_string()).collect();
        // Writing to a string cannot fail.
        let _infallible = writeln!(out, "## {}: {numbers}", part.heading);
    }
    if out.is_empty() {
        return out;
    }
    format!(
        "\nThe references are quotations: say nothing that they do not. Follow this outline, merging or renaming its parts where that reads better:\n{out}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_and_outlines_are_read() {
        let reply = "[Response_Start]\n[3] \"Cells  grow [4].\"\n- [0]: “They die.”\nno\n[x] \"y\"\n[1] \n[Response_End]";
        let seen: Vec<(usize, String)> =
            quotations(reply).into_iter().map(|one| (one.number.0, one.text)).collect();
        assert_eq!(seen, [(3, "Cells grow [4].".to_owned()), (0, "They die.".to_owned())]);
        let found = outline("Q9\n## Growth\nQ2, Q1 Q2 Q9\n? How do cells die?\n## Death ##\nQ3", 3);
        assert_eq!(found.parts[0].quotations, [1, 0]);
        assert_eq!(
            (found.parts[1].heading.as_str(), &found.parts[1].quotations[..]),
            ("Death", &[2][..])
        );
        assert_eq!(found.searches, [(0, "How do cells die?".to_owned())]);
    }
}
