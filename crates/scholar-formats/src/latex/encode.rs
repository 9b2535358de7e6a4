//! Plain text → LaTeX that any engine compiles.

use scholar_core::text::untrusted;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

use super::symbols::{ACCENTS, LOWERED, MATH, RAISED, TEXT};

/// Text of a `BibTeX` field: characters that mean something to LaTeX are written as commands, letters stay UTF-8, as
/// reference managers write them. No brace is left unpaired, because `BibTeX` counts escaped ones too.
pub(crate) fn field(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for c in untrusted(text).line().to_string().chars() {
        if breaks_ligature(before, c) {
            out.push_str("{}");
        }
        match special(c) {
            Some(escaped) => out.push_str(escaped),
            None if c.is_whitespace() || c.is_control() => out.push(' '),
            None => out.push(c),
        }
        before = c;
    }
    out
}

/// Text of a document: [`field`], and letters outside of ASCII as commands where LaTeX has one. What no command
/// writes (other scripts) stays a character for engines that have a font, and is guarded by `\oschar` for those that
/// have not.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let composed: Vec<char> = untrusted(text).line().to_string().nfc().collect();
    for (at, &c) in composed.iter().enumerate() {
        if breaks_ligature(before, c) {
            out.push_str("{}");
        }
        before = c;
        let combines =
            composed.get(at + 1).is_some_and(|next| canonical_combining_class(*next) > 0);
        if canonical_combining_class(c) > 0 && at > 0 {
            continue;
        }
        if combines {
            let marks: Vec<char> = composed[at + 1..]
                .iter()
                .copied()
                .take_while(|next| canonical_combining_class(*next) > 0)
                .collect();
            out.push_str(&accented(c, &marks));
        } else {
            letter(c, &mut out);
        }
    }
    out
}

/// One character of a document.
fn letter(c: char, out: &mut String) {
    let wrapped = |out: &mut String, inner: String| out.push_str(&inner);
    if let Some(escaped) = special(c) {
        out.push_str(escaped);
    } else if c.is_whitespace() {
        out.push(if c == '\u{a0}' { '~' } else { ' ' });
    } else if c.is_control() || is_invisible(c) {
        // Nothing to print.
    } else if c.is_ascii() {
        out.push(c);
    } else if let Some((name, _)) = TEXT.iter().find(|(_, text)| text.chars().eq([c])) {
        wrapped(out, format!("\\{name}{{}}"));
    } else if let Some((name, _)) = MATH.iter().find(|(_, math)| *math == c) {
        wrapped(out, format!("\\ensuremath{{\\{name}}}"));
    } else if let Some((plain, _)) = RAISED.iter().find(|(_, raised)| *raised == c) {
        wrapped(out, format!("\\ensuremath{{^{{{plain}}}}}"));
    } else if let Some((plain, _)) = LOWERED.iter().find(|(_, lowered)| *lowered == c) {
        wrapped(out, format!("\\ensuremath{{_{{{plain}}}}}"));
    } else if let Some(plain) = simple(c) {
        out.push_str(plain);
    } else {
        let parts: Vec<char> = std::iter::once(c).nfd().collect();
        match parts.split_first() {
            Some((base, marks)) if !marks.is_empty() => out.push_str(&accented(*base, marks)),
            _ => compatible(c, out),
        }
    }
}

/// A base character under its accents, the innermost first.
fn accented(base: char, marks: &[char]) -> String {
    let mut inner = String::new();
    match base {
        'i' => inner.push_str("\\i{}"),
        'j' => inner.push_str("\\j{}"),
        _ => letter(base, &mut inner),
    }
    let known: Option<Vec<&str>> = marks
        .iter()
        .map(|mark| ACCENTS.iter().find(|(_, accent)| accent == mark).map(|(name, _)| *name))
        .collect();
    let Some(known) = known else {
        // Written as it is, a brace or a backslash under a mark would be obeyed.
        if special(base).is_some() {
            return inner + &guarded(&marks.iter().collect::<String>());
        }
        let text: String = std::iter::once(base).chain(marks.iter().copied()).nfc().collect();
        return guarded(&text);
    };
    // A dotless letter is wanted under accents above only.
    if known.iter().all(|name| ["c", "k", "d", "b"].contains(name)) && "ij".contains(base) {
        inner = base.to_string();
    }
    known.iter().fold(inner, |inner, name| format!("\\{name}{{{inner}}}"))
}

