//! JSON that a terminal can be shown.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::characters::is_obeyed;

/// `written`, which is JSON, with every character that would be obeyed, and those that are not seen, as `\uXXXX`. It
/// says the same: outside of strings JSON has none of them, and C0 is escaped already.
pub fn json(written: &str) -> Cow<'_, str> {
    let escaped = |c: char| {
        (is_obeyed(c) && !matches!(c, '\n' | '\r' | '\t'))
            || matches!(
                c,
                '\u{61c}'
                    | '\u{200b}'
                    | '\u{200e}'
                    | '\u{200f}'
                    | '\u{2028}'
                    | '\u{2029}'
                    | '\u{2060}'
                    | '\u{feff}'
            )
    };
    if !written.contains(escaped) {
        return Cow::Borrowed(written);
    }
    let mut out = String::with_capacity(written.len() + 32);
    for c in written.chars() {
        if escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _infallible = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}
