//! Which characters are obeyed rather than shown, and how many may stand upon one letter.

use unicode_normalization::char::is_combining_mark;

/// What is shown instead of a character that would be obeyed, or of a run that is too long.
pub const REPLACEMENT: char = '\u{fffd}';

/// Most marks and invisible characters in a row that are shown; the rest of a longer run is one [`REPLACEMENT`].
///
/// Source: UAX #15 section 13, Stream-Safe Text: no text of a living language needs more than 30.
pub const LONGEST_RUN: usize = 30;

/// Whether a terminal, an editor or a parser acts upon `c`, or shows nothing where something is.
///
/// Those are the control characters of C0, DEL and C1; the bidirectional embeddings, overrides and isolates; the
/// deprecated format characters; the annotation characters; the tags; and noncharacters. The three directional marks
/// (U+061C, U+200E, U+200F) are none of them: Hebrew and Arabic need them, and they do no more than a letter does.
pub fn is_obeyed(c: char) -> bool {
    let noncharacter = u32::from(c) & 0xfffe == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}');
    noncharacter
        || c.is_control()
        || matches!(
            c,
            '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{206f}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Line breaks, mandatory by UAX #14 (classes BK, CR, LF and NL).
pub(super) fn breaks_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters without a width that are no marks: spaces, joiners, hyphens and directional marks that nobody sees.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
    )
}

/// Selects the look of the character before it; a second one in a row selects nothing, and can only hide data.
fn is_variation_selector(c: char) -> bool {
    matches!(
        c,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
    )
}

/// Reads a text character by character.
#[derive(Default)]
pub(super) struct Runs {
    /// Marks and invisible characters since the last character that stands for itself.
    length: usize,
    after_selector: bool,
    /// The rest of the run is left out.
    cut: bool,
}

impl Runs {
    /// What is shown of `c`, if anything.
    pub(super) fn shown(&mut self, c: char) -> Option<char> {
        if is_obeyed(c) {
            *self = Self::default();
            return Some(REPLACEMENT);
        }
        let selector = is_variation_selector(c);
        if !(selector || is_combining_mark(c) || is_invisible(c)) {
            *self = Self::default();
            return Some(c);
        }
        self.length += 1;
        let too_long = self.length > LONGEST_RUN || (selector && self.after_selector);
        self.after_selector = selector;
        if self.cut {
            return None;
        }
        self.cut = too_long;
        Some(if too_long { REPLACEMENT } else { c })
    }
}
