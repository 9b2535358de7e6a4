//! Reply text as a person may see it while it comes.

use scholar_core::text::markers::{RESPONSE_END, RESPONSE_START};

/// Takes the response markers out of a stream, also where pieces cut them apart.
#[derive(Default)]
pub(crate) struct MarkerFilter {
    held: String,
}

impl MarkerFilter {
    /// What of `piece`, and of what was held back before, can be shown now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let text = self.held.replace(RESPONSE_START, "").replace(RESPONSE_END, "");
        let keep = text
            .rfind('[')
            .filter(|at| [RESPONSE_START, RESPONSE_END].iter().any(|m| m.starts_with(&text[*at..])))
            .unwrap_or(text.len());
        self.held = text[keep..].to_owned();
        text[..keep].to_owned()
    }

    /// What is still held back when the stream ends.
    pub(crate) fn rest(self) -> String {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_go_however_they_are_cut() {
        let reply = "pre [Response_Start]It works [1].\n[Re: x] [Response_End] post [";
        let expected = "pre It works [1].\n[Re: x]  post [";
        for size in 1..reply.len() {
            let mut filter = MarkerFilter::default();
            let chars: Vec<char> = reply.chars().collect();
            let mut shown: String = chars
                .chunks(size)
                .map(|piece| filter.push(&piece.iter().collect::<String>()))
                .collect();
            shown.push_str(&filter.rest());
            assert_eq!(shown, expected, "pieces of {size}");
        }
    }
}
