//! Markdown whose structure is ours alone.
//!
//! Escaping is minimal, because people read the source too: `p < 0.05`, `snake_case`, `C*-algebra`, `[sic]` and `R&D`
//! stay as they are. A character is escaped where `CommonMark` or GFM could take it for a mark, whatever follows in
//! the document. Addresses (`https://…`) stay: that GFM makes links of them deceives nobody, they lead where they say.

use std::fmt;

use super::characters::is_obeyed;
use super::untrusted;

/// A document in the making. Markup comes from this program's source and nowhere else, which the type of
/// [`markup`](Self::markup) sees to; everything else goes through [`text`](Self::text).
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Markdown(String);

impl fmt::Display for Markdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Markdown {
    /// An empty document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Markup of ours, as it is.
    pub fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A number of ours: of a list, a citation, a count.
    pub fn number(&mut self, number: usize) -> &mut Self {
        self.0.push_str(&number.to_string());
        self
    }

    /// Words of anybody, on one line; a renderer shows exactly them.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let line = untrusted(text).line().to_string();
        let begins = self.begins_block();
        let line = if begins { line.trim_start() } else { &line };
        escape(line, Context { begins, emphasised: false }, &mut self.0);
        self
    }

    /// A message of this program, which may quote names of anybody and sets what is to be typed between backticks.
    ///
    /// Where those are paired they make code, which can be nothing but code; everything else is [`text`](Self::text).
    pub fn prose(&mut self, message: &str) -> &mut Self {
        let line = untrusted(message).line().to_string();
        let parts: Vec<&str> = line.split('`').collect();
        if parts.len().is_multiple_of(2)
            || parts.iter().skip(1).step_by(2).any(|code| code.is_empty())
        {
            return self.text(&line);
        }
        for (at, part) in parts.into_iter().enumerate() {
            if at % 2 == 0 {
                self.text(part);
            } else {
                self.0.extend(["`", part, "`"]);
            }
        }
        self
    }

    /// [`text`](Self::text), emphasised.
    pub fn emphasis(&mut self, text: &str) -> &mut Self {
        let line = untrusted(text).line().to_string();
        let line = line.trim();
        if line.is_empty() {
            return self;
        }
        self.0.push('*');
        escape(line, Context { begins: false, emphasised: true }, &mut self.0);
        self.0.push('*');
        self
    }

    /// An address of the web as a link that shows it; any other as text, which leads nowhere.
    pub fn address(&mut self, url: &str) -> &mut Self {
        let url = url.trim();
        let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
        let web = lower.starts_with("https://") || lower.starts_with("http://");
        let whole = |c: char| !(c.is_whitespace() || is_obeyed(c) || matches!(c, '<' | '>'));
        if web && url.chars().all(whole) && untrusted(url).line().to_string() == url {
            self.0.push('<');
            self.0.push_str(url);
            self.0.push('>');
            self
        } else {
            self.text(url)
        }
    }

    /// Another document behind this one.
    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The Markdown written so far.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Whether what comes next stands at the beginning of a block: behind nothing but the marks of lists and quotations.
    fn begins_block(&self) -> bool {
        let line = self.0.rsplit('\n').next().unwrap_or_default();
        line.split_whitespace().all(|word| {
            let number = word.trim_end_matches(['.', ')']);
            matches!(word, "-" | "*" | "+" | ">")
                || (number.len() < word.len() && number.bytes().all(|b| b.is_ascii_digit()))
        })
    }
}

/// Where a text stands.
#[derive(Clone, Copy)]
struct Context {
    /// At the beginning of a block.
    begins: bool,
    /// Between marks of emphasis.
    emphasised: bool,
}

