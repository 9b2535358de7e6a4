//! Hyphens at the ends of printed lines.

/// Adds a line to text: hyphens of the printer go, those of the author stay, without a space.
pub(crate) fn join_line(text: &mut String, line: &str) {
    if joins_without_hyphen(text, line) {
        text.pop();
    } else if !text.is_empty() && !ends_in_hyphen(text) {
        text.push(' ');
    }
    text.push_str(line);
}

/// Whether a line's hyphen goes when the next line is joined to it: a hyphen before a small letter is the printer's, unless the word before it
/// is one that keeps it (`self-`, `non-`, a word that has hyphens already).
pub(crate) fn joins_without_hyphen(before: &str, after: &str) -> bool {
    let Some(stem) = before.strip_suffix(['-', '\u{2010}', '\u{ad}']) else { return false };
    if before.ends_with('\u{ad}') {
        return true;
    }
    let word = stem
        .rsplit(|c: char| c.is_whitespace() || "([/\u{2014}\u{201c}\"".contains(c))
        .next()
        .unwrap_or("");
    let keeps = ["self", "non", "well", "cross", "semi", "state"];
    let lower = word.to_lowercase();
    word.ends_with(|c: char| c.is_lowercase())
        && !word.contains('-')
        && word.chars().count() > 1
        && !word.chars().any(|c| c.is_ascii_digit())
        && !keeps.contains(&lower.as_str())
        && after.starts_with(char::is_lowercase)
}

/// Whether a line ends in a hyphen of a word that goes on: `state-of-` and `the-art`.
pub(crate) fn ends_in_hyphen(line: &str) -> bool {
    let mut back = line.chars().rev();
    back.next() == Some('-') && back.next().is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphens_of_the_printer_go_and_those_of_the_author_stay() {
        for (before, after) in
            [("the transla-", "tion of"), ("(com-", "plete"), ("word\u{ad}", "Parts")]
        {
            assert!(joins_without_hyphen(before, after), "{before}");
        }
        for (before, after) in [
            ("state-of-", "the-art"),
            ("self-", "attention"),
            ("GPT-", "like"),
            ("x-", "ray"),
            ("a", "b"),
        ] {
            assert!(!joins_without_hyphen(before, after), "{before}");
        }
    }
}
