//! Comma-separated values (RFC 4180) that a spreadsheet does not run.

/// One row. A cell that a spreadsheet would take for a formula begins with an apostrophe.
pub(crate) fn row(cells: &[impl AsRef<str>]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text.as_ref())).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(text: &str) -> String {
    let safe = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    if safe.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formulas() {
        let text = row(&["a", "b, c", "say \"x\"", "=1+1", "two\nlines"]);
        assert_eq!(text, "a,\"b, c\",\"say \"\"x\"\"\",'=1+1,\"two\nlines\"\r\n");
    }
}
