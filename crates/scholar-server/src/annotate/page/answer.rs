//! An answer or a report: its text and what it cites.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use crate::annotate::Render;
use crate::annotate::model::Answer;

/// Characters of a passage shown before it is opened. Source: the original's page.
const TEASER: usize = 100;

/// An answer's text, its citation numbers leading to its references.
pub(super) fn answer_text(side: &str, answer: &Answer, render: &Render) -> String {
    render(&answer.text, &|number| {
        answer
            .references
            .iter()
            .any(|reference| reference.number == number)
            .then(|| format!("#{side}-{number}"))
    })
}

/// What an answer cites, each passage folded.
pub(super) fn references(side: &str, answer: &Answer) -> String {
    if answer.references.is_empty() {
        return "<div class=\"references\"><h3>References</h3>\n<p class=\"soft\">None.</p></div>\n".to_owned();
    }
    let mut html = "<div class=\"references\"><h3>References</h3>\n<ul>\n".to_owned();
    for reference in &answer.references {
        let number = reference.number;
        let title = if reference.title.is_empty() { "Untitled" } else { &reference.title };
        let teaser: String = reference.text.chars().take(TEASER).collect();
        let more = if reference.text.chars().count() > TEASER { "…" } else { "" };
        let link = reference.url.as_deref().filter(|url| is_web(url)).map(|url| {
            format!(
                "<p><a href=\"{}\" target=\"_blank\" rel=\"noreferrer noopener\">Open the paper<span class=\"hidden\"> of reference {number} in a new tab</span></a></p>",
                escape_html(url)
            )
        });
        let text =
            if reference.text.is_empty() { "No text of it is stored." } else { &reference.text };
        let _infallible = writeln!(
            html,
            "<li><details><summary><span class=\"number\">[{number}]</span> <span class=\"title\">{}</span> \
             <span class=\"teaser\">{}{more}</span></summary>\n<div id=\"{side}-{number}\" class=\"passage\" tabindex=\"-1\"><p>{}</p>{}</div>\n</details></li>",
            escape_html(title),
            escape_html(&teaser),
            escape_html(text),
            link.unwrap_or_default()
        );
    }
    html.push_str("</ul></div>\n");
    html
}

/// Whether an address is one of the web, and not `javascript:`.
fn is_web(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    lower.starts_with("https://") || lower.starts_with("http://")
}
