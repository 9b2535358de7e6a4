//! What tells a sentence of prose from other text.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::words::is_stop_word;

/// Words looked at together for a table.
const WINDOW: usize = 12;
/// Fewest bare numbers among them. Half: prose that lists results has words, commas and brackets between them.
const WINDOW_NUMBERS: usize = 6;
/// Fewest bare numbers among the words before a number that belongs to a table.
const DENSE: usize = 4;
/// Most function words among them.
const WINDOW_STOP_WORDS: usize = 1;
/// Fewest words of a text shorter than a window that can be a row of a table.
const SHORTEST_ROW: usize = 6;
/// Longest bracketed stretch that is left out when numbers are counted, in bytes.
const LONGEST_BRACKET: usize = 200;
/// Fewest cells that are glued to each other (`(22.2)7`, `47360Mean`) in a table that lost its layout.
const GLUED_CELLS: usize = 4;
/// Most words of the end of a reference, from the journal's name to its pages.
const JOURNAL_WORDS: usize = 14;
/// Fewest words of a sentence that runs on behind a table, and fewest function words among them.
const SENTENCE_WORDS: usize = 12;
const SENTENCE_STOP_WORDS: usize = 4;

/// Compiles a pattern of the code.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// Whether there are twelve words in a row of which half are bare numbers and at most one is a function word. Numbers in
/// brackets and those before a comma do not count: results are listed so in prose.
pub(super) fn is_tabular(text: &str) -> bool {
    let bare = without_brackets(text);
    let words: Vec<&str> = bare.split_whitespace().collect();
    // `6.3 × 106 ± 0.12` is one number, and the last part says what follows it: prose gives results so.
    let is_sign = |at: usize| words.get(at).is_some_and(|word| ["\u{b1}", "\u{d7}"].contains(word));
    let signs: Vec<(bool, bool)> = (0..words.len())
        .filter(|at| !is_sign(*at) && !is_sign(at + 1))
        .map(|at| (is_bare_number(words[at]), is_function_word(words[at])))
        .collect();
    let count = |part: &[(bool, bool)]| {
        part.iter().fold((0, 0), |(numbers, stops), (number, stop)| {
            (numbers + usize::from(*number), stops + usize::from(*stop))
        })
    };
    if signs.len() < WINDOW {
        let (numbers, stops) = count(&signs);
        return signs.len() >= SHORTEST_ROW
            && numbers * 2 >= signs.len()
            && stops <= WINDOW_STOP_WORDS;
    }
    signs.windows(WINDOW).any(|window| {
        let (numbers, stops) = count(window);
        numbers >= WINDOW_NUMBERS && stops <= WINDOW_STOP_WORDS
    })
}

/// Where a sentence begins that a table ran into: `… human 24.7 1 human 24.2 While the effect is somewhat smaller, …`.
/// Before it are the table's words, which have no full stop. `None` when there is no table or no such sentence.
pub(super) fn prose_behind_table(text: &str) -> Option<usize> {
    // The last number that still stands among numbers ends the table.
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_cell = |at: usize| is_bare_number(words[at]);
    let is_dense =
        |at: usize| (at.saturating_sub(WINDOW)..at).filter(|at| is_cell(*at)).count() >= DENSE;
    let last = (0..words.len()).rev().find(|at| is_cell(*at) && is_dense(*at))?;
    let rest = words.get(last + 1..)?;
    let first = rest.first()?;
    let stops = rest.iter().filter(|word| is_function_word(word)).count();
    let is_sentence = rest.len() >= SENTENCE_WORDS
        && stops >= SENTENCE_STOP_WORDS
        && first.starts_with(char::is_uppercase)
        && rest.get(1).is_some_and(|word| word.starts_with(char::is_lowercase))
        && text.trim_end().ends_with(['.', '?', '!']);
    if !is_sentence || !is_tabular(&words[..=last].join(" ")) {
        return None;
    }
    // Words are slices of the text, so the distance between their beginnings is that in the text.
    Some(first.as_ptr() as usize - text.as_ptr() as usize)
}

