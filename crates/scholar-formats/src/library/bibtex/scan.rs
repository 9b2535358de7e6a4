//! From text to entries: braces, strings, macros. One pass over the text; nothing nests on the stack.

use std::collections::BTreeMap;

/// Largest value of one field in bytes, with its macros written out.
const VALUE_BYTES: usize = 4 << 20;

/// What macros may add to a file in all, in bytes: `@string`s that double each other grow without bound.
const MACRO_BYTES: usize = 64 << 20;

/// Names of months, which every style defines.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// One entry as it is written, macros written out.
pub(super) struct BibtexEntry {
    /// Line it begins on, from 1.
    pub(super) line: usize,
    /// Its type in lower case.
    pub(super) kind: String,
    pub(super) key: String,
    /// Names in lower case; the first of equal ones counts.
    fields: Vec<(String, String)>,
    pub(super) odd: Vec<String>,
}

impl BibtexEntry {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// What stands in a file.
pub(super) enum Item {
    BibtexEntry(BibtexEntry),
    /// An entry that cannot be read.
    Broken {
        line: usize,
        key: Option<String>,
        why: String,
    },
    /// Something else that is odd.
    Note {
        line: usize,
        what: String,
    },
}

/// Walks through a file.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// How far lines were counted.
    counted: usize,
    macros: BTreeMap<String, String>,
    macro_bytes: usize,
}