/// A character without a command: its compatible form where that is ASCII, else itself, guarded.
fn compatible(c: char, out: &mut String) {
    let plain: String =
        std::iter::once(c).nfkc().map(|c| if c == '\u{2044}' { '/' } else { c }).collect();
    if plain.chars().all(|c| c.is_ascii() && !c.is_ascii_control()) && !plain.is_empty() {
        for c in plain.chars() {
            letter(c, out);
        }
    } else {
        out.push_str(&guarded(c.encode_utf8(&mut [0; 4])));
    }
}

/// A text only engines with fonts for it can print: they get it, the others its code points.
fn guarded(text: &str) -> String {
    let codes: Vec<String> = text.chars().map(|c| format!("U+{:04X}", u32::from(c))).collect();
    format!("\\oschar{{{}}}{{{text}}}", codes.join(" "))
}

/// Characters that mean something to LaTeX, and how they are written.
fn special(c: char) -> Option<&'static str> {
    Some(match c {
        '\\' => "\\textbackslash{}",
        '{' => "\\textbraceleft{}",
        '}' => "\\textbraceright{}",
        '~' => "\\textasciitilde{}",
        '^' => "\\textasciicircum{}",
        '%' => "\\%",
        '&' => "\\&",
        '#' => "\\#",
        '_' => "\\_",
        '$' => "\\$",
        '<' => "\\textless{}",
        '>' => "\\textgreater{}",
        '|' => "\\textbar{}",
        '"' => "\\textquotedbl{}",
        _ => return None,
    })
}

/// Whether `c` behind `before` would print as one sign: dashes, quotation marks.
fn breaks_ligature(before: char, c: char) -> bool {
    matches!((before, c), ('-', '-') | ('`' | '?' | '!', '`') | ('\'', '\'') | (',', ','))
}

/// Characters outside of ASCII that are plain ones in print.
fn simple(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2010}' | '\u{2011}' => "-",
        '\u{2012}' => "--",
        '\u{2015}' => "---",
        '\u{2212}' => "\\ensuremath{-}",
        '\u{2044}' | '\u{2215}' => "/",
        '″' => "\\ensuremath{''}",
        '◦' => "\\ensuremath{\\circ}",
        '□' => "[]",
        '✓' | '✔' => "\\ensuremath{\\surd}",
        '\u{fffd}' => "?",
        _ => return None,
    })
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::super::decode::decode;
    use super::*;

    #[test]
    fn documents_need_no_font_for_common_signs() {
        for (plain, latex) in [
            ("50% & {x}_1", r"50\% \& \textbraceleft{}x\textbraceright{}\_1"),
            (
                "Gödel ±3 ≤ α²",
                r#"G\"{o}del \ensuremath{\pm}3 \ensuremath{\leq} \ensuremath{\alpha}\ensuremath{^{2}}"#,
            ),
            ("ệ", r"\^{\d{e}}"),
            ("í ç", r"\'{\i{}} \c{c}"),
            ("a--b", "a-{}-b"),
            ("ﬁ ½", "fi 1/2"),
        ] {
            let written = text(plain);
            assert_eq!(written, latex);
        }
        assert_eq!(text("漢"), "\\oschar{U+6F22}{漢}");
        assert!(text("ж").contains("\\oschar"), "other scripts are guarded");
    }

    #[test]
    fn fields_come_back() {
        for plain in
            ["a--b ``c'' d---e", r#"{ } \ ~ ^ $x_1$ % & # "q" <b> |"#, "?` !` ,,", "Müller ² α"]
        {
            assert_eq!(decode(&field(plain)), (plain.to_owned(), Vec::new()));
            assert_eq!(decode(&text(plain).replace("\\ensuremath{^{2}}", "²")).0, plain);
        }
    }
}
