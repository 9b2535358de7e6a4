//! The list of references: lines to entries.

use super::super::DocumentReference;
use super::super::reference_list;
use super::lines::Line;
use super::paper::join;

/// Parts the lines into entries: by their numbers or keys if most have one, else by the hanging indent.
pub(super) fn read(lines: &[Line]) -> Vec<DocumentReference> {
    let numbered = lines.iter().filter(|line| reference_list::is_numbered(&line.text)).count();
    let by_number = numbered >= 3 || (numbered > 0 && numbered * 6 >= lines.len());
    let mut entries: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let starts = if by_number {
            reference_list::is_numbered(&line.text)
        } else {
            let margin = margin(lines, line);
            line.left <= margin + line.size * 0.4
                && starts_like_a_name(&line.text)
                && !goes_on(lines, at)
        };
        match entries.last_mut().filter(|_| !starts) {
            Some(open) => join(open, &line.text),
            None => entries.push(line.text.clone()),
        }
    }
    entries.iter().filter_map(|entry| reference_list::entry(entry)).collect()
}

/// The left edge of the column a line stands in.
fn margin(lines: &[Line], of: &Line) -> f64 {
    lines
        .iter()
        .filter(|line| line.page == of.page && line.column == of.column)
        .map(|line| line.left)
        .fold(f64::MAX, f64::min)
}

fn starts_like_a_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_uppercase() || c == '\u{201c}' || c == '[')
        || ["de ", "van ", "von ", "di ", "da ", "el ", "al-"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
}

/// Whether the line before is unfinished. Where nothing hangs, all lines begin at the margin, and only a full stop tells
/// the end of an entry.
fn goes_on(lines: &[Line], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| lines.get(at)) else { return false };
    let margin = margin(lines, before);
    let hangs = lines
        .iter()
        .filter(|line| line.page == before.page && line.column == before.column)
        .any(|line| line.left > margin + line.size * 0.5);
    !before.text.ends_with(['.', ']', ')']) && !hangs
}
