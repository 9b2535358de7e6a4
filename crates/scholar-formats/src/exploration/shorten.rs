//! Long texts made short, by characters or by how wide they are drawn.

use scholar_core::text::untrusted;

/// `text` as one line of at most `most` characters, cut at a space where one is near; an ellipsis says that it was cut.
pub(super) fn chars(text: &str, most: usize) -> String {
    let line = untrusted(text).line().to_string();
    let line = line.trim_end();
    let Some((end, _)) = line.char_indices().nth(most) else { return line.to_owned() };
    let room = line.char_indices().nth(most.saturating_sub(1)).map_or(end, |(at, _)| at);
    ellipsis(&line[..room])
}

/// `text` as one line that is at most `room` pixels wide in letters of `size` pixels.
pub(super) fn pixels(text: &str, room: f64, size: f64) -> String {
    wrapped(text, room, size, 1).pop().unwrap_or_default()
}

/// `text` as at most `most` lines, each at most `room` pixels wide.
pub(super) fn wrapped(text: &str, room: f64, size: f64, most: usize) -> Vec<String> {
    let line = untrusted(text).line().to_string();
    let mut rest = line.trim();
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let Some(end) = overflow(rest, room, size) else {
            lines.push(rest.to_owned());
            break;
        };
        if lines.len() + 1 >= most {
            let end = overflow(rest, room - advance('…') * size, size).unwrap_or(end);
            lines.push(ellipsis(&rest[..end]));
            break;
        }
        let at = rest[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end);
        // A room narrower than a letter still has to make way.
        let at = if at == 0 { rest.chars().next().map_or(rest.len(), char::len_utf8) } else { at };
        lines.push(rest[..at].trim_end().to_owned());
        rest = rest[at..].trim_start();
    }
    lines
}

/// Width in pixels, in letters of `size` pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| advance(c) * size).sum()
}

/// Byte at which `text` leaves the room; `None` where it fits.
fn overflow(text: &str, room: f64, size: f64) -> Option<usize> {
    let mut used = 0.0;
    text.char_indices().find_map(|(at, c)| {
        used += advance(c) * size;
        (used > room).then_some(at)
    })
}

/// Cuts at the last space unless that loses more than a quarter.
fn ellipsis(text: &str) -> String {
    let at = text.rfind(' ').filter(|at| at * 4 > text.len() * 3).unwrap_or(text.len());
    format!("{}…", text[..at].trim_end_matches([' ', ',', ';', ':']))
}

/// How far a letter moves the pen, in parts of its size: rather too far, as fonts differ.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ';' | ':' | '\'' | '|' | '!' => 0.3,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '"' => 0.39,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' | '→' => 0.98,
        'A'..='Z' => 0.7,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' => 1.0,
        '\u{ff00}'..='\u{ff60}' | '\u{fffd}' | '\u{1f000}'.. => 1.1,
        _ => 0.6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_says_so_and_fits() {
        assert_eq!(chars("a short text", 20), "a short text");
        assert_eq!(chars("one line\nand another", 40), "one line and another");
        assert_eq!(chars("twenty characters are here", 20), "twenty characters…");
        assert_eq!(chars(&"x".repeat(30), 10), format!("{}…", "x".repeat(9)));
        for most in 1..30 {
            assert!(chars("words of many different lengths", most).chars().count() <= most);
        }
    }

    #[test]
    fn lines_fit_into_their_room_and_lose_nothing_where_there_are_enough() {
        let text = "Contrastive pre-training without labels for dense retrieval in unseen domains";
        for room in [120.0, 200.0, 900.0] {
            let lines = wrapped(text, room, 12.0, 99);
            assert_eq!(lines.join(" "), text);
            assert!(lines.iter().all(|line| width(line, 12.0) <= room), "{lines:?}");
        }
        let cut = wrapped(text, 200.0, 12.0, 2);
        assert!(
            cut.len() == 2 && cut[1].ends_with('…') && width(&cut[1], 12.0) <= 200.0,
            "{cut:?}"
        );
        assert_eq!(wrapped("窄い", 1.0, 12.0, 9).len(), 2, "every letter is somewhere");
    }
}
