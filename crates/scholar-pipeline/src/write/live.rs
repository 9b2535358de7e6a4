//! A text that is being written, as a person reads it: without the marks in front of its lines.

/// Longest mark in front of a bar, in bytes.
const LONGEST_MARK: usize = 60;

/// Whether what a call for `purpose` writes becomes the answer: other calls write queries, feedback or verdicts, and nodes of a tree
/// write side by side, so that their texts would mix.
pub fn is_of_the_answer(purpose: &str) -> bool {
    ["draft", "edit", "edit_with_retrieval", "repair", "merge", "posthoc", "closed_book"]
        .contains(&purpose)
}

/// Takes the marks of `F2 | A finding.`, `T [3] | a cell` and `## A heading` out of a text that arrives in pieces; everything else
/// passes through.
#[derive(Debug, Clone)]
pub struct LiveText {
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    /// The line so far, where it may still turn out to begin with a mark.
    Start(String),
    /// Behind a mark: spaces there are a part of it.
    Marked,
    /// In words that are shown.
    Words,
}

impl Default for LiveText {
    fn default() -> Self {
        Self { place: Place::Start(String::new()) }
    }
}

impl LiveText {
    /// What of the text so far is ready to be shown once `delta` has come.
    pub fn push(&mut self, delta: &str) -> String {
        let mut shown = String::new();
        for c in delta.chars() {
            let place = std::mem::replace(&mut self.place, Place::Words);
            self.place = match place {
                _ if c == '\n' => {
                    if let Place::Start(line) = place {
                        shown += &line;
                    }
                    shown.push(c);
                    Place::Start(String::new())
                }
                Place::Start(mark) if ends_mark(&mark, c) => Place::Marked,
                Place::Start(mut line) => {
                    line.push(c);
                    if may_be_mark(&line) {
                        Place::Start(line)
                    } else {
                        shown += &line;
                        Place::Words
                    }
                }
                Place::Marked if c == ' ' => Place::Marked,
                Place::Marked | Place::Words => {
                    shown.push(c);
                    Place::Words
                }
            };
        }
        shown
    }

    /// What is left at the end of the text; the next begins anew.
    pub fn finish(&mut self) -> String {
        match std::mem::take(self).place {
            Place::Start(line) => line,
            Place::Marked | Place::Words => String::new(),
        }
    }
}

fn may_be_mark(line: &str) -> bool {
    let line = line.trim_start();
    let is_heading = line.bytes().all(|byte| byte == b'#');
    let is_role = line.chars().next().is_none_or(|first| "FSXGT".contains(first))
        && line.chars().all(|c| c.is_ascii_digit() || "FSXGT <,[]".contains(c));
    line.len() <= LONGEST_MARK && (is_heading || is_role)
}

/// Whether `c` is the end of the mark that a line begins with.
fn ends_mark(line: &str, c: char) -> bool {
    let mark = line.trim_start();
    let is_heading = mark.starts_with('#');
    may_be_mark(line) && !mark.is_empty() && c == if is_heading { ' ' } else { '|' }
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
        let text = "## Causes\nX | First.\nF1 | Cells grow. [0]\nS F1 F3 | So | they grow.\n\nG | Nothing.\nT | a | b\nT [3] | c | d";
        let expected = "Causes\nFirst.\nCells grow. [0]\nSo | they grow.\n\nNothing.\na | b\nc | d";
        assert_eq!(shown(&[text]), expected);
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(shown(&pieces), expected);
        assert_eq!(shown(&["F", "ish swim | fast.\nS"]), "Fish swim | fast.\nS");
        assert_eq!(shown(&["#1 of all\n[2] says\n#"]), "#1 of all\n[2] says\n#");
        assert_eq!(shown(&["{\"a\": 1}"]), "{\"a\": 1}");
    }

    #[test]
    fn only_calls_that_write_the_answer_are_shown() {
        let of_it = ["draft", "edit", "keywords", "judge", "answer 1.2"].map(is_of_the_answer);
        assert_eq!(of_it, [true, true, false, false, false]);
    }
}
