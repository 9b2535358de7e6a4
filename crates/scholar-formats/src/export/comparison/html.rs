//! One HTML file: each cell says where it stands, and opens the quotation.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use super::{ABSENT, PAPERS, TableExport};
use crate::export::html::CSS;
use crate::fragment::is_web;

/// A table is as wide as the window, and its quotations fold below the values.
const WIDE: &str = "main { max-width: none; }\ntd details { margin: 0; border: 0; padding: 0; }\n";

pub(super) fn write(export: &TableExport<'_>) -> String {
    let title = escape_html(export.title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{CSS}{WIDE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<table>\n\
         <thead><tr><th scope=\"col\">{PAPERS}</th>"
    );
    for column in export.columns {
        // Writing to a string cannot fail.
        let _infallible = write!(html, "<th scope=\"col\">{}</th>", escape_html(column));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in export.rows {
        let label = escape_html(&row.label());
        let label = match row.link.as_deref().filter(|url| is_web(url)) {
            Some(url) => format!("<a href=\"{}\">{label}</a>", escape_html(url)),
            None => label,
        };
        let _infallible = write!(html, "<tr><th scope=\"row\">{label}</th>");
        for cell in &row.cells {
            let _infallible = match cell {
                Some(cell) => write!(
                    html,
                    "<td title=\"{place}\"><details><summary>{}</summary><blockquote>{}</blockquote><p>{place}</p></details></td>",
                    escape_html(&cell.text),
                    escape_html(&cell.quote),
                    place = escape_html(&cell.place),
                ),
                None => write!(html, "<td>{ABSENT}</td>"),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
    if !export.notices.is_empty() {
        html.push_str("<aside aria-labelledby=\"notes\">\n<h2 id=\"notes\">Notes</h2>\n<ul>\n");
        for notice in export.notices {
            let _infallible = writeln!(html, "<li>{}</li>", escape_html(&notice.message));
        }
        html.push_str("</ul>\n</aside>\n");
    }
    let _infallible = write!(
        html,
        "</main>\n<footer>{}</footer>\n</body>\n</html>\n",
        escape_html(export.generated_by)
    );
    html
}
