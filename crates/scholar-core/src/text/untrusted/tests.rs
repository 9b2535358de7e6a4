use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;

/// Strings in which what is obeyed and what means something is frequent.
fn strange() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[\\x00-\\x7f]{1,4}",
        2 => "[*_~`\\[\\]()<>#&;:|!\\\\ 0-9.+=-]{1,6}",
        2 => "[\u{80}-\u{9f}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffd}\u{e0000}-\u{e007f}]{1,3}",
        1 => "[\u{300}-\u{36f}\u{fe00}-\u{fe0f}]{1,40}",
        1 => any::<char>().prop_map(String::from),
        1 => "[a-zA-Z]{1,8}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Text that has nothing to hide.
const ORDINARY: [&str; 16] = [
    "p < 0.05 and x > 3, snake_case, (n = 12), C*-algebra, [sic] or R&D",
    "see [3] and [12, 14]; ~50% of a|b; 2 * 3 = 6",
    "-5 mV at +3 °C, #1 cause, 1.5 fold",
    "naïve Gödel Łódź Nguyễn e\u{301} a\u{308}\u{304}",
    "שלום עולם \u{5d0}\u{5b7}\u{5c1} العربية \u{200f}(x)\u{200e}",
    "漢字かな交じり文 한국어 ไทย हिन्दी क्\u{200d}ष می\u{200c}خواهم",
    "👩\u{200d}🔬 👨\u{200d}👩\u{200d}👧\u{200d}👦 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪 👍🏽",
    "5\u{a0}mg, thin\u{2009}space, soft\u{ad}hyphen, α–β ± ≤ 10⁻³ “quoted” ‘x’ …",
    "\\alpha and 50 % of 3 ≥ 2",
    "doi:10.1000/a_b(c)2-x",
    "A title. With: colons; and (parentheses) – dashes",
    "Is it? Yes! 100% sure @home $5",
    "E = mc^2 and {x, y}",
    "<5 years and <=3, -1 < x",
    "AT&T, R&D & co",
    "a' b\" c",
];

#[test]
fn ordinary_text_stays() {
    for text in ORDINARY {
        assert_eq!(untrusted(text).line().to_string(), text);
        assert_eq!(untrusted(text).block().to_string(), text);
        let mut markdown = Markdown::new();
        markdown.markup("x ").text(text);
        assert_eq!(markdown.into_string(), format!("x {text}"));
    }
}

#[test]
fn what_is_obeyed_is_shown_as_a_sign() {
    for (text, line) in [
        ("\u{1b}[31mred\u{7}", "\u{fffd}[31mred\u{fffd}"),
        ("\u{9b}2J\u{7f}\u{8}\0", "\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}"),
        ("a\r\nb\rc\u{2028}d\te", "a b c d e"),
        ("ab\u{202e}cd\u{2066}e", "ab\u{fffd}cd\u{fffd}e"),
        ("x\u{e0041}\u{e007f}", "x\u{fffd}\u{fffd}"),
        ("a\u{fe0f}\u{fe01}\u{fe02}b", "a\u{fe0f}\u{fffd}b"),
    ] {
        assert_eq!(untrusted(text).line().to_string(), line);
    }
    assert_eq!(untrusted("a\r\n\tb\rc\u{c}d").block().to_string(), "a\r\n\tb\nc\nd");
    let zalgo = format!("a{}b", "\u{301}".repeat(1000));
    assert_eq!(untrusted(&zalgo).line().to_string().chars().count(), 2 + LONGEST_RUN + 1);
}

#[test]
fn html_means_nothing() {
    assert_eq!(
        untrusted("<a href=\"x\">'&\u{1b}\r\n").html().to_string(),
        "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{fffd}\n"
    );
}

