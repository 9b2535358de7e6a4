//! The page of one task: the question, the answers or the report with their references, and the form.
//!
//! Everything is named by where it is shown, `a` or `b`; both sides are made by the same code in one reply.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use super::answer::{answer_text, references};
use super::{progress, review, shell};
use crate::annotate::Render;
use crate::annotate::form::{Better, Form, LONGEST_TEXT, score_field, side};
use crate::annotate::model::{Answer, Aspect, Kind, Quality};
use crate::annotate::rubrics::{Rubric, rubrics};
use crate::annotate::store::{State, Task};

/// What is shown around the task.
pub(in crate::annotate) struct Frame<'a> {
    /// What the addresses of all pages begin with.
    pub(in crate::annotate) base: &'a str,
    /// The secret part of the address.
    pub(in crate::annotate) token: &'a str,
    /// Place in the annotator's list.
    pub(in crate::annotate) place: u32,
    /// Length of the list.
    pub(in crate::annotate) of: usize,
    /// How many of it are done.
    pub(in crate::annotate) done: usize,
    /// Name of this page, drawn for it.
    pub(in crate::annotate) page: &'a str,
    /// What went wrong, if something did.
    pub(in crate::annotate) problem: Option<&'a str>,
    /// Whether fields that have to be filled are pointed out.
    pub(in crate::annotate) complain: bool,
}

/// The page.
pub(in crate::annotate) fn page(task: &Task, frame: &Frame<'_>, render: &Render) -> String {
    let Frame { base, token, place, of, .. } = *frame;
    let own = format!("{base}/a/{token}");
    let mut body = format!(
        "<a class=\"skip\" href=\"#rate-a\">Skip to the ratings</a>\n<header>\n<nav aria-label=\"Questions\">{}\
         <a href=\"{own}\">All questions</a>{}</nav>\n{}</header>\n<main>\n\
         <p class=\"eyebrow\">Question {place} of {of}</p>\n<h1>{}</h1>\n",
        neighbour(&own, (place > 1).then(|| place - 1), "Previous"),
        neighbour(&own, (usize::try_from(place).is_ok_and(|n| n < of)).then(|| place + 1), "Next"),
        progress(frame.done, of),
        escape_html(&task.instance.question)
    );
    body.push_str(&problems(task, frame));
    if task.instance.kind == Kind::Review {
        body.push_str(&review::plan(&task.instance.plan, render));
    }
    let _infallible = write!(
        body,
        "<form id=\"form\" method=\"post\" action=\"{own}/{place}\" autocomplete=\"off\" data-draft=\"{own}/{place}/draft\">\n\
         <input type=\"hidden\" name=\"page\" value=\"{}\">\n<input type=\"hidden\" name=\"seq\" value=\"0\">\n\
         <input type=\"hidden\" name=\"base\" value=\"{}\">\n",
        escape_html(frame.page),
        task.revision
    );
    let shown = task.instance.shown(task.flipped);
    match task.instance.kind {
        Kind::Comparison => {
            body.push_str("<div class=\"pair\">\n");
            for (at, answer) in shown.into_iter().enumerate() {
                body.push_str(&answer_card(at, answer, &task.form, render));
            }
            body.push_str("</div>\n");
            body.push_str(&preference(&task.form));
        }
        Kind::Review => {
            for report in shown {
                body.push_str(&review::report(report, &task.form.review, render));
            }
            body.push_str(&text_area(
                "explanation",
                "What helped, what did not? (optional)",
                &task.form.explanation,
            ));
        }
    }
    body.push_str(&about_the_question(&task.form));
    let submitted = match task.state {
        State::Submitted | State::Skipped => "Submit again",
        State::Open | State::Begun => "Submit",
    };
    let _infallible = write!(
        body,
        "<div class=\"end\">\n<button class=\"button\" type=\"submit\" name=\"action\" value=\"submit\">{submitted}</button>\n\
         <button class=\"plain\" type=\"submit\" name=\"action\" value=\"save\" formnovalidate>Save for later</button>\n\
         <p id=\"status\" role=\"status\" aria-live=\"polite\"></p>\n</div>\n</form>\n{KEYS}</main>\n"
    );
    shell(base, &format!("Question {place} of {of}"), true, &body)
}

const KEYS: &str = "<details class=\"keys\"><summary>Keyboard</summary>\n<dl>\n\
<dt><kbd>Tab</kbd></dt><dd>to the next scale, link or button; <kbd>Shift</kbd> <kbd>Tab</kbd> back</dd>\n\
<dt><kbd>1</kbd>–<kbd>5</kbd></dt><dd>choose on the scale you are at; the arrow keys move along it</dd>\n\
<dt><kbd>Enter</kbd></dt><dd>opens a rubric, a reference, a link</dd>\n\
<dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt><dd>submits</dd>\n</dl>\n</details>\n";

fn neighbour(own: &str, place: Option<u32>, word: &str) -> String {
    match place {
        Some(place) => format!("<a href=\"{own}/{place}\">{word}</a>"),
        None => format!("<span class=\"off\">{word}</span>"),
    }
}

