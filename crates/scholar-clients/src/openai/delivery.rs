//! Handing a reply to its reader as it grows, across attempts and up to a stop string.

use scholar_core::OnText;

/// The text of the current attempt, and what the reader has seen of it or of an attempt before.
pub(super) struct Delivery<'a> {
    on_text: &'a OnText<'a>,
    stop: &'a [String],
    text: String,
    seen: String,
}

impl<'a> Delivery<'a> {
    /// Nothing seen yet.
    pub(super) fn new(on_text: &'a OnText<'a>, stop: &'a [String]) -> Self {
        Self { on_text, stop, text: String::new(), seen: String::new() }
    }

    /// A new attempt begins. The reader keeps what it saw and gets only what goes on from there.
    pub(super) fn restart(&mut self) {
        self.text.clear();
    }

    /// Adds a piece. Returns whether a stop string ended the reply.
    ///
    /// A reader that saw a part of a failed attempt sees nothing of an attempt that begins differently: the whole text
    /// comes at the end anyway, and two beginnings on screen would read as one reply.
    pub(super) fn push(&mut self, piece: &str) -> bool {
        let known = self.text.len();
        self.text.push_str(piece);
        let end = self.stop_position(known);
        if let Some(end) = end {
            self.text.truncate(end);
        }
        if let Some(fresh) = self.text.strip_prefix(self.seen.as_str()).filter(|t| !t.is_empty()) {
            (self.on_text)(fresh);
            self.seen.push_str(fresh);
        }
        end.is_some()
    }

    /// Where the first stop string begins. Only the end of the text can hold one that was not there before.
    fn stop_position(&self, known: usize) -> Option<usize> {
        let longest = self.stop.iter().map(String::len).max()?;
        let mut from = known.saturating_sub(longest);
        while !self.text.is_char_boundary(from) {
            from -= 1;
        }
        let tail = &self.text[from..];
        let found =
            self.stop.iter().filter(|stop| !stop.is_empty()).filter_map(|s| tail.find(s.as_str()));
        found.min().map(|at| from + at)
    }

    /// Bytes of the current attempt.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text of the current attempt.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn a_repeated_beginning_is_shown_once_and_another_not_at_all() {
        let seen = Mutex::new(String::new());
        let on_text = |text: &str| seen.lock().push_str(text);
        let mut delivery = Delivery::new(&on_text, &[]);
        delivery.push("Dense retr");
        delivery.restart();
        delivery.push("Dense ");
        delivery.push("retrieval");
        assert_eq!(*seen.lock(), "Dense retrieval");
        delivery.restart();
        delivery.push("Sparse");
        assert_eq!((seen.lock().as_str(), delivery.take().as_str()), ("Dense retrieval", "Sparse"));
    }

    #[test]
    fn a_stop_string_ends_the_text_even_across_pieces() {
        let seen = Mutex::new(String::new());
        let on_text = |text: &str| seen.lock().push_str(text);
        let stop = ["[End]".to_owned(), String::new()];
        let mut delivery = Delivery::new(&on_text, &stop);
        assert!(!delivery.push("naïve α [E"));
        assert!(delivery.push("nd] more"));
        assert_eq!(delivery.take(), "naïve α ");
    }
}
