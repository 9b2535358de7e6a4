//! The plan of an answer: sections with shares.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::markers::{between_markers, remove_markers};
use scholar_core::text::normalise::single_spaced;
use scholar_core::{DecidedBy, Outline, OutlineSection};

use crate::modes::evidence::pattern::pattern;

/// How far from 100 the shares may come out before they are scaled. Source: specification A3.1.
const TOLERANCE: f32 = 5.0;
/// Words of a heading that the model did not set apart from its text. Ours.
const HEADING_WORDS: usize = 8;
/// Most characters before a colon that are taken for a heading. Ours.
const LONGEST_HEADING: usize = 90;
/// Most sections read. Ours: a reply may go on forever.
const MOST_SECTIONS: usize = 20;

/// `1. (30%) Heading: text`, also with the share behind, in bold, or with a decimal point.
static LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*[*#>-]*\s*\(?(\d{1,2})[.):]\)?\s*(.+)$"));
static SHARE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[(\[]\s*~?(\d{1,3}(?:[.,]\d+)?)\s*%[^)\]]*[)\]]"));

/// Reads a model's reply. A text that cannot be read as a list has no sections and goes into prompts as it is.
pub(super) fn read(reply: &str) -> Outline {
    let text = remove_markers(&between_markers(reply).text).trim().to_owned();
    let mut sections: Vec<OutlineSection> =
        text.lines().filter_map(section).take(MOST_SECTIONS).collect();
    let renormalised_from = renormalise(&mut sections);
    Outline { text, sections, by: DecidedBy::Model, renormalised_from }
}

/// An outline of these sections, in equal shares, that the program made.
pub(super) fn of_headings(headings: Vec<String>) -> Outline {
    let n = headings.len();
    let mut sections: Vec<OutlineSection> = headings
        .into_iter()
        .map(|heading| OutlineSection { heading, content: String::new(), share: 1.0 })
        .collect();
    renormalise(&mut sections);
    let text = (1..=n)
        .zip(&sections)
        .map(|(nth, one)| format!("{nth}. ({:.0}%) {}\n", one.share, one.heading));
    let text = text.collect::<String>().trim_end().to_owned();
    Outline { text, sections, by: DecidedBy::Rule, renormalised_from: None }
}

fn section(line: &str) -> Option<OutlineSection> {
    let rest = LINE.captures(line)?.get(2)?.as_str();
    let found = SHARE.captures(rest)?;
    let share: f32 = found[1].replace(',', ".").parse().ok()?;
    let whole = found.get(0)?;
    let text = format!("{} {}", &rest[..whole.start()], &rest[whole.end()..]);
    let text = single_spaced(&text.replace("**", ""));
    let text = text.trim_matches(|c: char| c.is_whitespace() || "-–—:*".contains(c));
    if text.is_empty() {
        return None;
    }
    let seam = [":", " – ", " — "].into_iter().filter_map(|seam| text.split_once(seam));
    let (heading, content) = match seam.min_by_key(|(heading, _)| heading.len()) {
        Some((heading, content)) if heading.chars().count() <= LONGEST_HEADING => {
            (heading.trim().to_owned(), content.trim().to_owned())
        }
        _ => {
            let words: Vec<&str> = text.split_whitespace().take(HEADING_WORDS).collect();
            (words.join(" ").trim_end_matches(['.', ',', ';']).to_owned(), text.to_owned())
        }
    };
    Some(OutlineSection { heading, content, share })
}

/// Scales shares to 100 where their total is not near it; what it was then. Shares of 0 throughout become equal ones.
///
/// Deviation D76: the source does not read shares.
fn renormalise(sections: &mut [OutlineSection]) -> Option<f32> {
    let total: f32 = sections.iter().map(|one| one.share).sum();
    if sections.is_empty() || (total - 100.0).abs() <= TOLERANCE {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "an outline has few sections")]
    let equal = 100.0 / sections.len() as f32;
    for one in sections {
        one.share = if total > 0.0 { one.share * 100.0 / total } else { equal };
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(reply: &str) -> Vec<f32> {
        read(reply).sections.iter().map(|one| one.share.round()).collect()
    }

    #[test]
    fn shares_near_a_hundred_stay_and_others_are_scaled() {
        let three = "[Response_Start]1. (33%) A: a.\n2. (33%) B: b.\n3. (33%) C: c.[Response_End]";
        assert_eq!((shares(three), read(three).renormalised_from), (vec![33.0; 3], None));
        let low = "1. (20%) A: a\n2. (20%) B: b\n3. (20%) C: c";
        assert_eq!((shares(low), read(low).renormalised_from), (vec![33.0; 3], Some(60.0)));
        let high = "1. (100%) A: a\n2. (150%) B: b\n3. (50%) C: c";
        assert_eq!(
            (shares(high), read(high).renormalised_from),
            (vec![33.0, 50.0, 17.0], Some(300.0))
        );
        assert_eq!(shares("1. (0%) A: a\n2. (0%) B: b"), [50.0, 50.0]);
    }

    #[test]
    fn many_ways_to_write_a_line_and_what_is_none() {
        let check = |line: &str, heading: &str, content: &str| {
            let read = section(line).expect(line);
            assert_eq!(
                (read.heading.as_str(), read.content.as_str()),
                (heading, content),
                "{line}"
            );
        };
        check("1. (30%) Dose: how much helps.", "Dose", "how much helps.");
        check(
            "2) **Dose and timing** (30 %): how much helps.",
            "Dose and timing",
            "how much helps.",
        );
        check("(3) Dose – how much helps (12.5%)", "Dose", "how much helps");
        check(
            "- 4. (30% of the answer) Say what the trials of the last ten years found.",
            "Say what the trials of the last ten",
            "Say what the trials of the last ten years found.",
        );
        for line in ["(2019) reported 30%", "Dose: 30", "", "1. (30%)", "In 2. place (300x) it is"]
        {
            assert_eq!(section(line), None, "{line}");
        }
        let prose = read("I would first speak of doses, then of harms.");
        assert!(prose.sections.is_empty() && prose.text.starts_with("I would"));
    }

    #[test]
    fn what_the_program_plans_is_read_back() {
        let made = of_headings(vec!["Benefits".to_owned(), "Harms".to_owned()]);
        assert_eq!(read(&made.text).sections.len(), 2);
        assert!((made.sections[0].share - 50.0).abs() < 1e-6);
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_shares_come_to_a_hundred(lines in proptest::collection::vec((0_u32..400, "[A-Za-z :(%)0-9]{0,30}"), 0..25)) {
            let text: String = lines.iter().enumerate().map(|(nth, (share, text))| format!("{}. ({share}%) {text}\n", nth + 1)).collect();
            let outline = read(&text);
            let total: f32 = outline.sections.iter().map(|one| one.share).sum();
            proptest::prop_assert!(outline.sections.is_empty() || (94.9..=105.1).contains(&total), "{total}");
        }
    }
}
