//! What can be done to a text before it is split into tokens.
//!
//! The character rules are those of the reference's `normalize_text` option: one spelling for characters that mean the
//! same. Source: Contriever, as `OpenScholar`'s retriever uses it (off by default there and here).

use std::borrow::Cow;

use scholar_core::TextPreparation;

/// `text` as `preparation` wants it.
pub(super) fn prepared(text: &str, preparation: TextPreparation) -> Cow<'_, str> {
    let TextPreparation { lowercase, normalize_text } = preparation;
    let text = if normalize_text { normalized(text) } else { Cow::Borrowed(text) };
    if lowercase { Cow::Owned(text.to_lowercase()) } else { text }
}

const SPACED_DOTS: &str = " . . . ";

fn normalized(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| replacement(c).is_none()) && !text.contains(SPACED_DOTS) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match replacement(c) {
            Some(new) => out.push_str(new),
            None => out.push(c),
        }
    }
    Cow::Owned(out.replace(SPACED_DOTS, " ... "))
}

/// What stands for `c`; `None`: itself. Tildes are left alone.
fn replacement(c: char) -> Option<&'static str> {
    Some(match c {
        // Controls, other than white space; soft hyphen.
        '\u{0}'..='\u{8}' | '\u{e}'..='\u{1f}' | '\u{ad}' => "",
        // Vertical tab, form feed, next line.
        '\u{b}' | '\u{c}' | '\u{85}' => " ",
        // Hyphens, dashes, minus signs.
        '\u{58a}'
        | '\u{2d7}'
        | '\u{1806}'
        | '\u{2010}'..='\u{2015}'
        | '\u{2043}'
        | '\u{207b}'
        | '\u{208b}'
        | '\u{2212}'
        | '\u{2e3a}'
        | '\u{2e3b}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{ff0d}' => "-",
        // Double quotation marks.
        '\u{ab}'
        | '\u{bb}'
        | '\u{201c}'..='\u{201f}'
        | '\u{275d}'
        | '\u{275e}'
        | '\u{2e42}'
        | '\u{301d}'..='\u{301f}'
        | '\u{ff02}' => "\"",
        // Single ones, apostrophes, grave and acute accents that stand alone; primes, upright and reversed.
        '`'
        | '\u{b4}'
        | '\u{2bb}'..='\u{2bd}'
        | '\u{2018}'..='\u{201b}'
        | '\u{2039}'
        | '\u{203a}'
        | '\u{275b}'
        | '\u{275c}'
        | '\u{ff07}'
        | '\u{2b9}'
        | '\u{2032}'
        | '\u{2035}' => "'",
        '\u{2ba}' | '\u{2033}' | '\u{2036}' => "''",
        '\u{2034}' | '\u{2037}' => "'''",
        '\u{2057}' => "''''",
        '\u{2026}' => "...",
        // Slashes.
        '\u{2044}' | '\u{2215}' | '\u{ff0f}' => "/",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_mean_the_same_become_one() {
        let check = |text: &str, expect: &str| {
            let normalize = TextPreparation { normalize_text: true, ..TextPreparation::NONE };
            assert_eq!(prepared(text, normalize), expect, "{text:?}");
            assert_eq!(prepared(expect, normalize), expect, "nothing is left to do");
            assert_eq!(prepared(text, TextPreparation::NONE), text);
        };
        check("T\u{2010}cell \u{2013} a\u{2014}b \u{2212}1 \u{ff0d}", "T-cell - a-b -1 -");
        check("co\u{ad}operate\u{0}\u{1f}", "cooperate");
        check("a\u{b}b\u{c}c\u{85}d\te\nf", "a b c d\te\nf");
        check("\u{201c}so\u{201d} \u{ab}so\u{bb}", "\"so\" \"so\"");
        check("it\u{2019}s \u{2018}so` \u{b4}", "it's 'so' '");
        check("5\u{2032} 6\u{2033} 7\u{2034} 8\u{2057}", "5' 6'' 7''' 8''''");
        check("and so on\u{2026} or . . . not", "and so on... or ... not");
        check("1\u{2044}2 km\u{2215}h", "1/2 km/h");
        check("~ \u{223c} \u{2053} \u{e9} \u{3a9}", "~ \u{223c} \u{2053} \u{e9} \u{3a9}");
    }

    #[test]
    fn both_together() {
        let both = TextPreparation { lowercase: true, normalize_text: true };
        assert_eq!(
            prepared("Na\u{ef}ve \u{2013} \u{c9}T\u{c9}", both),
            "na\u{ef}ve - \u{e9}t\u{e9}"
        );
        assert!(matches!(prepared("plain text", TextPreparation::NONE), Cow::Borrowed(_)));
    }
}
