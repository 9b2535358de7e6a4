//! Rows of tables and axes of figures within the running text.

use super::lines::Line;

/// Fewest rows that follow each other in a table.
const FEWEST_ROWS: usize = 2;
/// Most lines between two rows: the second line of a cell's text.
const LARGEST_HOLE: usize = 1;
/// Longest line in a hole, in words: more is running text between two tables.
const HOLE_WORDS: usize = 6;

/// For each line, whether it belongs to a table or figure: at least two rows of the same column follow each other.
pub(super) fn lines_of_tables(lines: &[Line]) -> Vec<bool> {
    let mut in_table = vec![false; lines.len()];
    let mut start: Option<usize> = None;
    let mut last = 0;
    let mut rows = 0;
    let mut close = |start: Option<usize>, last: usize, rows: usize| {
        if let Some(start) = start.filter(|_| rows >= FEWEST_ROWS) {
            in_table[start..=last].fill(true);
        }
    };
    for (at, line) in lines.iter().enumerate() {
        let is_near = start.is_some_and(|_| {
            let before = &lines[last];
            before.page == line.page
                && before.column == line.column
                && at - last <= LARGEST_HOLE + 1
                && lines[last + 1..at].iter().all(|hole| words(hole).count() <= HOLE_WORDS)
        });
        if !is_row(line) {
            continue;
        }
        if !is_near {
            close(start.take(), last, rows);
            (start, rows) = (Some(at), 0);
        }
        last = at;
        rows += 1;
    }
    close(start, last, rows);
    in_table
}

/// Whether a line is a row: cells that lie apart and at least one number among few words, or numbers alone. A formula,
/// which also lies apart from its number, has signs that cells do not have.
fn is_row(line: &Line) -> bool {
    let count = words(line).count();
    let numbers = words(line).filter(|word| is_number(word)).count();
    let formula = line.text.contains(['=', '\u{2211}', '\u{220f}', '\u{222b}', '\u{2208}']);
    if formula || numbers == 0 {
        return false;
    }
    let apart = line.cells >= 3 && numbers * 4 >= count;
    let pair = line.cells == 2 && numbers * 2 >= count && count <= 8;
    let alone = count >= 3 && numbers * 4 >= count * 3;
    apart || pair || alone
}

fn words(line: &Line) -> impl Iterator<Item = &str> {
    line.text.split(' ').filter(|word| !word.is_empty())
}

fn is_number(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| "()[]%*+-\u{2212}\u{2013}\u{b1}<>~,;".contains(c));
    !bare.is_empty()
        && bare.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && bare.chars().all(|c| c.is_ascii_digit() || ".,:/".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, cells: usize, column: usize) -> Line {
        Line { cells, column, ..Line::sample(text, 100.0, 10.0) }
    }

    #[test]
    fn rows_that_follow_each_other_are_a_table_and_prose_with_numbers_is_not() {
        // Lines of acl:E09-1079 and acl:C00-2123 as they are printed.
        let lines = [
            line("unknown words. The results are shown below.", 1, 0),
            line("Tag TnT Tree- RF SVM", 5, 0),
            line("VB 95.88% 95.88% 96.58% 96.80%", 5, 0),
            line("NN 94.64% 95.85% 94.79% 96.64%", 5, 0),
            line("tagger", 1, 0),
            line("PN 86.92% 79.73% 84.96% 81.70%", 5, 0),
            line("In 2009, 40 of 52 tags were right in 3 of 4 runs,", 1, 0),
            line("Words 519523 549921", 3, 1),
            line("and a single row is not enough", 1, 1),
            line("p(x) = 1 2 3 (4)", 3, 2),
            line("q(x) = 4 5 6 (5)", 3, 2),
        ];
        let found = lines_of_tables(&lines);
        let at: Vec<usize> = (0..lines.len()).filter(|at| found[*at]).collect();
        assert_eq!(at, [2, 3, 4, 5]);
        assert_eq!(lines_of_tables(&[]), Vec::<bool>::new());
    }
}
