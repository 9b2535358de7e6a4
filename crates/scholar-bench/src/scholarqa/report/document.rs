//! A document of headings, paragraphs, lists, tables and figures, as Markdown and as one HTML page.

use std::fmt::Write as _;

use scholar_core::text::untrusted::{escape_html, untrusted};

/// A part of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading below the title.
    Heading(String),
    /// A paragraph without markup.
    Text(String),
    /// A bulleted list, one entry per point.
    List(Vec<String>),
    /// A table with a header row.
    Table(Table),
    /// A drawing, a file of its own in Markdown.
    Figure {
        /// File name without extension.
        name: String,
        /// Caption; in Markdown, the image's alternative text.
        caption: String,
        /// The drawing as SVG source.
        svg: String,
    },
}

/// A table; cells are plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns without rows.
    pub fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row of as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A title and what stands below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Heading of the first level.
    pub title: String,
    /// Everything below the title, in reading order.
    pub blocks: Vec<Block>,
}

impl Document {
    /// Nothing but a title.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), blocks: Vec::new() }
    }

    /// Adds a heading of the second level.
    pub fn heading(&mut self, text: &str) {
        self.blocks.push(Block::Heading(text.to_owned()));
    }

    /// Adds a paragraph without markup.
    pub fn text(&mut self, text: &str) {
        self.blocks.push(Block::Text(text.to_owned()));
    }

    /// Adds a bulleted list.
    pub fn list(&mut self, points: Vec<String>) {
        self.blocks.push(Block::List(points));
    }

    /// Adds a table; one without rows is left out.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// The drawings with their file names.
    pub fn figures(&self) -> impl Iterator<Item = (String, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure { name, svg, .. } => Some((format!("{name}.svg"), svg.as_str())),
            _ => None,
        })
    }

    /// As Markdown; drawings are named as files beside it.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n", self.title);
        for block in &self.blocks {
            text.push('\n');
            let _infallible = match block {
                Block::Heading(heading) => writeln!(text, "## {heading}"),
                Block::Text(paragraph) => writeln!(text, "{paragraph}"),
                Block::List(points) => {
                    points.iter().try_for_each(|point| writeln!(text, "- {point}"))
                }
                Block::Table(table) => write!(text, "{}", markdown_table(table)),
                Block::Figure { name, caption, .. } => writeln!(text, "![{caption}]({name}.svg)"),
            };
        }
        text
    }

    /// As one HTML page with its drawings.
    pub fn html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n", escape_html(&self.title));
        for block in &self.blocks {
            let _infallible = match block {
                Block::Heading(heading) => writeln!(body, "<h2>{}</h2>", escape_html(heading)),
                Block::Text(paragraph) => writeln!(body, "<p>{}</p>", escape_html(paragraph)),
                Block::List(points) => {
                    let points: String = points.iter().fold(String::new(), |text, point| {
                        text + "<li>" + &escape_html(point) + "</li>"
                    });
                    writeln!(body, "<ul>{points}</ul>")
                }
                Block::Table(table) => writeln!(body, "{}", html_table(table)),
                Block::Figure { caption, svg, .. } => writeln!(
                    body,
                    "<figure>{svg}<figcaption>{}</figcaption></figure>",
                    escape_html(caption)
                ),
            };
        }
        page(&self.title, &body)
    }
}

/// A whole page around `body`, readable on a phone and without any other file.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>\nbody{{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}}\ntable{{border-collapse:collapse;display:block;overflow-x:auto;margin:1rem 0}}\nth,td{{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}}\nth{{background:#f2f2f2}}\n.yes{{background:#e3f4e6}}.no{{background:#fbe3e3}}.none{{background:#f2f2f2}}\nblockquote{{margin:.5rem 0;padding:.2rem 1rem;border-left:4px solid #ccc}}\n</style></head>\n<body>\n{body}</body></html>\n",
        escape_html(title)
    )
}

/// A file name made of `text`.
pub fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// Text of a run or an item, which must not bring lines of its own.
fn line(text: &str) -> String {
    untrusted(text).line().to_string()
}

fn markdown_table(table: &Table) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| line(cell).replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(table.head.len()));
    let rows: String = table.rows.iter().map(|cells| row(cells)).collect();
    row(&table.head) + &rule + &rows
}

fn html_table(table: &Table) -> String {
    let cells = |cells: &[String], tag: &str| {
        cells.iter().fold(String::new(), |text, cell| {
            text + "<" + tag + ">" + &escape_html(cell) + "</" + tag + ">"
        })
    };
    let rows = table
        .rows
        .iter()
        .fold(String::new(), |text, row| text + "<tr>" + &cells(row, "td") + "</tr>\n");
    format!("<table><tr>{}</tr>\n{rows}</table>", cells(&table.head, "th"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_renders_both_ways() {
        let mut document = Document::new("Title <1>");
        document.heading("Part");
        document.text("a & b");
        document.list(vec!["one".to_owned()]);
        let mut table = Table::new(&["x", "y"]);
        document.table(table.clone());
        table.row(vec!["a|b".to_owned(), "<script>".to_owned()]);
        document.table(table);
        document.blocks.push(Block::Figure {
            name: "plot".to_owned(),
            caption: "c".to_owned(),
            svg: "<svg></svg>".to_owned(),
        });
        assert_eq!(
            document.markdown(),
            "# Title <1>\n\n## Part\n\na & b\n\n- one\n\n| x | y |\n|---|---|\n| a\\|b | <script> |\n\n![c](plot.svg)\n"
        );
        let html = document.html();
        assert!(html.contains("<td>&lt;script&gt;</td>") && html.contains("<svg></svg>"));
        assert!(!html.contains("<script>"));
        assert_eq!(document.figures().next(), Some(("plot.svg".to_owned(), "<svg></svg>")));
        assert_eq!(slug("multi: no rerank/top 5"), "multi-no-rerank-top-5");
    }
}
