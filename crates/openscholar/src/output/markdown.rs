//! The answer for people: Markdown with 1-based numbers, quotations and a reference list.

use scholar_core::paper::display_title;
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::untrusted::Markdown;
use scholar_core::{
    Abstention, Answer, AnswerMode, AnswerRole, AnswerSentence, Reference, Verdict,
};
use scholar_formats::export::Lead;
use scholar_pipeline::modes;

use super::document::AnswerDocument;

mod table;

/// Longest quotation shown under a reference, in characters; the JSON has it whole.
const QUOTE_CHARS: usize = 280;

/// What stands behind a sentence that stays doubtful.
const DOUBT_MARK: &str = "†";
/// What the mark means.
const LEGEND: &str = "Not confirmed in full by the passages cited.";

/// Renders `document`; the run's name at the end leads to the rest. The structure is ours alone: what a paper, a model
/// or a server wrote is text, whatever it looks like.
pub(crate) fn render(document: &AnswerDocument) -> String {
    let AnswerDocument { answer, notices, usage, timings_ms, run, .. } = document;
    let mut text = Markdown::new();
    text.markup("# ").text(&single_spaced(&answer.question)).markup("\n\n");
    if let Some(Abstention { heading, message }) = answer.abstention() {
        text.markup("**").markup(heading).markup("** ").markup(message).markup("\n\n");
    }
    body(answer, &mut text);
    if answer.sentences.iter().any(is_marked) {
        text.markup(DOUBT_MARK).markup(" ").markup(LEGEND).markup("\n\n");
    }
    reference_list(answer, Listed::Cited, &mut text);
    if !notices.is_empty() {
        text.markup("## Notes\n\n");
        for notice in notices {
            let hint =
                notice.hint.as_ref().map(|hint| format!(" Hint: {hint}.")).unwrap_or_default();
            let message = format!("{}{hint}", sentence_case(&notice.message));
            text.markup("- ").prose(&message).markup("\n");
        }
        text.markup("\n");
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
    text.markup("---\n").text(&format!(
        "{} · {model}{cost} · {:.1} s · run {run}",
        modes::of(answer.mode).title,
        seconds(timings_ms.total),
    ));
    text.into_string()
}

/// An answer within a thread: its sentences, and with `is_last` the references of all of them.
pub(crate) fn turn(answer: &Answer, is_last: bool, text: &mut Markdown) {
    if let Some(Abstention { heading, .. }) = answer.abstention() {
        text.markup("**").markup(heading).markup("**\n\n");
    }
    body(answer, text);
    if is_last {
        reference_list(answer, Listed::All, text);
    }
}

/// Which references are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// Those that the answer cites; others are of earlier answers of its thread.
    Cited,
    /// All of them.
    All,
}

/// The sentences with their markers, under their headings.
fn body(answer: &Answer, text: &mut Markdown) {
    let mut heading: Option<&str> = None;
    let table_place = answer.table_place();
    for (idx, sentence) in answer.sentences.iter().enumerate() {
        if idx == table_place && answer.table.is_some() {
            text.markup(if idx == 0 { "" } else { "\n\n" });
            table::write(answer, text);
            // What comes next begins a part in any case.
            heading = None;
        }
        let new_heading = sentence.heading.as_deref() != heading;
        if new_heading {
            heading = sentence.heading.as_deref();
            text.markup(if idx == 0 { "" } else { "\n\n" });
            text.markup("## ").text(heading.unwrap_or("More")).markup("\n\n");
        } else if idx > 0 {
            text.markup(if sentence.paragraph_start { "\n\n" } else { " " });
        }
        if sentence.verbatim
            && answer.mode == AnswerMode::Evidence
            && (sentence.paragraph_start || new_heading)
        {
            text.markup("- ");
        }
        let Marked { bare, numbers, marked, closing } = Marked::of(sentence);
        if let Some(Lead { emphasised, rest }) = Lead::of(answer, idx) {
            text.emphasis(&emphasised).text(&rest);
        }
        let quoted = sentence.is_quoted();
        if quoted {
            text.markup("“").text(bare).text(closing).markup("”");
        } else {
            text.text(bare);
        }
        if !numbers.is_empty() {
            text.markup(" ");
        }
        for number in numbers {
            text.markup("[").number(number).markup("]");
        }
        text.text(if quoted { "" } else { closing });
        text.markup(if marked { DOUBT_MARK } else { "" });
    }
    if !answer.sentences.is_empty() {
        text.markup("\n\n");
    }
    if table_place >= answer.sentences.len() && answer.table.is_some() {
        table::write(answer, text);
        text.markup("\n\n");
    }
}