#[test]
fn markdown_is_escaped_where_it_means_something() {
    for (text, escaped) in [
        ("# Heading", "\\# Heading"),
        ("- item", "\\- item"),
        ("1986. A year", "1986\\. A year"),
        ("> quoted", "\\> quoted"),
        ("---", "\\---"),
        ("[x] done", "\\[x] done"),
        ("a\n\n# b", "a # b"),
        ("<script>", "\\<script>"),
        ("<!-- x -->", "\\<!-- x -->"),
        ("[a](http://x)", "[a\\](http://x)"),
        ("![a](x)", "![a\\](x)"),
        ("[a]: http://x", "[a\\]: http://x"),
        ("a[^1] b", "a\\[^1] b"),
        ("**bold** *it* _id_", "\\*\\*bold** \\*it* \\_id\\_"),
        ("```sh", "\\`\\`\\`sh"),
        ("~~gone~~", "\\~\\~gone\\~\\~"),
        ("&lt;b&#62;", "\\&lt;b\\&#62;"),
        ("a \\* b\\", "a \\\\* b\\\\"),
        ("C #", "C \\#"),
    ] {
        assert_eq!(untrusted(text).markdown(), escaped, "{text:?}");
    }
}

#[test]
fn messages_keep_their_code() {
    for (message, written) in [
        ("run `models pull a_b --from <PATH>`.", "run `models pull a_b --from <PATH>`."),
        ("one ` and <b>", "one \\` and \\<b>"),
        ("``` and *x", "\\`\\`\\` and \\*x"),
        ("`a`: *x `b", "\\`a\\`: \\*x \\`b"),
    ] {
        let mut markdown = Markdown::new();
        markdown.markup("- ").prose(message);
        assert_eq!(markdown.into_string(), format!("- {written}"));
    }
}

#[test]
fn only_addresses_of_the_web_are_links() {
    for (url, written) in [
        ("https://doi.org/10.1/a_b", "<https://doi.org/10.1/a_b>"),
        ("HTTP://x.org", "<HTTP://x.org>"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("https://x.org> # a", "https://x.org> # a"),
        ("https://x.org/\u{202e}gpj", "https://x.org/\u{fffd}gpj"),
    ] {
        let mut markdown = Markdown::new();
        markdown.markup("at ").address(url);
        assert_eq!(markdown.into_string(), format!("at {written}"));
    }
}

/// What a renderer shows of `markdown`, which must be one paragraph of text.
fn rendered(markdown: &str) -> Result<String, String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS;
    let mut shown = String::new();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
            Event::Text(text) => shown.push_str(&text),
            other => return Err(format!("{other:?} in {markdown:?}")),
        }
    }
    Ok(shown)
}

/// Obeyed, or a line break that few expect.
fn hides(c: char) -> bool {
    is_obeyed(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

proptest! {
    #[test]
    fn nothing_obeyed_is_left(text in strange()) {
        let line = untrusted(&text).line().to_string();
        prop_assert!(!line.contains(hides));
        prop_assert_eq!(untrusted(&line).line().to_string(), line);
        let block = untrusted(&text).block().to_string();
        let kept = block.replace("\r\n", "\n").replace(['\n', '\t'], "");
        prop_assert!(!kept.contains(hides));
        prop_assert_eq!(untrusted(&block).block().to_string(), block);
        let html = untrusted(&text).html().to_string();
        prop_assert!(!html.replace(['\n', '\t'], "").contains(is_obeyed));
        prop_assert!(!html.contains(['<', '>', '"', '\'']));
    }

    #[test]
    fn markdown_shows_the_words_and_nothing_else(text in strange()) {
        let line = untrusted(&text).line().to_string();
        let shown = rendered(&untrusted(&text).markdown());
        // Unicode spaces at the ends belong to nobody.
        prop_assert_eq!(shown.as_deref().map(str::trim), Ok(line.trim()));
    }

    #[test]
    fn emphasis_ends_where_it_should(text in strange(), after in strange()) {
        let mut markdown = Markdown::new();
        markdown.markup("x ").emphasis(&text).markup(" §§§ ").text(&after);
        let mut depth = 0;
        for event in Parser::new_ext(&markdown.to_string(), Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Start(Tag::Emphasis) => depth += 1,
                Event::End(TagEnd::Emphasis) => depth -= 1,
                Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
                Event::Text(text) => prop_assert!(depth == 0 || !text.contains("§§§"), "{}", markdown),
                other => prop_assert!(false, "{other:?} in {markdown}"),
            }
        }
        prop_assert_eq!(depth, 0);
    }

    #[test]
    fn json_says_the_same(text in strange()) {
        let written = serde_json::to_string(&text).expect("JSON");
        let safe = json(&written);
        prop_assert!(!safe.contains(hides));
        prop_assert_eq!(serde_json::from_str::<String>(&safe).expect("JSON"), text);
    }
}
