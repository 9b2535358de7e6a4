//! What a page shows of a review report: the plan it is about, the report, and the items of the user study.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use super::answer::{answer_text, references};
use crate::annotate::Render;
use crate::annotate::form::side;
use crate::annotate::model::Answer;
use crate::annotate::review::{Field, GUESS, Guess, ReviewForm, Scale, fields};

/// The research plan, folded: whoever it belongs to knows it.
pub(super) fn plan(text: &str, render: &Render) -> String {
    let text = render(text, &|_| None);
    format!(
        "<details class=\"card\"><summary>The research plan</summary>\n<div class=\"answer\">\n{text}</div>\n</details>\n"
    )
}

/// The report and what is asked about it.
pub(super) fn report(report: &Answer, form: &ReviewForm, render: &Render) -> String {
    let s = side(0);
    let mut html = format!(
        "<section class=\"card {s}\" aria-labelledby=\"answer-{s}\">\n<h2 id=\"answer-{s}\">The review</h2>\n\
         <div class=\"answer\">\n{}</div>\n{}<div class=\"ratings\" id=\"rate-{s}\" tabindex=\"-1\">\n",
        answer_text(s, report, render),
        references(s, report)
    );
    let mut part = "";
    for field in fields() {
        if field.part != part {
            part = field.part;
            // Writing to a string cannot fail.
            let _infallible = writeln!(html, "<h3>Its part on {part}</h3>");
        }
        html.push_str(&match field.scale {
            Scale::Rating => rating(field, form),
            Scale::Count => count(field, form),
        });
    }
    html.push_str(&guess(form));
    html.push_str("</div>\n</section>\n");
    html
}

fn rating(field: &Field, form: &ReviewForm) -> String {
    let name = &field.name;
    let mut html = format!(
        "<fieldset class=\"scale\" id=\"{name}\" tabindex=\"-1\"><legend>{}</legend>\n<div class=\"steps\">",
        escape_html(&field.question)
    );
    let (low, high) = field.scale.range();
    for value in low..=high {
        let checked = if form.values.get(name) == Some(&value) { " checked" } else { "" };
        let _infallible = write!(
            html,
            "<label><input type=\"radio\" name=\"{name}\" value=\"{value}\" required{checked}><span>{value}</span></label>"
        );
    }
    html.push_str(
        "</div>\n<p class=\"ends\" aria-hidden=\"true\"><span>not at all</span><span>wholly</span></p>\n</fieldset>\n",
    );
    html
}

fn count(field: &Field, form: &ReviewForm) -> String {
    let name = &field.name;
    let (low, high) = field.scale.range();
    let value = form.values.get(name).map(ToString::to_string).unwrap_or_default();
    format!(
        "<fieldset class=\"scale\" id=\"{name}\" tabindex=\"-1\"><legend>{0}</legend>\n\
         <input type=\"number\" inputmode=\"numeric\" name=\"{name}\" min=\"{low}\" max=\"{high}\" value=\"{value}\" \
         aria-label=\"{0}\" required>\n</fieldset>\n",
        escape_html(&field.question)
    )
}

fn guess(form: &ReviewForm) -> String {
    let mut html = format!(
        "<fieldset class=\"scale\" id=\"{GUESS}\" tabindex=\"-1\"><legend>What do you think wrote it?</legend>\n<div class=\"choices\">"
    );
    for one in Guess::ALL {
        let words = match one {
            Guess::Specialised => "a program made for reviewing research plans",
            Guess::General => "a program made for research of any kind",
            Guess::Unsure => "I cannot tell",
        };
        let checked = if form.guess == Some(one) { " checked" } else { "" };
        let _infallible = write!(
            html,
            "<label><input type=\"radio\" name=\"{GUESS}\" value=\"{}\" required{checked}> {words}</label>",
            one.name()
        );
    }
    html.push_str("</div></fieldset>\n");
    html
}
