//! The list of references: lines to entries.

use std::collections::HashMap;

use super::super::PrintedReference;
use super::super::hyphens::join_line;
use super::super::reference_list;
use super::lines::Line;

/// Parts the lines into entries: by their numbers or keys if most have one, else by the hanging indent.
pub(super) fn read(lines: &[Line]) -> Vec<PrintedReference> {
    let numbered = lines.iter().filter(|line| reference_list::is_numbered(&line.text)).count();
    let by_number = numbered >= 3 || (numbered > 0 && numbered * 6 >= lines.len());
    let columns = Columns::of(lines);
    let mut entries: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let starts = if by_number {
            reference_list::is_numbered(&line.text)
        } else {
            let margin = columns.margin(line);
            line.left <= margin + line.size * 0.4
                && starts_like_a_name(&line.text)
                && !goes_on(lines, at, &columns)
        };
        match entries.last_mut().filter(|_| !starts) {
            Some(open) => join_line(open, &line.text),
            None => entries.push(line.text.clone()),
        }
    }
    entries.iter().filter_map(|entry| reference_list::entry(entry)).collect()
}

/// The left edge of each column of each page, and how far in its lines begin at most, less half their type.
struct Columns(HashMap<(u32, usize), (f64, f64)>);

impl Columns {
    fn of(lines: &[Line]) -> Self {
        let mut columns = HashMap::new();
        for line in lines {
            let (margin, furthest) =
                columns.entry((line.page, line.column)).or_insert((f64::MAX, f64::MIN));
            *margin = line.left.min(*margin);
            *furthest = (line.left - line.size * 0.5).max(*furthest);
        }
        Self(columns)
    }

    /// The left edge of the column a line stands in.
    fn margin(&self, line: &Line) -> f64 {
        self.0.get(&(line.page, line.column)).map_or(f64::MAX, |(margin, _)| *margin)
    }

    /// Whether a line of the column hangs, that is begins further in than half its type.
    fn hangs(&self, line: &Line) -> bool {
        self.0.get(&(line.page, line.column)).is_some_and(|(margin, furthest)| furthest > margin)
    }
}

fn starts_like_a_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_uppercase() || c == '\u{201c}' || c == '[')
        || ["de ", "van ", "von ", "di ", "da ", "el ", "al-"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
}

/// Whether the line before is unfinished. Where nothing hangs, all lines begin at the margin, and only a full stop tells
/// the end of an entry.
fn goes_on(lines: &[Line], at: usize, columns: &Columns) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| lines.get(at)) else { return false };
    !before.text.ends_with(['.', ']', ')']) && !columns.hangs(before)
}
