//! Names of people in what title pages print: lists of them, and what is none.

use super::lines::MARK;
use super::person_words::{
    CASELESS_INSTITUTIONS, DEGREES, INSTITUTIONS, PARTICLES, PLACES, TITLES,
};
use crate::names::Name;

/// Most words of one name: `Maria del Carmen de la Cruz Garcia` has seven.
const MOST_WORDS: usize = 7;

/// Longest name in characters.
const LONGEST: usize = 60;

/// What a part of a list of names is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A whole name.
    Name(String),
    /// Several, of a script that does not part them by commas.
    Names(Vec<String>),
    /// `Jr.`, which belongs to the name before.
    Suffix(String),
    /// `PhD`, which belongs to nothing here.
    Degree,
    /// Anything else.
    Other,
}

/// The names in a text that holds nothing else; `None` where one of its parts is none.
pub(super) fn names(text: &str) -> Option<Vec<String>> {
    let (names, whole) = leading_names(text);
    (whole && !names.is_empty()).then_some(names)
}

/// Names at the beginning of a text, and whether nothing else follows them.
pub(super) fn leading_names(text: &str) -> (Vec<String>, bool) {
    let mut names: Vec<String> = Vec::new();
    for part in parts(text) {
        match kind(&part) {
            Part::Name(name) => names.push(name),
            Part::Names(more) => names.extend(more),
            Part::Suffix(suffix) => match names.last_mut() {
                Some(name) => {
                    name.push(' ');
                    name.push_str(&suffix);
                }
                None => return (names, false),
            },
            Part::Degree => {}
            Part::Other => return (names, false),
        }
    }
    (names, true)
}

/// Whether a text has a word of institutions, or is a place.
pub(super) fn is_institution(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric())
        .any(|word| INSTITUTIONS.binary_search(&word.to_lowercase().as_str()).is_ok())
        || CASELESS_INSTITUTIONS.iter().any(|word| text.contains(word))
        || lower.split([',', ';', '.']).any(|part| PLACES.contains(&part.trim()))
}

/// Whether a text is an address of electronic mail, or the pattern of several.
pub(super) fn is_email(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.contains('@')
        || text.trim_start().starts_with('{')
        || lower.contains("firstname")
        || lower.contains("lastname")
        || lower.starts_with("e-mail")
        || lower.starts_with("email")
}

/// Whether a text only joins what stands around it.
pub(super) fn is_connector(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric() && c != '&').to_lowercase();
    matches!(bare.as_str(), "and" | "&" | "und" | "et" | "by" | "")
}

/// Marks of footnotes and affiliations that are no letters and no digits.
const SYMBOLS: &str = "*\u{2217}\u{2020}\u{2021}\u{a7}\u{b6}\u{2660}\u{2661}\u{2662}\u{2663}\u{2665}\u{2666}\u{22c6}\u{25c7}\u{2709}#";

/// Parts between commas, marks and conjunctions. What stands in brackets (an address, an acronym) is a mark.
fn parts(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    let text = without_brackets(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let attached = spaced.ends_with(|c: char| c.is_alphabetic() || c == '.' || c == MARK);
        let mark = c == MARK
            || SYMBOLS.contains(c)
            || ('\u{2070}'..='\u{2079}').contains(&c)
            || "\u{b9}\u{b2}\u{b3}".contains(c)
            || (c.is_ascii_digit() && (attached || spaced.is_empty()));
        if mark {
            // Marks of one name are parted by commas, as names are.
            let is_mark = |c: char| c.is_ascii_digit() || SYMBOLS.contains(c) || c == MARK;
            loop {
                let mut ahead = chars.clone();
                let next = ahead.next();
                let comma = next == Some(',') && ahead.next().is_some_and(is_mark);
                if !(comma || next.is_some_and(is_mark)) {
                    break;
                }
                chars.next();
            }
            spaced.push(MARK);
        } else {
            spaced.push(
                if matches!(
                    c,
                    ';' | '\u{b7}' | '\u{2022}' | '|' | '\u{3001}' | '\u{ff0c}' | '\u{60c}'
                ) {
                    ','
                } else {
                    c
                },
            );
        }
    }
    let joined = spaced.replace(" & ", ",").replace([MARK, '&'], ",");
    let mut out = Vec::new();
    let mut part: Vec<&str> = Vec::new();
    for (at, between) in joined.split(',').enumerate() {
        if at > 0 && !part.is_empty() {
            out.push(part.join(" "));
            part.clear();
        }
        for word in between.split_whitespace() {
            if matches!(
                word.to_lowercase().as_str(),
                "and" | "und" | "et" | "by" | "authors:" | "author:" | "by:"
            ) {
                if !part.is_empty() {
                    out.push(part.join(" "));
                    part.clear();
                }
            } else {
                part.push(word);
            }
        }
    }
    if !part.is_empty() {
        out.push(part.join(" "));
    }
    out
}

