//! Markdown of strangers as a piece of a web page that can do nothing but be read.
//!
//! Only elements and attributes written here come out. Raw HTML is never passed on: the tags of known elements are
//! dropped with their attributes, their words stay as text, and what only looks like a tag (`a<b`) stays as it was
//! written. Links lead to the web and nowhere else; images are their descriptions. Citation markers become links to the
//! references of the page.

mod tags;

use std::fmt::Write as _;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use scholar_core::text::markers::citation_groups;
use scholar_core::text::untrusted::escape_html;

/// Deepest nesting that is shown; what lies deeper is shown at this depth. Ours: browsers stop near 500, readers at 5.
const DEEPEST: usize = 32;

/// The Markdown as HTML. Headings begin at the third level, as the page has its own above. `link` gives the address of
/// a citation number within the page; numbers without one stay text.
pub fn html(markdown: &str, link: &dyn Fn(usize) -> Option<String>) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH;
    let mut writer = Writer::new(link);
    // A NUL is no text in HTML.
    for event in Parser::new_ext(&markdown.replace('\0', "\u{fffd}"), options) {
        writer.event(event);
    }
    writer.flush();
    writer.out
}

/// Whether an address is one of the web, and not `javascript:`.
pub fn is_web(url: &str) -> bool {
    let lower = url.trim_start().get(..8).unwrap_or(url.trim_start()).to_ascii_lowercase();
    lower.starts_with("https://") || lower.starts_with("http://")
}

struct Writer<'a> {
    out: String,
    /// Text since the last event that is none: the parser cuts `[1]` into three.
    text: String,
    /// The block of raw HTML that is being read.
    block: String,
    /// What closes the elements that are open; empty where an element was left out.
    open: Vec<&'static str>,
    link: &'a dyn Fn(usize) -> Option<String>,
    /// Inside a link no other may stand.
    in_link: usize,
    in_code: bool,
    in_head: bool,
    columns: Vec<Alignment>,
    column: usize,
    /// The heading that was read last, after those that it stands under.
    headings: Vec<HeadingLevel>,
}

impl<'a> Writer<'a> {
    fn new(link: &'a dyn Fn(usize) -> Option<String>) -> Self {
        Self {
            out: String::new(),
            text: String::new(),
            block: String::new(),
            open: Vec::new(),
            link,
            in_link: 0,
            in_code: false,
            in_head: false,
            columns: Vec::new(),
            column: 0,
            headings: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) => self.text.push_str(&text),
            Event::SoftBreak => self.text.push('\n'),
            Event::InlineHtml(tag) => tags::words(&tag, &mut self.text),
            // Comes line by line, and a comment may be longer.
            Event::Html(lines) => self.block.push_str(&lines),
            // Formulas are shown as they were written.
            Event::InlineMath(formula) => self.text.extend(["$", &formula, "$"]),
            Event::DisplayMath(formula) => self.text.extend(["$$", &formula, "$$"]),
            Event::HardBreak => self.raw("<br>\n"),
            Event::Rule => self.raw("<hr>\n"),
            Event::Code(code) => {
                self.flush();
                let _infallible = write!(self.out, "<code>{}</code>", escape_html(&code));
            }
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn raw(&mut self, html: &str) {
        self.flush();
        self.out.push_str(html);
    }

    fn start(&mut self, tag: &Tag<'_>) {
        self.flush();
        match tag {
            Tag::Paragraph => self.open("<p>", "</p>\n"),
            Tag::HtmlBlock => self.open("<p>", "</p>\n"),
            Tag::Heading { level, .. } => match self.depth(*level) {
                1 => self.open("<h3>", "</h3>\n"),
                2 => self.open("<h4>", "</h4>\n"),
                3 => self.open("<h5>", "</h5>\n"),
                _ => self.open("<h6>", "</h6>\n"),
            },
            Tag::BlockQuote(_) => self.open("<blockquote>", "</blockquote>\n"),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.in_code = true;
                self.open("<pre><code>", "</code></pre>\n");
            }
            Tag::List(Some(first)) => self.open(&format!("<ol start=\"{first}\">"), "</ol>\n"),
            Tag::List(None) => self.open("<ul>", "</ul>\n"),
            Tag::Item => self.open("<li>", "</li>\n"),
            Tag::Table(columns) => {
                self.columns.clone_from(columns);
                self.open("<div class=\"table\"><table>", "</tbody></table></div>\n");
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                self.open("<thead><tr>", "</tr></thead><tbody>\n");
            }
            Tag::TableRow => {
                self.column = 0;
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<del>", "</del>"),
            Tag::Link { dest_url, .. } if is_web(dest_url) && self.in_link == 0 => {
                self.in_link += 1;
                let url = escape_html(dest_url);
                let link =
                    format!("<a href=\"{url}\" target=\"_blank\" rel=\"noreferrer noopener\">");
                self.open(&link, "</a>");
            }
            _ => self.open.push(""),
        }
    }

    /// How many headings a heading of `level` stands under, itself included: who leaves levels out, as models do, makes no page that
    /// leaves them out.
    fn depth(&mut self, level: HeadingLevel) -> usize {
        self.headings.retain(|above| *above < level);
        self.headings.push(level);
        self.headings.len()
    }

    fn cell(&mut self) {
        let aligned = match self.columns.get(self.column) {
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::Center) => " class=\"centre\"",
            _ => "",
        };
        self.column += 1;
        if self.in_head {
            self.open(&format!("<th scope=\"col\"{aligned}>"), "</th>");
        } else {
            self.open(&format!("<td{aligned}>"), "</td>");
        }
    }

    fn open(&mut self, html: &str, close: &'static str) {
        if self.open.len() < DEEPEST {
            self.out.push_str(html);
            self.open.push(close);
        } else {
            self.open.push("");
        }
    }

    fn end(&mut self, tag: TagEnd) {
        tags::words(&std::mem::take(&mut self.block), &mut self.text);
        self.flush();
        let close = self.open.pop().unwrap_or_default();
        self.out.push_str(close);
        match tag {
            TagEnd::CodeBlock => self.in_code = false,
            TagEnd::TableHead => self.in_head = false,
            TagEnd::Link if close == "</a>" => self.in_link -= 1,
            _ => {}
        }
    }

    /// Writes the text gathered so far, its citation markers as links.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return;
        }
        if self.in_code || self.in_link > 0 {
            self.out.push_str(&escape_html(&text));
            return;
        }
        let mut from = 0;
        for group in citation_groups(&text) {
            // A group in a group: `[[1]]`.
            if group.range.start < from {
                continue;
            }
            let links: Option<Vec<String>> = group
                .numbers
                .iter()
                .map(|number| {
                    let address = escape_html(&(self.link)(*number)?);
                    Some(format!(
                        "<a class=\"cite\" href=\"{address}\" aria-label=\"Reference {number}\">{number}</a>"
                    ))
                })
                .collect();
            let Some(links) = links else { continue };
            self.out.push_str(&escape_html(&text[from..group.range.start]));
            let _infallible =
                write!(self.out, "<span class=\"cites\">[{}]</span>", links.join(", "));
            from = group.range.end;
        }
        self.out.push_str(&escape_html(&text[from..]));
    }
}

#[cfg(test)]
mod tests;
