//! Text as papers are stored: single spaces, NFC, citation marks gone, no words glued or split at tags.

use unicode_normalization::UnicodeNormalization as _;

/// Stands for a citation mark until [`Prose::finish`]; a noncharacter, so no text has it.
const MARK: char = '\u{fdd0}';

/// Words that introduce citations and mean nothing without them: `(see [12])`, `(reviewed in [3])`.
const LEAD_INS: [&str; 12] = [
    "see",
    "e.g",
    "i.e",
    "cf",
    "for",
    "reviewed",
    "review",
    "ref",
    "refs",
    "reference",
    "references",
    "also",
];

/// Collects text that is spread over elements.
#[derive(Debug, Default)]
pub(crate) struct Prose {
    out: String,
    space: bool,
}

impl Prose {
    /// Adds text; runs of white space become one space, characters that print nothing go.
    pub(crate) fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.space = true;
            } else if prints(c) {
                self.put(c);
            }
        }
    }

    fn put(&mut self, c: char) {
        if self.space && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.space = false;
        self.out.push(c);
    }

    /// Ends a word: the boundary of a paragraph, list item, cell.
    pub(crate) fn gap(&mut self) {
        self.space = true;
    }

    /// Ends a word if `so`.
    pub(crate) fn gap_if(&mut self, so: bool) {
        self.space |= so;
    }

    /// A citation mark such as `[12]` stands here.
    pub(crate) fn citation(&mut self) {
        self.put(MARK);
    }

    /// Superscript text: after a digit it is an exponent, and `10<sup>5</sup>` must not become 105.
    pub(crate) fn superscript(&mut self, text: &str) {
        let exponent = !self.space
            && self.out.ends_with(|c: char| c.is_ascii_digit())
            && text
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit() || "-+\u{2212}\u{2013}".contains(c));
        if exponent {
            self.out.push('^');
        }
        self.push(text);
    }

    /// The text without the marks and the brackets that held only them.
    pub(crate) fn finish(self) -> String {
        if self.out.contains(MARK) {
            without_marks(&self.out).nfc().collect()
        } else {
            self.out.nfc().collect()
        }
    }
}

/// `text` as [`Prose`] makes it.
pub(crate) fn single_spaced(text: &str) -> String {
    let mut prose = Prose::default();
    prose.push(text);
    prose.finish()
}

/// Whether a character belongs in text: no control, no byte order mark, no zero-width space, no soft hyphen, no
/// noncharacter.
fn prints(c: char) -> bool {
    !(c.is_control()
        || matches!(
            c,
            '\u{feff}' | '\u{200b}' | '\u{2060}' | '\u{ad}' | '\u{fdd0}'
                ..='\u{fdef}' | '\u{fffe}' | '\u{ffff}'
        ))
}

fn without_marks(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        if chars[at] != MARK {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        at = end_of_run(&chars, at);
        // Brackets in brackets: `(see [12])`.
        loop {
            let behind = drop_brackets(&mut out, &chars, at);
            if behind == at {
                break;
            }
            at = behind;
        }
        let spaced = out.ends_with(' ') || chars.get(at) == Some(&' ');
        while out.ends_with(' ') {
            out.pop();
        }
        while chars.get(at) == Some(&' ') {
            at += 1;
        }
        let closes = chars.get(at).is_none_or(|c| ".,;:!?)]}".contains(*c));
        let glues = out.ends_with(char::is_alphanumeric)
            && chars.get(at).is_some_and(|c| c.is_alphanumeric());
        let opens = out.is_empty() || out.ends_with(['(', '[']);
        if (spaced && !closes && !opens) || glues {
            out.push(' ');
        }
    }
    out
}

/// The end of marks joined by commas, dashes and spaces: `1,2-5`.
fn end_of_run(chars: &[char], from: usize) -> usize {
    let mut end = from + 1;
    loop {
        let joint = chars[end..]
            .iter()
            .take_while(|c| " ,;-\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}".contains(**c))
            .count();
        if chars.get(end + joint) != Some(&MARK) {
            return end;
        }
        end += joint + 1;
    }
}