/// A text with [`MARK`] for every pair of brackets and what they hold; an open one stays.
fn without_brackets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['(', '<', '[']) {
        let Some(close) = rest[open..].find([')', '>', ']']) else { break };
        out.push_str(rest[..open].trim_end());
        out.push(MARK);
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    out
}

fn kind(part: &str) -> Part {
    let mut words: Vec<&str> = part.split_whitespace().collect();
    let plain = |word: &str| word.replace('.', "").to_lowercase();
    while words.first().is_some_and(|word| TITLES.contains(&plain(word).as_str())) {
        words.remove(0);
    }
    let shouted = is_in_capitals(part);
    while words.len() > 2 && words.last().is_some_and(|word| is_degree(word, shouted)) {
        words.pop();
    }
    match words.as_slice() {
        [] => return Part::Degree,
        [only] if Name::is_suffix(only) => return Part::Suffix((*only).to_owned()),
        [only] if is_degree(only, false) => return Part::Degree,
        _ => {}
    }
    let text = words.join(" ");
    if text.chars().count() > LONGEST || words.len() > MOST_WORDS {
        return Part::Other;
    }
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    if letters().next().is_some() && letters().all(|c| !c.is_lowercase() && !c.is_uppercase()) {
        return caseless(&words, &text);
    }
    if is_institution(&text) || words.len() < 2 || !words.iter().all(|word| is_name_word(word)) {
        return Part::Other;
    }
    let long = |word: &str| {
        word.chars().filter(|c| c.is_alphabetic()).count() >= 2 && !word.ends_with('.')
    };
    let capital = |word: &str| word.starts_with(char::is_uppercase);
    let family = words.iter().rev().find(|word| !Name::is_suffix(word));
    // A name has a word beside its initials, and begins with a capital or a particle before one.
    let reads = words.iter().any(|word| long(word) && word.contains(char::is_alphabetic))
        && family.is_some_and(|word| long(word) || one_initial(word))
        && words
            .iter()
            .filter(|word| capital(word) || word.contains(['\'', '\u{2019}', '-']))
            .count()
            >= 2;
    if reads { Part::Name(text) } else { Part::Other }
}

/// `PhD`, `M.D.`. Those of two letters are family names as well (`Ma`, `Do`), unless they stand in capitals among small
/// letters or have full stops.
fn is_degree(word: &str, among_capitals: bool) -> bool {
    let plain = word.replace('.', "").to_lowercase();
    let told = word.contains('.') || (is_in_capitals(word) && !among_capitals);
    DEGREES.contains(&plain.as_str()) && (plain.len() > 2 || told)
}

/// `Udupa U`: a family name that is an initial.
fn one_initial(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    letters == 1 && word.starts_with(char::is_uppercase)
}

/// A capitalised word, an initial or a particle.
fn is_name_word(word: &str) -> bool {
    if PARTICLES.contains(&word.to_lowercase().as_str()) || Name::is_suffix(word) {
        return true;
    }
    let fits = |c: char| {
        c.is_alphabetic()
            || is_combining(c)
            || ".'\u{2019}\u{2018}\u{2bc}-\u{2010}\u{2011}".contains(c)
    };
    // `d'Alembert`, `al-Khatib`: the capital stands behind the particle.
    let begins = word
        .split(['-', '\'', '\u{2019}', '\u{2010}', '\u{2011}'])
        .any(|part| part.starts_with(char::is_uppercase));
    let dots = word.matches('.').count();
    // A full stop ends an initial or a short word, and does not stand in a sentence's end.
    let stops = dots == 0 || word.chars().filter(|c| c.is_alphabetic()).count() <= 4;
    // A hyphen at the end of a line parts a name.
    let whole = !word.ends_with(['-', '\u{2010}']);
    word.chars().all(fits) && begins && stops && whole && !word.starts_with('.')
}

fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Names in scripts without capitals: Chinese ones of two to four characters, others of two to five words.
fn caseless(words: &[&str], text: &str) -> Part {
    if CASELESS_INSTITUTIONS.iter().any(|word| text.contains(word))
        || !text.chars().all(|c| {
            c.is_alphabetic() || c == ' ' || is_combining(c) || c == '-' || c == '\u{30fb}'
        })
    {
        return Part::Other;
    }
    let lengths: Vec<usize> = words.iter().map(|word| word.chars().count()).collect();
    let syllabic = text.chars().all(|c| {
        c == ' '
            || ('\u{3040}'..='\u{30ff}').contains(&c)
            || ('\u{3400}'..='\u{9fff}').contains(&c)
            || ('\u{ac00}'..='\u{d7af}').contains(&c)
    });
    match lengths.as_slice() {
        [2..=5] if syllabic => Part::Name(text.to_owned()),
        // Family and given name, set apart.
        [1..=2, 1..=3] if syllabic && lengths.contains(&1) => Part::Name(words.concat()),
        _ if syllabic && lengths.iter().all(|length| (2..=4).contains(length)) => {
            Part::Names(words.iter().map(|word| (*word).to_owned()).collect())
        }
        [_, _, ..] if !syllabic && words.len() <= 5 => Part::Name(text.to_owned()),
        _ => Part::Other,
    }
}

/// Names in the case in which they are written, where the page sets them in capitals: all of them, or the family names.
pub(super) fn in_their_case(names: Vec<String>) -> Vec<String> {
    let shouted = |word: &str| {
        word.chars().filter(|c| c.is_alphabetic()).count() >= 2
            && !word.contains('.')
            && word.chars().all(|c| !c.is_lowercase())
            && word.chars().any(char::is_uppercase)
            && !Name::is_suffix(word)
    };
    let family =
        |name: &str| name.split(' ').rfind(|word| !Name::is_suffix(word)).is_some_and(shouted);
    // One name may end in initials or be short (`Heng JI`); a whole list in capitals is a way to set it.
    let all = names.iter().all(|name| family(name));
    let long = names
        .iter()
        .any(|name| name.split(' ').any(|word| shouted(word) && word.chars().count() >= 4));
    if !(all && long) {
        return names;
    }
    let title_case = |word: &str| {
        if !shouted(word) {
            return word.to_owned();
        }
        let lower = word.to_lowercase();
        if PARTICLES.contains(&lower.as_str()) {
            return lower;
        }
        let mut out = String::with_capacity(word.len());
        for c in word.chars() {
            let begins =
                out.chars().next_back().is_none_or(|before| !before.is_alphabetic()) || out == "Mc";
            if begins { out.push(c) } else { out.extend(c.to_lowercase()) }
        }
        out
    };
    names.iter().map(|name| name.split(' ').map(title_case).collect::<Vec<_>>().join(" ")).collect()
}

/// Whether no letter of a name is a small one.
pub(super) fn is_in_capitals(name: &str) -> bool {
    !name.contains(char::is_lowercase) && name.contains(char::is_uppercase)
}

/// The last word of a name that is no suffix, in small letters without accents.
pub(super) fn family_key(name: &str) -> String {
    let family = name.split([' ', '\u{a0}']).rfind(|word| !Name::is_suffix(word)).unwrap_or(name);
    key(family)
}

/// The first word of a name, in small letters without accents.
pub(super) fn given_key(name: &str) -> String {
    key(name.split([' ', '\u{a0}']).next().unwrap_or(name))
}

