//! What the passages of a section are made of, as its heading says.

use crate::paper::ABSTRACT_HEADING;
use crate::passage::PassageKind;

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

/// The kind of everything under `heading`: readers of documents put captions into sections headed `Figure 2` or
/// `Table S1`. What no heading tells apart is prose.
pub fn section_kind(heading: &str) -> PassageKind {
    let bare = heading.trim().trim_end_matches([':', '.']).to_lowercase();
    let bare = bare.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
    if heading == ABSTRACT_HEADING {
        PassageKind::Abstract
    } else if REFERENCES.contains(&bare) {
        PassageKind::References
    } else if is_label(heading) {
        PassageKind::Caption
    } else {
        PassageKind::Body
    }
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
        for heading in ["Figure 2", "Figure", "Table S1", "Table IV", "Scheme 1a"] {
            assert_eq!(section_kind(heading), PassageKind::Caption, "{heading}");
        }
        for heading in ["References", "REFERENCES", "7. Bibliography", "Literature cited:"] {
            assert_eq!(section_kind(heading), PassageKind::References, "{heading}");
        }
        assert_eq!(section_kind("Abstract"), PassageKind::Abstract);
        for heading in ["Table tennis", "Figures of speech", "Algorithm", "", "Box office", "I"] {
            assert_eq!(section_kind(heading), PassageKind::Body, "{heading}");
        }
    }
}
