//! The text of a reply while its tokens come: whole characters only, nothing of a stop string.

/// Collects token bytes, cuts before the first stop string and says what may be shown already.
pub(super) struct Reply {
    bytes: Vec<u8>,
    /// How much has been handed out.
    shown: usize,
    stops: Vec<Vec<u8>>,
    longest_stop: usize,
    stopped: bool,
}

impl Reply {
    /// An empty reply that ends before the first of `stops`; empty stops are ignored.
    pub(super) fn new(stops: &[String]) -> Self {
        let stops: Vec<Vec<u8>> = stops
            .iter()
            .filter(|stop| !stop.is_empty())
            .map(|stop| stop.clone().into_bytes())
            .collect();
        let longest_stop = stops.iter().map(Vec::len).max().unwrap_or(0);
        Self { bytes: Vec::new(), shown: 0, stops, longest_stop, stopped: false }
    }

    /// Adds what a token prints and returns the text that is final now. After a stop string nothing is added.
    pub(super) fn push(&mut self, bytes: &[u8]) -> &str {
        if self.stopped {
            return "";
        }
        let searched = self.bytes.len().saturating_sub(self.longest_stop.saturating_sub(1));
        self.bytes.extend_from_slice(bytes);
        let stop = (searched..self.bytes.len())
            .find(|at| self.stops.iter().any(|stop| self.bytes[*at..].starts_with(stop)));
        if let Some(at) = stop {
            self.bytes.truncate(at);
            self.stopped = true;
        }
        let settled = self.settled();
        self.show(settled)
    }

    /// Whether a stop string was met.
    pub(super) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Ends the reply: what was held back, with broken characters replaced, and then the whole text.
    pub(super) fn finish(self) -> (String, String) {
        let rest = String::from_utf8_lossy(&self.bytes[self.shown..]).into_owned();
        let mut text = String::from_utf8_lossy(&self.bytes[..self.shown]).into_owned();
        text.push_str(&rest);
        (rest, text)
    }

    /// The end of what can no longer become a stop string.
    fn settled(&self) -> usize {
        let len = self.bytes.len();
        if self.stopped {
            return len;
        }
        (len.saturating_sub(self.longest_stop)..len)
            .find(|at| self.stops.iter().any(|stop| stop.starts_with(&self.bytes[*at..])))
            .unwrap_or(len)
    }

    /// Hands out whole characters up to `end`.
    fn show(&mut self, end: usize) -> &str {
        let from = self.shown;
        // An unfinished character waits for its bytes. Bytes that can never be one wait for `finish`, which replaces
        // them: models print such bytes only when they derail.
        self.shown = match std::str::from_utf8(&self.bytes[from..end]) {
            Ok(_) => end,
            Err(error) => from + error.valid_up_to(),
        };
        std::str::from_utf8(&self.bytes[from..self.shown]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(parts: &[&[u8]], stops: &[&str]) -> (Vec<String>, String, bool) {
        let stops: Vec<String> = stops.iter().map(ToString::to_string).collect();
        let mut reply = Reply::new(&stops);
        let mut shown: Vec<String> = parts.iter().map(|part| reply.push(part).to_owned()).collect();
        let stopped = reply.stopped();
        let (rest, text) = reply.finish();
        shown.push(rest);
        (shown, text, stopped)
    }

    #[test]
    fn a_partial_stop_string_is_held_back() {
        let (shown, text, stopped) = stream(&[b"a [Resp", b"onse] b"], &["[Response_End]"]);
        assert_eq!(
            (shown, stopped),
            (vec!["a ".into(), "[Response] b".into(), String::new()], false)
        );
        assert_eq!(text, "a [Response] b");
    }

    #[test]
    fn a_stop_string_across_tokens_ends_the_reply() {
        let (shown, text, stopped) = stream(&[b"yes", b" EN", b"D more", b"x"], &["END", "zzz"]);
        assert_eq!(shown, ["yes", " ", "", "", ""]);
        assert_eq!((text.as_str(), stopped), ("yes ", true));
    }

    #[test]
    fn the_first_of_several_stops_wins() {
        assert_eq!(stream(&[b"one two three"], &["three", "two"]).1, "one ");
        assert_eq!(stream(&[b"abc"], &["", "c"]).1, "ab");
    }

    #[test]
    fn characters_come_whole_and_broken_bytes_are_replaced() {
        let (shown, _, _) = stream(&[b"\xCE", b"\xB1-", b"\xF0\x9F", b"\x99\x82"], &[]);
        assert_eq!(shown, ["", "\u{3b1}-", "", "\u{1F642}", ""]);
        assert_eq!(stream(&[b"a\xFFb"], &[]).1, "a\u{FFFD}b");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_the_text_and_holds_no_stop(
            parts in proptest::collection::vec("[abc\u{3b1}]{0,4}", 0..12),
            stop in "[abc]{1,3}",
        ) {
            let bytes: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
            let (shown, text, stopped) = stream(&bytes, &[&stop]);
            let whole = parts.concat();
            let expected = whole.split(&stop).next().unwrap_or_default();
            prop_assert_eq!(shown.concat(), text.clone());
            prop_assert_eq!(text, expected);
            prop_assert_eq!(stopped, whole.contains(&stop));
        }
    }
}
