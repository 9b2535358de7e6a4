//! What was found of each link, a line each: `time | folder | url | code | valid|invalid | reason`.
//!
//! An interrupted check goes on where it stopped. Source: the log of the reference script.

use std::collections::BTreeMap;
use std::fmt;

use super::{CheckedLink, LinkVerdict};
use crate::scholarideas::model::IdeaId;

/// Between the parts of a line.
const BETWEEN: &str = " | ";

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// When it was found, UTC.
    pub time: &'a str,
    /// What was found.
    pub link: &'a CheckedLink,
}

impl fmt::Display for LogLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CheckedLink { idea, url, verdict: LinkVerdict { status, valid, reason } } = self.link;
        let code = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let valid = if *valid { "valid" } else { "invalid" };
        // No address holds a bar or a line break; a reason may quote somebody.
        let reason = reason.replace(['|', '\n', '\r'], " ");
        let parts = [self.time, &idea.to_string(), url, &code, valid, &reason];
        f.write_str(&parts.join(BETWEEN))
    }
}

/// What was found before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkLog(BTreeMap<(IdeaId, String), LinkVerdict>);

impl LinkLog {
    /// Reads a log. A line that cannot be read was torn when a process was killed: its link is asked again. Of several lines of a link
    /// the last counts.
    pub fn read(text: &str) -> Self {
        let entry = |line: &str| {
            let mut parts = line.splitn(6, BETWEEN);
            let mut next = || parts.next();
            let (_time, idea, url) = (next()?, next()?.parse().ok()?, next()?.to_owned());
            let status = match next()? {
                "-" => None,
                code => Some(code.parse().ok()?),
            };
            let valid = match next()? {
                "valid" => true,
                "invalid" => false,
                _ => return None,
            };
            Some(((idea, url), LinkVerdict { status, valid, reason: next()?.to_owned() }))
        };
        Self(text.lines().filter_map(entry).collect())
    }

    /// What was found of a link of that report.
    pub fn verdict(&self, idea: IdeaId, url: &str) -> Option<&LinkVerdict> {
        self.0.get(&(idea, url.to_owned()))
    }
}