/// `text` without its bracketed parts, as far as these are short.
fn without_brackets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where each open bracket stands in `out`.
    let mut open: Vec<usize> = Vec::new();
    for c in text.chars() {
        match c {
            '(' | '[' => open.push(out.len()),
            ')' | ']' => {
                if let Some(start) = open.pop()
                    && out.len() - start <= LONGEST_BRACKET
                {
                    out.truncate(start);
                    out.push(' ');
                    continue;
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

/// `12`, `3.5%`, `1,204`, `±0.3`, `<0.01*`. Not `12,` and not `2010.`, and not a sign alone: `a = 3` and `83 ± 5` stand
/// in prose.
fn is_bare_number(word: &str) -> bool {
    let signs = ['-', '\u{2212}', '\u{2013}', '+', '\u{b1}', '<', '>', '=', '~'];
    let signed = word.trim_start_matches(signs);
    let bare = signed.strip_suffix(['%', '*', '\u{2020}', '\u{2021}']).unwrap_or(signed);
    bare.ends_with(|c: char| c.is_ascii_digit())
        && bare.chars().all(|c| c.is_ascii_digit() || ".,:".contains(c))
}

fn is_function_word(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    !bare.is_empty() && bare.chars().all(char::is_alphabetic) && is_stop_word(bare)
}

/// Where the label of a caption stands: `Figure 3: Title`, at the start or within a sentence that it interrupts.
pub(super) fn caption(sentence: &str) -> Option<usize> {
    static LABEL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?:^|\s)((?:Figure|FIGURE|Fig\.?|FIG\.?|Table|TABLE|Scheme)\s?[A-Z]?\d{1,3}[a-z]?\s?[.:|]\s+[\p{Lu}(“"])"#,
        )
    });
    let found = LABEL.captures(sentence)?.get(1)?.start();
    // `as shown in Figure 2: The` is prose that announces; a caption that interrupts follows no preposition.
    let announced = sentence[..found].split_whitespace().next_back().is_some_and(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        ["in", "see", "by", "of", "from", "to", "with", "and", "on", "the"].contains(&bare.as_str())
    });
    (!announced).then_some(found)
}

/// Where `Table 2Baseline` or `Fig. 1Flow` begins: a label that lost the space to its title, and to the sentence before.
pub(super) fn glued_label(sentence: &str) -> Option<usize> {
    static GLUED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?:^|[.?!)\]\s])((?:Tables?|Fig(?:ure)?s?\.?|Box)\s\d{1,2}[.:]?(?:\p{Lu}[\p{Ll}-]{2}|\p{Lu}{3}))",
        )
    });
    Some(GLUED.captures(sentence)?.get(1)?.start())
}

/// Whether cells of a table have run together: `158155 (162a)47360`, `(0.0)N/A0.87Neonatal`.
pub(super) fn has_glued_cells(sentence: &str) -> bool {
    static CELL: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\)\d|\d\p{Lu}\p{Ll}{2,}|\p{Ll}{3}\d+\.\d|\d\.\d+\.\d"));
    CELL.find_iter(sentence).count() >= GLUED_CELLS
}

/// Whether a sentence has two marks or more that only entries of reference lists have.
pub(super) fn is_reference(sentence: &str) -> bool {
    static MARK: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\b(?:19|20)\d\d[a-z]?;\s?\d+|\b\d+\s?\(\d+\):\s?[eE]?\d+|\bpp\.?\s\d+[-–]\d+|\bpages? \d+[-–]\d+|\bdoi:\s?10\.|\bIn Proc(?:eedings|\.)|\b[Vv]ol\. \d+|\barXiv:\d|\barXiv preprint",
        )
    });
    MARK.find_iter(sentence).take(2).count() == 2 || is_journal(sentence)
}

