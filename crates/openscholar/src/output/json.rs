//! JSON as it leaves the program.

use scholar_core::text::untrusted;
use serde::Serialize;

use crate::error::{CommandError, ErrorKind};

/// JSON in which every character that a terminal would obey is escaped: C0, DEL, C1, directional overrides, tags.
/// It says exactly what the value says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Json(String);

impl Json {
    /// `value` on one line.
    pub(crate) fn line(value: &impl Serialize) -> Result<Self, CommandError> {
        serde_json::to_string(value).map(Self::of).map_err(unwritten)
    }

    /// `value` on many lines.
    pub(crate) fn pretty(value: &impl Serialize) -> Result<Self, CommandError> {
        serde_json::to_string_pretty(value).map(Self::of).map_err(unwritten)
    }

    /// JSON, or lines of it, that was written already.
    pub(crate) fn written(text: &str) -> Self {
        Self(untrusted::json(text).into_owned())
    }

    fn of(written: String) -> Self {
        Self(untrusted::json(&written).into_owned())
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The text.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

fn unwritten(source: serde_json::Error) -> CommandError {
    CommandError::new(ErrorKind::Bug, "cannot write JSON").with_source(source)
}
