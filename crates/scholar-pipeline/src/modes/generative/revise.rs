//! Revising a text by one feedback item, and when a revision counts.

use scholar_core::text::markers::{between_markers, cut_reference_section, remove_markers};

/// Longest first line taken for an announcement of the revised text, in characters. Ours.
const LONGEST_LEAD_IN: usize = 200;

/// The revised text of a reply: what stands between the markers, without an announcing first paragraph
/// (`Here is the revised answer:`) and without a closing reference section.
pub(crate) fn revised_text(reply: &str) -> String {
    let text = remove_markers(&between_markers(reply).text);
    let text = text
        .split_once("\n\n")
        .filter(|(first, _)| announces(first))
        .map_or(text.as_str(), |(_, rest)| rest);
    cut_reference_section(text).trim().to_owned()
}

fn announces(paragraph: &str) -> bool {
    let lower = paragraph.trim().to_lowercase();
    lower.ends_with(':')
        && lower.chars().count() <= LONGEST_LEAD_IN
        && !lower.starts_with('#')
        && ["revised", "edited", "updated", "improved", "here is", "here's"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Whether `revised` may replace `current`, and why.
///
/// It may if it has more than `ratio` times the code points; there is no upper bound. `keeps_empty` is upstream's
/// rule for revisions with new passages: anything may replace an empty text.
pub(crate) fn accept(current: &str, revised: &str, ratio: f64) -> (bool, String) {
    let (before, after) = (current.chars().count(), revised.chars().count());
    if after == 0 {
        return (false, "the revision is empty".to_owned());
    }
    if before == 0 {
        return (true, "there was no text before".to_owned());
    }
    if revised == current {
        return (false, "the revision changes nothing".to_owned());
    }
    let share = float(after) / float(before);
    let length = format!("the revision has {:.0} % of the text's length", share * 100.0);
    (share > ratio, length)
}

#[expect(clippy::cast_precision_loss, reason = "texts stay far below 2^53 characters")]
fn float(chars: usize) -> f64 {
    chars as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_must_keep_the_length_in_code_points() {
        let check = |current: &str, revised: &str| accept(current, revised, 0.9).0;
        assert!(!check("0123456789", "012345678"), "0.9 is not more than 0.9");
        assert!(check("0123456789", "0123456780"));
        assert!(!check("ääääääääää", "aaaaaaaaa"), "characters, not bytes");
        assert!(check("a", &"b".repeat(1_000)), "no upper bound");
        assert!(check("", "x") && !check("x", "") && !check("", ""));
        assert!(!check("same", "same"));
    }

    #[test]
    fn announcements_and_reference_lists_go() {
        let check = |reply: &str, expected: &str| assert_eq!(revised_text(reply), expected);
        check("Here is the revised answer:\n\nText [1].", "Text [1].");
        check("[Response_Start]A [0].\n\n## References\n[0] x[Response_End]", "A [0].");
        check("We compare two groups:\n\nText.", "We compare two groups:\n\nText.");
        check("See References: none.\nMore.", "See References: none.\nMore.");
        check("[Response_Start]Cut short", "Cut short");
    }
}
