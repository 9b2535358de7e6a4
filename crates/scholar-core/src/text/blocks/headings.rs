//! Kinds that a section's heading states.

use crate::passage::PassageKind;

use super::signs;

/// Heading of a section that holds the text of tables and figures, as readers of documents write it.
pub const TABLE_TEXT_HEADING: &str = "Text of tables and figures";

/// Headings behind which only a reference list stands, lower-case.
const REFERENCES: [&str; 7] = [
    "references",
    "bibliography",
    "literature cited",
    "works cited",
    "references and notes",
    "reference list",
    "cited literature",
];

/// The kind of everything under `heading`; `None` when the text has to be looked at.
pub(super) fn kind(heading: &str, text: &str) -> Option<PassageKind> {
    if heading == TABLE_TEXT_HEADING {
        return Some(PassageKind::Table);
    }
    let bare = heading.trim().trim_end_matches([':', '.']).to_lowercase();
    let bare = bare.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
    if REFERENCES.contains(&bare) {
        return Some(PassageKind::References);
    }
    is_label(heading)
        .then(|| if signs::is_tabular(text) { PassageKind::Table } else { PassageKind::Caption })
}

/// `Figure`, `Figure 3`, `Table S2`, `Scheme 1a`: a label and nothing else.
fn is_label(heading: &str) -> bool {
    let mut words = heading.split(' ');
    let name = words.next().unwrap_or_default();
    let is_number = |word: &str| {
        word.chars().count() <= 5
            && (word.contains(|c: char| c.is_ascii_digit())
                || word.chars().all(|c| "IVX".contains(c)))
    };
    match (words.next(), words.next()) {
        (None, _) => matches!(name, "Figure" | "Table"),
        (Some(number), None) => {
            matches!(name, "Figure" | "Table" | "Scheme" | "Chart" | "Algorithm")
                && is_number(number)
        }
        (Some(_), Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_lists_are_known_by_their_headings() {
        let of = |heading: &str| kind(heading, "Flow of the participants through the trial.");
        for heading in ["Figure 2", "Figure", "Table S1", "Table IV", "Scheme 1a"] {
            assert_eq!(of(heading), Some(PassageKind::Caption), "{heading}");
        }
        for heading in ["References", "REFERENCES", "7. Bibliography", "Literature cited:"] {
            assert_eq!(of(heading), Some(PassageKind::References), "{heading}");
        }
        assert_eq!(of(TABLE_TEXT_HEADING), Some(PassageKind::Table));
        for heading in
            ["Table tennis", "Figures of speech", "Algorithm", "Abstract", "", "Box office", "I"]
        {
            assert_eq!(of(heading), None, "{heading}");
        }
    }
}
