//! The title of a paper: its largest type, or what stands above the names of its authors.

use super::super::hyphens::join_line;
use super::authors;
use super::cells::Cell;
use super::lines::Line;

/// Smallest lead over the body's type that makes a line a title.
const LARGER: f64 = 1.15;

/// The title and which of the first page's lines it stands in; `None` where nothing is clear.
pub(super) fn find(lines: &[Line], body: f64) -> Option<(String, Vec<usize>)> {
    let first: Vec<(usize, &Line)> =
        lines.iter().enumerate().filter(|(_, line)| line.page == 1).collect();
    let letters = |line: &Line| line.text.chars().filter(|c| c.is_alphabetic()).count();
    let candidates = || {
        first.iter().filter(|(_, line)| {
            letters(line) >= 4
                && !is_label(&line.text)
                && line.text.contains(|c: char| c.is_lowercase() || c.is_uppercase())
        })
    };
    let lowest = first.iter().map(|(_, line)| line.y).fold(0.0, f64::max);
    let largest = candidates()
        .filter(|(_, line)| line.y < lowest * 0.6 && letters(line) >= 8)
        .map(|(_, line)| line.size)
        .fold(0.0, f64::max);
    if largest >= body * LARGER {
        let start =
            candidates().find(|(_, line)| line.size >= largest * 0.97 && line.y < lowest * 0.6)?.0;
        let mut taken: Vec<usize> = Vec::new();
        let mut text = String::new();
        let mut y = lines[start].y;
        for (at, line) in first.iter().filter(|(at, line)| *at >= start && letters(line) > 0) {
            if line.size < largest * 0.93 || (line.y - y).abs() > largest * 2.2 || taken.len() >= 6
            {
                break;
            }
            y = line.y;
            taken.push(*at);
            join_line(&mut text, &line.text);
        }
        let text = text
            .trim_matches(|c: char| c.is_whitespace() || "*\u{2217}\u{2020}".contains(c))
            .to_owned();
        if text.split(' ').count() >= 2 && text.chars().count() <= 300 {
            return Some((text, taken));
        }
    }
    None
}

/// What journals print above a title, often in larger type: the kind of article.
fn is_label(text: &str) -> bool {
    #[rustfmt::skip]
    const LABELS: [&str; 22] = [
        "research article", "original article", "original research", "original paper", "review article", "review",
        "open access", "research open access", "research", "article", "editorial", "short communication",
        "short report", "brief report", "brief communication", "case report", "letter to the editor",
        "technical note", "technical report", "working paper", "conference paper", "regular paper",
    ];
    let letters: String =
        text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
    LABELS.iter().any(|label| label.replace(' ', "") == letters)
}

/// Programs write their own names and file names where a title should be.
pub(super) fn is_sensible(title: &str) -> bool {
    let lower = title.to_lowercase();
    let program = [
        "microsoft",
        "untitled",
        ".doc",
        ".dvi",
        ".tex",
        ".pdf",
        ".qxd",
        ".indd",
        "layout 1",
        "paper.",
        "template",
    ];
    title.split_whitespace().count() >= 3 && !program.iter().any(|word| lower.contains(word))
}

/// The title of a page that sets it in no larger type, and the base line of its last line: what stands above the authors,
/// in lines right below each other.
pub(super) fn above_authors(region: &[&Cell]) -> Option<(String, f64)> {
    let first = authors::first(region)?;
    let above = region.get(..first)?;
    let last = above.last()?;
    let mut lines: Vec<&Cell> = Vec::new();
    for cell in above.iter().rev() {
        let goes_on = lines.last().is_none_or(|below| {
            below.y - cell.y < below.size * 2.0 && (below.size - cell.size).abs() < 0.5
        });
        if !goes_on || lines.len() >= 4 {
            break;
        }
        lines.push(cell);
    }
    let mut text = String::new();
    for cell in lines.iter().rev() {
        join_line(&mut text, cell.plain().trim());
    }
    let words = text.split(' ').count();
    (2..=40).contains(&words).then_some((text, last.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_type_is_the_title_over_its_marks_and_below_labels() {
        let mut lines = vec![
            Line::sample("RESEARCH ARTICLE", 40.0, 20.0),
            Line::sample("A Study of Things on", 80.0, 16.0),
            Line::sample("\u{2217}", 90.0, 8.0),
            Line::sample("Several Platforms", 98.0, 16.0),
            Line::sample("Ada Ng", 120.0, 12.0),
        ];
        lines.extend(
            (0..20_u32).map(|at| Line::sample("some text", 140.0 + 20.0 * f64::from(at), 10.0)),
        );
        let found = find(&lines, 10.0);
        assert_eq!(found, Some(("A Study of Things on Several Platforms".to_owned(), vec![1, 3])));
        assert!(!is_sensible("Microsoft Word - paper.doc") && is_sensible("A Study of Things"));
    }

    #[test]
    fn without_larger_type_the_title_stands_above_the_authors() {
        let cells = [
            Cell::of("A Journal, Number 1", (50.0, 60.0), 9.0, 1),
            Cell::of("On Things That Are Not", (50.0, 100.0), 10.0, 1),
            Cell::of("Larger Than Their Text", (50.0, 112.0), 10.0, 1),
            Cell::of("Ada Ng and Bo Li", (50.0, 140.0), 10.0, 1),
        ];
        let cells: Vec<&Cell> = cells.iter().collect();
        let expect = "On Things That Are Not Larger Than Their Text".to_owned();
        assert_eq!(above_authors(&cells), Some((expect, 112.0)));
        assert_eq!(above_authors(&cells[3..]), None);
    }
}
