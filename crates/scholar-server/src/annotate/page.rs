//! The pages: what every one has, and the short ones. No page names a system, an instance or another annotator.

mod answer;
pub(super) mod comparison;
mod review;

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use super::store::{State, TaskLine};

/// The stylesheet.
pub(super) const STYLE: &str = include_str!("page/style.css");
/// What makes the form save itself. Everything but that works without.
pub(super) const SCRIPT: &str = include_str!("page/annotate.js");
/// The sign in the browser's tab.
pub(super) const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">\
<rect x=\"1\" y=\"2\" width=\"6\" height=\"12\" rx=\"1.5\" fill=\"#2f6f9f\"/>\
<rect x=\"9\" y=\"2\" width=\"6\" height=\"12\" rx=\"1.5\" fill=\"#c26a1b\"/></svg>\n";

/// A whole page. `base` is what the addresses of all pages begin with.
pub(super) fn shell(base: &str, title: &str, script: bool, body: &str) -> String {
    let script = match script {
        true => format!("<script type=\"module\" src=\"{base}/annotate.js\"></script>\n"),
        false => String::new(),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n\
         <title>{}</title>\n<link rel=\"stylesheet\" href=\"{base}/style.css\">\n\
         <link rel=\"icon\" href=\"{base}/icon.svg\" type=\"image/svg+xml\">\n{script}</head>\n<body>\n{body}</body>\n</html>\n",
        escape_html(title)
    )
}

/// A page of a few words.
pub(super) fn message(base: &str, title: &str, words: &str) -> String {
    let body = format!(
        "<main class=\"narrow\">\n<h1>{}</h1>\n<p>{}</p>\n</main>\n",
        escape_html(title),
        escape_html(words)
    );
    shell(base, title, false, &body)
}

/// The annotator's list, and what is left to do.
pub(super) fn overview(base: &str, annotator: &str, token: &str, list: &[TaskLine]) -> String {
    let done = list.iter().filter(|line| line.state.is_done()).count();
    let next = list.iter().find(|line| !line.state.is_done());
    let title =
        if next.is_none() && !list.is_empty() { "All done, thank you" } else { "Your comparisons" };
    let mut body = format!(
        "<main class=\"narrow\">\n<h1>{title}</h1>\n<p>You are here as <strong>{}</strong>. \
         This address is yours alone: please do not pass it on.</p>\n{}",
        escape_html(annotator),
        progress(done, list.len())
    );
    let words = match next {
        Some(line) => format!(
            "<p><a class=\"button\" href=\"{base}/a/{token}/{0}\">{1} with question {0}</a></p>\n",
            line.place,
            if done == 0 { "Begin" } else { "Go on" }
        ),
        None if list.is_empty() => {
            "<p>Nothing has been given to you yet. Please ask whoever sent you this address.</p>\n"
                .to_owned()
        }
        None => {
            "<p>Everything is submitted. You can still open a question and change your judgement; \
                 the last one counts.</p>\n"
                .to_owned()
        }
    };
    body.push_str(&words);
    body.push_str("<ol class=\"tasks\">\n");
    for line in list {
        let (class, state) = state_words(line.state);
        let _infallible = writeln!(
            body,
            "<li value=\"{0}\"><a href=\"{base}/a/{token}/{0}\">{1}</a> <span class=\"state {class}\">{state}</span></li>",
            line.place,
            escape_html(&line.question)
        );
    }
    body.push_str("</ol>\n</main>\n");
    shell(base, title, false, &body)
}

/// How much is done, for eyes and for screen readers.
fn progress(done: usize, of: usize) -> String {
    format!(
        "<p class=\"progress\"><progress id=\"progress\" max=\"{}\" value=\"{done}\" \
         aria-labelledby=\"progress-words\"></progress> <span id=\"progress-words\">{done} of {of} done</span></p>\n",
        of.max(1)
    )
}

/// Class and words of a state.
fn state_words(state: State) -> (&'static str, &'static str) {
    match state {
        State::Open => ("open", "not begun"),
        State::Begun => ("begun", "begun"),
        State::Submitted => ("done", "submitted"),
        State::Skipped => ("done", "passed over"),
    }
}