fn problems(task: &Task, frame: &Frame<'_>) -> String {
    let mut html = String::new();
    if let Some(problem) = frame.problem {
        let _infallible =
            writeln!(html, "<p class=\"problem\" role=\"alert\">{}</p>", escape_html(problem));
    }
    let missing = if frame.complain { task.form.missing(task.instance.kind) } else { Vec::new() };
    if !missing.is_empty() {
        html.push_str(
            "<div class=\"problem\" role=\"alert\"><p>Not submitted yet. What you entered is saved; still missing:</p>\n<ul>\n",
        );
        for one in missing {
            let _infallible = writeln!(
                html,
                "<li><a href=\"#{}\">{}</a></li>",
                one.field,
                escape_html(&one.label)
            );
        }
        html.push_str("</ul></div>\n");
    }
    let done = match task.state {
        State::Submitted => {
            "You have submitted this question. You may change it; the last submission counts."
        }
        State::Skipped => "You have passed this question over. You may still rate it.",
        State::Open | State::Begun => return html,
    };
    let _infallible = writeln!(html, "<p class=\"note\">{done}</p>");
    html
}

fn answer_card(shown: usize, answer: &Answer, form: &Form, render: &Render) -> String {
    let s = side(shown);
    let name = s.to_uppercase();
    let text = answer_text(s, answer, render);
    let mut html = format!(
        "<section class=\"card {s}\" aria-labelledby=\"answer-{s}\">\n<h2 id=\"answer-{s}\">Answer {name}</h2>\n\
         <div class=\"answer\">\n{text}</div>\n{}\
         <div class=\"ratings\" id=\"rate-{s}\" tabindex=\"-1\">\n<h3>Rate answer {name}</h3>\n",
        references(s, answer)
    );
    for (at, (aspect, rubric)) in Aspect::ALL.into_iter().zip(rubrics()).enumerate() {
        html.push_str(&scale(shown, aspect, rubric, form.scores[shown][at]));
    }
    html.push_str("</div>\n</section>\n");
    html
}

fn scale(shown: usize, aspect: Aspect, rubric: &Rubric, chosen: Option<u8>) -> String {
    let field = score_field(shown, aspect);
    let mut html = format!(
        "<fieldset class=\"scale\" id=\"{field}\" tabindex=\"-1\"><legend>{}<span class=\"hidden\"> of answer {}</span></legend>\n<div class=\"steps\">",
        escape_html(&rubric.title),
        side(shown).to_uppercase()
    );
    let mut levels = String::new();
    for (score, level) in (1..=5_u8).zip(&rubric.levels) {
        let checked = if chosen == Some(score) { " checked" } else { "" };
        let name = escape_html(&level.name);
        let _infallible = write!(
            html,
            "<label title=\"{name}\"><input type=\"radio\" name=\"{field}\" value=\"{score}\" required{checked}>\
             <span>{score}<span class=\"hidden\">: {name}</span></span></label>"
        );
        let _infallible =
            writeln!(levels, "<li><strong>{name}.</strong> {}</li>", escape_html(&level.text));
    }
    let (low, high) = (&rubric.levels[0].name, &rubric.levels[4].name);
    let _infallible = write!(
        html,
        "</div>\n<p class=\"ends\" aria-hidden=\"true\"><span>{}</span><span>{}</span></p>\n\
         <details class=\"rubric\"><summary>What the scores mean</summary>\n<p>{}</p>\n<ol>\n{levels}</ol>\n</details>\n</fieldset>\n",
        escape_html(low),
        escape_html(high),
        escape_html(&rubric.criterion)
    );
    html
}

fn preference(form: &Form) -> String {
    let mut html = "<fieldset class=\"card better\" id=\"better\" tabindex=\"-1\"><legend>Which answer is better, all in all?</legend>\n<div class=\"steps\">"
        .to_owned();
    for better in Better::ALL {
        let words = match better {
            Better::A => "A is better",
            Better::Tie => "About equal",
            Better::B => "B is better",
        };
        let checked = if form.better == Some(better) { " checked" } else { "" };
        let _infallible = write!(
            html,
            "<label><input type=\"radio\" name=\"better\" value=\"{}\" required{checked}><span>{words}</span></label>",
            better.name()
        );
    }
    let _infallible = write!(
        html,
        "</div>\n{}</fieldset>\n",
        text_area("explanation", "Why? (optional)", &form.explanation)
    );
    html
}

fn about_the_question(form: &Form) -> String {
    let open = if form.quality.is_some() || !form.comment.is_empty() { " open" } else { "" };
    let mut html = format!(
        "<details class=\"card\"{open}><summary>About the question itself (optional)</summary>\n\
         <fieldset id=\"quality\" tabindex=\"-1\"><legend>The question is</legend>\n<div class=\"choices\">"
    );
    for (quality, words) in [
        (Quality::Good, "fit for this comparison"),
        (Quality::Bad, "unclear, wrong or broken"),
        (Quality::Hard, "beyond what I can judge"),
    ] {
        let checked = if form.quality == Some(quality) { " checked" } else { "" };
        let _infallible = write!(
            html,
            "<label><input type=\"radio\" name=\"quality\" value=\"{}\"{checked}> {words}</label>",
            quality.name()
        );
    }
    let _infallible = write!(
        html,
        "</div></fieldset>\n{}<p class=\"soft\">If you cannot rate this question, say why above and pass it over.</p>\n\
         <button class=\"plain\" type=\"submit\" name=\"action\" value=\"skip\" formnovalidate>Pass this question over</button>\n</details>\n",
        text_area("comment", "Remarks", &form.comment)
    );
    html
}

fn text_area(name: &str, label: &str, value: &str) -> String {
    // A line break after the tag is not part of the value.
    format!(
        "<label class=\"text\" for=\"{name}-text\">{label}</label>\n<textarea id=\"{name}-text\" name=\"{name}\" rows=\"3\" maxlength=\"{LONGEST_TEXT}\">\n{}</textarea>\n",
        escape_html(value)
    )
}