/// `Curr Biol 15: 1616–1628.`, `BMC Dev Biol. 2006;6:36.`: a few words that end with volume and pages are the end of an
/// entry.
fn is_journal(sentence: &str) -> bool {
    static PAGES: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            // Volume, issue, and a range of pages or an article number; or year and volume before any page.
            r"(?:^\p{Lu}.*\s\d{1,4}(?:\s?\([^)]{1,12}\))?:\s?(?:[eE]\d+|\p{L}?\d+\s?[-–]\s?\p{L}?\d+)",
            r"|(?:^|[\s(])(?:1[89]|20)\d\d[a-z]?(?:\s\p{Lu}\p{Ll}{2}(?:\s\d+)?)?;\s?\d{1,4}(?:\s?\([^)]{1,12}\))?:\s?\p{L}?\d+(?:\s?[-–]\s?\p{L}?\d+)?)",
            // Identifiers behind it.
            r"\.?(?:\s(?:doi|DOI|PMID|pmid):?\s?\S+)*(?:\s\d{7,8})?\.?$",
        ))
    });
    sentence.split_whitespace().count() <= JOURNAL_WORDS && PAGES.is_match(sentence.trim())
}

/// Whether a sentence is nothing but a label: `Figure 3.`, `Table S2.`; what follows it is the caption.
pub(super) fn is_bare_label(sentence: &str) -> bool {
    static LABEL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:Figure|FIGURE|Fig\.?|FIG\.?|Table|TABLE|Scheme)\s?[A-Z]?\d{1,3}[a-z]?\s?[.:|]?$",
        )
    });
    LABEL.is_match(sentence.trim())
}

/// Whether a sentence goes on with a caption that stands before it: it names a panel, or what bars and stars mean.
pub(super) fn continues_caption(sentence: &str) -> bool {
    static PANEL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:\(?[A-Z](?:\s?[,–-]\s?[A-Z]){0,3}[).,:]\s|(?:Left|Right|Top|Bottom|Upper|Lower|Middle|Inset)(?: panels?)?[:,]|(?:Error|Scale|Black|White) bars?\b|Bars? (?:represent|indicate|show|=)|(?:Data|Values|Results) (?:are|represent|were) (?:presented|shown|expressed|given|means?|the means?)\b|\*+\s?[pP]\s?[<=]|[pP]-values? (?:were|are)\b|Abbreviations: |DOI: )",
        )
    });
    PANEL.is_match(sentence)
}

/// Whether a sentence was added by publishers and printers, or is an author's address.
pub(super) fn is_boilerplate(sentence: &str) -> bool {
    static PRINTED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\bcorrespondence(?: to)?:|\bcorresponding author:|address (?:for )?correspondence|\be-?mail(?: address)?:|[\w.+-]+@[\w-]+\.\w|(?:^|\s)©\s?(?:19|20|the author|\p{Lu})|\ball rights reserved\b|permission to make digital|open.access article distributed|^received:? .{0,40}\baccepted\b|\bdownloaded from http|pre-publication history|\bcreative commons attribution|\bconceived and designed the experiments:|\bno competing (?:financial )?interests\b|\bthe funders had no role in study design|\bcontributed equally to this work\b",
        )
    });
    PRINTED.is_match(sentence) || is_address(sentence)
}

/// `Department of Surgery, University of X, City, Country`: institutions and names, and hardly a word in small letters.
fn is_address(sentence: &str) -> bool {
    // Makers of instruments stand in brackets.
    let sentence = without_brackets(sentence);
    static INSTITUTION: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\b(?:Department|Dept|Universit\w+|Institut\w*|School of|Hospital|Faculty|College|Laborator(?:y|ies)|Cent(?:er|re) for|Division)\b",
        )
    });
    const LINKS: [&str; 9] = ["of", "and", "for", "the", "de", "la", "und", "in", "at"];
    if sentence.matches(',').count() < 3 || INSTITUTION.find_iter(&sentence).take(2).count() < 2 {
        return false;
    }
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let others = words.iter().filter(|word| !LINKS.contains(&bare(word).as_str()));
    // An address has no verb: `The study was approved by the Faculty of …` has.
    if others.clone().any(|word| is_function_word(word)) {
        return false;
    }
    others.filter(|word| word.starts_with(char::is_lowercase)).count() * 6 <= words.len()
}
