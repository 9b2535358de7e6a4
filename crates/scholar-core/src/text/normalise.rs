//! Forms in which two texts are compared: white space, Unicode compatibility, quotation marks and dashes.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// White space as Python's `str.split` sees it: Unicode white space and the four separators U+001C–U+001F.
///
/// Source: upstream splits words with Python, and [`char::is_whitespace`] leaves those four out.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Characters that take no room and mean nothing when texts are compared.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// Trimmed, every run of white space replaced by one space.
pub fn single_spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// With an upper-case first letter.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// With a lower-case first letter, as text stands inside a sentence.
pub fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// [`single_spaced`] in normal form C: how papers are stored.
pub fn nfc_single_spaced(text: &str) -> String {
    single_spaced(&text.nfc().collect::<String>())
}

/// The plain form of a quotation mark or dash; any other character is returned as it is.
pub fn plain_punctuation(c: char) -> char {
    match c {
        '‘' | '’' | '‚' | '‛' | '′' | '`' | '´' | 'ʼ' => '\'',
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        _ => c,
    }
}

/// A key under which two printings of the same text are equal: compatibility form, lower case, plain quotation
/// marks and dashes, single spaces.
pub fn match_key(text: &str) -> String {
    let folded: String = text
        .nfkc()
        .filter(|c| !is_invisible(*c))
        .map(plain_punctuation)
        .flat_map(char::to_lowercase)
        .collect();
    single_spaced(&folded)
}

/// [`match_key`] of a title, reduced to its letters and digits: `Part A:` and `part a` are one title.
pub fn title_key(title: &str) -> String {
    let key = match_key(title);
    let words: Vec<&str> =
        key.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// [`title_key`] of a person's name, without accents: `M\u{fc}ller` and `Muller` are one name, `M.` and `Maria` are two.
pub fn name_key(name: &str) -> String {
    title_key(&name.nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_collapses_to_single_spaces() {
        assert_eq!(single_spaced(" a\u{a0}b\n\n c\u{1c}d\t"), "a b c d");
        assert_eq!(single_spaced(" \n"), "");
        assert_eq!(nfc_single_spaced("cafe\u{301}  x"), "café x");
    }

    #[test]
    fn printings_of_one_text_share_a_key() {
        assert_eq!(match_key("The “Eﬀect” of α–β\u{ad}x"), match_key("the \"effect\"  of Α-βx"));
        assert_ne!(match_key("a b"), match_key("ab"));
        assert_eq!(title_key("RAG: A Survey (2nd ed.)"), "rag a survey 2nd ed");
        assert_eq!(name_key("Hélène Bonneau-Maynard"), "helene bonneau maynard");
        assert_ne!(name_key("J. Crego"), name_key("Josep Crego"));
    }
}