fn escape(line: &str, context: Context, out: &mut String) {
    let at_start = if context.begins { mark_of_block(line) } else { None };
    for (at, c) in line.char_indices() {
        let place = Place { before: &line[..at], c, after: &line[at + c.len_utf8()..] };
        if at_start == Some(at) || place.means_something(context.emphasised) {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Where the mark stands that would make a heading, a list, a quotation, a rule or a task of a line that begins so.
fn mark_of_block(line: &str) -> Option<usize> {
    let ends_or_blank = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let first = line.chars().next()?;
    let only = |mark: char| line.chars().all(|c| c == mark || c == ' ');
    let rest = line.trim_start_matches(first);
    match first {
        '>' => Some(0),
        '#' if ends_or_blank(rest) => Some(0),
        '-' | '+' | '*' if ends_or_blank(&line[1..]) => Some(0),
        // Rules, and what underlines a heading.
        '-' | '=' | '_' if only(first) => Some(0),
        '[' if line.as_bytes().get(2) == Some(&b']') && " xX".contains(&line[1..2]) => Some(0),
        '0'..='9' => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let marked = line[digits..].starts_with(['.', ')']);
            (marked && ends_or_blank(&line[digits + 1..])).then_some(digits)
        }
        _ => None,
    }
}

/// A character of a line with what stands around it.
struct Place<'a> {
    before: &'a str,
    c: char,
    after: &'a str,
}

impl Place<'_> {
    fn next(&self) -> Option<char> {
        self.after.chars().next()
    }

    fn means_something(&self, emphasised: bool) -> bool {
        match self.c {
            '`' => true,
            // An escape, or at the end of a line a break.
            '\\' => self.next().is_none_or(|c| c.is_ascii_punctuation()),
            '*' => emphasised || self.may_open(),
            '_' => emphasised || (self.may_open() && !self.is_within_word()),
            '~' => self.is_strike(),
            '[' => emphasised || self.next().is_none_or(|c| c == '^'),
            // `](`, `]:` and `][` would make links, definitions and images.
            ']' => emphasised || self.next().is_none_or(|c| matches!(c, '(' | ':' | '[')),
            '<' => self.is_tag(),
            '&' => self.is_entity(),
            // Closes a heading.
            '#' => {
                self.after.trim_start_matches('#').trim().is_empty()
                    && self
                        .before
                        .trim_end_matches('#')
                        .chars()
                        .next_back()
                        .is_none_or(|c| c == ' ')
            }
            _ => false,
        }
    }

    /// The characters before and behind the run of the same mark in which this one stands.
    fn around_run(&self) -> (Option<char>, Option<char>) {
        let before = self.before.trim_end_matches(self.c).chars().next_back();
        (before, self.after.trim_start_matches(self.c).chars().next())
    }

    /// Whether a run of marks may open emphasis (left-flanking). Who cannot open needs no escape: what could only close
    /// finds nothing open. Behind a letter a run in front of punctuation opens nothing.
    fn may_open(&self) -> bool {
        match self.around_run() {
            (_, None) => true,
            (_, Some(next)) if next.is_whitespace() => false,
            (Some(before), Some(next)) => {
                !(before.is_alphanumeric() && next.is_ascii_punctuation())
            }
            (None, Some(_)) => true,
        }
    }

    /// Whether a run stands between letters and digits.
    fn is_within_word(&self) -> bool {
        let (before, after) = self.around_run();
        before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
    }

    /// Whether a tilde may strike through or fence: two of them, or one that may close (behind a word).
    fn is_strike(&self) -> bool {
        let alone = !self.before.ends_with('~') && !self.after.starts_with('~');
        !alone || self.before.chars().next_back().is_some_and(|c| !c.is_whitespace())
    }

    /// Whether `<` may begin a tag, a comment or an address. In front of a space or a number it is less-than.
    fn is_tag(&self) -> bool {
        match self.next() {
            Some(c) if c.is_whitespace() => false,
            Some('0'..='9' | '.' | '-' | '=') => {
                self.after.split(['>', ' ']).next().unwrap_or_default().contains('@')
            }
            _ => true,
        }
    }

    /// Whether `&` begins an entity such as `&lt;` or `&#27;`.
    fn is_entity(&self) -> bool {
        let Some((name, _)) = self.after.split_once(';') else { return false };
        let name = name.strip_prefix('#').unwrap_or(name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }
}