/// A sentence with its citations in front of the closing punctuation, and whether it is doubtful.
struct Marked<'a> {
    /// Without its closing punctuation, if anything stands in front of it.
    bare: &'a str,
    numbers: Vec<usize>,
    /// A sign at its end says that it is doubtful, in place of words in the prose.
    marked: bool,
    closing: &'a str,
}

/// Whether a sentence stays doubtful: its verdict is in the JSON.
fn is_marked(sentence: &AnswerSentence) -> bool {
    let judged = sentence.support.as_ref();
    let failed = judged.is_some_and(|one| one.verdict != Verdict::Supported);
    failed || sentence.role == Some(AnswerRole::Finding) && sentence.citations.is_empty()
}

impl<'a> Marked<'a> {
    fn of(sentence: &'a AnswerSentence) -> Self {
        let text = sentence.text.as_str();
        let numbers: Vec<usize> = sentence.citations.iter().map(|citation| citation.0).collect();
        let bare = if numbers.is_empty() { text } else { text.trim_end_matches(['.', '!', '?']) };
        let marked = is_marked(sentence);
        Self { bare, numbers, marked, closing: &text[bare.len()..] }
    }
}

/// The sentence with its markers as plain text, for a terminal and for comparing; nothing in it is escaped.
pub(crate) fn marked(sentence: &AnswerSentence) -> String {
    let Marked { bare, numbers, marked, closing } = Marked::of(sentence);
    let numbers: String = numbers.iter().map(|number| format!("[{number}]")).collect();
    let blank = if numbers.is_empty() { "" } else { " " };
    let mark = if marked { DOUBT_MARK } else { "" };
    format!("{bare}{blank}{numbers}{closing}{mark}")
}

fn reference_list(answer: &Answer, listed: Listed, text: &mut Markdown) {
    let cited = answer.cited();
    let is_listed =
        |reference: &&Reference| listed == Listed::All || cited.contains(&reference.number);
    let shown: Vec<&Reference> = answer.references.iter().filter(is_listed).collect();
    if shown.is_empty() {
        return;
    }
    text.markup("## References\n\n");
    if shown.len() < answer.references.len() {
        let earlier = answer.references.len() - shown.len();
        text.text(&format!("{earlier} references of earlier answers of this thread keep their numbers and are not repeated."));
        text.markup("\n\n");
    }
    for reference in shown {
        text.number(reference.number.0).markup(". ");
        described(reference, text);
        if !reference.found_by.is_empty() {
            text.markup(" Found by ").text(&reference.found_by.join(", ")).markup(".");
        }
        text.markup("\n");
        let mut seen: Vec<(String, usize)> = Vec::new();
        for quote in answer.quotes().filter(|quote| quote.reference == reference.number) {
            let place = (quote.passage_id.to_string(), quote.start);
            if seen.contains(&place) {
                continue;
            }
            let whole = single_spaced(&quote.text);
            let shown = shortened(&whole);
            text.markup("   > “").text(shown);
            text.markup(if shown.len() < whole.len() { " […]” (" } else { "” (" });
            if let Some(page) = quote.page() {
                text.text(&format!("page {page}, "));
            }
            text.text(&quote.passage_id.to_string());
            text.markup(", characters ").number(quote.start).markup("–").number(quote.end);
            text.markup(")\n");
            seen.push(place);
        }
    }
    text.markup("\n");
}

/// `Authors (year). Title. Venue. Link`, as Markdown.
pub(crate) fn describe(reference: &Reference) -> String {
    let mut text = Markdown::new();
    described(reference, &mut text);
    text.into_string()
}

fn described(reference: &Reference, text: &mut Markdown) {
    let authors = match reference.authors.as_slice() {
        [] => "Unknown authors".to_owned(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        [one, ..] => format!("{one} et al."),
    };
    let year = reference.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    let title = single_spaced(&display_title(&reference.title, &reference.paper_id));
    text.text(&format!("{authors} ({year}). {}.", title.trim_end_matches('.')));
    if let Some(venue) = &reference.venue {
        text.markup(" ").emphasis(venue).markup(".");
    }
    if let Some(url) = &reference.url {
        text.markup(" ").address(url);
    }
}

/// `text` up to a word's end, where it is too long to be shown whole.
fn shortened(text: &str) -> &str {
    let Some((end, _)) = text.char_indices().nth(QUOTE_CHARS) else { return text };
    let cut = &text[..end];
    cut.rsplit_once(' ').map_or(cut, |(head, _)| head)
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