type Broken = (Option<String>, String);

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let macros = MONTHS.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect();
        Self { text, at: 0, line: 1, counted: 0, macros, macro_bytes: 0 }
    }

    fn line_at(&mut self, at: usize) -> usize {
        let bytes = &self.text.as_bytes()[self.counted..at.max(self.counted)];
        self.line += bytes.iter().filter(|byte| **byte == b'\n').count();
        self.counted = at.max(self.counted);
        self.line
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips white space, and comments of a whole line's end (`%`), which occur between fields.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with('%') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn take_while(&mut self, accepts: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !accepts(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Reads what stands behind an `@`: `None` where it is nothing to keep.
    fn item(&mut self, line: usize) -> Option<Item> {
        let kind = self.take_while(|c| c.is_ascii_alphabetic()).to_ascii_lowercase();
        let before = self.at;
        self.skip_space();
        let close = match self.peek() {
            Some('{') => '}',
            Some('(') => ')',
            _ => {
                // An `@` in free text, such as an address.
                self.at = before;
                return None;
            }
        };
        if kind.is_empty() {
            return None;
        }
        self.at += 1;
        let broken = |(key, why)| Item::Broken { line, key, why };
        match kind.as_str() {
            "comment" | "preamble" => {
                self.skip_block(close);
                None
            }
            "string" => match self.string(close) {
                Ok(()) => None,
                Err((_, why)) => {
                    self.resynchronise();
                    Some(Item::Note { line, what: format!("a @string was skipped: {why}") })
                }
            },
            _ => Some(match self.entry(kind, line, close) {
                Ok(entry) => Item::BibtexEntry(entry),
                Err(why) => {
                    self.resynchronise();
                    broken(why)
                }
            }),
        }
    }

    /// Goes to the next line that begins with an entry.
    fn resynchronise(&mut self) {
        let mut from = self.at;
        while let Some(found) = self.text[from..].find('\n') {
            let next = from + found + 1;
            if begins_entry(&self.text[next..]) {
                self.at = next;
                return;
            }
            from = next;
        }
        self.at = self.text.len();
    }

    /// Passes a block in braces whose content does not matter; to the next entry if it is not closed.
    fn skip_block(&mut self, close: char) {
        let mut depth = 1_u32;
        for (at, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                _ if depth == 1 && char::from(byte) == close => {
                    self.at += at + 1;
                    return;
                }
                b'}' => depth -= 1,
                _ => {}
            }
        }
        self.resynchronise();
    }

    fn string(&mut self, close: char) -> Result<(), Broken> {
        self.skip_space();
        let name = self.take_while(is_name).to_ascii_lowercase();
        self.skip_space();
        if name.is_empty() || !self.eat('=') {
            return Err((None, "it is not of the form name = value".to_owned()));
        }
        let value = self.value(&mut Vec::new())?;
        self.skip_space();
        self.eat(close);
        self.macros.insert(name, value);
        Ok(())
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn entry(&mut self, kind: String, line: usize, close: char) -> Result<BibtexEntry, Broken> {
        self.skip_space();
        let key = self.take_while(|c| c != ',' && c != close && c != '\n' && c != '=').trim();
        let key_of = |why: String| (Some(key.to_owned()).filter(|key| !key.is_empty()), why);
        if self.peek() == Some('=') {
            return Err((None, "it has no key".to_owned()));
        }
        let mut entry =
            BibtexEntry { line, kind, key: key.to_owned(), fields: Vec::new(), odd: Vec::new() };
        loop {
            self.skip_space();
            while self.eat(',') {
                self.skip_space();
            }
            if self.eat(close) {
                return Ok(entry);
            }
            if self.rest().is_empty() || begins_entry(self.rest()) {
                entry.odd.push("the entry is not closed".to_owned());
                return Ok(entry);
            }
            let name = self.take_while(is_name).to_lowercase();
            self.skip_space();
            if name.is_empty() || !self.eat('=') {
                let found: String = self.rest().chars().take(20).collect();
                let found = found.lines().next().unwrap_or_default();
                return Err(key_of(format!("a field was expected at {found:?}")));
            }
            let value = self
                .value(&mut entry.odd)
                .map_err(|(_, why)| key_of(format!("the field {name:?} {why}")))?;
            entry.fields.push((name, value));
            self.skip_space();
            if !matches!(self.peek(), Some(','))
                && self.peek() != Some(close)
                && !self.rest().is_empty()
            {
                entry.odd.push("a comma between fields is missing".to_owned());
            }
        }
    }

    /// Values joined by `#`.
    fn value(&mut self, odd: &mut Vec<String>) -> Result<String, Broken> {
        let mut value = String::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some('{') => value.push_str(self.delimited('}')?),
                Some('"') => value.push_str(self.delimited('"')?),
                _ => {
                    let word = self.take_while(is_name);
                    if word.is_empty() {
                        return Err((None, "has no value".to_owned()));
                    }
                    self.add_word(word, &mut value, odd)?;
                }
            }
            if value.len() > VALUE_BYTES {
                return Err((None, format!("is longer than {VALUE_BYTES} bytes")));
            }
            let end = self.at;
            self.skip_space();
            if !self.eat('#') {
                self.at = end;
                return Ok(value);
            }
        }
    }

    /// A number, or the value of a macro.
    fn add_word(
        &mut self,
        word: &str,
        value: &mut String,
        odd: &mut Vec<String>,
    ) -> Result<(), Broken> {
        let lower = word.to_ascii_lowercase();
        match self.macros.get(&lower) {
            Some(known) => {
                self.macro_bytes += known.len();
                if self.macro_bytes > MACRO_BYTES {
                    return Err((
                        None,
                        format!("makes macros longer than {MACRO_BYTES} bytes in all"),
                    ));
                }
                value.push_str(known);
            }
            None => {
                if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                    odd.push(format!("the macro {word:?} is not defined"));
                }
                value.push_str(word);
            }
        }
        Ok(())
    }

    /// What stands between braces, or between quotation marks outside of braces.
    fn delimited(&mut self, close: char) -> Result<&'a str, Broken> {
        let rest = &self.rest()[1..];
        let mut depth = 0_u32;
        let bytes = rest.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' if close == '"' && depth == 0 => {
                    self.at += at + 2;
                    return Ok(&rest[..at]);
                }
                b'}' if depth == 0 => {
                    if close == '"' {
                        return Err((None, "closes a brace it did not open".to_owned()));
                    }
                    self.at += at + 2;
                    return Ok(&rest[..at]);
                }
                b'{' => depth += 1,
                b'}' => depth -= 1,
                // An entry at the beginning of a line inside a value is the next one: this one is not closed.
                b'\n' if begins_entry(&rest[at + 1..]) => break,
                _ => {}
            }
        }
        Err((None, "is not closed".to_owned()))
    }
}

impl Iterator for Scanner<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        while let Some(found) = self.rest().find('@') {
            let start = self.at + found;
            let line = self.line_at(start);
            self.at = start + 1;
            if let Some(item) = self.item(line) {
                return Some(item);
            }
        }
        self.at = self.text.len();
        None
    }
}

/// Whether a text begins with `@word{`, after blanks.
fn begins_entry(text: &str) -> bool {
    let Some(rest) = text.trim_start_matches([' ', '\t']).strip_prefix('@') else { return false };
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    letters > 0 && rest[letters..].trim_start_matches([' ', '\t']).starts_with(['{', '('])
}

/// Characters of the names of fields, macros and numbers.
fn is_name(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"{}(),=#\"%'@\\".contains(c)
}
