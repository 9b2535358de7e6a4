//! Feedback on a draft: the items and their search questions.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::markers::{between_markers, remove_markers};
use serde::{Deserialize, Serialize};

use crate::config::FeedbackParser;

/// One improvement, and what to search for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FeedbackItem {
    pub(crate) text: String,
    pub(crate) question: Option<String>,
}

/// The items of a reply, in order.
///
/// [`FeedbackParser::Lenient`]: an item starts at a line that begins with `Feedback:`, after an optional bullet,
/// number or emphasis, and runs to the next one or the end; its question is what follows the first `Question:`.
///
/// [`FeedbackParser::Upstream`] (deviation D8): `Feedback: `, then text up to an optional `Question: ` and more text,
/// all on one line that ends with a line break. What does not fit is lost, the last item without its line break too.
pub(crate) fn parse(reply: &str, parser: FeedbackParser) -> Vec<FeedbackItem> {
    match parser {
        FeedbackParser::Lenient => lenient(&remove_markers(&between_markers(reply).text)),
        FeedbackParser::Upstream => strict(&unmarked(reply)),
    }
}

/// Upstream's marker rule without trimming, which would take the last item's line break.
fn unmarked(reply: &str) -> String {
    use scholar_core::text::markers::{RESPONSE_END, RESPONSE_START};
    let segment = reply.split(RESPONSE_START).find_map(|part| part.split_once(RESPONSE_END));
    segment.map_or(reply, |(text, _)| text).to_owned()
}

static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?mi)^[\s>]*(?:[-•*+]\s+|\(?\d+[.)]\s*)?[*_#]*\s*feedback(?:\s*#?\d+)?[*_]*\s*:[*_]*",
    )
    .expect("a constant pattern")
});
static QUESTION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[*_]*\b[Qq]uestion[*_]*\s*:[*_]*").expect("a constant pattern"));
static STRICT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"Feedback: ([^\n]*?)(?:Question: ([^\n]*?))?\n").expect("a constant pattern")
});

fn lenient(text: &str) -> Vec<FeedbackItem> {
    let starts: Vec<(usize, usize)> = ITEM.find_iter(text).map(|m| (m.start(), m.end())).collect();
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let bodies = starts.iter().zip(ends).map(|((_, from), to)| &text[*from..to]);
    bodies.filter_map(item).collect()
}

fn item(body: &str) -> Option<FeedbackItem> {
    let (feedback, question) = match QUESTION.find(body) {
        None => (body, None),
        Some(found) => (&body[..found.start()], Some(&body[found.end()..])),
    };
    let question = question.map(single_spaced).filter(|q| is_question(q));
    let text = single_spaced(feedback);
    (!text.is_empty() || question.is_some()).then_some(FeedbackItem { text, question })
}

/// A model that has no question writes `None` or `N/A`.
fn is_question(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    !matches!(bare.as_str(), "" | "none" | "n/a" | "na" | "no question" | "not applicable")
}

fn single_spaced(text: &str) -> String {
    scholar_core::text::normalise::single_spaced(text.trim().trim_end_matches(['*', '_']))
}

fn strict(text: &str) -> Vec<FeedbackItem> {
    STRICT
        .captures_iter(text)
        .map(|found| {
            let part = |nth| found.get(nth).map(|m| m.as_str().trim().to_owned());
            let question = part(2).filter(|question| !question.is_empty());
            FeedbackItem { text: part(1).unwrap_or_default(), question }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(reply: &str, parser: FeedbackParser) -> Vec<(String, String)> {
        let pair = |item: FeedbackItem| (item.text, item.question.unwrap_or_default());
        parse(reply, parser).into_iter().map(pair).collect()
    }

    #[test]
    fn the_lenient_parser_keeps_what_upstream_loses() {
        let check = |reply: &str, expected: &[(&str, &str)]| {
            let expected: Vec<(String, String)> =
                expected.iter().map(|(f, q)| ((*f).to_owned(), (*q).to_owned())).collect();
            assert_eq!(items(reply, FeedbackParser::Lenient), expected, "{reply}");
        };
        check("Feedback: A. Question: Q1?\nFeedback: B.", &[("A.", "Q1?"), ("B.", "")]);
        check("Feedback: A.\n\nQuestion: Q1?\n", &[("A.", "Q1?")]);
        check("1. Feedback: A Question: Q?", &[("A", "Q?")]);
        check("Feedback:A\n", &[("A", "")]);
        check("**Feedback:** x\n- **Feedback 2**: y **Question:** z", &[("x", ""), ("y", "z")]);
        check("Feedback: line1\nline2 Question: q\n", &[("line1 line2", "q")]);
        check("Feedback: A Question: Q1? Question: Q2?\n", &[("A", "Q1? Question: Q2?")]);
        check("Feedback: A Question: None.\n(2) feedback: B", &[("A", ""), ("B", "")]);
        check("[Response_Start]\nFeedback: A\n[Response_End] Feedback: no", &[("A", "")]);
        check("I liked the feedback: none.", &[]);
        check("", &[]);
    }

    proptest::proptest! {
        #[test]
        fn any_reply_is_read_without_panic_and_nothing_is_made_up(reply in "(\\PC{0,20}(Feedback: |Question: |\n)?){0,8}") {
            for parser in [FeedbackParser::Lenient, FeedbackParser::Upstream] {
                for (text, question) in items(&reply, parser) {
                    for word in text.split_whitespace().chain(question.split_whitespace()) {
                        proptest::prop_assert!(reply.contains(word), "{}", word);
                    }
                }
            }
        }
    }
}
