//! A text that is being written, as a person reads it: without the marks in front of its lines.

/// Longest mark in front of a bar, in bytes.
const LONGEST_MARK: usize = 60;

/// Takes the marks of `F2 | A finding.` out of a text that arrives in pieces; everything else passes through.
#[derive(Debug)]
pub(super) struct LiveText {
    /// The line so far, where it may still turn out to begin with a mark.
    held: Option<String>,
}

impl Default for LiveText {
    fn default() -> Self {
        Self { held: Some(String::new()) }
    }
}

impl LiveText {
    /// What of the text so far is ready to be shown once `delta` has come.
    pub(super) fn push(&mut self, delta: &str) -> String {
        let mut shown = String::new();
        for c in delta.chars() {
            match self.held.take() {
                Some(mark) if c == '|' && is_mark(&mark) => {}
                Some(mut line) => {
                    line.push(c);
                    if c != '\n' && may_be_mark(&line) {
                        self.held = Some(line);
                    } else {
                        shown += &line;
                        self.held = (c == '\n').then(String::new);
                    }
                }
                None => {
                    shown.push(c);
                    self.held = (c == '\n').then(String::new);
                }
            }
        }
        shown
    }

    /// What is left at the end of the text; the next begins anew.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(self).held.unwrap_or_default()
    }
}

fn may_be_mark(line: &str) -> bool {
    let line = line.trim_start();
    line.len() <= LONGEST_MARK
        && line.chars().next().is_none_or(|first| "FSXG".contains(first))
        && line.chars().all(|c| c.is_ascii_digit() || "FSXG <,".contains(c))
}

fn is_mark(line: &str) -> bool {
    may_be_mark(line) && !line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str]) -> String {
        let mut live = LiveText::default();
        let text: String = pieces.iter().map(|piece| live.push(piece)).collect();
        text + &live.finish()
    }

    #[test]
    fn marks_are_not_shown_and_words_are() {
        let text = "## Causes\nX | First.\nF1 | Cells grow. [0]\nS F1 F3 | So | they grow.\nG | Nothing.\nT | a | b";
        let expected =
            "## Causes\n First.\n Cells grow. [0]\n So | they grow.\n Nothing.\nT | a | b";
        assert_eq!(shown(&[text]), expected);
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(shown(&pieces), expected);
        assert_eq!(shown(&["F", "ish swim | fast.\nS"]), "Fish swim | fast.\nS");
        assert_eq!(shown(&["{\"a\": 1}"]), "{\"a\": 1}");
    }
}
