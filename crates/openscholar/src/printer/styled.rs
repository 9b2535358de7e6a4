//! Text with looks. Escape sequences are written here, from this list, and nowhere else in the program.

use std::fmt::{self, Write as _};

use scholar_core::text::untrusted;

/// How a piece of text looks on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Titles.
    Strong,
    /// Explanations, and text that may yet change.
    Faint,
    /// Something wrong, in front of an error.
    Error,
    /// What is gone.
    Red,
    /// What is right or new.
    Green,
    /// What deserves attention.
    Yellow,
    /// Identifiers and hints.
    Cyan,
}

impl Style {
    /// The parameters of ECMA-48's SGR.
    fn parameters(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Error => "1;31",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

/// Text in pieces, each with its look or none. `write!` adds plain text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Styled(Vec<(Option<Style>, String)>);

impl Styled {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds `text` in a style.
    pub(crate) fn styled(&mut self, style: Style, text: impl Into<String>) -> &mut Self {
        self.0.push((Some(style), text.into()));
        self
    }

    /// Adds plain text.
    pub(crate) fn plain(&mut self, text: impl Into<String>) -> &mut Self {
        self.0.push((None, text.into()));
        self
    }

    /// As a terminal gets it: whatever the pieces hold, the only escape sequences are those of their styles.
    pub(super) fn rendered(&self, colour: bool) -> String {
        let mut out = String::new();
        for (style, text) in &self.0 {
            let style = style.filter(|_| colour && !text.is_empty());
            // Writing to a string cannot fail.
            if let Some(style) = style {
                let _infallible = write!(out, "\u{1b}[{}m", style.parameters());
            }
            let _infallible = write!(out, "{}", untrusted(text).block());
            if style.is_some() {
                out.push_str("\u{1b}[0m");
            }
        }
        out
    }
}

impl fmt::Write for Styled {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.0.last_mut() {
            Some((None, last)) => last.push_str(text),
            _ => self.0.push((None, text.to_owned())),
        }
        Ok(())
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        Self(vec![(None, text.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_those_of_styles_alone() {
        for hostile in scholar_testing::hostile::STRINGS {
            let mut text = Styled::new();
            text.plain(hostile.text()).styled(Style::Error, hostile.text());
            let _infallible = write!(text, "{}", hostile.text());
            let found = scholar_testing::hostile::obeyed(&text.rendered(false));
            assert!(found.is_empty(), "{}: {found:?}", hostile.name);
            let coloured = text.rendered(true);
            assert_eq!(coloured.matches('\u{1b}').count(), 2, "{}", hostile.name);
            assert!(coloured.contains("\u{1b}[1;31m") && coloured.contains("\u{1b}[0m"));
        }
    }
}
