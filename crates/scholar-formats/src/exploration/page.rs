//! A web page of its own: the drawing, and the tree as nested details with all texts and links to the papers.
//!
//! No script, no font, no address that is loaded: the page says so itself in a content security policy. Links are to
//! addresses of the web only.

mod node;

use std::fmt::Write as _;

use scholar_core::Outline;
use scholar_core::text::untrusted::escape_html;

use super::index::{self, Exploration, Papers};
use super::svg::svg;
use super::words::{self, Spent};

const CSS: &str = include_str!("page/style.css");

/// Nothing but what stands in the page itself.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page as a whole HTML document. `generated_by` names what made it, at its end.
pub fn page(exploration: Exploration<'_>, generated_by: &str) -> String {
    let question = escape_html(exploration.question);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>How the answer was found: {question}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n\
         <header>\n<p class=\"remark\">How the answer was found</p>\n<h1 dir=\"auto\">{question}</h1>\n"
    );
    let nodes = exploration.nodes();
    if exploration.tree.is_some() {
        // Writing to a string cannot fail, here and below.
        let _infallible = writeln!(
            html,
            "<p>Tree of {}; {}.</p>",
            words::summary(nodes),
            Spent::by(nodes).words()
        );
    }
    html.push_str("</header>\n");
    html.push_str(&navigation(exploration));
    html.push_str("<main>\n");
    if let Some(outline) = exploration.outline {
        html.push_str(&plan(outline));
    }
    let _infallible = write!(
        html,
        "<section aria-labelledby=\"drawing\">\n<h2 id=\"drawing\">Drawing</h2>\n<figure>\n\
         <div class=\"drawing\" tabindex=\"0\" role=\"region\" aria-label=\"Drawing of outline, tree and contributions; it may be wider than the window\">\n\
         {}</div>\n<figcaption>All that is drawn here, and what is cut, stands as text below.</figcaption>\n</figure>\n</section>\n",
        svg(exploration)
    );
    if exploration.tree.is_some() {
        html.push_str("<section aria-labelledby=\"tree\">\n<h2 id=\"tree\">Tree</h2>\n");
        html.push_str(&tree(exploration));
        html.push_str("</section>\n");
    }
    html.push_str(&references(exploration));
    let _infallible =
        write!(html, "</main>\n<footer>{}</footer>\n</body>\n</html>\n", escape_html(generated_by));
    html
}

/// Outline and tree as parts of another page, under headings of level 3; references of the answer are elsewhere on it, as
/// `#ref-1`, ….
pub fn fragment(exploration: Exploration<'_>) -> String {
    let mut html = String::new();
    if let Some(outline) = exploration.outline {
        html.push_str("<h3>Outline</h3>\n");
        html.push_str(&planned(outline));
    }
    if exploration.tree.is_some() {
        let nodes = exploration.nodes();
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            html,
            "<h3>Tree of retrievals</h3>\n<p class=\"remark\">{}; {}.</p>",
            words::summary(nodes),
            Spent::by(nodes).words()
        );
        html.push_str(&tree(exploration));
    }
    html
}

fn navigation(exploration: Exploration<'_>) -> String {
    let parts = [
        ("outline", "Outline", exploration.outline.is_some()),
        ("drawing", "Drawing", true),
        ("tree", "Tree", exploration.tree.is_some()),
        ("references", "References", !exploration.references.is_empty()),
    ];
    let links = parts.iter().filter(|(_, _, is_there)| *is_there);
    let links: String =
        links.map(|(id, name, _)| format!("<li><a href=\"#{id}\">{name}</a></li>\n")).collect();
    format!("<nav aria-label=\"Parts of this page\">\n<ul>\n{links}</ul>\n</nav>\n")
}

fn plan(outline: &Outline) -> String {
    format!(
        "<section aria-labelledby=\"outline\">\n<h2 id=\"outline\">Outline</h2>\n{}</section>\n",
        planned(outline)
    )
}

fn planned(outline: &Outline) -> String {
    let mut html = format!("<p class=\"remark\">Planned {}.</p>\n", words::by(outline.by));
    if outline.sections.is_empty() {
        let _infallible = writeln!(html, "<p class=\"prose\">{}</p>", escape_html(&outline.text));
    } else {
        html.push_str("<ol>\n");
        for section in &outline.sections {
            let _infallible = writeln!(
                html,
                "<li><strong dir=\"auto\">{}</strong> ({:.0} %)<br>{}</li>",
                escape_html(&section.heading),
                section.share,
                escape_html(&section.content)
            );
        }
        html.push_str("</ol>\n");
    }
    if let Some(total) = outline.renormalised_from {
        let _infallible = writeln!(
            html,
            "<p class=\"remark\">The shares came to {total:.0} % and were made to come to 100 %.</p>"
        );
    }
    html
}

/// Nodes inside those that they are below.
fn tree(exploration: Exploration<'_>) -> String {
    let papers = Papers::of(exploration);
    let mut html = String::new();
    let mut open = 0;
    for (node, depth) in exploration.nodes().iter().zip(exploration.depths()) {
        while open > depth {
            html.push_str("</details>\n");
            open -= 1;
        }
        html.push_str(&node::begun(node, exploration, &papers));
        open += 1;
    }
    html + &"</details>\n".repeat(open)
}

fn references(exploration: Exploration<'_>) -> String {
    if exploration.references.is_empty() {
        return String::new();
    }
    let mut html =
        "<section aria-labelledby=\"references\">\n<h2 id=\"references\">References of the answer</h2>\n<ul>\n"
            .to_owned();
    for one in exploration.references {
        let year = one.year.map(|year| format!(" ({year})")).unwrap_or_default();
        let name = node::linked(&one.title, index::reference_link(one));
        let _infallible =
            writeln!(html, "<li id=\"ref-{0}\">[{0}] {name}{year}</li>", one.number.0);
    }
    html + "</ul>\n</section>\n"
}

#[cfg(test)]
mod tests;
