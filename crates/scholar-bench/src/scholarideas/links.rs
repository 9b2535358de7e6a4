//! Web addresses in a text.

/// Ends an address wherever it stands.
const END: [char; 6] = ['<', '>', '"', '`', '\\', '|'];
/// At its end these belong to the sentence.
const TRAILING: [char; 9] = ['.', ',', ';', ':', '!', '?', '\'', '*', '_'];
const OPEN: [char; 3] = ['(', '[', '{'];
const CLOSE: [char; 3] = [')', ']', '}'];

/// Distinct addresses that begin with `http://` or `https://`, in the order of the text.
///
/// Punctuation behind an address does not belong to it, nor does a bracket that it does not open itself: DOIs have pairs of them.
pub fn links_of(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let mut links: Vec<String> = Vec::new();
    let mut from = 0;
    while let Some(found) = lower[from..].find("http") {
        let start = from + found;
        let scheme = ["https://", "http://"].iter().find(|one| lower[start..].starts_with(**one));
        let Some(scheme) = scheme else {
            from = start + "http".len();
            continue;
        };
        let link = address(&text[start..]);
        from = start + link.len().max(scheme.len());
        if link.len() > scheme.len() && !links.iter().any(|known| known == link) {
            links.push(link.to_owned());
        }
    }
    links
}

/// The address at the start of `text`.
fn address(text: &str) -> &str {
    let mut open: Vec<char> = Vec::new();
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        let closes = CLOSE.iter().position(|one| *one == c);
        let unopened = closes.is_some_and(|which| open.pop() != Some(OPEN[which]));
        if c.is_whitespace() || c.is_control() || END.contains(&c) || unopened {
            end = at;
            break;
        }
        if OPEN.contains(&c) {
            open.push(c);
        }
    }
    text[..end].trim_end_matches(|c| TRAILING.contains(&c) || OPEN.contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_where_a_reader_would_end_them() {
        let check = |text: &str, expected: &[&str]| assert_eq!(links_of(text), expected, "{text}");
        check(
            "see https://a.example/x, and http://b.example.",
            &["https://a.example/x", "http://b.example"],
        );
        check(
            "[(Li, 2020-01)](https://doi.org/10.1016/S0140-6736(20)30183-5).",
            &["https://doi.org/10.1016/S0140-6736(20)30183-5"],
        );
        check(
            "(https://a.example/x)https://c.example",
            &["https://a.example/x", "https://c.example"],
        );
        check(
            "<https://a.example/y?q=1#z> `https://a.example/w`",
            &["https://a.example/y?q=1#z", "https://a.example/w"],
        );
        check("[https://a.example](https://a.example)", &["https://a.example"]);
        check("**HTTPS://A.example/B**; https:// httpx://no", &["HTTPS://A.example/B"]);
        check("\"https://a.example/é\"…", &["https://a.example/é"]);
        check("https://a.example/x) https://a.example/x", &["https://a.example/x"]);
        check("no link, ftp://x", &[]);
    }
}
