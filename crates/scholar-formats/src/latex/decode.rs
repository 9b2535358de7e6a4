//! LaTeX of bibliographies → plain text: accents, symbols, braces, simple mathematics. One pass, no recursion.

use unicode_normalization::UnicodeNormalization as _;

use super::symbols::{ACCENTS, LOWERED, MATH, RAISED, TEXT};

/// Commands that print their argument as it is, or nothing.
const TRANSPARENT: [&str; 46] = [
    "emph",
    "textit",
    "textbf",
    "texttt",
    "textsc",
    "textrm",
    "textsf",
    "textsl",
    "textup",
    "textnormal",
    "textmd",
    "mathrm",
    "mathbf",
    "mathcal",
    "mathit",
    "mathbb",
    "mathsf",
    "mathtt",
    "mathfrak",
    "boldsymbol",
    "bm",
    "text",
    "mbox",
    "hbox",
    "enquote",
    "url",
    "path",
    "nolinkurl",
    "uppercase",
    "lowercase",
    "MakeUppercase",
    "MakeLowercase",
    "protect",
    "relax",
    "it",
    "bf",
    "em",
    "rm",
    "tt",
    "sc",
    "sl",
    "sf",
    "small",
    "large",
    "left",
    "right",
];

/// Commands whose first argument is not printed.
const DROPPED: [&str; 4] = ["noopsort", "href", "label", "vspace"];

/// What one pair of braces, or a `$`, opened.
#[derive(Clone, Copy)]
struct Group {
    math: bool,
    script: Option<Script>,
    /// Where its text begins in the output.
    start: usize,
    hidden: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Script {
    Raised,
    Lowered,
}

/// Plain text of LaTeX, and the commands that were not understood and left as they are.
pub(crate) fn decode(latex: &str) -> (String, Vec<String>) {
    let mut reader = LatexReader {
        rest: latex,
        out: String::with_capacity(latex.len()),
        groups: Vec::new(),
        accent: None,
        script: None,
        hide: false,
        math: false,
        unknown: Vec::new(),
    };
    while reader.step() {}
    (reader.out.nfc().collect(), reader.unknown)
}

struct LatexReader<'a> {
    rest: &'a str,
    out: String,
    groups: Vec<Group>,
    accent: Option<char>,
    script: Option<Script>,
    hide: bool,
    math: bool,
    unknown: Vec<String>,
}

