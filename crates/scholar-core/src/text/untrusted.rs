//! Text of strangers, shown and not obeyed.
//!
//! What came from a paper, a model, a server or a file name may hold characters that a terminal, a word processor or a
//! browser obeys: escape sequences, overrides of the writing direction, tags nobody sees. [`Untrusted`] is such a text;
//! it can be read only through one of its forms, each of which is safe where it is meant for:
//!
//! * [`line`](Untrusted::line), one line of a terminal, a log or a file of lines;
//! * [`block`](Untrusted::block), several lines of a terminal;
//! * [`markdown`](Untrusted::markdown), words within a line of Markdown ([`Markdown`] writes whole documents);
//! * [`html`](Untrusted::html), text of an element or an attribute, of XML too.
//!
//! In every form a character that must not be obeyed is shown as `U+FFFD REPLACEMENT CHARACTER`: it is one column wide,
//! it means nothing in any format, and it is Unicode's own sign for what cannot be shown. A visible escape
//! (`\u{1b}`) would itself need escaping in Markdown and LaTeX, and control pictures exist for C0 only. Which character
//! it was is told by the program's JSON, where [`json()`] escapes it without loss.
//!
//! Stored text is never changed, because quotations have offsets: only what is shown is. Letters of all scripts,
//! combining marks, joiners and emoji stay as they are, up to [`LONGEST_RUN`] marks on one letter.
//!
//! Sources: Unicode UAX #9 (bidirectional controls), UAX #14 (line breaks), UAX #15 section 13 (Stream-Safe Text), UTR #36
//! and UTS #55 (source code handling), ECMA-48 (control functions), `CommonMark` 0.31 and GFM 0.29 (Markdown).

mod characters;
mod json;
mod markdown;

use std::fmt::{self, Write as _};

use characters::Runs;

pub use characters::{LONGEST_RUN, REPLACEMENT, is_obeyed};
pub use json::json;
pub use markdown::Markdown;

/// Text that came from a paper, a model, a server or a file name.
///
/// It has no `Display` of its own: a form must be chosen. The forms are lazy and ignore width and padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Untrusted<'a>(&'a str);

/// Marks `text` as [`Untrusted`], to be shown in one of its forms.
pub fn untrusted(text: &str) -> Untrusted<'_> {
    Untrusted(text)
}

impl<'a> Untrusted<'a> {
    /// One line: tabs and line breaks of every kind are one space each, or none behind a space.
    pub fn line(self) -> Line<'a> {
        Line(self.0)
    }

    /// Several lines: tabs, LF and CR LF stay, other line breaks (CR, VT, FF, NEL, U+2028, U+2029) become LF.
    pub fn block(self) -> Block<'a> {
        Block(self.0)
    }

    /// Words within a line of Markdown, which may stand at its beginning.
    ///
    /// What they say is what a renderer shows, and nothing else of it. For more than one piece of a line use [`Markdown`], which knows where the line begins.
    pub fn markdown(self) -> String {
        let mut markdown = Markdown::new();
        markdown.text(self.0);
        markdown.into_string()
    }

    /// Text of an element or a quoted attribute in HTML and XML; lines as in [`block`](Self::block).
    pub fn html(self) -> Html<'a> {
        Html(self.0)
    }
}

/// See [`Untrusted::line`].
#[derive(Debug, Clone, Copy)]
pub struct Line<'a>(&'a str);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs = Runs::default();
        let mut after_space = true;
        for c in self.0.chars() {
            if c == '\t' || characters::breaks_line(c) {
                if !after_space {
                    f.write_char(' ')?;
                }
                runs = Runs::default();
                after_space = true;
            } else if let Some(shown) = runs.shown(c) {
                f.write_char(shown)?;
                after_space = shown == ' ';
            }
        }
        Ok(())
    }
}

/// See [`Untrusted::block`].
#[derive(Debug, Clone, Copy)]
pub struct Block<'a>(&'a str);

impl fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(self.0, |c| f.write_char(c))
    }
}

/// See [`Untrusted::html`].
#[derive(Debug, Clone, Copy)]
pub struct Html<'a>(&'a str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(self.0, |c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            // Parsers of HTML and XML make LF of it; a lone one is none any more here.
            '\r' => Ok(()),
            _ => f.write_char(c),
        })
    }
}

/// [`Untrusted::html`] of `text`: the one escaper of every page, document and reply in HTML or XML.
pub fn escape_html(text: &str) -> String {
    untrusted(text).html().to_string()
}

/// Hands over what is shown of `text` in several lines.
fn lines(text: &str, mut show: impl FnMut(char) -> fmt::Result) -> fmt::Result {
    let mut runs = Runs::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let kept = matches!(c, '\n' | '\t') || (c == '\r' && chars.peek() == Some(&'\n'));
        if kept || characters::breaks_line(c) {
            runs = Runs::default();
            show(if kept { c } else { '\n' })?;
        } else if let Some(shown) = runs.shown(c) {
            show(shown)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
