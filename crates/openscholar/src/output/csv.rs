//! Comma-separated values (RFC 4180), as spreadsheets write and read them.

/// Rows under a header, a line break after each.
pub(crate) fn write(header: &[String], rows: &[Vec<String>]) -> String {
    rows.iter().fold(row(header), |text, cells| text + &row(cells))
}

/// One row with its line break.
pub(crate) fn row(cells: &[impl AsRef<str>]) -> String {
    cells.iter().map(|text| cell(text.as_ref())).collect::<Vec<_>>().join(",") + "\r\n"
}

/// Text that a spreadsheet would compute gets an apostrophe in front: titles come from strangers.
fn cell(text: &str) -> String {
    let guarded = match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}"),
        _ => text.to_owned(),
    };
    if guarded.contains(['"', ',', ';', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

/// The rows of a file, the header among them; `Err` has the number of the line in which a quoted cell begins that does not end.
/// The separator is the comma, or the semicolon where the first line has one and no comma, as some spreadsheets write.
pub(crate) fn read(text: &str) -> Result<Vec<Vec<String>>, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    let separator = if first.contains(';') && !first.contains(',') { ';' } else { ',' };
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut opened) = (1, None);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match (c, opened) {
            ('"', Some(_)) if chars.next_if_eq(&'"').is_some() => cell.push('"'),
            ('"', Some(_)) => opened = None,
            (_, Some(_)) => cell.push(c),
            ('"', None) if cell.is_empty() => opened = Some(line),
            ('\r', None) if chars.peek() == Some(&'\n') => {}
            ('\n', None) => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (_, None) if c == separator => row.push(std::mem::take(&mut cell)),
            (_, None) => cell.push(c),
        }
    }
    if let Some(line) = opened {
        return Err(line);
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    rows.retain(|row| row.iter().any(|cell| !cell.trim().is_empty()));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_never_computed() {
        let header = ["id", "title"].map(str::to_owned);
        let rows = vec![
            ["pmid:1", "a \"quoted\", title"].map(str::to_owned).to_vec(),
            ["pmid:2", "two\nlines"].map(str::to_owned).to_vec(),
            ["pmid:3", "=1+1"].map(str::to_owned).to_vec(),
        ];
        let text = write(&header, &rows);
        let read = read(&text).expect("well-formed");
        assert_eq!(read[1..3], rows[..2]);
        assert_eq!(read[3][1], "'=1+1");
    }

    #[test]
    fn spreadsheets_of_other_countries_and_cut_files() {
        let semicolons = read("\u{feff}id;your_decision\r\npmid:1;include\r\n\r\n").expect("read");
        assert_eq!(semicolons, [["id", "your_decision"], ["pmid:1", "include"]]);
        assert_eq!(read("id,b\n1,\"cut"), Err(2));
        assert_eq!(read(""), Ok(Vec::new()));
        assert_eq!(read("a,b"), Ok(vec![vec!["a".to_owned(), "b".to_owned()]]));
    }
}