impl LatexReader<'_> {
    fn step(&mut self) -> bool {
        let mut chars = self.rest.chars();
        let Some(c) = chars.next() else { return false };
        let after = chars.as_str();
        if !self.math
            && let Some((ligature, text)) =
                LIGATURES.iter().find(|(ligature, _)| self.rest.starts_with(ligature))
        {
            self.rest = &self.rest[ligature.len()..];
            self.put(text);
            return true;
        }
        self.rest = after;
        match c {
            '\\' => self.command(),
            '{' => self.open(),
            '}' => self.close(),
            '$' => {
                self.rest = self.rest.strip_prefix('$').unwrap_or(self.rest);
                self.math = !self.math;
            }
            '~' => self.put(" "),
            '^' if self.math => self.next_script(Script::Raised),
            '_' if self.math => self.next_script(Script::Lowered),
            _ => self.put_char(c),
        }
        true
    }

    fn open(&mut self) {
        let group = Group {
            math: self.math,
            script: self.script.take(),
            start: self.out.len(),
            hidden: self.hide,
        };
        self.hide = false;
        self.groups.push(group);
    }

    fn close(&mut self) {
        self.accent = None;
        // A brace nobody opened prints nothing.
        let Some(group) = self.groups.pop() else { return };
        self.math = group.math;
        if group.hidden {
            self.out.truncate(group.start);
        } else if let Some(script) = group.script {
            let text = self.out.split_off(group.start);
            self.put_script(script, &text);
        }
    }

    /// The next character or group is raised or lowered.
    fn next_script(&mut self, script: Script) {
        let mut chars = self.rest.chars();
        match chars.next() {
            Some('{') => self.script = Some(script),
            Some(c) if c != '\\' && c != '}' && c != '$' => {
                self.rest = chars.as_str();
                self.put_script(script, c.encode_utf8(&mut [0; 4]));
            }
            _ => self.out.push(if script == Script::Raised { '^' } else { '_' }),
        }
    }

    fn put_script(&mut self, script: Script, text: &str) {
        let (table, mark): (&[(char, char)], char) = match script {
            Script::Raised => (&RAISED, '^'),
            Script::Lowered => (&LOWERED, '_'),
        };
        let moved: Option<String> = text
            .chars()
            .map(|c| table.iter().find(|(plain, _)| *plain == c).map(|(_, moved)| *moved))
            .collect();
        match moved {
            Some(moved) => self.out.push_str(&moved),
            None => {
                if self.math {
                    self.out.push(mark);
                }
                self.out.push_str(text);
            }
        }
    }

    fn put(&mut self, text: &str) {
        for c in text.chars() {
            self.put_char(c);
        }
    }

    fn put_char(&mut self, c: char) {
        match self.accent {
            Some(_) if c.is_whitespace() => {}
            Some(accent) => {
                self.accent = None;
                self.out.push(match c {
                    'ı' => 'i',
                    'ȷ' => 'j',
                    _ => c,
                });
                self.out.push(accent);
            }
            None => self.out.push(c),
        }
    }

    fn command(&mut self) {
        let letters = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let Some(first) = self.rest.chars().next() else {
            self.out.push('\\');
            return;
        };
        let (name, rest) = self.rest.split_at(if letters > 0 { letters } else { first.len_utf8() });
        self.rest =
            if letters > 0 { rest.trim_start_matches([' ', '\t', '\n', '\r']) } else { rest };
        if let Some((_, accent)) = ACCENTS.iter().find(|(accent, _)| *accent == name) {
            self.accent = Some(*accent);
        } else if letters == 0 {
            self.symbol(first);
        } else {
            self.word(name, rest);
        }
    }

    fn symbol(&mut self, c: char) {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' | '|' => self.put_char(c),
            '(' | '[' => self.math = true,
            ')' | ']' => self.math = false,
            '-' | '/' | '!' | '@' => {}
            ' ' | ',' | ';' | ':' | '\\' | '\n' | '\t' => self.put(" "),
            _ => {
                self.out.push('\\');
                self.put_char(c);
            }
        }
    }

    /// A command of letters; `rest` is what follows it with its white space.
    fn word(&mut self, name: &str, rest: &str) {
        if let Some((_, text)) = TEXT.iter().find(|(command, _)| *command == name) {
            self.put(text);
        } else if let Some((_, c)) = MATH.iter().find(|(command, _)| *command == name) {
            self.put_char(*c);
            // In words, as outside of mathematics, the space behind a command is meant more often than not.
            if self.math && rest.starts_with(' ') && self.rest.starts_with(char::is_alphabetic) {
                self.out.push(' ');
            }
        } else if matches!(name, "ldots" | "dots" | "cdots" | "textellipsis") {
            self.put("…");
        } else if name == "textsuperscript" {
            self.script = Some(Script::Raised);
        } else if name == "textsubscript" {
            self.script = Some(Script::Lowered);
        } else if name == "ensuremath" && self.rest.starts_with('{') {
            self.rest = &self.rest[1..];
            self.open();
            self.math = true;
        } else if DROPPED.contains(&name) {
            self.hide = self.rest.starts_with('{');
        } else if name == "quad" || name == "qquad" || name == "newline" || name == "par" {
            self.put(" ");
        } else if !TRANSPARENT.contains(&name) {
            self.out.push('\\');
            self.out.push_str(name);
            if rest.starts_with(' ') {
                self.out.push(' ');
            }
            if self.unknown.len() < 8 && !self.unknown.iter().any(|known| known == name) {
                self.unknown.push(name.to_owned());
            }
        }
    }
}

const LIGATURES: [(&str, &str); 6] =
    [("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("?`", "¿"), ("!`", "¡")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_symbols_and_groups() {
        for (latex, plain) in [
            (r#"M{\"u}ller"#, "Müller"),
            (r#"M\"{u}ller and G\"odel"#, "Müller and Gödel"),
            (r"Garc{\'\i}a Garc\'{\i}a", "García García"),
            (r"\v{S}koda \c{C}a \c c {\AA}ngstr{\o}m \ss{}x", "Škoda Ça ç Ångstrøm ßx"),
            (r"{BERT}: {Pre}-training", "BERT: Pre-training"),
            (r"R\&D 50\% a\_b \$5 \#1 C\textbackslash{}D", r"R&D 50% a_b $5 #1 C\D"),
            ("``a'' -- b --- c~d", "“a” – b — c d"),
            (r"$\alpha$-syn, $x^2$, $10^{-3}$, H$_2$O, $x^{ab}$", "α-syn, x², 10⁻³, H₂O, x^ab"),
            (r"\textit{Homo} \emph{sapiens} 5\textsuperscript{2}", "Homo sapiens 5²"),
            (r"\href{http://x.y}{here}", "here"),
            (r"\foo bar", r"\foo bar"),
            (r"a } b { c", "a  b  c"),
            ("trailing \\", "trailing \\"),
            (r"\'", ""),
        ] {
            assert_eq!(decode(latex).0, plain, "{latex}");
        }
        assert_eq!(decode(r"\foo \foo \baz").1, ["foo", "baz"]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{}x{}", "{\\'".repeat(200_000), "}".repeat(200_000));
        assert_eq!(decode(&deep).0, "x\u{301}");
    }
}
