//! How papers are named: in code, from their metadata, never by a model.

use std::fmt::Write as _;

use scholar_core::PaperMeta;

/// Surname as a citation has it: the last word of the name.
fn surname(name: &str) -> &str {
    name.split_whitespace().next_back().unwrap_or(name)
}

/// `Last`, `Last and Last`, `Last et al.`; the first words of the title where no author is known.
pub fn authors(paper: &PaperMeta) -> String {
    match paper.authors.as_slice() {
        [] => {
            let title = paper.display_title();
            title.split_whitespace().take(4).collect::<Vec<_>>().join(" ")
        }
        [one] => surname(one).to_owned(),
        [one, two] => format!("{} and {}", surname(one), surname(two)),
        [first, ..] => format!("{} et al.", surname(first)),
    }
}

/// `2023-05`, `2023` where the year alone is known, `n.d.` without either.
pub fn date(paper: &PaperMeta) -> String {
    match (paper.published, paper.year) {
        (Some(day), _) => format!("{:04}-{:02}", day.year(), day.month()),
        (None, Some(year)) => year.to_string(),
        (None, None) => "n.d.".to_owned(),
    }
}

/// `(Authors, date)`, as a citation stands in a text.
///
/// Source: specification B3.7.
pub fn citation(paper: &PaperMeta) -> String {
    format!("({}, {})", authors(paper), date(paper))
}

/// What a list of evidence says of a paper: title, citation, venue, how often it is cited.
pub(crate) fn line(paper: &PaperMeta) -> String {
    let mut line = format!("{} {}", paper.display_title(), citation(paper));
    if let Some(venue) = &paper.venue {
        line.push_str(". ");
        line.push_str(venue);
    }
    if let Some(count) = paper.citation_count {
        let _infallible = write!(line, ". Cited {count} times");
    }
    line
}

#[cfg(test)]
mod tests {
    use jiff::civil::Date;
    use scholar_core::PaperId;

    use super::*;

    #[test]
    fn one_two_and_many_authors_with_and_without_a_date() {
        let check = |authors: &[&str], published, year, expected: &str| {
            let paper = PaperMeta {
                authors: authors.iter().map(|&name| name.to_owned()).collect(),
                published,
                year,
                ..PaperMeta::new(PaperId::Pmid(1), "A title of five words")
            };
            assert_eq!(citation(&paper), expected);
        };
        let day = Some(Date::constant(2023, 5, 9));
        check(&["Ada B. Lovelace"], day, Some(2023), "(Lovelace, 2023-05)");
        check(&["A. Lovelace", "C. Babbage"], None, Some(1843), "(Lovelace and Babbage, 1843)");
        check(&["A One", "B Two", "C Three"], None, None, "(One et al., n.d.)");
        check(&[], None, None, "(A title of five, n.d.)");
    }
}
