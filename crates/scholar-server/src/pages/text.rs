//! Text of strangers in pages.

use std::fmt::Write as _;

use maud::Render;
use scholar_core::text::untrusted;

/// A text that came from a paper, a model, a person or a file name.
pub(super) struct Text<'a>(&'a str);

/// Marks `text` to be shown and not obeyed.
pub(super) fn text(text: &str) -> Text<'_> {
    Text(text)
}

impl Render for Text<'_> {
    fn render_to(&self, buffer: &mut String) {
        let _infallible = write!(buffer, "{}", untrusted(self.0).html());
    }
}

/// An address that a paper or a source states, if it is one of the web.
pub(super) fn web_address(url: &str) -> Option<&str> {
    let lower = url.to_ascii_lowercase();
    let is_web = lower.starts_with("https://") || lower.starts_with("http://");
    (is_web && !url.contains(char::is_whitespace)).then_some(url)
}

/// A text as a part of an address of this site.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A number with thin groups of three, as people read it.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// One thing, or several.
pub(super) fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{} {}", grouped(n as u64), if n == 1 { one } else { several })
}

/// Milliseconds as seconds.
pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}

#[cfg(test)]
mod tests {
    use maud::html;
    use scholar_testing::hostile;

    use super::*;

    #[test]
    fn nothing_of_a_text_is_obeyed_in_an_element_or_an_attribute() {
        for one in hostile::STRINGS {
            let hostile = one.text();
            let page = html! { p title=(text(&hostile)) { (text(&hostile)) } }.into_string();
            assert!(hostile::obeyed(&page).is_empty(), "{page:?}");
            let inside = page.strip_prefix("<p title=\"").and_then(|p| p.strip_suffix("</p>"));
            let inside = inside.expect("one element").replacen("\">", "", 1);
            assert!(!inside.contains(['<', '>', '"', '\'']), "{inside}");
        }
        assert_eq!(web_address("javascript:alert(1)"), None);
        assert_eq!(web_address("HTTPS://doi.org/10.1/x"), Some("HTTPS://doi.org/10.1/x"));
        assert_eq!(encoded("a b/ü#1"), "a%20b%2F%C3%BC%231");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!([grouped(7), grouped(1_234), grouped(1_234_567)], ["7", "1,234", "1,234,567"]);
        assert_eq!(counted(1, "paper", "papers"), "1 paper");
        assert_eq!(seconds(12_345), "12.3 s");
    }
}