/// Letters of a text in small letters without accents.
pub(super) fn key(text: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    text.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        names(text).unwrap_or_default()
    }

    #[test]
    fn lists_of_names_are_taken_apart() {
        for (text, expect) in [
            ("Ada Ng", &["Ada Ng"][..]),
            ("Wolfgang Seeker and Jonas Kuhn", &["Wolfgang Seeker", "Jonas Kuhn"]),
            ("Ada Ng, Bo Li, and C. D. Wu", &["Ada Ng", "Bo Li", "C. D. Wu"]),
            ("Ada Ng & Bo Li", &["Ada Ng", "Bo Li"]),
            ("Ada Ng1,2, Bo Li\u{2217}, Cy Wu\u{2020}\u{2021}", &["Ada Ng", "Bo Li", "Cy Wu"]),
            ("Ada Ng\u{e000} Bo Li\u{e000} Cy Wu\u{e000}", &["Ada Ng", "Bo Li", "Cy Wu"]),
            ("Ada Ng\u{e000}, \u{e000}, and Bo Li", &["Ada Ng", "Bo Li"]),
            ("Ludwig van der Berg, Maria de la Cruz", &["Ludwig van der Berg", "Maria de la Cruz"]),
            ("Jean-Luc d'Alembert", &["Jean-Luc d'Alembert"]),
            ("Eamonn O\u{2019}Brien-Strain", &["Eamonn O\u{2019}Brien-Strain"]),
            ("Martin Luther King, Jr., Bo Li", &["Martin Luther King Jr.", "Bo Li"]),
            ("Ada Ng, PhD, Bo Li, M.D.", &["Ada Ng", "Bo Li"]),
            ("Dr. Ada Ng", &["Ada Ng"]),
            ("Xiao Ling Ma, Bo Li MD, Jack MA", &["Xiao Ling Ma", "Bo Li", "Jack MA"]),
            ("Ada Ng (ada@ng.org), Bo Li <bo@li.org>", &["Ada Ng", "Bo Li"]),
            ("Ada Ng, Senior Member, IEEE", &[]),
            ("Ada Ng, Member, IEEE, and Bo Li, Fellow, IEEE", &["Ada Ng", "Bo Li"]),
            ("By Ada Ng", &["Ada Ng"]),
            (
                "J.-P. M\u{fc}ller, \u{130}lknur El-Kahlout",
                &["J.-P. M\u{fc}ller", "\u{130}lknur El-Kahlout"],
            ),
            (
                "\u{ae40}\u{cca0}\u{c218} \u{c774}\u{c601}\u{d76c}",
                &["\u{ae40}\u{cca0}\u{c218}", "\u{c774}\u{c601}\u{d76c}"],
            ),
            ("Raghavendra Udupa U", &["Raghavendra Udupa U"]),
            ("Heng JI and Ralph GRISHMAN", &["Heng JI", "Ralph GRISHMAN"]),
            (
                "\u{674e}\u{660e}\u{3001}\u{738b}\u{5c0f}\u{7ea2}",
                &["\u{674e}\u{660e}", "\u{738b}\u{5c0f}\u{7ea2}"],
            ),
            ("\u{674e} \u{660e}", &["\u{674e}\u{660e}"]),
            (
                "\u{645}\u{62d}\u{645}\u{62f} \u{639}\u{644}\u{64a}",
                &["\u{645}\u{62d}\u{645}\u{62f} \u{639}\u{644}\u{64a}"],
            ),
        ] {
            assert_eq!(found(text), expect, "{text}");
        }
    }

    #[test]
    fn what_stands_below_names_is_none() {
        for text in [
            "University of Stuttgart",
            "Nuance Communications",
            "Linköping University",
            "Marina del Rey, CA",
            "Zagreb, Croatia",
            "South Korea",
            "20 Science Park Drive",
            "New Delhi - 110 016",
            "ada@ng.org",
            "{ada,bo}@ng.org",
            "firstname.lastname@kit.edu",
            "Abstract",
            "E D I T O R I A L",
            "Google Brain",
            "Palo Alto",
            "Invited Talk",
            "Extended Abstract",
            "We present a model",
            "and",
            "\u{5317}\u{4eac}\u{5927}\u{5b66}",
            "LIMSI",
            "Paulo Ro-",
            "Efficient Word Alignment with Markov Chain Monte Carlo",
        ] {
            assert!(names(text).is_none(), "{text}");
        }
        assert!(is_email("{ada,bo}@ng.org") && is_institution("Lehrstuhl f\u{fc}r Informatik VI"));
        assert_eq!(leading_names("Ada Ng, University of X"), (vec!["Ada Ng".to_owned()], false));
    }

    #[test]
    fn capitals_of_the_printer_go_and_initials_stay() {
        let check = |names: &[&str], expect: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(in_their_case(names), expect);
        };
        check(&["Heng JI", "Ralph GRISHMAN"], &["Heng Ji", "Ralph Grishman"]);
        check(&["ADA B. NG", "LUDWIG VAN DER BERG"], &["Ada B. Ng", "Ludwig van der Berg"]);
        check(&["MARY O'BRIEN-STRAIN"], &["Mary O'Brien-Strain"]);
        check(&["Ada NG"], &["Ada NG"]);
        check(&["Ada Ng", "Bo LI"], &["Ada Ng", "Bo LI"]);
        assert_eq!(family_key("Jos\u{e9} Garc\u{ed}a Jr."), "garcia");
    }
}
