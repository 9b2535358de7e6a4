//! The answer for people: Markdown with 1-based numbers, quotations and a reference list.

use std::fmt::Write as _;

use scholar_core::{Answer, AnswerMode, AnswerSentence, Reference, Verdict};

use super::document::AnswerDocument;

/// Longest quotation shown under a reference, in characters; the JSON has it whole.
const QUOTE_CHARS: usize = 280;

/// Renders `document`; the run's name at the end leads to the rest.
pub(crate) fn render(document: &AnswerDocument) -> String {
    let AnswerDocument { answer, notices, usage, timings_ms, run, .. } = document;
    let mut text = format!("# {}\n\n", one_line(&answer.question));
    if answer.abstained {
        text.push_str(
            "**Insufficient evidence.** The stored papers do not answer this question.\n\n",
        );
    }
    text.push_str(&body(answer));
    text.push_str(&reference_list(answer));
    if !notices.is_empty() {
        text.push_str("## Notes\n\n");
        for notice in notices {
            let hint =
                notice.hint.as_ref().map(|hint| format!(" Hint: {hint}.")).unwrap_or_default();
            let _infallible = writeln!(text, "- {}{hint}", sentence_case(&notice.message));
        }
        text.push('\n');
    }
    let model = usage.model.as_ref().map_or_else(
        || "no model".to_owned(),
        |model| {
            format!(
                "{model}, {} calls, {} tokens",
                usage.calls,
                usage.prompt_tokens + usage.completion_tokens
            )
        },
    );
    let cost = usage
        .cost_usd
        .filter(|cost| *cost > 0.0)
        .map(|cost| format!(", ${cost:.4}"))
        .unwrap_or_default();
    let _infallible = write!(
        text,
        "---\n{} · {model}{cost} · {:.1} s · run {run}",
        mode_name(answer.mode),
        seconds(timings_ms.total),
    );
    text
}

/// The sentences with their markers, under their headings.
fn body(answer: &Answer) -> String {
    let mut text = String::new();
    let mut heading: Option<&str> = None;
    for (idx, sentence) in answer.sentences.iter().enumerate() {
        let new_heading = sentence.heading.as_deref() != heading;
        if new_heading {
            heading = sentence.heading.as_deref();
            let _infallible = write!(
                text,
                "{}## {}\n\n",
                if idx == 0 { "" } else { "\n\n" },
                heading.unwrap_or("More")
            );
        } else if idx > 0 {
            text.push_str(if sentence.paragraph_start { "\n\n" } else { " " });
        }
        if sentence.verbatim
            && answer.mode == AnswerMode::Evidence
            && (sentence.paragraph_start || new_heading)
        {
            text.push_str("- ");
        }
        text.push_str(&marked(sentence));
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text
}

/// The sentence with its citations in front of the closing punctuation, and its doubt if there is any.
pub(crate) fn marked(sentence: &AnswerSentence) -> String {
    let numbers: String =
        sentence.citations.iter().map(|citation| format!("[{}]", citation.0)).collect();
    let doubt = match sentence.support.as_ref().map(|support| support.verdict) {
        Some(Verdict::Unsupported) => " *(not supported by the located evidence)*",
        Some(Verdict::Contradicted) => " *(contradicted by the located evidence)*",
        Some(Verdict::Partial) => " *(partly supported)*",
        Some(Verdict::Supported) | None => "",
    };
    if numbers.is_empty() {
        return format!("{}{doubt}", sentence.text);
    }
    let closing: String =
        sentence.text.chars().rev().take_while(|c| matches!(c, '.' | '!' | '?')).collect();
    let bare = &sentence.text[..sentence.text.len() - closing.len()];
    format!("{bare} {numbers}{doubt}{closing}")
}

fn reference_list(answer: &Answer) -> String {
    if answer.references.is_empty() {
        return String::new();
    }
    let mut text = "## References\n\n".to_owned();
    for reference in &answer.references {
        let found = match reference.found_by.as_slice() {
            [] => String::new(),
            names => format!(" Found by {}.", names.join(", ")),
        };
        let _infallible = writeln!(text, "{}. {}{found}", reference.number.0, describe(reference));
        let mut seen: Vec<(String, usize)> = Vec::new();
        let quotes = answer.sentences.iter().flat_map(|sentence| &sentence.quotes);
        for quote in quotes.filter(|quote| quote.reference == reference.number) {
            let place = (quote.passage_id.to_string(), quote.start);
            if seen.contains(&place) {
                continue;
            }
            let _infallible = writeln!(
                text,
                "   > “{}” ({}{}, characters {}–{})",
                shortened(&one_line(&quote.text)),
                quote.page().map(|page| format!("page {page}, ")).unwrap_or_default(),
                quote.passage_id,
                quote.start,
                quote.end
            );
            seen.push(place);
        }
    }
    text.push('\n');
    text
}

/// `Authors (year). Title. Venue. Link`.
pub(crate) fn describe(reference: &Reference) -> String {
    let authors = match reference.authors.as_slice() {
        [] => "Unknown authors".to_owned(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        [one, ..] => format!("{one} et al."),
    };
    let year = reference.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    let venue = reference.venue.as_ref().map(|venue| format!(" *{venue}*.")).unwrap_or_default();
    let link = reference.url.as_ref().map(|url| format!(" <{url}>")).unwrap_or_default();
    format!(
        "{authors} ({year}). {}.{venue}{link}",
        one_line(&reference.title).trim_end_matches('.')
    )
}

/// How people call a mode.
pub(crate) fn mode_name(mode: AnswerMode) -> &'static str {
    match mode {
        AnswerMode::Generative => "generative mode",
        AnswerMode::Evidence => "evidence-first mode",
        AnswerMode::SinglePass => "single-pass baseline",
        AnswerMode::NoRetrieval => "no-retrieval baseline (nothing is proven)",
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= QUOTE_CHARS {
        return text.to_owned();
    }
    let cut: String = text.chars().take(QUOTE_CHARS).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head).to_owned();
    format!("{cut} […]")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    let head: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    let text = format!("{head}{}", chars.as_str());
    if text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a run are far below 2^52")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