/// Takes away brackets around a removed run if they hold nothing else, or only words that lead to it.
fn drop_brackets(out: &mut String, chars: &[char], at: usize) -> usize {
    let tail = chars[at..].iter().take_while(|c| " ,;".contains(**c)).count();
    let Some(close @ (')' | ']')) = chars.get(at + tail) else { return at };
    let open = if *close == ')' { '(' } else { '[' };
    let Some(start) = out.rfind(open) else { return at };
    let inside = out[start + 1..].to_lowercase();
    let mut words =
        inside.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let only_leads = inside.len() < 40
        && !inside.contains(')')
        && words.all(|word| {
            LEAD_INS.contains(&word.trim_end_matches('.'))
                || ["in", "a", "examples"].contains(&word)
        });
    if !only_leads {
        return at;
    }
    out.truncate(start);
    at + tail + 1
}

/// Whether a citation is a mark without words, such as `[12]`, `3-5`, `[Lo20; KLM+19]` or `(7)`: these are removed.
/// Names and years, `(Lo et al., 2020)`, say something and stay.
pub(crate) fn is_mark(text: &str) -> bool {
    let text = text.trim();
    let square = text.starts_with('[') && text.ends_with(']');
    let inner = text.trim_matches(|c: char| "[]() ,;.".contains(c));
    let numeric = |part: &str| {
        part.chars().filter(char::is_ascii_alphabetic).count() <= 1
            && part.chars().filter(char::is_ascii_digit).count() <= 3
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "*\u{2020}\u{2021}".contains(c))
    };
    let label = |part: &str| {
        let key = part.chars().all(|c| c.is_ascii_alphanumeric() || "+'*".contains(c));
        square && key && part.len() <= 12 && part.chars().filter(char::is_ascii_digit).count() >= 2
    };
    inner
        .split(|c: char| {
            c.is_whitespace() || ",;-\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}[]".contains(c)
        })
        .filter(|part| !part.is_empty())
        .all(|part| numeric(part) || label(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(pattern: &str) -> String {
        let mut prose = Prose::default();
        for part in pattern.split_inclusive(['@']) {
            prose.push(part.trim_end_matches('@'));
            if part.ends_with('@') {
                prose.citation();
            }
        }
        prose.finish()
    }

    #[test]
    fn citation_marks_leave_with_their_brackets_and_glue_nothing() {
        for (pattern, expect) in [
            ("as shown [@]. Next", "as shown. Next"),
            ("as shown [@, @\u{2013}@] before", "as shown before"),
            ("word@,@ next", "word next"),
            ("one (see @) two", "one two"),
            ("one (see Figure 2 and @) two", "one (see Figure 2 and) two"),
            ("end@The", "end The"),
            ("(@; @), so", ", so"),
            ("in@: yes", "in: yes"),
            ("no marks [12]  at\nall", "no marks [12] at all"),
        ] {
            assert_eq!(marked(pattern), expect, "{pattern}");
        }
    }

    #[test]
    fn exponents_are_kept_apart_and_invisible_characters_go() {
        let mut prose = Prose::default();
        prose.push("10");
        prose.superscript("\u{2212}5");
        prose.push(" m");
        prose.superscript("2");
        prose.push(" Trans\u{ad}lation\u{200b}s e\u{301}");
        assert_eq!(prose.finish(), "10^\u{2212}5 m2 Translations \u{e9}");
    }

    #[test]
    fn marks_are_told_from_names() {
        for mark in
            ["[12]", "12", "3-5", "(7)", "[1, 2\u{2013}4]", "[Lo20; KLM+19]", "12a", "*", ""]
        {
            assert!(is_mark(mark), "{mark}");
        }
        for name in ["Lo et al., 2020", "(2020)", "2018", "[see Lo]", "Vaswani"] {
            assert!(!is_mark(name), "{name}");
        }
    }
}
