//! Headings in text that has no markup.

/// Headings papers share, lower-case.
const WELL_KNOWN: [&str; 44] = [
    "abstract",
    "summary",
    "introduction",
    "background",
    "related work",
    "previous work",
    "motivation",
    "preliminaries",
    "problem statement",
    "method",
    "methods",
    "methodology",
    "materials and methods",
    "methods and materials",
    "materials",
    "patients and methods",
    "approach",
    "model",
    "data",
    "dataset",
    "datasets",
    "corpus",
    "experimental setup",
    "experimental results",
    "experiments",
    "experiment",
    "evaluation",
    "results",
    "results and discussion",
    "analysis",
    "error analysis",
    "discussion",
    "discussion and conclusion",
    "conclusion",
    "conclusions",
    "conclusion and future work",
    "conclusions and future work",
    "concluding remarks",
    "future work",
    "limitations",
    "appendix",
    "supplementary material",
    "system description",
    "implementation",
];

/// Headings behind which only the list of references stands.
const REFERENCES: [&str; 6] = [
    "references",
    "bibliography",
    "literature cited",
    "works cited",
    "references and notes",
    "literature",
];

/// Headings of parts that are no argument: they end the section before, and their text is left out.
const BACK_MATTER: [&str; 17] = [
    "acknowledgements",
    "acknowledgments",
    "acknowledgement",
    "acknowledgment",
    "funding",
    "author contributions",
    "authors' contributions",
    "competing interests",
    "conflict of interest",
    "conflicts of interest",
    "declaration of competing interest",
    "data availability",
    "data availability statement",
    "financial disclosure",
    "disclosure",
    "contributors",
    "declarations",
];

/// What a heading opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opens {
    /// The abstract.
    Abstract,
    /// A part of the argument.
    Body,
    /// The list of references.
    References,
    /// Thanks, funding, declarations.
    BackMatter,
}

/// A line that is a heading: the number it carries, its words, what it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) number: Option<String>,
    pub(crate) title: String,
    pub(crate) opens: Opens,
    /// Whether the words alone make it a heading, whatever it looks like.
    pub(crate) well_known: bool,
}

/// Reads a line as a heading: `3.1 Data`, `IV. RESULTS`, `A Appendix`, `Abstract`. A number needs words behind it that
/// begin with a capital and do not end like a sentence; whether such a line is one is for the caller to judge by its
/// looks.
pub(crate) fn heading(line: &str) -> Option<Heading> {
    let line = line.trim();
    if line.is_empty() || line.chars().count() > 120 {
        return None;
    }
    let (number, title) = split_number(line);
    let title = title.trim().trim_end_matches([':', '.']).trim();
    let plain = title.to_lowercase().replace('\u{2019}', "'");
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let spaced: String = plain.split(' ').collect();
    let is = |list: &[&str]| {
        list.contains(&plain.as_str())
            || (plain.len() + 2 > spaced.len() * 2 && list.contains(&spaced.as_str()))
    };
    let opens = if is(&REFERENCES) {
        Opens::References
    } else if is(&BACK_MATTER) {
        Opens::BackMatter
    } else if plain == "abstract" || spaced == "abstract" {
        Opens::Abstract
    } else {
        Opens::Body
    };
    let well_known = opens != Opens::Body || is(&WELL_KNOWN);
    let titled = title.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase);
    if !titled || !(well_known || number.is_some()) {
        return None;
    }
    Some(Heading { number, title: title.to_owned(), opens, well_known })
}

/// `3.1.2 Title`, `IV. Title`, `A.1 Title`, `Appendix B Title`: the number without its last stop, and the rest.
fn split_number(line: &str) -> (Option<String>, &str) {
    let rest = line.strip_prefix("Appendix ").unwrap_or(line);
    let Some((head, tail)) = rest.split_once(char::is_whitespace) else { return (None, line) };
    let dotted = head.ends_with('.') || head.ends_with(')');
    let bare = head.trim_end_matches(['.', ')', ':']);
    let parts: Vec<&str> = bare.split('.').collect();
    let digits =
        |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let letter = |part: &str| part.len() == 1 && part.bytes().all(|b| b.is_ascii_uppercase());
    let roman = |part: &str| {
        !part.is_empty() && part.len() <= 5 && part.bytes().all(|b| b"IVX".contains(&b))
    };
    let numbered = parts.len() <= 4
        && (parts.iter().all(|part| digits(part))
            || (letter(parts[0])
                && (parts.len() > 1 || dotted || rest.len() != line.len())
                && parts[1..].iter().all(|part| digits(part)))
            || (parts.len() == 1 && dotted && roman(bare)));
    if numbered && !tail.trim().is_empty() {
        (Some(bare.to_owned()), tail.trim())
    } else {
        (None, line)
    }
}

/// The titles above a numbered heading and its own, as in `Methods: Participants`.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    open: Vec<(String, String)>,
}

impl Outline {
    /// The path of a heading; one without a number starts afresh.
    pub(crate) fn path(&mut self, heading: &Heading) -> String {
        let Some(number) = &heading.number else {
            self.open.clear();
            return heading.title.clone();
        };
        self.open.retain(|(above, _)| number.starts_with(&format!("{above}.")));
        self.open.push((number.clone(), heading.title.clone()));
        self.open.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>().join(": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_headings_by_their_number_or_their_words() {
        let read = |line: &str| heading(line).map(|h| (h.number, h.title, h.opens, h.well_known));
        assert_eq!(
            read("1 Introduction"),
            Some((Some("1".into()), "Introduction".into(), Opens::Body, true))
        );
        assert_eq!(
            read("3.1. Our Data"),
            Some((Some("3.1".into()), "Our Data".into(), Opens::Body, false))
        );
        assert_eq!(
            read("IV. RESULTS"),
            Some((Some("IV".into()), "RESULTS".into(), Opens::Body, true))
        );
        assert_eq!(
            read("A.2 More tables"),
            Some((Some("A.2".into()), "More tables".into(), Opens::Body, false))
        );
        assert_eq!(read("References"), Some((None, "References".into(), Opens::References, true)));
        assert_eq!(read("A B S T R A C T").map(|h| h.2), Some(Opens::Abstract));
        assert_eq!(read("7. Acknowledgements").map(|h| h.2), Some(Opens::BackMatter));
        for line in
            ["A model is a thing", "12 of them came", "results", "The end", "1999 Results", "1 ."]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn numbers_make_paths() {
        let mut outline = Outline::default();
        let mut path = |line| outline.path(&heading(line).expect("heading"));
        assert_eq!(path("2 Methods"), "Methods");
        assert_eq!(path("2.1 People"), "Methods: People");
        assert_eq!(path("2.2 Data"), "Methods: Data");
        assert_eq!(path("3 Results"), "Results");
        assert_eq!(path("Discussion"), "Discussion");
    }
}
