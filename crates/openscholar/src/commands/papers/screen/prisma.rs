//! The PRISMA 2020 flow diagram up to the screening of titles and abstracts, as text and as SVG.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;
use scholar_pipeline::screen::FlowCounts;

/// Width of a box and of the gap between the columns, in pixels.
const BOX: (usize, usize) = (330, 40);
/// Height of a line of text.
const LINE: usize = 18;
/// Space around text in a box.
const PAD: usize = 10;
/// Longest line in a box, in characters.
const CHARS: usize = 46;

/// The counts in words, one line each.
pub(crate) fn text(counts: &FlowCounts) -> String {
    let mut out = String::new();
    for (depth, name, n) in lines(counts) {
        // Writing to a string cannot fail.
        let _infallible = writeln!(out, "{:indent$}{name}: {n}", "", indent = 2 * depth);
    }
    out
}

/// Every count with its name and how deep it is below another.
fn lines(counts: &FlowCounts) -> Vec<(usize, String, usize)> {
    let FlowCounts {
        identified,
        duplicates_removed,
        filtered_out,
        not_screened,
        screened,
        excluded,
        reasons,
        unclear,
        without_text,
        included,
        by_person,
    } = counts;
    let mut lines = vec![
        (0, "records identified".to_owned(), *identified),
        (1, "duplicate records removed".to_owned(), *duplicates_removed),
        (1, "left out by filters".to_owned(), *filtered_out),
        (1, "not screened yet".to_owned(), *not_screened),
        (0, "records screened".to_owned(), *screened),
        (1, "of these by a person".to_owned(), *by_person),
        (1, "excluded".to_owned(), *excluded),
    ];
    lines.extend(reasons.iter().map(|(reason, n)| (2, reason.clone(), *n)));
    lines.extend([
        (1, "unclear, to be read by a person".to_owned(), *unclear),
        (2, "without text".to_owned(), *without_text),
        (0, "records included for full text".to_owned(), *included),
    ]);
    lines
}

/// The diagram: boxes of the main column with those beside them that leave it.
pub(crate) fn svg(title: &str, counts: &FlowCounts) -> String {
    let line = |name: &str, n: usize| format!("{name} (n = {n})");
    let removed = vec![
        "Removed before screening:".to_owned(),
        line("duplicate records", counts.duplicates_removed),
        line("left out by filters", counts.filtered_out),
        line("not screened yet", counts.not_screened),
    ];
    let mut excluded = vec![line("Records excluded", counts.excluded)];
    excluded.extend(counts.reasons.iter().map(|(reason, n)| line(reason, *n)));
    let screened = vec![
        line("Records screened", counts.screened),
        line("of these by a person", counts.by_person),
    ];
    let unclear = vec![
        line("Unclear, to be read by a person", counts.unclear),
        line("of these without text", counts.without_text),
    ];
    let identified = vec![line("Records identified", counts.identified)];
    let included = vec![line("Records included for full text", counts.included)];
    let rows: [(Vec<String>, Option<Vec<String>>); 4] = [
        (identified, Some(removed)),
        (screened, Some(excluded)),
        (unclear, None),
        (included, None),
    ];
    let (width, gap) = BOX;
    let mut body = String::new();
    let mut top = 50;
    let last = rows.len() - 1;
    for (at, (main, beside)) in rows.iter().enumerate() {
        let lines = main.len().max(beside.as_ref().map_or(0, Vec::len));
        let height = lines * LINE + 2 * PAD;
        let own = main.len() * LINE + 2 * PAD;
        body.push_str(&boxed(20, top, own, main));
        if let Some(beside) = beside {
            let (from, to, middle) = (20 + width, 20 + width + gap, top + own / 2);
            body.push_str(&arrow((from, middle), (to, middle)));
            body.push_str(&boxed(to, top, height, beside));
        }
        let next = top + height + gap;
        if at < last {
            body.push_str(&arrow((20 + width / 2, top + own), (20 + width / 2, next)));
        }
        top = next;
    }
    let total = (40 + 2 * width + gap, top - gap + 20);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>PRISMA 2020 flow diagram</title>\n<defs><marker id=\"head\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"20\" y=\"28\" font-weight=\"bold\">{2}</text>\n{body}</svg>\n",
        total.0,
        total.1,
        escape_html(&cut(title, 2 * CHARS))
    )
}

fn boxed(left: usize, top: usize, height: usize, lines: &[String]) -> String {
    let mut out = format!(
        "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{height}\" fill=\"none\" stroke=\"black\"/>\n",
        BOX.0
    );
    for (at, line) in lines.iter().enumerate() {
        let y = top + PAD + LINE * at + 13;
        let text = escape_html(&cut(line, CHARS));
        // Writing to a string cannot fail.
        let _infallible = writeln!(out, "<text x=\"{}\" y=\"{y}\">{text}</text>", left + PAD);
    }
    out
}

fn arrow(from: (usize, usize), to: (usize, usize)) -> String {
    format!(
        "<path d=\"M{} {}L{} {}\" stroke=\"black\" fill=\"none\" marker-end=\"url(#head)\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

/// At most `chars` characters, an ellipsis where more were there; a count in brackets at the end stays.
fn cut(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let count = text.rfind(" (n = ").map_or("", |at| &text[at..]);
    let room = chars.saturating_sub(count.chars().count() + 1);
    let start: String = text.chars().take(room).collect();
    format!("{}…{count}", start.trim_end())
}

#[cfg(test)]
mod tests {
    use scholar_pipeline::screen::Decision;

    use super::*;

    fn counts() -> FlowCounts {
        let mut counts =
            FlowCounts { identified: 5, duplicates_removed: 1, ..FlowCounts::default() };
        counts.count(Decision::Exclude, Some("<script>alert(1)</script>"), true);
        counts.count(Decision::Exclude, Some("population"), false);
        counts.count(Decision::Include, None, false);
        counts.count(Decision::Unclear, None, false);
        counts
    }

    #[test]
    fn every_count_is_told() {
        let text = text(&counts());
        for line in ["records identified: 5", "  duplicate records removed: 1", "    population: 1"]
        {
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn the_diagram_obeys_nothing_that_stands_in_it() {
        let svg = svg("A <b>title</b> & more", &counts());
        assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
        assert!(svg.contains("Records identified (n = 5)"));
        assert!(svg.contains("&lt;b&gt;title"));
    }

    #[test]
    fn a_long_reason_keeps_its_count() {
        let cut = cut(&format!("{} (n = 12)", "long ".repeat(30)), CHARS);
        assert!(cut.ends_with("… (n = 12)") && cut.chars().count() <= CHARS, "{cut}");
    }
}
